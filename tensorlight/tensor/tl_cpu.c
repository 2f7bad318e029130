// SPDX-License-Identifier: Apache-2.0
// How many cores this process may use.
//
// A control group limits CPU time to `quota` microseconds in every `period`. Version 2 keeps both
// in the file cpu.max of the group's folder ("max 100000": no limit), version 1 in two files of the
// cpu controller's own tree (-1: no limit). The limits of all groups above hold too. Inside a
// container the group's path may be unknown; its own group is then the visible root.

#include "tensor/tl_isa.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorlight/tl_exec.h"

// Reads the first `n` numbers of a group's file; -1: it has fewer. Values that are too large
// saturate.
static int read_numbers(const char *folder, const char *name, long long *numbers, int n)
{
    char path[PATH_MAX + 32], line[64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *const stream = fopen(path, "r");
    if (!stream)
        return -1;
    const int has_line = fgets(line, sizeof(line), stream) != NULL;
    fclose(stream);
    if (!has_line)
        return -1;
    const char *rest = line;
    for (int i = 0; i < n; i++) {
        char *end;
        numbers[i] = strtoll(rest, &end, 10);
        if (end == rest)
            return -1;
        rest = end;
    }
    return 0;
}

// Cores that the limit of one group allows, rounded up; 0 without one.
static int quota_of_group(const char *folder)
{
    long long limit[2]; // the quota, the period
    const int is_v2 = read_numbers(folder, "cpu.max", limit, 2) == 0;
    const int is_v1 = !is_v2 && read_numbers(folder, "cpu.cfs_quota_us", &limit[0], 1) == 0 &&
                      read_numbers(folder, "cpu.cfs_period_us", &limit[1], 1) == 0;
    if (!(is_v1 || is_v2) || limit[0] <= 0 || limit[1] <= 0)
        return 0;
    const long long cores = limit[0] / limit[1] + (limit[0] % limit[1] != 0);
    return cores < INT_MAX ? (int)cores : INT_MAX;
}

// The smaller of two quotas, where 0 is none.
static int stricter(int a, int b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

// The strictest limit from the group at `tree` + `group` up to `tree` itself.
static int quota_of_path(const char *tree, const char *group)
{
    char folder[PATH_MAX];
    const size_t tree_len = strlen(tree);
    if (snprintf(folder, sizeof(folder), "%s%s", tree, group) >= (int)sizeof(folder))
        return quota_of_group(tree);
    int quota = 0;
    for (;;) {
        quota = stricter(quota, quota_of_group(folder));
        char *const slash = strrchr(folder + tree_len, '/');
        if (!slash)
            return quota;
        *slash = '\0';
    }
}

// Is "cpu" one of the comma-separated `controllers`?
static int has_cpu(const char *controllers)
{
    for (const char *p = controllers; *p; p += strcspn(p, ","), p += *p == ',')
        if (strcspn(p, ",") == 3 && strncmp(p, "cpu", 3) == 0)
            return 1;
    return 0;
}

// The limit by one line of /proc/self/cgroup: "number:controllers:/group".
static int quota_of_line(const char *root, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *const controllers = strchr(line, ':');
    char *const group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return 0;
    *group = '\0';
    const int is_v2 = controllers[1] == '\0';
    if (!is_v2 && !has_cpu(controllers + 1))
        return 0;
    char tree[PATH_MAX];
    const int len = snprintf(tree, sizeof(tree), "%s/sys/fs/cgroup%s%s", root, is_v2 ? "" : "/",
                             controllers + 1);
    return len < (int)sizeof(tree) ? quota_of_path(tree, group + 1) : 0;
}

int tl_cpu_quota(const char *root)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *const stream = fopen(path, "r");
    if (!stream)
        return 0;
    int quota = 0;
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stream) >= 0)
        quota = stricter(quota, quota_of_line(root, line));
    free(line);
    fclose(stream);
    return quota;
}

// The affinity mask's cores; masks of more than CPU_SETSIZE cores need a larger set.
static int affinity_count(void)
{
    for (int size = CPU_SETSIZE; size <= 1 << 20; size *= 2) {
        cpu_set_t *const set = CPU_ALLOC(size);
        if (!set)
            return 1;
        const size_t bytes = CPU_ALLOC_SIZE(size);
        const int known = sched_getaffinity(0, bytes, set) == 0;
        const int n = known ? CPU_COUNT_S(bytes, set) : 0;
        CPU_FREE(set);
        if (known)
            return n > 0 ? n : 1;
    }
    return 1;
}

int tl_cpu_count(void)
{
    const int n = affinity_count();
    return stricter(n, tl_cpu_quota(""));
}
