// SPDX-License-Identifier: Apache-2.0
// Putting quantize and dequantize operators around layers.

#include "quantize/ln_quantize_insert.h"

#include <stdint.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"

/* An insertion under way. What is made is made as a rule makes it; `made.failed` ends everything.
 */
typedef struct insertion {
    ln_context *ctx;
    ln_rule_made made;
    ln_hash *dequantized; /* tensor -> the name of what quantized readers read in its place */
    ln_hash *weights;     /* tensor -> the number of the layer, from 1 */
} insertion;

static int fail(insertion *ins)
{
    ln_fail_memory(ins->ctx);
    ins->made.failed = 1;
    return -1;
}

static void free_op(void *op)
{
    ln_op_free_lists_too(op);
}

/* ---- making ---- */

// A constant of the model. Returns borrowed: its name, until the insertion ends.
static const char *make_constant(insertion *ins, const char *prefix, const tl_tensor *t)
{
    const char *const name = ln_rule_tensor(&ins->made, prefix);
    ln_rule_op(&ins->made, "source");
    ln_rule_output(&ins->made, "dst", name);
    ln_rule_string(&ins->made, "dtype", tl_dtype_name(t->dtype));
    ln_rule_ints(&ins->made, "dims", t->ndim, t->dims);
    ln_rule_bool(&ins->made, "from_file", LN_TRUE);
    if (!ins->made.failed && ln_weights_copy(ins->ctx->weights, name, t, t->data))
        fail(ins);
    return name;
}

// `optype` is quantize or dequantize. Returns borrowed: the name of the result.
static const char *make_step(insertion *ins, const char *optype, const char *src, const char *scale,
                             const char *zero, int axis)
{
    const char *const dst = ln_rule_tensor(&ins->made, optype);
    ln_rule_op(&ins->made, optype);
    ln_rule_input(&ins->made, "src", src);
    ln_rule_input(&ins->made, "scale", scale);
    if (zero)
        ln_rule_input(&ins->made, "zero", zero);
    ln_rule_output(&ins->made, "dst", dst);
    ln_rule_number(&ins->made, "axis", axis);
    ln_rule_number(&ins->made, "block", 0);
    return dst;
}

// Returns borrowed: the name of the tensor, quantized and dequantized.
static const char *make_pair(insertion *ins, const char *src, const ln_quantize_step *step)
{
    float scale = step->scale;
    uint8_t zero = (uint8_t)step->zero;
    const int one = 1;
    tl_tensor *const s = tl_tensor_create(&scale, 1, &one, TL_FLOAT);
    tl_tensor *const z = tl_tensor_create(&zero, 1, &one, TL_UINT8);
    const char *dst = "";
    if (s && z) {
        const char *const sname = make_constant(ins, "scale", s);
        const char *const zname = make_constant(ins, "zero", z);
        const char *const bytes = make_step(ins, "quantize", src, sname, zname, 0);
        ln_rule_string(&ins->made, "dtype", tl_dtype_name(TL_UINT8));
        dst = make_step(ins, "dequantize", bytes, sname, zname, 0);
    } else {
        fail(ins);
    }
    tl_tensor_free(s);
    tl_tensor_free(z);
    return dst;
}

/* ---- one layer ---- */

// Puts what has been made in front of the operator.
static int enter_made(insertion *ins, const ln_op *op)
{
    ln_list *const ops = ins->made.ops;
    int status = ins->made.failed ? -1 : 0;
    ins->made.ops = NULL;
    for (const ln_list *node = ops; node; node = node->next) {
        ln_list *position = op->op_arg->node;
        if (status)
            ln_op_free_lists_too(node->data);
        else
            status = ln_context_add_op(ins->ctx, &position, node->data);
    }
    ln_list_free(ops);
    return status;
}

// What layers read in place of their source. Returns borrowed; NULL with the reason in the context.
static const char *dequantized_of(insertion *ins, const ln_quantize_layer *layer, const ln_op *op)
{
    const char *const there = ln_hash_find(ins->dequantized, layer->src);
    if (there)
        return there;
    const char *const name = make_pair(ins, layer->src, &layer->step);
    if (enter_made(ins, op))
        return NULL;
    char *const key = ln_strdup(layer->src), *const value = ln_strdup(name);
    if (key && value && ln_hash_insert(ins->dequantized, key, value) >= 0)
        return value;
    ln_free(key);
    ln_free(value);
    fail(ins);
    return NULL;
}

static int set_name(insertion *ins, ln_list *tensors, const char *arg, const char *name)
{
    if (ins->made.failed)
        return -1;
    return ln_tensor_list_entry_set_name(ln_tensor_list_find_by_arg_name(tensors, arg), name)
               ? fail(ins)
               : 0;
}

/* Names of the arguments. */
typedef struct args {
    const char *src, *weight;
} args;

static args args_of(const ln_op *op)
{
    return ln_rule_is(op, "conv2d") ? (args){"src", "weight"} : (args){"src1", "src2"};
}

static int note_weight(insertion *ins, const char *name, int number)
{
    char *const key = ins->made.failed ? NULL : ln_strdup(name);
    if (key && ln_hash_insert(ins->weights, key, (void *)((intptr_t)number + 1)) >= 0)
        return 0;
    ln_free(key);
    return ins->made.failed ? -1 : fail(ins);
}

// The operator with other inputs, and with the result of the normalization where that is folded.
static int make_layer(insertion *ins, const ln_quantize_layer *layer, int number, const ln_op *op,
                      const ln_op *norm, const char *src)
{
    const args a = args_of(op);
    const char *const weight8 = make_constant(ins, "weight", layer->weight8);
    const char *const scale = make_constant(ins, "scale", layer->scale);
    const char *const weight = make_step(ins, "dequantize", weight8, scale, NULL, layer->axis);
    const char *const bias = layer->folded ? make_constant(ins, "bias", layer->folded) : NULL;
    ln_op *const copy = ins->made.failed ? NULL : ln_op_copy(op);
    ln_list *const longer = copy ? ln_list_append(ins->made.ops, copy) : NULL;
    if (!longer) {
        ln_op_free_lists_too(copy);
        return ins->made.failed ? -1 : fail(ins);
    }
    ins->made.ops = longer;
    ln_list *const in = copy->op_arg->tensors_in, *const out = copy->op_arg->tensors_out;
    return note_weight(ins, weight8, number) || set_name(ins, in, a.src, src) ||
                   set_name(ins, in, a.weight, weight) ||
                   (bias && set_name(ins, in, "bias", bias)) ||
                   (norm && set_name(ins, out, "dst",
                                     ln_tensor_list_find_name(norm->op_arg->tensors_out, "dst")))
               ? -1
               : 0;
}

static int replace(insertion *ins, const ln_op *op, const ln_op *norm)
{
    ln_list *old = ln_list_append(NULL, (ln_op *)op);
    ln_list *const longer = old && norm ? ln_list_append(old, (ln_op *)norm) : old;
    if (!longer) {
        ln_list_free(old);
        return fail(ins);
    }
    ln_list *const ops = ins->made.ops;
    ins->made.ops = NULL;
    const int status = ln_context_subgraph(ins->ctx, longer, ops);
    ln_list_free(longer);
    return status;
}

static int insert(insertion *ins, const ln_quantize_layer *layer, int number)
{
    const ln_op *const op = ln_op_table_find(ins->ctx->op_table, layer->name);
    const ln_op *const norm =
        layer->norm ? ln_op_table_find(ins->ctx->op_table, layer->norm) : NULL;
    if (!op || (layer->norm && !norm))
        return ln_fail_as(ins->ctx, LN_INTERNAL_ERROR, "the model has no operator '%s' any more",
                          op ? layer->norm : layer->name);
    const char *const src = dequantized_of(ins, layer, op);
    return !src || make_layer(ins, layer, number, op, norm, src) || replace(ins, op, norm) ? -1 : 0;
}

/* ---- all ---- */

static int begin(insertion *ins)
{
    ins->dequantized = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, ln_free);
    if (!ins->ctx->weights)
        ins->ctx->weights = ln_weights_create();
    return ins->dequantized && ins->ctx->weights ? 0 : fail(ins);
}

int ln_quantize_insert(ln_context *ctx, const ln_quantize_layers *layers, const char *is_on,
                       ln_hash *weights)
{
    insertion ins = {.ctx = ctx, .made = {.ctx = ctx, .rule = "quantize"}, .weights = weights};
    int status = begin(&ins);
    for (int i = 0; i < layers->n && !status; i++) {
        status = is_on && is_on[i] ? insert(&ins, &layers->items[i], i)
                                   : note_weight(&ins, layers->items[i].weight, i);
        ln_list_free_deep(ins.made.names, ln_free);
        ins.made.names = NULL;
    }
    ln_list_free_deep(ins.made.ops, free_op);
    ln_hash_free(ins.dequantized);
    return status;
}
