// SPDX-License-Identifier: Apache-2.0
// What benchmarks share: the times of runs, peak memory, and silence of the model.

#include "cli_measure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli_msg.h"
#include "lightnet/ln_util.h"

/* Times */

int cli_times_add(cli_times *times, double ms)
{
    if (times->n == times->capacity) {
        const int capacity = times->capacity ? 2 * times->capacity : 256;
        double *longer = realloc(times->ms, (size_t)capacity * sizeof(*longer));
        if (!longer)
            return cli_fail_memory();
        times->ms = longer;
        times->capacity = capacity;
    }
    times->ms[times->n++] = ms;
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void cli_times_sort(cli_times *times)
{
    qsort(times->ms, (size_t)times->n, sizeof(*times->ms), by_value);
}

double cli_times_quantile(const cli_times *times, double q)
{
    return times->ms[(int)(q * (times->n - 1) + 0.5)];
}

void cli_times_free(cli_times *times)
{
    free(times->ms);
}

/* Inputs */

struct cli_kept_input {
    const char *name;
    tl_tensor *data;
};

int cli_kept_take(cli_kept *kept, const ln_context *ctx)
{
    const char *name;
    *kept = (cli_kept){calloc((size_t)ln_list_length(ctx->inputs) + 1, sizeof(*kept->inputs)), 0};
    if (!kept->inputs)
        return cli_fail_memory();
    LN_LIST_FOREACH(name, ctx->inputs)
    {
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
        if (!te->isdynamic)
            continue;
        tl_tensor *data = tl_tensor_clone(te->tensor);
        if (!data)
            return cli_fail("input '%s': %s", name, tl_last_error());
        kept->inputs[kept->n++] = (struct cli_kept_input){name, data};
    }
    return 0;
}

int cli_kept_restore(const cli_kept *kept, ln_context *ctx)
{
    int status = 0;
    for (int i = 0; i < kept->n && !status; i++)
        status = ln_context_set_data(ctx, kept->inputs[i].name, kept->inputs[i].data->data);
    return status;
}

void cli_kept_free(cli_kept *kept)
{
    for (int i = 0; i < kept->n; i++)
        tl_tensor_free_data_too(kept->inputs[i].data);
    free(kept->inputs);
}

/* Memory */

// Where the kernel has no such field, getrusage must do, which begins with the memory of the
// program that started this one.
double cli_peak_memory_kb(void)
{
    static const char field[] = "\nVmHWM:";
    char *text = ln_read_text("/proc/self/status");
    const char *at = text ? strstr(text, field) : NULL;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double kb = at ? strtod(at + strlen(field), NULL) : (double)usage.ru_maxrss;
    ln_free(text);
    return kb;
}

/* Standard output */

int cli_silence_output(void)
{
    fflush(stdout);
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const int saved = null < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (saved < 0 || dup2(null, STDOUT_FILENO) < 0)
        cli_fail("standard output: cannot redirect: %s", strerror(errno));
    if (null >= 0)
        close(null);
    return saved;
}

void cli_restore_output(int saved)
{
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
}
