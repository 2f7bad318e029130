// SPDX-License-Identifier: Apache-2.0
// The ONNX operator Constant, in all its forms.

#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx_rows.h"

static void constant_of_tensor(ln_onnx_node *n)
{
    ln_onnx_alias(n, 0, ln_onnx_attr_tensor(n, "value"));
}

static void constant_of_float(ln_onnx_node *n)
{
    const float value = (float)ln_onnx_float(n, "value_float", 0);
    ln_onnx_alias(n, 0, ln_onnx_constant(n, TL_FLOAT, 0, NULL, &value));
}

static void constant_of_floats(ln_onnx_node *n)
{
    int len;
    const float *const values = ln_onnx_floats(n, "value_floats", &len);
    ln_onnx_alias(n, 0, ln_onnx_constant(n, TL_FLOAT, 1, &len, values));
}

static void constant_of_int(ln_onnx_node *n)
{
    const int64_t value = ln_onnx_int(n, "value_int", 0);
    ln_onnx_alias(n, 0, ln_onnx_constant(n, TL_INT64, 0, NULL, &value));
}

static void constant_of_ints(ln_onnx_node *n)
{
    int len;
    const int64_t *const values = ln_onnx_ints(n, "value_ints", &len);
    ln_onnx_alias(n, 0, ln_onnx_int64s(n, len, values));
}

/* ---- few elements among zeros ---- */

static const char *zeros(ln_onnx_node *n, tl_dtype dtype, int ndim, const int *dims)
{
    const char *const zero = ln_onnx_scalar(n, dtype, 0);
    ln_onnx_begin(n, "expand");
    ln_onnx_arg(n, "src", zero);
    ln_onnx_set_ints(n, "dims", ndim, dims);
    return ln_onnx_end(n, "dst", LN_ONNX_TEMP);
}

/** Emits an operator that puts `values` to where `index` says. */
static const char *put(ln_onnx_node *n, const char *optype, const char *src, const char *index,
                       const char *values, int i)
{
    ln_onnx_begin(n, optype);
    ln_onnx_arg(n, "src", src);
    ln_onnx_arg(n, "index", index);
    ln_onnx_arg(n, "update", values);
    if (ln_streq(optype, "put_along"))
        ln_onnx_set_int(n, "axis", 0);
    return ln_onnx_end(n, "dst", i);
}

/** Indices are rows of coordinates, or count the elements. */
static void constant_of_sparse(ln_onnx_node *n)
{
    const LnOnnx__Attribute *const a = ln_onnx_find_attr(n->scope, n->proto, "sparse_value");
    const LnOnnx__SparseTensor *const sparse = a->sparse_tensor;
    int dims[LN_MAXDIM];
    if (!sparse || !sparse->values || !sparse->indices || sparse->n_dims > LN_MAXDIM) {
        ln_onnx_fail(n,
                     "attribute 'sparse_value' has no values, no indices or too many dimensions");
        return;
    }
    for (size_t i = 0; i < sparse->n_dims; i++) {
        dims[i] = (int)sparse->dims[i];
        if (sparse->dims[i] != dims[i])
            ln_onnx_fail(n, "attribute 'sparse_value' has a dimension of %lld",
                         (long long)sparse->dims[i]);
    }
    const int ndim = (int)sparse->n_dims, len = tl_compute_length(ndim, dims);
    if (len < 0)
        ln_onnx_fail(n, "attribute 'sparse_value': %s", tl_last_error());
    if (ln_onnx_failed(n))
        return;
    const char *const values = ln_onnx_add_tensor(n->model, sparse->values, "sparse_values");
    const char *const index = ln_onnx_add_tensor(n->model, sparse->indices, "sparse_indices");
    const tl_dtype dtype = ln_onnx_tensor_of(n, values)->dtype;
    if (ln_onnx_tensor_of(n, index)->ndim == 2) {
        put(n, "put_nd", zeros(n, dtype, ndim, dims), index, values, 0);
        return;
    }
    const char *const line =
        put(n, "put_along", zeros(n, dtype, 1, &len), index, values, LN_ONNX_TEMP);
    ln_onnx_reshape(n, line, ndim, dims, 0);
}

/** Exactly one of these attributes says what the constant is. */
static void translate_constant(ln_onnx_node *n)
{
    static const struct {
        const char *attr;
        ln_onnx_translate translate;
    } forms[] = {
        {"value", constant_of_tensor},        {"value_float", constant_of_float},
        {"value_floats", constant_of_floats}, {"value_int", constant_of_int},
        {"value_ints", constant_of_ints},     {"sparse_value", constant_of_sparse},
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (ln_onnx_has_attr(n, forms[i].attr)) {
            forms[i].translate(n);
            return;
        }
    ln_onnx_fail(n, "there is no attribute with a number or a tensor of them");
}

const ln_onnx_row ln_onnx_rows_constant[] = {
    {"Constant", 1, translate_constant},
    {NULL},
};
