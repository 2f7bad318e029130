// SPDX-License-Identifier: Apache-2.0
// The part of a list that a process runs.

#include "input/cli_part.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "output/cli_msg.h"

// What launchers set for each process that they start: its number, from 0, and how many there are.
// srun's variables are those of a step: a batch script has SLURM_PROCID and SLURM_NTASKS, too, and
// starts its commands once.
enum { MAX_IDS = 3 };

static const struct cli_launcher {
    const char *sign; // it is there
    const char *rank, *size;
    const char *ids[MAX_IDS]; // together the id of a start; without the first one there is none
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", // Open MPI
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     {"PMIX_NAMESPACE"}},
    {"PMI_RANK", "PMI_RANK", "PMI_SIZE", {NULL}}, // MPICH, Intel MPI
    {"SLURM_STEP_NUM_TASKS",                      // srun
     "SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     {"SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"}},
    // Others, most of which set no size.
    {"PMIX_RANK", "PMIX_RANK", "PMIX_SIZE", {"PMIX_NAMESPACE"}},
};

enum { N_LAUNCHERS = sizeof(launchers) / sizeof(launchers[0]) };

// An integer from `min` to `max`. Returns what follows; NULL: there is none.
static const char *read_integer(const char *text, int min, int max, int *value)
{
    char *end;
    errno = 0;
    const long n = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
    *value = (int)n;
    return n < min || n > max || errno ? NULL : end;
}

int cli_part_read(cli_part *part, const char *text)
{
    int number;
    const char *at = read_integer(text, 1, INT_MAX, &number);
    if (!at || *at != '/')
        return -1;
    at = read_integer(at + 1, number, INT_MAX, &part->n);
    part->index = number - 1;
    return at && !*at ? 0 : -1;
}

static int fail_value(const char *name, const char *value)
{
    return cli_usage("%s is '%s', as no launcher sets it; set the part by --part I/N", name, value);
}

static int read_launcher(cli_part *part, const struct cli_launcher *l)
{
    const char *const rank = getenv(l->rank), *const size = getenv(l->size);
    if (!rank || !size)
        return cli_usage("%s is set, but not %s; set the part by --part I/N",
                         rank ? l->rank : l->size, rank ? l->size : l->rank);
    const char *end = read_integer(size, 1, INT_MAX, &part->n);
    if (!end || *end)
        return fail_value(l->size, size);
    end = read_integer(rank, 0, part->n - 1, &part->index);
    part->launcher = l;
    return end && !*end ? 0 : fail_value(l->rank, rank);
}

int cli_part_find(cli_part *part)
{
    if (part->n)
        return 0;
    for (int i = 0; i < N_LAUNCHERS; i++)
        if (getenv(launchers[i].sign))
            return read_launcher(part, &launchers[i]);
    *part = (cli_part){.n = 1};
    return 0;
}

int cli_part_is_shared(const cli_part *part)
{
    return part->n > 1;
}

// Appends to a part of a file name. Returns 0; -1: it is too long.
static int append(char id[CLI_PART_MAX_ID], const char *text)
{
    size_t n = strlen(id);
    if (n && n < CLI_PART_MAX_ID - 1)
        id[n++] = '.';
    for (; *text && n < CLI_PART_MAX_ID - 1; text++)
        id[n++] = isalnum((unsigned char)*text) || strchr("-_@", *text) ? *text : '_';
    id[n] = '\0';
    return *text ? -1 : 0;
}

int cli_part_id(const cli_part *part, char id[CLI_PART_MAX_ID])
{
    *id = '\0';
    for (int i = 0; part->launcher && i < MAX_IDS && part->launcher->ids[i]; i++) {
        const char *const value = getenv(part->launcher->ids[i]);
        if (value ? append(id, value) : i == 0)
            return 0;
    }
    return *id != '\0';
}

void cli_part_range(const cli_part *part, int n, int *begin, int *end)
{
    *begin = (int)((long long)n * part->index / part->n);
    *end = (int)((long long)n * (part->index + 1) / part->n);
}
