// SPDX-License-Identifier: Apache-2.0
// Reads operators and their tensors from the JSON intermediate representation.

#include "front/json/ln_ir_reader.h"

#include <stdio.h>
#include <string.h>

#include "lightnet/ln_arch.h"
#include "lightnet/ln_tensor.h"
#include "lightnet/ln_util.h"

// Tensors

static int define_tensor(const ln_ir_reader *r, const ln_ir_element *e, const char *name)
{
    if (ln_hash_find(r->tensors, name))
        return ln_ir_fail(r, "%stensor '%s' is already defined, expected a new name", e->label,
                          name);
    return ln_hash_insert(r->tensors, name, (void *)r->optype) < 0 ? ln_ir_fail_last(r) : 0;
}

static int read_tensor(const ln_ir_reader *r, const json_t *op, const ln_ir_element *e,
                       int is_output, ln_tensor_list_entry **entry)
{
    static const char *const keys[] = {"arg_name", "name", "offset", NULL};
    const char *arg_name = ln_ir_get_name(r, e, "arg_name");
    const char *name = arg_name ? ln_ir_get_name(r, e, "name") : NULL;
    size_t offset = 0;
    if (!name || ln_ir_take_arg_name(r, e, op, arg_name) || ln_ir_warn_of_unknown(r, e, keys))
        return -1;
    if (r->target && ln_ir_get_size(r, e, "offset", &offset))
        return -1;
    // Inputs are read before outputs, so an operator cannot read its own outputs.
    if (!is_output && !ln_hash_find(r->tensors, name))
        return ln_ir_fail(r,
                          "%stensor '%s' is not defined, expected an output of an earlier operator",
                          e->label, name);
    if (is_output && define_tensor(r, e, name))
        return -1;
    *entry = ln_tensor_list_entry_create(arg_name, name);
    if (!*entry)
        return ln_ir_fail_last(r);
    (*entry)->offset = offset;
    return 0;
}

static int read_tensors(const ln_ir_reader *r, const json_t *op, const json_t *array, int is_output,
                        ln_list **list)
{
    const char *key = is_output ? "tensors_out" : "tensors_in";
    for (size_t i = 0; i < json_array_size(array); i++) {
        ln_ir_element e;
        ln_tensor_list_entry *entry = NULL;
        if (ln_ir_get_element(r, &e, array, key, i) || read_tensor(r, op, &e, is_output, &entry))
            return -1;
        if (ln_ir_push(r, list, entry)) {
            ln_tensor_list_entry_free(entry);
            return -1;
        }
    }
    *list = ln_list_reverse(*list);
    return 0;
}

// Operators

// The abstract operator of a target's operator, such as "create" of "create_gpu"; NULL: none.
static const char *abstract_of(const char *optype)
{
    char stem[LN_MAX_NAME_LEN];
    const char *const end = strrchr(optype, '_');
    snprintf(stem, sizeof(stem), "%.*s", end ? (int)(end - optype) : 0, optype);
    const ln_op *proto = ln_hash_find(LN_ARCH.op_proto_table, stem);
    return proto && ln_streq(proto->op_arg->arch, "none") ? proto->op_arg->optype : NULL;
}

// The known operator type closest to an unknown one, or NULL.
static const char *closest_to(const ln_ir_reader *r, const char *optype)
{
    const char *closest = r->target || !LN_ARCH.op_proto_table ? NULL : abstract_of(optype);
    if (closest)
        return closest;
    LN_FOREACH (const ln_arch *, arch, (ln_list *)ln_arch_list())
        for (ln_op **op = arch->reg_ops; op && *op; op++)
            closest = ln_closer_name(optype, closest, (*op)->op_arg->optype);
    return closest;
}

// NULL after a failure.
static const ln_op *find_proto(ln_ir_reader *r, const char *optype)
{
    // Without any architecture, the table is missing.
    const ln_op *proto =
        LN_ARCH.op_proto_table ? ln_hash_find(LN_ARCH.op_proto_table, optype) : NULL;
    if (proto)
        return proto;
    const char *const closest = closest_to(r, optype);
    if (r->target && !(LN_ARCH.arch_table && ln_hash_find(LN_ARCH.arch_table, r->target)))
        ln_ir_fail(r, "unknown optype '%s'; the model is compiled for '%s', an unknown target",
                   optype, r->target);
    else if (closest)
        ln_ir_fail(r, "unknown optype '%s', did you mean '%s'?", optype, closest);
    else
        ln_ir_fail(r, "unknown optype '%s'", optype);
    return NULL;
}

static int read_opname(ln_ir_reader *r, const ln_ir_element *e)
{
    const char *name = ln_ir_get_name(r, e, "name");
    if (!name)
        return -1;
    if (ln_hash_find(r->opnames, name))
        return ln_ir_fail(r, "'name' '%s' is taken, expected one that is unique in the model",
                          name);
    if (ln_hash_insert(r->opnames, name, (void *)name) < 0)
        return ln_ir_fail_last(r);
    r->opname = name;
    return 0;
}

static int read_scratch(const ln_ir_reader *r, const ln_ir_element *e, ln_op_arg *op_arg)
{
    static const char *const keys[] = {"size", "offset", NULL};
    ln_ir_element scratch = {.json = json_object_get(e->json, "scratch"), .label = "scratch: "};
    if (!r->target || !scratch.json)
        return 0;
    if (!ln_ir_get(r, e, "scratch", LN_IR_OBJECT) || ln_ir_warn_of_unknown(r, &scratch, keys))
        return -1;
    return -(ln_ir_get_size(r, &scratch, "size", &op_arg->scratch_size) ||
             ln_ir_get_size(r, &scratch, "offset", &op_arg->scratch_offset));
}

static ln_op *create_op(ln_ir_reader *r, const ln_ir_element *e, const ln_op *proto)
{
    ln_list *ins = NULL, *outs = NULL, *params = NULL;
    ln_op *op = NULL;
    const json_t *in_array = ln_ir_get(r, e, "tensors_in", LN_IR_ARRAY);
    const json_t *out_array = in_array ? ln_ir_get(r, e, "tensors_out", LN_IR_ARRAY) : NULL;
    const json_t *param_array = out_array ? ln_ir_get(r, e, "params", LN_IR_ARRAY) : NULL;
    if (!param_array || read_tensors(r, e->json, in_array, 0, &ins) ||
        read_tensors(r, e->json, out_array, 1, &outs) ||
        ln_ir_read_params(r, e->json, param_array, proto->op_arg, &params))
        goto fail;
    op = ln_op_create_from_proto(proto, r->opname, ins, outs, params, r->ctx->tensor_table);
    if (!op) {
        ln_ir_fail_last(r);
        goto fail;
    }
    op->op_arg->ctx = r->ctx;
    return op;
fail:
    ln_tensor_list_free(ins);
    ln_tensor_list_free(outs);
    ln_param_list_free(params);
    return NULL;
}

// NULL after a failure.
static ln_op *read_op(ln_ir_reader *r, const ln_ir_element *e)
{
    static const char *const keys[] = {"name",   "optype",  "tensors_in", "tensors_out",
                                       "params", "scratch", "nodes",      NULL};
    if (read_opname(r, e))
        return NULL;
    const char *optype = ln_ir_get_name(r, e, "optype");
    const ln_op *proto = optype ? find_proto(r, optype) : NULL;
    r->optype = optype;
    if (!proto || ln_ir_warn_of_unknown(r, e, keys))
        return NULL;
    ln_op *op = create_op(r, e, proto);
    if (op && (read_scratch(r, e, op->op_arg) || ln_ir_give_nodes(r, e, op))) {
        ln_op_free_lists_too(op);
        return NULL;
    }
    return op;
}

int ln_ir_read_ops(ln_ir_reader *r, const ln_ir_element *top, ln_list **ops)
{
    const json_t *array = ln_ir_get(r, top, "ops", LN_IR_ARRAY);
    if (!array)
        return -1;
    for (r->index = 0; r->index < json_array_size(array); r->index++) {
        ln_ir_element e;
        if (ln_ir_get_element(r, &e, array, "ops", r->index))
            return -1;
        e.label[0] = '\0'; // the location in a message contains it
        r->at = "ops";
        r->in_op = 1;
        r->opname = r->optype = NULL;
        ln_op *op = read_op(r, &e);
        if (!op)
            return -1;
        if (ln_ir_push(r, ops, op)) {
            ln_op_free_lists_too(op);
            return -1;
        }
        r->in_op = 0;
        r->at = NULL;
    }
    *ops = ln_list_reverse(*ops);
    return 0;
}
