// SPDX-License-Identifier: Apache-2.0
// Symbolic sizes: relations between sizes that are known only at run time.
//
// The length of an axis, and each element of a small tensor of integers that is computed from such
// lengths, is a sum of open lengths with factors and a number, or unknown. So a front end sees that
// [n, s, 12, 32], computed from a tensor [n, s, 384], only splits the last axis.

#ifndef LN_SIZES_H
#define LN_SIZES_H

#include <stdint.h>

#include "lightnet/ln_context.h"

enum { LN_SIZE_TERMS = 4 };

/** A sum of terms, in order of their symbols, without zeros. */
typedef struct ln_size {
    int is_known;
    int n;
    int64_t plus;
    struct ln_size_term {
        int symbol; // of an open length
        int64_t times;
    } terms[LN_SIZE_TERMS];
} ln_size;

typedef struct ln_sizes ln_sizes;

/** The value of a tensor that is the same in all runs; NULL: it is not, or is unknown. Returns
 * borrowed. */
typedef const tl_tensor *(*ln_sizes_value)(void *data, const char *tensor);

/** Returns new (ln_sizes_free), for the tensors of `ctx`; NULL: no memory. */
ln_sizes *ln_sizes_create(const ln_context *ctx);

/** Ignores NULL. */
void ln_sizes_free(ln_sizes *sizes);

/** Derives the sizes of the operator's outputs, after those of its inputs. `value(data, tensor)`:
 * of constants. -1: no memory. */
int ln_sizes_note(ln_sizes *sizes, const ln_op *op, ln_sizes_value value, void *data);

/** Finds the known elements of a tensor whose producers have not been noted, if they are operators
 * on small tensors of integers. -1: no memory. */
int ln_sizes_find_elements(ln_sizes *sizes, const char *tensor, ln_sizes_value value, void *data);

/** The length of axis `i` of a tensor. */
ln_size ln_sizes_axis(const ln_sizes *sizes, const char *tensor, int i);

/** Whether elements of a tensor are known. */
int ln_sizes_has_elements(const ln_sizes *sizes, const char *tensor);

/** Element `i` of a tensor of integers: one that was noted, or whose value(data, tensor) is known.
 */
ln_size ln_sizes_element(const ln_sizes *sizes, const char *tensor, int i, ln_sizes_value value,
                         void *data);

/** Whether both are known to be equal. */
int ln_size_equals(const ln_size *a, const ln_size *b);

/** a + times * b; unknown if one is, or if there are too many terms. */
ln_size ln_size_sum(const ln_size *a, const ln_size *b, int64_t times);

/** Whether the size is the same in all runs. */
int ln_size_is_number(const ln_size *size);

/** The min and the max of a known size, clamped to 32 bits. */
int64_t ln_sizes_min(const ln_sizes *sizes, const ln_size *size);
int64_t ln_sizes_max(const ln_sizes *sizes, const ln_size *size);

#endif
