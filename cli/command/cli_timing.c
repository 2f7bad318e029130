// SPDX-License-Identifier: Apache-2.0
// The times of a model: of each phase to the first output, and of runs after it.

#include "command/cli_timing.h"

#include <time.h>

#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_model_inputs.h"

static void end_phase(cli_timing *t, int phase, uint64_t *since)
{
    const uint64_t now = tl_clock();
    t->phases[phase].ms = (double)(now - *since) * 1e-6;
    *since = now;
}

ln_context *cli_timing_read(cli_timing *t, const cli_options *opt)
{
    uint64_t since = tl_clock();
    // The CPU time of the process so far approximates the time before the command: the system
    // reports a process's start to hundredths of a second only.
    struct timespec before;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    *t = (cli_timing){.phases = {
                          [CLI_PHASE_START] = {"start", (double)before.tv_sec * 1e3 +
                                                            (double)before.tv_nsec * 1e-6},
                          [CLI_PHASE_READ] = {"read", 0},
                          [CLI_PHASE_LOAD] = {"compile and load", 0},
                          [CLI_PHASE_INPUTS] = {"set inputs", 0},
                          [CLI_PHASE_FIRST_RUN] = {"first run", 0},
                      }};
    ln_context *ctx = cli_model_read(opt);
    end_phase(t, CLI_PHASE_READ, &since);
    return ctx;
}

int cli_timing_load(cli_timing *t, ln_context *ctx, const cli_options *opt)
{
    uint64_t since = tl_clock();
    if (cli_model_load(ctx, opt))
        return CLI_FAILED;
    end_phase(t, CLI_PHASE_LOAD, &since);
    cli_model_warn_constant(ctx);
    if (cli_model_set_inputs(ctx, opt, 1))
        return CLI_FAILED;
    end_phase(t, CLI_PHASE_INPUTS, &since);
    if (cli_kept_take(&t->inputs, ctx))
        return CLI_FAILED;
    since = tl_clock();
    if (ln_context_run(ctx))
        return cli_model_fail(ctx, opt);
    end_phase(t, CLI_PHASE_FIRST_RUN, &since);
    for (int i = 0; i < CLI_N_PHASES; i++)
        t->load += t->phases[i].ms;
    return 0;
}

// The first run is over, and caches are warm.
int cli_timing_run(cli_timing *t, ln_context *ctx, const cli_options *opt, double seconds)
{
    const uint64_t begin = tl_clock();
    while (t->runs.n < 3 || (double)(tl_clock() - begin) * 1e-9 < seconds) {
        if (cli_kept_restore(&t->inputs, ctx))
            return cli_model_fail(ctx, opt);
        const uint64_t start = tl_clock();
        if (ln_context_run(ctx))
            return cli_model_fail(ctx, opt);
        if (cli_times_add(&t->runs, (double)(tl_clock() - start) * 1e-6))
            return CLI_FAILED;
    }
    cli_times_sort(&t->runs);
    t->peak_kb = cli_peak_memory_kb();
    return 0;
}

void cli_timing_free(cli_timing *t)
{
    cli_times_free(&t->runs);
    cli_kept_free(&t->inputs);
}
