// SPDX-License-Identifier: Apache-2.0
// Operators that produce tensors without computing: their data comes from files or callers.

#include "ir/ln_from_file.h"

#include <string.h>

#include "ir/ln_context_ops.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_optypes.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"

// NULL: none.
static const char *first_output(const ln_op *op)
{
    const ln_list *outs = op->op_arg->tensors_out;
    return outs ? ((const ln_tensor_list_entry *)outs->data)->name : NULL;
}

const char *ln_from_file_name(const ln_op *op)
{
    const ln_param_entry *from_file = ln_op_param(op, "from_file");
    if (!from_file || from_file->type != LN_PARAM_BOOL || !from_file->value_bool)
        return NULL;
    return first_output(op);
}

int ln_is_form_of(const char *optype, const char *base)
{
    const size_t len = strlen(base);
    return !strncmp(optype, base, len) && (optype[len] == '\0' || optype[len] == '_');
}

int ln_op_is_form_of(const ln_op *op, const char *optype)
{
    return op && ln_is_form_of(op->op_arg->optype, optype);
}

int ln_produces_inputs(const char *optype)
{
    return ln_is_form_of(optype, LN_OP_CREATE) || ln_is_form_of(optype, LN_OP_SOURCE) ||
           ln_is_form_of(optype, LN_OP_PLACEHOLDER);
}

int ln_produces_random(const ln_op *op)
{
    const ln_param_entry *range = ln_op_param(op, "ran");
    return range && range->type == LN_PARAM_ARRAY_NUMBER && range->array_len == 2 &&
           (range->value_array_double[0] != 0 || range->value_array_double[1] != 0);
}

int ln_is_placeholder(const ln_op *op)
{
    return ln_op_is_form_of(op, LN_OP_PLACEHOLDER);
}

static const int *dims_of_placeholder(const ln_op *op, const char *arg_name)
{
    return ln_is_placeholder(op) ? ln_op_param(op, arg_name)->value_array_int : NULL;
}

const int *ln_placeholder_min(const ln_op *op)
{
    return dims_of_placeholder(op, "least");
}

const int *ln_placeholder_max(const ln_op *op)
{
    return dims_of_placeholder(op, "dims");
}

const char *ln_placeholder_size(const ln_op *op, int i)
{
    const ln_param_entry *const sizes = ln_is_placeholder(op) ? ln_op_param(op, "sizes") : NULL;
    return sizes && i < sizes->array_len && *sizes->value_array_string[i]
               ? sizes->value_array_string[i]
               : NULL;
}

const char *ln_empty_source(const ln_op *op)
{
    const ln_param_entry *data = ln_op_param(op, "data");
    const int is_empty = ln_op_is_form_of(op, LN_OP_SOURCE) && (!data || data->array_len == 0);
    return is_empty || ln_is_placeholder(op) ? first_output(op) : NULL;
}

// NULL: no memory.
static ln_list *shape_params(const tl_tensor *like)
{
    ln_list *type = ln_param_list_append_string(NULL, "dtype", tl_dtype_name(like->dtype));
    ln_list *params =
        type ? ln_param_list_append_array_int(type, "dims", like->ndim, like->dims) : NULL;
    if (!params)
        ln_param_list_free(type);
    return params;
}

static ln_list *source_params(const tl_tensor *like, int from_file)
{
    const ln_bool is_from_file = from_file ? LN_TRUE : LN_FALSE;
    ln_list *shaped = shape_params(like);
    ln_list *params = shaped ? ln_param_list_append_bool(shaped, "from_file", is_from_file) : NULL;
    if (!params)
        ln_param_list_free(shaped);
    return params;
}

static ln_op *create(const ln_context *ctx, const char *optype, const char *name, const char *tname,
                     ln_list *params)
{
    const ln_op *proto = ln_hash_find(LN_ARCH.op_proto_table, optype);
    if (!proto)
        ln_fail(ctx, "unknown operator '%s'", optype);
    ln_list *outs = proto ? ln_tensor_list_append(NULL, "dst", tname) : NULL;
    ln_op *op = outs && params
                    ? ln_op_create_from_proto(proto, name, NULL, outs, params, ctx->tensor_table)
                    : NULL;
    if (op)
        return op;
    ln_tensor_list_free(outs);
    ln_param_list_free(params);
    if (proto)
        ln_fail_memory(ctx);
    return NULL;
}

ln_op *ln_source_create(const ln_context *ctx, const char *optype, const char *name,
                        const char *tname, const tl_tensor *like, int from_file)
{
    return create(ctx, optype, name, tname, source_params(like, from_file));
}

ln_op *ln_placeholder_create(const ln_context *ctx, const char *name, const char *tname,
                             const tl_tensor *like, const int *min, const char *const *sizes)
{
    ln_list *shaped = shape_params(like);
    ln_list *ranged =
        shaped ? ln_param_list_append_array_int(shaped, "least", like->ndim, min) : NULL;
    ln_list *params = ranged && sizes
                          ? ln_param_list_append_array_string(ranged, "sizes", like->ndim, sizes)
                          : ranged;
    if (!params)
        ln_param_list_free(ranged ? ranged : shaped);
    return create(ctx, LN_OP_PLACEHOLDER, name, tname, params);
}
