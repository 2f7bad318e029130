// SPDX-License-Identifier: Apache-2.0
// Steps of attention and rotary embedding, shared by the operators of ONNX and com.microsoft.
//
//     ln_onnx_attention a = {.query = q, .key = k, .value = v, .scale = 1, .stage = -1};
//     ln_onnx_measure_attention(n, &a);
//     const char *const dst = ln_onnx_emit_attention(n, &a);

#pragma once

#include <limits.h>

#include "front/onnx/ln_onnx.h"

/** Stages of the scores, each computed from the one before. */
enum { LN_ONNX_SCORES, LN_ONNX_CAPPED, LN_ONNX_BIASED, LN_ONNX_PROBABILITIES };

/** Operands [B, H, length, size]. */
typedef struct ln_onnx_attention {
    const char *query, *key, *value;
    const char *bias; // added to the scores, or NULL
    const char *sink; // [Hq]: attention sinks, a score without a key for each head; or NULL
    double scale, softcap;
    int stage, stage_output; // the stage to return as that output of the node; -1: none

    tl_dtype dtype; // this and the rest: set by ln_onnx_measure_attention
    int q_heads, kv_heads;
    ln_dim batch, q_len, kv_len;
} ln_onnx_attention;

/** Sets dtype, heads and lengths by query and key. The node fails unless heads are a multiple. */
void ln_onnx_measure_attention(ln_onnx_node *n, ln_onnx_attention *a);

/** softmax(scale * query x key^T + bias) x value, [B, Hq, S, E]; a row whose scores are all
 *  -infinity gets 0. */
const char *ln_onnx_emit_attention(ln_onnx_node *n, const ln_onnx_attention *a);

/** Required attribute `name`, a number of heads, at least 1. */
int ln_onnx_read_heads(ln_onnx_node *n, const char *name);

/** Attribute `name`, a number of heads, which divides the last axis of `src` [B, S, H * D]. */
int ln_onnx_heads_of(ln_onnx_node *n, const char *name, const char *src);

/** Attribute 'scale', or 1 / sqrt(size) where it is 0 or missing. */
double ln_onnx_read_scale(ln_onnx_node *n, int size);

/** Input `i`, which is added to the scores: [B or 1, Hq or 1, S, T]; NULL: none. */
const char *ln_onnx_read_score_bias(ln_onnx_node *n, const ln_onnx_attention *a, int i);

/** The indices 0 .. len-1 as a column [len, 1] or a row [len], of TL_INT64. */
const char *ln_onnx_indices(ln_onnx_node *n, const ln_dim *len, int is_column);

/** The keys that a query at position p reads: p - left .. p + right. */
enum { LN_ONNX_UNBOUNDED = INT_MAX };
typedef struct ln_onnx_window {
    int left, right;
} ln_onnx_window;

/** Whether `keys`, indices [T], are in the window of `positions` [.., S, 1], of TL_INT64; NULL: the
 *  window has no bounds. */
const char *ln_onnx_in_window(ln_onnx_node *n, const char *keys, const char *positions,
                              const ln_onnx_window *window);

/** 0 where `allowed`, a tensor of bools, is true, otherwise -infinity. */
const char *ln_onnx_bias_of(ln_onnx_node *n, const char *allowed, tl_dtype dtype);

/** `past` (NULL: none) followed by `now`, along the axis of time; the node's output `i`. */
const char *ln_onnx_with_past(ln_onnx_node *n, const char *past, const char *now, int i);

/** `first` followed by `second` along an axis. */
const char *ln_onnx_join(ln_onnx_node *n, const char *first, const char *second, int axis, int i);

/** [B, S, H * D] as [B, S, H, D], and that as [B, H, S, D], and back. */
const char *ln_onnx_split_heads(ln_onnx_node *n, const char *src, int heads);
const char *ln_onnx_swap_heads(ln_onnx_node *n, const char *src);
const char *ln_onnx_merge_heads(ln_onnx_node *n, const char *src, int i);

/** Rotates pairs of the first `rotated` elements of the last axis of `src` of 4 dimensions: of
 *  neighbours, or of the two halves. The angles broadcast to [.., rotated / 2]. */
const char *ln_onnx_rotate(ln_onnx_node *n, const char *src, const char *cosines, const char *sines,
                           int rotated, int is_paired);
