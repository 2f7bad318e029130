// SPDX-License-Identifier: Apache-2.0
// ONNX operators that make elements: Constant in all its forms, and random numbers.

#include <string.h>

#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx.h"

/* ---- the numbers ---- */

/** The attribute as a seed: its bits, as any value makes a good one. -1: the node has none. It is a
 *  float, of Dropout alone a whole number. */
static double seed_of(ln_onnx_node *n)
{
    if (!ln_onnx_has_attr(n, "seed"))
        return -1;
    if (ln_streq(n->row->op_type, "Dropout"))
        return (double)(uint32_t)ln_onnx_int(n, "seed", 0);
    const float seed = (float)ln_onnx_float(n, "seed", 0);
    uint32_t bits;
    memcpy(&bits, &seed, sizeof(bits));
    return bits;
}

static const char *emit_random(ln_onnx_node *n, tl_dtype dtype, int ndim, const int *dims,
                               const char *distribution, double a, double b, int i)
{
    return LN_EMIT(&n->emit, i, "random", LN_DTYPE("dtype", dtype), LN_INTS("dims", ndim, dims),
                   LN_TEXT("distribution", distribution), LN_NUMBER("a", a), LN_NUMBER("b", b),
                   LN_NUMBER("seed", seed_of(n)));
}

/** A tensor as the node's attributes describe it. */
static void put_random(ln_onnx_node *n, tl_dtype dtype, int ndim, const int *dims)
{
    if (!tl_dtype_is_float(dtype))
        ln_emit_fail(&n->emit, "random numbers of %s, expected a floating-point type",
                     tl_dtype_name(dtype));
    const int is_normal = ln_streq(n->row->with, "TL_NORMAL");
    const double a = is_normal ? ln_onnx_float(n, "mean", 0) : ln_onnx_float(n, "low", 0);
    const double b = is_normal ? ln_onnx_float(n, "scale", 1) : ln_onnx_float(n, "high", 1);
    emit_random(n, dtype, ndim, dims, n->row->with, a, b, 0);
}

static void translate_random(ln_onnx_node *n)
{
    int len, dims[TL_MAXDIM];
    const int64_t *const shape = ln_onnx_ints(n, "shape", &len);
    if (len > TL_MAXDIM)
        ln_emit_fail(&n->emit, "attribute 'shape' has %d dimensions, expected at most %d", len,
                     TL_MAXDIM);
    for (int i = 0; !ln_onnx_failed(n) && i < len; i++)
        dims[i] = ln_attr_element(&n->emit, "shape", shape[i], 0, INT32_MAX);
    const tl_dtype dtype = ln_onnx_attr_dtype(n, "dtype", TL_FLOAT);
    if (!ln_onnx_failed(n))
        put_random(n, dtype, len, dims);
}

static void translate_random_like(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const like = ln_onnx_tensor_of(n, src);
    ln_onnx_want_fixed(n, src);
    put_random(n, ln_onnx_attr_dtype(n, "dtype", like->dtype), like->ndim, like->dims);
}

/* ---- choices ---- */

/** 1 with the probability that each element of the input is. */
static void translate_bernoulli(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor given = *ln_onnx_tensor_of(n, src);
    ln_onnx_want_fixed(n, src);
    // Even numbers of 16 bits would be too few.
    const tl_dtype work = given.dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
    const char *const chances = ln_emit_cast(&n->emit, src, work, LN_EMIT_TEMP);
    const char *const numbers =
        emit_random(n, work, given.ndim, given.dims, "TL_UNIFORM", 0, 1, LN_EMIT_TEMP);
    const char *const chosen = ln_emit_compare(&n->emit, "TL_COMPARE_LESS", numbers, chances);
    ln_emit_cast(&n->emit, chosen, ln_onnx_attr_dtype(n, "dtype", given.dtype), 0);
}

/** -log(-log(u)) of even numbers u, which is the Gumbel distribution: the class whose logarithmic
 *  probability plus such a number is greatest comes up with just that probability. */
static const char *gumbel(ln_onnx_node *n, const int *dims)
{
    const char *x = emit_random(n, TL_DOUBLE, 3, dims, "TL_UNIFORM", 0, 1, LN_EMIT_TEMP);
    for (int i = 0; i < 2; i++) {
        x = ln_emit_unary(&n->emit, "TL_UNARY_LOG", x, LN_EMIT_TEMP);
        x = ln_emit_unary(&n->emit, "TL_UNARY_NEG", x, LN_EMIT_TEMP);
    }
    return x;
}

/** [batch, classes] of logarithmic probabilities -> [batch, samples] of classes. */
static void translate_multinomial(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const given = ln_onnx_tensor_of(n, src);
    const int samples = ln_attr_int_in(&n->emit, "sample_size", 1, 1, INT32_MAX);
    ln_onnx_want_fixed(n, src);
    if (!ln_onnx_failed(n) && (given->ndim != 2 || given->dims[1] < 1))
        ln_emit_fail(&n->emit, "the input has %d dimensions, expected 2, the second at least 1",
                     given->ndim);
    if (ln_onnx_failed(n))
        return;
    const int batch = given->dims[0], classes = given->dims[1];
    const char *const logs = ln_emit_cast(&n->emit, src, TL_DOUBLE, LN_EMIT_TEMP);
    const char *const rows =
        ln_emit_reshape(&n->emit, logs, 3, (int[]){batch, 1, classes}, LN_EMIT_TEMP);
    const char *const noise = gumbel(n, (int[]){batch, samples, classes});
    const char *const sums = ln_emit_binary(&n->emit, "TL_BINARY_ADD", noise, rows, LN_EMIT_TEMP);
    const char *const chosen =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, "argreduce", LN_ARG("src", sums), LN_INT("axis", 2),
                LN_BOOL("is_min", 0), LN_BOOL("is_last", 0), LN_BOOL("keepdims", 0));
    ln_emit_cast(&n->emit, chosen, ln_onnx_attr_dtype(n, "dtype", TL_INT32), 0);
}

/* ---- dropout, which passes everything on when it does not train ---- */

/** The attributes of training, `is_test` and `seed`, make no difference to a model that is run. */
static void translate_dropout(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    ln_onnx_alias(n, 0, src);
    if (!ln_onnx_wants(n, 1))
        return;
    ln_onnx_want_fixed(n, src);
    const char *const kept = ln_emit_scalar(&n->emit, n->opset < 10 ? t->dtype : TL_BOOL, 1);
    ln_emit_expand(&n->emit, kept, t->ndim, t->dims, 1);
}

/** Each element is dropped with the probability `ratio`; the others grow to make up for it. */
static void emit_training(ln_onnx_node *n, double ratio)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor given = *ln_onnx_tensor_of(n, src);
    ln_onnx_want_fixed(n, src);
    const char *const numbers =
        emit_random(n, TL_FLOAT, given.ndim, given.dims, "TL_UNIFORM", 0, 1, LN_EMIT_TEMP);
    const char *const limit = ln_emit_scalar(&n->emit, TL_FLOAT, ratio);
    const char *const kept = LN_EMIT(&n->emit, ln_onnx_wants(n, 1) ? 1 : LN_EMIT_TEMP, "compare",
                                     LN_ARG("src1", numbers), LN_ARG("src2", limit),
                                     LN_TEXT("op", "TL_COMPARE_GREATER_EQUAL"));
    const char *const factor = ln_emit_scalar(&n->emit, given.dtype, 1 / (1 - ratio));
    const char *const grown = ln_emit_binary(&n->emit, "TL_BINARY_MUL", src, factor, LN_EMIT_TEMP);
    const char *const zero = ln_emit_scalar(&n->emit, given.dtype, 0);
    ln_emit_where(&n->emit, kept, grown, zero, 0);
}

/** Since opset 12 the ratio and the mode are inputs; by a ratio of 0 nothing is dropped. */
static void translate_dropout_by_inputs(ln_onnx_node *n)
{
    const int is_training = ln_onnx_number_in(n, 2, 0) != 0;
    const double ratio = is_training ? ln_onnx_number_in(n, 1, 0.5) : 0;
    if (!(ratio >= 0 && ratio < 1))
        ln_emit_fail(&n->emit, "input 1, ratio, is %g, expected 0 or more and less than 1", ratio);
    if (ratio > 0)
        emit_training(n, ratio);
    else
        translate_dropout(n);
}

static void constant_of_tensor(ln_onnx_node *n)
{
    ln_onnx_alias(n, 0, ln_onnx_attr_tensor(n, "value"));
}

static void constant_of_float(ln_onnx_node *n)
{
    const float value = (float)ln_onnx_float(n, "value_float", 0);
    ln_onnx_alias(n, 0, ln_emit_constant(&n->emit, TL_FLOAT, 0, NULL, &value));
}

static void constant_of_floats(ln_onnx_node *n)
{
    int len;
    const float *const values = ln_onnx_floats(n, "value_floats", &len);
    ln_onnx_alias(n, 0, ln_emit_constant(&n->emit, TL_FLOAT, 1, &len, values));
}

static void constant_of_int(ln_onnx_node *n)
{
    const int64_t value = ln_onnx_int(n, "value_int", 0);
    ln_onnx_alias(n, 0, ln_emit_constant(&n->emit, TL_INT64, 0, NULL, &value));
}

static void constant_of_ints(ln_onnx_node *n)
{
    int len;
    const int64_t *const values = ln_onnx_ints(n, "value_ints", &len);
    ln_onnx_alias(n, 0, ln_emit_int64s(&n->emit, len, values));
}

static void constant_of_strings(ln_onnx_node *n)
{
    const int is_list = ln_onnx_has_attr(n, "value_strings");
    ln_onnx_alias(n, 0, ln_onnx_text_constant(n, is_list ? "value_strings" : "value_string"));
}

static void constant_of_sparse(ln_onnx_node *n)
{
    const LnOnnx__Attribute *const a = ln_onnx_find_attr(n->scope, n->proto, "sparse_value");
    if (a->sparse_tensor)
        ln_onnx_sparse(n, a->sparse_tensor, 0);
    else
        ln_emit_fail(&n->emit, "attribute 'sparse_value' has no tensor");
}

/** Exactly one of these attributes contains the constant. */
static void translate_constant(ln_onnx_node *n)
{
    static const struct {
        const char *attr;
        ln_onnx_translate translate;
    } forms[] = {
        {"value", constant_of_tensor},         {"value_float", constant_of_float},
        {"value_floats", constant_of_floats},  {"value_int", constant_of_int},
        {"value_ints", constant_of_ints},      {"sparse_value", constant_of_sparse},
        {"value_string", constant_of_strings}, {"value_strings", constant_of_strings},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (ln_onnx_has_attr(n, forms[i].attr)) {
            forms[i].translate(n);
            return;
        }
    ln_emit_fail(&n->emit, "no attribute with a value");
}

const ln_onnx_row ln_onnx_rows_random[] = {
    {"Bernoulli", 15, translate_bernoulli},
    {"Dropout", 1, translate_dropout},
    {"Dropout", 12, translate_dropout_by_inputs},
    {"Multinomial", 7, translate_multinomial},
    {"RandomNormal", 1, translate_random, "TL_NORMAL"},
    {"RandomNormalLike", 1, translate_random_like, "TL_NORMAL"},
    {"RandomUniform", 1, translate_random, "TL_UNIFORM"},
    {"RandomUniformLike", 1, translate_random_like, "TL_UNIFORM"},
    {"Constant", 1, translate_constant},
    {NULL},
};
