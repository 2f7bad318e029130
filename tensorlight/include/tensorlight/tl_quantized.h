// SPDX-License-Identifier: Apache-2.0
// Convolutions and products of 8-bit integers: exact sums, which then become floats or 8-bit
// integers again.
//
// Sources are TL_UINT8 with one zero point, weights TL_INT8. For each output channel c
//
//     s = sum of the products + bias[c] - zero * sum of the weights of c     in 32 bits
//     v = act((float)s * (factor[c] * scale) + addend[c])                    in floats
//     result = v, or v * dst_factor rounded half to even, + dst_zero, saturated to TL_UINT8;
//              or s itself, a TL_INT32
//
// Weights with zero points subtract weight_zero[c] * sum of (source - zero) from s, where the sum
// is that of a window, or of a row. It is computed once for all channels of a group.
//
// Each operation rounds once, so that every instruction set computes the same bits, except
// activations with exp or tanh, which differ between instruction sets; NaN becomes 0. Zero points
// are 0 to 255. Padding of an image is `zero`. Sums of more than 65,536 products may not fit
// 32 bits: they then wrap modulo 2^32.
//
// Images have their channels in blocks of 16, [N, B, H, W, 16] (tl_blocked.h).
// All functions trust their caller like all tl_exec_X (tl_tensor.h).

#ifndef TL_QUANTIZED_H
#define TL_QUANTIZED_H

#include <stddef.h>

#include "tensorlight/tl_blocked.h"

TL_BEGIN_DECLS

typedef struct tl_quantized_param {
    int zero;    // of the source
    float scale; // a factor of all sums, 1 for none
    tl_activation act;
    float dst_factor; // of 8-bit results, before they are rounded
    int dst_zero;
    const tl_tensor *weight_zero; // zero points of the weights, TL_INT8 [1] or one for each output
                                  // channel; NULL: 0. Only of tl_exec_quantized_conv2d, if not
                                  // transposed, of tl_exec_quantized_depthwise2d and
                                  // of tl_exec_quantized_matmul
} tl_quantized_param;

/** Bytes of a row of packed weights, which tl_exec_quantized_conv2d reads for a block of output
 *  channels. It reads group and size of `param` and, where `is_transposed`, stride and dilation,
 *  for which tl_blocked_deconv2d_fits holds. `channels` are all of the source and all of the
 *  result; those of the result matter only in groups. */
TL_API size_t tl_quantized_conv2d_packed(const int channels[2], const tl_conv2d_param *param,
                                         int is_transposed);

/** weight TL_INT8 [OC, IC / group, KH, KW] or, of a transposed convolution, [IC, OC / group, KH,
 *  KW], bias TL_INT32 [OC] or NULL (0), factor TL_FLOAT [1] or [OC] or NULL (1), addend TL_FLOAT
 *  [OC] or NULL (0) -> dst TL_INT8 [blocks of OC, tl_quantized_conv2d_packed(..)]. A row has
 *  one section, or for a transposed convolution one for each remainder, modulo the stride, of the
 *  distance of taps from the first one. A section has 16 each of bias and of the sums of the
 *  weights, TL_INT32, of factor and of addend, TL_FLOAT; then for each group of blocks of IC that
 *  the block of OC is summed from, each of its taps, and each four channels of the group, 16 x 4
 *  weights, 0 for absent ones. Groups have equally many blocks, at most 4, the last with absent
 *  ones; a single group has only the fours of its channels. Zeros pad rows to the longest one. */
TL_API int tl_exec_quantized_conv2d_pack(const tl_exec *exec, const tl_tensor *weight,
                                         const tl_tensor *bias, const tl_tensor *factor,
                                         const tl_tensor *addend, tl_tensor *dst,
                                         const tl_conv2d_param *param, int is_transposed);

/** Bytes of scratch memory that tl_exec_quantized_conv2d needs for `threads` threads,
 *  of which at most TL_MAX_SLOTS use some: with less it uses fewer threads; one
 *  thread needs its full part. SIZE_MAX: too large for the address space. */
TL_API size_t tl_quantized_conv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                          const tl_conv2d_param *param, const int channels[2],
                                          int is_transposed, int threads);

/** Additional bytes of scratch memory for the sums of windows, if weights have zero
 *  points; SIZE_MAX: too large for the address space. */
TL_API size_t tl_quantized_conv2d_sums(const tl_tensor *src, const tl_tensor *dst, int group);

/** src TL_UINT8 [N, B, H, W, 16], weight packed by tl_exec_quantized_conv2d_pack -> dst TL_FLOAT,
 * TL_UINT8 or TL_INT32 [N, B', OH, OW, 16]. Of `param`, it reads group, size, stride, dilation and
 * padding. -1 with a reason when exec is NULL or has less scratch memory than for one thread. */
TL_API int tl_exec_quantized_conv2d(const tl_exec *exec, const tl_tensor *src,
                                    const tl_tensor *weight, tl_tensor *dst,
                                    const tl_conv2d_param *param, const int channels[2],
                                    int is_transposed, const tl_quantized_param *q);

// 3x3 convolutions with fewer multiplications

// Winograd's algorithm in integers computes 4 x 4 results with a quarter of the
// multiplications, of 16 bits each, and has the bits of tl_exec_quantized_conv2d.
// Weights need 8 times the memory. Source: Lavin and Gray, 2016, arXiv:1509.09308.

/** 4 if the algorithm is faster than tl_exec_quantized_conv2d for a blocked
 *  image on `isa`, else 0; src and dst are [N, C, H, W]. Uses a cost model
 *  of the shapes. Instruction sets with byte dot products never use it.
 */
TL_API int tl_quantized_conv2d_best(const int src[4], const int dst[4],
                                    const tl_conv2d_param *param, tl_isa isa);

/** Bytes of a row of transformed weights. */
TL_API size_t tl_quantized_winograd_packed(int channels);

/** weight TL_INT8 [OC, IC, 3, 3], bias, factor and addend as of tl_exec_quantized_conv2d_pack ->
 *  dst TL_INT8 [blocks of OC, tl_quantized_winograd_packed(IC)]. A row begins with the same 16 each
 *  of bias, sums, factor and addend; then it has, for each group of at most 14 blocks of IC, each
 * of 36 points and each two channels 16 x 2 transformed weights of 16 bits, so dst's data has
 * an even address. The number of groups is minimal; they differ by one block at most. */
TL_API int tl_exec_quantized_winograd_pack(const tl_exec *exec, const tl_tensor *weight,
                                           const tl_tensor *bias, const tl_tensor *factor,
                                           const tl_tensor *addend, tl_tensor *dst);

/** As tl_quantized_conv2d_scratch. */
TL_API size_t tl_quantized_winograd_scratch(const tl_tensor *src, const tl_tensor *dst,
                                            int channels, int threads);

/** The same for as many images as src has, or fewer. */
TL_API size_t tl_quantized_winograd_batch_scratch(const tl_tensor *src, const tl_tensor *dst,
                                                  int channels, int threads);

/** As tl_exec_quantized_conv2d for a convolution that tl_blocked_winograd_fits, with any padding;
 *  weight packed by tl_exec_quantized_winograd_pack. */
TL_API int tl_exec_quantized_winograd(const tl_exec *exec, const tl_tensor *src,
                                      const tl_tensor *weight, tl_tensor *dst,
                                      const tl_conv2d_param *param, int channels,
                                      const tl_quantized_param *q);

// Matrix multiplication

/** Bytes of a row of a packed matrix with k rows: the data
 *  that tl_exec_quantized_matmul reads for 16 columns. */
TL_API size_t tl_quantized_matmul_packed(int k);

/** weight TL_INT8 [.., k, n], or [.., n, k] with `is_transposed`; bias, factor, addend as those of
 *  tl_exec_quantized_conv2d_pack, with n in the place of OC, the same for each matrix -> dst
 *  TL_INT8 [.., ceil(n / 16), tl_quantized_matmul_packed(k)], as for a convolution of 1 x 1. */
TL_API int tl_exec_quantized_matmul_pack(const tl_exec *exec, const tl_tensor *weight,
                                         const tl_tensor *bias, const tl_tensor *factor,
                                         const tl_tensor *addend, tl_tensor *dst,
                                         int is_transposed);

/** Bytes of scratch memory that tl_exec_quantized_matmul needs, as above, for as many rows as src
 *  has, or fewer. */
TL_API size_t tl_quantized_matmul_scratch(const tl_tensor *src, const tl_tensor *dst, int threads);

/** As tl_quantized_conv2d_sums, for the rows of the product dst. */
TL_API size_t tl_quantized_matmul_sums(const tl_tensor *dst);

/** src TL_UINT8 [.., m, k], weight packed by tl_exec_quantized_matmul_pack, one matrix or one for
 *  each matrix of src -> dst TL_FLOAT, TL_UINT8 or TL_INT32 [.., m, n]. -1 with a reason as above.
 */
TL_API int tl_exec_quantized_matmul(const tl_exec *exec, const tl_tensor *src,
                                    const tl_tensor *weight, tl_tensor *dst,
                                    const tl_quantized_param *q);

// Depthwise convolution and pooling

/** Bytes of a row of packed weights of a depthwise convolution: for a block of channels. */
TL_API size_t tl_quantized_depthwise2d_packed(const int size[2]);

/** weight TL_INT8 [C, 1, KH, KW]; bias, factor, addend as those of
 *  tl_exec_quantized_conv2d_pack, with C in the place of OC -> dst TL_INT8 [B,
 *  tl_quantized_depthwise2d_packed(..)]: bias, sums, factor and addend as there; then
 *  for each row of taps each four of its taps as 16 x 4 weights, 0 for absent ones. */
TL_API int tl_exec_quantized_depthwise2d_pack(const tl_exec *exec, const tl_tensor *weight,
                                              const tl_tensor *bias, const tl_tensor *factor,
                                              const tl_tensor *addend, tl_tensor *dst);

/** Depthwise convolution: src TL_UINT8 [N, B, H, W, 16], weight
 *  packed by tl_exec_quantized_depthwise2d_pack -> dst TL_FLOAT, TL_UINT8 or TL_INT32 [N, B, OH,
 *  OW, 16]. Of `param`, it reads size, stride, dilation and padding. */
TL_API int tl_exec_quantized_depthwise2d(const tl_exec *exec, const tl_tensor *src,
                                         const tl_tensor *weight, tl_tensor *dst,
                                         const tl_conv2d_param *param, const tl_quantized_param *q);

/** The max of each window, with the scale and zero point of src: src [N, B, H, W, 16] -> dst
 *  [N, B, OH, OW, 16], both TL_UINT8. Every window overlaps src; padding is never the max. */
TL_API int tl_exec_quantized_maxpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                       const tl_pool2d_param *param);

/** The mean of each window, in the same way: src TL_UINT8 -> dst TL_FLOAT or TL_UINT8. With n
 *  elements in src, or in src and its padding if `counts_padding`, the result is that of
 *  v = act((float)(sum - elements in src * zero) / (float)n * scale). The sum is exact. */
TL_API int tl_exec_quantized_avgpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                       const tl_pool2d_param *param, int counts_padding,
                                       const tl_quantized_param *q);

// Element-wise operations

/** The sources a and b of an operation, and the quantization of its results v = act(..). */
typedef struct tl_quantized_pair {
    int zeros[2];     // the zero points of a and b
    float factors[2]; // and their scales
    tl_activation act;
    float dst_factor; // of results, before they are rounded
    int dst_zero;
} tl_quantized_pair;

/** v = act((a - zeros[0]) * factors[0] + (b - zeros[1]) * factors[1]), then as above. a and dst
 *  TL_UINT8 of one shape; b too, or [N, B, 1, 1, 16] for a [N, B, H, W, 16]. dst may be a or b of
 *  its shape. */
TL_API int tl_exec_quantized_add(const tl_exec *exec, const tl_tensor *a, const tl_tensor *b,
                                 tl_tensor *dst, const tl_quantized_pair *pair);

/** v = act((float)((a - zeros[0]) * (b - zeros[1])) * (factors[0] * factors[1])), likewise. */
TL_API int tl_exec_quantized_mul(const tl_exec *exec, const tl_tensor *a, const tl_tensor *b,
                                 tl_tensor *dst, const tl_quantized_pair *pair);

/** dst[i] = table[src[i]]: any function of 8 bits. src and dst of one shape, TL_UINT8; table
 *  TL_UINT8 [256]. dst may be src. */
TL_API int tl_exec_quantized_lookup(const tl_exec *exec, const tl_tensor *src,
                                    const tl_tensor *table, tl_tensor *dst);

TL_END_DECLS

#endif
