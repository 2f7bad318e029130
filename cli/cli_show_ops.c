// SPDX-License-Identifier: Apache-2.0
// The table of a compiled model's operators, as lightnet show prints it.

#include "cli_show_ops.h"

#include <stdio.h>

#include "cli_msg.h"

enum { NAME_WIDTH = 28 };

typedef struct table {
    const ln_context *ctx;
    ln_hash *seen; // names of operators whose parameters are counted
    double params, macs, size;
} table;

// Prints a whole number, a large one with a prefix of the decimal system, and a dash for nothing.
static const char *number(char text[16], double x)
{
    static const char prefixes[] = "kMGTP";
    if (x < 99999.5) {
        if (x > 0)
            snprintf(text, 16, "%.0f", x);
        else
            snprintf(text, 16, "-");
        return text;
    }
    const char *prefix = prefixes;
    x /= 1000;
    while (x >= 999.95 && prefix[1]) {
        x /= 1000;
        prefix++;
    }
    snprintf(text, 16, "%.1f %c", x, *prefix);
    return text;
}

/* Parameters: the constants that the model brings, on which what the operator reads depends. */

static int push_makers(const table *t, const ln_op *op, ln_list **todo)
{
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_in)
    {
        const ln_op *maker = ln_entry_creater(ln_entry_of(tle, t->ctx->tensor_table));
        if (!ln_entry_of(tle, t->ctx->tensor_table)->isconst || !maker ||
            ln_hash_find(t->seen, maker->op_arg->name))
            continue;
        ln_list *longer = ln_list_prepend(*todo, (void *)maker);
        if (!longer || ln_hash_insert(t->seen, maker->op_arg->name, (void *)maker) < 0)
            return cli_fail_memory();
        *todo = longer;
    }
    return 0;
}

static double elements_of(const table *t, const ln_op *op)
{
    double n = 0;
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_in ? NULL : op->op_arg->tensors_out)
    {
        n += ln_entry_of(tle, t->ctx->tensor_table)->tensor->len;
    }
    return n;
}

static int count_params(const table *t, const ln_op *op, double *params)
{
    ln_list *todo = NULL;
    int status = push_makers(t, op, &todo);
    *params = 0;
    while (todo && !status) {
        const ln_op *maker = todo->data;
        todo = ln_list_remove_nth(todo, 0);
        *params += elements_of(t, maker);
        status = push_makers(t, maker, &todo);
    }
    ln_list_free(todo);
    return status;
}

/* Lines */

static double size_of(const table *t, const ln_op *op)
{
    double size = 0;
    const ln_tensor_list_entry *tle;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        const ln_tensor_entry *te = ln_entry_of(tle, t->ctx->tensor_table);
        size += (double)ln_tensor_entry_capacity(te);
    }
    return size;
}

static void print_line(const char *name, const char *optype, const char *shape, double params,
                       double macs, double size)
{
    char p[16], m[16], s[16];
    printf("%-*.*s  %-24s  %-20s %9s %9s %9s\n", NAME_WIDTH, NAME_WIDTH, name, optype, shape,
           number(p, params), number(m, macs), number(s, size));
}

static int print_op(table *t, const ln_op *op)
{
    char shape[LN_MAX_SHAPE] = "";
    double params;
    const ln_op_arg *op_arg = op->op_arg;
    const ln_list *outs = op_arg->tensors_out;
    if (op_arg->at_load || !op->run)
        return 0;
    if (count_params(t, op, &params))
        return CLI_FAILED;
    if (outs) {
        const ln_tensor_list_entry *tle = outs->data;
        const tl_tensor *tensor = ln_entry_of(tle, t->ctx->tensor_table)->tensor;
        ln_sprint_shape(shape, sizeof(shape), tensor->ndim, tensor->dims);
    }
    const double size = size_of(t, op);
    print_line(op_arg->name, op_arg->optype, shape, params, op_arg->macs, size);
    t->params += params;
    t->macs += op_arg->macs;
    t->size += size;
    return 0;
}

int cli_show_ops(const ln_context *ctx)
{
    const ln_op *op;
    table t = {.ctx = ctx, .seen = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL)};
    int status = t.seen ? 0 : cli_fail_memory();
    printf("\n%-*s  %-24s  %-20s %9s %9s %9s\n", NAME_WIDTH, "operator", "type", "output", "params",
           "MACs", "bytes");
    LN_LIST_FOREACH(op, ctx->ops)
    {
        status = status ? status : print_op(&t, op);
    }
    if (!status)
        print_line("total", "", "", t.params, t.macs, t.size);
    ln_hash_free(t.seen);
    return status;
}
