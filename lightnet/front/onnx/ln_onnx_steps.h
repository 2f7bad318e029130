// SPDX-License-Identifier: Apache-2.0
// Steps that translators of several kinds of operators share: windows, and products of matrices.

#pragma once

#include "front/onnx/ln_onnx.h"
#include "tensorlight/tl_vision.h"

// Windows by attributes: kernel_shape, strides, dilations, pads, auto_pad.

/** Reads windows over the axes of `src` after the first two. Without kernel_shape, the kernel has
 *  the shape of `weight`; NULL: kernel_shape is required. Ignores `auto_pad`. The node fails
 *  where src has no such axes or the attributes do not fit. */
tl_windows ln_onnx_windows(ln_onnx_node *n, const char *src, const char *weight);

/** The parameters of an operator over any number of axes. */
#define LN_ONNX_WINDOWS(w)                                                      \
    LN_INTS("size", (w)->n, (w)->size), LN_INTS("stride", (w)->n, (w)->stride), \
        LN_INTS("dilation", (w)->n, (w)->dilation), LN_INTS("padding", 2 * (w)->n, (w)->padding)

/** Padding by auto_pad, of windows that slide over `src`. */
void ln_onnx_auto_pad(ln_onnx_node *n, const char *src, tl_windows *windows);

/** Whether an operator of images (conv2d, maxpool2d, ..) supports the windows: over one axis, which
 *  is an image of one row, or two; padding at least 0; src not empty; unless has_dilation,
 *  dilation 1. */
int ln_onnx_is_image(const ln_onnx_node *n, const char *src, const tl_windows *windows,
                     int has_dilation);

/** The tensor [A, B, L] as [A, B, 1, L], any other unchanged. */
const char *ln_onnx_as_image(ln_onnx_node *n, const char *src);

/** Sets a parameter of an operator of images: `values` of each axis in one or more groups (padding:
 * the begins, the ends). For one axis, each group begins with `first`, for the row. */
void ln_onnx_set_image_ints(ln_onnx_node *n, const char *param, const tl_windows *windows,
                            int groups, const int *values, int first);

/** Ends the operator of images. Output `i` of the node is its result, without the axis of the row
 * if `windows` has one axis. Returns it. */
const char *ln_onnx_end_image(ln_onnx_node *n, const tl_windows *windows, int i);

// Operators of ONNX as steps of others: inputs and attributes are those of the node, output `i` as
// in ln_emit.h.

/** The functions of recurrent networks, by their names in ONNX and in LightNet; ends with NULL. */
typedef struct ln_onnx_activation {
    const char *name, *func;
    int has_alpha, has_beta;
    double alpha, beta; // where the node has none
} ln_onnx_activation;

extern const ln_onnx_activation ln_onnx_activations[];

/** Output 0: `src` as `dtype`. To a float of 8 bits or less with the node's attributes `saturate`
 *  and `round_mode`. */
void ln_onnx_cast(ln_onnx_node *n, const char *src, tl_dtype dtype);

/** Input 1, an operand that is broadcast. Up to opset 6 attribute `axis` is its first axis in input
 * 0: axes of length 1 are appended for those of input 0 that follow. */
const char *ln_onnx_second_operand(ln_onnx_node *n);

/** ONNX Runtime's FastGelu, and the gelu of its MoE. */
#define LN_ORT_FAST_GELU "TL_UNARY_GELU_TANH"

/** Conv of `src`, with the weight and bias in inputs 1 and 2. */
const char *ln_onnx_emit_conv(ln_onnx_node *n, const char *src, int i);

/** Gemm, of inputs 0 to 2. */
const char *ln_onnx_emit_gemm(ln_onnx_node *n, int i);

/** Softmax of `src`, as in this opset of ONNX. */
const char *ln_onnx_emit_softmax(ln_onnx_node *n, const char *src, int opset, int i);

/** AveragePool and MaxPool of `src`; and the mean over all axes after the first two. */
const char *ln_onnx_emit_average_pool(ln_onnx_node *n, const char *src, int i);
const char *ln_onnx_emit_max_pool(ln_onnx_node *n, const char *src, int i);
const char *ln_onnx_emit_global_average(ln_onnx_node *n, const char *src, int i);

/** Normalization over the axes from `axis` on. */
typedef struct ln_onnx_layernorm {
    const char *optype; // layernorm; or rmsnorm, without bias
    const char *src, *scale, *bias;
    int axis;
    double epsilon;
} ln_onnx_layernorm;

/** The normalized tensor; of layernorm also the node's outputs 1 and 2, if it wants them: mean and
 *  inverse deviation. */
const char *ln_onnx_emit_layernorm(ln_onnx_node *n, const ln_onnx_layernorm *norm, int i);

/** 1 / sqrt(mean of squares + epsilon) over these axes, which get length 1; nothing where the node
 *  does not want its output `i`. */
void ln_onnx_emit_inverse_rms(ln_onnx_node *n, const char *src, int axis, double epsilon, int i);

/** A tensor with its last axis as its second, and one with its second axis as its last. */
const char *ln_onnx_channels_first(ln_onnx_node *n, const char *src, int i);
const char *ln_onnx_channels_last(ln_onnx_node *n, const char *src, int i);

/** The node fails unless its input `i` has this shape, or if lengths are unknown, can have it. */
void ln_onnx_want_dims(ln_onnx_node *n, int i, const char *name, int ndim, const ln_dim *dims);
void ln_onnx_want_shape(ln_onnx_node *n, int i, const char *name, int ndim, const int *dims);

/** a + b; either may be NULL. */
const char *ln_onnx_add(ln_onnx_node *n, const char *a, const char *b);

/** `len` indices from `start` on along an axis. */
const char *ln_onnx_slice(ln_onnx_node *n, const char *src, int axis, int start, int len);

/** `src` with axes of length 1 inserted. */
const char *ln_onnx_with_axes(ln_onnx_node *n, const char *src, int n_axes, const int *axes);

/** The node fails, as not supported, if it has input `i`, or another value of the attribute. */
void ln_onnx_refuse_input(ln_onnx_node *n, int i, const char *name);
void ln_onnx_refuse_attr(ln_onnx_node *n, const char *name, int64_t value);

/** The node fails unless `len`, the last axis of input `i`, is a multiple of `count`. */
void ln_onnx_want_multiple(ln_onnx_node *n, int i, int len, int count);

/** The tensor, or input `i`, as a scalar if it has one element, which broadcasts without adding an
 * axis. */
const char *ln_onnx_as_scalar(ln_onnx_node *n, const char *tensor);
const char *ln_onnx_scalar_in(ln_onnx_node *n, int i);

/** Transposes `src`: axis `from` becomes axis `to`; output `i` as in ln_emit.h. */
const char *ln_onnx_move_axis(ln_onnx_node *n, const char *src, int from, int to, int i);

/** Stacks the tensors along a new axis. Without tensors, the result is empty, with dimensions of
 * `like`. */
const char *ln_onnx_stack(ln_onnx_node *n, const char *const *parts, int len, const char *like,
                          int axis);

/** Splits `src` into `*len` slices of an axis, without that axis. NULL after a failure. */
const char **ln_onnx_unstack(ln_onnx_node *n, const char *src, int axis, int *len);

/** Translates a node of another domain as the operator of the same name in ONNX's own, in opset 18.
 */
void ln_onnx_translate_standard(ln_onnx_node *n);

// Integers of 2, 4 and 8 bits, packed in constants of bytes: `rows` rows that begin at a new byte.

/** As TL_UINT8 or TL_INT8, [rows, cols]. */
const char *ln_onnx_unpack_bits(ln_onnx_node *n, int bits, const char *bytes, tl_dtype dtype,
                                int rows, int cols);

/** Unsigned ones as TL_INT8, [rows, cols], less half of their range: their default zero point. */
const char *ln_onnx_unpack_around_half(ln_onnx_node *n, int bits, const char *bytes, int rows,
                                       int cols);

/** The attribute, a number of bits: 2, 4 (the default) or 8; else the node fails. */
int ln_onnx_bits(ln_onnx_node *n, const char *name);

// Operands of matrix products, vectors among them: NumPy's rule, which MatMul, MatMulInteger and
// QLinearMatMul share. A vector on the left is one row, on the right one column, and that axis of
// the product is dropped.
//
//     const ln_onnx_operands m = ln_onnx_operands_of(n, 0, 1);
//     ... an operator of m.rows and m.cols, whose output is ln_onnx_product_output(&m) ...
//     ln_onnx_drop_axes(n, dst, &m);

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

/** If an operand is a vector, emits output 0: `dst`, the product, without its axis. */
void ln_onnx_drop_axes(ln_onnx_node *n, const char *dst, const ln_onnx_operands *m);
