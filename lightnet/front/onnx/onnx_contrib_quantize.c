// SPDX-License-Identifier: Apache-2.0
// Quantized operators of com.microsoft: operators on floats between DequantizeLinear and
// QuantizeLinear, which rules fuse again; and integer matrix multiplications with float results.
//
// Source: ContribOperators.md of ONNX Runtime.

#include <limits.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

// Steps

// The node fails unless input `i` has one element.
static void want_scalar(ln_onnx_node *n, int i)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in(n, i));
    if (t->len != 1)
        ln_emit_fail(&n->emit, "input %d has %d elements, expected 1", i, t->len);
}

// Input `i` as floats, with the scale in the next input, and the optional zero point after that.
static const char *real_in(ln_onnx_node *n, int i)
{
    const char *const src = ln_onnx_in(n, i);
    want_scalar(n, i + 1);
    if (ln_onnx_has_input(n, i + 2))
        want_scalar(n, i + 2);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_DEQUANTIZE, LN_ARG("src", src),
                   LN_ARG("scale", ln_onnx_scalar_in(n, i + 1)),
                   LN_ARG("zero", ln_onnx_zero_point(n, i + 2, src, 0)));
}

// The floats as integers of `dtype`, with the scale in input `i`, and the optional zero point
// after that: output `out`.
static const char *emit_quantized(ln_onnx_node *n, const char *src, int i, tl_dtype dtype, int out)
{
    want_scalar(n, i);
    const char *const zero = ln_onnx_has_input(n, i + 1) ? ln_onnx_scalar_in(n, i + 1) : NULL;
    if (zero)
        want_scalar(n, i + 1);
    return LN_EMIT(&n->emit, out, LN_OP_QUANTIZE, LN_ARG("src", src),
                   LN_ARG("scale", ln_onnx_scalar_in(n, i)), LN_ARG("zero", zero),
                   LN_DTYPE("dtype", dtype));
}

static tl_dtype dtype_in(ln_onnx_node *n, int i)
{
    return ln_onnx_tensor_of(n, ln_onnx_in(n, i))->dtype;
}

// Between DequantizeLinear and QuantizeLinear

// Inputs of the operators of one source, and of two.
enum { X, X_SCALE, X_ZERO, Y_SCALE };
enum { A = 0, B = 3, C_SCALE = 6 };

// QLinearAdd, QLinearMul: the row names the operator of floats.
static void translate_binary(ln_onnx_node *n)
{
    const char *const a = real_in(n, A), *const b = real_in(n, B);
    const char *const c =
        LN_ONNX_FORM_OF(n, n->row->with, LN_EMIT_TEMP, LN_ARG("src1", a), LN_ARG("src2", b));
    emit_quantized(n, c, C_SCALE, dtype_in(n, A), 0);
}

// QLinearLeakyRelu, QLinearSigmoid, in the same way.
static void translate_function(ln_onnx_node *n)
{
    const char *const y =
        LN_ONNX_FORM_OF(n, n->row->with, LN_EMIT_TEMP, LN_ARG("src", real_in(n, X)));
    emit_quantized(n, y, Y_SCALE, dtype_in(n, X), 0);
}

static void translate_where(ln_onnx_node *n)
{
    enum { CONDITION, FIRST, SECOND = 4, Z_SCALE = 7 };
    const char *const x = real_in(n, FIRST), *const y = real_in(n, SECOND);
    if (dtype_in(n, CONDITION) != TL_BOOL)
        ln_emit_fail(&n->emit, "input 0 has type %s, expected TL_BOOL",
                     tl_dtype_name(dtype_in(n, CONDITION)));
    const char *const z = ln_emit_where(&n->emit, ln_onnx_in(n, CONDITION), x, y, LN_EMIT_TEMP);
    emit_quantized(n, z, Z_SCALE, dtype_in(n, FIRST), 0);
}

static void translate_softmax(ln_onnx_node *n)
{
    ln_attr_require(&n->emit, "opset");
    const int given = ln_attr_int_in(&n->emit, "opset", 1, 1, INT_MAX);
    // The default axis is the last one in all operator sets, where that means the same.
    const int opset = ln_attr_has(&n->emit, "axis") ? given : 13;
    const char *const y = ln_onnx_emit_softmax(n, real_in(n, X), opset, LN_EMIT_TEMP);
    emit_quantized(n, y, Y_SCALE, dtype_in(n, X), 0);
}

static void translate_reduce_mean(ln_onnx_node *n)
{
    int len, axes[TL_MAXDIM];
    const int64_t *const given = ln_attr_ints(&n->emit, "axes", &len);
    const char *const x = real_in(n, X);
    const int ndim = ln_onnx_tensor_of(n, x)->ndim;
    for (int i = 0; i < ndim; i++)
        axes[i] = i;
    if (given)
        ln_onnx_axes(n, given, len, ndim, axes);
    const char *const y = ln_emit_reduce(&n->emit, "TL_REDUCE_MEAN", x, given ? len : ndim, axes,
                                         ln_attr_bool(&n->emit, "keepdims", 1), LN_EMIT_TEMP);
    emit_quantized(n, y, Y_SCALE, dtype_in(n, X), 0);
}

// A pool of a source, as output `i`.
typedef const char *(*pool_func)(ln_onnx_node *n, const char *src, int i);

static void translate_pool_with(ln_onnx_node *n, pool_func pool)
{
    const int is_last = ln_attr_bool(&n->emit, "channels_last", 0);
    const char *x = real_in(n, X);
    if (is_last)
        x = ln_onnx_channels_first(n, x, LN_EMIT_TEMP);
    const char *const y = pool(n, x, LN_EMIT_TEMP);
    const char *const dst =
        emit_quantized(n, y, Y_SCALE, dtype_in(n, X), is_last ? LN_EMIT_TEMP : 0);
    if (is_last)
        ln_onnx_channels_last(n, dst, 0);
}

static void translate_average_pool(ln_onnx_node *n)
{
    translate_pool_with(n, ln_onnx_emit_average_pool);
}

static void translate_global_average(ln_onnx_node *n)
{
    translate_pool_with(n, ln_onnx_emit_global_average);
}

// Scale and zero point of the result come first, then each source with its own.
static void translate_concat(ln_onnx_node *n)
{
    enum { FIRST = 2, PER_SOURCE = 3, MAX = 1024 };
    const char *sources[MAX];
    const int n_inputs = ln_onnx_num_inputs(n), count = (n_inputs - FIRST) / PER_SOURCE;
    ln_attr_require(&n->emit, "axis");
    if (n_inputs < FIRST + PER_SOURCE || (n_inputs - FIRST) % PER_SOURCE != 0 || count > MAX)
        ln_emit_fail(&n->emit, "%d inputs, expected 2, and 3 for each of 1 to %d sources", n_inputs,
                     MAX);
    for (int i = 0; i < count && !ln_onnx_failed(n); i++)
        sources[i] = real_in(n, FIRST + i * PER_SOURCE);
    if (ln_onnx_failed(n))
        return;
    const int axis = ln_attr_axis(&n->emit, "axis", 0, ln_onnx_tensor_of(n, sources[0])->ndim);
    const char *whole = sources[0];
    if (count > 1)
        whole = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_JOIN, LN_ARGS("src", count, sources),
                        LN_INT("axis", axis));
    emit_quantized(n, whole, 0, dtype_in(n, FIRST), 0);
}

// The max of bytes needs no scale.
static void translate_nhwc_max_pool(ln_onnx_node *n)
{
    const char *const src = ln_onnx_channels_first(n, ln_onnx_in(n, 0), LN_EMIT_TEMP);
    ln_onnx_channels_last(n, ln_onnx_emit_max_pool(n, src, LN_EMIT_TEMP), 0);
}

// Products

// The sums of a product as floats, times a factor: a scalar, or one for each column.
static const char *scaled(ln_onnx_node *n, const char *sums, const char *factor, int i)
{
    const tl_dtype dtype = ln_onnx_tensor_of(n, factor)->dtype;
    const char *const numbers = ln_emit_cast(&n->emit, sums, dtype, LN_EMIT_TEMP);
    return ln_emit_binary(&n->emit, "TL_BINARY_MUL", numbers, factor, i);
}

static const char *product_of(ln_onnx_node *n, const char *a, const char *b)
{
    return ln_emit_binary(&n->emit, "TL_BINARY_MUL", a, b, LN_EMIT_TEMP);
}

// src1 x src2 of bytes, each with an optional zero point, as output 0: scaled, plus the vector in
// input `bias`, if that is there.
static void emit_scaled_product(ln_onnx_node *n, const ln_onnx_operands *m, const char *zero1,
                                const char *zero2, const char *factor, int bias)
{
    const char *const sums =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL_INT, LN_ARG("src1", m->rows),
                LN_ARG("src2", m->cols), LN_ARG("zero1", zero1), LN_ARG("zero2", zero2));
    const int has_bias = ln_onnx_has_input(n, bias), out = ln_onnx_product_output(m);
    const char *dst = scaled(n, sums, factor, has_bias ? LN_EMIT_TEMP : out);
    if (has_bias)
        dst = ln_emit_binary(&n->emit, "TL_BINARY_ADD", dst, ln_onnx_in(n, bias), out);
    ln_onnx_drop_axes(n, dst, m);
}

static void translate_matmul_integer_to_float(ln_onnx_node *n)
{
    enum { ROWS, COLS, ROWS_SCALE, COLS_SCALE, ROWS_ZERO, COLS_ZERO, BIAS };
    const ln_onnx_operands m = ln_onnx_operands_of(n, ROWS, COLS);
    want_scalar(n, ROWS_SCALE);
    if (ln_onnx_has_input(n, ROWS_ZERO))
        want_scalar(n, ROWS_ZERO);
    const char *const zero1 =
        ln_onnx_has_input(n, ROWS_ZERO) ? ln_onnx_scalar_in(n, ROWS_ZERO) : NULL;
    const char *const zero2 = ln_onnx_zero_point(n, COLS_ZERO, ln_onnx_in(n, COLS), 1);
    const char *const factor =
        product_of(n, ln_onnx_scalar_in(n, ROWS_SCALE), ln_onnx_scalar_in(n, COLS_SCALE));
    emit_scaled_product(n, &m, zero1, zero2, factor, BIAS);
}

// Input 0 is quantized by its range.
static void translate_dynamic_quantize_matmul(ln_onnx_node *n)
{
    enum { ROWS, COLS, COLS_SCALE, COLS_ZERO, BIAS };
    ln_onnx_operands m = ln_onnx_operands_of(n, ROWS, COLS);
    ln_emit_begin(&n->emit, LN_OP_QUANTIZE_RANGE);
    ln_emit_arg(&n->emit, "src", m.rows);
    const char *const scale = ln_emit_out(&n->emit, "scale", LN_EMIT_TEMP);
    const char *const zero = ln_emit_end(&n->emit, "zero", LN_EMIT_TEMP);
    m.rows = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_QUANTIZE, LN_ARG("src", m.rows),
                     LN_ARG("scale", scale), LN_ARG("zero", zero), LN_DTYPE("dtype", TL_UINT8));
    const char *const factor = product_of(n, scale, ln_onnx_scalar_in(n, COLS_SCALE));
    emit_scaled_product(n, &m, zero, ln_onnx_zero_point(n, COLS_ZERO, ln_onnx_in(n, COLS), 1),
                        factor, BIAS);
}

// Input `i` [m, k], or transposed by attribute `name`.
static const char *matrix_in(ln_onnx_node *n, int i, const char *name)
{
    static const int swapped[] = {1, 0};
    const char *const src = ln_onnx_in_of(n, i, 2);
    if (!ln_attr_bool(&n->emit, name, 0))
        return src;
    return ln_emit_transpose(&n->emit, src, swapped, LN_EMIT_TEMP);
}

// alpha * A x B + C, as floats, or with the zero point of the result quantized. C has the scale of
// the sums.
static void translate_qgemm(ln_onnx_node *n)
{
    enum { ROWS, ROWS_SCALE, ROWS_ZERO, COLS, COLS_SCALE, COLS_ZERO, SUM, DST_SCALE, DST_ZERO };
    const char *const rows = matrix_in(n, ROWS, "transA"), *const cols =
                                                               matrix_in(n, COLS, "transB");
    const double alpha = ln_attr_number(&n->emit, "alpha", 1);
    const int is_quantized = ln_onnx_has_input(n, DST_ZERO), has_sum = ln_onnx_has_input(n, SUM);
    const int last = is_quantized ? LN_EMIT_TEMP : 0;
    want_scalar(n, ROWS_SCALE);
    if (ln_onnx_has_input(n, ROWS_ZERO))
        want_scalar(n, ROWS_ZERO);
    const char *const sums = LN_EMIT(
        &n->emit, LN_EMIT_TEMP, LN_OP_MATMUL_INT, LN_ARG("src1", rows), LN_ARG("src2", cols),
        LN_ARG("zero1", ln_onnx_has_input(n, ROWS_ZERO) ? ln_onnx_scalar_in(n, ROWS_ZERO) : NULL),
        LN_ARG("zero2", ln_onnx_zero_point(n, COLS_ZERO, cols, 1)));
    const char *factor =
        product_of(n, ln_onnx_scalar_in(n, ROWS_SCALE), ln_onnx_scalar_in(n, COLS_SCALE));
    if (alpha != 1)
        factor = product_of(n, factor,
                            ln_emit_scalar(&n->emit, ln_onnx_tensor_of(n, factor)->dtype, alpha));
    const char *dst = scaled(n, sums, factor, has_sum ? LN_EMIT_TEMP : last);
    if (has_sum)
        dst = ln_emit_binary(&n->emit, "TL_BINARY_ADD", dst,
                             scaled(n, ln_onnx_in(n, SUM), factor, LN_EMIT_TEMP), last);
    if (is_quantized)
        emit_quantized(n, dst, DST_SCALE, dtype_in(n, DST_ZERO), 0);
}

const ln_onnx_row ln_onnx_rows_contrib_quantize[] = {
    {"DequantizeLinear", 1, ln_onnx_translate_standard},
    {"DynamicQuantizeMatMul", 1, translate_dynamic_quantize_matmul},
    {"MatMulIntegerToFloat", 1, translate_matmul_integer_to_float},
    {"NhwcMaxPool", 1, translate_nhwc_max_pool},
    {"QGemm", 1, translate_qgemm},
    {"QLinearAdd", 1, translate_binary, "Add"},
    {"QLinearAveragePool", 1, translate_average_pool},
    {"QLinearConcat", 1, translate_concat},
    {"QLinearConv", 1, ln_onnx_translate_standard},
    {"QLinearGlobalAveragePool", 1, translate_global_average},
    {"QLinearLeakyRelu", 1, translate_function, "LeakyRelu"},
    {"QLinearMul", 1, translate_binary, "Mul"},
    {"QLinearReduceMean", 1, translate_reduce_mean},
    {"QLinearSigmoid", 1, translate_function, "Sigmoid"},
    {"QLinearSoftmax", 1, translate_softmax},
    {"QLinearWhere", 1, translate_where},
    {"QuantizeLinear", 1, ln_onnx_translate_standard},
    {NULL},
};
