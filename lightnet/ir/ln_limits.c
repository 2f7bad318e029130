// SPDX-License-Identifier: Apache-2.0
// Resource limits of a context, and cancellation.

#include "ir/ln_limits.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/ln_slab.h"
#include "ir/ln_context_ops.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

enum { N_LIMITS = LN_LIMIT_FOLD_TIME + 1, NS_PER_MS = 1000000 };

// Real models have below 100,000 operators.
static const uint64_t defaults[N_LIMITS] = {
    [LN_LIMIT_OPS] = 250000,
    [LN_LIMIT_FOLD_MEMORY] = 64 << 20,
    [LN_LIMIT_FOLD_TIME] = 100,
};

// Folding measures CPU time, so that other processes do not change its decisions. Within a kernel
// only the wall clock is checked, with a limit FOLD_SLACK times as long.
enum { FOLD_SLACK = 10 };

// The min rate of plain C kernels.
static const double macs_per_ms = 1e6;

struct ln_limits {
    uint64_t max[N_LIMITS];
    uint64_t deadline; // on tl_clock(), 0: none
    uint64_t cpu_end;  // of folding, in CPU time of the thread; 0: none
    int is_over;       // folding reached one of its limits
    ln_limits *outer;  // of folding: those of the enclosing context, which owns `stop`
    atomic_int is_cancelled;
    tl_stop *stop;
    ln_budget budget;
    ln_slabs slabs; // of the budget
    size_t n_ops;
};

static ln_status stop_reader(void *data, char *reason, size_t size);

ln_limits *ln_limits_create(void)
{
    ln_limits *limits = ln_alloc(sizeof(*limits));
    if (!limits)
        return NULL;
    *limits = (ln_limits){.stop = tl_stop_create()};
    if (!limits->stop) {
        ln_error_set(NULL, "%s", tl_last_error());
        ln_free(limits);
        return NULL;
    }
    for (int i = 0; i < N_LIMITS; i++)
        limits->max[i] = defaults[i];
    limits->budget.slabs = &limits->slabs;
    limits->budget.stop = stop_reader;
    limits->budget.stop_data = limits;
    atomic_init(&limits->is_cancelled, 0);
    return limits;
}

void ln_limits_free(ln_limits *limits)
{
    if (!limits)
        return;
    if (!limits->outer)
        tl_stop_free(limits->stop);
    ln_slabs_close(&limits->slabs);
    ln_free(limits);
}

// Settings

static uint64_t add_milliseconds(uint64_t ns, uint64_t ms)
{
    return ms > (UINT64_MAX - ns) / NS_PER_MS ? UINT64_MAX : ns + ms * NS_PER_MS;
}

void ln_limits_set_time(const ln_context *ctx, uint64_t ms, uint64_t start)
{
    ln_limits *const limits = ctx->limits;
    limits->max[LN_LIMIT_TIME] = ms;
    limits->deadline = ms ? add_milliseconds(start, ms) : 0;
    tl_stop_set_deadline(limits->stop, limits->deadline);
}

int ln_context_set_limit(ln_context *ctx, ln_limit limit, uint64_t value)
{
    ln_context_clear_error(ctx);
    if ((unsigned)limit >= N_LIMITS)
        return ln_fail(ctx, "unknown limit %d, expected 0 to %d", (int)limit, N_LIMITS - 1);
    ctx->limits->max[limit] = value;
    if (limit == LN_LIMIT_TIME)
        ln_limits_set_time(ctx, value, tl_clock());
    else if (limit == LN_LIMIT_MEMORY)
        ctx->limits->budget.limit = value < SIZE_MAX ? (size_t)value : SIZE_MAX;
    return 0;
}

uint64_t ln_context_limit(const ln_context *ctx, ln_limit limit)
{
    return (unsigned)limit < N_LIMITS ? ctx->limits->max[limit] : 0;
}

void ln_context_cancel(ln_context *ctx)
{
    atomic_store(&ctx->limits->is_cancelled, 1);
    tl_stop_request(ctx->limits->stop);
}

void ln_context_resume(ln_context *ctx)
{
    ln_limits *const limits = ctx->limits;
    atomic_store(&limits->is_cancelled, 0);
    tl_stop_clear(limits->stop);
    tl_stop_set_deadline(limits->stop, limits->deadline);
}

// Calls

// Allocations of folding count for the enclosing context.
ln_budget *ln_limits_enter(const ln_context *ctx)
{
    ln_limits *const limits = ctx->limits->outer ? ctx->limits->outer : ctx->limits;
    return ln_budget_use(&limits->budget);
}

int ln_limits_leave(const ln_context *ctx, ln_budget *before, int status)
{
    ln_budget *const budget = &ctx->limits->budget;
    ln_budget_use(before);
    const size_t rejected = budget->rejected;
    if (before == budget || !rejected)
        return status;
    budget->rejected = 0;
    if (status && ln_error_status(ctx->error) != LN_LIMIT_REACHED) {
        const ln_error error = *ctx->error;
        ln_context_clear_error(ctx);
        ln_fail_as(ctx, LN_LIMIT_REACHED,
                   "%s: %zu bytes more exceed the limit of %zu bytes of memory",
                   ln_error_text(&error), rejected, budget->limit);
    }
    return status;
}

int ln_context_do(ln_context *ctx, int (*work)(ln_context *ctx, void *data), void *data)
{
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, work(ctx, data));
}

void ln_limits_reset(const ln_context *ctx)
{
    if (ctx->outer)
        return;
    ln_slabs_close(&ctx->limits->slabs);
    ctx->limits->budget.held = 0;
}

// Stopping

const tl_stop *ln_limits_stop(const ln_context *ctx)
{
    return ctx->limits ? ctx->limits->stop : NULL;
}

static uint64_t cpu_clock(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
        return 0;
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// Prints the reason to stop. Returns its status.
static ln_status print_reason(ln_limits *limits, char *buf, size_t size)
{
    const ln_limits *root = limits->outer ? limits->outer : limits;
    if (atomic_load(&root->is_cancelled)) {
        snprintf(buf, size, "cancelled");
        return LN_CANCELLED;
    }
    const int is_late = root->deadline && tl_clock() >= root->deadline;
    if (is_late || root == limits) {
        snprintf(buf, size, "stopped at the time limit of %" PRIu64 " ms",
                 root->max[LN_LIMIT_TIME]);
    } else {
        limits->is_over = 1;
        snprintf(buf, size, "stopped at the limit of %" PRIu64 " ms for a constant",
                 limits->max[LN_LIMIT_FOLD_TIME]);
    }
    return LN_LIMIT_REACHED;
}

static int has_to_stop(const ln_limits *limits)
{
    return tl_stop_is_requested(limits->stop) ||
           (limits->cpu_end && cpu_clock() >= limits->cpu_end);
}

// The callback of the budget.
static ln_status stop_reader(void *data, char *reason, size_t size)
{
    if (!has_to_stop(data))
        return LN_OK;
    return reason ? print_reason(data, reason, size) : LN_LIMIT_REACHED;
}

int ln_limits_check(const ln_context *ctx)
{
    char reason[LN_MAXLINE];
    if (!has_to_stop(ctx->limits))
        return 0;
    const ln_status status = print_reason(ctx->limits, reason, sizeof(reason));
    ln_context_clear_error(ctx);
    return ln_fail_as(ctx, status, "%s", reason);
}

int ln_context_check_limits(const ln_context *ctx)
{
    return ln_limits_check(ctx);
}

int ln_limits_check_op(ln_op_arg *op_arg)
{
    char reason[LN_MAXLINE];
    const ln_context *ctx = op_arg->ctx;
    if (!ctx || !has_to_stop(ctx->limits))
        return 0;
    const ln_status status = print_reason(ctx->limits, reason, sizeof(reason));
    ln_context_clear_error(ctx);
    ln_op_fail(op_arg, "%s", reason);
    ctx->error->status = status;
    return -1;
}

// Sizes

uint64_t ln_limits_max(const ln_context *ctx, ln_limit limit)
{
    return ctx->limits->max[limit];
}

int ln_limits_forbid(const ln_context *ctx, size_t size)
{
    ln_limits *const limits = ctx->limits;
    const ln_budget *budget = &limits->budget;
    if (!budget->limit || (budget->held <= budget->limit && size <= budget->limit - budget->held))
        return 0;
    limits->is_over = 1;
    return 1;
}

void ln_limits_take(const ln_context *ctx, size_t size)
{
    ctx->limits->budget.held += size;
}

void ln_limits_give(const ln_context *ctx, size_t size)
{
    ln_budget_give(&ctx->limits->budget, size);
}

size_t ln_limits_held(const ln_context *ctx)
{
    return ctx->limits->budget.held;
}

size_t ln_limits_memory(const ln_context *ctx)
{
    return ctx->limits->budget.limit;
}

int ln_limits_check_entry(const ln_context *ctx, const ln_op *op)
{
    const ln_limits *limits = ctx->limits;
    const uint64_t most = limits->max[LN_LIMIT_OPS];
    if (most && limits->n_ops >= most)
        return ln_fail_as(ctx, LN_LIMIT_REACHED,
                          "operator '%s' (%s): the model exceeds the limit of %" PRIu64
                          " operators",
                          op->op_arg->name, op->op_arg->optype, most);
    return ln_limits_check(ctx);
}

void ln_limits_count_ops(const ln_context *ctx, int n)
{
    ctx->limits->n_ops += (size_t)n;
}

// Folding

// The memory limit of folding: at most the rest of the enclosing context's limit, and not 0.
static size_t fold_memory(const ln_budget *outer, uint64_t most)
{
    const size_t limit = most < SIZE_MAX ? (size_t)most : SIZE_MAX;
    const size_t left = outer->limit > outer->held ? outer->limit - outer->held : 1;
    return outer->limit && (!limit || left < limit) ? left : limit;
}

void ln_limits_begin_fold(ln_context *fold, const ln_context *ctx)
{
    ln_limits *const limits = fold->limits, *const outer = ctx->limits;
    const uint64_t ms = outer->max[LN_LIMIT_FOLD_TIME];
    for (int i = 0; i < N_LIMITS; i++)
        limits->max[i] = outer->max[i];
    limits->budget.limit = fold_memory(&outer->budget, limits->max[LN_LIMIT_FOLD_MEMORY]);
    tl_stop_free(limits->stop);
    limits->stop = outer->stop;
    limits->outer = outer;
    if (!ms)
        return;
    limits->cpu_end = add_milliseconds(cpu_clock(), ms);
    const uint64_t far = ms < UINT64_MAX / FOLD_SLACK ? ms * FOLD_SLACK : UINT64_MAX;
    const uint64_t end = add_milliseconds(tl_clock(), far);
    if (!outer->deadline || end < outer->deadline)
        tl_stop_set_deadline(limits->stop, end);
}

void ln_limits_end_fold(ln_context *fold)
{
    const ln_limits *outer = fold->limits->outer;
    if (outer)
        tl_stop_set_deadline(outer->stop, outer->deadline);
}

int ln_limits_fold_is_over(const ln_context *fold)
{
    return fold->limits->is_over;
}

int ln_limits_check_macs(const ln_context *fold, double macs)
{
    ln_limits *const limits = fold->limits;
    const uint64_t ms = limits->max[LN_LIMIT_FOLD_TIME];
    if (!ms || macs <= macs_per_ms * (double)ms)
        return 0;
    limits->is_over = 1;
    return ln_fail_as(fold, LN_LIMIT_REACHED,
                      "%.0f multiplications, above the %.0f that the limit of %" PRIu64
                      " ms for a constant allows",
                      macs, macs_per_ms * (double)ms, ms);
}

// Planned memory

// The largest consumer of a plan: a tensor, or an operator's scratch memory.
typedef struct largest {
    const ln_op *op;
    const ln_tensor_entry *te; // NULL: scratch memory
    size_t size;
} largest;

static void find_largest_of(const ln_op *op, largest *l)
{
    const ln_tensor_entry *te;
    if (op->op_arg->scratch_size > l->size)
        *l = (largest){op, NULL, op->op_arg->scratch_size};
    LN_OUTPUTS_FOREACH (te, op->op_arg) {
        if (!te->owner && ln_tensor_entry_capacity(te) > l->size)
            *l = (largest){op, te, ln_tensor_entry_capacity(te)};
    }
}

int ln_limits_fail_plan(const ln_context *ctx, size_t total)
{
    largest l = {0};
    LN_FOREACH (const ln_op *, op, ctx->ops)
        find_largest_of(op, &l);
    if (!l.op)
        return ln_fail_as(ctx, LN_LIMIT_REACHED,
                          "%zu bytes of memory exceed the limit of %zu bytes", total,
                          ln_limits_memory(ctx));
    return ln_fail_as(
        ctx, LN_LIMIT_REACHED,
        "operator '%s' (%s): %s%s%s needs %zu of the %zu bytes of memory planned, which "
        "exceed the limit of %zu bytes",
        l.op->op_arg->name, l.op->op_arg->optype, l.te ? "tensor '" : "scratch memory",
        l.te ? l.te->name : "", l.te ? "'" : "", l.size, total, ln_limits_memory(ctx));
}

int ln_limits_check_plan(const ln_context *ctx)
{
    size_t total = 0;
    for (int m = LN_MEM_NONE + 1; m < LN_MEM_TYPE_SIZE && total < SIZE_MAX; m++)
        if (ln_size_add(total, ctx->mem_sizes[m], &total))
            total = SIZE_MAX;
    return ln_limits_forbid(ctx, total) ? ln_limits_fail_plan(ctx, total) : 0;
}
