// SPDX-License-Identifier: Apache-2.0
// The error of each operator, relative to a program of another precision.
//
// Two programs differ in their operators and in the names of tensors. Operators correspond that
// complete the same nodes of the model, if their first outputs have one shape. An operator
// completes its nodes if no reader of its results computes some of them, too, as an activation that
// one of the programs has fused into a matrix multiplication.

#include "report/cli_report_accuracy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/cli_measure.h"
#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"
#include "output/cli_compare.h"

enum { KEY_SIZE = LN_MAXLINE };

// Returns new: the program after a run, with all its tensors; NULL after a message.
static ln_context *run_kept(const cli_options *opt)
{
    ln_context *const ctx = cli_model_read(opt);
    if (!ctx)
        return NULL;
    ln_context_keep_all(ctx);
    if (!cli_model_load(ctx, opt) && !cli_model_set_inputs(ctx, opt, 1)) {
        if (!ln_context_run(ctx))
            return ctx;
        cli_model_fail(ctx, opt);
    }
    ln_context_free(ctx);
    return NULL;
}

// The first output of an operator of a run, if its elements can be compared; else NULL.
static const tl_tensor *result_of(const ln_context *ctx, const ln_op *op)
{
    if (!op->run || op->op_arg->at_load || !op->op_arg->tensors_out || !op->op_arg->tensors_in)
        return NULL;
    const ln_tensor_entry *const te = ln_entry_of(op->op_arg->tensors_out->data, ctx->tensor_table);
    const int is_plain = te->mtype == LN_MEM_CPU && !te->rows && te->tensor->dtype != TL_STRING;
    return is_plain && te->tensor->data && te->tensor->len > 0 ? te->tensor : NULL;
}

// The numbers of its nodes: "3 4 5 ". Returns `key`.
static char *write_key(char key[KEY_SIZE], const ln_op_arg *op)
{
    size_t len = 0;
    *key = '\0';
    for (int i = 0; i < ln_op_num_nodes(op) && len < KEY_SIZE - 16; i++)
        len += (size_t)snprintf(key + len, 16, "%d ", ln_op_node(op, i)->number);
    return key;
}

// Nodes are in the order of their numbers.
static int share_nodes(const ln_op_arg *a, const ln_op_arg *b)
{
    for (int i = 0, k = 0; i < ln_op_num_nodes(a) && k < ln_op_num_nodes(b);) {
        const int order = ln_op_node(a, i)->number - ln_op_node(b, k)->number;
        if (!order)
            return 1;
        i += order < 0;
        k += order > 0;
    }
    return 0;
}

// The operator that computes the elements of a tensor; NULL: none does. Views share those of their
// first input.
static ln_op *computer_of(const ln_context *ctx, const char *tensor)
{
    ln_op *op = ln_context_creater(ctx, tensor);
    while (op && !op->run && op->op_arg->tensors_in) {
        const ln_tensor_list_entry *const first = op->op_arg->tensors_in->data;
        op = ln_context_creater(ctx, first->name);
    }
    return op;
}

// Adds the operators whose results are read by one that computes some of their nodes, too.
static int find_inner(ln_hash *inner, const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops)
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->run ? op->op_arg->tensors_in : NULL) {
            ln_op *const source = computer_of(ctx, tle->name);
            if (source && share_nodes(source->op_arg, op->op_arg) &&
                ln_hash_insert(inner, source->op_arg->name, source) < 0)
                return -1;
        }
    return 0;
}

// Maps the nodes of an operator to it; nodes that several operators complete, to NULL.
static int add_result(ln_hash *results, ln_op *op)
{
    char key[KEY_SIZE];
    if (!*write_key(key, op->op_arg))
        return 0;
    char *const copy = ln_strdup(key);
    const int is_known = ln_hash_find_extended(results, key, NULL, NULL);
    if (copy && ln_hash_insert(results, copy, is_known ? NULL : op) >= 0)
        return 0;
    ln_free(copy);
    return -1;
}

// Maps nodes to the operator that completes them. Returns new (ln_hash_free); NULL: no memory.
static ln_hash *find_results(const ln_context *ctx)
{
    ln_hash *const results = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    ln_hash *const inner = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    int failed = !results || !inner || find_inner(inner, ctx);
    LN_FOREACH (ln_op *, op, failed ? NULL : ctx->ops)
        if (!failed && result_of(ctx, op) && !ln_hash_find(inner, op->op_arg->name))
            failed = add_result(results, op);
    ln_hash_free(inner);
    if (!failed)
        return results;
    ln_hash_free(results);
    return NULL;
}

// Two programs whose results are compared.
typedef struct programs {
    const ln_context *ctx, *other;
    ln_hash *results, *other_results;
} programs;

// The result of the other program for an operator; NULL: there is none of the same shape.
static const tl_tensor *counterpart_of(const programs *p, const char *key, const tl_tensor *got)
{
    const ln_op *const op = ln_hash_find(p->other_results, key);
    const tl_tensor *const found = op ? result_of(p->other, op) : NULL;
    return found && tl_tensor_issameshape(found, got) ? found : NULL;
}

static void add_error(cli_json *json, const ln_op *op, const tl_tensor *got,
                      const tl_tensor *expected)
{
    int n_beyond;
    const double error = cli_relative_error(got, expected, &n_beyond);
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "operator", op->op_arg->name);
    cli_json_number(json, "error", error);
    cli_json_count(json, "not_finite", (uint64_t)n_beyond);
    cli_json_close(json);
}

static void add_errors(cli_json *json, const programs *p)
{
    char key[KEY_SIZE];
    cli_json_open(json, "operators", '[');
    LN_FOREACH (const ln_op *, op, p->ctx->ops) {
        const tl_tensor *const got = result_of(p->ctx, op);
        if (!got || ln_hash_find(p->results, write_key(key, op->op_arg)) != op)
            continue;
        const tl_tensor *const expected = counterpart_of(p, key, got);
        if (expected)
            add_error(json, op, got, expected);
    }
    cli_json_close(json);
    cli_json_count(json, "of", (uint64_t)ln_hash_size(p->results));
}

static int add_accuracy(cli_json *json, const ln_context *ctx, const ln_context *other,
                        const char *precision)
{
    const programs p = {ctx, other, find_results(ctx), find_results(other)};
    const int failed = !p.results || !p.other_results;
    if (!failed) {
        cli_json_open(json, "accuracy", '{');
        cli_json_text(json, "precision", precision);
        add_errors(json, &p);
        cli_json_close(json);
    }
    ln_hash_free(p.results);
    ln_hash_free(p.other_results);
    return failed ? cli_fail_memory() : 0;
}

int cli_report_check_precision(const cli_options *opt, const char *precision)
{
    char known[LN_MAXLINE];
    const char *const target = cli_target(opt);
    const ln_arch *const arch = ln_hash_find(LN_ARCH.arch_table, target);
    if (!arch || ln_arch_has_precision(arch, precision))
        return 0;
    return cli_fail("--against %s: target '%s' computes in %s", precision, target,
                    ln_sprint_precisions(arch, known, sizeof(known)));
}

int cli_report_add_accuracy(cli_json *json, const cli_options *opt, const char *precision)
{
    cli_options with = *opt;
    with.precision = precision;
    const int saved = cli_silence_output();
    if (saved < 0)
        return CLI_FAILED;
    ln_context *const ctx = run_kept(opt), *const other = ctx ? run_kept(&with) : NULL;
    cli_restore_output(saved);
    const int status = other ? add_accuracy(json, ctx, other, precision) : CLI_FAILED;
    ln_context_free(ctx);
    ln_context_free(other);
    return status;
}
