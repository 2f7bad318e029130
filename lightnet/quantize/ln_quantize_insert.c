// SPDX-License-Identifier: Apache-2.0
// Inserts quantize and dequantize operators around layers.

#include "quantize/ln_quantize_insert.h"

#include <stdint.h>

#include "base/ln_list_end.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_rule.h"
#include "lightnet/ln_util.h"

// The state of an insertion. Operators are created as in rules, none after `made.failed`.
typedef struct insertion {
    ln_context *ctx;
    const ln_quantize_layers *layers;
    ln_rule_made made;
    ln_hash *dequantized; // tensor -> the name of the tensor that quantized readers read instead
    ln_hash *weights;     // tensor -> the number of the layer, from 1
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

// Creating operators

// Creates a constant of the model. Returns borrowed: its name, until the insertion ends.
static const char *make_constant(insertion *ins, const char *prefix, const tl_tensor *t)
{
    const char *const name = ln_rule_tensor(&ins->made, prefix);
    ln_rule_op(&ins->made, LN_OP_SOURCE);
    ln_rule_output(&ins->made, "dst", name);
    ln_rule_string(&ins->made, "dtype", tl_dtype_name(t->dtype));
    ln_rule_ints(&ins->made, "dims", t->ndim, t->dims);
    ln_rule_bool(&ins->made, "from_file", LN_TRUE);
    if (!ins->made.failed && ln_weights_copy(ins->ctx->weights, name, t, t->data))
        fail(ins);
    return name;
}

// `optype` is quantize or dequantize. Returns borrowed: the name of the result.
static const char *make_conversion(insertion *ins, const char *optype, const char *src,
                                   const char *scale, const char *zero, int axis)
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
static const char *make_round_trip(insertion *ins, const char *src, const ln_quantize_step *step)
{
    float scale = step->scale;
    uint8_t zero = (uint8_t)step->zero;
    tl_tensor *const s = tl_tensor_create(&scale, 0, NULL, TL_FLOAT);
    tl_tensor *const z = tl_tensor_create(&zero, 0, NULL, TL_UINT8);
    const char *dst = "";
    if (s && z) {
        const char *const sname = make_constant(ins, "scale", s);
        const char *const zname = make_constant(ins, "zero", z);
        const char *const bytes = make_conversion(ins, LN_OP_QUANTIZE, src, sname, zname, 0);
        ln_rule_string(&ins->made, "dtype", tl_dtype_name(TL_UINT8));
        dst = make_conversion(ins, LN_OP_DEQUANTIZE, bytes, sname, zname, 0);
    } else {
        fail(ins);
    }
    tl_tensor_free(s);
    tl_tensor_free(z);
    return dst;
}

// One layer

// Inserts the created operators after the producer of the tensor, and so before all its readers.
static int insert_created(insertion *ins, const char *src)
{
    const ln_op *const producer = ln_context_creater(ins->ctx, src);
    const ln_list *const after = producer ? producer->op_arg->node->next : NULL;
    const ln_op *const next = after ? after->data : NULL;
    ln_list *const ops = ins->made.ops;
    int status = ins->made.failed ? -1 : 0;
    ins->made.ops = NULL;
    for (const ln_list *node = ops; node; node = node->next) {
        ln_list *position = next ? next->op_arg->node : NULL;
        if (status)
            ln_op_free_lists_too(node->data);
        else
            status = ln_context_add_op(ins->ctx, &position, node->data);
    }
    ln_list_free(ops);
    return status;
}

// The name of the tensor after quantize and dequantize, which are inserted once. Returns borrowed;
// NULL with the reason in the context.
static const char *dequantized_of(insertion *ins, const char *src)
{
    const char *const known = ln_hash_find(ins->dequantized, src);
    if (known)
        return known;
    const char *const name =
        make_round_trip(ins, src, &ln_quantize_layers_source(ins->layers, src)->step);
    if (insert_created(ins, src))
        return NULL;
    char *const key = ln_strdup(src), *const value = ln_strdup(name);
    if (key && value && ln_hash_insert(ins->dequantized, key, value) >= 0)
        return value;
    ln_free(key);
    ln_free(value);
    return fail(ins), NULL;
}

static int set_name(insertion *ins, ln_list *tensors, const char *arg, const char *name)
{
    if (ins->made.failed)
        return -1;
    return ln_tensor_list_entry_set_name(ln_tensor_list_find_by_arg_name(tensors, arg), name)
               ? fail(ins)
               : 0;
}

// Names of the arguments.
typedef struct args {
    const char *src, *weight;
} args;

static int note_weight(insertion *ins, const char *name, int number)
{
    char *const key = ins->made.failed ? NULL : ln_strdup(name);
    if (key && ln_hash_insert(ins->weights, key, (void *)((intptr_t)number + 1)) >= 0)
        return 0;
    ln_free(key);
    return ins->made.failed ? -1 : fail(ins);
}

// Creates the layer with 8-bit inputs; if a normalization is folded, with its output.
static int make_layer(insertion *ins, const ln_quantize_layer *layer, int number, const ln_op *op,
                      const ln_op *norm, const char *src)
{
    const args a = ln_op_is(op, LN_OP_MATMUL) ? (args){"src1", "src2"} : (args){"src", "weight"};
    const char *const weight8 = make_constant(ins, "weight", layer->weight8);
    const char *const scale = make_constant(ins, "scale", layer->scale);
    const char *const weight =
        make_conversion(ins, LN_OP_DEQUANTIZE, weight8, scale, NULL, layer->axis);
    const char *const bias = layer->folded ? make_constant(ins, "bias", layer->folded) : NULL;
    ln_op *const copy = ins->made.failed ? NULL : ln_op_copy(op);
    if (ln_list_add(&ins->made.ops, copy, NULL)) {
        ln_op_free_lists_too(copy);
        return ins->made.failed ? -1 : fail(ins);
    }
    ln_list *const in = copy->op_arg->tensors_in, *const out = copy->op_arg->tensors_out;
    return -(note_weight(ins, weight8, number) || set_name(ins, in, a.src, src) ||
             set_name(ins, in, a.weight, weight) || (bias && set_name(ins, in, "bias", bias)) ||
             (norm && set_name(ins, out, "dst", ln_op_output_name(norm, "dst"))));
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
    const char *const src = dequantized_of(ins, layer->src);
    return -(!src || make_layer(ins, layer, number, op, norm, src) || replace(ins, op, norm));
}

// Joints

static int insert_joint(insertion *ins, const ln_quantize_joint *joint)
{
    const char *srcs[LN_QUANTIZE_JOINT_SRCS] = {NULL};
    for (int i = 0; joint->args[i]; i++)
        if (!(srcs[i] = dequantized_of(ins, joint->srcs[i])))
            return -1;
    const ln_op *const op = ln_op_table_find(ins->ctx->op_table, joint->name);
    ln_op *const copy = op ? ln_op_copy(op) : NULL;
    ins->made.ops = copy ? ln_list_append(NULL, copy) : NULL;
    if (!ins->made.ops) {
        ln_op_free_lists_too(copy);
        return fail(ins);
    }
    for (int i = 0; joint->args[i]; i++)
        if (set_name(ins, copy->op_arg->tensors_in, joint->args[i], srcs[i]))
            return -1;
    return replace(ins, op, NULL);
}

// Joints between layers in 8 bits: data flow forward from layers and backward from layers

// The role of an operator in the flow of 8 bits.
typedef enum role {
    ROLE_OTHER,
    ROLE_LAYER,   // in 8 bits
    ROLE_JOINT,   // that is usable
    ROLE_THROUGH, // can be fused into a layer, or moves elements
} role;

// Flags of a tensor.
enum { FROM_LAYER = 1, TO_LAYER = 2 };

typedef struct flow {
    const ln_quantize_layers *layers;
    ln_hash *roles; // operator -> role; ROLE_THROUGH and ROLE_OTHER are not in it
    ln_hash *marks; // tensor -> FROM_LAYER, TO_LAYER
} flow;

// Whether the operator can be fused into a layer, or moves or selects elements.
static int passes_through(const ln_op *op)
{
    int n_computed = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        n_computed += !ln_entry_of(tle, op->op_arg->tensor_table)->isconst;
    return ln_op_has_trait(op, LN_TRAIT_MOVES | LN_TRAIT_SELECTS) ||
           (ln_op_has_trait(op, LN_TRAIT_ELEMENTWISE) && n_computed == 1);
}

static role role_of(const flow *f, const ln_op *op)
{
    const role known = (role)(intptr_t)ln_hash_find(f->roles, op->op_arg->name);
    return known ? known : passes_through(op) ? ROLE_THROUGH : ROLE_OTHER;
}

static int is_marked(const flow *f, const char *tensor, int mark)
{
    return ((int)(intptr_t)ln_hash_find(f->marks, tensor) & mark) != 0;
}

// Whether there are tensors other than constants, and all of these have the mark.
static int are_marked(const flow *f, const ln_list *tensors, const ln_hash *table, int mark)
{
    int n = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors) {
        if (ln_entry_of(tle, table)->isconst)
            continue;
        if (!is_marked(f, tle->name, mark))
            return 0;
        n++;
    }
    return n > 0;
}

static int mark_all(const flow *f, const ln_list *tensors, int mark)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors) {
        const int marks = (int)(intptr_t)ln_hash_find(f->marks, tle->name) | mark;
        if (ln_hash_insert(f->marks, tle->name, (void *)(intptr_t)marks) < 0)
            return -1;
    }
    return 0;
}

// Marks the outputs of a layer; of others that pass 8 bits on, if all computed inputs are marked.
static int flow_forward(const flow *f, const ln_op *op)
{
    const role r = role_of(f, op);
    const int passes = r == ROLE_JOINT || r == ROLE_THROUGH;
    return r == ROLE_LAYER || (passes && are_marked(f, op->op_arg->tensors_in,
                                                    op->op_arg->tensor_table, FROM_LAYER))
               ? mark_all(f, op->op_arg->tensors_out, FROM_LAYER)
               : 0;
}

// Marks the inputs of a layer; of others, if their output is marked: leads to a layer.
static int flow_backward(const flow *f, const ln_op *op)
{
    const role r = role_of(f, op);
    const ln_tensor_list_entry *const dst =
        op->op_arg->tensors_out ? op->op_arg->tensors_out->data : NULL;
    const int leads =
        dst && is_marked(f, dst->name, TO_LAYER) &&
        (r == ROLE_THROUGH || (r == ROLE_JOINT && is_marked(f, dst->name, FROM_LAYER)));
    return r == ROLE_LAYER || leads ? mark_all(f, op->op_arg->tensors_in, TO_LAYER) : 0;
}

static int set_role(const flow *f, const char *op, role r)
{
    return ln_hash_insert(f->roles, op, (void *)(intptr_t)r) < 0 ? -1 : 0;
}

static int is_usable_joint(const ln_quantize_layers *layers, const ln_quantize_joint *joint)
{
    for (int i = 0; joint->args[i]; i++)
        if (!ln_quantize_layers_source(layers, joint->srcs[i])->is_usable)
            return 0;
    return 1;
}

static int set_roles(const flow *f, const char *is_on)
{
    for (int i = 0; i < f->layers->n; i++)
        if (is_on[i] && set_role(f, f->layers->items[i].name, ROLE_LAYER))
            return -1;
    for (int i = 0; i < f->layers->n_joints; i++)
        if (is_usable_joint(f->layers, &f->layers->joints[i]) &&
            set_role(f, f->layers->joints[i].name, ROLE_JOINT))
            return -1;
    return 0;
}

static int flow_all(const flow *f, const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (flow_forward(f, op))
            return -1;
    ln_list *const backward = ln_list_reverse(ln_list_copy(ctx->ops));
    int status = backward || !ctx->ops ? 0 : -1;
    for (const ln_list *node = backward; node && !status; node = node->next)
        status = flow_backward(f, node->data);
    ln_list_free(backward);
    return status;
}

static int is_between(const flow *f, const ln_context *ctx, const ln_quantize_joint *joint)
{
    const ln_op *const op = ln_op_table_find(ctx->op_table, joint->name);
    const ln_tensor_list_entry *const dst = op->op_arg->tensors_out->data;
    return ln_hash_find(f->roles, joint->name) && is_marked(f, dst->name, FROM_LAYER) &&
           is_marked(f, dst->name, TO_LAYER);
}

// Sets between[i] of each joint. -1: no memory.
static int find_between(const insertion *ins, const char *is_on, char *between)
{
    const flow f = {ins->layers, ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL),
                    ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL)};
    const int status = -(!f.roles || !f.marks || set_roles(&f, is_on) || flow_all(&f, ins->ctx));
    for (int i = 0; i < ins->layers->n_joints && !status; i++)
        between[i] = (char)is_between(&f, ins->ctx, &ins->layers->joints[i]);
    ln_hash_free(f.roles);
    ln_hash_free(f.marks);
    return status;
}

// All

// Frees the names of created tensors: the operators have copies.
static void forget_names(insertion *ins)
{
    ln_list_free_deep(ins->made.names, ln_free);
    ins->made.names = NULL;
}

// Finds the joints first: quantized layers change the data flow.
static int insert_all(insertion *ins, const ln_quantize_mix *mix, char *between)
{
    const int has_joints = mix->has_joints && mix->is_on;
    if (has_joints && find_between(ins, mix->is_on, between))
        return fail(ins);
    int status = 0;
    for (int i = 0; i < ins->layers->n && !status; i++) {
        const ln_quantize_layer *const layer = &ins->layers->items[i];
        const int is_on = mix->is_on && mix->is_on[i];
        status = is_on ? insert(ins, layer, i) : note_weight(ins, layer->weight, i);
        forget_names(ins);
    }
    for (int i = 0; i < ins->layers->n_joints && has_joints && !status; i++) {
        if (between[i])
            status = insert_joint(ins, &ins->layers->joints[i]);
        forget_names(ins);
    }
    return status;
}

int ln_quantize_insert(ln_context *ctx, const ln_quantize_layers *layers,
                       const ln_quantize_mix *mix, ln_hash *weights)
{
    insertion ins = {
        .ctx = ctx, .layers = layers, .made = {.ctx = ctx, .rule = "quantize"}, .weights = weights};
    char *const between = ln_alloc((size_t)layers->n_joints + 1);
    ins.dequantized = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, ln_free);
    if (!ctx->weights)
        ctx->weights = ln_weights_create();
    const int has_memory = between && ins.dequantized && ctx->weights;
    const int status = has_memory ? insert_all(&ins, mix, between) : fail(&ins);
    ln_list_free_deep(ins.made.ops, free_op);
    forget_names(&ins);
    ln_hash_free(ins.dequantized);
    ln_free(between);
    return status;
}
