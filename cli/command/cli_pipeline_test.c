// SPDX-License-Identifier: Apache-2.0
// Tests of cli_pipeline.c: order, how many items there are at a time, and how it stops.

#include "command/cli_pipeline.h"

#include <limits.h>
#include <stdatomic.h>
#include <unistd.h>

#include "ln_check.h"

enum { N = 500 };

// What the steps have seen.
typedef struct work {
    atomic_int n_decoded[N];
    int is_run[N];
    atomic_int n_inside; // items from the begin of decoding to the end of writing
    atomic_int max_inside;
    int n_written;
    int n_out_of_order;
    int fails_at;       // item whose writing fails; -1: none
    int stop;           // before this item; -1: never
    atomic_int n_there; // items that the source has without waiting
    atomic_int is_stopped;
    atomic_int next;
    cli_pipeline *pipeline;
} work;

static void decode(void *data, int item)
{
    work *w = data;
    const int n = atomic_fetch_add(&w->n_inside, 1) + 1;
    int max = atomic_load(&w->max_inside);
    while (n > max && !atomic_compare_exchange_weak(&w->max_inside, &max, n))
        ;
    atomic_fetch_add(&w->n_decoded[item], 1);
}

static int write_item(void *data, int item)
{
    work *w = data;
    w->n_out_of_order += item != w->n_written || !w->is_run[item];
    if (item == w->fails_at)
        return -1;
    w->n_written++;
    atomic_fetch_sub(&w->n_inside, 1);
    return 0;
}

static void run_items(void *data, int runner)
{
    work *w = data;
    (void)runner;
    for (int i; (i = atomic_fetch_add(&w->next, 1)) < N;) {
        if (i == w->stop)
            cli_pipeline_stop(w->pipeline);
        if (cli_pipeline_wait(w->pipeline, i))
            return;
        ck_assert_int_eq(atomic_load(&w->n_decoded[i]), 1);
        w->is_run[i] = 1;
        if (cli_pipeline_done(w->pipeline, i))
            return;
    }
}

// Runs all items, until it is stopped or before item w->stop. Returns the number written.
static int run(work *w, int n_decoders, int capacity, int n_runners)
{
    const cli_pipeline_steps steps = {.data = w,
                                      .n = N,
                                      .capacity = capacity,
                                      .n_decoders = n_decoders,
                                      .decode = decode,
                                      .write = write_item};
    w->pipeline = cli_pipeline_start(&steps);
    ck_assert_ptr_nonnull(w->pipeline);
    cli_pipeline_run(w->pipeline, n_runners, run_items);
    return cli_pipeline_finish(w->pipeline);
}

static const struct {
    int n_decoders, capacity, n_runners;
} sizes[] = {{0, 1, 1}, {1, 1, 1}, {1, 2, 1}, {3, 1, 1}, {3, 5, 1}, {4, N, 1}, {4, 2 * N, 1},
             {0, 1, 3}, {1, 1, 2}, {1, 2, 3}, {3, 5, 3}, {2, 9, 8}, {4, N, 2}, {4, 2 * N, 4}};

enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

START_TEST(all_items_are_written_once_and_in_order)
{
    for (int i = 0; i < N_SIZES; i++) {
        work w = {.fails_at = -1, .stop = -1};
        ck_assert_int_eq(run(&w, sizes[i].n_decoders, sizes[i].capacity, sizes[i].n_runners), N);
        ck_assert_int_eq(w.n_written, N);
        ck_assert_int_eq(w.n_out_of_order, 0);
        ck_assert_int_le(atomic_load(&w.max_inside), sizes[i].capacity);
    }
}
END_TEST

START_TEST(after_a_stop_what_is_done_is_written)
{
    for (int i = 0; i < N_SIZES; i++) {
        work w = {.fails_at = -1, .stop = 100};
        const int n = run(&w, sizes[i].n_decoders, sizes[i].capacity, sizes[i].n_runners);
        // Others may have stopped in front of an item before that one.
        ck_assert_int_le(n, 100);
        ck_assert_int_gt(n, sizes[i].n_runners > 1 ? 0 : 99);
        ck_assert_int_eq(w.n_written, n);
        ck_assert_int_eq(w.n_out_of_order, 0);
    }
}
END_TEST

START_TEST(a_failure_to_write_stops_it)
{
    for (int i = 0; i < N_SIZES; i++) {
        work w = {.fails_at = 100, .stop = -1};
        ck_assert_int_eq(run(&w, sizes[i].n_decoders, sizes[i].capacity, sizes[i].n_runners), 100);
        ck_assert_int_eq(w.n_written, 100);
        ck_assert_int_eq(w.n_out_of_order, 0);
    }
}
END_TEST

// A source

// Has n_there items now, and all N when it is waited for, as if they came later.
static int next_item(void *data, int item, int may_wait)
{
    work *w = data;
    ck_assert_int_le(item, N);
    if (item < atomic_load(&w->n_there))
        return item < N;
    if (!may_wait)
        return item < N ? -1 : 0;
    atomic_fetch_add(&w->n_there, 1);
    return item < N;
}

static void stop_source(void *data)
{
    work *w = data;
    atomic_store(&w->is_stopped, 1);
}

static cli_pipeline_steps source_steps(work *w, int i)
{
    return (cli_pipeline_steps){.data = w,
                                .n = INT_MAX,
                                .capacity = sizes[i].capacity,
                                .n_decoders = sizes[i].n_decoders,
                                .decode = decode,
                                .write = write_item,
                                .next = next_item,
                                .stop = stop_source};
}

static void run_source(void *data, int runner)
{
    work *w = data;
    (void)runner;
    for (int i; !cli_pipeline_wait(w->pipeline, i = atomic_fetch_add(&w->next, 1));) {
        ck_assert_int_eq(atomic_load(&w->n_decoded[i]), 1);
        w->is_run[i] = 1;
        if (cli_pipeline_done(w->pipeline, i))
            return;
    }
}

START_TEST(all_items_of_a_source_are_written_until_it_ends)
{
    for (int i = 0; i < N_SIZES; i++) {
        work w = {.fails_at = -1, .stop = -1};
        const cli_pipeline_steps steps = source_steps(&w, i);
        w.pipeline = cli_pipeline_start(&steps);
        ck_assert_ptr_nonnull(w.pipeline);
        cli_pipeline_run(w.pipeline, sizes[i].n_runners, run_source);
        ck_assert_int_eq(cli_pipeline_finish(w.pipeline), N);
        ck_assert_int_eq(w.n_written, N);
        ck_assert_int_eq(w.n_out_of_order, 0);
        ck_assert_int_le(atomic_load(&w.max_inside), sizes[i].capacity);
        ck_assert_int_eq(atomic_load(&w.is_stopped), 0);
    }
}
END_TEST

// Ends only when it is stopped.
static int wait_for_stop(void *data, int item, int may_wait)
{
    work *w = data;
    if (item < 3)
        return 1;
    while (may_wait && !atomic_load(&w->is_stopped))
        usleep(1000);
    return may_wait ? 0 : -1;
}

static void run_until_missing(void *data, int runner)
{
    work *w = data;
    (void)runner;
    int i = 0;
    for (; cli_pipeline_has(w->pipeline, i); i++)
        ck_assert_int_eq(cli_pipeline_wait(w->pipeline, i), 0);
    ck_assert_int_eq(i, 3);
    for (i = 0; i < 3; i++) {
        w->is_run[i] = 1;
        ck_assert_int_eq(cli_pipeline_done(w->pipeline, i), 0);
    }
    cli_pipeline_stop(w->pipeline);
    ck_assert_int_eq(cli_pipeline_wait(w->pipeline, 3), -1);
    ck_assert_int_eq(cli_pipeline_has(w->pipeline, 3), 0);
}

START_TEST(a_runner_learns_that_the_source_has_no_more_now_and_stops_it)
{
    for (int n_decoders = 0; n_decoders < 4; n_decoders++) {
        work w = {.fails_at = -1, .stop = -1};
        cli_pipeline_steps steps = source_steps(&w, 0);
        steps.capacity = 4;
        steps.n_decoders = n_decoders;
        steps.next = wait_for_stop;
        w.pipeline = cli_pipeline_start(&steps);
        ck_assert_ptr_nonnull(w.pipeline);
        cli_pipeline_run(w.pipeline, 1, run_until_missing);
        ck_assert_int_eq(cli_pipeline_finish(w.pipeline), 3);
        ck_assert_int_eq(w.n_out_of_order, 0);
    }
}
END_TEST

LN_TEST_MAIN("pipeline", all_items_are_written_once_and_in_order,
             after_a_stop_what_is_done_is_written, a_failure_to_write_stops_it,
             all_items_of_a_source_are_written_until_it_ends,
             a_runner_learns_that_the_source_has_no_more_now_and_stops_it)
