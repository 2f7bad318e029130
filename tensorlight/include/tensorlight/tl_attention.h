// SPDX-License-Identifier: Apache-2.0
// Attention: for each query, the mean of values, weighted by the similarity of query and keys.
//
//     tl_attention_param param = {.q_axis = 2, .k_axis = 2, .v_axis = 2, .dst_axis = 2,
//                                 .scale = 1 / sqrt(64)};
//     tl_tensor *y = tl_tensor_attention(q, k, v, NULL, NULL, &param); // [B, S, H, 64] each
//
// Sizes: B batch, H heads of queries and G of keys and values, S queries,
// T keys, D elements of a query and of a key, E of a value. H is a
// multiple of G: H / G adjacent heads of queries share one of keys (GQA).
// The matrix of scores, [S, T] for each head, is never materialized.

#ifndef TL_ATTENTION_H
#define TL_ATTENTION_H

#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

/** 0 if these can be rotated, else -1 with a reason. */
TL_API int tl_rotate_check(const tl_tensor *src, const tl_tensor *cosines, const tl_tensor *sines);

/** Rotates pairs (x1, x2) of elements of each row of src [.., D], a floating type, by an angle, to
 *  (x1 c - x2 s, x2 c + x1 s). A pair has elements i and i + D / 2, or with is_interleaved 2 i and
 *  2 i + 1, i < D / 2. cosines and sines, of one shape, broadcast to [.., D / 2] along all axes but
 *  the last one; or to [.., D]: then each element of a result has its own. Types of 16 bits compute
 *  in float. dst is not src. Source: Su et al., "RoFormer", 2021, 3.4; ONNX RotaryEmbedding-23. D.
 */
TL_API tl_tensor *tl_tensor_rotate(const tl_tensor *src, const tl_tensor *cosines,
                                   const tl_tensor *sines, tl_tensor *dst, int is_interleaved);
TL_API int tl_exec_rotate(const tl_exec *exec, const tl_tensor *src, const tl_tensor *cosines,
                          const tl_tensor *sines, tl_tensor *dst, int is_interleaved);

typedef struct tl_attention_param {
    // The axis of the heads: 1, [B, H, S, D], or 2, [B, S, H, D],
    // which is the layout of a matrix product [B, S, H * D].
    int q_axis, k_axis, v_axis, dst_axis;
    double scale;   // of the scores
    int zero_empty; // a fully masked query (scores of -infinity only) gets 0, not NaN
    // Of a cache with memory for more keys than it has: the number of rows of the memory of each
    // head. 0: as many as it has.
    int k_rows, v_rows;
    // Queries, keys, values and weights of TL_FLOAT may be rounded to TL_BFLOAT16, which matrix
    // units multiply; sums are floats.
    int in_pairs;
} tl_attention_param;

/** dst = softmax(scale * q k^T + mask) v for each head, softmax over the keys. q [B, H, S, D], k
 *  [B, G, T, D], v [B, G, T, E], dst [B, H, S, E], or in the other order of axes; mask: of any
 *  shape that broadcasts to [B, H, S, T], or NULL. All of one floating type; those of 16 bits
 *  compute in float. A query with a score that is NaN or +infinity, or with scores of -infinity
 *  only, gets NaN; without keys, 0. Keys that the mask excludes from some consecutive queries of a
 *  head, 48 at most, or 96 with in_pairs, are not read for these, even if they are NaN. Source:
 * Vaswani et al., "Attention is all you need", 2017, 3.2; ONNX Attention-23. D. */
TL_API tl_tensor *tl_tensor_attention(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                                      const tl_tensor *mask, tl_tensor *dst,
                                      const tl_attention_param *param);

/** The same. -1 with a reason when exec is NULL or has less scratch memory than for one thread. */
TL_API int tl_exec_attention(const tl_exec *exec, const tl_tensor *q, const tl_tensor *k,
                             const tl_tensor *v, const tl_tensor *mask, tl_tensor *dst,
                             const tl_attention_param *param);

/** Writes the shape of dst to `dims` [4]. -1 with a reason: inconsistent shapes, types or axes. */
TL_API int tl_attention_dims(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                             const tl_tensor *mask, const tl_attention_param *param, int *dims);

/** Bytes of scratch memory for `threads` threads, of which at most
 *  TL_MAX_SLOTS use some. SIZE_MAX: too large for the address space. */
TL_API size_t tl_attention_scratch(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                                   const tl_attention_param *param, int threads);

/** Linear attention: a state S [D, E] for each head of keys, which each position updates in turn:
 *
 *      S = exp(decay) S            each row, or all, if a decay is given
 *      u = beta (v - S^T k)        with is_delta; else u = beta v
 *      S = S + k u^T
 *      dst = scale S^T q           for each head of queries that shares the keys
 *
 *  All of TL_FLOAT. NULL inputs are absent: no decay, beta 1, a past of zeros. Source: ONNX
 *  LinearAttention-27; Yang et al., "Gated Delta Networks", 2024. */
typedef struct tl_linear_attention {
    const tl_tensor *q;     // [B, T, H, D]; H is a multiple of G
    const tl_tensor *k, *v; // [B, T, G, D], [B, T, G, E]
    const tl_tensor *past;  // the state before: [B, G, D, E]
    const tl_tensor *decay; // [B, T, G], or of each row of S: [B, T, G, D]
    const tl_tensor *beta;  // [B, T, G] or [B, T, 1]
    double scale;
    int is_delta;
} tl_linear_attention;

/** 0, or -1 with a reason: inconsistent shapes or types. */
TL_API int tl_linear_attention_check(const tl_linear_attention *a);

/** Computes dst [B, T, H, E], and the state after the last position, [B, G, D, E]; neither overlaps
 *  an input. Memory of dst and state is the caller's; `a` has been checked. Returns 0. */
TL_API int tl_exec_linear_attention(const tl_exec *exec, const tl_linear_attention *a,
                                    tl_tensor *dst, tl_tensor *state);

TL_END_DECLS

#endif
