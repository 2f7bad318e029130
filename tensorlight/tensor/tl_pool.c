// SPDX-License-Identifier: Apache-2.0
// The thread pool: a fixed number of workers that help the threads that call it.
//
// A call reserves one of the pool's jobs, divides its items into a range for each thread, and opens
// the job. Workers enter open jobs, do the items of their own range first, then those that others
// have not begun, and leave. The caller works like them, closes the job, and waits for the workers
// that are inside. So it never waits for a worker that has not entered, such as a preempted one: a
// call waits at most for the rest of an item.
//
//     state of a job     0 -> TAKEN -> TAKEN | OPEN + workers inside -> TAKEN + workers inside -> 0
//
// A worker that is preempted inside an item makes its caller wait for a time slice of the system.
// If little work was shared since the last such wait, callers back off: they work alone for a time,
// and for twice as long the next time.
//
// Workers look for open jobs when `generation` changes: they spin on it, then sleep. A caller that
// finds all jobs taken works alone. No lock is held while items are executed.
//
// fork() copies no threads. In the child all pools have no worker and no job; the first call there
// begins new workers.

#include "tensor/tl_pool.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tensorlight/tl_util.h"

enum {
    JOBS = 8,                 // calls that workers help at a time; others run on one thread
    WORKER_SPIN_NS = 2000000, // for the next job, before a worker sleeps
    CALLER_SPIN_NS = 1000000, // for workers inside, before a caller sleeps
    READS_PER_CLOCK = 32,     // of a word, before the next read of the clock
    MIN_LATE_NS = 1000000,    // a longer wait for workers may be a preempted one
    WORTH_WAITS = 4,          // shared work that outweighs such a wait, in waits
    MIN_BACKOFF_WAITS = 4,    // min time that callers then work alone, in waits
    MAX_BACKOFF_NS = 1 << 30,
    STACK_SIZE = 1 << 20, // Kernels need up to 96 KB, with sanitizers several times that. The
                          // system's 8 MB each would fail where address space is limited.
};

enum {
    COUNT = 0xffff,    // workers inside a job
    OPEN = 1 << 16,    // workers may enter
    AWAITED = 1 << 17, // the caller sleeps until they have left
    TAKEN = 1 << 18,   // reserved by a caller
};

// Threads that sleep until a word in memory changes

// The interface of the system, as <linux/futex.h> has it; C libraries such as musl come without
// Linux's headers.
enum {
    FUTEX_WAIT = 0,      // FUTEX_WAIT
    FUTEX_WAKE = 1,      // FUTEX_WAKE
    FUTEX_PRIVATE = 128, // FUTEX_PRIVATE_FLAG: the word belongs to this process alone
};

// Sleeps until futex_wake if *word is `value`. It may return earlier.
static void futex_wait(atomic_uint *word, unsigned value)
{
    syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE, value, NULL, NULL, 0);
}

// Wakes at most `n` threads that sleep on `word`.
static void futex_wake(atomic_uint *word, int n)
{
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE, n, NULL, NULL, 0);
}

// The pool

// The items that one thread executes first.
typedef struct range {
    _Alignas(64) atomic_size_t next;
    size_t end;
} range;

typedef struct job {
    _Alignas(64) atomic_uint state;
    void (*func)(void *arg, size_t i);
    void *arg;
    range *ranges; // one for each thread
} job;

typedef struct worker {
    tl_pool *pool;
    size_t index; // its range; the caller has range 0
    pthread_t thread;
} worker;

struct tl_pool {
    int size;
    size_t max_threads;                  // with the caller; some may fail to start
    atomic_int threads;                  // existing ones; 0: not started in this process
    worker *workers;                     // max_threads - 1
    range *ranges;                       // max_threads of each job
    tl_pool *next, *before;              // in the list of all pools
    atomic_int is_ended;                 // the workers return
    _Alignas(64) atomic_uint generation; // changes when a job opens or the pool ends
    atomic_int sleepers;
    _Alignas(64) _Atomic uint64_t shared; // nanoseconds of shared work since the last late worker
    _Atomic uint64_t backoff_end;         // end of the backoff, on tl_clock()
    _Atomic uint64_t backoff;             // duration of the last backoff, in nanoseconds
    job jobs[JOBS];
};

// Whether this thread executes an item.
static _Thread_local int is_inside;

int tl_pool_is_inside(void)
{
    return is_inside;
}

int tl_pool_size(const tl_pool *pool)
{
    return pool ? pool->size : 1;
}

int tl_pool_threads(const tl_pool *pool)
{
    const int threads = pool ? atomic_load(&pool->threads) : 1;
    return threads ? threads : 1;
}

// Jobs

static inline void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Executes the items of `r` that no thread has begun. Returns how many.
static size_t run_range(const job *j, range *r)
{
    size_t n = 0;
    while (atomic_load_explicit(&r->next, memory_order_relaxed) < r->end) {
        const size_t i = atomic_fetch_add_explicit(&r->next, 1, memory_order_relaxed);
        if (i >= r->end)
            break;
        j->func(j->arg, i);
        n++;
    }
    return n;
}

static size_t run_items(const job *j, size_t first, size_t threads)
{
    size_t n = 0;
    for (size_t k = 0; k < threads; k++)
        n += run_range(j, &j->ranges[(first + k) % threads]);
    return n;
}

static void wake_workers(tl_pool *pool, int n)
{
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleepers) > 0)
        futex_wake(&pool->generation, n);
}

// Spins for at most `time` nanoseconds until the bits `mask` of `word` equal `value` (or, with
// `is_other`, differ). Returns whether they do.
static int spin_until(const atomic_uint *word, unsigned mask, unsigned value, int is_other,
                      uint64_t time)
{
    const uint64_t began = tl_clock();
    do {
        for (int i = 0; i < READS_PER_CLOCK; i++) {
            const unsigned now = atomic_load_explicit(word, memory_order_acquire);
            if (((now & mask) != value) == is_other)
                return 1;
            pause_briefly();
        }
    } while (tl_clock() - began < time);
    return 0;
}

// Lets no more workers enter, and returns when those inside have left.
static void close_job(job *j)
{
    unsigned state = atomic_fetch_and(&j->state, ~(unsigned)OPEN) & ~(unsigned)OPEN;
    if ((state & COUNT) && !spin_until(&j->state, COUNT, 0, 0, CALLER_SPIN_NS)) {
        state = atomic_fetch_or(&j->state, AWAITED) | AWAITED;
        for (; state & COUNT; state = atomic_load(&j->state))
            futex_wait(&j->state, state);
    }
    atomic_store(&j->state, 0);
}

static void run_alone(size_t n, void (*func)(void *arg, size_t i), void *arg)
{
    const int before = is_inside;
    is_inside = 1;
    for (size_t i = 0; i < n; i++)
        func(arg, i);
    is_inside = before;
}

static void set(_Atomic uint64_t *to, uint64_t value)
{
    atomic_store_explicit(to, value, memory_order_relaxed);
}

static uint64_t get(const _Atomic uint64_t *from)
{
    return atomic_load_explicit(from, memory_order_relaxed);
}

// Whether the caller alone would have taken less than half the time, since workers were preempted:
// it executed `done` of `n` items in `worked` ns, then waited for `waited` ns.
static int is_late(size_t n, size_t done, uint64_t worked, uint64_t waited)
{
    return waited > MIN_LATE_NS && done > 0 && 2 * (worked / done) * n < worked + waited;
}

static void update_backoff(tl_pool *pool, int late, uint64_t worked, uint64_t waited)
{
    const uint64_t shared = get(&pool->shared) + worked;
    set(&pool->shared, late ? 0 : shared);
    if (!late)
        return;
    const uint64_t twice = 2 * get(&pool->backoff), min = MIN_BACKOFF_WAITS * waited;
    const uint64_t time = shared >= WORTH_WAITS * waited ? 0 : twice > min ? twice : min;
    set(&pool->backoff, time < MAX_BACKOFF_NS ? time : MAX_BACKOFF_NS);
    set(&pool->backoff_end, tl_clock() + get(&pool->backoff));
}

static int start_workers(tl_pool *pool);

// A job to share the items with workers, or NULL: the caller works alone.
static job *job_for(tl_pool *pool, size_t n, uint64_t now)
{
    if (n < 2 || is_inside || now < get(&pool->backoff_end))
        return NULL;
    const int threads = atomic_load_explicit(&pool->threads, memory_order_acquire);
    const int has_workers = (threads ? threads : start_workers(pool)) > 1;
    for (size_t i = 0; has_workers && i < JOBS; i++) {
        unsigned none = 0;
        if (atomic_compare_exchange_strong(&pool->jobs[i].state, &none, TAKEN))
            return &pool->jobs[i];
    }
    return NULL;
}

void tl_pool_run(tl_pool *pool, size_t n, void (*func)(void *arg, size_t i), void *arg)
{
    const uint64_t began = tl_clock();
    job *const j = job_for(pool, n, began);
    if (!j) {
        run_alone(n, func, arg);
        return;
    }
    j->func = func;
    j->arg = arg;
    for (size_t i = 0; i < pool->max_threads; i++) {
        atomic_store_explicit(&j->ranges[i].next, n * i / pool->max_threads, memory_order_relaxed);
        j->ranges[i].end = n * (i + 1) / pool->max_threads;
    }
    atomic_store(&j->state, TAKEN | OPEN);
    wake_workers(pool, (int)(n < pool->max_threads ? n : pool->max_threads) - 1);
    is_inside = 1;
    const size_t done = run_items(j, 0, pool->max_threads);
    is_inside = 0;
    const uint64_t worked = tl_clock() - began;
    close_job(j);
    const uint64_t waited = tl_clock() - began - worked;
    update_backoff(pool, is_late(n, done, worked, waited), worked, waited);
}

// Workers

static int enter(job *j)
{
    unsigned state = atomic_load_explicit(&j->state, memory_order_relaxed);
    while (state & OPEN)
        if (atomic_compare_exchange_weak_explicit(&j->state, &state, state + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return 1;
    return 0;
}

static void leave(job *j)
{
    const unsigned before = atomic_fetch_sub_explicit(&j->state, 1, memory_order_release);
    if ((before & AWAITED) && (before & COUNT) == 1)
        futex_wake(&j->state, 1);
}

// Works on each job that is open, beginning with `first`, and returns the one after the last.
static size_t help(tl_pool *pool, size_t first, size_t index)
{
    size_t next = first;
    for (size_t k = 0; k < JOBS; k++) {
        job *const j = &pool->jobs[(first + k) % JOBS];
        if (!enter(j))
            continue;
        run_items(j, index, pool->max_threads);
        leave(j);
        next = (first + k + 1) % JOBS;
    }
    return next;
}

static void await_jobs(tl_pool *pool, unsigned seen)
{
    if (spin_until(&pool->generation, UINT_MAX, seen, 1, WORKER_SPIN_NS))
        return;
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->generation) == seen)
        futex_wait(&pool->generation, seen);
    atomic_fetch_sub(&pool->sleepers, 1);
}

static void *work(void *arg)
{
    const worker *const self = arg;
    tl_pool *const pool = self->pool;
    is_inside = 1;
    size_t next = 0;
    for (;;) {
        const unsigned seen = atomic_load(&pool->generation);
        if (atomic_load(&pool->is_ended))
            return NULL;
        next = help(pool, next, self->index);
        await_jobs(pool, seen);
    }
}

// Leaves signals to the host's threads, except those of faults of this thread.
static void block_signals(sigset_t *before)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    sigset_t set;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        sigdelset(&set, faults[i]);
    pthread_sigmask(SIG_SETMASK, &set, before);
}

// Starts workers until the system refuses one; returns their number.
static int start_threads(tl_pool *pool)
{
    size_t n = 0;
    sigset_t before;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return 0;
    block_signals(&before);
    if (pthread_attr_setstacksize(&attr, STACK_SIZE) == 0)
        while (n + 1 < pool->max_threads &&
               pthread_create(&pool->workers[n].thread, &attr, work, &pool->workers[n]) == 0)
            n++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return (int)n;
}

// All pools, and fork()

// Guards the list, and the start of workers.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tl_pool *pools;
static int has_fork_handlers;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

// The other threads, and so their jobs, do not exist in the child.
static void after_fork_in_child(void)
{
    for (tl_pool *pool = pools; pool; pool = pool->next) {
        atomic_store(&pool->threads, 0);
        atomic_store(&pool->sleepers, 0);
        set(&pool->backoff_end, 0);
        for (size_t i = 0; i < JOBS; i++)
            atomic_store(&pool->jobs[i].state, 0);
    }
    pthread_mutex_unlock(&lock);
}

static void add_fork_handlers(void)
{
    has_fork_handlers = pthread_atfork(before_fork, after_fork, after_fork_in_child) == 0;
}

static void add_to_list(tl_pool *pool)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, add_fork_handlers);
    pthread_mutex_lock(&lock);
    pool->next = pools;
    if (pools)
        pools->before = pool;
    pools = pool;
    pthread_mutex_unlock(&lock);
}

static void remove_from_list(tl_pool *pool)
{
    pthread_mutex_lock(&lock);
    *(pool->before ? &pool->before->next : &pools) = pool->next;
    if (pool->next)
        pool->next->before = pool->before;
    pthread_mutex_unlock(&lock);
}

// Starts the workers once in each process; returns the number of threads, at least 1.
static int start_workers(tl_pool *pool)
{
    pthread_mutex_lock(&lock);
    int threads = atomic_load(&pool->threads);
    if (threads == 0) {
        // Without the handlers, a child would join workers that it does not have.
        threads = 1 + (has_fork_handlers ? start_threads(pool) : 0);
        atomic_store_explicit(&pool->threads, threads, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return threads;
}

// Pools

static void free_memory(tl_pool *pool)
{
    tl_free(pool->workers);
    free(pool->ranges);
    free(pool);
}

// Returns new (free): `n` * `size` bytes, zero, in separate cache lines; NULL with a reason.
static void *alloc_lines(size_t n, size_t size)
{
    void *const p = aligned_alloc(64, n * size);
    if (!p)
        return tl_fail_memory(n * size), NULL;
    return memset(p, 0, n * size);
}

// A pool of `size` threads without workers, or NULL with a reason.
static tl_pool *make_pool(int size)
{
    tl_pool *const pool = alloc_lines(1, sizeof(*pool));
    if (!pool)
        return NULL;
    const int cores = tl_cpu_count();
    pool->size = size ? size : cores;
    pool->max_threads = (size_t)(pool->size < cores ? pool->size : cores);
    pool->workers = tl_alloc(pool->max_threads * sizeof(*pool->workers));
    pool->ranges =
        pool->workers ? alloc_lines(JOBS * pool->max_threads, sizeof(*pool->ranges)) : NULL;
    if (!pool->ranges) {
        free_memory(pool);
        return NULL;
    }
    for (size_t i = 0; i + 1 < pool->max_threads; i++)
        pool->workers[i] = (worker){.pool = pool, .index = i + 1};
    for (size_t i = 0; i < JOBS; i++)
        pool->jobs[i].ranges = pool->ranges + i * pool->max_threads;
    return pool;
}

tl_pool *tl_pool_create(int n)
{
    if (n < 0 || n > TL_MAX_THREADS)
        return tl_fail("%d threads, expected 0 to %d", n, TL_MAX_THREADS), NULL;
    tl_pool *const pool = make_pool(n);
    if (!pool)
        return NULL;
    add_to_list(pool);
    start_workers(pool);
    return pool;
}

void tl_pool_free(tl_pool *pool)
{
    if (!pool)
        return;
    remove_from_list(pool);
    atomic_store(&pool->is_ended, 1);
    wake_workers(pool, INT_MAX);
    for (int i = 0; i + 1 < atomic_load(&pool->threads); i++)
        pthread_join(pool->workers[i].thread, NULL);
    free_memory(pool);
}
