// SPDX-License-Identifier: Apache-2.0
// Tests of instruction sets, the count of cores, and work split among threads.

#include "tensorlight/tl_exec.h"

#include <ftw.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ln_check.h"
#include "tensor/tl_isa.h"
#include "tensor/tl_stop.h"
#include "tensorlight/tl_util.h"

START_TEST(names_of_sets_are_read_back)
{
    for (int isa = 0; isa < TL_ISA_SIZE; isa++) {
        ck_assert_int_eq(tl_isa_from_str(tl_isa_name((tl_isa)isa)), isa);
        ck_assert_ptr_nonnull(strstr(TL_ISA_NAMES, tl_isa_name((tl_isa)isa)));
    }
    ck_assert_int_eq(tl_isa_from_str("sse9"), TL_ISA_INVALID);
    ck_assert_int_eq(tl_isa_from_str(NULL), TL_ISA_INVALID);
    ck_assert_ptr_null(tl_isa_name(TL_ISA_SIZE));
}
END_TEST

START_TEST(sets_contain_others)
{
    ck_assert(tl_isa_contains(TL_ISA_AVX512VNNI, TL_ISA_AVX2));
    ck_assert(tl_isa_contains(TL_ISA_AVX512, TL_ISA_AVX512));
    ck_assert(tl_isa_contains(TL_ISA_I8MM, TL_ISA_C));
    ck_assert(!tl_isa_contains(TL_ISA_AVX512, TL_ISA_AVXVNNI)); // side by side
    ck_assert(!tl_isa_contains(TL_ISA_AVXVNNI, TL_ISA_AVX512));
    ck_assert(!tl_isa_contains(TL_ISA_C, TL_ISA_NEON));
    ck_assert(!tl_isa_contains(TL_ISA_INVALID, TL_ISA_C));
    ck_assert(!tl_isa_contains(TL_ISA_C, TL_ISA_SIZE));
    for (int isa = 0; isa < TL_ISA_SIZE; isa++) // a table's last usable row is the richest
        for (int part = isa + 1; part < TL_ISA_SIZE; part++)
            ck_assert(!tl_isa_contains((tl_isa)isa, (tl_isa)part));
}
END_TEST

START_TEST(subsets_of_usable_instruction_sets_are_usable)
{
    ck_assert(tl_isa_is_usable(TL_ISA_C));
    ck_assert(!tl_isa_is_usable(TL_ISA_INVALID) && !tl_isa_is_usable(TL_ISA_SIZE));
    ck_assert(!tl_isa_is_usable(TL_ISA_AVX2) || !tl_isa_is_usable(TL_ISA_NEON));
    TL_ISA_EACH_USABLE (isa) {
        ck_assert_int_ge(tl_isa_best(), isa);
        for (int part = 0; part < TL_ISA_SIZE; part++) {
            const int within = tl_isa_contains(isa, (tl_isa)part);
            ck_assert(!within || tl_isa_is_usable((tl_isa)part));
            ck_assert_int_eq(tl_isa_usable_within(isa) >> part & 1, within);
        }
    }
}
END_TEST

// Each test runs in a separate process, so the environment is read afresh.
START_TEST(the_environment_takes_features_away)
{
    setenv("LIGHTNET_MAX_ISA", "c", 1);
    ck_assert_int_eq(tl_isa_best(), TL_ISA_C);
    ck_assert_int_eq((int)tl_isa_usable_within(TL_ISA_SIZE), 1 << TL_ISA_C);
    ck_assert_int_eq((int)tl_isa_usable_within(TL_ISA_AVX512), 1 << TL_ISA_C);
}
END_TEST

START_TEST(a_set_in_the_environment_keeps_its_parts)
{
    const char *const names[] = {"avx2", "avx512vnni", "neon", "dotprod"};
    for (size_t i = 0; i < 4; i++) { // each in a separate process, again
        const tl_isa max = tl_isa_from_str(names[i]);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            setenv("LIGHTNET_MAX_ISA", names[i], 1);
            int wrong = 0;
            for (int isa = 0; isa < TL_ISA_SIZE; isa++)
                wrong |= tl_isa_is_usable((tl_isa)isa) && !tl_isa_contains(max, (tl_isa)isa);
            _exit(wrong);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(status == 0, "%s: status %d", names[i], status);
    }
}
END_TEST

START_TEST(there_is_at_least_one_core)
{
    ck_assert_int_ge(tl_cpu_count(), 1);
}
END_TEST

// Quotas, in a file tree of our own

static void write_file(const char *root, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", root, name);
    for (char *p = path + strlen(root) + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
    FILE *const stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    fputs(text, stream);
    fclose(stream);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

START_TEST(quotas_of_control_groups_are_read)
{
    static const struct {
        const char *groups;
        struct {
            const char *name, *text;
        } files[3];
        int expected;
    } rows[] = {
        {"0::/\n", {{"cpu.max", "150000 100000\n"}}, 2},
        {"0::/\n", {{"cpu.max", "max 100000\n"}}, 0},
        {"0::/a/b\n", {{"a/b/cpu.max", "max 100000\n"}, {"a/cpu.max", "300000 100000\n"}}, 3},
        {"0::/a/b\n", {{"a/b/cpu.max", "400000 100000\n"}, {"a/cpu.max", "100000 100000\n"}}, 1},
        {"0::/unknown\n", {{"cpu.max", "200000 100000\n"}}, 2},
        {"3:cpu,cpuacct:/x\n2:cpuset:/y\n",
         {{"cpu,cpuacct/x/cpu.cfs_quota_us", "250000\n"},
          {"cpu,cpuacct/x/cpu.cfs_period_us", "100000\n"}},
         3},
        {"3:cpu:/\n", {{"cpu/cpu.cfs_quota_us", "-1\n"}, {"cpu/cpu.cfs_period_us", "9\n"}}, 0},
        {"nonsense\n::\n:", {{"cpu.max", "x y\n"}}, 0},
        {"0::/\n", {{"cpu.max", "100000 0\n"}}, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char root[] = "/tmp/tl_exec_test_XXXXXX";
        ck_assert_ptr_nonnull(mkdtemp(root));
        write_file(root, "proc/self/cgroup", rows[i].groups);
        for (size_t k = 0; k < 3 && rows[i].files[k].name; k++) {
            char name[256];
            snprintf(name, sizeof(name), "sys/fs/cgroup/%s", rows[i].files[k].name);
            write_file(root, name, rows[i].files[k].text);
        }
        ck_assert_msg(tl_cpu_quota(root) == rows[i].expected, "row %zu: %d cores, expected %d", i,
                      tl_cpu_quota(root), rows[i].expected);
        nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    }
    ck_assert_int_eq(tl_cpu_quota("/nonexistent"), 0);
}
END_TEST

// Threads

START_TEST(rejects_impossible_pools)
{
    ck_assert_ptr_null(tl_pool_create(-1));
    ck_assert_str_eq(tl_last_error(), "-1 threads, expected 0 to 1024");
    ck_assert_ptr_null(tl_pool_create(1000000));
    tl_pool_free(NULL);
    ck_assert_int_eq(tl_pool_size(NULL), 1);
}
END_TEST

START_TEST(a_pool_of_0_has_all_cores)
{
    tl_pool *const pool = tl_pool_create(0);
    ck_assert_int_eq(tl_pool_size(pool), tl_cpu_count());
    tl_pool_free(pool);
}
END_TEST

typedef struct counts {
    atomic_int units[1000];
    atomic_size_t smallest;
    atomic_int calls;
} counts;

static void count_units(void *arg, size_t begin, size_t end)
{
    counts *const c = arg;
    c->calls++;
    if (end - begin < c->smallest)
        c->smallest = end - begin;
    for (size_t i = begin; i < end; i++)
        c->units[i]++;
}

START_TEST(every_unit_is_done_once_in_ranges_of_the_grain)
{
    static const struct {
        int threads;
        size_t n, grain;
    } rows[] = {{1, 1000, 1}, {3, 1000, 1}, {3, 1000, 7},  {3, 999, 400}, {3, 5, 1},
                {3, 1, 1},    {3, 0, 1},    {3, 10, 1000}, {2, 13, 0},    {8, 1000, 3}};
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        tl_pool *const pool = tl_pool_create(rows[k].threads);
        const tl_exec exec = {.pool = pool};
        counts c = {.smallest = SIZE_MAX};
        tl_parallel(&exec, rows[k].n, rows[k].grain, count_units, &c);
        for (size_t i = 0; i < 1000; i++)
            ck_assert_int_eq(c.units[i], i < rows[k].n);
        if (c.calls > 1)
            ck_assert_uint_ge(c.smallest, rows[k].grain);
        ck_assert_int_le(c.calls, 4 * rows[k].threads);
        tl_pool_free(pool);
    }
}
END_TEST

START_TEST(without_an_exec_the_caller_works_alone)
{
    counts c = {.smallest = SIZE_MAX};
    tl_parallel(NULL, 1000, 1, count_units, &c);
    ck_assert_int_eq(c.calls, 1);
    ck_assert_uint_eq(c.smallest, 1000);
}
END_TEST

typedef struct nest {
    const tl_exec *exec;
    atomic_int inner;
} nest;

static void count_inner(void *arg, size_t begin, size_t end)
{
    nest *const n = arg;
    n->inner += (int)(end - begin);
}

static void split_again(void *arg, size_t begin, size_t end)
{
    nest *const n = arg;
    for (size_t i = begin; i < end; i++)
        tl_parallel(n->exec, 10, 1, count_inner, n);
}

START_TEST(work_inside_a_unit_runs_inline)
{
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool};
    nest n = {&exec, 0};
    for (int i = 0; i < 3; i++)
        tl_parallel(&exec, 20, 1, split_again, &n);
    ck_assert_int_eq(n.inner, 600);
    tl_pool_free(pool);
}
END_TEST

// Stops

static void count_slots(void *arg, size_t slot, size_t begin, size_t end)
{
    (void)slot;
    count_units(arg, begin, end);
}

static void run_units(const tl_exec *exec, size_t n, int by_slots, counts *c)
{
    memset(c, 0, sizeof(*c));
    c->smallest = SIZE_MAX;
    if (by_slots)
        tl_parallel_slots(exec, n, 8, count_slots, c);
    else
        tl_parallel(exec, n, 1, count_units, c);
}

static int units_done(const counts *c)
{
    int done = 0;
    for (size_t i = 0; i < 1000; i++) {
        ck_assert_int_le(c->units[i], 1);
        done += c->units[i];
    }
    return done;
}

START_TEST(a_requested_stop_leaves_the_rest_undone)
{
    for (int k = 0; k < 8; k++) {
        tl_pool *const pool = k & 4 ? tl_pool_create(4) : NULL;
        tl_stop *const stop = tl_stop_create();
        const tl_exec exec = {.pool = pool, .stop = stop};
        const size_t n = k & 2 ? 1000 : 30;
        counts c;
        tl_stop_request_at(stop, 0);
        run_units(&exec, n, k & 1, &c);
        ck_assert_int_eq(units_done(&c), (int)n);
        const size_t checks = tl_stop_checks(stop);
        ck_assert_uint_ge(checks, n == 1000 ? 15 : 1); // 64 units at a time
        for (size_t at = 1; at <= n / 64; at++) {
            tl_stop_request_at(stop, at);
            run_units(&exec, n, k & 1, &c);
            ck_assert_int_lt(units_done(&c), (int)n);
            ck_assert_int_le(c.calls, (int)at - 1);
        }
        tl_stop_free(stop);
        tl_pool_free(pool);
    }
}
END_TEST

START_TEST(a_stop_that_nobody_requests_leaves_small_work_in_one_piece)
{
    tl_stop *const stop = tl_stop_create();
    const tl_exec exec = {.stop = stop};
    static const struct {
        size_t n, grain;
        int calls;
    } rows[] = {{1000, 1000, 1}, {1000, 16, 1}, {1000, 7, 3}, {64, 1, 1}, {129, 1, 3}, {0, 1, 0}};
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        counts c = {.smallest = SIZE_MAX};
        tl_parallel(&exec, rows[k].n, rows[k].grain, count_units, &c);
        ck_assert_int_eq(c.calls, rows[k].calls);
        ck_assert_int_eq(units_done(&c), (int)rows[k].n);
    }
    tl_stop_free(stop);
}
END_TEST

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

typedef struct slot_counts {
    atomic_int done[100], busy[TL_MAX_SLOTS], wrong;
} slot_counts;

static void count_in_slot(void *arg, size_t slot, size_t begin, size_t end)
{
    slot_counts *const c = arg;
    if (atomic_fetch_add(&c->busy[slot], 1) != 0)
        atomic_fetch_add(&c->wrong, 1);
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&c->done[i], 1);
    atomic_fetch_sub(&c->busy[slot], 1);
}

START_TEST(every_unit_is_done_once_and_slots_are_never_shared)
{
    static const struct {
        int threads;
        size_t n, n_slots;
    } cases[] = {{1, 100, 8},
                 {3, 100, 8},
                 {3, 100, 2},
                 {3, 2, 3},
                 {8, 100, 8},
                 {3, 0, 3},
                 {TL_MAX_SLOTS + 2, 100, 100}};
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        tl_pool *const pool = tl_pool_create(cases[k].threads);
        const tl_exec exec = {.pool = pool};
        slot_counts c = {0};
        tl_parallel_slots(&exec, cases[k].n, cases[k].n_slots, count_in_slot, &c);
        for (size_t i = 0; i < 100; i++)
            ck_assert_int_eq(c.done[i], i < cases[k].n);
        ck_assert_int_eq(c.wrong, 0);
        tl_pool_free(pool);
    }
}
END_TEST

START_TEST(idle_threads_sleep)
{
    tl_pool *const pool = tl_pool_create(4);
    const tl_exec exec = {.pool = pool};
    counts c = {.smallest = SIZE_MAX};
    tl_parallel(&exec, 1000, 1, count_units, &c);
    usleep(300000); // they stay awake for a while: more work may come
    const double before = cpu_seconds();
    usleep(200000);
    ck_assert_double_lt(cpu_seconds() - before, 0.05);
    tl_pool_free(pool);
}
END_TEST

LN_TEST_MAIN("tl_exec", every_unit_is_done_once_and_slots_are_never_shared,
             names_of_sets_are_read_back, sets_contain_others,
             subsets_of_usable_instruction_sets_are_usable, the_environment_takes_features_away,
             a_set_in_the_environment_keeps_its_parts, there_is_at_least_one_core,
             quotas_of_control_groups_are_read, rejects_impossible_pools, a_pool_of_0_has_all_cores,
             every_unit_is_done_once_in_ranges_of_the_grain, without_an_exec_the_caller_works_alone,
             work_inside_a_unit_runs_inline, a_requested_stop_leaves_the_rest_undone,
             a_stop_that_nobody_requests_leaves_small_work_in_one_piece, idle_threads_sleep)
