// SPDX-License-Identifier: Apache-2.0
// Emitting LightNet operators.

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_context_ops.h"
#include "lightnet/ln_arch.h"
#include "tensorlight/tl_type.h"

static const char *node_name(const ln_onnx_node *n)
{
    const LnOnnx__Node *p = n->proto;
    if (p->name && *p->name)
        return p->name;
    return p->n_output && *p->output[0] ? p->output[0] : "";
}

int ln_onnx_failed(const ln_onnx_node *n)
{
    return n->model->failed;
}

// Puts the place before the reason that the context has.
static void add_place(ln_onnx_node *n)
{
    n->model->failed = 1;
    ln_fail_at(n->model->ctx, "%s: node '%s' (%s, opset %d)", n->model->file, node_name(n),
               n->proto->op_type ? n->proto->op_type : "", n->opset);
}

void ln_onnx_fail(ln_onnx_node *n, const char *fmt, ...)
{
    char reason[LN_MAXLINE];
    va_list ap;
    if (n->model->failed)
        return;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof(reason), fmt, ap);
    va_end(ap);
    ln_fail(n->model->ctx, "%s", reason);
    add_place(n);
}

/* The parts of an operator */

static void drop_parts(ln_onnx_node *n)
{
    ln_tensor_list_free(n->ins);
    ln_tensor_list_free(n->outs);
    ln_param_list_free(n->params);
    n->ins = n->outs = n->params = NULL;
    n->optype = NULL;
}

void ln_onnx_begin(ln_onnx_node *n, const char *optype)
{
    drop_parts(n);
    n->optype = optype;
}

// Makes `longer`, a list of the operator or NULL, that list.
static void extend(ln_onnx_node *n, ln_list **list, ln_list *longer)
{
    if (!longer)
        ln_onnx_fail(n, "out of memory");
    else
        *list = longer;
}

void ln_onnx_arg(ln_onnx_node *n, const char *arg, const char *tensor)
{
    if (tensor && !n->model->failed)
        extend(n, &n->ins, ln_tensor_list_append(n->ins, arg, tensor));
}

void ln_onnx_arg_at(ln_onnx_node *n, const char *arg, int i, const char *tensor)
{
    char name[LN_MAX_NAME_LEN];
    snprintf(name, sizeof(name), "%s%d", arg, i);
    ln_onnx_arg(n, name, tensor);
}

void ln_onnx_set_int(ln_onnx_node *n, const char *param, int64_t value)
{
    ln_onnx_set_number(n, param, (double)value);
}

void ln_onnx_set_number(ln_onnx_node *n, const char *param, double value)
{
    if (!n->model->failed)
        extend(n, &n->params, ln_param_list_append_number(n->params, param, value));
}

void ln_onnx_set_bool(ln_onnx_node *n, const char *param, int value)
{
    if (!n->model->failed)
        extend(n, &n->params,
               ln_param_list_append_bool(n->params, param, value ? LN_TRUE : LN_FALSE));
}

void ln_onnx_set_string(ln_onnx_node *n, const char *param, const char *value)
{
    if (!n->model->failed)
        extend(n, &n->params, ln_param_list_append_string(n->params, param, value));
}

void ln_onnx_set_ints(ln_onnx_node *n, const char *param, int len, const int *values)
{
    if (!n->model->failed)
        extend(n, &n->params, ln_param_list_append_array_int(n->params, param, len, values));
}

void ln_onnx_set_numbers(ln_onnx_node *n, const char *param, int len, const double *values)
{
    if (!n->model->failed)
        extend(n, &n->params, ln_param_list_append_array_double(n->params, param, len, values));
}

void ln_onnx_set_bools(ln_onnx_node *n, const char *param, int len, const int *values)
{
    ln_bool *bools = ln_onnx_alloc(n->model, ((size_t)len + 1) * sizeof(*bools));
    if (!bools)
        return;
    for (int i = 0; i < len; i++)
        bools[i] = values[i] ? LN_TRUE : LN_FALSE;
    extend(n, &n->params, ln_param_list_append_array_bool(n->params, param, len, bools));
}

void ln_onnx_set_strings(ln_onnx_node *n, const char *param, int len, const char *const *values)
{
    if (!n->model->failed)
        extend(n, &n->params, ln_param_list_append_array_string(n->params, param, len, values));
}

void ln_onnx_set_dtype(ln_onnx_node *n, const char *param, tl_dtype dtype)
{
    ln_onnx_set_string(n, param, tl_dtype_name(dtype));
}

/* Names */

const char *ln_onnx_tensor_name(ln_onnx_model *m, const char *wanted)
{
    char name[LN_MAX_NAME_LEN];
    if (m->failed)
        return NULL;
    // Room for a number behind it.
    if (!*wanted || strlen(wanted) > LN_MAX_NAME_LEN - 32 ||
        ln_tensor_table_find(m->ctx->tensor_table, wanted)) {
        char base[LN_MAX_NAME_LEN - 31];
        snprintf(base, sizeof(base), "%s", *wanted ? wanted : "tensor");
        if (ln_context_unique_name(m->ctx, name, base)) {
            m->failed = 1;
            return NULL;
        }
        wanted = name;
    }
    return ln_onnx_print(m, "%s", wanted);
}

static int op_name(ln_onnx_node *n, char name[LN_MAX_NAME_LEN])
{
    const LnOnnx__Node *p = n->proto;
    const char *wanted = p->name && *p->name ? p->name : p->op_type;
    char base[LN_MAX_NAME_LEN - 31];
    const int len = snprintf(base, sizeof(base), "%s", wanted);
    const int fits = len >= 0 && (size_t)len < sizeof(base);
    if (fits && p->name && *p->name && !ln_op_table_find(n->model->ctx->op_table, base)) {
        strcpy(name, base);
        return 0;
    }
    return ln_context_unique_name(n->model->ctx, name, base);
}

const char *ln_onnx_out(ln_onnx_node *n, const char *arg, int i)
{
    if (n->model->failed)
        return NULL;
    const int wanted = i >= 0 && ln_onnx_wants(n, i);
    char temp[LN_MAX_NAME_LEN];
    snprintf(temp, sizeof(temp), "%.*s_%s", LN_MAX_NAME_LEN - 64, node_name(n), arg);
    const char *name = ln_onnx_tensor_name(n->model, wanted ? n->proto->output[i] : temp);
    if (!name)
        return NULL;
    extend(n, &n->outs, ln_tensor_list_append(n->outs, arg, name));
    if (wanted)
        ln_onnx_scope_set(n->scope, n->proto->output[i], name);
    return name;
}

/* Operators */

ln_onnx_variation ln_onnx_variation_of(const ln_onnx_model *m, const char *tensor)
{
    return (ln_onnx_variation)(uintptr_t)ln_hash_find(m->varying, tensor);
}

void ln_onnx_set_variation(ln_onnx_model *m, const char *tensor, ln_onnx_variation variation)
{
    const ln_tensor_entry *te = ln_tensor_table_find(m->ctx->tensor_table, tensor);
    if (ln_hash_insert(m->varying, te->name, (void *)(uintptr_t)variation) < 0)
        ln_onnx_model_fail(m, "out of memory");
}

// A result varies as the worst of what it is made from; what only asks for its size, less.
static void note_variation(ln_onnx_node *n, const ln_op *op)
{
    const ln_tensor_list_entry *tle;
    ln_onnx_variation worst = ln_op_has_effect(op) ? LN_ONNX_UNKNOWN : LN_ONNX_CONSTANT;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_in)
    {
        const ln_onnx_variation of_input = ln_onnx_variation_of(n->model, tle->name);
        worst = of_input > worst ? of_input : worst;
    }
    if (worst == LN_ONNX_UNKNOWN && ln_streq(op->op_arg->optype, "shape"))
        worst = LN_ONNX_SIZED;
    LN_LIST_FOREACH(tle, worst ? op->op_arg->tensors_out : NULL)
    {
        ln_onnx_set_variation(n->model, tle->name, worst);
    }
}

static void add_op(ln_onnx_node *n)
{
    char name[LN_MAX_NAME_LEN];
    ln_context *ctx = n->model->ctx;
    const ln_op *proto = ln_hash_find(LN_ARCH.op_proto_table, n->optype);
    if (!proto) {
        ln_onnx_fail(n, "there is no operator '%s'", n->optype);
        return;
    }
    ln_op *op = op_name(n, name) ? NULL
                                 : ln_op_create_from_proto(proto, name, n->ins, n->outs, n->params,
                                                           ctx->tensor_table);
    if (!op) {
        ln_onnx_fail(n, "out of memory");
        return;
    }
    n->ins = n->outs = n->params = NULL;
    ln_list *end = NULL;
    if (ln_context_add_op(ctx, &end, op))
        add_place(n);
    else
        note_variation(n, op);
}

const char *ln_onnx_end(ln_onnx_node *n, const char *arg, int i)
{
    const char *name = ln_onnx_out(n, arg, i);
    if (!n->model->failed)
        add_op(n);
    drop_parts(n);
    return n->model->failed ? NULL : name;
}

/* Compositions */

const char *ln_onnx_simple(ln_onnx_node *n, const char *optype, const char *src, int i)
{
    ln_onnx_begin(n, optype);
    ln_onnx_arg(n, "src", src);
    return ln_onnx_end(n, "dst", i);
}

static const char *emit_view(ln_onnx_node *n, const char *optype, const char *src, int ndim,
                             const int *dims, int i)
{
    ln_onnx_begin(n, optype);
    ln_onnx_arg(n, "src", src);
    ln_onnx_set_ints(n, "dims", ndim, dims);
    return ln_onnx_end(n, "dst", i);
}

const char *ln_onnx_view(ln_onnx_node *n, const char *src, int ndim, const int *dims, int i)
{
    return emit_view(n, "view", src, ndim, dims, i);
}

const char *ln_onnx_reshape(ln_onnx_node *n, const char *src, int ndim, const int *dims, int i)
{
    int plain = ndim > 0; // what the catalogue's reshape takes
    for (int k = 0; k < ndim; k++)
        plain &= dims[k] > 0;
    return emit_view(n, plain ? "reshape" : "view", src, ndim, dims, i);
}

const char *ln_onnx_cast(ln_onnx_node *n, const char *src, tl_dtype dtype, int i)
{
    if (ln_onnx_tensor_of(n, src)->dtype == dtype) {
        ln_onnx_alias(n, i, src);
        return src;
    }
    ln_onnx_begin(n, "cast");
    ln_onnx_arg(n, "src", src);
    ln_onnx_set_dtype(n, "dtype", dtype);
    return ln_onnx_end(n, "dst", i);
}

const char *ln_onnx_unary(ln_onnx_node *n, const char *func, const char *src, int i)
{
    ln_onnx_begin(n, "unary");
    ln_onnx_arg(n, "src", src);
    ln_onnx_set_string(n, "func", func);
    return ln_onnx_end(n, "dst", i);
}

const char *ln_onnx_binary(ln_onnx_node *n, const char *op, const char *src1, const char *src2,
                           int i)
{
    ln_onnx_begin(n, "binary");
    ln_onnx_arg(n, "src1", src1);
    ln_onnx_arg(n, "src2", src2);
    ln_onnx_set_string(n, "op", op);
    return ln_onnx_end(n, "dst", i);
}

const char *ln_onnx_transpose(ln_onnx_node *n, const char *src, const int *axes, int i)
{
    ln_onnx_begin(n, "transpose");
    ln_onnx_arg(n, "src", src);
    ln_onnx_set_ints(n, "axes", ln_onnx_tensor_of(n, src)->ndim, axes);
    return ln_onnx_end(n, "dst", i);
}
