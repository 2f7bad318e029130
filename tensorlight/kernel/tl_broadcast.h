// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels on several tensors with broadcasting: aligned at the last axis, a missing
// axis or one of length 1 is repeated along the others'.
//
// The tensors are walked along the result in rows, in which each source either advances with the
// result (step 1) or stays (step 0). Axes that all sources treat alike are merged:
//
//     src1 [8, 3, 5, 7]   src2 [3, 1, 1]    ->  24 rows of 35, steps 1 and 0
//     src1 [8, 3, 5, 7]   src2 [8, 3, 5, 7] ->  1 row of 840, steps 1 and 1
//
// Short rows that a source repeats are joined, from copies of that source's row:
//
//     src1 [2, 9, 9, 16]  src2 [2, 1, 1, 16] -> 2 rows of 81 * 16, steps 1 and 1
//
// Source: ONNX, "Broadcasting in ONNX", multidirectional.

#pragma once

#include "tensorlight/tl_elementwise.h"

/** A kernel of a row: dst[i] of `len` elements from srcs[k][i * steps[k]], steps 0 or 1. dst may be
 * a source of step 1. -1 (no reason recorded, dst partly written) for invalid data. */
typedef int tl_broadcast_func(const void *const *srcs, const int *steps, void *dst, size_t len);

/** Max sources. */
enum { TL_BROADCAST_MAX = 3 };

/** The loop of a kernel whose sources all advance: dst[i] of `len` elements from srcs[k][i]. */
typedef int tl_broadcast_loop(const void *const *srcs, void *dst, size_t len);

/** The sources of a loop, and the bytes of their elements and of the result's. */
typedef struct tl_broadcast_form {
    int n;
    size_t src_sizes[TL_BROADCAST_MAX], dst_size;
} tl_broadcast_form;

/** For kernels with one loop for all steps: runs `loop` in pieces if sources have step 0, and
 *  repeats each of those in a buffer. */
int tl_broadcast_pieces(tl_broadcast_loop *loop, const tl_broadcast_form *form,
                        const void *const *srcs, const int *steps, void *dst, size_t len);

/** Runs `func` over all of `dst`, whose shape is that of the `n` sources broadcast. -1 (no reason
 *  recorded) when `func` fails. */
int tl_broadcast(const tl_exec *exec, size_t grain, tl_broadcast_func *func,
                 const tl_tensor *const *srcs, int n, tl_tensor *dst);

/** An axis of a result, and the stride in each source, in elements. */
typedef struct tl_broadcast_axis {
    size_t len, strides[TL_BROADCAST_MAX];
} tl_broadcast_axis;

/** The walk over sources along a result. */
typedef struct tl_broadcast_walk {
    tl_broadcast_func *func;
    int n; // sources
    const char *srcs[TL_BROADCAST_MAX];
    size_t src_sizes[TL_BROADCAST_MAX]; // of an element
    size_t dst_size;
    tl_broadcast_axis row;
    int steps[TL_BROADCAST_MAX];        // row's strides
    size_t period;                      // not 0: the row consists of short rows of this length,
    int repeats[TL_BROADCAST_MAX];      // which these sources repeat
    tl_broadcast_axis outer[TL_MAXDIM]; // the other axes, the fastest first
    int n_outer;
} tl_broadcast_walk;

void tl_broadcast_walk_init(tl_broadcast_walk *walk, tl_broadcast_func *func,
                            const tl_tensor *const *srcs, int n, const tl_tensor *dst);

/** Extra elements of tl_broadcast_part's buffer, beyond its result. */
enum { TL_BROADCAST_MORE = 128 };

/** The content of a buffer of tl_broadcast_part, initially zero: the copies of a short row serve
 * all parts of its long row. */
typedef struct tl_broadcast_copies {
    size_t row, len; // the row's number + 1, 0: none; elements
} tl_broadcast_copies;

/** Elements begin .. begin + len - 1 of the broadcast single source of a walk, for a kernel: in
 * place with `*step`, otherwise in `buffer`, to which the walk's `func` copies; `held` is its
 * content. */
const void *tl_broadcast_part(const tl_broadcast_walk *walk, size_t begin, size_t len, void *buffer,
                              tl_broadcast_copies *held, int *step);

/** For a tl_tensor_X: the result of `dtype` that broadcast sources make, as tl_result_begin does;
 * NULL with a reason if the sources do not broadcast, or `dst` overlaps one that does not advance
 * with it. */
tl_tensor *tl_broadcast_begin(tl_tensor *dst, const tl_tensor *const *srcs, int n, tl_dtype dtype);
