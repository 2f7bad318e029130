// SPDX-License-Identifier: Apache-2.0
// Steps that translators of several kinds of operators share: windows, and products of matrices.

#ifndef LN_ONNX_STEPS_H
#define LN_ONNX_STEPS_H

#include "front/onnx/ln_onnx.h"
#include "tensorlight/tl_vision.h"

/* Windows by attributes: kernel_shape, strides, dilations, pads, auto_pad. */

/** Reads windows over the axes of `src` behind the first two. Without kernel_shape, the kernel has
 *  the shape of `weight`; NULL: kernel_shape must be there. Ignores `auto_pad`. The node fails
 *  where src has no such axes or the attributes do not fit. */
tl_windows ln_onnx_windows(ln_onnx_node *n, const char *src, const char *weight);

/** Padding by auto_pad, of windows that slide over `src`. */
void ln_onnx_auto_pad(ln_onnx_node *n, const char *src, tl_windows *windows);

/** Whether the windows slide over one axis or two, without gaps between taps where has_dilation is
 *  0, with padding that is not negative, over at least one element, as operators of images do;
 *  one axis is an image of one row. */
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

/* Operands of matrix products, vectors among them: NumPy's rule, which MatMul, MatMulInteger and
 * QLinearMatMul share. A vector on the left counts as one row, on the right as one column, and the
 * product loses that axis.
 *
 *     const ln_onnx_operands m = ln_onnx_operands_of(n, 0, 1);
 *     ... an operator of m.rows and m.cols, whose output is ln_onnx_product_output(&m) ...
 *     ln_onnx_drop_axes(n, dst, &m); */

/** The operands as matrices, and whether each is a matrix itself. */
typedef struct ln_onnx_operands {
    const char *rows, *cols;
    int has_row, has_col;
} ln_onnx_operands;

/** A vector as one row, or as one column; other tensors unchanged. */
const char *ln_onnx_as_matrix(ln_onnx_node *n, const char *tensor, int is_column);

/** Two inputs of the node. */
ln_onnx_operands ln_onnx_operands_of(ln_onnx_node *n, int input1, int input2);

/** Which output of the node the product of the matrices is: 0, or LN_EMIT_TEMP. */
int ln_onnx_product_output(const ln_onnx_operands *m);

/** Makes the node's output 0 of `dst`, the product, where an operand is a vector. */
void ln_onnx_drop_axes(ln_onnx_node *n, const char *dst, const ln_onnx_operands *m);

#endif
