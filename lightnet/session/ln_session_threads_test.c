// SPDX-License-Identifier: Apache-2.0
// Tests of sessions in threads: they share models, change shapes, cancel each other, fail for want
// of memory, and end in any order. LN_TEST_SECONDS: how long (default 1), as for a build with
// -Db_sanitize=thread.

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_session.h"
#include "ln_check.h"
#include "ln_tiny_onnx.h"

enum { N_THREADS = 4, MAX_ROWS = 8, COLUMNS = 16 };

static double seconds(void)
{
    const char *text = getenv("LN_TEST_SECONDS");
    return text ? atof(text) : 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// y = relu(x * w), w being the identity: some packed weights, any number of rows.
static tiny_bytes product_model(void)
{
    tiny_model m = {.graph.size = 0};
    float w[COLUMNS] = {0};
    for (int i = 0; i < COLUMNS; i++)
        w[i] = 1;
    tiny_input(&m, "x", TINY_FLOAT, "rows,16");
    tiny_constant(&m, "w", TINY_FLOAT, COLUMNS, w, sizeof(w));
    tiny_node(&m, "Mul", "x", "w", "h");
    tiny_node(&m, "Relu", "h", NULL, "y");
    tiny_output(&m, "y", TINY_FLOAT, "rows,16");
    return tiny_end(&m);
}

static ln_model *open_model(tiny_bytes bytes, int n_programs)
{
    ln_model *model;
    char text[16];
    ln_options *options = ln_options_create();
    snprintf(text, sizeof(text), "%d", n_programs);
    ck_assert_int_eq(ln_options_set(options, "programs", text), LN_OK);
    ck_assert_msg(!ln_model_open_memory("m.onnx", bytes.data, bytes.size, options, &model), "%s",
                  ln_model_error(NULL));
    ln_options_free(options);
    return model;
}

// The task of a thread; failures are counted, since Check supports assertions only in its own
// thread.
typedef struct worker {
    pthread_t thread;
    ln_model *model;
    int has_axes;
    double end;
    unsigned random;
    int fails_allocations;
    int runs, cancelled, failed, wrong; // calls that ended so
    struct worker *others;
    pthread_mutex_t lock; // of session, for those who cancel it
    ln_session *session;
} worker;

static int draw(worker *w, int n)
{
    w->random = w->random * 1103515245 + 12345;
    return (int)(w->random >> 16) % n;
}

static int is_sum(const tl_tensor *y, const float *x, int rows, int axis)
{
    const int n = axis ? rows : COLUMNS, step = axis ? COLUMNS : 1;
    if (!y || y->len != n)
        return 0;
    for (int i = 0; i < n; i++) { // whole numbers: exact in any order
        float sum = 0;
        for (int k = 0; k < (axis ? COLUMNS : rows); k++)
            sum += x[i * step + k * (axis ? 1 : COLUMNS)];
        if (((const float *)y->data)[i] != sum)
            return 0;
    }
    return 1;
}

static int is_right(const tl_tensor *y, const float *x, int rows)
{
    if (!y || y->dims[0] != rows)
        return 0;
    for (int i = 0; i < rows * COLUMNS; i++)
        if (((const float *)y->data)[i] != (x[i] > 0 ? x[i] : 0))
            return 0;
    return 1;
}

static ln_status run_once(worker *w, ln_session *session)
{
    float x[MAX_ROWS * COLUMNS];
    const int rows = 1 + draw(w, MAX_ROWS), dims[] = {rows, COLUMNS};
    for (int i = 0; i < rows * COLUMNS; i++)
        x[i] = (float)(draw(w, 200) - 100);
    const int64_t axis = draw(w, 2);
    ln_status status = ln_session_set_input(session, "x", TL_FLOAT, 2, dims, x);
    if (status == LN_OK && w->has_axes)
        status = ln_session_set_input(session, "axes", TL_INT64, 1, (const int[]){1}, &axis);
    if (status == LN_OK)
        status = ln_session_run(session);
    if (status != LN_OK)
        return status;
    const tl_tensor *y = ln_session_output(session, "y");
    w->wrong += !(w->has_axes ? is_sum(y, x, rows, (int)axis) : is_right(y, x, rows));
    return LN_OK;
}

static void count(worker *w, ln_status status)
{
    w->runs += status == LN_OK;
    w->cancelled += status == LN_CANCELLED;
    w->failed += status == LN_OUT_OF_MEMORY;
    w->wrong += status != LN_OK && status != LN_CANCELLED && status != LN_OUT_OF_MEMORY;
}

static void cancel_another(worker *w)
{
    worker *other = &w->others[draw(w, N_THREADS)];
    pthread_mutex_lock(&other->lock);
    ln_session_cancel(other->session); // NULL between two sessions
    pthread_mutex_unlock(&other->lock);
}

static void show(worker *w, ln_session *session)
{
    pthread_mutex_lock(&w->lock);
    w->session = session;
    pthread_mutex_unlock(&w->lock);
}

static void use_session(worker *w, ln_session *session)
{
    show(w, session);
    for (int n = draw(w, 20); n >= 0; n--) {
        if (w->fails_allocations)
            ln_alloc_fail_after(draw(w, 1000));
        const ln_status status = run_once(w, session);
        if (w->fails_allocations)
            ln_alloc_fail_stop();
        count(w, status);
        if (draw(w, 4) == 0)
            cancel_another(w);
        if (status == LN_CANCELLED)
            ln_session_resume(session);
    }
    show(w, NULL);
    ln_session_free(session);
}

// How many workers need the model no longer.
static atomic_int n_done;

// Slow machines need longer.
static int has_done_all(const worker *w)
{
    return w->runs > 0 && (w->failed > 0 || !w->fails_allocations) && now() >= w->end;
}

// The last session lives longer than the model.
static void *work(void *data)
{
    worker *w = data;
    ln_session *session, *last;
    const ln_status status = ln_session_create(w->model, &last);
    while (!has_done_all(w)) {
        if (ln_session_create(w->model, &session) == LN_OK)
            use_session(w, session);
        else
            w->wrong++;
    }
    atomic_fetch_add(&n_done, 1);
    if (status == LN_OK)
        use_session(w, last);
    else
        w->wrong++;
    return NULL;
}

static void free_when_done(ln_model *model)
{
    while (atomic_load(&n_done) < N_THREADS)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    ln_model_free(model);
}

static void run_workers(int has_axes, int n_programs, int fails_allocations)
{
    static worker workers[N_THREADS];
    const double end = now() + seconds();
    ln_model *model =
        open_model(has_axes ? tiny_sum_over_axes("rows,16") : product_model(), n_programs);
    atomic_store(&n_done, 0);
    for (int i = 0; i < N_THREADS; i++) {
        workers[i] = (worker){.model = model,
                              .has_axes = has_axes,
                              .end = end,
                              .random = (unsigned)i + 1,
                              .fails_allocations = fails_allocations,
                              .others = workers};
        pthread_mutex_init(&workers[i].lock, NULL);
    }
    for (int i = 0; i < N_THREADS; i++)
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    free_when_done(model);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < N_THREADS; i++) {
        ck_assert_int_gt(workers[i].runs, 0);
        ck_assert_int_eq(workers[i].wrong, 0);
        ck_assert_int_eq(workers[i].failed > 0, fails_allocations);
        pthread_mutex_destroy(&workers[i].lock);
    }
}

#define TEST_WORKERS(name, has_axes, n_programs, fails_allocations) \
    START_TEST(name)                                                \
    {                                                               \
        if (!strstr(ln_build_info(), "ONNX")) {                     \
            ln_check_skip("a build without ONNX models");           \
            return;                                                 \
        }                                                           \
        run_workers(has_axes, n_programs, fails_allocations);       \
    }                                                               \
    END_TEST

TEST_WORKERS(sessions_share_a_model_and_cancel_each_other, 0, 16, 0)
TEST_WORKERS(sessions_share_a_model_that_keeps_few_programs, 0, 2, 0)
TEST_WORKERS(sessions_share_a_model_that_decides_on_values, 1, 16, 0)
TEST_WORKERS(a_session_without_memory_leaves_others_alone, 0, 2, 1)

LN_TEST_MAIN("sessions in threads", sessions_share_a_model_and_cancel_each_other,
             sessions_share_a_model_that_keeps_few_programs,
             sessions_share_a_model_that_decides_on_values,
             a_session_without_memory_leaves_others_alone)
