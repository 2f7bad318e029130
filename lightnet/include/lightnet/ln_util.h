// SPDX-License-Identifier: Apache-2.0
// Utilities: function types, memory, strings, checked sizes, text files, window shapes.
//
// Errors are in the calling thread's last error (ln_msg.h). Memory is that of the
// C library: free() frees memory of ln_alloc(), and ln_free() memory of malloc().

#ifndef LN_UTIL_H
#define LN_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lightnet/ln_api.h"

LN_BEGIN_DECLS

/** The max number of dimensions of a tensor. */
#define LN_MAXDIM 8
/** The max window of adjacent operators for combiner functions. */
#define LN_MAX_WINDOW 4
/** The max number of operators, and of tensors, in a described rule (ln_rule.h). */
#define LN_MAX_RULE_OPS     16
#define LN_MAX_RULE_TENSORS 32
/** Size of a buffer for one line of text, with its NUL. */
#define LN_MAXLINE 4096
/** Size of a buffer for a name, with its NUL. */
#define LN_MAX_NAME_LEN 512
/** Size of a buffer that holds ln_sprint_shape's text of LN_MAXDIM dimensions, with its NUL. */
#define LN_MAX_SHAPE 128
/** The max bytes of text for ln_read_text and ln_read_stream: 1 GiB. */
#define LN_MAX_TEXT ((size_t)1 << 30)

typedef enum ln_bool { LN_FALSE = 0, LN_TRUE = 1 } ln_bool;

/** Compares two elements: 0 when equal; the sign orders them where an order exists. */
typedef int (*ln_cmp_func)(const void *, const void *);
/** Frees an object. */
typedef void (*ln_free_func)(void *);
/** Hash value of a key; equal keys must have equal hash values. */
typedef uint32_t (*ln_hash_func)(const void *);
/** Prints an element to a stream. */
typedef void (*ln_fprint_func)(FILE *, const void *);
/** Copies n bytes from src to dst, returns dst, like memcpy. */
typedef void *(*ln_copy_func)(void *dst, const void *src, size_t n);

/** Three-way comparison of the two pointers themselves. */
LN_API int ln_direct_cmp(const void *a, const void *b);
/** Hash value of the pointer itself, the companion of ln_direct_cmp. */
LN_API uint32_t ln_direct_hash(const void *p);
/** strcmp for strings given as void pointers; NULL is equal to NULL and less than any string. */
LN_API int ln_str_cmp(const void *a, const void *b);
/** Hash value of a string, the companion of ln_str_cmp. Source: FNV-1a, 32 bits. */
LN_API uint32_t ln_str_hash(const void *str);
/** Whether two strings are equal; NULL is equal to NULL only. */
LN_API ln_bool ln_streq(const char *a, const char *b);
/** For "did you mean": the one of `best` (NULL: none yet) and `known` that is closer to the
 * misspelled `name`, by the number of letters to change, insert, delete or swap, ignoring
 * case. `best` if `known` is not closer, or differs in more than a third of the letters. */
LN_API const char *ln_closer_name(const char *name, const char *best, const char *known);

/** Returns new zeroed memory of `size` bytes (ln_free), a distinct object also for size 0; NULL
 * with a reason. */
LN_API void *ln_alloc(size_t size);
/** ln_alloc for an array of `len` elements of `size` bytes; NULL with a reason also when the
 * product overflows. */
LN_API void *ln_alloc_array(size_t len, size_t size);
/** Resizes memory to `size` bytes, keeping the content up to the smaller size; bytes beyond are
 * undefined. ptr NULL allocates. Returns new (ln_free); NULL with a reason: ptr is as before and
 * still the caller's. */
LN_API void *ln_realloc(void *ptr, size_t size);
/** Frees memory; Ignores NULL. */
LN_API void ln_free(void *ptr);
/** Returns new copy of `size` bytes at `ptr` (ln_free); NULL with a reason. ptr may be NULL when
 * size is 0. */
LN_API void *ln_clone(const void *ptr, size_t size);
/** Returns new copy of a string (ln_free); NULL with a reason, or NULL without one when str is
 * NULL. */
LN_API char *ln_strdup(const char *str);

/** *sum = a + b. Returns 0; -1 on overflow, *sum is then as before and no reason is recorded: the
 * caller names it. */
LN_API int ln_size_add(size_t a, size_t b, size_t *sum);
/** *product = a * b. Returns and fails as ln_size_add. */
LN_API int ln_size_mul(size_t a, size_t b, size_t *product);

/** The whole content of a text file. Returns new NUL-terminated text (ln_free); NULL with a reason
 * that names the file: it cannot be opened or read, is a directory, exceeds LN_MAX_TEXT, or
 * contains a NUL byte. */
LN_API char *ln_read_text(const char *file);
/** The rest of a stream, as bytes; `name` is its name in messages. *size,
 * unless NULL: the bytes without the NUL put after them. Returns new
 * (ln_free); NULL with a reason: unreadable or longer than LN_MAX_TEXT. */
LN_API char *ln_read_stream(FILE *stream, const char *name, size_t *size);

/** Writes a shape as "[1, 3, 5]" ("[]" without dimensions), truncated
 * to `size` bytes with the NUL; LN_MAX_SHAPE bytes hold LN_MAXDIM
 * dimensions. Returns buf, so that it can be an argument. */
LN_API char *ln_sprint_shape(char *buf, size_t size, int ndim, const int *dims);

/** Output extent of a convolution or pooling window along one axis, with eff = (size - 1) *
 * dilation + 1: floor((input + total_padding - eff) / stride) + 1. At least 1; -1 with a reason: a
 * window larger than the padded input, input, size, stride or dilation below 1, a result beyond
 * int. Source: operator catalogue, 5.1. */
LN_API int ln_output_dim_conv(int input, int size, int stride, int total_padding, int dilation);
/** Output extent of a transposed convolution along one axis, with eff as above:
 *  stride * (input - 1) + output_padding + eff - total_padding. At least 1; -1 with a reason: a
 * result below 1 or beyond int, input, size, stride or dilation below 1, output_padding below 0.
 * Source: operator catalogue, 5.2. */
LN_API int ln_output_dim_deconv(int input, int size, int stride, int output_padding,
                                int total_padding, int dilation);

/** Effective padding of a convolution or pooling: rewrites padding [2 * ndim], the begins of all
 * axes followed by their ends ([top, left, bottom, right]), by `mode`: "NOTSET" keeps it,
 * "VALID" zeroes it, "SAME_UPPER" and "SAME_LOWER" make out = ceil(in / stride), the odd unit at
 * the end or the beginning. input_dims, size, stride and dilations are [ndim], of the spatial
 * axes only; dilations NULL: all 1. Returns 0; -1 with a reason: unknown mode, an extent below
 * 1, a padding beyond int; padding is then undefined. Source: operator catalogue, 5.1. */
LN_API int ln_autopadding_conv(int *padding, const int *input_dims, const int *size,
                               const int *stride, const int *dilations, int ndim, const char *mode);
/** ln_autopadding_conv for a transposed convolution: the SAME modes choose the padding for
 * output_dims [ndim] (spatial, each > 0, else an error; unused by the other modes), negative where
 * the output is larger than the unpadded one. output_padding is [ndim]; NULL: all 0. Source:
 * operator catalogue, 5.2. */
LN_API int ln_autopadding_deconv(int *padding, const int *input_dims, const int *size,
                                 const int *stride, const int *output_padding, const int *dilations,
                                 const int *output_dims, int ndim, const char *mode);

LN_END_DECLS

#endif
