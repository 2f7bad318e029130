// SPDX-License-Identifier: Apache-2.0
// The threads of a context, and environment variables for it.

#include "run/ln_load.h"

#include <limits.h>
#include <stdlib.h>

#include "ir/ln_context_ops.h"

int ln_context_set_threads(ln_context *ctx, int n)
{
    ln_context_clear_error(ctx);
    if (n < 0 || n > TL_MOST_THREADS)
        return ln_fail(ctx, "%d threads requested, expected 1 to %d, or 0 for all cores", n,
                       TL_MOST_THREADS);
    if (ln_context_is_loaded(ctx))
        return ln_fail(ctx, "the context is loaded; unload it to change the number of threads");
    ctx->threads = n;
    return 0;
}

// The number of threads where none was set: -1 with a reason.
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
