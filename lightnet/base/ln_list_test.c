// SPDX-License-Identifier: Apache-2.0
// Tests of lists, queues and stacks. Elements are small numbers as pointers; a list is checked by
// its text.

#include "lightnet/ln_list.h"

#include <stdint.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_queue.h"
#include "lightnet/ln_stack.h"

#include "ln_check.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static void *number(int n)
{
    return (void *)(intptr_t)n;
}

// Returns new list of a text's digits.
static ln_list *list_of(const char *digits)
{
    ln_list *list = NULL;
    for (; *digits; digits++) {
        list = ln_list_append(list, number(*digits - '0'));
        ck_assert_ptr_nonnull(list);
    }
    return list;
}

static void check(const ln_list *list, const char *digits)
{
    char text[64] = "";
    size_t len = 0;
    for (; list && len < sizeof(text) - 1; list = list->next)
        text[len++] = (char)('0' + (intptr_t)list->data);
    ck_assert_str_eq(text, digits);
}

static void check_and_free(ln_list *list, const char *digits)
{
    check(list, digits);
    ln_list_free(list);
}

// Calls two numbers equal that are both odd or both even.
static int cmp_parity(const void *a, const void *b)
{
    return (int)(((intptr_t)a ^ (intptr_t)b) & 1);
}

static char freed[16];

static void note_freed(void *data)
{
    const char digit[2] = {(char)('0' + (intptr_t)data), '\0'};
    strcat(freed, digit);
}

START_TEST(list_grows_at_both_ends)
{
    ln_list *list = ln_list_append(NULL, number(2));
    list = ln_list_append(list, number(3));
    list = ln_list_prepend(list, number(1));
    check_and_free(list, "123");
    check_and_free(ln_list_prepend(NULL, number(1)), "1");
    ln_list_free(NULL);
    ln_list_free_deep(NULL, note_freed);
}
END_TEST

START_TEST(foreach_visits_in_order_and_nests)
{
    ln_list *list = list_of("123");
    const char *outer, *inner;
    int sum = 0, last = 0;
    LN_LIST_FOREACH (outer, list) {
        ck_assert_int_gt((int)(intptr_t)outer, last);
        last = (int)(intptr_t)outer;
        LN_LIST_FOREACH (inner, list) {
            if (inner == outer)
                break;
            sum += (int)(intptr_t)inner;
        }
    }
    ck_assert_int_eq(sum, 1 + 1 + 2);
    LN_LIST_FOREACH (outer, NULL)
        ck_abort_msg("the empty list has no element");
    ln_list_free(list);
}
END_TEST

START_TEST(foreach_with_a_declaration_breaks_and_continues)
{
    ln_list *list = list_of("1234");
    int sum = 0, pairs = 0;
    LN_FOREACH (const char *, outer, list) {
        if ((intptr_t)outer == 2)
            continue;
        if ((intptr_t)outer == 4)
            break;
        sum += (int)(intptr_t)outer;
        LN_FOREACH (const char *, inner, list) {
            if (inner == outer)
                break;
            pairs++;
        }
    }
    ck_assert_int_eq(sum, 1 + 3);
    ck_assert_int_eq(pairs, 0 + 2);
    LN_FOREACH (const char *, none, NULL)
        ck_abort_msg("the empty list has no element %p", (const void *)none);
    ln_list_free(list);
}
END_TEST

START_TEST(nth_is_null_beyond_the_ends)
{
    ln_list *list = list_of("56");
    const struct {
        int n, data;
    } rows[] = {{0, 5}, {1, 6}, {2, 0}, {99, 0}, {-1, 0}};
    for (size_t i = 0; i < LEN(rows); i++) {
        ck_assert_ptr_eq(ln_list_nth_data(list, rows[i].n), number(rows[i].data));
        ck_assert_int_eq(ln_list_nth(list, rows[i].n) != NULL, rows[i].data != 0);
    }
    ck_assert_ptr_eq(ln_list_nth(list, 1), list->next);
    ck_assert_ptr_null(ln_list_nth(NULL, 0));
    ck_assert_ptr_null(ln_list_nth_data(NULL, 0));
    ln_list_free(list);
}
END_TEST

START_TEST(removal_takes_the_first_match_only)
{
    const struct {
        const char *before;
        int data;
        const char *after, *after_parity;
    } rows[] = {
        {"1213", 1, "213", "213"}, {"123", 3, "12", "23"}, {"123", 2, "13", "13"}, {"1", 1, "", ""},
        {"24", 8, "24", "4"},      {"24", 1, "24", "24"},  {"", 1, "", ""},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        void *data = number(rows[i].data);
        check_and_free(ln_list_remove(list_of(rows[i].before), data), rows[i].after);
        check_and_free(ln_list_remove_custom(list_of(rows[i].before), data, cmp_parity),
                       rows[i].after_parity);
    }
}
END_TEST

START_TEST(nth_is_removed_where_there_is_one)
{
    const struct {
        int n;
        const char *after, *freed;
    } rows[] = {{0, "23", "1"}, {1, "13", "2"}, {2, "12", "3"}, {3, "123", ""}, {-1, "123", ""}};
    for (size_t i = 0; i < LEN(rows); i++) {
        freed[0] = '\0';
        check_and_free(ln_list_remove_nth(list_of("123"), rows[i].n), rows[i].after);
        check_and_free(ln_list_remove_nth_deep(list_of("123"), rows[i].n, note_freed),
                       rows[i].after);
        ck_assert_str_eq(freed, rows[i].freed);
    }
    ck_assert_ptr_null(ln_list_remove_nth(NULL, 0));
}
END_TEST

START_TEST(deep_functions_free_elements)
{
    freed[0] = '\0';
    check_and_free(ln_list_remove_custom_deep(list_of("2345"), number(1), cmp_parity, note_freed),
                   "245");
    ck_assert_str_eq(freed, "3");
    check_and_free(
        ln_list_remove_all_custom_deep(list_of("1123155"), number(1), cmp_parity, note_freed), "2");
    ck_assert_str_eq(freed, "3113155");
    check_and_free(
        ln_list_remove_all_custom_deep(list_of("135"), number(1), cmp_parity, note_freed), "");
    ck_assert_str_eq(freed, "3113155135");
    ln_list_free_deep(list_of("78"), note_freed);
    ck_assert_str_eq(freed, "311315513578");
    ln_list_free_deep(list_of("78"), NULL);
}
END_TEST

START_TEST(insertion_beyond_the_ends_appends)
{
    const struct {
        const char *before;
        int n;
        const char *after;
    } rows[] = {
        {"12", 0, "912"}, {"12", 1, "192"},  {"12", 2, "129"},
        {"12", 7, "129"}, {"12", -1, "129"}, {"", 0, "9"},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        ln_list *list = ln_list_insert_nth(list_of(rows[i].before), number(9), rows[i].n);
        check_and_free(list, rows[i].after);
        list = list_of(rows[i].before);
        ln_list *node = ln_list_nth(list, rows[i].n);
        check_and_free(ln_list_insert_before(list, number(9), node), rows[i].after);
    }
    ln_list stranger = {0};
    check_and_free(ln_list_insert_before(list_of("12"), number(9), &stranger), "129");
}
END_TEST

START_TEST(elements_are_found_by_pointer_and_by_cmp)
{
    ln_list *list = list_of("2432");
    ck_assert_ptr_eq(ln_list_find(list, number(3)), number(3));
    ck_assert_ptr_null(ln_list_find(list, number(1)));
    ck_assert_ptr_eq(ln_list_find_custom(list, number(1), cmp_parity), number(3));
    ck_assert_ptr_null(ln_list_find_custom(NULL, number(1), cmp_parity));
    check_and_free(ln_list_find_all_custom(list, number(0), cmp_parity), "242");
    check_and_free(ln_list_find_all_custom(list, number(1), cmp_parity), "3");
    ck_assert_ptr_null(ln_list_find_all_custom(list->next->next->next, number(1), cmp_parity));
    ln_list_free(list);
}
END_TEST

START_TEST(positions_count_from_0)
{
    ln_list *list = list_of("2432");
    ck_assert_int_eq(ln_list_position(list, list), 0);
    ck_assert_int_eq(ln_list_position(list, list->next->next->next), 3);
    ck_assert_int_eq(ln_list_position(list->next, list), -1);
    ck_assert_int_eq(ln_list_position(list, NULL), -1);
    ck_assert_int_eq(ln_list_index(list, number(2)), 0);
    ck_assert_int_eq(ln_list_index(list, number(3)), 2);
    ck_assert_int_eq(ln_list_index(list, number(9)), -1);
    ck_assert_int_eq(ln_list_index_custom(list, number(9), cmp_parity), 2);
    ck_assert_int_eq(ln_list_index_custom(NULL, number(9), cmp_parity), -1);
    ck_assert_int_eq(ln_list_length(list), 4);
    ck_assert_int_eq(ln_list_length(NULL), 0);
    ln_list_free(list);
}
END_TEST

START_TEST(list_is_reversed_in_place)
{
    ln_list *list = list_of("123"), *first = list;
    list = ln_list_reverse(list);
    ck_assert_ptr_eq(ln_list_nth(list, 2), first);
    check_and_free(list, "321");
    check_and_free(ln_list_reverse(list_of("1")), "1");
    ck_assert_ptr_null(ln_list_reverse(NULL));
}
END_TEST

START_TEST(list_comes_from_numbers_and_from_a_list)
{
    size_t array[3] = {4, 0, 6};
    check_and_free(ln_list_from_array_size_t(array, 3), "406");
    ck_assert_ptr_null(ln_list_from_array_size_t(array, 0));
    ln_list *list = list_of("123"), *copy = ln_list_copy(list);
    ck_assert_ptr_ne(copy, list);
    ln_list_free(list);
    check_and_free(copy, "123");
    ck_assert_ptr_null(ln_list_copy(NULL));
}
END_TEST

// Functions that add, with a failing allocation: NULL, and the list as before.
static ln_list *append_9(ln_list *list)
{
    return ln_list_append(list, number(9));
}
static ln_list *prepend_9(ln_list *list)
{
    return ln_list_prepend(list, number(9));
}
static ln_list *insert_9(ln_list *list)
{
    return ln_list_insert_nth(list, number(9), 1);
}
static ln_list *insert_9_before(ln_list *list)
{
    return ln_list_insert_before(list, number(9), list->next);
}
static ln_list *find_odd(ln_list *list)
{
    return ln_list_find_all_custom(list, number(1), cmp_parity);
}

START_TEST(failed_function_leaves_the_list_to_its_owner)
{
    ln_list *(*const funcs[])(ln_list *) = {append_9,        prepend_9, insert_9,
                                            insert_9_before, find_odd,  NULL};
    for (size_t i = 0; i < LEN(funcs); i++) {
        ln_list *list = list_of("135");
        ln_error_clear(NULL);
        ln_alloc_fail_after(i < 4 ? 0 : 2);
        ck_assert_ptr_null(funcs[i] ? funcs[i](list) : ln_list_copy(list));
        ck_assert_int_eq(ln_alloc_fail_stop(), LN_TRUE);
        ck_assert_str_eq(ln_last_error(), "out of memory: cannot get 24 bytes");
        check_and_free(list, "135");
    }
    size_t array[3] = {1, 2, 3};
    ln_alloc_fail_after(2);
    ck_assert_ptr_null(ln_list_from_array_size_t(array, 3));
    ln_alloc_fail_stop();
}
END_TEST

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

LN_TEST_MAIN("list", list_grows_at_both_ends, foreach_visits_in_order_and_nests,
             foreach_with_a_declaration_breaks_and_continues, nth_is_null_beyond_the_ends,
             removal_takes_the_first_match_only, nth_is_removed_where_there_is_one,
             deep_functions_free_elements, insertion_beyond_the_ends_appends,
             elements_are_found_by_pointer_and_by_cmp, positions_count_from_0,
             list_is_reversed_in_place, list_comes_from_numbers_and_from_a_list,
             failed_function_leaves_the_list_to_its_owner, first_in_is_first_out,
             empty_queue_gives_null_and_can_be_refilled, null_queue_is_created_on_the_way,
             queue_survives_every_failing_allocation, broken_queue_is_not_valid,
             first_in_is_last_out, null_stack_is_created_on_the_way,
             stack_survives_every_failing_allocation, broken_stack_is_not_valid)
