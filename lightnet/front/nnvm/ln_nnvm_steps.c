// SPDX-License-Identifier: Apache-2.0
// Steps that many translators are made of.

#include "front/nnvm/ln_nnvm_steps.h"

#include <limits.h>
#include <string.h>

int ln_nnvm_is_float(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_DOUBLE || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

int ln_nnvm_copy_dims(const ln_nnvm_node *n, const char *tensor, int dims[LN_MAXDIM])
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, tensor);
    memcpy(dims, t->dims, (size_t)t->ndim * sizeof(int));
    return t->ndim;
}

int ln_nnvm_axes(ln_nnvm_node *n, const char *key, int ndim, int excludes, int axes[LN_MAXDIM])
{
    int64_t given[LN_NNVM_MAX_TUPLE];
    int named[LN_MAXDIM] = {0}, n_axes = 0;
    const int len = ln_nnvm_ints(n, key, given);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++)
        named[ln_nnvm_axis(n, given[i], ndim)] = 1;
    for (int i = 0; i < ndim; i++)
        if (named[i] != excludes)
            axes[n_axes++] = i;
    return n_axes;
}

int ln_nnvm_has_bias(ln_nnvm_node *n, int without)
{
    const char *const key = ln_nnvm_is_mxnet(n) ? "no_bias" : "use_bias";
    const int has_bias =
        ln_nnvm_is_mxnet(n) ? !ln_nnvm_bool(n, key, without) : ln_nnvm_bool(n, key, 1);
    if (!has_bias && ln_nnvm_num_inputs(n) > 2)
        ln_emit_fail(&n->emit, "%d inputs, expected 2, as attribute '%s' says that it has no bias",
                     ln_nnvm_num_inputs(n), key);
    return has_bias;
}

const char *ln_nnvm_scalar_like(ln_nnvm_node *n, const char *like, double value)
{
    return ln_emit_scalar(&n->emit, ln_nnvm_tensor_of(n, like)->dtype, value);
}

const char *ln_nnvm_unary_of(ln_nnvm_node *n, const char *func, const char *src, double alpha,
                             double beta, int i)
{
    return LN_EMIT(&n->emit, i, "unary", LN_ARG("src", src), LN_TEXT("func", func),
                   LN_NUMBER("alpha", alpha), LN_NUMBER("beta", beta));
}

const char *ln_nnvm_compare(ln_nnvm_node *n, const char *op, const char *a, const char *b)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, "compare", LN_ARG("src1", a), LN_ARG("src2", b),
                   LN_TEXT("op", op));
}

const char *ln_nnvm_is_set(ln_nnvm_node *n, const char *src)
{
    return ln_nnvm_compare(n, "TL_COMPARE_NOT_EQUAL", src, ln_nnvm_scalar_like(n, src, 0));
}

// `unary` clips floats only.
const char *ln_nnvm_clip(ln_nnvm_node *n, const char *src, double least, double most, int i)
{
    if (ln_nnvm_is_float(ln_nnvm_tensor_of(n, src)->dtype))
        return ln_nnvm_unary_of(n, "TL_UNARY_CLIP", src, least, most, i);
    src = ln_emit_binary(&n->emit, "TL_BINARY_MAX", src, ln_nnvm_scalar_like(n, src, least),
                         LN_EMIT_TEMP);
    return ln_emit_binary(&n->emit, "TL_BINARY_MIN", src, ln_nnvm_scalar_like(n, src, most), i);
}

const char *ln_nnvm_where(ln_nnvm_node *n, const char *cond, const char *a, const char *b, int i)
{
    return LN_EMIT(&n->emit, i, "where", LN_ARG("cond", cond), LN_ARG("src1", a),
                   LN_ARG("src2", b));
}

const char *ln_nnvm_reduce(ln_nnvm_node *n, const char *op, const char *src, int n_axes,
                           const int *axes, int keeps, int i)
{
    return LN_EMIT(&n->emit, i, "reduce", LN_ARG("src", src), LN_TEXT("op", op),
                   LN_INTS("axes", n_axes, axes), LN_BOOL("keepdims", keeps));
}

const char *ln_nnvm_matmul(ln_nnvm_node *n, const char *a, const char *b, int trans1, int trans2,
                           int i)
{
    return LN_EMIT(&n->emit, i, "matmul", LN_ARG("src1", a), LN_ARG("src2", b),
                   LN_BOOL("trans1", trans1), LN_BOOL("trans2", trans2));
}

const char *ln_nnvm_slice(ln_nnvm_node *n, const char *src, int len, const int *axes,
                          const int *starts, const int *ends, const int *steps, int i)
{
    const char *const dst = LN_EMIT(&n->emit, i, "stride_slice", LN_ARG("src", src),
                                    LN_INTS("axes", len, axes), LN_INTS("starts", len, starts),
                                    LN_INTS("ends", len, ends), LN_INTS("steps", len, steps));
    if (!ln_nnvm_failed(n) && !ln_nnvm_tensor_of(n, dst)->len)
        ln_emit_fail(&n->emit, "the slice is empty");
    return dst;
}

const char *ln_nnvm_join(ln_nnvm_node *n, int len, const char *const *src, int axis, int i)
{
    ln_emit_begin(&n->emit, "join");
    for (int k = 0; k < len; k++)
        ln_emit_arg_at(&n->emit, "src", k, src[k]);
    ln_emit_set(&n->emit, LN_INT("axis", axis));
    return ln_emit_end(&n->emit, "dst", i);
}

const char *ln_nnvm_expand(ln_nnvm_node *n, const char *src, int ndim, const int *dims, int i)
{
    return LN_EMIT(&n->emit, i, "expand", LN_ARG("src", src), LN_INTS("dims", ndim, dims));
}

const char *ln_nnvm_repeat(ln_nnvm_node *n, const char *src, int axis, int repeats, int i)
{
    int dims[LN_MAXDIM + 1];
    const int ndim = ln_nnvm_copy_dims(n, src, dims);
    if (ln_nnvm_failed(n))
        return NULL;
    if (ndim == LN_MAXDIM || dims[axis] > INT_MAX / repeats) {
        ln_emit_fail(&n->emit, "axis %d of %d, of length %d, %d times", axis, ndim, dims[axis],
                     repeats);
        return NULL;
    }
    const int len = dims[axis] * repeats;
    memmove(dims + axis + 1, dims + axis, (size_t)(ndim - axis) * sizeof(int));
    dims[axis + 1] = 1; // [.., D, 1, ..] to [.., D, repeats, ..] to [.., D repeats, ..]
    src = ln_emit_reshape(&n->emit, src, ndim + 1, dims, LN_EMIT_TEMP);
    dims[axis + 1] = repeats;
    src = ln_nnvm_expand(n, src, ndim + 1, dims, LN_EMIT_TEMP);
    memmove(dims + axis, dims + axis + 1, (size_t)(ndim - axis) * sizeof(int));
    dims[axis] = len;
    return ln_emit_reshape(&n->emit, src, ndim, dims, i);
}
