// SPDX-License-Identifier: Apache-2.0
// Neural-network functions on tensors: convolution, pooling,
// normalization, reductions, resampling, sorting, detection.
//
//     const tl_conv2d_param param = {
//         .group = 1, .size = {3, 3}, .stride = {1, 1}, .dilation = {1, 1},
//         .padding = {1, 1, 1, 1}, .act = {TL_ACT_RELU}};
//     tl_tensor *dst = tl_tensor_conv2d(src, weight, bias, NULL, &param);
//
// tl_tensor.h explains `dst` (the D rule), errors, and preconditions of tl_exec_X. FLT is the four
// floating dtypes; 16-bit floats compute in float and round at the end. Images are [N, C, H, W]:
// batch, channels, height, width. Pairs are {height, width}, paddings {top, left, bottom, right}.

#ifndef TL_NN_H
#define TL_NN_H

#include <stddef.h>

#include "tensorlight/tl_elementwise.h"
#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

// Activations fused into another computation

/** The activations of tl_functions.h, TL_ACT_NONE = 0, TL_ACT_RELU, ..: unary functions, of which
 *  TL_ACT_SILU has the alpha 1. The result is first rounded to its dtype, then the activation
 *  computes like tl_exec_unary, so fused and separate activations have equal bits. */
#define TL_ACT_VALUE(arg, NAME, ...) TL_ACT_##NAME,
typedef enum tl_act {
    TL_ACT_INVALID = -1,
    TL_ACT_NONE = 0,
    TL_ACTS(TL_ACT_VALUE, ) //
    TL_ACT_SIZE
} tl_act;

/** An activation and its parameters; {0} is none. */
typedef struct tl_activation {
    tl_act act;
    float alpha, beta; // if it has some
} tl_activation;

/** The identifier, or NULL out of range. */
TL_API const char *tl_act_name(tl_act act);

/** TL_ACT_INVALID for every other string, and NULL. */
TL_API tl_act tl_act_from_str(const char *str);

/** The activation as a separate function, FLT; dst has the dtype and shape of src and may be src.
 * TL_ACT_NONE copies. */
TL_API int tl_exec_act(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                       tl_activation act);

/** The activation equal to `func` with these parameters; -1 (without a reason): none. */
TL_API int tl_activation_of(tl_activation *act, tl_unary_func func, double alpha, double beta);

/** The inverse: the function of an activation, and its
 *  parameters; TL_UNARY_FUNC_INVALID for TL_ACT_NONE. */
TL_API tl_unary_func tl_activation_func(tl_activation act, double *alpha, double *beta);

// Windows: convolution and pooling, FLT unless specified

typedef struct tl_conv2d_param {
    int group;             // >= 1; equal to the channels: depthwise
    int size[2];           // of the kernel
    int stride[2];         // >= 1
    int dilation[2];       // >= 1; distance of the kernel's taps
    int padding[4];        // >= 0; deconv2d: crops the result, negative enlarges it
    int output_padding[2]; // deconv2d only, >= 0: more rows at the bottom, columns at the right
    tl_activation act;     // applied to the result
} tl_conv2d_param;

typedef struct tl_pool2d_param {
    int size[2];    // >= 1
    int stride[2];  // >= 1
    int padding[4]; // 0 .. size-1
} tl_pool2d_param;

/** The extent of a convolution's or pool's (dilation 1) result along one axis, from the padding at
 *  `begin` and `end`: floor((in + begin + end - eff) / stride) + 1, with
 *  eff = (size - 1) * dilation + 1. -1 with a reason: no window fits, or more than INT_MAX.
 *  Source: operator catalogue, 5.1. */
TL_API int tl_conv2d_length(int in, int size, int stride, int dilation, int begin, int end);

/** The same for a deconvolution: stride * (in - 1) + output_padding + eff - (begin + end); at least
 *  1. Source: operator catalogue, 5.2. */
TL_API int tl_deconv2d_length(int in, int size, int stride, int dilation, int begin, int end,
                              int output_padding);

/** The parameters of these windows, without output_padding and activation. */
TL_API tl_conv2d_param tl_conv2d_param_of(int group, const int *size, const int *stride,
                                          const int *dilation, const int *padding);

/** The height and width of the result of a convolution, or deconvolution, of images with these in
 *  src->dims[2] and [3], in planes or in blocks. -1 with a reason: as tl_conv2d_length. */
TL_API int tl_conv2d_extents(const tl_tensor *src, const tl_conv2d_param *param, int is_transposed,
                             int *extents);

/** The same of a pool. -1 with a reason: also padding of a size or more. */
TL_API int tl_pool2d_extents(const tl_tensor *src, const tl_pool2d_param *param, int *extents);

/** Cross-correlation: src [N, IC, H, W], weight [OC, IC/group, KH, KW], bias [OC]
 *  or NULL -> dst [N, OC, OH, OW]. Positions outside of src are 0. The sum begins
 *  with the bias; its order is fixed. Source: operator catalogue, conv2d. D. */
TL_API int tl_conv2d_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                           const tl_conv2d_param *param, int *dims);
TL_API tl_tensor *tl_tensor_conv2d(const tl_tensor *src, const tl_tensor *weight,
                                   const tl_tensor *bias, tl_tensor *dst,
                                   const tl_conv2d_param *param);
TL_API int tl_exec_conv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                          const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param);

/** Transposed convolution: src [N, IC, H, W], weight [IC, OC/group, KH, KW], bias [OC] or NULL ->
 *  dst [N, OC, OH, OW]. The sum begins with the bias; its order is fixed. Source: operator
 *  catalogue, deconv2d. D. */
TL_API int tl_deconv2d_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                             const tl_conv2d_param *param, int *dims);
TL_API tl_tensor *tl_tensor_deconv2d(const tl_tensor *src, const tl_tensor *weight,
                                     const tl_tensor *bias, tl_tensor *dst,
                                     const tl_conv2d_param *param);
TL_API int tl_exec_deconv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                            const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param);

/** The max of each window's elements in src [N, C, H, W] -> dst [N, C, OH, OW];
 *  any dtype. In row order a later element wins if it is greater, so a NaN stays
 *  only at the start of a window. Source: operator catalogue, maxpool2d. D. */
TL_API tl_tensor *tl_tensor_maxpool2d(const tl_tensor *src, tl_tensor *dst,
                                      const tl_pool2d_param *param);
TL_API int tl_exec_maxpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                             const tl_pool2d_param *param);

/** The mean of each window's elements inside src, summed in double; padding does not count.
 *  Source: operator catalogue, avgpool2d. D. */
TL_API tl_tensor *tl_tensor_avgpool2d(const tl_tensor *src, tl_tensor *dst,
                                      const tl_pool2d_param *param);
TL_API int tl_exec_avgpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                             const tl_pool2d_param *param);

// Normalization: FLT, dst has the shape of src and may be src

/** src [N, C, ..], the others [C], all of one dtype:
 *  dst = scale[c] * (src - mean[c]) / sqrt(var[c] + epsilon) + offset[c]. A negative var + epsilon
 *  results in NaN. Source: operator catalogue, batchnorm. D. */
TL_API tl_tensor *tl_tensor_batchnorm(const tl_tensor *src, const tl_tensor *scale,
                                      const tl_tensor *offset, const tl_tensor *mean,
                                      const tl_tensor *var, tl_tensor *dst, float epsilon);
TL_API int tl_exec_batchnorm(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                             const tl_tensor *offset, const tl_tensor *mean, const tl_tensor *var,
                             tl_tensor *dst, float epsilon);

/** The factors to fold a batchnorm into other weights, all [C] and of one dtype, in
 *  double: dst_scale = s = scale / sqrt(var + epsilon), dst_shift = offset - mean * s,
 *  dst_power = 1. dst_power may be NULL. Source: operator catalogue, bn2scale_wts. */
TL_API int tl_exec_bn2scale(const tl_exec *exec, const tl_tensor *mean, const tl_tensor *var,
                            const tl_tensor *scale, const tl_tensor *offset, tl_tensor *dst_scale,
                            tl_tensor *dst_shift, tl_tensor *dst_power, float epsilon);

/** dst = src * scale[c] + shift[c], c the index along `axis` of src [.., C, ..];
 *  scale, shift [C] of src's dtype; shift NULL: 0. Then the activation. D. */
TL_API tl_tensor *tl_tensor_affine(const tl_tensor *src, const tl_tensor *scale,
                                   const tl_tensor *shift, tl_tensor *dst, int axis,
                                   tl_activation act);
TL_API int tl_exec_affine(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                          const tl_tensor *shift, tl_tensor *dst, int axis, tl_activation act);

/** exp(x - m) / sum(exp(x - m)) along `axis`, m the max of that line. A line with NaN or
 *  +infinity, or of -infinity only, becomes NaN. Source: operator catalogue, softmax. D. */
TL_API tl_tensor *tl_tensor_softmax(const tl_tensor *src, tl_tensor *dst, int axis);
TL_API int tl_exec_softmax(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis);

/** The logarithm of softmax, without underflow: x - m - log(sum(exp(x - m))). A line with
 *  NaN or +infinity, or of -infinity only, becomes NaN. Source: ONNX LogSoftmax-13. D. */
TL_API tl_tensor *tl_tensor_logsoftmax(const tl_tensor *src, tl_tensor *dst, int axis);
TL_API int tl_exec_logsoftmax(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis);

/** The type of tl_exec_layernorm's mean and inv_std: TL_DOUBLE for TL_DOUBLE, else TL_FLOAT. */
TL_API tl_dtype tl_layernorm_stats_dtype(tl_dtype dtype);

/** dst = (src - mean) / sqrt(variance + epsilon) * scale + bias, mean and variance being
 *  those of the elements along the axes from `axis` on, in double. scale, bias: as many
 *  elements as these axes have, of src's dtype, or NULL: 1, 0. mean, inv_std: one element
 *  for each position of the axes before, of tl_layernorm_stats_dtype, receive the mean
 *  and 1 / sqrt(variance + epsilon); or NULL. Source: ONNX LayerNormalization-17. D. */
TL_API tl_tensor *tl_tensor_layernorm(const tl_tensor *src, const tl_tensor *scale,
                                      const tl_tensor *bias, tl_tensor *dst, int axis,
                                      double epsilon);
TL_API int tl_exec_layernorm(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                             const tl_tensor *bias, tl_tensor *dst, tl_tensor *mean,
                             tl_tensor *inv_std, int axis, double epsilon);

/** dst = src / sqrt(mean of squares + epsilon) * scale, as layernorm. Source: ONNX
 *  RMSNormalization-23. D. */
TL_API tl_tensor *tl_tensor_rmsnorm(const tl_tensor *src, const tl_tensor *scale, tl_tensor *dst,
                                    int axis, double epsilon);
TL_API int tl_exec_rmsnorm(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                           tl_tensor *dst, int axis, double epsilon);

/** As layernorm, over the channels of each of `groups` groups of src [N, C, ..] and all that
 *  follows; scale, bias: C elements, one for each channel, or `groups`, one for each group; or
 *  NULL. C groups: instance normalization. Source: ONNX GroupNormalization-21, -18. D. _check
 *  ignores dtypes: -1 with a reason if the shapes are inconsistent. */
TL_API int tl_groupnorm_check(const tl_tensor *src, const tl_tensor *scale, int groups);
TL_API tl_tensor *tl_tensor_groupnorm(const tl_tensor *src, const tl_tensor *scale,
                                      const tl_tensor *bias, tl_tensor *dst, int groups,
                                      double epsilon);
TL_API int tl_exec_groupnorm(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                             const tl_tensor *bias, tl_tensor *dst, int groups, double epsilon);

typedef struct tl_lrn_param {
    int size; // channels that are summed for each one, >= 1
    double alpha, beta, bias;
} tl_lrn_param;

/** src / (bias + alpha / size * sum)^beta, the sum being that of the squares of the channels from
 *  c - (size - 1) / 2 to c + size / 2 at the same position, of src [N, C, ..]. dst is not src.
 * Source: ONNX LRN-13. D. */
TL_API tl_tensor *tl_tensor_lrn(const tl_tensor *src, tl_tensor *dst, const tl_lrn_param *param);
TL_API int tl_exec_lrn(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                       const tl_lrn_param *param);

// Losses

/** The reduction of the losses of all targets. */
typedef enum tl_loss_reduction {
    TL_LOSS_REDUCTION_INVALID = -1,
    TL_LOSS_NONE = 0, // each is a result
    TL_LOSS_SUM,
    TL_LOSS_MEAN, // weighted
    TL_LOSS_REDUCTION_SIZE
} tl_loss_reduction;

/** The identifier, or NULL out of range. */
TL_API const char *tl_loss_reduction_name(tl_loss_reduction reduction);

/** TL_LOSS_REDUCTION_INVALID for every other string, and NULL. */
TL_API tl_loss_reduction tl_loss_reduction_from_str(const char *str);

typedef struct tl_nllloss_param {
    tl_loss_reduction reduction;
    int is_ignoring;
    int64_t ignored; // with is_ignoring: targets of this value have no loss and no weight
} tl_nllloss_param;

/** 0 when the shapes of src [N, C, ..], target [N, ..] and weight [C] (or NULL) fit and target is
 *  TL_INT32 or TL_INT64, else -1 with a reason. */
TL_API int tl_nllloss_check(const tl_tensor *src, const tl_tensor *target, const tl_tensor *weight);

/** -src[n, t, ..] * weight[t], t = target[n, ..], of log probabilities src [N,
 * C, ..] -> [N, ..], or the sum of these, or their sum divided by that of the
 * weights, [] each, summed in double. -1 (NULL) with a reason: a target is not
 * ignored and not a class. Source: ONNX NegativeLogLikelihoodLoss-13. D. */
TL_API tl_tensor *tl_tensor_nllloss(const tl_tensor *src, const tl_tensor *target,
                                    const tl_tensor *weight, tl_tensor *dst,
                                    const tl_nllloss_param *param);
TL_API int tl_exec_nllloss(const tl_exec *exec, const tl_tensor *src, const tl_tensor *target,
                           const tl_tensor *weight, tl_tensor *dst, const tl_nllloss_param *param);

// Reductions: any dtype

/** Maximum along `axis`: [.., d, ..] -> [.., 1, ..], d >= 1; arg: its index (TL_INT32,
 *  the shape of dst), or NULL, never allocated. NaN at index 0 stays, later ones lose;
 *  ties: the lowest index. Source: operator catalogue, maxreduce_arg. D. */
TL_API tl_tensor *tl_tensor_maxreduce(const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                                      int axis);
TL_API int tl_exec_maxreduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                             tl_tensor *arg, int axis);

/** The sum of src1[i] * src2[i] -> [1]; same dtype and shape. Floats sum in double and convert,
 *  integers wrap, TL_BOOL: OR of ANDs. Source: operator catalogue, dot_product. D. */
TL_API tl_tensor *tl_tensor_dot_product(const tl_tensor *src1, const tl_tensor *src2,
                                        tl_tensor *dst);
TL_API int tl_exec_dot_product(const tl_exec *exec, const tl_tensor *src1, const tl_tensor *src2,
                               tl_tensor *dst);

/** Reductions of elements x: sum, arithmetic mean, product, max, min, sum of |x|,
 *  root of the sum of x^2, sum of x^2, log of the sum, log of the sum of exp(x). */
typedef enum tl_reduce_op {
    TL_REDUCE_OP_INVALID = -1,
    TL_REDUCE_SUM = 0,
    TL_REDUCE_MEAN,
    TL_REDUCE_PROD,
    TL_REDUCE_MAX,
    TL_REDUCE_MIN,
    TL_REDUCE_L1,
    TL_REDUCE_L2,
    TL_REDUCE_SUM_SQUARE,
    TL_REDUCE_LOG_SUM,
    TL_REDUCE_LOG_SUM_EXP,
    TL_REDUCE_OP_SIZE
} tl_reduce_op;

/** The identifier, or NULL out of range. */
TL_API const char *tl_reduce_op_name(tl_reduce_op op);

/** TL_REDUCE_OP_INVALID for every other string, and NULL. */
TL_API tl_reduce_op tl_reduce_op_from_str(const char *str);

/** -1 with a reason unless the operation exists and supports the dtype: max and min support all
 *  (TL_BOOL: OR, AND), others all but TL_BOOL. */
TL_API int tl_reduce_check(tl_reduce_op op, tl_dtype dtype);

/** Writes the shape of a reduction to `dims` [TL_MAXDIM] and returns its
 *  ndim: reduced axes have length 1, or without `keepdims` are removed. */
TL_API int tl_reduce_dims(const tl_tensor *src, const int *axes, int n_axes, int keepdims,
                          int *dims);

/** Reduces src along the `n_axes` different `axes`; none: each element separately. Floats
 *  sum in double and overflow to infinity; NaN propagates, in max and min too. Integers
 *  wrap; their mean rounds toward zero; their roots and logarithms are converted
 *  (tl_convert). Empty: sums 0, products 1, logarithms -infinity, the mean NaN (integers
 *  0), the max -infinity (integers the lowest, TL_BOOL 0), the min likewise. Source:
 *  ONNX ReduceSum-13 and the other Reduce operators of opset 18 and 20. D. */
TL_API tl_tensor *tl_tensor_reduce(const tl_tensor *src, tl_tensor *dst, tl_reduce_op op,
                                   const int *axes, int n_axes, int keepdims);
TL_API int tl_exec_reduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                          tl_reduce_op op, const int *axes, int n_axes);

/** -1 with a reason unless the axis exists and has elements, as tl_tensor_argreduce and
 *  tl_tensor_maxreduce require. */
TL_API int tl_argreduce_check(const tl_tensor *src, int axis);

/** The index (TL_INT64) of the maximum, or with `is_min` of the minimum, along `axis`: [.., d,
 *  ..] -> [.., 1, ..], or without `keepdims` [.., ..]; d >= 1. The first of equal elements, or
 *  with `is_last` the last. NaN counts as the max and the min. Source: ONNX ArgMax-13. D. */
TL_API tl_tensor *tl_tensor_argreduce(const tl_tensor *src, tl_tensor *dst, int axis, int is_min,
                                      int is_last, int keepdims);
TL_API int tl_exec_argreduce(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int axis,
                             int is_min, int is_last);

typedef struct tl_cumulate_param {
    int axis;
    int is_product;   // instead of the sum
    int is_exclusive; // results exclude their own element: the first is 0, or 1
    int is_reverse;   // from the end of the axis
} tl_cumulate_param;

/** The sum (product) of the elements up to each one along an axis; dst has the shape of src and
 *  may be src. Any dtype but TL_BOOL. Floats sum in double, integers wrap. Source: ONNX CumSum-14,
 *  CumProd-26. D. */
TL_API tl_tensor *tl_tensor_cumulate(const tl_tensor *src, tl_tensor *dst,
                                     const tl_cumulate_param *param);
TL_API int tl_exec_cumulate(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                            const tl_cumulate_param *param);

// Resampling

/** -1 with a reason unless tl_tensor_resize supports the mode, the dtype with it, and the new
 *  shape, which has elements only if src does. */
TL_API int tl_resize_check(const tl_tensor *src, const int *new_dims, tl_resize_type rtype);

/** src -> dst of shape `new_dims` [src.ndim], every axis resampled with half-pixel centers.
 *  TL_NEAREST: any dtype. TL_LINEAR: all but TL_BOOL, in double; integers round half away from
 *  zero. dst and src may be empty only together. Source: operator catalogue, resize. D. */
TL_API tl_tensor *tl_tensor_resize(const tl_tensor *src, tl_tensor *dst, const int *new_dims,
                                   tl_resize_type rtype);
TL_API int tl_exec_resize(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                          tl_resize_type rtype);

// Sorting and selection: any dtype

/** Sorts the 1-D `key` in place. NaN comes last in both directions. Source: operator catalogue,
 *  sort1d. */
TL_API int tl_tensor_sort1d(tl_tensor *key, tl_sort_dir dir);

/** The same, and moves the elements of the 1-D `val` (any dtype, the len of key) along. Stable:
 *  equal keys keep their order in both directions. Source: operator catalogue, sort1d_by_key. */
TL_API int tl_tensor_sort1d_by_key(tl_tensor *key, tl_tensor *val, tl_sort_dir dir);

/** The top `k` max (min) elements along `axis` in order, and their indices
 *  (TL_INT64): [.., d, ..] -> both [.., k, ..], given, k <= d. NaN is the
 *  max; equal elements keep their order. Source: ONNX TopK-11. */
TL_API int tl_tensor_topk(const tl_tensor *src, tl_tensor *values, tl_tensor *indices, int axis,
                          int is_smallest);
TL_API int tl_exec_topk(const tl_exec *exec, const tl_tensor *src, tl_tensor *values,
                        tl_tensor *indices, int axis, int is_smallest);

/** The bytes of exec->scratch that tl_exec_topk needs with `threads`, for up to `k` elements of
 * lines that are at most as long. Data is ignored and may be NULL. */
TL_API size_t tl_topk_scratch(const tl_tensor *src, int axis, int k, int threads);

/** The bytes of exec->scratch that tl_exec_sort1d and tl_exec_sort1d_by_key
 *  need; val may be NULL. Data is ignored and may be NULL. */
TL_API size_t tl_sort1d_scratch(const tl_tensor *key, const tl_tensor *val);

/** -1 with a reason when exec is NULL or its scratch is too small. */
TL_API int tl_exec_sort1d(const tl_exec *exec, tl_tensor *key, tl_sort_dir dir);
TL_API int tl_exec_sort1d_by_key(const tl_exec *exec, tl_tensor *key, tl_tensor *val,
                                 tl_sort_dir dir);

/** dst[i*stride + j] = src[index[i]*stride + j] for i < len, j < stride: 1-D src, index
 *  (TL_INT32) -> [len*stride]. -1 (NULL) with a reason: an index outside 0 ..
 *  src.len/stride - 1; dst is then unchanged. Source: operator catalogue, pick1d. D. _length:
 *  len*stride; -1 with a reason if src, index, stride and len do not fit. */
TL_API int tl_pick1d_length(const tl_tensor *src, const tl_tensor *index, int stride, int len);
TL_API tl_tensor *tl_tensor_pick1d(const tl_tensor *src, const tl_tensor *index, tl_tensor *dst,
                                   int stride, int len);
TL_API int tl_exec_pick1d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *index,
                          tl_tensor *dst, int stride, int len);

// Images and detection

/** [H, W, 3], no TL_BOOL -> [3, H, W]: dst[c,h,w] = convert(double(src[h,w,c]) - mean[c]); mean
 *  [3]. The result has the dtype of dst, TL_FLOAT for dst NULL. Source: operator catalogue,
 *  submean. D. */
TL_API tl_tensor *tl_tensor_submean(const tl_tensor *src, tl_tensor *dst, const double *mean);
TL_API int tl_exec_submean(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                           const double *mean);

/** SqueezeDet's boxes: delta [.., 4] (dx, dy, dw, dh) and anchor [.., 4] (cx, cy,
 *  w, h, pixels of the network's input of `width` x `height`) -> [.., 4] (xmin,
 *  ymin, xmax, ymax, pixels of the image, clipped to its border). TL_FLOAT; dst
 *  may be delta or anchor. Source: operator catalogue, transform_bboxSQD. D. */
TL_API tl_tensor *tl_tensor_transform_bboxSQD(const tl_tensor *delta, const tl_tensor *anchor,
                                              tl_tensor *dst, int width, int height, int img_width,
                                              int img_height, int x_shift, int y_shift);
TL_API int tl_exec_transform_bboxSQD(const tl_exec *exec, const tl_tensor *delta,
                                     const tl_tensor *anchor, tl_tensor *dst, int width, int height,
                                     int img_width, int img_height, int x_shift, int y_shift);

/** One head of YOLOv3: feature [1, A*(5+K), H, W], anchors [A, 2] (w, h in pixels
 *  of the image) -> box_centers [1, A, 2, H, W] (x, y), box_sizes [1, A, 2, H, W]
 *  (w, h), boxes [1, A, 4, H, W] (xmin, ymin, xmax, ymax), confs [1, A, 1, H, W],
 *  probs [1, A, K, H, W]. TL_FLOAT, K >= 1. No threshold, no suppression. Note
 *  the order: height before width. Source: operator catalogue, detect_yolov3. _check ignores
 *  dtypes: -1 with a reason if the shapes are inconsistent. */
TL_API int tl_detect_yolov3_check(const tl_tensor *feature, const tl_tensor *anchors);
TL_API int tl_tensor_detect_yolov3(const tl_tensor *feature, const tl_tensor *anchors,
                                   tl_tensor *box_centers, tl_tensor *box_sizes, tl_tensor *boxes,
                                   tl_tensor *confs, tl_tensor *probs, int img_h, int img_w);
TL_API int tl_exec_detect_yolov3(const tl_exec *exec, const tl_tensor *feature,
                                 const tl_tensor *anchors, tl_tensor *box_centers,
                                 tl_tensor *box_sizes, tl_tensor *boxes, tl_tensor *confs,
                                 tl_tensor *probs, int img_h, int img_w);

TL_END_DECLS

#endif
