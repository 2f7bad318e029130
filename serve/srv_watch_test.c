// SPDX-License-Identifier: Apache-2.0
// Tests of the watch: clients that go while the server receives, computes and answers.

#include "srv_watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ln_check.h"

enum { SERVER, CLIENT, LONG_US = 300000, WAIT_US = 5000 }; // LONG_US: longer than the grace

static atomic_int n_cancelled, n_released;
static srv_peer *volatile peer_to_end;

static void count_cancel(void *request)
{
    (void)request;
    atomic_fetch_add(&n_cancelled, 1);
}

static void count_release(void *request)
{
    (void)request;
    atomic_fetch_add(&n_released, 1);
}

static srv_watch *start(void (*cancel)(void *request))
{
    atomic_store(&n_cancelled, 0);
    atomic_store(&n_released, 0);
    srv_watch *const w =
        srv_watch_create(&(srv_watch_events){.cancel = cancel, .release = count_release});
    ck_assert_ptr_nonnull(w);
    return w;
}

static srv_peer *connect_pair(srv_watch *w, int fds[2])
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    srv_peer *const p = srv_watch_add(w, fds[SERVER]);
    ck_assert_ptr_nonnull(p);
    return p;
}

static void end(srv_watch *w, srv_peer *p, const int fds[2])
{
    srv_watch_remove(p);
    close(fds[SERVER]);
    close(fds[CLIENT]);
    srv_watch_free(w);
}

// Whether the server's side was shut down: a write to it fails.
static int is_shut(const int fds[2])
{
    return send(fds[SERVER], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0;
}

static void wait_for(const atomic_int *count)
{
    for (int i = 0; i < 2000 && !atomic_load(count); i++)
        usleep(WAIT_US);
    ck_assert_int_ge(atomic_load(count), 1);
}

START_TEST(connection_that_receives_is_shut_down)
{
    int fds[2];
    srv_watch *const w = start(count_cancel);
    srv_peer *const p = connect_pair(w, fds);
    usleep(LONG_US);
    ck_assert(!is_shut(fds));
    shutdown(fds[CLIENT], SHUT_WR);
    for (int i = 0; i < 2000 && !is_shut(fds); i++)
        usleep(WAIT_US);
    ck_assert(is_shut(fds));
    ck_assert_int_eq(atomic_load(&n_cancelled), 0);
    end(w, p, fds);
}
END_TEST

START_TEST(bytes_that_are_not_read_are_waited_for)
{
    int fds[2];
    char byte;
    srv_watch *const w = start(count_cancel);
    srv_peer *const p = connect_pair(w, fds);
    ck_assert_int_eq(send(fds[CLIENT], "x", 1, 0), 1);
    shutdown(fds[CLIENT], SHUT_WR);
    usleep(LONG_US);
    ck_assert(!is_shut(fds));
    ck_assert_int_eq(recv(fds[SERVER], &byte, 1, 0), 1);
    for (int i = 0; i < 2000 && !is_shut(fds); i++)
        usleep(WAIT_US);
    ck_assert(is_shut(fds));
    end(w, p, fds);
}
END_TEST

START_TEST(answer_is_not_disturbed)
{
    int fds[2];
    srv_watch *const w = start(count_cancel);
    srv_peer *const p = connect_pair(w, fds);
    srv_peer_answer(p);
    shutdown(fds[CLIENT], SHUT_WR);
    usleep(LONG_US);
    ck_assert(!is_shut(fds));
    ck_assert_int_eq(atomic_load(&n_cancelled), 0);
    end(w, p, fds);
}
END_TEST

START_TEST(request_that_waits_is_cancelled)
{
    int fds[2], request;
    srv_watch *const w = start(count_cancel);
    srv_peer *const p = connect_pair(w, fds);
    srv_peer_wait(p, &request);
    usleep(LONG_US);
    ck_assert_int_eq(atomic_load(&n_cancelled), 0);
    shutdown(fds[CLIENT], SHUT_WR);
    wait_for(&n_cancelled);
    ck_assert(!is_shut(fds));
    srv_peer_answer(p);
    ck_assert_int_eq(srv_peer_rest(p, &request), 1);
    ck_assert_int_eq(atomic_load(&n_released), 0);
    end(w, p, fds);
}
END_TEST

START_TEST(client_that_went_before_its_request_waits_is_cancelled)
{
    int fds[2], request;
    srv_watch *const w = start(count_cancel);
    srv_peer *const p = connect_pair(w, fds);
    srv_peer_answer(p);
    shutdown(fds[CLIENT], SHUT_WR);
    usleep(LONG_US);
    srv_peer_wait(p, &request);
    wait_for(&n_cancelled);
    srv_peer_answer(p);
    end(w, p, fds);
}
END_TEST

// As if another thread ended the request, and its connection, while it is cancelled.
static void end_while_cancelling(void *request)
{
    srv_peer_answer(peer_to_end);
    ck_assert_int_eq(srv_peer_rest(peer_to_end, request), 0);
    atomic_fetch_add(&n_cancelled, 1);
}

START_TEST(request_that_ends_while_it_is_cancelled_is_released_later)
{
    int fds[2], request;
    srv_watch *const w = start(end_while_cancelling);
    srv_peer *const p = peer_to_end = connect_pair(w, fds);
    srv_peer_wait(p, &request);
    shutdown(fds[CLIENT], SHUT_WR);
    wait_for(&n_released);
    ck_assert_int_eq(atomic_load(&n_cancelled), 1);
    end(w, p, fds);
}
END_TEST

static void end_request(void *request)
{
    (void)request;
    if (atomic_fetch_add(&n_cancelled, 1) == 3)
        srv_peer_answer(peer_to_end);
}

START_TEST(stop_cancels_what_waits)
{
    int fds[2], request;
    srv_watch *const w = start(end_request);
    srv_peer *const p = peer_to_end = connect_pair(w, fds);
    srv_peer_wait(p, &request);
    srv_watch_stop(w);
    ck_assert_int_eq(atomic_load(&n_cancelled), 4);
    end(w, p, fds);
}
END_TEST

static void *open_and_close(void *watch)
{
    for (int i = 0; i < 2000; i++) {
        int fds[2], request;
        srv_peer *const p = connect_pair(watch, fds);
        if (i % 3)
            close(fds[CLIENT]);
        srv_peer_wait(p, &request);
        srv_peer_answer(p);
        while (!srv_peer_rest(p, &request))
            usleep(1);
        srv_watch_remove(p);
        close(fds[SERVER]);
        if (i % 3 == 0)
            close(fds[CLIENT]);
    }
    return NULL;
}

START_TEST(connections_come_and_go_on_many_threads)
{
    enum { N = 4 };
    pthread_t threads[N];
    srv_watch *const w = start(count_cancel);
    for (int i = 0; i < N; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, open_and_close, w), 0);
    for (int i = 0; i < N; i++)
        pthread_join(threads[i], NULL);
    srv_watch_free(w);
}
END_TEST

LN_TEST_MAIN("srv_watch", connection_that_receives_is_shut_down,
             bytes_that_are_not_read_are_waited_for, answer_is_not_disturbed,
             request_that_waits_is_cancelled,
             client_that_went_before_its_request_waits_is_cancelled,
             request_that_ends_while_it_is_cancelled_is_released_later, stop_cancels_what_waits,
             connections_come_and_go_on_many_threads)
