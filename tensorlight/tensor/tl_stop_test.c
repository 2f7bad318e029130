// SPDX-License-Identifier: Apache-2.0
// Tests of requests to stop.

#include "tensor/tl_stop.h"

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "ln_check.h"
#include "tensorlight/tl_util.h"

START_TEST(without_a_stop_nothing_is_requested)
{
    ck_assert_int_eq(tl_stop_is_requested(NULL), 0);
    tl_stop_free(NULL);
}
END_TEST

START_TEST(a_request_holds_until_it_is_cleared)
{
    tl_stop *const stop = tl_stop_create();
    ck_assert_int_eq(tl_stop_is_requested(stop), 0);
    tl_stop_request(stop);
    tl_stop_set_deadline(stop, 0);
    ck_assert_int_eq(tl_stop_is_requested(stop), 1);
    ck_assert_int_eq(tl_stop_is_requested(stop), 1);
    tl_stop_clear(stop);
    ck_assert_int_eq(tl_stop_is_requested(stop), 0);
    tl_stop_free(stop);
}
END_TEST

START_TEST(a_deadline_requests_once_its_time_has_come)
{
    tl_stop *const stop = tl_stop_create();
    const uint64_t now = tl_clock(), hour = UINT64_C(3600000000000);
    const struct {
        uint64_t deadline;
        int expected;
    } rows[] = {{0, 0}, {1, 1}, {now, 1}, {now + hour, 0}, {UINT64_MAX, 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        tl_stop_set_deadline(stop, rows[i].deadline);
        ck_assert_int_eq(tl_stop_is_requested(stop), rows[i].expected);
    }
    tl_stop_set_deadline(stop, tl_clock() + 20000000);
    while (!tl_stop_is_requested(stop))
        usleep(1000);
    tl_stop_clear(stop);
    ck_assert_int_eq(tl_stop_is_requested(stop), 0);
    tl_stop_free(stop);
}
END_TEST

static void *request(void *stop)
{
    usleep(10000);
    tl_stop_request(stop);
    return NULL;
}

START_TEST(another_thread_may_request)
{
    tl_stop *const stop = tl_stop_create();
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, request, stop), 0);
    while (!tl_stop_is_requested(stop))
        usleep(100);
    pthread_join(thread, NULL);
    tl_stop_free(stop);
}
END_TEST

START_TEST(tests_request_at_a_check)
{
    tl_stop *const stop = tl_stop_create();
    for (size_t n = 0; n < 4; n++) {
        tl_stop_request_at(stop, n);
        for (size_t i = 1; i < 6; i++)
            ck_assert_int_eq(tl_stop_is_requested(stop), n > 0 && i >= n);
        ck_assert_uint_eq(tl_stop_checks(stop), 5);
    }
    tl_stop_clear(stop);
    ck_assert_int_eq(tl_stop_is_requested(stop), 0);
    tl_stop_free(stop);
}
END_TEST

LN_TEST_MAIN("tl_stop", without_a_stop_nothing_is_requested, a_request_holds_until_it_is_cleared,
             a_deadline_requests_once_its_time_has_come, another_thread_may_request,
             tests_request_at_a_check)
