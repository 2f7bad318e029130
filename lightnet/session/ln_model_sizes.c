// SPDX-License-Identifier: Apache-2.0
// Which open sizes of a model one program serves, by the choices of sessions (ln_ranges.h) for runs
// that are invented (ln_probe.h): nothing is loaded.

#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "lightnet/ln_session.h"
#include "session/ln_model.h"
#include "session/ln_probe.h"
#include "session/ln_ranges.h"

// The max number of independent sizes of which each is also opened alone.
enum { MAX_ALONE = 16 };

typedef struct check {
    ln_probe probe;
    ln_changes *changes;
    ln_range *ranges;
} check;

static size_t n_inputs(const check *c)
{
    return c->probe.model->interface->n_inputs;
}

// Kernels

static void note_kernels(ln_culprit *found, const ln_context *open, const ln_context *fixed)
{
    const ln_op *const op = ln_kernels_find_other(open, fixed);
    const ln_op *const better = ln_kernels_find_other(fixed, open);
    *found = (ln_culprit){0};
    if (op && better) {
        snprintf(found->op, sizeof(found->op), "%s", op->op_arg->name);
        snprintf(found->optype, sizeof(found->optype), "%s", op->op_arg->optype);
        snprintf(found->reason, sizeof(found->reason), "for fixed sizes, '%s' is faster",
                 better->op_arg->optype);
        return;
    }
    snprintf(found->reason, sizeof(found->reason),
             "it needs %d operators, and one for fixed sizes only %d", ln_kernels_of(open).n,
             ln_kernels_of(fixed).n);
}

static int compare(ln_probe *p, const ln_context *open, const ln_context *fixed)
{
    const ln_kernels of_open = ln_kernels_of(open), of_fixed = ln_kernels_of(fixed);
    if (!ln_probe_note(p, open, 0) && ln_kernels_suffice(&of_open, &of_fixed))
        return 0;
    note_kernels(&p->culprit, open, fixed);
    return -1;
}

// Programs

// Compiles a program for the current values. Returns new (ln_program_free); NULL with the culprit.
static ln_program *compile_fixed(ln_probe *p)
{
    ln_program *const program = ln_probe_read(p);
    if (!program || !ln_probe_note(p, program->ctx,
                                   ln_context_compile(program->ctx, ln_program_target(p->model))))
        return program;
    ln_program_free(program);
    return NULL;
}

// Invents runs in which a size (-1: all) changes, and compiles the program that a session chooses
// after them, for lengths of at most `max` (0: any) unless the last run has larger ones. -1 with
// the culprit.
static int compile_open(check *c, int opened, int max, const ln_context *fixed)
{
    ln_probe *const p = &c->probe;
    memset(c->changes, 0, n_inputs(c) * sizeof(*c->changes));
    for (int run = 0; run < LN_PAST_RUNS; run++) {
        ln_probe_set_run(p, opened, run);
        ln_changes_note(c->changes, p->values, n_inputs(c), 2);
    }
    if (!ln_ranges_choose(c->ranges, c->changes, p->model->interface->inputs, p->values,
                          n_inputs(c), max))
        return 0;
    ln_range *const ranges = ln_clone(c->ranges, n_inputs(c) * sizeof(*ranges));
    ln_program *const program = ranges ? ln_probe_create(p) : NULL;
    p->has_no_memory |= !program;
    if (!program) {
        ln_free(ranges);
        return -1;
    }
    const int status =
        ln_probe_note(p, program->ctx,
                      ln_program_compile_open(program, p->model, p->values, ranges)) ||
        compare(p, program->ctx, fixed);
    ln_program_free(program);
    return -status;
}

// Sets the result for a size, or all of them.
static void decide(check *c, int opened, ln_open_size *info)
{
    ln_probe *const p = &c->probe;
    ln_probe_set_run(p, opened, LN_PAST_RUNS - 1);
    ln_program *const fixed = compile_fixed(p);
    info->is_shared =
        fixed ? !compile_open(c, opened, 0, fixed->ctx) || !compile_open(c, opened, 1, fixed->ctx)
              : -!p->wants_values;
    ln_program_free(fixed);
    if (info->is_shared > 0)
        return;
    info->op = *p->culprit.optype ? p->culprit.op : NULL;
    info->optype = *p->culprit.optype ? p->culprit.optype : NULL;
    info->reason = p->culprit.reason;
}

// Reports

static const char *sprint_sum(const ln_probe *p, const ln_probe_sum *sum, char *text, size_t size)
{
    size_t len = 0;
    for (int i = 0; i < sum->n; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%s", i ? " + " : "",
                                p->sizes[sum->terms[i]].name);
    if (sum->constant)
        snprintf(text + len, size - len, " + %d", sum->constant);
    return text;
}

// Whether results are wrong, since memory or time has run out.
static int has_failed(const ln_probe *p)
{
    return p->has_no_memory || p->is_late;
}

static void report(check *c, int i, int is_alone, ln_open_size_func func, void *data)
{
    ln_probe *const p = &c->probe;
    char text[2 * LN_MAX_NAME_LEN + 16];
    ln_open_size info = {.name = p->sizes[i].name, .is_shared = -1};
    if (p->sizes[i].sum.n)
        info.sum = sprint_sum(p, &p->sizes[i].sum, text, sizeof(text));
    else if (is_alone)
        decide(c, i, &info);
    else
        return;
    if (!has_failed(p))
        func(data, &info);
}

static void report_all(check *c, ln_open_size_func func, void *data)
{
    ln_open_size info = {0};
    int n = 0;
    ln_probe_find_sums(&c->probe);
    for (int i = 0; i < c->probe.n_sizes; i++)
        n += ln_probe_is_independent(&c->probe, i);
    for (int i = 0; i < c->probe.n_sizes && !has_failed(&c->probe); i++)
        report(c, i, n <= MAX_ALONE, func, data);
    if (n < 2 || has_failed(&c->probe))
        return;
    decide(c, -1, &info);
    if (!has_failed(&c->probe))
        func(data, &info);
}

static int has_choice(const ln_model *model)
{
    return model->has_declared_interface && !model->front->is_compiled && ln_model_is_open(model);
}

// Returns -1 if there is no memory, or no time.
static int check_all(check *c, const ln_model *model, ln_open_size_func func, void *data)
{
    if (ln_probe_init(&c->probe, model))
        return -c->probe.has_no_memory;
    c->changes = ln_alloc_array(n_inputs(c), sizeof(*c->changes));
    c->ranges = ln_alloc_array(n_inputs(c), sizeof(*c->ranges));
    if (!c->changes || !c->ranges)
        return -1;
    report_all(c, func, data);
    return -has_failed(&c->probe);
}

ln_status ln_model_check_sizes(const ln_model *model, ln_open_size_func func, void *data)
{
    if (!model || !func) {
        ln_error_set_as(NULL, LN_BAD_ARGUMENT, "the %s is NULL", model ? "function" : "model");
        return LN_BAD_ARGUMENT;
    }
    if (!has_choice(model))
        return LN_OK;
    check *const c = ln_alloc(sizeof(*c));
    const int failed = !c || check_all(c, model, func, data);
    const int is_late = c && c->probe.is_late && !c->probe.has_no_memory;
    if (is_late)
        ln_error_set_as(NULL, LN_LIMIT_REACHED, "%s: %s", model->name, c->probe.culprit.reason);
    if (c) {
        ln_free(c->changes);
        ln_free(c->ranges);
        ln_probe_clear(&c->probe);
    }
    ln_free(c);
    if (!failed)
        return LN_OK;
    if (is_late)
        return LN_LIMIT_REACHED;
    ln_error_set_as(NULL, LN_OUT_OF_MEMORY, LN_MEMORY_REASON);
    return LN_OUT_OF_MEMORY;
}
