// SPDX-License-Identifier: Apache-2.0
// Operators: creates and frees them; their lists and table; calls their functions.

#include "lightnet/ln_op.h"

#include "base/ln_list_end.h"
#include "base/ln_slab.h"
#include "base/ln_name.h"
#include "ir/ln_origin.h"
#include "lightnet/ln_util.h"

static void free_op_lists_too(void *op)
{
    ln_op_free_lists_too(op);
}

static const char *name_of(const void *op)
{
    return ((const ln_op *)op)->op_arg->name;
}

const char *ln_kind_name(ln_kind kind)
{
    static const char *const names[LN_N_KINDS] = {
        [LN_KIND_OTHER] = "other",
        [LN_KIND_CONVOLUTION] = "convolution",
        [LN_KIND_PRODUCT] = "product",
        [LN_KIND_ATTENTION] = "attention",
        [LN_KIND_NORMALIZATION] = "normalization",
        [LN_KIND_REDUCTION] = "reduction",
        [LN_KIND_ELEMENTWISE] = "elementwise",
        [LN_KIND_MOVEMENT] = "movement",
        [LN_KIND_QUANTIZATION] = "quantization",
    };
    return names[(unsigned)kind < LN_N_KINDS ? kind : LN_KIND_OTHER];
}

// Creating and freeing

// An operator shares one block with its argument and its name. Type and target are those of the
// prototype, whose strings it points to, as to its argument names.
struct block {
    ln_op_arg op_arg;
    ln_op op;
    ln_slab *home;
    char name[];
};

// An operator of the prototype's type without lists.
static ln_op *create_bare(const ln_op *proto, const char *name)
{
    const ln_op_arg *arg = proto->op_arg;
    ln_slab *home;
    struct block *block = ln_slab_alloc(LN_SLAB_OPS, sizeof *block + ln_name_size(name), &home);
    if (!block)
        return NULL;
    block->home = home;
    block->op = *proto;
    block->op.op_arg = &block->op_arg;
    block->op_arg.name = ln_name_put(block->name, name);
    block->op_arg.optype = arg->optype;
    block->op_arg.arch = arg->arch;
    block->op_arg.in_arg_names = arg->in_arg_names;
    block->op_arg.out_arg_names = arg->out_arg_names;
    block->op_arg.param_arg_names = arg->param_arg_names;
    block->op_arg.param_ptypes = arg->param_ptypes;
    block->op_arg.info = arg->info;
    block->op_arg.mtype = arg->mtype;
    return &block->op;
}

ln_op *ln_op_create_from_proto(const ln_op *op_proto, const char *name, ln_list *tensors_in,
                               ln_list *tensors_out, ln_list *params, ln_hash *tensor_table)
{
    ln_op *op = create_bare(op_proto, name);
    if (!op)
        return NULL;
    op->op_arg->tensors_in = tensors_in;
    op->op_arg->tensors_out = tensors_out;
    op->op_arg->params = params;
    op->op_arg->tensor_table = tensor_table;
    return op;
}

void ln_op_free(ln_op *op)
{
    if (!op)
        return;
    ln_origin_free(op->op_arg->origin);
    ln_slab_free(op->op_arg, 0, ((struct block *)op->op_arg)->home);
}

void ln_op_free_lists_too(ln_op *op)
{
    if (!op)
        return;
    ln_tensor_list_free(op->op_arg->tensors_in);
    ln_tensor_list_free(op->op_arg->tensors_out);
    ln_param_list_free(op->op_arg->params);
    ln_op_free(op);
}

// Appends to a list that grows in place; -1: no memory, the list is as before.
static int append_tensor(ln_list **list, const char *arg_name, const char *name)
{
    ln_list *longer = ln_tensor_list_append(*list, arg_name, name);
    if (!longer)
        return -1;
    *list = longer;
    return 0;
}

static int is_tensor_name_used(const char *name, const ln_list *ops, const ln_hash *tensor_table)
{
    if (ln_tensor_table_find(tensor_table, name))
        return 1;
    for (; ops; ops = ops->next) {
        const ln_op *op = ops->data;
        if (ln_tensor_list_find_by_name(op->op_arg->tensors_out, name))
            return 1;
    }
    return 0;
}

static const ln_arg_info no_info;

// The description of the argument, or no_info.
static const ln_arg_info *find_info(const ln_arg_info *infos, const char *arg_name)
{
    const ln_arg_info *info = infos;
    while (info && !ln_streq(info->arg_name, arg_name))
        info = ln_arg_info_next(info);
    return info ? info : &no_info;
}

// The name of the new argument: the first of a variadic one.
static int print_arg_name(char *buf, const ln_arg_info *info, const char *arg_name)
{
    return ln_name_print(buf, info->variadic ? "%s0" : "%s", arg_name);
}

// Prints a name for the output of a new operator that no other tensor has.
static int print_output_name(char *buf, const char *op_name, const char *arg_name,
                             const ln_list *ops, const ln_hash *tensor_table)
{
    if (ln_name_print(buf, "%s_%s", op_name, arg_name))
        return -1;
    for (int i = 1; is_tensor_name_used(buf, ops, tensor_table); i++)
        if (ln_name_print(buf, "%s_%s%d", op_name, arg_name, i))
            return -1;
    return 0;
}

static int create_inputs(ln_op_arg *op_arg)
{
    const ln_arg_info *infos = op_arg->info ? op_arg->info->tensors_in : NULL;
    for (const char **arg = op_arg->in_arg_names; arg && *arg; arg++) {
        const ln_arg_info *info = find_info(infos, *arg);
        char arg_name[LN_MAX_NAME_LEN];
        if (info->optional)
            continue;
        if (print_arg_name(arg_name, info, *arg) ||
            append_tensor(&op_arg->tensors_in, arg_name, ""))
            return -1;
    }
    return 0;
}

static int create_outputs(ln_op_arg *op_arg, const ln_list *ops)
{
    const ln_arg_info *infos = op_arg->info ? op_arg->info->tensors_out : NULL;
    for (const char **arg = op_arg->out_arg_names; arg && *arg; arg++) {
        const ln_arg_info *info = find_info(infos, *arg);
        char arg_name[LN_MAX_NAME_LEN], name[LN_MAX_NAME_LEN];
        if (info->optional)
            continue;
        if (print_arg_name(arg_name, info, *arg) ||
            print_output_name(name, op_arg->name, arg_name, ops, op_arg->tensor_table) ||
            append_tensor(&op_arg->tensors_out, arg_name, name))
            return -1;
    }
    return 0;
}

static int create_params(ln_op_arg *op_arg)
{
    const ln_param_type *type = op_arg->param_ptypes;
    for (const char **arg = op_arg->param_arg_names; arg && *arg; arg++, type++) {
        ln_list *longer = ln_param_list_append_empty(op_arg->params, *arg, *type);
        if (!longer)
            return -1;
        op_arg->params = longer;
    }
    return 0;
}

ln_op *ln_op_create_with_names(const ln_op *op_proto, const ln_list *ops, ln_hash *tensor_table)
{
    char name[LN_MAX_NAME_LEN];
    if (ln_op_list_unique_name(ops, name, op_proto->op_arg->optype) < 0)
        return NULL;
    ln_op *op = ln_op_create_from_proto(op_proto, name, NULL, NULL, NULL, tensor_table);
    if (op && (create_inputs(op->op_arg) || create_outputs(op->op_arg, ops) ||
               create_params(op->op_arg))) {
        ln_op_free_lists_too(op);
        return NULL;
    }
    return op;
}

// Whether the table has a tensor named as the operator, or as one of its outputs would be; -1 with
// a reason: the names are too long.
static int is_op_name_used(const char *name, const ln_op_arg *proto, const ln_hash *tensor_table)
{
    if (ln_tensor_table_find(tensor_table, name))
        return 1;
    const ln_arg_info *infos = proto->info ? proto->info->tensors_out : NULL;
    for (const char **arg = proto->out_arg_names; arg && *arg; arg++) {
        char arg_name[LN_MAX_NAME_LEN], output[LN_MAX_NAME_LEN];
        if (print_arg_name(arg_name, find_info(infos, *arg), *arg) ||
            ln_name_print(output, "%s_%s", name, arg_name))
            return -1;
        if (ln_tensor_table_find(tensor_table, output))
            return 1;
    }
    return 0;
}

ln_op *ln_op_create_with_opname(const ln_op *op_proto, ln_hash *tensor_table)
{
    char name[LN_MAX_NAME_LEN];
    int is_used = 1;
    for (int i = 0; is_used > 0; i++) {
        if (ln_name_print(name, "%s%d", op_proto->op_arg->optype, i))
            return NULL;
        is_used = is_op_name_used(name, op_proto->op_arg, tensor_table);
    }
    if (is_used < 0)
        return NULL;
    return ln_op_create_from_proto(op_proto, name, NULL, NULL, NULL, tensor_table);
}

// A new operator of the prototype's type with the name, lists and context of `op`.
static ln_op *copy_as(const ln_op *proto, const ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    ln_op *copy =
        ln_op_create_from_proto(proto, op_arg->name, NULL, NULL, NULL, op_arg->tensor_table);
    if (!copy)
        return NULL;
    ln_op_arg *const to = copy->op_arg;
    to->ctx = op_arg->ctx;
    to->origin = ln_origin_keep(op_arg->origin);
    to->tensors_in = ln_tensor_list_copy(op_arg->tensors_in);
    to->tensors_out = ln_tensor_list_copy(op_arg->tensors_out);
    to->params = ln_param_list_copy(op_arg->params);
    if ((op_arg->tensors_in && !to->tensors_in) || (op_arg->tensors_out && !to->tensors_out) ||
        (op_arg->params && !to->params)) { // no memory
        ln_op_free_lists_too(copy);
        return NULL;
    }
    return copy;
}

ln_op *ln_op_copy(const ln_op *op)
{
    return copy_as(op, op);
}

ln_op *ln_op_copy_to_optype(const ln_hash *op_proto_table, const ln_op *op, const char *new_optype)
{
    const ln_op *proto = ln_hash_find(op_proto_table, new_optype);
    if (!proto) {
        ln_error_set(NULL, "unknown operator type '%s' to turn operator '%s' (%s) into", new_optype,
                     op->op_arg->name, op->op_arg->optype);
        return NULL;
    }
    return copy_as(proto, op);
}

ln_tensor_entry *ln_op_find_tensor_entry(const ln_op *op, const char *arg_name)
{
    const ln_tensor_list_entry *entry = ln_op_find_tensor_list_entry(op, arg_name);
    return entry ? ln_entry_of(entry, op->op_arg->tensor_table) : NULL;
}

ln_tensor_entry *ln_op_find_input(const ln_op_arg *op_arg, const char *arg_name)
{
    return ln_tensor_list_find_entry(op_arg->tensors_in, op_arg->tensor_table, arg_name);
}

ln_tensor_list_entry *ln_op_find_tensor_list_entry(const ln_op *op, const char *arg_name)
{
    ln_tensor_list_entry *entry = ln_tensor_list_find_by_arg_name(op->op_arg->tensors_in, arg_name);
    return entry ? entry : ln_tensor_list_find_by_arg_name(op->op_arg->tensors_out, arg_name);
}

// Entries have both names, and no arg_name occurs twice.
static int is_tensor_list_valid(const ln_list *list)
{
    for (const ln_list *l = list; l; l = l->next) {
        const ln_tensor_list_entry *entry = l->data;
        if (!entry->arg_name || !entry->name ||
            ln_tensor_list_find_by_arg_name(list, entry->arg_name) != entry)
            return 0;
    }
    return 1;
}

static int is_param_list_valid(const ln_list *list)
{
    for (const ln_list *l = list; l; l = l->next) {
        const ln_param_entry *entry = l->data;
        if (!ln_param_entry_is_valid(entry) || ln_param_list_find(list, entry->arg_name) != entry)
            return 0;
    }
    return 1;
}

int ln_op_is_valid(const ln_op *op)
{
    const ln_op_arg *op_arg = op->op_arg;
    return op_arg && op_arg->name && op_arg->optype && op_arg->arch && op_arg->tensor_table &&
           is_tensor_list_valid(op_arg->tensors_in) && is_tensor_list_valid(op_arg->tensors_out) &&
           is_param_list_valid(op_arg->params);
}

// Kernels for numbers must not read or write elements that are strings.
static int check_strings(ln_op_arg *op_arg)
{
    if (op_arg->infers || (op_arg->info && op_arg->info->strings))
        return 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op_arg->tensors_in) {
        const ln_tensor_entry *te = ln_entry_of(tle, op_arg->tensor_table);
        if (te && te->tensor->dtype == TL_STRING)
            return ln_op_fail(op_arg,
                              "'%s' has type TL_STRING, which the operator does not support",
                              tle->arg_name);
    }
    return 0;
}

int ln_op_call(ln_op *op, ln_op_func func)
{
    op->op_arg->failed = 0;
    if (func && func == op->pre_run && check_strings(op->op_arg))
        return -1;
    if (func)
        func(op->op_arg);
    return op->op_arg->failed ? -1 : 0;
}

// Lists

ln_list *ln_op_list_create_from_array(ln_op **op_array)
{
    ln_list *reversed = NULL;
    for (; *op_array; op_array++)
        if (ln_list_push(&reversed, *op_array, NULL)) {
            ln_list_free(reversed);
            return NULL;
        }
    return ln_list_reverse(reversed);
}

void ln_op_list_free(ln_list *ops)
{
    ln_list_free(ops);
}

void ln_op_list_free_lists_too(ln_list *ops)
{
    ln_list_free_deep(ops, free_op_lists_too);
}

ln_op *ln_op_list_find_by_optype(const ln_list *ops, const char *optype)
{
    for (; ops; ops = ops->next) {
        ln_op *op = ops->data;
        if (ln_streq(op->op_arg->optype, optype))
            return op;
    }
    return NULL;
}

ln_op *ln_op_array_find_by_optype(ln_op *const ops[], const char *optype)
{
    for (; *ops; ops++)
        if (ln_streq((*ops)->op_arg->optype, optype))
            return *ops;
    return NULL;
}

ln_op *ln_op_list_find_by_name(const ln_list *ops, const char *name)
{
    for (; ops; ops = ops->next) {
        ln_op *op = ops->data;
        if (ln_streq(op->op_arg->name, name))
            return op;
    }
    return NULL;
}

static ln_op_func pre_run_of(const ln_op *op)
{
    return op->pre_run;
}

static ln_op_func static_run_of(const ln_op *op)
{
    return op->static_run;
}

static ln_op_func run_of(const ln_op *op)
{
    return op->run;
}

static int call_all(ln_list *ops, ln_op_func (*func_of)(const ln_op *))
{
    for (; ops; ops = ops->next)
        if (ln_op_call(ops->data, func_of(ops->data)))
            return -1;
    return 0;
}

int ln_op_list_do_pre_run(ln_list *ops)
{
    return call_all(ops, pre_run_of);
}

int ln_op_list_do_static_run(ln_list *ops)
{
    return call_all(ops, static_run_of);
}

int ln_op_list_do_run(ln_list *ops)
{
    return call_all(ops, run_of);
}

int ln_op_list_do_post_run(ln_list *ops)
{
    int rc = 0;
    for (; ops; ops = ops->next) {
        ln_op *op = ops->data;
        if (ln_op_call(op, op->post_run))
            rc = -1;
    }
    return rc;
}

int ln_op_list_unique_name(const ln_list *ops, char *buf, const char *prefix)
{
    return ln_name_unique(ops, name_of, buf, prefix);
}

// The table

ln_hash *ln_op_table_create(void)
{
    return ln_hash_create(ln_str_hash, ln_str_cmp, NULL, free_op_lists_too);
}

int ln_op_table_insert(ln_hash *table, ln_op *op)
{
    return ln_hash_insert(table, op->op_arg->name, op);
}

int ln_op_table_remove(ln_hash *table, const char *name)
{
    return ln_hash_remove(table, name);
}

ln_op *ln_op_table_find(const ln_hash *table, const char *name)
{
    return name ? ln_hash_find(table, name) : NULL;
}

void ln_op_table_free(ln_hash *table)
{
    ln_hash_free(table);
}

int ln_op_table_vset_param(ln_hash *table, const char *opname, const char *pname, va_list ap)
{
    const ln_op *op = ln_op_table_find(table, opname);
    if (!op)
        return ln_error_set(NULL, "unknown operator '%s'", opname ? opname : "");
    ln_param_entry *entry = ln_param_list_find(op->op_arg->params, pname);
    if (!entry)
        return ln_error_set(NULL, "operator '%s' (%s) has no parameter '%s'", opname,
                            op->op_arg->optype, pname ? pname : "");
    return ln_param_vset(entry, ap);
}

int ln_op_table_set_param(ln_hash *table, const char *opname, const char *pname, ...)
{
    va_list ap;
    va_start(ap, pname);
    const int rc = ln_op_table_vset_param(table, opname, pname, ap);
    va_end(ap);
    return rc;
}
