// SPDX-License-Identifier: Apache-2.0
// Windows as the attributes of ONNX operators say them: kernel_shape, strides, dilations, pads,
// auto_pad.

#ifndef LN_ONNX_WINDOWS_H
#define LN_ONNX_WINDOWS_H

#include "front/onnx/ln_onnx.h"
#include "tensorlight/tl_vision.h"

/** Reads windows over the axes of `src` behind the first two. `weight`: what the kernel's shape is
 *  taken from without kernel_shape; NULL: kernel_shape must be there. `auto_pad` is not looked at.
 *  The node fails where src has no such axes or the attributes do not fit. */
tl_windows ln_onnx_windows(ln_onnx_node *n, const char *src, const char *weight);

/** As auto_pad says, of windows that slide over `src`. */
void ln_onnx_auto_pad(ln_onnx_node *n, const char *src, tl_windows *windows);

/** Whether the windows slide over one axis or two, without gaps between taps where has_dilation is
 *  0, with padding that is not negative, over at least one element: what operators of images take,
 *  one axis being an image of one row. */
int ln_onnx_is_image(const ln_onnx_node *n, const char *src, const tl_windows *windows,
                     int has_dilation);

/** The tensor [A, B, L] as [A, B, 1, L], any other as it is. */
const char *ln_onnx_as_image(ln_onnx_node *n, const char *src);

/** The parameter of an operator of images: `values` of each axis in one or more groups (padding:
 * the begins, the ends); of one axis each group begins with `first`, for the row. */
void ln_onnx_set_image_ints(ln_onnx_node *n, const char *param, const tl_windows *windows,
                            int groups, const int *values, int first);

/** The last output of the operator of images; output `i` of the node has the spatial axes of
 *  `windows`. */
void ln_onnx_end_image(ln_onnx_node *n, const tl_windows *windows, int i);

#endif
