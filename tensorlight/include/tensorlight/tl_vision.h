// SPDX-License-Identifier: Apache-2.0
// N-D functions for images, volumes and signals, in addition to tl_nn.h: windows
// over any number of axes, resampling, sampling at given positions.
//
//     tl_poolnd_param param = {.kind = TL_POOL_MAX,
//                              .windows = {.n = 1, .size = {3}, .stride = {2}, .dilation = {1}}};
//     tl_tensor *dst = tl_tensor_poolnd(src, NULL, NULL, &param); // src [N, C, L]
//
// tl_tensor.h explains `dst` (the D rule), errors, and preconditions of tl_exec_X. Shapes [N, C,
// ..]: batch, channels, then 1 .. TL_MAX_SPATIAL spatial axes. tl_X_shape checks the arguments of
// tl_tensor_X except data, writes the shape of the result to `dims` and returns 0, or -1 with a
// reason.

#ifndef TL_VISION_H
#define TL_VISION_H

#include <stddef.h>

#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

#define TL_MAX_SPATIAL (TL_MAXDIM - 2)

/** Sliding windows over the `n` spatial axes. Along axis i, tap k of window
 *  w is at position w * stride[i] + k * dilation[i] - padding[i]. */
typedef struct tl_windows {
    int n;                           // 1 .. TL_MAX_SPATIAL
    int size[TL_MAX_SPATIAL];        // >= 1: taps
    int stride[TL_MAX_SPATIAL];      // >= 1
    int dilation[TL_MAX_SPATIAL];    // >= 1: distance of the taps
    int padding[2 * TL_MAX_SPATIAL]; // at the start of each axis, then at the end
} tl_windows;

/** The windows of these arrays [n], padding [2 * n]; empty for n outside 0 .. TL_MAX_SPATIAL. */
TL_API tl_windows tl_windows_of(int n, const int *size, const int *stride, const int *dilation,
                                const int *padding);

// Convolution

/** Cross-correlation over any number of axes: src [N, IC, ..], weight [OC, IC/group, size..],
 *  bias [OC] or NULL -> dst [N, OC, ..]. FLT. Positions outside src count as 0; negative
 *  padding crops src. An extent is floor((in + padding - (size - 1) * dilation - 1) / stride)
 *  + 1. The sum begins with the bias; its order is fixed. Source: ONNX Conv-22. D. */
TL_API int tl_convnd_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                           const tl_windows *windows, int group, int *dims);
TL_API tl_tensor *tl_tensor_convnd(const tl_tensor *src, const tl_tensor *weight,
                                   const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows,
                                   int group);
TL_API int tl_exec_convnd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                          const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows,
                          int group);

/** The transpose of that: src [N, IC, ..], weight [IC, OC/group, size..], bias [OC] or NULL ->
 *  dst [N, OC, ..]. FLT. An extent is stride * (in - 1) + output_padding + (size - 1) * dilation +
 *  1 - padding; output_padding [n] >= 0, NULL: all 0. Source: ONNX ConvTranspose-22. D. */
TL_API int tl_deconvnd_shape(const tl_tensor *src, const tl_tensor *weight, const tl_tensor *bias,
                             const tl_windows *windows, int group, const int *output_padding,
                             int *dims);
TL_API tl_tensor *tl_tensor_deconvnd(const tl_tensor *src, const tl_tensor *weight,
                                     const tl_tensor *bias, tl_tensor *dst,
                                     const tl_windows *windows, int group,
                                     const int *output_padding);
TL_API int tl_exec_deconvnd(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                            const tl_tensor *bias, tl_tensor *dst, const tl_windows *windows,
                            int group);

/** tl_tensor_convnd of integers: src and weight TL_INT8 or TL_UINT8, bias TL_INT32 [OC] or
 *  NULL -> dst TL_INT32, modulo 2^32. Subtracts src_zero, of one element, from src, and
 *  weight_zero, of one element or [OC], from weight; they have the dtypes of src and weight
 *  and may be NULL. Positions outside src add nothing. Source: ONNX ConvInteger-10. D. */
typedef struct tl_conv_int_args {
    const tl_tensor *src, *weight, *src_zero, *weight_zero, *bias;
} tl_conv_int_args;
TL_API int tl_conv_int_shape(const tl_conv_int_args *args, const tl_windows *windows, int group,
                             int *dims);
TL_API tl_tensor *tl_tensor_conv_int(const tl_conv_int_args *args, tl_tensor *dst,
                                     const tl_windows *windows, int group);
TL_API int tl_exec_conv_int(const tl_exec *exec, const tl_conv_int_args *args, tl_tensor *dst,
                            const tl_windows *windows, int group);

// Pooling

typedef enum tl_pool_kind {
    TL_POOL_KIND_INVALID = -1,
    TL_POOL_MAX = 0, // any dtype
    TL_POOL_MEAN,    // FLT, summed in double
    TL_POOL_NORM,    // FLT: (sum of |x|^p)^(1/p), in double
    TL_POOL_KIND_SIZE
} tl_pool_kind;

/** The identifier, or NULL out of range; TL_POOL_KIND_INVALID for other strings, and NULL. */
TL_API const char *tl_pool_kind_name(tl_pool_kind kind);
TL_API tl_pool_kind tl_pool_kind_from_str(const char *str);

typedef struct tl_poolnd_param {
    tl_windows windows; // padding >= 0
    tl_pool_kind kind;
    int is_ceil;         // extents round up; a window that starts after src is omitted
    int counts_padding;  // TL_POOL_MEAN divides by the taps in src and its padding
    int is_column_major; // arg is a column-major index in a plane
    double p;            // of TL_POOL_NORM, > 0
} tl_poolnd_param;

/** Each window of src [N, C, ..] -> dst [N, C, ..]. An extent is floor((in + padding -
 *  (size - 1) * dilation - 1) / stride) + 1. Only elements in src count; a window without
 *  any is the lowest value, or 0 for another kind. Later elements win if they are
 *  greater, so a NaN stays only at the start of a window. arg: of TL_POOL_MAX, the index
 *  of the maximum in all of src (TL_INT64, the shape of dst; -1 for an empty window), or
 *  NULL, never allocated. Source: ONNX MaxPool-22, AveragePool-22, LpPool-22. D. */
TL_API int tl_poolnd_shape(const tl_tensor *src, const tl_poolnd_param *param, int *dims);
TL_API tl_tensor *tl_tensor_poolnd(const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                                   const tl_poolnd_param *param);
TL_API int tl_exec_poolnd(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                          const tl_poolnd_param *param);

// Resampling

typedef enum tl_resample_mode {
    TL_RESAMPLE_MODE_INVALID = -1,
    TL_RESAMPLE_NEAREST = 0, // any dtype
    TL_RESAMPLE_LINEAR,      // all but TL_BOOL, as all the others
    TL_RESAMPLE_CUBIC,
    TL_RESAMPLE_MODE_SIZE
} tl_resample_mode;

/** Rounding of a position to an index: half down rounds the middle of two indices down. */
typedef enum tl_rounding {
    TL_ROUNDING_INVALID = -1,
    TL_ROUND_HALF_DOWN = 0,
    TL_ROUND_HALF_UP,
    TL_ROUND_DOWN,
    TL_ROUND_UP,
    TL_ROUNDING_SIZE
} tl_rounding;

/** The identifier, or NULL out of range; the value of an
 *  identifier, ..._INVALID for any other string, and NULL. */
TL_API const char *tl_resample_mode_name(tl_resample_mode mode);
TL_API tl_resample_mode tl_resample_mode_from_str(const char *str);
TL_API const char *tl_rounding_name(tl_rounding rounding);
TL_API tl_rounding tl_rounding_from_str(const char *str);

/** Index i of dst samples position (i + shift) * span / steps + start of src. */
typedef struct tl_resample_axis {
    double shift, span, steps, start; // finite, steps not 0
    double stretch; // >= 1, at most src's length: widens the filter against aliasing
} tl_resample_axis;

typedef struct tl_resample_param {
    tl_resample_mode mode;
    tl_rounding rounding; // of TL_RESAMPLE_NEAREST, where positions are floats
    double cubic_a;       // of TL_RESAMPLE_CUBIC, the parameter of the kernel
    int excludes_outside; // elements outside src have no weight;
                          // else the border is repeated
    int fills_outside;    // positions outside src, on any axis, become `fill`
    double fill;
    tl_resample_axis axes[TL_MAXDIM];
} tl_resample_param;

/** src -> dst of shape `dims` [src.ndim]: separately along each axis, those that
 * shrink most first. Computes in float, in double for TL_DOUBLE and integers of more
 * than 8 bits. Integers are truncated toward zero and saturate; a sum that misses an
 * integer only by rounding error is that integer. dst and src may be empty only
 * together. Source: ONNX Resize-19; Keys: Cubic convolution interpolation, 1981. D. */
TL_API int tl_resample_check(const tl_tensor *src, const int *dims, const tl_resample_param *param);
TL_API tl_tensor *tl_tensor_resample(const tl_tensor *src, tl_tensor *dst, const int *dims,
                                     const tl_resample_param *param);

/** The bytes of exec->scratch that tl_exec_resample
 *  needs; 0 with a reason: overflow. Data is ignored. */
TL_API size_t tl_resample_scratch(const tl_tensor *src, const int *dims,
                                  const tl_resample_param *param);

/** -1 with a reason when exec is NULL or its scratch is too small. */
TL_API int tl_exec_resample(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                            const tl_resample_param *param);

// Sampling at given positions: FLT, computed in double

/** The value of a position outside src. */
typedef enum tl_outside {
    TL_OUTSIDE_INVALID = -1,
    TL_OUTSIDE_ZERO = 0,
    TL_OUTSIDE_BORDER,  // that of the nearest position at the border
    TL_OUTSIDE_REFLECT, // the border is a mirror
    TL_OUTSIDE_SIZE
} tl_outside;

/** The identifier, or NULL out of range; TL_OUTSIDE_INVALID for other strings, and NULL. */
TL_API const char *tl_outside_name(tl_outside outside);
TL_API tl_outside tl_outside_from_str(const char *str);

/** src [N, C, in..] at the positions grid [N, out.., n] -> dst [N, C, out..], over n
 *  = 1 .. 3 axes; a position lists the last axis first. -1 and 1 are the outer edges
 *  of the first and the last element, or, with `aligns_corners`, their centers.
 *  TL_RESAMPLE_CUBIC has a = -0.75. Ties of TL_RESAMPLE_NEAREST round to even along
 *  each axis; positions are doubles for a TL_DOUBLE grid, else floats. NaN and
 *  infinities are far outside. src and grid FLT. Source: ONNX GridSample-22. D. */
TL_API int tl_grid_sample_shape(const tl_tensor *src, const tl_tensor *grid, int *dims);
TL_API tl_tensor *tl_tensor_grid_sample(const tl_tensor *src, const tl_tensor *grid, tl_tensor *dst,
                                        tl_resample_mode mode, tl_outside outside,
                                        int aligns_corners);
TL_API int tl_exec_grid_sample(const tl_exec *exec, const tl_tensor *src, const tl_tensor *grid,
                               tl_tensor *dst, tl_resample_mode mode, tl_outside outside,
                               int aligns_corners);

typedef struct tl_roi_param {
    int size[2];       // height and width of the result, >= 1
    double scale;      // from the regions' coordinates to those of src, > 0
    int is_max;        // roi_align: the max of a bin's weighted samples, not their mean
    int samples;       // roi_align: per bin and axis, <= 1024; 0: ceil(bin length)
    int is_half_pixel; // roi_align: coordinates are of edges, not of centers
} tl_roi_param;

/** Regions of images: src [N, C, H, W], rois [R, 4] (x1, y1, x2, y2), of src's
 * dtype, batch [R] (the image of each, TL_INT64 or TL_INT32) -> dst [R, C, size..],
 * each bin sampled linearly. -1 (NULL) with a reason: an unknown image, a region
 * that is not finite or many times as large as src. Source: ONNX RoiAlign-22. D. */
TL_API int tl_roi_align_shape(const tl_tensor *src, const tl_tensor *rois, const tl_tensor *batch,
                              const tl_roi_param *param, int *dims);
TL_API tl_tensor *tl_tensor_roi_align(const tl_tensor *src, const tl_tensor *rois,
                                      const tl_tensor *batch, tl_tensor *dst,
                                      const tl_roi_param *param);
TL_API int tl_exec_roi_align(const tl_exec *exec, const tl_tensor *src, const tl_tensor *rois,
                             const tl_tensor *batch, tl_tensor *dst, const tl_roi_param *param);

/** The same with rois [R, 5] (image, x1, y1, x2, y2): corners rounded to elements, the maximum of
 *  each bin's elements, 0 of an empty bin. Source: ONNX MaxRoiPool-22. D. */
TL_API int tl_roi_maxpool_shape(const tl_tensor *src, const tl_tensor *rois,
                                const tl_roi_param *param, int *dims);
TL_API tl_tensor *tl_tensor_roi_maxpool(const tl_tensor *src, const tl_tensor *rois, tl_tensor *dst,
                                        const tl_roi_param *param);
TL_API int tl_exec_roi_maxpool(const tl_exec *exec, const tl_tensor *src, const tl_tensor *rois,
                               tl_tensor *dst, const tl_roi_param *param);

/** The columns (im2col) of a deformable convolution: src [N, C, H, W], offset [N, G * KH *
 *  KW * 2, OH, OW] (vertical, horizontal), mask [N, G * KH * KW, OH, OW] or NULL: 1;
 *  windows over two axes of size KH, KW; G groups of channels -> dst [N, C * KH * KW, OH *
 *  OW]. Linear interpolation, 0 outside, times the mask. Source: ONNX DeformConv-22. D. */
TL_API int tl_deform_columns_shape(const tl_tensor *src, const tl_tensor *offset,
                                   const tl_tensor *mask, const tl_windows *windows, int group,
                                   int *dims);
TL_API tl_tensor *tl_tensor_deform_columns(const tl_tensor *src, const tl_tensor *offset,
                                           const tl_tensor *mask, tl_tensor *dst,
                                           const tl_windows *windows, int group);
TL_API int tl_exec_deform_columns(const tl_exec *exec, const tl_tensor *src,
                                  const tl_tensor *offset, const tl_tensor *mask, tl_tensor *dst,
                                  const tl_windows *windows, int group);

/** The sum of overlapping windows: src [N, C * size.., windows] -> dst [N, C, extents..];
 *  extents [windows->n], in which exactly these windows fit. Source: ONNX Col2Im-18. D. */
TL_API int tl_col2im_shape(const tl_tensor *src, const tl_windows *windows, const int *extents,
                           int *dims);
TL_API tl_tensor *tl_tensor_col2im(const tl_tensor *src, tl_tensor *dst, const tl_windows *windows,
                                   const int *extents);
TL_API int tl_exec_col2im(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                          const tl_windows *windows);

TL_END_DECLS

#endif
