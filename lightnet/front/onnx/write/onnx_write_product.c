// SPDX-License-Identifier: Apache-2.0
// Writing matrix multiplication, and attention.

#include <math.h>

#include "front/onnx/write/ln_onnx_write.h"
#include "tensorlight/tl_type.h"

// Matrix multiplication

static const char *swap_last(ln_onnx_op *n, const char *src, int ndim)
{
    int axes[LN_MAXDIM];
    for (int i = 0; i < ndim; i++)
        axes[i] = i;
    axes[ndim - 1] = ndim - 2;
    axes[ndim - 2] = ndim - 1;
    return ln_onnx_put_transpose(n, src, ndim, axes);
}

static const char *scaled(ln_onnx_op *n, const char *src, tl_dtype dtype, double factor)
{
    return factor == 1 ? src
                       : ln_onnx_put_pair(n, "Mul", src, ln_onnx_put_scalar(n, dtype, factor));
}

static void write_matmul(ln_onnx_op *n)
{
    const tl_tensor *const t1 = ln_onnx_op_tensor(n, "src1"), *const t2 =
                                                                  ln_onnx_op_tensor(n, "src2");
    const int trans1 = ln_op_bool(n->op, "trans1");
    const int trans2 = ln_op_bool(n->op, "trans2");
    const double alpha = ln_op_number(n->op, "alpha"), beta = ln_op_number(n->op, "beta");
    const char *a = ln_onnx_op_in(n, "src1"), *b = ln_onnx_op_in(n, "src2");
    const char *const bias = ln_onnx_op_optional(n, "bias");
    const int is_plain = !trans1 && !trans2 && alpha == 1 && !bias;
    if (t1->ndim == 2 && t2->ndim == 2 && !is_plain) {
        ln_onnx_write_form(n, NULL);
        return;
    }
    a = trans1 ? swap_last(n, a, t1->ndim) : a;
    b = trans2 ? swap_last(n, b, t2->ndim) : b;
    const char *v = scaled(n, ln_onnx_put_pair(n, "MatMul", a, b), t1->dtype, alpha);
    if (bias)
        v = ln_onnx_put_pair(n, "Add", v, scaled(n, bias, t1->dtype, beta));
    ln_onnx_op_ends_with(n, "dst", v);
}

// A zero point in the shape of ONNX: scalar, vector per row or column, or of more axes.
static const char *zero_point(ln_onnx_op *n, const char *arg)
{
    const char *const value = ln_onnx_op_optional(n, arg);
    const tl_tensor *const t = ln_onnx_op_tensor(n, arg);
    if (!value || t->ndim == 0 || (t->ndim == 1 && t->len != 1) || t->ndim > 2)
        return value;
    return ln_onnx_put_reshape(n, value, t->len != 1, &t->len);
}

static void write_matmul_int(ln_onnx_op *n)
{
    const char *const zero1 = zero_point(n, "zero1"), *const zero2 = zero_point(n, "zero2");
    LN_ONNX_PUT_AS(n, "dst", "MatMulInteger", LN_ONNX_IN(n, "src1"), LN_ONNX_IN(n, "src2"),
                   LN_ONNX_SRC(zero1), LN_ONNX_SRC(zero2));
}

// Attention

// [B, T, heads, D] as [B, T, heads * D]; others, and NULL, unchanged.
static const char *joined_heads(ln_onnx_op *n, const char *arg)
{
    const char *const src = ln_onnx_op_optional(n, arg);
    const tl_tensor *const t = ln_onnx_op_tensor(n, arg);
    if (t->ndim != 4)
        return src;
    return ln_onnx_put_view(n, src, 3, (const int[]){0, 0, t->dims[2] * t->dims[3]});
}

// In ONNX only the delta rules have a beta, and they require it; scale 0 means the default.
static void check_linear_attention(ln_onnx_op *n, int is_delta, float scale)
{
    const int *const q = ln_onnx_op_tensor(n, "q")->dims;
    if (is_delta == !ln_onnx_op_optional(n, "beta"))
        ln_onnx_op_reject(n, "parameter 'delta' and input 'beta' need each other");
    if (scale == 0 || q[2] * q[3] * ln_onnx_op_tensor(n, "v")->dims[3] == 0)
        ln_onnx_op_reject(n, "parameter 'scale' is 0, or a head is empty");
}

static void write_linear_attention(ln_onnx_op *n)
{
    static const char *const rules[][2] = {{"linear", "delta"}, {"gated", "gated_delta"}};
    const int *const q = ln_onnx_op_tensor(n, "q")->dims, *const v =
                                                              ln_onnx_op_tensor(n, "v")->dims;
    const int is_delta = ln_op_bool(n->op, "delta"), dims[] = {0, 0, q[2], v[3]};
    const double scale = ln_op_number(n->op, "scale");
    check_linear_attention(n, is_delta, (float)scale);
    const char *const srcs[] = {joined_heads(n, "q"),     joined_heads(n, "k"),
                                joined_heads(n, "v"),     ln_onnx_op_optional(n, "past"),
                                joined_heads(n, "decay"), ln_onnx_op_optional(n, "beta")};
    const char *const outs[] = {ln_onnx_put_name(n, "heads"), ln_onnx_op_out(n, "state")};
    ln_onnx_op_since(n, 27);
    LN_ONNX_PUT_OUTS(
        n, 2, outs, "LinearAttention", LN_ONNX_SRCS(sizeof(srcs) / sizeof(srcs[0]), srcs),
        LN_TEXT("update_rule", rules[ln_onnx_op_optional(n, "decay") != NULL][is_delta]),
        LN_INT("q_num_heads", q[2]), LN_INT("kv_num_heads", v[2]),
        LN_ONLY_IF(scale != 1 / sqrt(q[3]), LN_NUMBER("scale", scale)));
    ln_onnx_op_ends_with(n, "dst", ln_onnx_put_view(n, outs[0], 4, dims));
}

// Operators of ONNX Runtime

// 0 .. m - 1 for the m rows, as [m, 1].
static const char *row_numbers(ln_onnx_op *n)
{
    static const int column[] = {-1, 1};
    const char *const shape = ln_onnx_put(n, "Shape", ln_onnx_op_in(n, "src"));
    const char *const len =
        ln_onnx_put_pair(n, "Gather", shape, ln_onnx_put_scalar(n, TL_INT64, 0));
    const char *const all =
        LN_ONNX_PUT(n, "Range", LN_ONNX_SRC(ln_onnx_put_scalar(n, TL_INT64, 0)), LN_ONNX_SRC(len),
                    LN_ONNX_SRC(ln_onnx_put_scalar(n, TL_INT64, 1)));
    return ln_onnx_put_reshape(n, all, 2, column);
}

// All rows times all matrices, [e, m, n], of which each row reads one.
static void write_matmul_by(ln_onnx_op *n)
{
    static const int column[] = {-1, 1}, swapped[] = {0, 2, 1};
    const char *const index = ln_onnx_op_indices(n, "index");
    const char *const bias = ln_onnx_op_optional(n, "bias");
    const char *const weights = ln_onnx_put_transpose(n, ln_onnx_op_in(n, "weight"), 3, swapped);
    const char *const all = ln_onnx_put_pair(n, "MatMul", ln_onnx_op_in(n, "src"), weights);
    const char *const which =
        LN_ONNX_PUT(n, "Concat", LN_ONNX_SRC(ln_onnx_put_reshape(n, index, 2, column)),
                    LN_ONNX_SRC(row_numbers(n)), LN_INT("axis", 1));
    const char *dst = ln_onnx_put_pair(n, "GatherND", all, which);
    if (bias)
        dst = ln_onnx_put_pair(n, "Add", dst, ln_onnx_put_pair(n, "Gather", bias, index));
    ln_onnx_op_ends_with(n, "dst", dst);
}

// Writes CDist of float and double: ONNX's own nodes would need the differences of all pairs.
static void write_distance(ln_onnx_op *n)
{
    static const int swapped[] = {1, 0};
    const tl_dtype dtype = ln_onnx_op_tensor(n, "src1")->dtype;
    const tl_dtype work = dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
    const char *a = ln_onnx_op_in(n, "src1");
    const char *b = ln_onnx_put_transpose(n, ln_onnx_op_in(n, "src2"), 2, swapped);
    if (work != dtype) {
        a = ln_onnx_put_cast(n, a, work);
        b = ln_onnx_put_cast(n, b, work);
    }
    const int is_squared = ln_op_bool(n->op, "is_squared");
    const char *const v = LN_ONNX_PUT(n, "com.microsoft:CDist", LN_ONNX_SRC(a), LN_ONNX_SRC(b),
                                      LN_TEXT("metric", is_squared ? "sqeuclidean" : "euclidean"));
    ln_onnx_note_type(n->writer, v, work);
    ln_onnx_op_ends_with(n, "dst", work == dtype ? v : ln_onnx_put_cast(n, v, dtype));
}

const ln_onnx_op_row ln_onnx_write_rows_product[] = {
    {LN_OP_MATMUL_BY, write_matmul_by},
    {LN_OP_DISTANCE, write_distance},
    {LN_OP_MATMUL, write_matmul},
    {LN_OP_MATMUL_INT, write_matmul_int},
    {LN_OP_LINEAR_ATTENTION, write_linear_attention},
    {NULL},
};
