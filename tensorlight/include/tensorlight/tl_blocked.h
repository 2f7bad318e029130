// SPDX-License-Identifier: Apache-2.0
// Convolutional networks with channels in blocks: the layout in which vectors need no tails.
//
// An image [N, C, H, W] is stored as an ordinary tensor [N, B, H, W, 16], B = ceil(C / 16): the
// channels of a pixel lie beside each other in blocks of 16, for every instruction set. What works
// element by element works on such tensors as on others. The lanes of the last block that stand for
// no channel may hold anything; no function lets a lane influence another, and none that sums over
// channels reads them.
//
// TL_FLOAT only; changes of layout and picks of channels take TL_UINT8, too, and convolutions
// TL_BFLOAT16. What computes on 8-bit images is in tl_quantized.h. Everything here trusts its
// caller as all tl_exec_X do (tl_tensor.h).

#ifndef TL_BLOCKED_H
#define TL_BLOCKED_H

#include <stddef.h>

#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_nn.h"
#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

/** Channels of a block. */
enum { TL_BLOCK = 16 };

/** The largest KH * KW of the convolutions here. */
enum { TL_BLOCKED_TAPS = 1024 };

/** The largest product of the strides of a transposed convolution. */
enum { TL_BLOCKED_GRIDS = 64 };

/** The blocks of `channels` channels. */
TL_API int tl_blocks(int channels);

/** src [N, C, H, W] -> dst [N, B, H, W, 16]; lanes that stand for no channel become 0. */
TL_API int tl_exec_to_blocked(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/** src [N, B, H, W, 16] -> dst [N, C, H, W]. */
TL_API int tl_exec_from_blocked(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/* Convolutions have `channels`: of the source and, where there are several groups, of the result.
 * With several groups, each block of the result is summed from all source channels that its groups
 * have, with weights of 0 between an output channel and those of other groups: an infinity or a NaN
 * spreads among the groups of a block. */

/** Floats of a row of packed weights: what tl_exec_blocked_conv2d reads for a block of output
 *  channels. `lanes` is TL_BLOCK, or 1 for a source in planes, with group 1. */
TL_API size_t tl_blocked_conv2d_packed(const int channels[2], int group, const int size[2],
                                       int lanes);

/** The same in pairs of bfloat16, of one group and a source in blocks: elements of TL_BFLOAT16. */
TL_API size_t tl_blocked_conv2d_packed_pairs(int channels, const int size[2]);

/** weight [OC, IC / group, KH, KW], bias [OC] or NULL -> dst [B, tl_blocked_conv2d_packed(..)], B
 *  the blocks of OC: 16 biases, then for each block (each plane, if `lanes` is 1) of the source
 * with channels of the groups of these 16, each tap and each lane 16 weights, 0 for what is absent
 * or of another group; then zeros, where other rows are longer. Of groups of 2, 4 or 8 channels, in
 * as out: for each tap and each channel of a group (for 2: of two groups) 16 weights. dst of
 * TL_BFLOAT16, [B, tl_blocked_conv2d_packed_pairs(..)], has the biases as floats, then each two
 * weights of neighbouring lanes, rounded, beside each other. */
TL_API int tl_exec_blocked_conv2d_pack(const tl_exec *exec, const tl_tensor *weight,
                                       const tl_tensor *bias, tl_tensor *dst, int group, int lanes);

/** weight as tl_exec_blocked_conv2d_pack makes it for a source in blocks and one group, factor
 *  [1, B, 1, 1, 16] -> dst like weight: with it, a convolution of a source gives what `weight` does
 *  with the source times factor. Cheaper where there are fewer weights than elements of the source.
 */
TL_API int tl_exec_blocked_conv2d_scale(const tl_exec *exec, const tl_tensor *weight,
                                        const tl_tensor *factor, tl_tensor *dst);

/** Bytes of scratch memory that tl_exec_blocked_conv2d needs for `threads` threads, of which at
 *  most TL_MOST_SLOTS use some: with less than that it uses fewer threads, for one it needs it
 *  all. SIZE_MAX: more than an address can name. */
TL_API size_t tl_blocked_conv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                        const tl_conv2d_param *param, const int channels[2],
                                        int threads);

/** src [N, B, H, W, 16], or planes [N, C, H, W] with group 1, weight as
 *  tl_exec_blocked_conv2d_pack makes it for that source -> dst [N, B, OH, OW, 16] =
 *  act(conv(src) + add); add is NULL or has the shape of dst and may be dst. The order of each
 *  sum is fixed: block of channels, tap, channel. Padding is multiplied like any pixel: with an
 *  infinity or a NaN as weight, results at the border are NaN where tl_exec_conv2d, which leaves
 *  padding out, gives numbers. -1 with a reason when exec is NULL or has less scratch memory than
 *  for one thread; 1x1 convolutions with stride 1 and without padding need none.
 *  channels[1] may be 0 with group 1: as many as the blocks of dst have. Lanes of dst beyond the
 *  channels are not those of dst = act(conv(src) + add) and hold any numbers.
 *
 *  src and weight are TL_FLOAT, or both TL_BFLOAT16, with group 1, an even number of channels and
 *  sums in float, two products at a time. add and dst are TL_FLOAT or TL_BFLOAT16; results are
 *  rounded to that once. With TL_ISA_AVX512BF16, subnormal numbers count as 0. */
TL_API int tl_exec_blocked_conv2d(const tl_exec *exec, const tl_tensor *src,
                                  const tl_tensor *weight, const tl_tensor *add, tl_tensor *dst,
                                  const tl_conv2d_param *param, const int channels[2]);

/** Whether transposed convolutions with these windows can be computed in blocks: there are not too
 *  many taps and strides, none too large, and the source between the first and the last tap has at
 *  most TL_BLOCKED_TAPS positions. */
TL_API int tl_blocked_deconv2d_fits(const tl_conv2d_param *param);

/** Transposed convolution: weight [IC, OC / group, KH, KW], bias [OC] or NULL -> dst [B,
 *  tl_blocked_conv2d_packed({IC, OC}, ..)], for the stride and dilation of `param`, with other taps
 *  first: those that add to the same places of the result, modulo the stride, stand together. */
TL_API int tl_exec_blocked_deconv2d_pack(const tl_exec *exec, const tl_tensor *weight,
                                         const tl_tensor *bias, tl_tensor *dst,
                                         const tl_conv2d_param *param);

/** As tl_blocked_conv2d_scratch. */
TL_API size_t tl_blocked_deconv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                          const tl_conv2d_param *param, const int channels[2],
                                          int threads);

/** As tl_exec_blocked_conv2d, transposed: src [N, B, H, W, 16], weight as
 *  tl_exec_blocked_deconv2d_pack makes it -> dst [N, B, OH, OW, 16]. What the padding at the top
 * and the left cuts off may be negative; the extents of dst say what is left at the other sides.
 * Takes as many multiplications as the sums have terms. */
TL_API int tl_exec_blocked_deconv2d(const tl_exec *exec, const tl_tensor *src,
                                    const tl_tensor *weight, const tl_tensor *add, tl_tensor *dst,
                                    const tl_conv2d_param *param, const int channels[2]);

/** Floats of a block of packed weights of a depthwise convolution. */
TL_API size_t tl_blocked_depthwise_packed(const int size[2]);

/** weight [C, 1, KH, KW], bias [C] or NULL -> dst [B, tl_blocked_depthwise_packed(..)]: 16 biases,
 *  then 16 weights for each tap. Absent channels have weight and bias 0. */
TL_API int tl_exec_blocked_depthwise_pack(const tl_exec *exec, const tl_tensor *weight,
                                          const tl_tensor *bias, tl_tensor *dst);

/** Convolution of each channel by itself (as many groups as channels, before and after): src
 *  [N, B, H, W, 16], weight as tl_exec_blocked_depthwise_pack makes it -> dst [N, B, OH, OW, 16] =
 *  act(conv(src) + add); add is NULL or has the shape of dst and may be dst. The order of each sum
 *  is fixed, and padding is left out of it. */
TL_API int tl_exec_blocked_depthwise(const tl_exec *exec, const tl_tensor *src,
                                     const tl_tensor *weight, const tl_tensor *add, tl_tensor *dst,
                                     const tl_conv2d_param *param);

/** tl_exec_maxpool2d of src [N, B, H, W, 16] -> dst [N, B, OH, OW, 16]. The extents of dst may be
 *  any with which every window meets src. */
TL_API int tl_exec_blocked_maxpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                     const tl_pool2d_param *param);

/** The mean of each window, in the same way: its sum in float, divided by the number of its
 *  elements in src or, if `counts_padding`, in src and its padding. */
TL_API int tl_exec_blocked_avgpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                     const tl_pool2d_param *param, int counts_padding);

/** Channel j of dst [N, B, H, W, 16] is channel map[j] of all sources beside each other: srcs[i]
 *  [N, .., H, W, 16] has channels[i] of them. Concatenation, splitting and shuffling of channels in
 *  one, whatever the block they begin in. dst has `n_map` channels, and overlaps no source. */
TL_API int tl_exec_blocked_pick(const tl_exec *exec, int n_srcs, const tl_tensor *const *srcs,
                                const int *channels, const int *map, int n_map, tl_tensor *dst);

/* ---- the choice ---- */

/** Whether a convolution of an image is faster in blocks than by tl_exec_conv2d: few channels leave
 *  most lanes of a block empty, and groups multiply by 0. src and dst are [N, C, H, W], there are
 *  TL_BLOCKED_TAPS taps at most. Decided from the shapes by a model of the costs. */
TL_API int tl_blocked_conv2d_pays(const int src[4], const int dst[4], const tl_conv2d_param *param);

/** The same of a transposed convolution, and tl_exec_deconv2d. */
TL_API int tl_blocked_deconv2d_pays(const int src[4], const int dst[4],
                                    const tl_conv2d_param *param);

/* ---- 3x3 convolutions with fewer multiplications ---- */

/* By Winograd's algorithm, m x m results at a time, m = 2, 4 or 6, take 4/9, 1/4 or 16/81 of the
 * multiplications; m = 0 stands for tl_exec_blocked_conv2d. Sums are rounded otherwise: the largest
 * error, relative to the largest result, is about 5e-7, 2e-6 and 1.2e-5 for up to 512 channels
 * (direct: 2e-6). An infinity or a NaN in src makes NaN of all results of the tiles that see it,
 * one in weight of all of its output channel, and magnitudes above 1e35 may overflow. Source: Lavin
 * and Gray, 2016, arXiv:1509.09308. */

/** Whether the algorithm computes such convolutions. */
TL_API int tl_blocked_winograd_fits(const tl_conv2d_param *param);

/** The m that computes the convolution of an image in blocks fastest, or 0; src and dst are
 *  [N, C, H, W]. Decided from the shapes by a model of the costs. */
TL_API int tl_blocked_conv2d_best(const int src[4], const int dst[4], const tl_conv2d_param *param);

/** Whether a convolution of an image in blocks is faster with a source of TL_BFLOAT16 than by the
 * way of tl_blocked_conv2d_best with `m`, rounding of the source included, where the CPU multiplies
 *  pairs. Decided from the shapes by the same model. */
TL_API int tl_blocked_conv2d_pairs_pay(const int src[4], const int dst[4],
                                       const tl_conv2d_param *param, int m);

/** The ways to compute a convolution: way i has m = 2 * i. */
enum { TL_BLOCKED_CONV2D_WAYS = 4 };

/** As tl_blocked_conv2d_best, of a convolution that the algorithm computes: by measuring each way
 *  with the threads and the level of `exec`, some tenths of a second. Before every run, `others`
 *  bytes (64 MB at most) are read, as much as the rest of a network has weights, for it decides
 *  what caches hold. seconds[i] is the shortest time of way i. -1 with a reason: no memory. */
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
 *  and any padding; weight as tl_exec_blocked_winograd_pack makes it for m. -1 with a reason when
 *  exec is NULL or has less scratch memory than for one thread. */
TL_API int tl_exec_blocked_winograd(const tl_exec *exec, const tl_tensor *src,
                                    const tl_tensor *weight, const tl_tensor *add, tl_tensor *dst,
                                    const tl_conv2d_param *param, int channels, int m);

TL_END_DECLS

#endif
