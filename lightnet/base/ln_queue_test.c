// SPDX-License-Identifier: Apache-2.0
// Tests of queues.

#include "lightnet/ln_queue.h"

#include <stdint.h>

#include "base/ln_alloc_fail.h"

#include "ln_check.h"

static void *number(int n)
{
    return (void *)(intptr_t)n;
}

START_TEST(first_in_is_first_out)
{
    ln_queue *queue = ln_queue_create();
    for (int i = 1; i <= 3; i++) {
        ck_assert_ptr_eq(ln_queue_enqueue(queue, number(i)), queue);
        ck_assert_int_eq(ln_queue_is_valid(queue), LN_TRUE);
    }
    ck_assert_ptr_eq(queue->head->data, number(3));
    ck_assert_ptr_eq(queue->tail->data, number(1));
    ck_assert_ptr_eq(ln_queue_dequeue(queue), number(1));
    ln_queue_enqueue(queue, number(4));
    for (int i = 2; i <= 4; i++) {
        ck_assert_uint_eq(queue->size, 5 - i);
        ck_assert_ptr_eq(ln_queue_dequeue(queue), number(i));
        ck_assert_int_eq(ln_queue_is_valid(queue), LN_TRUE);
    }
    ln_queue_free(queue);
}
END_TEST

START_TEST(empty_queue_gives_null_and_can_be_refilled)
{
    ln_queue *queue = ln_queue_create();
    ck_assert_ptr_null(ln_queue_dequeue(queue));
    ln_queue_enqueue(queue, number(1));
    ln_queue_dequeue(queue);
    ck_assert_ptr_null(queue->head);
    ck_assert_ptr_null(queue->tail);
    ck_assert_ptr_null(ln_queue_dequeue(queue));
    ln_queue_enqueue(queue, number(2));
    ck_assert_ptr_eq(ln_queue_dequeue(queue), number(2));
    ln_queue_free(queue);
}
END_TEST

START_TEST(null_queue_is_created_on_the_way)
{
    ln_queue *queue = ln_queue_enqueue(NULL, number(1));
    ck_assert_uint_eq(queue->size, 1);
    ck_assert_ptr_eq(ln_queue_dequeue(queue), number(1));
    ln_queue_free(queue);
    ck_assert_ptr_null(ln_queue_dequeue(NULL));
    ln_queue_free(NULL);
}
END_TEST

START_TEST(queue_survives_every_failing_allocation)
{
    for (int n = 0; n < 2; n++) {
        ln_alloc_fail_after(n);
        ck_assert_ptr_null(ln_queue_enqueue(NULL, number(1)));
        ck_assert_int_eq(ln_alloc_fail_stop(), LN_TRUE);
    }
    ln_queue *queue = ln_queue_enqueue(NULL, number(1));
    ln_alloc_fail_after(0);
    ck_assert_ptr_null(ln_queue_enqueue(queue, number(2)));
    ln_alloc_fail_stop();
    ck_assert_int_eq(ln_queue_is_valid(queue), LN_TRUE);
    ck_assert_uint_eq(queue->size, 1);
    ln_queue_free(queue);
}
END_TEST

START_TEST(broken_queue_is_not_valid)
{
    ln_queue *queue = ln_queue_enqueue(NULL, number(1));
    ln_queue_enqueue(queue, number(2));
    queue->size = 3;
    ck_assert_int_eq(ln_queue_is_valid(queue), LN_FALSE);
    queue->size = 2;
    queue->head = queue->tail;
    ck_assert_int_eq(ln_queue_is_valid(queue), LN_FALSE);
    ln_queue_free(queue);
}
END_TEST

LN_TEST_MAIN("queue", first_in_is_first_out, empty_queue_gives_null_and_can_be_refilled,
             null_queue_is_created_on_the_way, queue_survives_every_failing_allocation,
             broken_queue_is_not_valid)
