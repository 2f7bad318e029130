// SPDX-License-Identifier: Apache-2.0
// Writing operators that make constants: parameters, with the elements that they fill.

#include "front/nnvm/ln_nnvm_put.h"
#include "tensorlight/tl_shape.h"
#include "tensorlight/tl_util.h"

static ln_nnvm_value put_filled(ln_nnvm_op *n, tl_tensor *filled)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const ln_nnvm_value none = {.dtype = dst->dtype};
    if (!filled)
        ln_nnvm_op_fail(n, "%s", tl_last_error());
    const ln_nnvm_value v =
        filled ? ln_put_constant(n, dst->dtype, dst->ndim, dst->dims, filled->data) : none;
    tl_tensor_free_data_too(filled);
    return v;
}

static ln_nnvm_value write_zeros(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    return ln_put_full(n, n->label, dst->dtype, dst->ndim, dst->dims, 0);
}

static ln_nnvm_value write_arange(ln_nnvm_op *n)
{
    return put_filled(n, tl_tensor_arange(ln_nnvm_op_number(n, "start", 0),
                                          ln_nnvm_op_number(n, "stop", 1),
                                          ln_nnvm_op_number(n, "step", 1),
                                          ln_nnvm_op_tensor_of(n, "dst")->dtype));
}

/** The numbers that it begins with and goes on by are the model's own. */
static ln_nnvm_value write_range(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const tl_tensor *const start = ln_nnvm_own_constant(n, ln_nnvm_src_of(n->op, "start"));
    const tl_tensor *const delta = ln_nnvm_own_constant(n, ln_nnvm_src_of(n->op, "delta"));
    tl_tensor *const filled = tl_tensor_zeros(dst->ndim, dst->dims, dst->dtype);
    if (!start || !delta)
        ln_nnvm_op_fail(n, "'start' and 'delta' are not constants of the model, expected such, as "
                           "NNVM's core makes no progressions");
    else if (filled && tl_exec_range(NULL, start, delta, filled))
        ln_nnvm_op_fail(n, "%s", tl_last_error());
    return put_filled(n, filled);
}

static ln_nnvm_value write_eye(ln_nnvm_op *n)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    tl_tensor *const filled = tl_tensor_zeros(dst->ndim, dst->dims, dst->dtype);
    if (filled && tl_exec_eye(NULL, filled, ln_nnvm_op_int(n, "k", 0)))
        ln_nnvm_op_fail(n, "%s", tl_last_error());
    return put_filled(n, filled);
}

const ln_nnvm_op_row ln_nnvm_write_rows_create[] = {
    {"zeros", write_zeros},
    {"arange", write_arange},
    {"range", write_range},
    {"eye", write_eye},
    {NULL},
};
