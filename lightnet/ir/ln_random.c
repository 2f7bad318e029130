// SPDX-License-Identifier: Apache-2.0
// The random numbers of a context.

#include "ir/ln_random.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "tensorlight/tl_util.h"

// Seeds of the system

// Two clocks and the process ID differ between calls; the generator mixes their bits.
static uint64_t seed_of_clocks(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t state = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    state = tl_random_bits(&state) ^ tl_clock();
    state = tl_random_bits(&state) ^ (uint64_t)getpid();
    return tl_random_bits(&state);
}

uint64_t ln_random_seed(void)
{
    const int before = errno;
    uint64_t seed;
    if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
        seed = seed_of_clocks();
    errno = before;
    return seed;
}

// Operators

int ln_op_draws(const ln_op *op)
{
    const ln_param_entry *seed = ln_op_param(op, "seed");
    return seed && seed->type == LN_PARAM_NUMBER && seed->value_double < 0;
}

int ln_context_draws(const ln_context *ctx)
{
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (ln_op_draws(op))
            return 1;
    LN_FOREACH (const ln_context *, body, ctx->bodies)
        if (ln_context_draws(body))
            return 1;
    return 0;
}

void ln_context_refresh_random(ln_context *ctx)
{
    if (ln_context_draws(ctx))
        ctx->random = ln_random_seed();
}

uint64_t *ln_op_random(const ln_op_arg *op_arg)
{
    ln_context *ctx = op_arg->ctx;
    while (ctx && ctx->outer)
        ctx = ctx->outer;
    return ctx ? &ctx->random : NULL;
}
