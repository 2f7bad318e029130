// SPDX-License-Identifier: Apache-2.0
// ONNX's quantized operators: integer kernels, whose sums are scaled and quantized again.

#include <limits.h>

#include "data/ln_raw.h"
#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

// scale1 * scale2 / dst_scale, with which sums of products become elements of the result.
static const char *scale_ratio(ln_onnx_node *n, const char *scale1, const char *scale2,
                               const char *dst_scale)
{
    const char *const product =
        ln_emit_binary(&n->emit, "TL_BINARY_MUL", scale1, scale2, LN_EMIT_TEMP);
    return ln_emit_binary(&n->emit, "TL_BINARY_DIV", product, dst_scale, LN_EMIT_TEMP);
}

static const char *emit_quantize(ln_onnx_node *n, const char *src, const char *scale,
                                 const char *zero, tl_dtype dtype, int axis, int block, int i)
{
    return LN_EMIT(&n->emit, i, LN_OP_QUANTIZE, LN_ARG("src", src), LN_ARG("scale", scale),
                   LN_ARG("zero", zero), LN_DTYPE("dtype", dtype), LN_INT("axis", axis),
                   LN_INT("block", block));
}

static const char *emit_dequantize(ln_onnx_node *n, const char *src, const char *scale,
                                   const char *zero, int axis, int block, int i)
{
    return LN_EMIT(&n->emit, i, LN_OP_DEQUANTIZE, LN_ARG("src", src), LN_ARG("scale", scale),
                   LN_ARG("zero", zero), LN_INT("axis", axis), LN_INT("block", block));
}

// QuantizeLinear, DequantizeLinear

// The axis; ignored with a single scale.
static int read_axis(ln_onnx_node *n, const char *src, const char *scale, int block)
{
    if (block == 0 && ln_onnx_tensor_of(n, scale)->len == 1)
        return 0;
    return ln_attr_axis(&n->emit, "axis", 1, ln_onnx_tensor_of(n, src)->ndim);
}

// The result type that the node specifies, or else `deflt`.
static tl_dtype read_dtype(ln_onnx_node *n, tl_dtype deflt)
{
    return ln_attr_int(&n->emit, "output_dtype", 0) ? ln_attr_dtype(&n->emit, "output_dtype", deflt)
                                                    : deflt;
}

// Whether it is a float of 8 bits or less.
static int is_small_float(tl_dtype dtype)
{
    return tl_dtype_is_stored(dtype) && tl_dtype_has_fractions(dtype);
}

// Scales to compute with: powers of two become floats.
static const char *read_scale(ln_onnx_node *n)
{
    const char *const scale = ln_onnx_in(n, 1);
    return is_small_float(ln_onnx_tensor_of(n, scale)->dtype)
               ? ln_emit_cast(&n->emit, scale, TL_FLOAT, LN_EMIT_TEMP)
               : scale;
}

// The arguments of a quantization.
typedef struct scaling {
    const char *src, *scale, *zero;
    int axis, block;
} scaling;

static scaling read_scaling(ln_onnx_node *n)
{
    scaling s = {ln_onnx_in(n, 0), read_scale(n), ln_onnx_optional(n, 2), 0, 0};
    s.block = ln_attr_int_in(&n->emit, "block_size", 0, 0, INT_MAX);
    s.axis = read_axis(n, s.src, s.scale, s.block);
    return s;
}

static const char *put_quantize(ln_onnx_node *n, const scaling *s, tl_dtype dtype, int i)
{
    return emit_quantize(n, s->src, s->scale, s->zero, dtype, s->axis, s->block, i);
}

// Saturates bytes to the range of `dtype`, of fewer bits, as output 0.
static void put_few_bits(ln_onnx_node *n, const char *bytes, tl_dtype dtype)
{
    const tl_dtype wide = ln_onnx_tensor_of(n, bytes)->dtype;
    const char *const max = ln_emit_scalar(&n->emit, wide, tl_dtype_max_double(dtype));
    bytes = ln_emit_binary(&n->emit, "TL_BINARY_MIN", bytes, max, LN_EMIT_TEMP);
    if (wide == TL_INT8) {
        const char *const min = ln_emit_scalar(&n->emit, wide, tl_dtype_min_double(dtype));
        bytes = ln_emit_binary(&n->emit, "TL_BINARY_MAX", bytes, min, LN_EMIT_TEMP);
    }
    LN_EMIT(&n->emit, 0, LN_OP_BITCAST, LN_ARG("src", bytes), LN_DTYPE("dtype", dtype));
}

// Floats of 8 bits or less are quantized to floats, and rounded by a cast.
static void translate_quantize(ln_onnx_node *n)
{
    scaling s = read_scaling(n);
    const tl_dtype dtype = s.zero ? ln_onnx_tensor_of(n, s.zero)->dtype : read_dtype(n, TL_UINT8);
    if (tl_dtype_is_float(dtype))
        ln_emit_fail(&n->emit,
                     "the result has type %s, expected an integer or a float of 8 bits or less in "
                     "'output_dtype' or the zero point",
                     tl_dtype_name(dtype));
    if (is_small_float(dtype)) {
        if (s.zero)
            s.zero = ln_emit_cast(&n->emit, s.zero, TL_FLOAT, LN_EMIT_TEMP);
        ln_onnx_cast(n, put_quantize(n, &s, TL_FLOAT, LN_EMIT_TEMP), dtype);
    } else if (tl_dtype_is_stored(dtype)) {
        s.zero = ln_onnx_bytes_of(n, s.zero);
        put_few_bits(n, put_quantize(n, &s, ln_raw_dtype(dtype), LN_EMIT_TEMP), dtype);
    } else {
        put_quantize(n, &s, dtype, 0);
    }
}

// The zero points; NULL without effect. A wrong number of them is left to the operator to reject.
static const char *read_zero(ln_onnx_node *n, const scaling *s)
{
    const int is_one_each =
        s->zero && !ln_onnx_failed(n) &&
        ln_onnx_tensor_of(n, s->zero)->len == ln_onnx_tensor_of(n, s->scale)->len;
    return is_one_each ? ln_onnx_zero_point(n, 2, s->src, s->axis) : s->zero;
}

// The type of the result: by default that of the scales, unless that is a power of two (E8M0).
static tl_dtype read_result_dtype(ln_onnx_node *n)
{
    const tl_dtype own = ln_onnx_tensor_of(n, ln_onnx_in(n, 1))->dtype;
    const tl_dtype dtype = read_dtype(n, own);
    if (!tl_dtype_is_float(dtype))
        ln_emit_fail(&n->emit,
                     "the result has type %s, expected a float of 16 bits or more in "
                     "'output_dtype'",
                     tl_dtype_name(dtype));
    return ln_onnx_failed(n) ? TL_FLOAT : dtype;
}

static void translate_dequantize(ln_onnx_node *n)
{
    scaling s = read_scaling(n);
    const tl_dtype own = ln_onnx_tensor_of(n, s.scale)->dtype, dtype = read_result_dtype(n);
    s.zero = read_zero(n, &s);
    if (is_small_float(ln_onnx_tensor_of(n, s.src)->dtype)) {
        s.src = ln_emit_cast(&n->emit, s.src, TL_FLOAT, LN_EMIT_TEMP);
        s.zero = s.zero ? ln_emit_cast(&n->emit, s.zero, TL_FLOAT, LN_EMIT_TEMP) : NULL;
    }
    const char *const result =
        emit_dequantize(n, ln_onnx_bytes_of(n, s.src), s.scale, ln_onnx_bytes_of(n, s.zero), s.axis,
                        s.block, dtype == own ? 0 : LN_EMIT_TEMP);
    if (dtype != own)
        ln_emit_cast(&n->emit, result, dtype, 0);
}

static void translate_dynamic_quantize(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    ln_emit_begin(&n->emit, LN_OP_QUANTIZE_RANGE);
    ln_emit_arg(&n->emit, "src", src);
    const char *const scale =
        ln_emit_out(&n->emit, "scale", ln_onnx_wants(n, 1) ? 1 : LN_EMIT_TEMP);
    const char *const zero = ln_emit_end(&n->emit, "zero", ln_onnx_wants(n, 2) ? 2 : LN_EMIT_TEMP);
    emit_quantize(n, src, scale, zero, TL_UINT8, 0, 0, 0);
}

// Products

// The sums as quantized numbers: output `i`. Their factor is one scalar, or one per index along an
// axis, or anything that broadcasts.
static const char *requantize(ln_onnx_node *n, const char *sums, int axis, const char *factor,
                              const char *zero, int i)
{
    const tl_tensor *const f = ln_onnx_tensor_of(n, factor);
    const int is_vector = f->ndim <= 1;
    const char *const one = ln_emit_scalar(&n->emit, f->dtype, 1);
    const char *numbers =
        emit_dequantize(n, sums, is_vector ? factor : one, NULL, axis, 0, LN_EMIT_TEMP);
    if (!is_vector)
        numbers = ln_emit_binary(&n->emit, "TL_BINARY_MUL", numbers, factor, LN_EMIT_TEMP);
    return emit_quantize(n, numbers, one, zero, ln_onnx_tensor_of(n, zero)->dtype, 0, 0, i);
}

// In com.microsoft, channels can be last.
static void translate_qlinear_conv(ln_onnx_node *n)
{
    const int is_last = ln_attr_bool(&n->emit, "channels_last", 0);
    const char *const given = ln_onnx_in(n, 0), *const weight = ln_onnx_in(n, 3);
    const char *const src = is_last ? ln_onnx_channels_first(n, given, LN_EMIT_TEMP) : given;
    const char *const src_scale = ln_onnx_scalar_in(n, 1);
    const char *const weight_scale = ln_onnx_scalar_in(n, 4);
    const char *const dst_scale = ln_onnx_scalar_in(n, 6);
    const char *const src_zero = ln_onnx_zero_point(n, 2, src, 0);
    const char *const weight_zero = ln_onnx_zero_point(n, 5, weight, 0);
    const char *const bias = ln_onnx_optional(n, 8);
    const int64_t group = ln_attr_int(&n->emit, "group", 1);
    tl_windows w = ln_onnx_windows(n, src, weight);
    ln_onnx_auto_pad(n, src, &w);
    const char *const sums =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_CONV_INT, LN_ARG("src", src),
                LN_ARG("weight", weight), LN_ARG("bias", bias), LN_ARG("src_zero", src_zero),
                LN_ARG("weight_zero", weight_zero), LN_INT("group", group), LN_ONNX_WINDOWS(&w));
    const char *const factor = scale_ratio(n, src_scale, weight_scale, dst_scale);
    const char *const dst =
        requantize(n, sums, 1, factor, ln_onnx_in(n, 7), is_last ? LN_EMIT_TEMP : 0);
    if (is_last)
        ln_onnx_channels_last(n, dst, 0);
}

// A vector is a matrix with one row, or one column, an axis that the result drops.
static void translate_qlinear_matmul(ln_onnx_node *n)
{
    const ln_onnx_operands m = ln_onnx_operands_of(n, 0, 3);
    const char *const scale1 = ln_onnx_as_matrix(n, ln_onnx_scalar_in(n, 1), 1);
    const char *const zero1 = ln_onnx_as_matrix(n, ln_onnx_scalar_in(n, 2), 1);
    const char *const scale2 = ln_onnx_scalar_in(n, 4);
    const char *zero2 = ln_onnx_zero_point(n, 5, ln_onnx_in(n, 3), 1);
    zero2 = zero2 ? ln_onnx_as_scalar(n, zero2) : NULL;
    const char *const dst_scale = ln_onnx_scalar_in(n, 6);
    const char *const sums =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL_INT, LN_ARG("src1", m.rows),
                LN_ARG("src2", m.cols), LN_ARG("zero1", zero1), LN_ARG("zero2", zero2));
    const char *const factor = scale_ratio(n, scale1, scale2, dst_scale);
    const int last = ln_onnx_tensor_of(n, sums)->ndim - 1;
    const char *const dst =
        requantize(n, sums, last, factor, ln_onnx_in(n, 7), ln_onnx_product_output(&m));
    ln_onnx_drop_axes(n, dst, &m);
}

const ln_onnx_row ln_onnx_rows_quantize[] = {
    {"QuantizeLinear", 10, translate_quantize},
    {"DequantizeLinear", 10, translate_dequantize},
    {"DynamicQuantizeLinear", 11, translate_dynamic_quantize},
    {"QLinearConv", 10, translate_qlinear_conv},
    {"QLinearMatMul", 10, translate_qlinear_matmul},
    {NULL},
};
