// SPDX-License-Identifier: Apache-2.0
// Operators that make constants.

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_rows.h"
#include "tensorlight/tl_util.h"

/** `with`: the value, or NULL: an attribute says it. */
static double value_of(ln_nnvm_node *n, const char *key)
{
    if (n->row->with)
        return *n->row->with - '0';
    ln_nnvm_require(n, key);
    return ln_nnvm_float(n, key, 0);
}

static void translate_full(ln_nnvm_node *n)
{
    int64_t given[LN_NNVM_MAX_TUPLE];
    int dims[LN_MAXDIM];
    const int len = ln_nnvm_ints(n, "shape", given);
    const tl_dtype dtype = ln_nnvm_dtype(n, "dtype", TL_FLOAT);
    const double value = value_of(n, ln_nnvm_is_mxnet(n) ? "value" : "fill_value");
    if (len > LN_MAXDIM)
        ln_emit_fail(&n->emit, "a shape of %d dimensions, expected at most %d", len, LN_MAXDIM);
    for (int i = 0; i < len && !ln_nnvm_failed(n); i++) {
        if (given[i] < 1 || given[i] > INT_MAX)
            ln_emit_fail(&n->emit, "attribute 'shape' has %" PRId64 ", expected 1 to %d", given[i],
                         INT_MAX);
        dims[i] = (int)given[i];
    }
    if (!ln_nnvm_failed(n) && tl_compute_length(len > 0 ? len : 0, dims) < 0)
        ln_emit_fail(&n->emit, "%s", tl_last_error());
    if (!ln_nnvm_failed(n))
        ln_nnvm_alias(n, 0, ln_emit_filled(&n->emit, dtype, len > 0 ? len : 0, dims, value));
}

static void translate_full_like(ln_nnvm_node *n)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, ln_nnvm_in(n, 0));
    int dims[LN_MAXDIM];
    memcpy(dims, t->dims, (size_t)t->ndim * sizeof(int));
    const double value = value_of(n, "fill_value");
    if (!ln_nnvm_failed(n))
        ln_nnvm_alias(n, 0, ln_emit_filled(&n->emit, t->dtype, t->ndim, dims, value));
}

#define MXNET_IGNORED " ctx "

const ln_nnvm_row ln_nnvm_rows_create[] = {
    {"full", LN_NNVM_IN_CORE, translate_full, NULL},
    {"zeros", LN_NNVM_IN_CORE, translate_full, "0"},
    {"ones", LN_NNVM_IN_CORE, translate_full, "1"},
    {"_full", LN_NNVM_IN_MXNET, translate_full, NULL, .ignored = MXNET_IGNORED},
    {"_zeros", LN_NNVM_IN_MXNET, translate_full, "0", .ignored = MXNET_IGNORED},
    {"_ones", LN_NNVM_IN_MXNET, translate_full, "1", .ignored = MXNET_IGNORED},
    {"full_like", LN_NNVM_IN_CORE, translate_full_like, NULL, 1, 1},
    {"zeros_like", LN_NNVM_IN_BOTH, translate_full_like, "0", 1, 1},
    {"ones_like", LN_NNVM_IN_BOTH, translate_full_like, "1", 1, 1},
    {NULL},
};
