// SPDX-License-Identifier: Apache-2.0
// ONNX operators that generate tensors: Constant, random numbers, Dropout.

#include <string.h>

#include "front/onnx/ln_onnx_body.h"
#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx.h"

// The numbers

// The seed: the bits of attribute `seed`, a float, or an integer of Dropout. -1: the node has none.
static double seed_of(ln_onnx_node *n)
{
    if (!ln_attr_has(&n->emit, "seed"))
        return -1;
    if (ln_streq(n->row->op_type, "Dropout"))
        return (double)(uint32_t)ln_attr_int(&n->emit, "seed", 0);
    const float seed = (float)ln_attr_number(&n->emit, "seed", 0);
    uint32_t bits;
    memcpy(&bits, &seed, sizeof(bits));
    return bits;
}

static const char *emit_random(ln_onnx_node *n, tl_dtype dtype, int ndim, const ln_dim *dims,
                               const char *distribution, double a, double b, int i)
{
    int max[LN_MAXDIM];
    const int n_open = ln_emit_max_dims(&n->emit, ndim, dims, max);
    return LN_EMIT(&n->emit, i, LN_OP_RANDOM,
                   LN_ARG("dims_now", n_open > 0 ? ln_emit_shape(&n->emit, ndim, dims) : NULL),
                   LN_DTYPE("dtype", dtype), LN_INTS("dims", ndim, max),
                   LN_TEXT("distribution", distribution), LN_NUMBER("a", a), LN_NUMBER("b", b),
                   LN_NUMBER("seed", seed_of(n)));
}

// A tensor as the node's attributes describe it.
static void put_random(ln_onnx_node *n, tl_dtype dtype, int ndim, const ln_dim *dims)
{
    if (!tl_dtype_is_float(dtype))
        ln_emit_fail(&n->emit, "random numbers of %s, expected a floating-point type",
                     tl_dtype_name(dtype));
    const int is_normal = ln_streq(n->row->with, "TL_NORMAL");
    const double a =
        is_normal ? ln_attr_number(&n->emit, "mean", 0) : ln_attr_number(&n->emit, "low", 0);
    const double b =
        is_normal ? ln_attr_number(&n->emit, "scale", 1) : ln_attr_number(&n->emit, "high", 1);
    emit_random(n, dtype, ndim, dims, n->row->with, a, b, 0);
}

static void translate_random(ln_onnx_node *n)
{
    int len;
    ln_dim dims[TL_MAXDIM];
    const int64_t *const shape = ln_attr_ints(&n->emit, "shape", &len);
    if (len > TL_MAXDIM)
        ln_emit_fail(&n->emit, "attribute 'shape' has %d dimensions, expected at most %d", len,
                     TL_MAXDIM);
    for (int i = 0; !ln_onnx_failed(n) && i < len; i++)
        dims[i] = ln_dim_constant(ln_attr_element(&n->emit, "shape", shape[i], 0, INT32_MAX));
    const tl_dtype dtype = ln_attr_dtype(&n->emit, "dtype", TL_FLOAT);
    if (!ln_onnx_failed(n))
        put_random(n, dtype, len, dims);
}

static void translate_random_like(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const like = ln_onnx_tensor_of(n, src);
    ln_dim dims[LN_MAXDIM];
    ln_emit_dims(&n->emit, src, dims);
    put_random(n, ln_attr_dtype(&n->emit, "dtype", like->dtype), like->ndim, dims);
}

// Choices

// 1 with the probability that each element of the input is.
static void translate_bernoulli(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor given = *ln_onnx_tensor_of(n, src);
    ln_dim dims[LN_MAXDIM];
    ln_emit_dims(&n->emit, src, dims);
    // Uniform numbers of 16 bits would be too coarse.
    const tl_dtype work = given.dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
    const char *const probabilities = ln_emit_cast(&n->emit, src, work, LN_EMIT_TEMP);
    const char *const numbers =
        emit_random(n, work, given.ndim, dims, "TL_UNIFORM", 0, 1, LN_EMIT_TEMP);
    const char *const chosen = ln_emit_compare(&n->emit, "TL_COMPARE_LESS", numbers, probabilities);
    ln_emit_cast(&n->emit, chosen, ln_attr_dtype(&n->emit, "dtype", given.dtype), 0);
}

// Gumbel noise -log(-log(u)) of uniform u. Gumbel-max trick: argmax of log(p) + noise samples a
// class with probability p.
static const char *gumbel(ln_onnx_node *n, const ln_dim *dims)
{
    const char *const x = emit_random(n, TL_DOUBLE, 3, dims, "TL_UNIFORM", 0, 1, LN_EMIT_TEMP);
    return ln_emit_formula(&n->emit, "-log(-log(x))", x, NULL, NULL, LN_EMIT_TEMP);
}

// [batch, classes] of logarithmic probabilities -> [batch, samples] of classes.
static void translate_multinomial(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const given = ln_onnx_tensor_of(n, src);
    const int samples = ln_attr_int_in(&n->emit, "sample_size", 1, 1, INT32_MAX);
    if (!ln_onnx_failed(n) && (given->ndim != 2 || given->dims[1] < 1))
        ln_emit_fail(&n->emit, "the input has %d dimensions, expected 2, the second at least 1",
                     given->ndim);
    if (ln_onnx_failed(n))
        return;
    ln_dim dims[2];
    ln_emit_dims(&n->emit, src, dims);
    const ln_dim rows_dims[] = {dims[0], ln_dim_constant(1), dims[1]};
    const ln_dim noise_dims[] = {dims[0], ln_dim_constant(samples), dims[1]};
    const char *const logs = ln_emit_cast(&n->emit, src, TL_DOUBLE, LN_EMIT_TEMP);
    const char *const rows = ln_emit_reshape_dims(&n->emit, logs, 3, rows_dims, LN_EMIT_TEMP);
    const char *const noise = gumbel(n, noise_dims);
    const char *const sums = ln_emit_binary(&n->emit, "TL_BINARY_ADD", noise, rows, LN_EMIT_TEMP);
    const char *const chosen =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_ARGREDUCE, LN_ARG("src", sums), LN_INT("axis", 2),
                LN_BOOL("is_min", 0), LN_BOOL("is_last", 0), LN_BOOL("keepdims", 0));
    ln_emit_cast(&n->emit, chosen, ln_attr_dtype(&n->emit, "dtype", TL_INT32), 0);
}

// Dropout, which passes everything on when it does not train

static void pass_all(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    ln_onnx_alias(n, 0, src);
    if (!ln_onnx_wants(n, 1))
        return;
    ln_dim dims[LN_MAXDIM];
    ln_emit_dims(&n->emit, src, dims);
    const char *const kept = ln_emit_scalar(&n->emit, n->opset < 10 ? t->dtype : TL_BOOL, 1);
    ln_emit_expand_dims(&n->emit, kept, t->ndim, dims, 1);
}

// The type to compute Dropout in: factors of 16 bits could be inexact or infinite.
static tl_dtype dropout_dtype(ln_onnx_node *n)
{
    return ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
}

// Where random numbers are at least the ratio; output 1, as the data's type before opset 10.
static const char *emit_kept(ln_onnx_node *n, const tl_tensor *data, const char *ratio)
{
    ln_dim dims[LN_MAXDIM];
    ln_emit_dims(&n->emit, ln_onnx_in(n, 0), dims);
    const int is_cast = ln_onnx_wants(n, 1) && n->opset < 10;
    const char *const numbers =
        emit_random(n, dropout_dtype(n), data->ndim, dims, "TL_UNIFORM", 0, 1, LN_EMIT_TEMP);
    const char *const kept = LN_EMIT(&n->emit, ln_onnx_wants(n, 1) && !is_cast ? 1 : LN_EMIT_TEMP,
                                     LN_OP_COMPARE, LN_ARG("src1", numbers), LN_ARG("src2", ratio),
                                     LN_TEXT("op", "TL_COMPARE_GREATER_EQUAL"));
    if (is_cast)
        ln_emit_cast(&n->emit, kept, data->dtype, 1);
    return kept;
}

// Multiplies each element by 0 with the probability `ratio`, otherwise by `factor`; both are
// scalars of dropout_dtype.
static void drop(ln_onnx_node *n, const char *ratio, const char *factor)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor data = *ln_onnx_tensor_of(n, src);
    const tl_dtype work = dropout_dtype(n);
    const int is_cast = data.dtype != work;
    if (!tl_dtype_is_float(data.dtype))
        ln_emit_fail(&n->emit, "input 0 is %s, expected a floating-point type",
                     tl_dtype_name(data.dtype));
    const char *const kept = emit_kept(n, &data, ratio);
    const char *const wide = ln_emit_cast(&n->emit, src, work, LN_EMIT_TEMP);
    const char *const zero = ln_emit_scalar(&n->emit, work, 0);
    const char *const factors = ln_emit_where(&n->emit, kept, factor, zero, LN_EMIT_TEMP);
    const char *const dst =
        ln_emit_binary(&n->emit, "TL_BINARY_MUL", wide, factors, is_cast ? LN_EMIT_TEMP : 0);
    if (is_cast)
        ln_emit_cast(&n->emit, dst, data.dtype, 0);
}

// Drops with a constant ratio; `what`: the input or attribute, for messages.
static void drop_by(ln_onnx_node *n, const char *what, double ratio)
{
    const tl_dtype work = dropout_dtype(n);
    if (!(ratio >= 0 && ratio < 1))
        ln_emit_fail(&n->emit, "%s is %g, expected 0 or more and less than 1", what, ratio);
    if (ratio > 0)
        drop(n, ln_emit_scalar(&n->emit, work, ratio),
             ln_emit_scalar(&n->emit, work, 1 / (1 - ratio)));
    else
        pass_all(n);
}

// Input `i`, a scalar that is known only at run time.
static const char *single_in(ln_onnx_node *n, int i, const char *what)
{
    const char *const src = ln_onnx_in(n, i);
    ln_onnx_check_single(n, what, src);
    return ln_onnx_tensor_of(n, src)->ndim ? ln_emit_reshape(&n->emit, src, 0, NULL, LN_EMIT_TEMP)
                                           : src;
}

// For a ratio or training_mode known only at run time: without training, the ratio is 0.
static void drop_at_run_time(ln_onnx_node *n)
{
    const tl_dtype work = dropout_dtype(n);
    const char *const zero = ln_emit_scalar(&n->emit, work, 0);
    const char *const given = ln_onnx_has_input(n, 1) ? single_in(n, 1, "the ratio")
                                                      : ln_emit_scalar(&n->emit, work, 0.5);
    const char *const wide = ln_emit_cast(&n->emit, given, work, LN_EMIT_TEMP);
    const char *const ratio =
        ln_emit_where(&n->emit, single_in(n, 2, "training_mode"), wide, zero, LN_EMIT_TEMP);
    drop(n, ratio, ln_emit_formula(&n->emit, "1 / (1 - x)", ratio, NULL, NULL, LN_EMIT_TEMP));
}

// Up to opset 6. A node without `is_test` does not train, as in ONNX's version converter, although
// the default is 0.
static void translate_dropout_by_attributes(ln_onnx_node *n)
{
    if (ln_attr_int(&n->emit, "is_test", 1))
        pass_all(n);
    else
        drop_by(n, "attribute 'ratio'", ln_attr_number(&n->emit, "ratio", 0.5));
}

// Since opset 12, the ratio and the mode are inputs.
static void translate_dropout_by_inputs(ln_onnx_node *n)
{
    const tl_tensor *const mode = ln_onnx_value(n, ln_onnx_optional(n, 2));
    const int may_train = mode ? ln_onnx_number_in(n, 2, 0) != 0 : ln_onnx_has_input(n, 2);
    const int is_known = mode && (!ln_onnx_has_input(n, 1) || ln_onnx_value(n, ln_onnx_in(n, 1)));
    if (!may_train)
        pass_all(n);
    else if (is_known)
        drop_by(n, "input 1, ratio,", ln_onnx_number_in(n, 1, 0.5));
    else
        drop_at_run_time(n);
}

// The constant of an attribute with numbers.
static const char *constant_of_numbers(ln_onnx_node *n)
{
    int len;
    if (ln_attr_has(&n->emit, "value_int"))
        return ln_emit_constant(&n->emit, TL_INT64, 0, NULL,
                                &(int64_t){ln_attr_int(&n->emit, "value_int", 0)});
    if (ln_attr_has(&n->emit, "value_float"))
        return ln_emit_constant(&n->emit, TL_FLOAT, 0, NULL,
                                &(float){(float)ln_attr_number(&n->emit, "value_float", 0)});
    if (ln_attr_has(&n->emit, "value_ints")) {
        const int64_t *const values = ln_attr_ints(&n->emit, "value_ints", &len);
        return ln_emit_int64s(&n->emit, len, values);
    }
    const float *const values = ln_onnx_floats(n, "value_floats", &len);
    if (!ln_attr_has(&n->emit, "value_floats"))
        ln_emit_fail(
            &n->emit,
            "has no attribute with a value, such as 'value' or 'value_ints'; expected one");
    return ln_emit_constant(&n->emit, TL_FLOAT, 1, &len, values);
}

// Exactly one attribute contains the constant.
static void translate_constant(ln_onnx_node *n)
{
    const LnOnnx__Attribute *const a = ln_onnx_find_attr(n->scope, n->proto, "sparse_value");
    if (a && !a->sparse_tensor)
        ln_emit_fail(&n->emit, "attribute 'sparse_value' has no tensor");
    else if (a)
        ln_onnx_sparse(n, a->sparse_tensor, 0);
    else
        ln_onnx_alias(
            n, 0,
            ln_attr_has(&n->emit, "value")           ? ln_onnx_attr_tensor(n, "value")
            : ln_attr_has(&n->emit, "value_string")  ? ln_onnx_text_constant(n, "value_string")
            : ln_attr_has(&n->emit, "value_strings") ? ln_onnx_text_constant(n, "value_strings")
                                                     : constant_of_numbers(n));
}

const ln_onnx_row ln_onnx_rows_random[] = {
    {"Bernoulli", 15, translate_bernoulli},
    {"Dropout", 1, translate_dropout_by_attributes},
    {"Dropout", 7, pass_all},
    {"Dropout", 12, translate_dropout_by_inputs},
    {"Multinomial", 7, translate_multinomial},
    {"RandomNormal", 1, translate_random, "TL_NORMAL"},
    {"RandomNormalLike", 1, translate_random_like, "TL_NORMAL"},
    {"RandomUniform", 1, translate_random, "TL_UNIFORM"},
    {"RandomUniformLike", 1, translate_random_like, "TL_UNIFORM"},
    {"Constant", 1, translate_constant},
    {NULL},
};
