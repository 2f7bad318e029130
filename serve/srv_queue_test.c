// SPDX-License-Identifier: Apache-2.0
// Tests of queues: batches, limits, deadlines, cancellations, the end.

#include "srv_queue.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ln_check.h"
#include "tensorlight/tl_util.h"

enum { SECOND = 1000000000 };

// A request of `rows` rows of `columns` elements.
typedef struct item {
    srv_request r; // owns its tensor until it has ended
    atomic_int n_ends;
} item;

static void end_item(void *owner, srv_request *r)
{
    item *const it = r->owner;
    srv_request_drop_tensors(r);
    atomic_fetch_add((atomic_int *)owner, 1);
    atomic_fetch_add(&it->n_ends, 1);
}

static void make(item *it, int rows, int columns)
{
    memset(it, 0, sizeof(*it));
    it->r = (srv_request){.rows = rows, .arrival = tl_clock(), .owner = it};
    ck_assert(!srv_request_inputs(&it->r, 1));
    *it->r.inputs =
        (srv_tensor){.name = strdup("x"), .dtype = TL_FLOAT, .ndim = 2, .dims = {rows, columns}};
    ck_assert_ptr_nonnull(it->r.inputs->name);
}

static atomic_int n_ended;

static srv_queue *create(int max_requests, int max_rows, uint64_t wait_ns)
{
    atomic_store(&n_ended, 0);
    return srv_queue_create(&(srv_queue_limits){max_requests, max_rows, wait_ns, NULL}, end_item,
                            &n_ended);
}

static void push(srv_queue *q, item *it)
{
    ck_assert_msg(!srv_queue_push(q, &it->r), "%s", it->r.error.text);
}

// Takes a batch, and expects these sizes.
static void expect_batch(srv_queue *q, int n, int rows)
{
    srv_batch batch;
    ck_assert_int_eq(srv_queue_take(q, NULL, &batch), 0);
    ck_assert_int_eq(batch.n, n);
    ck_assert_int_eq(batch.rows, rows);
    srv_queue_finish(q, &batch);
}

START_TEST(requests_that_fit_run_together_in_their_order)
{
    srv_queue *const q = create(100, 8, 0);
    item it[6];
    const int rows[] = {3, 2, 4, 3, 9, 1}, columns[] = {5, 5, 5, 5, 5, 6};
    for (int i = 0; i < 6; i++) {
        make(&it[i], rows[i], columns[i]);
        push(q, &it[i]);
    }
    ck_assert_int_eq(srv_queue_length(q), 6);
    expect_batch(q, 3, 8); // 3 + 2 + 3: 4 is too many
    expect_batch(q, 1, 4); // 9 is too many
    expect_batch(q, 1, 9); // alone, though it has more than a batch
    expect_batch(q, 1, 1); // of another shape
    ck_assert_int_eq(srv_queue_length(q), 0);
    ck_assert_int_eq(atomic_load(&n_ended), 6);
    srv_queue_free(q);
}
END_TEST

// Axis 1 is padded.
static srv_queue *create_padded(uint64_t wait_ns)
{
    static srv_pad_port port = {.length_of = {-1, 0, -1}, .has_value = 1};
    static const srv_pad pad = {.n_lengths = 1, .inputs = &port, .n_inputs = 1};
    atomic_store(&n_ended, 0);
    return srv_queue_create(&(srv_queue_limits){100, 8, wait_ns, &pad}, end_item, &n_ended);
}

static void push_length(srv_queue *q, item *it, int rows, int length)
{
    make(it, rows, length);
    it->r.lengths[0] = length;
    push(q, it);
}

START_TEST(requests_of_different_lengths_run_together_with_little_padding)
{
    srv_queue *const q = create_padded(0);
    item it[5];
    const int rows[] = {1, 1, 1, 6, 1}, lengths[] = {8, 3, 4, 8, 7};
    for (int i = 0; i < 5; i++)
        push_length(q, &it[i], rows[i], lengths[i]);
    expect_batch(q, 3, 8); // 8, 4 and 8: 3 would make 5 of 16 elements padding
    expect_batch(q, 1, 1); // 3: too short beside 7
    expect_batch(q, 1, 1);
    srv_queue_free(q);
}
END_TEST

START_TEST(only_padded_axes_may_differ)
{
    srv_queue *const q = create_padded(0);
    item it[2];
    for (int i = 0; i < 2; i++) {
        make(&it[i], 1, 4);
        it[i].r.inputs->ndim = 3;
        it[i].r.inputs->dims[2] = 5 + i;
        it[i].r.lengths[0] = 4;
        push(q, &it[i]);
    }
    expect_batch(q, 1, 1);
    expect_batch(q, 1, 1);
    srv_queue_free(q);
}
END_TEST

START_TEST(one_row_at_most_means_no_batches)
{
    srv_queue *const q = create(100, 1, SECOND);
    item it[2];
    for (int i = 0; i < 2; i++) {
        make(&it[i], 1, 5);
        push(q, &it[i]);
    }
    const uint64_t start = tl_clock();
    expect_batch(q, 1, 1);
    expect_batch(q, 1, 1);
    ck_assert(tl_clock() - start < SECOND / 2);
    srv_queue_free(q);
}
END_TEST

START_TEST(full_queue_is_busy)
{
    srv_queue *const q = create(2, 1, 0);
    item it[3];
    for (int i = 0; i < 3; i++)
        make(&it[i], 1, 5);
    push(q, &it[0]);
    push(q, &it[1]);
    ck_assert_int_eq(srv_queue_push(q, &it[2].r), -1);
    ck_assert_int_eq((int)it[2].r.error.status, SRV_BUSY);
    expect_batch(q, 1, 1);
    it[2].r.error.status = SRV_OK;
    push(q, &it[2]);
    expect_batch(q, 1, 1);
    expect_batch(q, 1, 1);
    srv_queue_free(q);
}
END_TEST

START_TEST(closed_queue_gives_what_it_has)
{
    srv_queue *const q = create(2, 4, 10ull * SECOND);
    item it[2];
    srv_batch batch;
    for (int i = 0; i < 2; i++)
        make(&it[i], 1, 5);
    push(q, &it[0]);
    srv_queue_close(q);
    ck_assert_int_eq(srv_queue_push(q, &it[1].r), -1);
    ck_assert_int_eq((int)it[1].r.error.status, SRV_UNAVAILABLE);
    srv_request_drop_tensors(&it[1].r);
    expect_batch(q, 1, 1); // at once
    ck_assert_int_eq(srv_queue_take(q, NULL, &batch), -1);
    srv_queue_free(q);
}
END_TEST

START_TEST(late_requests_end_in_the_queue)
{
    srv_queue *const q = create(4, 4, 0);
    item it[3];
    for (int i = 0; i < 3; i++)
        make(&it[i], 1, 5);
    it[0].r.deadline = it[0].r.arrival + 10;
    it[1].r.deadline = it[1].r.arrival + 10ull * SECOND;
    for (int i = 0; i < 3; i++)
        push(q, &it[i]);
    srv_queue_expire(q, it[0].r.arrival + SECOND);
    ck_assert_int_eq(it[0].n_ends, 1);
    ck_assert_int_eq((int)it[0].r.error.status, SRV_TIMEOUT);
    expect_batch(q, 2, 2);
    srv_queue_free(q);
}
END_TEST

START_TEST(cancelled_request_ends_in_the_queue)
{
    srv_queue *const q = create(4, 4, 0);
    item it[3];
    for (int i = 0; i < 3; i++) {
        make(&it[i], 1, 5);
        push(q, &it[i]);
    }
    srv_queue_cancel(q, &it[2].r); // the last: the end of the list moves
    srv_queue_cancel(q, &it[2].r); // has ended
    ck_assert_int_eq(it[2].n_ends, 1);
    ck_assert_int_eq((int)it[2].r.error.status, SRV_CANCELLED);
    make(&it[2], 1, 5);
    push(q, &it[2]);
    expect_batch(q, 3, 3);
    srv_queue_free(q);
}
END_TEST

START_TEST(late_request_ends_before_its_run)
{
    srv_queue *const q = create(4, 4, 0);
    srv_batch batch;
    item it[2];
    for (int i = 0; i < 2; i++) {
        make(&it[i], 1, 5);
        it[i].r.deadline = i ? 0 : it[i].r.arrival + SECOND;
        push(q, &it[i]);
    }
    ck_assert_int_eq(srv_queue_take(q, NULL, &batch), 0);
    srv_queue_expire(q, it[0].r.deadline - 1);
    ck_assert_int_eq(it[0].n_ends, 0);
    srv_queue_expire(q, it[0].r.deadline);
    ck_assert_int_eq(it[0].n_ends, 1);
    ck_assert_int_eq((int)it[0].r.error.status, SRV_TIMEOUT);
    ck_assert_str_eq(batch.first->inputs->name, "x"); // the run goes on with the twin
    ck_assert_int_eq(batch.n_cancelled, 1);
    srv_queue_cancel(q, &it[1].r);
    ck_assert_int_eq(batch.n_cancelled, 2); // of 2: the run ends
    srv_queue_expire(q, it[0].r.deadline + SECOND);
    srv_queue_finish(q, &batch);
    ck_assert_int_eq(it[0].n_ends, 1);
    ck_assert_int_eq(it[1].n_ends, 1);
    srv_queue_free(q);
}
END_TEST

// Threads

typedef struct worker {
    srv_queue *q;
    pthread_t thread;
    int runs[64], n_runs; // rows of each
} worker;

static void *work(void *data)
{
    worker *const w = data;
    srv_batch batch;
    while (!srv_queue_take(w->q, NULL, &batch)) {
        if (w->n_runs < 64)
            w->runs[w->n_runs++] = batch.rows;
        srv_queue_finish(w->q, &batch);
    }
    return NULL;
}

static void start(worker *w, int n, srv_queue *q)
{
    for (int i = 0; i < n; i++) {
        w[i] = (worker){.q = q};
        pthread_create(&w[i].thread, NULL, work, &w[i]);
    }
}

static void stop(worker *w, int n, srv_queue *q)
{
    srv_queue_close(q);
    for (int i = 0; i < n; i++)
        pthread_join(w[i].thread, NULL);
    srv_queue_free(q);
}

static void wait_for_ends(int n)
{
    for (int i = 0; i < 10000 && atomic_load(&n_ended) < n; i++)
        usleep(1000);
    ck_assert_int_eq(atomic_load(&n_ended), n);
}

START_TEST(idle_workers_leave_requests_to_the_batch_that_waits)
{
    srv_queue *const q = create(100, 4, 10ull * SECOND);
    worker w[3];
    item it[8];
    start(w, 3, q);
    for (int i = 0; i < 8; i++) {
        make(&it[i], 1, i % 2 ? 5 : 6);
        push(q, &it[i]);
        usleep(2000);
    }
    wait_for_ends(8); // both batches are full
    ck_assert_int_eq(w[0].n_runs + w[1].n_runs + w[2].n_runs, 2);
    stop(w, 3, q);
}
END_TEST

START_TEST(batch_that_waits_loses_late_and_cancelled_requests)
{
    srv_queue *const q = create(100, 8, SECOND / 5);
    worker w[1];
    item it[3];
    start(w, 1, q);
    for (int i = 0; i < 3; i++) {
        make(&it[i], 1, 5);
        it[i].r.deadline = i ? 0 : it[i].r.arrival + SECOND;
        push(q, &it[i]);
    }
    usleep(10000);
    srv_queue_cancel(q, &it[1].r);
    srv_queue_expire(q, it[0].r.deadline);
    ck_assert_int_eq((int)it[0].r.error.status, SRV_TIMEOUT);
    ck_assert_int_eq((int)it[1].r.error.status, SRV_CANCELLED);
    wait_for_ends(3);
    ck_assert_int_eq((int)it[2].r.error.status, SRV_OK);
    stop(w, 1, q);
    ck_assert_int_eq(w[0].n_runs, 1);
    ck_assert_int_eq(w[0].runs[0], 1);
}
END_TEST

// Milliseconds until a request runs that has so many.
static int wait_of(srv_queue *q, int ms)
{
    srv_batch batch;
    item it;
    make(&it, 1, 5);
    it.r.deadline = it.r.arrival + (uint64_t)ms * 1000000;
    push(q, &it);
    ck_assert_int_eq(srv_queue_take(q, NULL, &batch), 0);
    const int waited = (int)((tl_clock() - it.r.queued) / 1000000);
    usleep(50000); // the run
    srv_queue_finish(q, &batch);
    return waited;
}

START_TEST(batch_does_not_wait_for_the_deadline_of_a_request)
{
    srv_queue *const q = create(100, 8, 100ull * SECOND);
    const int first = wait_of(q, 400), second = wait_of(q, 80), third = wait_of(q, 20);
    ck_assert_msg(first >= 190 && first < 390, "%d ms of 400", first); // half
    ck_assert_msg(second < 35, "%d ms of 80", second);                 // a run takes 50
    ck_assert_msg(third < 15, "%d ms of 20", third);                   // it is late already
    ck_assert_int_eq(atomic_load(&n_ended), 3);
    srv_queue_free(q);
}
END_TEST

// A request that joins after a while.
typedef struct later {
    srv_queue *q;
    item it;
} later;

static void *push_later(void *data)
{
    later *const l = data;
    usleep(20000);
    make(&l->it, 1, 5);
    l->it.r.deadline = l->it.r.arrival + SECOND / 10;
    push(l->q, &l->it);
    return NULL;
}

START_TEST(request_that_joins_a_batch_shortens_its_wait)
{
    srv_queue *const q = create(100, 8, 100ull * SECOND);
    later second = {.q = q};
    item first;
    pthread_t thread;
    make(&first, 1, 5);
    push(q, &first);
    pthread_create(&thread, NULL, push_later, &second);
    expect_batch(q, 2, 2);
    pthread_join(thread, NULL);
    ck_assert_int_eq((int)second.it.r.error.status, SRV_OK);
    srv_queue_free(q);
}
END_TEST

START_TEST(worker_whose_batch_has_become_empty_takes_the_next)
{
    srv_queue *const q = create(100, 8, 10ull * SECOND);
    worker w[1];
    item it[2];
    start(w, 1, q);
    make(&it[0], 1, 5);
    make(&it[1], 8, 5);
    push(q, &it[0]);
    usleep(10000);
    srv_queue_cancel(q, &it[0].r);
    push(q, &it[1]); // full at once
    wait_for_ends(2);
    stop(w, 1, q);
}
END_TEST

START_TEST(batch_that_waits_takes_other_lengths)
{
    srv_queue *const q = create_padded(10ull * SECOND);
    worker w[1];
    item it[3];
    start(w, 1, q);
    push_length(q, &it[0], 3, 8);
    usleep(10000);
    push_length(q, &it[1], 4, 2); // too short: 24 of 56 elements would be padding
    push_length(q, &it[2], 5, 6); // the batch is full
    wait_for_ends(2);
    ck_assert_int_eq(it[1].n_ends, 0);
    stop(w, 1, q);
    ck_assert_int_eq(w[0].runs[0], 8);
    ck_assert_int_eq(w[0].runs[1], 4);
}
END_TEST

START_TEST(end_cancels_what_waits_and_leaves_the_rest_to_its_worker)
{
    srv_queue *const q = create(100, 2, 0);
    srv_batch batch;
    item it[3];
    for (int i = 0; i < 3; i++) {
        make(&it[i], 1, 5);
        push(q, &it[i]);
    }
    ck_assert_int_eq(srv_queue_take(q, NULL, &batch), 0);
    srv_queue_close(q);
    srv_queue_cancel_all(q);
    ck_assert_int_eq(atomic_load(&n_ended), 1);
    ck_assert_int_eq((int)it[2].r.error.status, SRV_UNAVAILABLE);
    srv_queue_finish(q, &batch);
    ck_assert_int_eq(atomic_load(&n_ended), 3);
    srv_queue_cancel_all(q); // nothing is left
    ck_assert_int_eq(srv_queue_take(q, NULL, &batch), -1);
    ck_assert_int_eq(atomic_load(&n_ended), 3);
    srv_queue_free(q);
}
END_TEST

// Many threads push, cancel and expire; each request ends once.
enum { N_CLIENTS = 4, N_EACH = 2000 };

static item all[N_CLIENTS][N_EACH];

typedef struct client {
    srv_queue *q;
    int index;
    pthread_t thread;
} client;

static void *ask(void *data)
{
    const client *const c = data;
    item *const items = all[c->index];
    for (int i = 0; i < N_EACH; i++) {
        make(&items[i], 1 + i % 3, 5 + i % 2);
        items[i].r.deadline = i % 7 ? 0 : items[i].r.arrival + 1000;
        if (srv_queue_push(c->q, &items[i].r))
            end_item(&n_ended, &items[i].r);
        else if (i % 5 == 0)
            srv_queue_cancel(c->q, &items[i].r);
        if (i % 50 == 0)
            srv_queue_expire(c->q, tl_clock());
    }
    return NULL;
}

START_TEST(each_request_ends_once)
{
    srv_queue *const q = create(64, 8, 100000);
    worker w[3];
    client clients[N_CLIENTS];
    start(w, 3, q);
    for (int i = 0; i < N_CLIENTS; i++) {
        clients[i] = (client){.q = q, .index = i};
        pthread_create(&clients[i].thread, NULL, ask, &clients[i]);
    }
    for (int i = 0; i < N_CLIENTS; i++)
        pthread_join(clients[i].thread, NULL);
    stop(w, 3, q);
    ck_assert_int_eq(atomic_load(&n_ended), N_CLIENTS * N_EACH);
    for (int i = 0; i < N_CLIENTS; i++)
        for (int k = 0; k < N_EACH; k++)
            ck_assert_int_eq(all[i][k].n_ends, 1);
}
END_TEST

LN_TEST_MAIN("queue", requests_that_fit_run_together_in_their_order,
             requests_of_different_lengths_run_together_with_little_padding,
             only_padded_axes_may_differ, one_row_at_most_means_no_batches, full_queue_is_busy,
             closed_queue_gives_what_it_has, late_requests_end_in_the_queue,
             cancelled_request_ends_in_the_queue, late_request_ends_before_its_run,
             idle_workers_leave_requests_to_the_batch_that_waits,
             batch_that_waits_loses_late_and_cancelled_requests,
             batch_does_not_wait_for_the_deadline_of_a_request,
             request_that_joins_a_batch_shortens_its_wait,
             worker_whose_batch_has_become_empty_takes_the_next,
             batch_that_waits_takes_other_lengths,
             end_cancels_what_waits_and_leaves_the_rest_to_its_worker, each_request_ends_once)
