// SPDX-License-Identifier: Apache-2.0
// Measures the costs of sessions: memory, threads, new shapes, calls.
//
//     ln_session_bench memory MODEL [SIZE=N ..]          of four sessions beyond one
//     ln_session_bench threads MODEL [SIZE=N ..]         runs a second of two sessions, and of one
//     ln_session_bench first MODEL SIZE=FROM..TO [..]    first run with each size, beside the next
//     ln_session_bench random MODEL SIZE=FROM..TO [..]   2,000 runs with sizes drawn at random
//     ln_session_bench call [N]                          of a model with one operator, in N threads
//
// Prints an object of JSON. SIZE is the name of an open size of the model; one that is not given
// is 1. LIGHTNET_NUM_THREADS decides how many threads runs use, but for `threads` and `memory`,
// where it is one.

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lightnet/ln_session.h"

enum { MAX_SIZES = 8, MAX_DIMS = 16, N_SESSIONS = 4, N_RANDOM = 2000, N_SETTLED = 100 };

static void fail(const char *reason)
{
    fprintf(stderr, "ln_session_bench: %s\n", reason);
    exit(1);
}

static double read_clock(clockid_t id) // ms
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

static double resident(void) // MB
{
    unsigned long pages = 0;
    FILE *fp = fopen("/proc/self/statm", "r");
    if (!fp || fscanf(fp, "%*u %lu", &pages) != 1)
        fail("cannot read /proc/self/statm");
    fclose(fp);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static unsigned draw(unsigned *state, unsigned n)
{
    *state = *state * 1103515245 + 12345;
    return (*state >> 16) % n;
}

// Sizes

typedef struct size {
    const char *name;
    int from, to;
} size;

typedef struct sizes {
    size at[MAX_SIZES];
    int n;
} sizes;

// NAME=N or NAME=FROM..TO
static void parse_size(sizes *s, char *text)
{
    char *value = strchr(text, '='), *end;
    if (!value || s->n == MAX_SIZES)
        fail("expected SIZE=N or SIZE=FROM..TO");
    *value++ = '\0';
    size *it = &s->at[s->n++];
    *it = (size){text, (int)strtol(value, &end, 10), 0};
    it->to = strncmp(end, "..", 2) ? it->from : (int)strtol(end + 2, &end, 10);
    if (*end || it->from < 0 || it->to < it->from)
        fail("expected SIZE=N or SIZE=FROM..TO");
}

static const size *find_size(const sizes *s, const char *name)
{
    for (int i = 0; name && i < s->n; i++)
        if (!strcmp(s->at[i].name, name))
            return &s->at[i];
    return NULL;
}

// The first size that is a range.
static const size *range_of(const sizes *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->at[i].from < s->at[i].to)
            return &s->at[i];
    fail("expected a size with a range");
    return NULL;
}

// Inputs

static void fill(tl_dtype dtype, void *data, size_t n)
{
    unsigned state = 1;
    for (size_t i = 0; i < n; i++) {
        const unsigned value = draw(&state, 2);
        if (dtype == TL_FLOAT)
            ((float *)data)[i] = (float)draw(&state, 1000) / 1000 - .5f;
        else if (dtype == TL_INT64)
            ((int64_t *)data)[i] = value;
        else if (dtype == TL_INT32)
            ((int32_t *)data)[i] = (int32_t)value;
        else
            ((unsigned char *)data)[i] = (unsigned char)value; // bytes of any other type
    }
}

// Sets all inputs; `at`, which may be NULL, is the size of its name that has a range.
static void set_inputs(ln_session *session, const ln_model *model, const sizes *s, const size *at,
                       int value)
{
    for (int i = 0; i < ln_model_num_inputs(model); i++) {
        const tl_tensor *info = ln_model_input_info(model, i);
        int dims[MAX_DIMS];
        size_t n = 1;
        for (int d = 0; d < info->ndim && d < MAX_DIMS; d++) {
            const size *given = find_size(s, ln_model_input_dim_name(model, i, d));
            dims[d] = info->dims[d] >= 0 ? info->dims[d] : !given ? 1 : given->from;
            dims[d] = given && given == at ? value : dims[d];
            n *= (size_t)dims[d];
        }
        void *data = calloc(n + 1, 8);
        if (!data)
            fail("no memory");
        fill(info->dtype, data, n);
        if (ln_session_set_input(session, ln_model_input_name(model, i), info->dtype, info->ndim,
                                 dims, data))
            fail(ln_session_error(session));
        free(data);
    }
}

// Models

static ln_model *open_model(const char *file, const char *n_threads)
{
    ln_model *model;
    ln_options *options = ln_options_create();
    if (!options || (n_threads && ln_options_set(options, "threads", n_threads)))
        fail(ln_model_error(NULL));
    if (ln_model_open(file, options, &model))
        fail(ln_model_error(model));
    ln_options_free(options);
    return model;
}

static ln_session *create(ln_model *model)
{
    ln_session *session;
    if (ln_session_create(model, &session))
        fail(ln_session_error(NULL));
    return session;
}

static double run(ln_session *session)
{
    const double start = now();
    if (ln_session_run(session))
        fail(ln_session_error(session));
    return now() - start;
}

// Rows

typedef struct worker {
    pthread_t thread;
    ln_model *model;
    const sizes *s;
    pthread_barrier_t *ready, *go;
    double seconds; // how long it runs; 0: once
    int runs;
} worker;

static void *work(void *data)
{
    worker *w = data;
    ln_session *session = create(w->model);
    set_inputs(session, w->model, w->s, NULL, 0);
    run(session);
    pthread_barrier_wait(w->ready);
    pthread_barrier_wait(w->go);
    const double end = now() + w->seconds * 1e3;
    for (; now() < end; w->runs++)
        run(session);
    pthread_barrier_wait(w->ready);
    pthread_barrier_wait(w->go); // sessions live until all are measured
    ln_session_free(session);
    return NULL;
}

// Measurements of `n` sessions in threads of their own.
typedef struct figures {
    double resident;        // MB, after a run of each
    double runs_per_second; // of all
    double cpu;             // ms of CPU time per run
} figures;

static figures measure(ln_model *model, const sizes *s, int n, double seconds)
{
    worker workers[N_SESSIONS];
    pthread_barrier_t ready, go;
    figures f = {0};
    pthread_barrier_init(&ready, NULL, (unsigned)n + 1);
    pthread_barrier_init(&go, NULL, (unsigned)n + 1);
    for (int i = 0; i < n; i++) {
        workers[i] = (worker){.model = model, .s = s, .ready = &ready, .go = &go};
        workers[i].seconds = seconds;
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
            fail("cannot create a thread");
    }
    pthread_barrier_wait(&ready);
    f.resident = resident();
    const double start = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    pthread_barrier_wait(&go);
    pthread_barrier_wait(&ready);
    f.cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) - start;
    pthread_barrier_wait(&go);
    int runs = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        runs += workers[i].runs;
    }
    f.runs_per_second = seconds > 0 ? runs / seconds : 0;
    f.cpu /= runs ? runs : 1;
    pthread_barrier_destroy(&ready);
    pthread_barrier_destroy(&go);
    return f;
}

// The first session stays while the others run.
static void show_memory(const char *file, const sizes *s)
{
    ln_model *model = open_model(file, "1");
    ln_session *session = create(model);
    set_inputs(session, model, s, NULL, 0);
    run(session);
    const double one = resident();
    const double more = measure(model, s, N_SESSIONS - 1, 0).resident;
    printf("{\"one_mb\": %.1f, \"sessions\": %d, \"more_mb\": %.1f}\n", one, N_SESSIONS,
           more - one);
    ln_session_free(session);
    ln_model_free(model);
}

static void show_threads(const char *file, const sizes *s)
{
    ln_model *model = open_model(file, "1");
    figures best[2] = {{0, 0, 1e9}, {0, 0, 1e9}}; // of one session, of two
    double ratio = 0;
    for (int i = 0; i < 5; i++) {
        double each[2];
        for (int n = 1; n <= 2; n++) {
            const figures f = measure(model, s, n, 1);
            figures *b = &best[n - 1];
            each[n - 1] = f.runs_per_second;
            b->runs_per_second =
                f.runs_per_second > b->runs_per_second ? f.runs_per_second : b->runs_per_second;
            b->cpu = f.cpu < b->cpu ? f.cpu : b->cpu;
        }
        ratio = each[1] / each[0] > ratio ? each[1] / each[0] : ratio;
    }
    printf("{\"one_per_second\": %.2f, \"two_per_second\": %.2f, \"best_pair_ratio\": %.2f, "
           "\"one_cpu_ms\": %.2f, \"two_cpu_ms\": %.2f}\n",
           best[0].runs_per_second, best[1].runs_per_second, ratio, best[0].cpu, best[1].cpu);
    ln_model_free(model);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The time by which the first run with each size exceeds the best of the next three.
static void show_first(const char *file, const sizes *s)
{
    enum { MAX = 64 };
    const size *range = range_of(s);
    ln_model *model = open_model(file, NULL);
    ln_session *session = create(model);
    double more[MAX], worst = 0;
    const int step = (range->to - range->from) / MAX + 1;
    int n = 0;
    for (int value = range->from; value <= range->to && n < MAX; value += step) {
        set_inputs(session, model, s, range, value);
        const double first = run(session);
        double best = run(session);
        for (int i = 0; i < 2; i++) {
            const double again = run(session);
            best = again < best ? again : best;
        }
        if (value == range->from) { // packs the weights
            printf("{\"size\": \"%s\", \"from\": %d, \"first_ms\": %.2f, \"then_ms\": %.2f",
                   range->name, value, first, best);
            continue;
        }
        more[n++] = first - best;
        worst = first - best > worst ? first - best : worst;
    }
    qsort(more, (size_t)n, sizeof(*more), by_value);
    if (n)
        printf(
            ", \"more_sizes\": %d, \"more_ms\": {\"min\": %.3f, \"median\": %.3f, \"max\": %.3f}",
            n, more[0], more[n / 2], worst);
    printf("}\n");
    ln_session_free(session);
    ln_model_free(model);
}

static void show_random(const char *file, const sizes *s)
{
    const size *range = range_of(s);
    ln_model *model = open_model(file, NULL);
    ln_session *session = create(model);
    unsigned state = 1;
    double settled = 0, max = 0, total = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        const int value = range->from + (int)draw(&state, (unsigned)(range->to - range->from) + 1);
        const double start = now();
        set_inputs(session, model, s, range, value);
        run(session);
        total += now() - start;
        const double r = resident();
        settled = i < N_SETTLED && r > settled ? r : settled;
        max = r > max ? r : max;
    }
    printf("{\"runs\": %d, \"total_ms\": %.0f, \"settled_after\": %d, \"settled_mb\": %.1f, "
           "\"max_mb\": %.1f}\n",
           N_RANDOM, total, N_SETTLED, settled, max);
    ln_session_free(session);
    ln_model_free(model);
}

// The call

static const char one_operator[] =
    "{\"inputs\": [\"x\"], \"outputs\": [\"y\"], \"ops\": ["
    "{\"name\": \"make_x\", \"optype\": \"create\", \"tensors_in\": [], \"tensors_out\": "
    "[{\"arg_name\": \"dst\", \"name\": \"x\"}], \"params\": [{\"arg_name\": \"dtype\", "
    "\"value\": \"TL_FLOAT\"}, {\"arg_name\": \"dims\", \"value\": [16]}, {\"arg_name\": "
    "\"ran\", \"value\": [0, 0]}, {\"arg_name\": \"data\", \"value\": [0]}, {\"arg_name\": "
    "\"from_file\", \"value\": false}]}, "
    "{\"name\": \"make_y\", \"optype\": \"relu\", \"tensors_in\": [{\"arg_name\": \"src\", "
    "\"name\": \"x\"}], \"tensors_out\": [{\"arg_name\": \"dst\", \"name\": \"y\"}], "
    "\"params\": []}]}";

static void call(ln_session *session)
{
    static const float x[16] = {-1, 2};
    if (ln_session_set_input(session, "x", TL_FLOAT, 1, (const int[]){16}, x) ||
        ln_session_run(session) || !ln_session_output(session, "y"))
        fail(ln_session_error(session));
}

// A thread with its own session.
typedef struct caller {
    pthread_t thread;
    pthread_barrier_t *gate;
    ln_session *session;
    double each; // ms of a call in the last round
} caller;

enum { N_CALLS = 10000, N_ROUNDS = 100, MAX_CALLERS = 64 };

static void *call_often(void *arg)
{
    caller *c = arg;
    for (int k = 0; k < N_ROUNDS; k++) {
        pthread_barrier_wait(c->gate);
        const double start = now();
        for (int i = 0; i < N_CALLS; i++)
            call(c->session);
        c->each = (now() - start) / N_CALLS;
        pthread_barrier_wait(c->gate);
    }
    return NULL;
}

// The slowest thread of a round, ms of a call. The barriers order the accesses.
static double run_round(pthread_barrier_t *gate, const caller *callers, int n)
{
    double worst = 0;
    pthread_barrier_wait(gate);
    pthread_barrier_wait(gate);
    for (int i = 0; i < n; i++)
        worst = callers[i].each > worst ? callers[i].each : worst;
    return worst;
}

static void show_call(int n)
{
    ln_model *model;
    pthread_barrier_t gate;
    caller callers[MAX_CALLERS];
    double best = 1e9;
    if (ln_model_open_memory("one.json", one_operator, strlen(one_operator), NULL, &model))
        fail(ln_model_error(model));
    if (pthread_barrier_init(&gate, NULL, (unsigned)n + 1))
        fail("no barrier");
    for (int i = 0; i < n; i++) {
        callers[i] = (caller){.gate = &gate, .session = create(model)};
        if (pthread_create(&callers[i].thread, NULL, call_often, &callers[i]))
            fail("no thread");
    }
    for (int k = 0; k < N_ROUNDS; k++) {
        const double each = run_round(&gate, callers, n);
        best = each < best ? each : best;
    }
    printf("{\"call_us\": %.3f, \"threads\": %d}\n", best * 1e3, n);
    for (int i = 0; i < n; i++) {
        pthread_join(callers[i].thread, NULL);
        ln_session_free(callers[i].session);
    }
    pthread_barrier_destroy(&gate);
    ln_model_free(model);
}

static const struct {
    const char *name;
    void (*show)(const char *file, const sizes *s);
} rows[] = {
    {"memory", show_memory},
    {"threads", show_threads},
    {"first", show_first},
    {"random", show_random},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    sizes s = {.n = 0};
    if ((argc == 2 || argc == 3) && !strcmp(argv[1], "call")) {
        const long n = argc == 3 ? strtol(argv[2], NULL, 10) : 1;
        if (n < 1 || n > MAX_CALLERS)
            fail("expected 1 to 64 threads");
        return show_call((int)n), 0;
    }
    for (int i = 3; i < argc; i++)
        parse_size(&s, argv[i]);
    for (int i = 0; argc > 2 && rows[i].name; i++)
        if (!strcmp(argv[1], rows[i].name))
            return rows[i].show(argv[2], &s), 0;
    fail("expected memory, threads, first or random, a model and sizes, or call");
}
