// SPDX-License-Identifier: Apache-2.0
// Convolutional networks in blocked layout (NCHWc), in which vectors need no tails.
//
// An image [N, C, H, W] is stored as an ordinary tensor [N, B, H, W, 16], B =
// ceil(C / 16): the channels of a pixel are contiguous in blocks of 16, for
// every instruction set. Element-wise functions apply to such tensors as to
// others. The padding lanes of the last block may have any value; no function
// lets a lane influence another, and none that sums over channels reads them.
//
// TL_FLOAT only; layout changes and channel gathers also accept TL_UINT8, and
// convolutions TL_BFLOAT16. Functions on 8-bit images are in tl_quantized.h.
// All functions trust their caller like all tl_exec_X (tl_tensor.h).

#ifndef TL_BLOCKED_H
#define TL_BLOCKED_H

#include <stddef.h>

#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_nn.h"
#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

/** Channels of a block. */
enum { TL_BLOCK = 16 };

/** The max KH * KW of these convolutions. */
enum { TL_BLOCKED_TAPS = 1024 };

/** The max product of the strides of a transposed convolution. */
enum { TL_BLOCKED_GRIDS = 64 };

/** The blocks of `channels` channels. */
TL_API int tl_blocks(int channels);

/** src [N, C, H, W] -> dst [N, B, H, W, 16]; padding lanes become 0. */
TL_API int tl_exec_to_blocked(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/** src [N, B, H, W, 16] -> dst [N, C, H, W]. */
TL_API int tl_exec_from_blocked(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

// Convolutions have `channels`: of the source and, with several groups,
// of the result. With several groups, each block of the result sums all source
// channels of its groups, with weights of 0 between an output channel and those of
// other groups: an infinity or a NaN propagates among the groups of a block.

/** Floats of a row of packed weights, which tl_exec_blocked_conv2d reads for a block of
 *  output channels. `lanes` is TL_BLOCK, or 1 for a source in planes, with group 1. */
TL_API size_t tl_blocked_conv2d_packed(const int channels[2], int group, const int size[2],
                                       int lanes);

/** The same in pairs of bfloat16, of one group and a source in blocks: elements of TL_BFLOAT16. */
TL_API size_t tl_blocked_conv2d_packed_pairs(int channels, const int size[2]);

/** weight [OC, IC / group, KH, KW], bias [OC] or NULL -> dst [B, tl_blocked_conv2d_packed(..)],
 * B the blocks of OC: 16 biases, then for each block (each plane, if `lanes` is 1) of the
 * source with channels of the groups of these 16, each tap and each lane 16 weights, 0 for
 * absent channels and other groups; then zeros up to the longest row. Of groups of 2, 4 or 8
 * channels, in as out: for each tap and each channel of a group (for 2: of two groups) 16
 * weights. dst of TL_BFLOAT16, [B, tl_blocked_conv2d_packed_pairs(..)], has the biases as
 * floats, then pairs of rounded weights of adjacent lanes. */
TL_API int tl_exec_blocked_conv2d_pack(const tl_exec *exec, const tl_tensor *weight,
                                       const tl_tensor *bias, tl_tensor *dst, int group, int lanes);

/** weight packed by tl_exec_blocked_conv2d_pack for a source in blocks and one group, factor
 *  [1, B, 1, 1, 16] -> dst like weight: a convolution with dst equals one with `weight` and
 *  the source times factor. Faster if src has more elements than the weights. */
TL_API int tl_exec_blocked_conv2d_scale(const tl_exec *exec, const tl_tensor *weight,
                                        const tl_tensor *factor, tl_tensor *dst);

/** Bytes of scratch memory that tl_exec_blocked_conv2d needs for `threads` threads,
 *  of which at most TL_MAX_SLOTS use some: with less it uses fewer threads; one
 *  thread needs its full part. SIZE_MAX: too large for the address space. */
TL_API size_t tl_blocked_conv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                        const tl_conv2d_param *param, const int channels[2],
                                        int threads);

/** src [N, B, H, W, 16], or planes [N, C, H, W] with group 1, weight packed
 *  by tl_exec_blocked_conv2d_pack for that source -> dst [N, B, OH, OW, 16] =
 *  act(conv(src) + add); add is NULL or has the shape of dst and may be dst. The order of each
 *  sum is fixed: block of channels, tap, channel. Padding is multiplied like any pixel: with an
 *  infinity or a NaN as weight, results at the border are NaN, unlike those of tl_exec_conv2d,
 *  which skips padding. -1 with a reason when exec is NULL or has less scratch memory than
 *  for one thread; 1x1 convolutions with stride 1 and without padding need none.
 *  channels[1] may be 0 with group 1: all channels of the blocks of dst. Padding lanes of dst have
 *  undefined values.
 *
 *  src and weight are TL_FLOAT, or both TL_BFLOAT16, with group 1, an even number of channels and
 *  sums in float, two products at a time. add and dst are TL_FLOAT or TL_BFLOAT16; results are
 *  rounded to that once. With TL_ISA_AVX512BF16, subnormal numbers count as 0. */
TL_API int tl_exec_blocked_conv2d(const tl_exec *exec, const tl_tensor *src,
                                  const tl_tensor *weight, const tl_tensor *add, tl_tensor *dst,
                                  const tl_conv2d_param *param, const int channels[2]);

/** Whether blocked transposed convolution supports these windows: it
 *  limits the number of taps and strides, their sizes, and the positions
 *  of the source between the first and the last tap (TL_BLOCKED_TAPS). */
TL_API int tl_blocked_deconv2d_fits(const tl_conv2d_param *param);

/** Transposed convolution: weight [IC, OC / group, KH, KW], bias [OC] or NULL -> dst [B,
 *  tl_blocked_conv2d_packed({IC, OC}, ..)], for the stride and dilation of `param`, with reordered
 *  taps: those that add to equal positions of the result, modulo the stride, are adjacent. */
TL_API int tl_exec_blocked_deconv2d_pack(const tl_exec *exec, const tl_tensor *weight,
                                         const tl_tensor *bias, tl_tensor *dst,
                                         const tl_conv2d_param *param);

/** As tl_blocked_conv2d_scratch. */
TL_API size_t tl_blocked_deconv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                          const tl_conv2d_param *param, const int channels[2],
                                          int threads);

/** As tl_exec_blocked_conv2d, transposed: src [N, B, H, W, 16], weight packed
 * by tl_exec_blocked_deconv2d_pack -> dst [N, B, OH, OW, 16]. The padding
 * at the top and the left, which crops the result, may be negative; the extents
 * of dst determine the other sides. Multiplies once per term of the sums. */
TL_API int tl_exec_blocked_deconv2d(const tl_exec *exec, const tl_tensor *src,
                                    const tl_tensor *weight, const tl_tensor *add, tl_tensor *dst,
                                    const tl_conv2d_param *param, const int channels[2]);

/** Floats of a block of packed weights of a depthwise convolution. */
TL_API size_t tl_blocked_depthwise_packed(const int size[2]);

/** weight [C, 1, KH, KW], bias [C] or NULL -> dst [B, tl_blocked_depthwise_packed(..)]: 16 biases,
 *  then 16 weights for each tap. Absent channels have weight and bias 0. */
TL_API int tl_exec_blocked_depthwise_pack(const tl_exec *exec, const tl_tensor *weight,
                                          const tl_tensor *bias, tl_tensor *dst);

/** Convolution of each channel by itself (as many groups as channels, before and
 *  after): src [N, B, H, W, 16], weight packed by tl_exec_blocked_depthwise_pack
 *  -> dst [N, B, OH, OW, 16] = act(conv(src) + add); add is NULL or has the shape
 *  of dst and may be dst. The order of each sum is fixed, and skips padding. */
TL_API int tl_exec_blocked_depthwise(const tl_exec *exec, const tl_tensor *src,
                                     const tl_tensor *weight, const tl_tensor *add, tl_tensor *dst,
                                     const tl_conv2d_param *param);

/** tl_exec_maxpool2d of src [N, B, H, W, 16] -> dst [N,
 *  B, OH, OW, 16]. Every window must overlap src. */
TL_API int tl_exec_blocked_maxpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                     const tl_pool2d_param *param);

/** The mean of each window, in the same way: its sum in float, divided by the number of its
 *  elements in src or, if `counts_padding`, in src and its padding. */
TL_API int tl_exec_blocked_avgpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                     const tl_pool2d_param *param, int counts_padding);

/** Channel j of dst [N, B, H, W, 16] is channel map[j] of all concatenated sources: srcs[i]
 *  [N, .., H, W, 16] has channels[i] of them. Concatenates, splits and shuffles channels
 *  across blocks in one step. dst has `n_map` channels, and overlaps no source. */
TL_API int tl_exec_blocked_pick(const tl_exec *exec, int n_srcs, const tl_tensor *const *srcs,
                                const int *channels, const int *map, int n_map, tl_tensor *dst);

// The choice

/** Whether a blocked convolution is faster than tl_exec_conv2d: few channels leave
 *  most lanes of a block empty, and groups multiply by 0. src and dst are [N, C,
 *  H, W], with at most TL_BLOCKED_TAPS taps. Uses a cost model of the shapes. */
TL_API int tl_blocked_conv2d_pays(const int src[4], const int dst[4], const tl_conv2d_param *param);

/** The same for a transposed convolution and tl_exec_deconv2d. */
TL_API int tl_blocked_deconv2d_pays(const int src[4], const int dst[4],
                                    const tl_conv2d_param *param);

// 3x3 convolutions with fewer multiplications

// Winograd's algorithm computes m x m results at a time, m = 2, 4 or 6, with 4/9, 1/4
// or 16/81 of the multiplications; m = 0 is tl_exec_blocked_conv2d. Sums round
// differently: the max error, relative to the max result, is about 5e-7, 2e-6 and
// 1.2e-5 for up to 512 channels (direct: 2e-6). An infinity or a NaN in src makes all
// results of its tiles NaN, one in weight those of its output channel, and magnitudes
// above 1e35 may overflow. Source: Lavin and Gray, 2016, arXiv:1509.09308.

/** Whether the algorithm supports a convolution: 3x3, stride, dilation and group 1. */
TL_API int tl_blocked_winograd_fits(const tl_conv2d_param *param);

/** The fastest m for a blocked convolution, 0: direct; src and dst are [N, C, H, W]. Uses a cost
 *  model of the shapes. */
TL_API int tl_blocked_conv2d_best(const int src[4], const int dst[4], const tl_conv2d_param *param);

/** Whether a blocked convolution is faster with a source of TL_BFLOAT16 than with floats and `m`
 * (as of tl_blocked_conv2d_best), if the CPU has bfloat16 dot products. Includes the rounding of
 * the source. Uses the same cost model. */
TL_API int tl_blocked_conv2d_pairs_pay(const int src[4], const int dst[4],
                                       const tl_conv2d_param *param, int m);

/** Whether matrix units, if the CPU has them, compute a convolution of TL_BFLOAT16 with so many
 *  channels of the source to dst [N, C, H, W]: channels must be whole blocks, as elements of
 * padding may be infinite, and a few pixels of a line fill too little of a tile. */
TL_API int tl_blocked_conv2d_fills_tiles(int channels, const int dst[4],
                                         const tl_conv2d_param *param);

/** The ways to compute a convolution: way i has m = 2 * i. */
enum { TL_BLOCKED_CONV2D_WAYS = 4 };

/** Returns the fastest m for a convolution that tl_blocked_winograd_fits accepts. Measures each way
 *  with the pool and ISA of `exec` (NULL: 1 thread), some tenths of a second. Evicts the weights
 *  from caches before each run: reads `others` bytes, max 64 MB, such as the size of a network's
 *  weights. seconds[i]: min time of way i. -1 with a reason: no memory, weights too large. */
TL_API int tl_blocked_conv2d_measure(const tl_exec *exec, const int src[4], const int dst[4],
                                     const tl_conv2d_param *param, size_t others,
                                     double seconds[TL_BLOCKED_CONV2D_WAYS]);

/** Floats of a block of output channels of transformed weights: (m + 2)^2 / 9 of the plain ones. */
TL_API size_t tl_blocked_winograd_packed(int channels, int m);

/** weight [OC, IC, 3, 3], bias [OC] or NULL -> dst [B, tl_blocked_winograd_packed(IC, m)], B the
 *  blocks of OC: 16 biases, then for each of (m + 2)^2 points and each of IC, rounded up to blocks,
 *  16 weights, computed in double and rounded once. */
TL_API int tl_exec_blocked_winograd_pack(const tl_exec *exec, const tl_tensor *weight,
                                         const tl_tensor *bias, tl_tensor *dst, int m);

/** As tl_blocked_conv2d_scratch. */
TL_API size_t tl_blocked_winograd_scratch(const tl_tensor *src, const tl_tensor *dst, int channels,
                                          int m, int threads);

/** The same for as many images as src has, or fewer. */
TL_API size_t tl_blocked_winograd_batch_scratch(const tl_tensor *src, const tl_tensor *dst,
                                                int channels, int m, int threads);

/** As tl_exec_blocked_conv2d for src [N, B, H, W, 16], with size 3x3, stride, dilation and group 1
 *  and any padding; weight packed by tl_exec_blocked_winograd_pack for m. -1 with a reason when
 *  exec is NULL or has less scratch memory than for one thread. */
TL_API int tl_exec_blocked_winograd(const tl_exec *exec, const tl_tensor *src,
                                    const tl_tensor *weight, const tl_tensor *add, tl_tensor *dst,
                                    const tl_conv2d_param *param, int channels, int m);

TL_END_DECLS

#endif
