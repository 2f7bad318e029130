// SPDX-License-Identifier: Apache-2.0
// Sparse tensors: few elements among zeros, put there by operators that run at load.

#include <limits.h>

#include "front/onnx/ln_onnx_model.h"
#include "tensorlight/tl_util.h"

static const char *zeros(ln_onnx_node *n, tl_dtype dtype, int ndim, const int *dims)
{
    const char *const zero = ln_emit_scalar(&n->emit, dtype, 0);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, "expand", LN_ARG("src", zero),
                   LN_INTS("dims", ndim, dims));
}

/** Emits an operator that puts `values` to where `index` says. */
static const char *put(ln_onnx_node *n, const char *optype, const char *src, const char *index,
                       const char *values, int i)
{
    ln_emit_begin(&n->emit, optype);
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_arg(&n->emit, "index", index);
    ln_emit_arg(&n->emit, "update", values);
    if (ln_streq(optype, "put_along"))
        ln_emit_set(&n->emit, LN_INT("axis", 0));
    return ln_emit_end(&n->emit, "dst", i);
}

// -1 after a failure.
static int read_dims(ln_onnx_node *n, const LnOnnx__SparseTensor *sparse, int dims[LN_MAXDIM])
{
    if (!sparse->values || !sparse->indices || sparse->n_dims > LN_MAXDIM) {
        ln_emit_fail(&n->emit,
                     "a sparse tensor has no values, no indices, or more than %d dimensions",
                     LN_MAXDIM);
        return -1;
    }
    for (size_t i = 0; i < sparse->n_dims; i++) {
        dims[i] = (int)sparse->dims[i];
        if (sparse->dims[i] != dims[i] || dims[i] < 0)
            ln_emit_fail(&n->emit, "a sparse tensor has a dimension of %lld, expected 0 to %d",
                         (long long)sparse->dims[i], INT_MAX);
    }
    if (!ln_onnx_failed(n) && tl_compute_length((int)sparse->n_dims, dims) < 0)
        ln_emit_fail(&n->emit, "a sparse tensor: %s", tl_last_error());
    return ln_onnx_failed(n) ? -1 : 0;
}

// Indices are rows of coordinates, or count the elements.
const char *ln_onnx_sparse(ln_onnx_node *n, const LnOnnx__SparseTensor *sparse, int i)
{
    int dims[LN_MAXDIM];
    if (read_dims(n, sparse, dims))
        return NULL;
    const int ndim = (int)sparse->n_dims, len = tl_compute_length(ndim, dims);
    const char *const values = ln_onnx_add_tensor(n->scope, sparse->values, "sparse_values");
    const char *const index = ln_onnx_add_tensor(n->scope, sparse->indices, "sparse_indices");
    const tl_dtype dtype = ln_onnx_tensor_of(n, values)->dtype;
    if (ln_onnx_tensor_of(n, index)->ndim == 2)
        return put(n, "put_nd", zeros(n, dtype, ndim, dims), index, values, i);
    const char *const line =
        put(n, "put_along", zeros(n, dtype, 1, &len), index, values, LN_EMIT_TEMP);
    return ln_emit_reshape(&n->emit, line, ndim, dims, i);
}
