// SPDX-License-Identifier: Apache-2.0
// LightNet's own kernels for NVIDIA GPUs, on tensors whose data is device memory.
//
//     if (ln_cuda_softmax(stream, src, dst, 1, 0))
//         fprintf(stderr, "%s\n", tl_last_error());
//
// Functions are asynchronous: they launch kernels on a stream. CUDA graphs can capture them, since
// no function allocates, waits, or copies from the host. The caller checks shapes. "F" is TL_FLOAT,
// TL_FLOAT16 or TL_BFLOAT16, the same for all float tensors of a call; 16-bit values are converted
// to float before they are computed with. -1 with a reason in tl_last_error(): a type or size is
// not supported, or the launch failed. Without elements in dst, functions do nothing; not an error.

#pragma once

#include "tensorlight/tensorlight.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUstream_st *ln_cuda_stream;

/** Converts and permutes: axis i of dst is axis axes[i] of src; axes NULL: the same order. From any
 * of TL_FLOAT, TL_DOUBLE, TL_FLOAT16, TL_BFLOAT16, TL_INT8 to TL_INT64, TL_UINT8 to TL_UINT64,
 * TL_BOOL to any of these, with the results of tl_exec_cast. */
int ln_cuda_convert(ln_cuda_stream stream, const tl_tensor *src, const int *axes, tl_tensor *dst);

/** Copies a region, of any type of 1, 2, 4 or 8 bytes: dst[to + i] = src[from + i * step] for i in
 * [0, dims), each along every axis; `step` may be negative. src and dst have src->ndim axes. */
int ln_cuda_copy_region(ln_cuda_stream stream, const tl_tensor *src, const int *from,
                        const int *step, const int *dims, tl_tensor *dst, const int *to);

/** As tl_exec_chain, of F: sources broadcast to dst's shape. Every tl_unary_func and tl_binary_op
 * that tl_chain_check allows. Steps compute in float; only the result is rounded to F. */
int ln_cuda_chain(ln_cuda_stream stream, const tl_tensor *const *srcs, int n_srcs, tl_tensor *dst,
                  const tl_chain_step *steps, int n_steps);

/** 1: ln_cuda_chain supports these steps with this number of sources. */
int ln_cuda_has_chain(int n_srcs, const tl_chain_step *steps, int n_steps);

/** As tl_exec_softmax, of F; is_log: as tl_exec_logsoftmax. dst may be src. */
int ln_cuda_softmax(ln_cuda_stream stream, const tl_tensor *src, tl_tensor *dst, int axis,
                    int is_log);

/** As tl_exec_layernorm without statistics, of F; `bias` may be NULL. With `addend` (NULL: none),
 * of src's shape, the sum src + addend is normalized, and with `sum` (NULL: none) stored there. */
int ln_cuda_layernorm(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *addend,
                      const tl_tensor *scale, const tl_tensor *bias, tl_tensor *sum, tl_tensor *dst,
                      int axis, double epsilon);

/** As tl_exec_reduce, of F; sums are in float. */
int ln_cuda_reduce(ln_cuda_stream stream, const tl_tensor *src, tl_tensor *dst, tl_reduce_op op,
                   const int *axes, int n_axes);

/** As tl_exec_maxpool2d or tl_exec_avgpool2d, of F, on images [N, C, H, W]; is_nhwc: on [N, H, W,
 * C].
 */
int ln_cuda_pool2d(ln_cuda_stream stream, const tl_tensor *src, tl_tensor *dst,
                   const tl_pool2d_param *param, int is_max, int is_nhwc);

/** The factors of squeeze-and-excitation, of F, with sums and intermediate results in float:
 *  dst = act2(weight2 x act1(weight1 x mean + bias1) + bias2), where mean is the sum of the rows of
 *  src, divided by `pixels`. Source: Hu et al., "Squeeze-and-Excitation Networks", 2018. */
typedef struct ln_cuda_excite_job {
    const void *src;             // [images, rows, channels]: pixels, or partial sums of them
    const void *weight1, *bias1; // [hidden, channels], [hidden]
    const void *weight2, *bias2; // [outputs, hidden], [outputs]
    void *dst;                   // [images, outputs]
    tl_dtype dtype, src_dtype;   // F, and F or TL_FLOAT
    int images, rows, pixels, channels, hidden, outputs;
    tl_activation act1, act2;
} ln_cuda_excite_job;

int ln_cuda_excite(ln_cuda_stream stream, const ln_cuda_excite_job *job);

/** 1: ln_cuda_excite supports these sizes, and is faster than separate kernels. */
int ln_cuda_has_excite(int images, int channels, int hidden, int outputs);

/** As tl_exec_resample, of F, for TL_RESAMPLE_NEAREST and TL_RESAMPLE_LINEAR without stretch and
 * fill_outside. */
int ln_cuda_resample(ln_cuda_stream stream, const tl_tensor *src, tl_tensor *dst,
                     const tl_resample_param *param);

/** 1: ln_cuda_resample can do this. */
int ln_cuda_has_resample(const tl_resample_param *param, int ndim);

/** Interleaves lines of src1 and src2, of any type of 1, 2, 4 or 8 bytes: along the last
 * axis, dst[2 i] = src1[first + i] and dst[2 i + 1] = src2[first + i]. */
int ln_cuda_interleave(ln_cuda_stream stream, const tl_tensor *src1, const tl_tensor *src2,
                       tl_tensor *dst, int first);

/** As tl_exec_take, of any type of 1, 2, 4 or 8 bytes; an index out of range is clamped.
 */
int ln_cuda_take(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *index,
                 tl_tensor *dst, int axis);

/** A depthwise convolution, then addend (NULL: none), then the activation of `param`, of F. src
 *  [N, C, H, W], weight [C, 1, KH, KW]; is_nhwc: src and dst [N, H, W, C], weight [KH, KW, C].
 * `bias` [C]. */
int ln_cuda_depthwise(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *weight,
                      const tl_tensor *bias, const tl_tensor *addend, tl_tensor *dst,
                      const tl_conv2d_param *param, int is_nhwc);

/** The same for 16-bit types with is_nhwc, by tiles in shared memory; `way` < LN_CUDA_TILE_WAYS
 * selects their size. All data is aligned to 16 bytes. Writes partial sums of dst to `sums` (NULL:
 * none), [N, ln_cuda_depthwise_sums, C] of TL_FLOAT: their sum over axis 1 is dst's over H, W. */
enum { LN_CUDA_TILE_WAYS = 5 };
int ln_cuda_depthwise_tiles(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *weight,
                            const tl_tensor *bias, const tl_tensor *addend, tl_tensor *dst,
                            const tl_conv2d_param *param, int way, float *sums);
int ln_cuda_depthwise_sums(const tl_tensor *src, const tl_tensor *dst, const tl_conv2d_param *param,
                           int way);

/** 1: ln_cuda_depthwise_tiles has kernels for this: 16 bits, 3x3 or 5x5, stride 1 or 2, a multiple
 * of 8 channels, and no activation, ReLU, Clip, SiLU or HardSwish. */
int ln_cuda_has_depthwise_tiles(const tl_tensor *src, const tl_conv2d_param *param);

/** The first layer of a network, a convolution of few channels, and the activation of `param`: src
 *  and dst [N, H, W, C], weight [OC, KH, KW, C], bias [OC] or NULL. With `pool` (NULL: none), dst
 * is its max pooling, which excludes padding. The data of bias and dst is aligned to 16 bytes.
 */
int ln_cuda_first_conv(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *weight,
                       const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param,
                       const tl_pool2d_param *pool);

/** 1: ln_cuda_first_conv can fuse this pooling, which has stride 2: 2x2 after a convolution with
 *  stride 1, or 3x3 after one with stride 2. */
int ln_cuda_has_first_pool(const tl_conv2d_param *param, const tl_pool2d_param *pool);

/** 1: ln_cuda_first_conv has a kernel for this: 16 bits, one group, 1, 3 or 4 channels to a
 *  multiple of 8 up to 64; 3x3 of stride 1 or 2, or 7x7 of stride 2. */
int ln_cuda_has_first_conv(const tl_tensor *src, const tl_tensor *weight,
                           const tl_conv2d_param *param);

/** Any convolution, then addend (NULL: none), then the activation of `param`, of F: slow, for what
 *  no other kernel supports. src [N, C, H, W], weight [OC, C/group, KH, KW]; is_nhwc: src and dst
 *  [N, H, W, C], weight [OC, KH, KW, C/group]. bias [OC]. */
int ln_cuda_direct_conv(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *weight,
                        const tl_tensor *bias, const tl_tensor *addend, tl_tensor *dst,
                        const tl_conv2d_param *param, int is_nhwc);

/** dst = act(dst + bias + addend), of F: the epilogue that a library's kernel lacks.
 * `bias` (NULL: none) has one element for each index of `axis`; addend (NULL: none) dst's shape. */
int ln_cuda_epilogue(ln_cuda_stream stream, const tl_tensor *bias, const tl_tensor *addend,
                     tl_tensor *dst, int axis, tl_activation act);

/** As tl_exec_attention, of F, without a tensor of scores. `mask` may be NULL. `heads` (NULL: all)
 * selects heads: {first, count} of q, then of k, then of v. So q, k and v may be one tensor, such
 * as [B, S, 3 H, D] with heads {0, H, H, H, 2 H, H}. Source: Dao et al., "FlashAttention: Fast and
 * Memory-Efficient Exact Attention with IO-Awareness", 2022. */
int ln_cuda_attention(ln_cuda_stream stream, const tl_tensor *q, const tl_tensor *k,
                      const tl_tensor *v, const tl_tensor *mask, tl_tensor *dst,
                      const tl_attention_param *param, const int heads[6], int allow_tf32);

/** 1: ln_cuda_attention has a kernel for these shapes. */
int ln_cuda_has_attention(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                          const tl_attention_param *param);

/** Non-maximum suppression as tl_exec_nms, of TL_FLOAT. `dst`, TL_INT64, has room for
 * [batches * classes * min(how->max, N), 3]; the number of its rows is written to `count`, device
 * memory; `work` is device memory of ln_cuda_nms_work bytes. */
int ln_cuda_nms(ln_cuda_stream stream, const tl_tensor *boxes, const tl_tensor *scores,
                const tl_nms *how, tl_tensor *dst, int *count, void *work);
size_t ln_cuda_nms_work(const tl_tensor *boxes, const tl_tensor *scores, const tl_nms *how);

/** A matrix multiplication with its epilogue: dst = act(alpha * src1 x src2 + bias + addend).
 *  dst and addend [batch, m, n], src1 [batch, m, k], src2 [batch, k, n] or with trans2 [batch, n,
 *  k]; is_shared: src2 without `batch`. bias [n]. Their data is at multiples of 16 bytes. With
 *  k_more > 0, src1 is the concatenation of two matrices: [batch, m, k - k_more] and [batch, m,
 * k_more]. */
typedef struct ln_cuda_gemm_job {
    const void *src1, *src2, *bias, *addend; // bias and addend may be NULL
    const void *src1_more;                   // NULL without k_more
    void *dst;                               // may be the addend
    tl_dtype dtype;                          // TL_FLOAT16 or TL_BFLOAT16; sums are in float
    int m, n, k, k_more, batch;
    int is_shared, trans2;
    float alpha;
    tl_activation act;
    int tile; // index of a tile shape, 0 .. LN_CUDA_GEMM_TILES - 1: see ln_cuda_gemm_name
} ln_cuda_gemm_job;

enum { LN_CUDA_GEMM_TILES = 6, LN_CUDA_GEMM_CHOICES = 4 };

int ln_cuda_gemm(ln_cuda_stream stream, const ln_cuda_gemm_job *job);

/** 1: ln_cuda_gemm can compute the job by its tile: n and k are multiples of 8. For the last two
 *  tiles, of whole rows, src2 is one matrix that fits in shared memory. With k_more, k - k_more is
 *  a multiple of the tile's k step: 64 suits all tiles, and 8 those of whole rows. */
int ln_cuda_has_gemm(const ln_cuda_gemm_job *job);

/** Writes the candidates for the fastest tile; returns their number. 0: the job is unsupported. */
int ln_cuda_gemm_choices(const ln_cuda_gemm_job *job, int choices[LN_CUDA_GEMM_CHOICES]);

/** "gemm 128x64": a constant string. */
const char *ln_cuda_gemm_name(int tile);

#ifdef __cplusplus
}
#endif
