// SPDX-License-Identifier: Apache-2.0
// Loads a compiled context: allocates memory, reads data from a file, computes constants, and
// starts threads, whose number the environment may set.

#include "run/ln_load.h"

#include <limits.h>
#include <stdlib.h>

#include "base/ln_list_end.h"
#include "data/ln_data_give.h"
#include "ir/ln_bind.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "ir/ln_limits.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_util.h"
#include "plan/ln_plan.h"
#include "run/ln_sharing.h"
#include "run/ln_update.h"

int ln_context_set_threads(ln_context *ctx, int n)
{
    ln_context_clear_error(ctx);
    if (n < 0 || n > TL_MAX_THREADS)
        return ln_fail(ctx, "%d threads requested, expected 1 to %d, or 0 for all cores", n,
                       TL_MAX_THREADS);
    if (ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is loaded; unload it to change the number of threads");
    ctx->threads = n;
    return 0;
}

// The number of threads if the caller sets none; -1 with a reason.
static int threads_of_environment(const ln_context *ctx)
{
    const char *env = getenv("LIGHTNET_NUM_THREADS");
    char *end;
    if (!env || !*env)
        return 1;
    const long n = strtol(env, &end, 10);
    if (end == env || *end || n < 0 || n > INT_MAX)
        return ln_fail(ctx, "LIGHTNET_NUM_THREADS is '%s', expected a number of threads", env);
    return (int)n;
}

int ln_context_threads(const ln_context *ctx, int *n)
{
    const int wanted = ctx->threads < 0 ? threads_of_environment(ctx) : ctx->threads;
    if (wanted < 0)
        return -1;
    *n = wanted ? wanted : tl_cpu_count();
    return 0;
}

int ln_context_check_environment(const ln_context *ctx)
{
    const char *isa = getenv("LIGHTNET_MAX_ISA");
    int n;
    if (isa && *isa && tl_isa_from_str(isa) == TL_ISA_INVALID)
        return ln_fail(ctx, "LIGHTNET_MAX_ISA is '%s', expected " TL_ISA_NAMES, isa);
    return ln_context_threads(ctx, &n);
}

int ln_context_start_threads(ln_context *ctx)
{
    int n = 1;
    if (ln_context_threads(ctx, &n))
        return -1;
    if (tl_pool_size(ctx->pool) == n)
        return 0;
    tl_pool_free(ctx->pool);
    ctx->pool = n == 1 ? NULL : tl_pool_create(n);
    return ctx->pool || n == 1 ? 0 : ln_fail_tl(ctx);
}

// The output of an operator whose data comes from a file, or the input of the model that it
// produces without data, if that is read. NULL: none.
static const char *wanted_of(const ln_context *ctx, const ln_op *op)
{
    const char *from_file = ln_from_file_name(op);
    if (from_file)
        return from_file;
    const char *input = ln_empty_source(op);
    if (!input || !ln_hash_find(ctx->input_names, input))
        return NULL;
    const tl_tensor *t = ln_tensor_table_find(ctx->tensor_table, input)->tensor;
    return t->len > 0 && ln_context_num_uses(ctx, input) > 0 ? input : NULL;
}

// Records the tensors whose data the caller must set before the first run.
static int note_missing(ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const char *wanted = wanted_of(ctx, op);
        if (wanted && !ln_weights_of(ctx, wanted) &&
            ln_list_push(&ctx->missing, ln_strdup(wanted), ln_free))
            return ln_fail_memory(ctx);
    }
    ctx->missing = ln_list_reverse(ctx->missing);
    return 0;
}

// Plans again for another number of threads, whose scratch memory the plan contains.
static int plan_for_threads(ln_context *ctx)
{
    int n = 1;
    if (ln_context_threads(ctx, &n))
        return -1;
    if (!ctx->target || n == ctx->planned_threads)
        return 0;
    ctx->planned_threads = n;
    if (!ln_plan_all(ctx))
        return 0;
    ctx->planned_threads = 0;
    return -1;
}

static const tl_tensor *bound_shape(const ln_context *ctx, const char *name)
{
    const tl_tensor *bound = name && *name ? ln_bind_find(ctx, name, -1) : NULL;
    return bound && !bound->data ? bound : NULL;
}

// The shape that was bound to an input with open sizes; the max shape of a range.
static void find_bound(const ln_context *ctx, const ln_tensor_entry *te, int *dims)
{
    const tl_tensor *whole = bound_shape(ctx, te->name);
    const int ndim = te->tensor->ndim;
    const ln_open_sizes *sizes = ln_fixed_sizes_of(ctx->fixed, te->name, ndim);
    for (int i = 0; i < ndim; i++) {
        const tl_tensor *size = sizes ? bound_shape(ctx, sizes->names[i]) : NULL;
        dims[i] = te->tensor->dims[i];
        if (whole && whole->ndim == ndim)
            dims[i] = whole->dims[i];
        else if (size && size->ndim == 1)
            dims[i] = size->dims[0];
    }
}

// Sets inputs of a model that was compiled for ranges to the shapes that were bound before it was
// read.
static int apply_bound(ln_context *ctx)
{
    int dims[LN_MAXDIM];
    LN_FOREACH (const char *, name, ctx->bound ? ctx->inputs : NULL) {
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
        const ln_op *producer = te ? ln_entry_creater(te) : NULL;
        if (!producer || !ln_is_placeholder(producer))
            continue;
        find_bound(ctx, te, dims);
        if (ln_context_set_shape(ctx, name, te->tensor->ndim, dims))
            return -1;
    }
    return 0;
}

// Callers read outputs in place, so these must be in CPU memory.
static int check_outputs(const ln_context *ctx)
{
    LN_FOREACH (const char *, name, ctx->outputs) {
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
        if (te && te->mtype != LN_MEM_CPU && te->mtype != LN_MEM_NONE)
            return ln_fail(ctx, "output '%s' is in %s, expected LN_MEM_CPU", name,
                           ln_mem_type_name(te->mtype));
    }
    return 0;
}

// Data of a missing file counts as zeros. If an operator fails on these, the reason is the missing
// file.
static int compute_constants(ln_context *ctx, const ln_constants_watch *watch)
{
    const int status = ln_constants_compute(ctx, 0, watch);
    if (!status || watch) // which reports missing data itself
        return status;
    LN_FOREACH (const char *, name, ctx->missing) {
        if (ln_hash_find(ctx->input_names, name))
            continue;
        ln_context_clear_error(ctx);
        return ln_fail_missing(ctx, name);
    }
    return -1;
}

static int load(ln_context *ctx, const char *datafile, const ln_constants_watch *watch)
{
    if (!ctx->ops && !ctx->source)
        return ln_fail(ctx, "the context has no model to load");
    if (ctx->ops && !ctx->target)
        return ln_fail(ctx, "the model is not compiled");
    if (ctx->target && !ln_hash_find(LN_ARCH.arch_table, ctx->target))
        return ln_fail(ctx, "the model is compiled for '%s', an unknown target", ctx->target);
    if (ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is loaded already; unload it first");
    if (check_outputs(ctx) || plan_for_threads(ctx) || ln_context_alloc_mem(ctx))
        return -1;
    ctx->random = ctx->seed;
    ln_strings_begin(ctx, 0);
    if (ln_context_check_environment(ctx) || ln_context_start_threads(ctx) ||
        ln_fixed_check_params(ctx) || (datafile && ln_data_give(ctx, datafile)) ||
        note_missing(ctx) || compute_constants(ctx, watch) ||
        (ctx->sharing && ln_sharing_publish(ctx)) || apply_bound(ctx)) {
        ln_context_unload(ctx);
        return -1;
    }
    ln_constants_release(ctx);
    return 0;
}

int ln_load(ln_context *ctx, const char *datafile, const ln_constants_watch *watch)
{
    ln_context_clear_error(ctx);
    ln_budget *const before = ln_limits_enter(ctx);
    return ln_limits_leave(ctx, before, load(ctx, datafile, watch));
}

int ln_context_load(ln_context *ctx, const char *datafile)
{
    return ln_load(ctx, datafile, NULL);
}

// An ln_cmp_func, 0 for names to remove: the tensor has data now.
static int lacks_data(const void *name, const void *ctx)
{
    return !ln_weights_of(ctx, name);
}

int ln_data_load(ln_context *ctx, const char *file)
{
    ln_context_clear_error(ctx);
    ln_budget *const before = ln_limits_enter(ctx);
    int failed = ln_limits_check(ctx) || ln_data_give(ctx, file);
    if (!failed) {
        ctx->missing = ln_list_remove_all_custom_deep(ctx->missing, ctx, lacks_data, ln_free);
        failed = ln_update_fetch(ctx);
    }
    return ln_limits_leave(ctx, before, failed ? -1 : 0);
}
