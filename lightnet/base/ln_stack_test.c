// SPDX-License-Identifier: Apache-2.0
// Tests of stacks.

#include "lightnet/ln_stack.h"

#include <stdint.h>

#include "base/ln_alloc_fail.h"

#include "ln_check.h"

static void *number(int n)
{
    return (void *)(intptr_t)n;
}

START_TEST(first_in_is_last_out)
{
    ln_stack *stack = ln_stack_create();
    for (int i = 1; i <= 3; i++) {
        ck_assert_ptr_eq(ln_stack_push(stack, number(i)), stack);
        ck_assert_ptr_eq(stack->top->data, number(i));
    }
    for (int i = 3; i >= 1; i--) {
        ck_assert_int_eq(ln_stack_is_valid(stack), LN_TRUE);
        ck_assert_uint_eq(stack->size, i);
        ck_assert_ptr_eq(ln_stack_pop(stack), number(i));
    }
    ck_assert_ptr_null(ln_stack_pop(stack));
    ck_assert_uint_eq(stack->size, 0);
    ln_stack_free(stack);
}
END_TEST

START_TEST(null_stack_is_created_on_the_way)
{
    ln_stack *stack = ln_stack_push(NULL, number(1));
    ck_assert_uint_eq(stack->size, 1);
    ln_stack_free(stack);
    ck_assert_ptr_null(ln_stack_pop(NULL));
    ln_stack_free(NULL);
}
END_TEST

START_TEST(stack_survives_every_failing_allocation)
{
    for (int n = 0; n < 2; n++) {
        ln_alloc_fail_after(n);
        ck_assert_ptr_null(ln_stack_push(NULL, number(1)));
        ck_assert_int_eq(ln_alloc_fail_stop(), LN_TRUE);
    }
    ln_stack *stack = ln_stack_push(NULL, number(1));
    ln_alloc_fail_after(0);
    ck_assert_ptr_null(ln_stack_push(stack, number(2)));
    ln_alloc_fail_stop();
    ck_assert_int_eq(ln_stack_is_valid(stack), LN_TRUE);
    ck_assert_ptr_eq(ln_stack_pop(stack), number(1));
    ln_stack_free(stack);
}
END_TEST

START_TEST(broken_stack_is_not_valid)
{
    ln_stack *stack = ln_stack_push(NULL, number(1));
    stack->size = 2;
    ck_assert_int_eq(ln_stack_is_valid(stack), LN_FALSE);
    ln_stack_free(stack);
}
END_TEST

LN_TEST_MAIN("stack", first_in_is_last_out, null_stack_is_created_on_the_way,
             stack_survives_every_failing_allocation, broken_stack_is_not_valid)
