// SPDX-License-Identifier: Apache-2.0
// Kernels of attention (tl_attention.h) for queries that share a head of keys.
//
// The rows of a head of keys are the queries of all query heads that share it (grouped-query
// attention): row r is query r % q_len of the head with index r / q_len among these. A kernel
// computes up to TL_ATTENTION_ROWS rows, with separate scratch memory.

#pragma once

#include <stddef.h>

#include "kernel/tl_kernel.h"

enum {
    TL_ATTENTION_ROWS = 48,        // of a unit of work
    TL_ATTENTION_KEYS = 72,        // max keys of a block of scores
    TL_ATTENTION_TILED_ROWS = 96,  // the same for matrix units: keys and values become factors once
    TL_ATTENTION_TILED_KEYS = 256, // for all rows of a unit
};

/** The layout of a tensor's rows; steps in elements. */
typedef struct tl_attention_view {
    void *data;
    size_t batch, head, row; // from one to the next; 0: repeated
} tl_attention_view;

typedef struct tl_attention_job {
    tl_attention_view q, k, v, dst;
    tl_attention_view mask; // data NULL: none; `head` is the step of heads of queries
    size_t mask_key;        // from a key's element of a row to the next: 1, or 0: repeated
    size_t heads, group;    // heads of keys and values, and heads of queries for each of these
    size_t q_len, kv_len;   // queries, and keys: at least one
    size_t d, e;            // elements of a key, and of a value
    double scale;
    int zero_empty;
} tl_attention_job;

/** Computes the rows first .. first+n-1, n at most TL_ATTENTION_ROWS, of head `head` of the keys.
 * `scratch`: separate memory, as large as tl_attention_scratch for one thread. */
typedef void tl_attention_func(const tl_attention_job *job, size_t batch, size_t head, size_t first,
                               size_t n, void *scratch);

#define TL_ATTENTION_KERNELS(ROW, arg)             \
    TL_KERNELS(ROW, arg, tl_attention, FLT, PLAIN) \
    TL_KERNELS(ROW, arg, tl_attention, F32, SIMD)
TL_ATTENTION_KERNELS(TL_KERNEL_DECLARE, tl_attention_func)

/** By matrix units, with factors rounded to bfloat16: up to TL_ATTENTION_TILED_ROWS rows. */
#define TL_ATTENTION_TILES(ROW, arg) TL_KERNELS(ROW, arg, tl_attention_tile, BF16, PAIR_TILE)
TL_ATTENTION_TILES(TL_KERNEL_DECLARE, tl_attention_func)

/** The first element of row `row`, counted over the heads of queries that share head `head` of
 *  the keys: an index into a view of queries, results or mask. */
static inline size_t tl_attention_row(const tl_attention_job *job, const tl_attention_view *view,
                                      size_t batch, size_t head, size_t row)
{
    return batch * view->batch + (head * job->group + row / job->q_len) * view->head +
           row % job->q_len * view->row;
}
