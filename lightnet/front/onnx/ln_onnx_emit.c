// SPDX-License-Identifier: Apache-2.0
// ONNX nodes for the emitter, and values that vary from run to run.

#include <stdint.h>
#include <stdio.h>

#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_context_ops.h"
#include "tensorlight/tl_type.h"

int ln_onnx_failed(const ln_onnx_node *n)
{
    return n->model->base.failed;
}

// Variation

ln_onnx_variation ln_onnx_variation_of(const ln_onnx_model *m, const char *tensor)
{
    return (ln_onnx_variation)(uintptr_t)ln_hash_find(m->varying, tensor);
}

void ln_onnx_set_variation(ln_onnx_model *m, const char *tensor, ln_onnx_variation variation)
{
    const ln_tensor_entry *te = ln_tensor_table_find(m->base.ctx->tensor_table, tensor);
    if (ln_hash_insert(m->varying, te->name, (void *)(uintptr_t)variation) < 0)
        ln_translation_fail_memory(&m->base);
}

// Sizes that are known only at run time

// The value of a small constant or bound tensor, for expressions of sizes; or NULL.
static const tl_tensor *small_value(void *node, const char *tensor)
{
    ln_onnx_node *n = node;
    const int is_small = ln_translation_tensor(&n->model->base, tensor)->len <= LN_MAXDIM;
    return is_small ? ln_onnx_bound_value(n, tensor) : NULL;
}

// The elements as the tensor's type has them; NULL: one is unknown, or no memory.
static tl_tensor *small_tensor(ln_onnx_node *n, const tl_tensor *like, const char *tensor)
{
    int64_t elements[LN_MAXDIM];
    for (int i = 0; i < like->len; i++) {
        const ln_dim size = ln_onnx_element_size(n, tensor, i);
        if (!ln_dim_is_constant(&size) ||
            (like->dtype == TL_INT32 && size.constant != (int32_t)size.constant))
            return NULL;
        elements[i] = size.constant;
    }
    tl_tensor *value = tl_tensor_zeros(like->ndim, like->dims, like->dtype);
    if (value)
        tl_convert_array(value->data, like->dtype, elements, TL_INT64, (size_t)like->len);
    return value;
}

void ln_onnx_find_small(ln_onnx_node *n, const char *tensor)
{
    ln_onnx_model *m = n->model;
    const tl_tensor *t = ln_translation_tensor(&m->base, tensor);
    const ln_tensor_entry *const te = ln_tensor_table_find(m->base.ctx->tensor_table, tensor);
    if (!te || t->len > LN_MAXDIM || (t->dtype != TL_INT64 && t->dtype != TL_INT32))
        return;
    if (ln_sizes_find_elements(te, small_value, n)) {
        ln_translation_fail_memory(&m->base);
        return;
    }
    if (!ln_sizes_has_elements(te))
        return;
    tl_tensor *value = small_tensor(n, t, tensor);
    if (value)
        ln_onnx_keep_value(m, tensor, value);
}

// Derives the sizes of the operator's outputs.
static void note_sizes(ln_onnx_node *n, const ln_op *op)
{
    if (ln_sizes_infer(op, small_value, n))
        ln_translation_fail_memory(&n->model->base);
}

ln_dim ln_onnx_element_size(ln_onnx_node *n, const char *tensor, int k)
{
    const ln_tensor_entry *const te =
        ln_tensor_table_find(n->model->base.ctx->tensor_table, tensor);
    return te ? ln_sizes_element(te, k, small_value, n) : ln_dim_unknown();
}

ln_dim ln_onnx_axis_size(const ln_onnx_node *n, const char *tensor, int axis)
{
    // After a failure, translation continues without the tensor.
    const ln_tensor_entry *const te =
        tensor && !ln_onnx_failed(n)
            ? ln_tensor_table_find(n->model->base.ctx->tensor_table, tensor)
            : NULL;
    return te ? ln_sizes_axis(te, axis) : ln_dim_unknown();
}

int64_t ln_onnx_min(const ln_onnx_node *n, const ln_dim *size)
{
    return ln_dim_lower(ln_emit_symbols(&n->emit), size);
}

int64_t ln_onnx_max(const ln_onnx_node *n, const ln_dim *size)
{
    return ln_dim_upper(ln_emit_symbols(&n->emit), size);
}

// The front end of an emitter. The emitter is the node's first member.

static const ln_onnx_node *node_of(const ln_emit *e)
{
    return (const ln_onnx_node *)e;
}

static const char *name(const ln_emit *e)
{
    return ln_onnx_text(node_of(e)->proto->name);
}

static const char *type(const ln_emit *e)
{
    return ln_onnx_text(node_of(e)->proto->op_type);
}

static const char *output(const ln_emit *e, int i)
{
    return ln_onnx_wants(node_of(e), i) ? node_of(e)->proto->output[i] : NULL;
}

static void place(const ln_emit *e, char *buf, size_t size)
{
    const char *own = name(e), *first = output(e, 0);
    snprintf(buf, size, "node '%s' (%s, opset %d)", *own || !first ? own : first, type(e),
             node_of(e)->opset);
}

static void made(ln_emit *e, int i, const char *tensor)
{
    ln_onnx_scope_set(node_of(e)->scope, node_of(e)->proto->output[i], tensor);
}

// A result varies as its most variable input does; less if it depends only on the size of that.
static void note_variation(ln_emit *e, const ln_op *op)
{
    ln_onnx_model *m = node_of(e)->model;
    ln_onnx_variation worst = ln_op_has_effect(op) ? LN_ONNX_UNKNOWN : LN_ONNX_CONSTANT;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const ln_onnx_variation of_input = ln_onnx_variation_of(m, tle->name);
        worst = of_input > worst ? of_input : worst;
    }
    if (worst == LN_ONNX_UNKNOWN && ln_op_is(op, LN_OP_SHAPE))
        worst = LN_ONNX_SIZED;
    LN_FOREACH (const ln_tensor_list_entry *, tle, worst ? op->op_arg->tensors_out : NULL)
        ln_onnx_set_variation(m, tle->name, worst);
    if (worst >= LN_ONNX_SIZED)
        note_sizes((ln_onnx_node *)e, op);
}

static void describe(const ln_emit *e, ln_missing_op *op)
{
    const ln_onnx_node *const n = (const ln_onnx_node *)e;
    op->domain = ln_onnx_is_default_domain(n->proto->domain) ? "" : n->proto->domain;
    op->version = n->opset;
}

ln_onnx_node ln_onnx_node_init(ln_onnx_scope *scope, const LnOnnx__Node *proto)
{
    static const ln_emit_front front = {&ln_onnx_attrs, place, name,           type,
                                        output,         made,  note_variation, describe};
    return (ln_onnx_node){.emit = {.translation = &scope->model->base, .front = &front},
                          .model = scope->model,
                          .scope = scope,
                          .proto = proto};
}
