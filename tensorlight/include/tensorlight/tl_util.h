// SPDX-License-Identifier: Apache-2.0
// Errors, memory, pointers and checked sizes: the foundation of TensorLight.
//
//     if (ndim > TL_MAXDIM)
//         return tl_fail("%d dimensions, expected at most %d", ndim, TL_MAXDIM);

#ifndef TL_UTIL_H
#define TL_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tensorlight/tl_api.h"
#include "tensorlight/tl_type.h"

TL_BEGIN_DECLS

/** The max number of dimensions of a tensor. */
#define TL_MAXDIM 8

// Errors: one record per thread

/** Records the calling thread's last error, truncated to 1023 characters; returns -1. */
TL_API int tl_fail(const char *fmt, ...) TL_PRINTF(1, 2);

/** As tl_fail: allocating `size` bytes failed. Returns -1. */
TL_API int tl_fail_memory(size_t size);

/** The number of failed allocations of the calling thread:
 *  an increase during a call explains its failure. */
TL_API unsigned long tl_alloc_failures(void);

/** Returns borrowed (until the thread's next tl_fail or
 *  tl_clear_error): the last error in this thread, "" without one. */
TL_API const char *tl_last_error(void);

/** Forgets the thread's last error. */
/** Forgets the thread's last error. */
TL_API void tl_clear_error(void);

// Memory

/** Returns new (tl_free): `size` bytes, also for 0; NULL with a reason: no memory. */
TL_API void *tl_alloc(size_t size);

/** Returns new (tl_free): a copy of `size` bytes at `src`; NULL with a reason. */
TL_API void *tl_clone(const void *src, size_t size);

/** Returns new (tl_free): `times` copies of `size` bytes at `src`,
 *  back to back; NULL with a reason: no memory, or times < 0. */
TL_API void *tl_repeat(const void *src, size_t size, int times);

/** memmove with memcpy's order: `dst` first; returns `dst`. The two may overlap. */
TL_API void *tl_memcpy(void *dst, const void *src, size_t size);

/** The same with `src` first; returns `dst`. */
TL_API void *tl_copy(const void *src, void *dst, size_t size);

/** free(). */
TL_API void tl_free(void *p);

/** Requests huge pages for `size` bytes at `p`, where the system supports it (Linux):
 *  reading much memory then causes fewer TLB misses. Call it before the memory is
 *  written; it changes no content. Below some megabytes it does nothing. */
TL_API void tl_use_large_pages(void *p, size_t size);

// Pointers to elements: `n` counts elements of `size` bytes; tl_pointer_* have a dtype

/** The address of element `n` from `p` on, which may be negative. */
static inline void *tl_padd(const void *p, ptrdiff_t n, size_t size)
{
    return (char *)p + n * (ptrdiff_t)size;
}

/** The distance p1 - p2 in elements. */
static inline ptrdiff_t tl_psub(const void *p1, const void *p2, size_t size)
{
    return ((const char *)p1 - (const char *)p2) / (ptrdiff_t)size;
}

/** Copies the element src[src_n] to dst[dst_n]. */
static inline void tl_passign(void *dst, ptrdiff_t dst_n, const void *src, ptrdiff_t src_n,
                              size_t size)
{
    memmove(tl_padd(dst, dst_n, size), tl_padd(src, src_n, size), size);
}

/** Copies `len` elements from src[src_n] on to dst[dst_n] on; they may overlap. */
static inline void tl_pmove(void *dst, ptrdiff_t dst_n, const void *src, ptrdiff_t src_n,
                            size_t len, size_t size)
{
    memmove(tl_padd(dst, dst_n, size), tl_padd(src, src_n, size), len * size);
}

static inline void *tl_pointer_add(const void *p, ptrdiff_t n, tl_dtype dtype)
{
    return tl_padd(p, n, tl_size_of(dtype));
}

static inline ptrdiff_t tl_pointer_sub(const void *p1, const void *p2, tl_dtype dtype)
{
    return tl_psub(p1, p2, tl_size_of(dtype));
}

static inline void tl_pointer_assign(void *dst, ptrdiff_t dst_n, const void *src, ptrdiff_t src_n,
                                     tl_dtype dtype)
{
    tl_passign(dst, dst_n, src, src_n, tl_size_of(dtype));
}

static inline void tl_pointer_move(void *dst, ptrdiff_t dst_n, const void *src, ptrdiff_t src_n,
                                   size_t len, tl_dtype dtype)
{
    tl_pmove(dst, dst_n, src, src_n, len, tl_size_of(dtype));
}

/** Sizes: 0 and the result in *ret, or -1 with a reason and *ret unchanged. */

TL_API int tl_size_mul(size_t a, size_t b, size_t *ret);
TL_API int tl_size_add(size_t a, size_t b, size_t *ret);

/** The number of elements of a shape, 1 for ndim 0. -1 with a reason: ndim outside 0..TL_MAXDIM, a
 *  negative dim, or more than INT_MAX elements (not even counting a dim of 0). */
TL_API int tl_compute_length(int ndim, const int *dims);

/** The max size of a shape's text. */
#define TL_SHAPE_TEXT_SIZE (TL_MAXDIM * 13 + 3)

/** Writes "[2, 3]" to `text` (TL_SHAPE_TEXT_SIZE bytes) and returns it. */
TL_API char *tl_shape_text(char *text, int ndim, const int *dims);

// Numbers

/** Reads up to `num` numbers of a text file, separated by anything else,
 *  to `buf`. The decimal point is '.' in every locale. Returns how many
 *  were read, -1 with a reason when the file cannot be read. */
TL_API int tl_read_floats(const char *file, int num, float *buf);

/** The next random bits. Any value is a valid first `*state`; equal states produce equal bits on
 * all machines. Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators
 *  (SplitMix64), 2014. */
TL_API uint64_t tl_random_bits(uint64_t *state);

/** The next number of a uniform distribution in [0, 1): the upper 53 of tl_random_bits. */
TL_API double tl_random_uniform(uint64_t *state);

/** Nanoseconds of a monotonic clock. */
TL_API uint64_t tl_clock(void);

TL_END_DECLS

#endif
