// SPDX-License-Identifier: Apache-2.0
// The error of each operator, relative to a program of another precision.
//
// Two programs differ in their operators and in the names of tensors. The last operators that
// compute the same nodes of the model correspond, if their first outputs have one shape.

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

// Maps the nodes of operators to the last operator that computes them. Returns new (ln_hash_free);
// NULL: no memory.
static ln_hash *find_results(const ln_context *ctx)
{
    char key[KEY_SIZE];
    ln_hash *const results = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, NULL);
    LN_FOREACH (ln_op *, op, results ? ctx->ops : NULL) {
        if (!result_of(ctx, op) || !*write_key(key, op->op_arg))
            continue;
        char *const copy = ln_strdup(key);
        if (!copy || ln_hash_insert(results, copy, op) < 0) {
            ln_free(copy);
            ln_hash_free(results);
            return NULL;
        }
    }
    return results;
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
