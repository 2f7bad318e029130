// SPDX-License-Identifier: Apache-2.0
// Tests of the thread pool. The linker directs pthread_create and tl_cpu_count here (--wrap), so
// that threads are rejected or late, and there are as many cores as a test wants.

#include "tensor/tl_pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ln_check.h"
#include "tensorlight/tl_util.h"

enum { MANY = 1000, THREADS = 5 };

// What the system does

static int cores = THREADS, threads_left = MANY;
static atomic_int are_held; // new threads wait before they begin

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *),
                          void *arg);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *),
                          void *arg);
int __wrap_tl_cpu_count(void);

typedef struct start {
    void *(*func)(void *arg);
    void *arg;
} start;

static void *start_late(void *arg)
{
    const start s = *(start *)arg;
    free(arg);
    while (are_held)
        usleep(100);
    return s.func(s.arg);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*func)(void *),
                          void *arg)
{
    if (threads_left-- <= 0)
        return EAGAIN;
    start *const s = malloc(sizeof(*s));
    *s = (start){func, arg};
    return __real_pthread_create(thread, attr, start_late, s);
}

int __wrap_tl_cpu_count(void)
{
    return cores;
}

// Items

typedef struct counts {
    atomic_int items[MANY];
    tl_pool *pool;
    atomic_int good; // items that found what they expect
} counts;

static void count(void *arg, size_t i)
{
    counts *const c = arg;
    c->items[i]++;
}

// Whether the items 0 .. n-1, and no others, are done once each.
static int runs_all(tl_pool *pool, size_t n)
{
    counts c = {.pool = pool};
    tl_pool_run(pool, n, count, &c);
    for (size_t i = 0; i < MANY; i++)
        if (c.items[i] != (i < n))
            return 0;
    return 1;
}

START_TEST(every_item_is_done_once)
{
    static const size_t ns[] = {0, 1, 2, 3, THREADS, THREADS + 1, 64, MANY};
    for (int threads = 1; threads <= THREADS + 2; threads++) {
        tl_pool *const pool = tl_pool_create(threads);
        ck_assert_int_eq(tl_pool_size(pool), threads);
        ck_assert_int_eq(tl_pool_threads(pool), threads < THREADS ? threads : THREADS);
        for (size_t k = 0; k < sizeof(ns) / sizeof(*ns); k++)
            for (int again = 0; again < 20; again++)
                ck_assert(runs_all(pool, ns[k]));
        tl_pool_free(pool);
    }
}
END_TEST

START_TEST(works_without_threads_that_the_system_refuses)
{
    for (int granted = 0; granted <= THREADS; granted++) {
        threads_left = granted;
        tl_pool *const pool = tl_pool_create(THREADS);
        ck_assert_int_eq(tl_pool_size(pool), THREADS);
        ck_assert_int_eq(tl_pool_threads(pool), granted < THREADS ? granted + 1 : THREADS);
        for (int again = 0; again < 20; again++)
            ck_assert(runs_all(pool, MANY));
        tl_pool_free(pool);
    }
}
END_TEST

START_TEST(no_more_threads_begin_than_there_are_cores)
{
    cores = 2;
    tl_pool *const pool = tl_pool_create(64);
    ck_assert_int_eq(tl_pool_size(pool), 64);
    ck_assert_int_eq(tl_pool_threads(pool), 2);
    ck_assert(runs_all(pool, MANY));
    tl_pool_free(pool);
}
END_TEST

START_TEST(the_caller_waits_for_no_thread_that_has_not_begun)
{
    are_held = 1;
    tl_pool *const pool = tl_pool_create(THREADS);
    ck_assert_int_eq(tl_pool_threads(pool), THREADS);
    for (int again = 0; again < 20; again++)
        ck_assert(runs_all(pool, MANY));
    are_held = 0;
    tl_pool_free(pool);
}
END_TEST

static void meet(void *arg, size_t i)
{
    counts *const c = arg;
    c->items[i] = 1;
    for (int k = 0; k < 500 && !(c->items[0] && c->items[1]); k++)
        usleep(100);
    c->good += c->items[0] && c->items[1];
}

// Where other processes have the cores, the caller may work alone for a time: then it is tried
// again.
START_TEST(threads_work_at_the_same_time)
{
    tl_pool *const pool = tl_pool_create(2);
    int met = 0;
    for (int tries = 0; tries < 200 && met < 10; tries++) {
        counts c = {.pool = pool};
        tl_pool_run(pool, 2, meet, &c);
        met += c.good == 2;
        usleep(tries * 1000); // the worker is awake, then asleep
    }
    ck_assert_int_eq(met, 10);
    tl_pool_free(pool);
}
END_TEST

static void run_again(void *arg, size_t i)
{
    counts *const c = arg;
    (void)i;
    const int before = tl_pool_is_inside(), good = runs_all(c->pool, 10);
    c->good += before && good && tl_pool_is_inside();
}

START_TEST(calls_inside_an_item_run_on_its_thread)
{
    tl_pool *const pool = tl_pool_create(THREADS);
    counts c = {.pool = pool};
    tl_pool_run(pool, 100, run_again, &c);
    ck_assert_int_eq(c.good, 100);
    ck_assert(!tl_pool_is_inside());
    tl_pool_free(pool);
}
END_TEST

// Many callers

enum { CALLERS = 12 }; // more than a pool has jobs

static void *call_often(void *pool)
{
    int good = 1;
    for (int again = 0; again < 300; again++)
        good &= runs_all(pool, again % 30 + 1);
    return good ? pool : NULL;
}

START_TEST(several_threads_use_one_pool)
{
    tl_pool *const pool = tl_pool_create(THREADS);
    pthread_t callers[CALLERS];
    for (int i = 0; i < CALLERS; i++)
        ck_assert_int_eq(__real_pthread_create(&callers[i], NULL, call_often, pool), 0);
    for (int i = 0; i < CALLERS; i++) {
        void *good;
        pthread_join(callers[i], &good);
        ck_assert_ptr_nonnull(good);
    }
    tl_pool_free(pool);
}
END_TEST

START_TEST(many_pools_exist_side_by_side)
{
    tl_pool *pools[30];
    for (int i = 0; i < 30; i++)
        pools[i] = tl_pool_create(THREADS);
    for (int i = 0; i < 30; i++)
        ck_assert(runs_all(pools[i], 100));
    for (int i = 0; i < 30; i += 2)
        tl_pool_free(pools[i]);
    for (int i = 1; i < 30; i += 2)
        ck_assert(runs_all(pools[i], 100));
    for (int i = 29; i > 0; i -= 2)
        tl_pool_free(pools[i]);
}
END_TEST

// Workers that lose their cores

typedef struct uneven {
    pthread_t caller;
    useconds_t callers, workers; // what an item takes either of them, microseconds
    atomic_int shared;           // a worker did an item of this call
} uneven;

static void take_time(void *arg, size_t i)
{
    uneven *const u = arg;
    (void)i;
    const int is_caller = pthread_equal(pthread_self(), u->caller);
    u->shared |= !is_caller;
    usleep(is_caller ? u->callers : u->workers);
}

// How many of `calls` with `n` items each were shared.
static int shared_calls(size_t n, useconds_t callers, useconds_t workers, int calls)
{
    tl_pool *const pool = tl_pool_create(2);
    int shared = 0;
    for (int i = 0; i < calls; i++) {
        uneven u = {.caller = pthread_self(), .callers = callers, .workers = workers};
        tl_pool_run(pool, n, take_time, &u);
        shared += u.shared;
    }
    tl_pool_free(pool);
    return shared;
}

START_TEST(callers_work_alone_while_workers_lose_their_cores)
{
    // 20, 40, 80 ms and so on alone, between calls of 5 ms: some six in 600 ms.
    ck_assert_int_le(shared_calls(8, 100, 5000, 600), 60);
}
END_TEST

START_TEST(work_that_takes_long_is_shared)
{
    ck_assert_int_ge(shared_calls(2, 10000, 12000, 20), 16);
    ck_assert_int_ge(shared_calls(8, 2000, 4000, 20), 16);
}
END_TEST

// What a worker is

typedef struct looks {
    pthread_t caller;
    atomic_int has_worker, blocked, open;
    atomic_size_t stack;
} looks;

static void look_at_thread(void *arg, size_t i)
{
    looks *const l = arg;
    (void)i;
    if (pthread_equal(pthread_self(), l->caller)) {
        for (int k = 0; k < 50000 && !l->has_worker; k++)
            usleep(100);
        return;
    }
    sigset_t set;
    size_t size;
    pthread_attr_t attr;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    l->blocked = sigismember(&set, SIGINT) && sigismember(&set, SIGTERM) &&
                 sigismember(&set, SIGALRM) && sigismember(&set, SIGUSR1);
    l->open = !sigismember(&set, SIGSEGV) && !sigismember(&set, SIGBUS);
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstacksize(&attr, &size);
    pthread_attr_destroy(&attr);
    l->stack = size;
    l->has_worker = 1;
}

START_TEST(workers_leave_signals_alone_and_have_small_stacks)
{
    tl_pool *const pool = tl_pool_create(2);
    looks l = {.caller = pthread_self()};
    tl_pool_run(pool, 2, look_at_thread, &l);
    ck_assert_int_eq(l.has_worker, 1);
    ck_assert_int_eq(l.blocked, 1);
    ck_assert_int_eq(l.open, 1);
    ck_assert_uint_ge(l.stack, 512 * 1024);
    ck_assert_uint_le(l.stack, 1024 * 1024 + 8192); // musl counts its own part, too
    sigset_t set;
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    ck_assert(!sigismember(&set, SIGUSR1)); // the caller's signals are as before
    tl_pool_free(pool);
}
END_TEST

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

START_TEST(idle_workers_use_no_time)
{
    tl_pool *const fresh = tl_pool_create(THREADS), *const used = tl_pool_create(THREADS);
    ck_assert(runs_all(used, MANY));
    usleep(100000); // they stay awake for some milliseconds
    const double before = cpu_seconds();
    usleep(300000);
    ck_assert_double_lt(cpu_seconds() - before, 0.01);
    tl_pool_free(fresh);
    tl_pool_free(used);
}
END_TEST

// Fork()

// Forks and calls `in_child`; whether that returns 1 within some seconds.
static int child_does(int (*in_child)(void *arg), void *arg)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(in_child(arg) == 1 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int runs_and_frees(void *pool)
{
    const int good = runs_all(pool, MANY) && runs_all(pool, MANY);
    const int threads = tl_pool_threads(pool);
    tl_pool_free(pool);
    tl_pool *const own = tl_pool_create(3);
    const int own_good = runs_all(own, MANY);
    tl_pool_free(own);
    return good && own_good && threads == THREADS;
}

static int frees(void *pool)
{
    tl_pool_free(pool);
    return 1;
}

static int forks_again(void *pool)
{
    return child_does(runs_and_frees, pool) && runs_and_frees(pool);
}

// qemu cannot begin threads in the child of a program that had some.
static int is_emulated(void)
{
    if (!getenv("LN_TEST_EMULATED"))
        return 0;
    fprintf(stderr, "skipped: the emulator begins no threads in children\n");
    return 1;
}

// Threads that have come to do an item.
typedef struct meeting {
    atomic_int here, expected;
} meeting;

static void meet_all(void *arg, size_t i)
{
    (void)i;
    meeting *const m = arg;
    m->here++;
    for (int k = 0; m->here < m->expected && k < 10000; k++)
        usleep(1000);
}

// Whether all threads of the pool are at work: a fork while one of them starts can leave the child
// without a lock of AddressSanitizer's, which waits for it when it begins a thread.
static int have_begun(tl_pool *pool)
{
    meeting m = {.expected = tl_pool_threads(pool)};
    tl_pool_run(pool, (size_t)m.expected, meet_all, &m);
    return m.here == m.expected;
}

START_TEST(a_child_uses_the_pools_of_its_parent)
{
    if (is_emulated())
        return;
    tl_pool *const pool = tl_pool_create(THREADS);
    ck_assert(have_begun(pool));
    ck_assert(runs_all(pool, MANY));
    ck_assert(child_does(runs_and_frees, pool));
    ck_assert(child_does(frees, pool));
    ck_assert(child_does(forks_again, pool));
    ck_assert(runs_all(pool, MANY));
    tl_pool_free(pool);
}
END_TEST

typedef struct busy {
    tl_pool *pool;
    atomic_int is_over, are_busy;
} busy;

static void *keep_busy(void *arg)
{
    busy *const b = arg;
    b->are_busy++;
    while (!b->is_over)
        runs_all(b->pool, 100);
    return NULL;
}

START_TEST(a_child_uses_pools_that_other_threads_used_at_the_fork)
{
    if (is_emulated())
        return;
    busy b = {.pool = tl_pool_create(THREADS)};
    pthread_t threads[3];
    ck_assert(have_begun(b.pool));
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(__real_pthread_create(&threads[i], NULL, keep_busy, &b), 0);
    while (b.are_busy < 3)
        usleep(1000);
    int good = 0;
    for (int i = 0; i < 10; i++)
        good += child_does(i % 2 ? frees : runs_and_frees, b.pool);
    b.is_over = 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    ck_assert_int_eq(good, 10);
    tl_pool_free(b.pool);
}
END_TEST

START_TEST(a_child_without_threads_works_alone)
{
    tl_pool *const pool = tl_pool_create(THREADS);
    threads_left = 0;
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        const int good = runs_all(pool, MANY) && tl_pool_threads(pool) == 1;
        tl_pool_free(pool);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    tl_pool_free(pool);
}
END_TEST

LN_TEST_MAIN("tl_pool", every_item_is_done_once, works_without_threads_that_the_system_refuses,
             no_more_threads_begin_than_there_are_cores,
             the_caller_waits_for_no_thread_that_has_not_begun, threads_work_at_the_same_time,
             calls_inside_an_item_run_on_its_thread, several_threads_use_one_pool,
             many_pools_exist_side_by_side, callers_work_alone_while_workers_lose_their_cores,
             work_that_takes_long_is_shared, workers_leave_signals_alone_and_have_small_stacks,
             idle_workers_use_no_time, a_child_uses_the_pools_of_its_parent,
             a_child_uses_pools_that_other_threads_used_at_the_fork,
             a_child_without_threads_works_alone)
