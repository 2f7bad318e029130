// SPDX-License-Identifier: Apache-2.0
// Kernels of the selection of the largest or smallest elements along an axis.

#pragma once

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "kernel/transpose/transpose.h"

/** Keys of the `n` elements at `src`: integers of 4 bytes, or of 8 if an element has as many. Of
 * two elements, the one with the lower key comes first; equal elements have equal keys. */
typedef void tl_topk_keys(const void *src, size_t n, int is_smallest, void *keys);

/** src [axis.outer, axis.len, axis.inner] -> values, indices [axis.outer, k, axis.inner],
 *  1 <= k <= axis.len. */
typedef struct tl_topk_job {
    const char *src;
    char *values, *slots;
    int64_t *indices;
    tl_axis axis;
    size_t k, size; // of an element
    size_t slot_size;
    tl_topk_keys *keys;
    tl_transpose_kernel *transpose; // of elements of src
    int is_smallest;
    const tl_stop *stop; // polled within a line, whose length has no bound
} tl_topk_job;

/** Computes the units begin .. end-1 of tl_topk_unit lines each of the tl_topk_job at `arg`. Its
 *  column is the type of a key. */
typedef void tl_topk_func(void *arg, size_t slot, size_t begin, size_t end);

#define TL_ROWS_I64(ROW, arg, kernel, set, isa) ROW(arg, kernel##_i64_##set, TL_INT64, isa)
#define TL_TOPK_KEYS(ROW, arg)                     \
    TL_KERNELS(ROW, arg, tl_topk_keys, ALL, PLAIN) \
    TL_KERNELS(ROW, arg, tl_topk_keys, F32, WIDE)  \
    TL_KERNELS(ROW, arg, tl_topk_keys, I64, WIDE)
TL_TOPK_KEYS(TL_KERNEL_DECLARE, tl_topk_keys)

#define TL_ROWS_INDEX(ROW, arg, kernel, set, isa) \
    ROW(arg, kernel##_i64_##set, TL_INT64, isa)   \
    ROW(arg, kernel##_i32_##set, TL_INT32, isa)
#define TL_TOPK_KERNELS(ROW, arg)               \
    TL_KERNELS(ROW, arg, tl_topk, INDEX, PLAIN) \
    TL_KERNELS(ROW, arg, tl_topk, INDEX, WIDE)
TL_TOPK_KERNELS(TL_KERNEL_DECLARE, tl_topk_func)

/** Lines of a unit of work: short ones, and adjacent ones, share it. */
static inline size_t tl_topk_unit(const tl_axis *axis)
{
    const size_t grain = tl_axis_grain(8 * axis->len), adjacent = tl_min_size(16, axis->inner);
    return grain > adjacent ? grain : adjacent;
}

/** The most candidates of a line at a time: no more with fewer elements or a lower k. */
static inline size_t tl_topk_room(size_t len, size_t k)
{
    return tl_min_size(len, 4 * k + 256);
}

/** The most elements of adjacent lines that are copied at a time: no more with shorter or fewer
 *  lines. */
static inline size_t tl_topk_copied(size_t len, size_t inner)
{
    const size_t few = tl_min_size(4, inner) * len, many = tl_min_size(16, inner) * len;
    return inner == 1 ? 0 : few > 65536 ? few : tl_min_size(many, 65536);
}
