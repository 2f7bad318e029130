// SPDX-License-Identifier: Apache-2.0
// Strided copies: slices with steps, repetition (stride 0 in src), reversal (a negative stride),
// parts of a larger dst.

#pragma once

#include <stddef.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_tensor.h"

/** dst[i * dst_stride] = src[i * src_stride] for i < len; strides in elements, dst_stride != 0. */
typedef void tl_stride_kernel(const void *src, ptrdiff_t src_stride, void *dst,
                              ptrdiff_t dst_stride, size_t len);

#define TL_STRIDE_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_stride, UINT, PLAIN)
TL_STRIDE_KERNELS(TL_KERNEL_DECLARE, tl_stride_kernel)

/** The kernel for elements of `size` bytes, 1, 2, 4 or 8. */
tl_stride_kernel *tl_stride_pick(const tl_exec *exec, size_t size);

/** An axis of a copy: its length, and its strides in src and dst, in elements. */
typedef struct tl_stride_axis {
    size_t len;
    ptrdiff_t src, dst;
} tl_stride_axis;

/** Max axes of a copy: a tensor's, each in two parts. */
enum { TL_STRIDE_MAX = 2 * TL_MAXDIM };

/** Drops axes of length 1, merges adjacent ones without a gap; returns the number of the others. */
int tl_stride_merge(tl_stride_axis *merged, const tl_stride_axis *axes, int n);

/** An iterator over axes, the last one fastest: coordinates, and their offsets in elements. */
typedef struct tl_stride_iter {
    size_t coords[TL_STRIDE_MAX];
    ptrdiff_t src, dst;
} tl_stride_iter;

TL_INLINE void tl_stride_iter_init(tl_stride_iter *at, const tl_stride_axis *axes, int n,
                                   size_t index)
{
    at->src = at->dst = 0;
    for (int i = n - 1; i >= 0; i--) {
        at->coords[i] = index % axes[i].len;
        index /= axes[i].len;
        at->src += (ptrdiff_t)at->coords[i] * axes[i].src;
        at->dst += (ptrdiff_t)at->coords[i] * axes[i].dst;
    }
}

TL_INLINE void tl_stride_iter_next(tl_stride_iter *at, const tl_stride_axis *axes, int n)
{
    for (int i = n - 1; i >= 0; i--) {
        const tl_stride_axis *const a = &axes[i];
        at->src += a->src;
        at->dst += a->dst;
        if (++at->coords[i] < a->len)
            return;
        at->coords[i] = 0;
        at->src -= (ptrdiff_t)a->len * a->src;
        at->dst -= (ptrdiff_t)a->len * a->dst;
    }
}

/** Copies one element of `size` bytes for each index along the `n` axes (n may be 0). The first one
 * is at `src` and `dst`. They do not overlap. */
void tl_stride_copy(const tl_exec *exec, const void *src, void *dst, size_t size,
                    const tl_stride_axis *axes, int n);

/** The lines begin .. end-1 of such a copy, each `len` adjacent elements in src and in dst. */
void tl_stride_copy_lines(const void *src, void *dst, size_t size, const tl_stride_axis *axes,
                          int n, size_t len, size_t begin, size_t end);

/** Writes the strides of `t`, in elements, to `strides` [TL_MAXDIM]. */
void tl_strides_of(const tl_tensor *t, ptrdiff_t *strides);
