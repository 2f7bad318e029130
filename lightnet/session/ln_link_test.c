// SPDX-License-Identifier: Apache-2.0
// Linked states: sums, and decoders with a cache, against sessions that get the outputs of each
// run.

#include "session/ln_link.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ln_rows.h"
#include "ln_session_check.h"

// Sums

static const float ones[] = {1, 1, 1, 1};

// total = state + x, of n elements; the state is named as an exporter does.
static ln_session *sum_session(void)
{
    tiny_model m = {0};
    tiny_input(&m, "x", TINY_FLOAT, "n");
    tiny_input(&m, "sum_in", TINY_FLOAT, "n");
    tiny_node(&m, "Add", "x", "sum_in", "sum_out");
    tiny_output(&m, "sum_out", TINY_FLOAT, "n");
    return open_session(tiny_end(&m), NULL);
}

static void add_ones(ln_session *session, int n)
{
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, &n, ones));
    CHECK_OK(session, ln_session_run(session));
}

static float total(ln_session *session)
{
    const tl_tensor *const t = ln_session_output(session, "sum_out");
    ck_assert_msg(t != NULL, "%s", ln_session_error(session));
    return ((const float *)t->data)[t->len - 1];
}

START_TEST(a_state_begins_with_zeros_and_accumulates)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = sum_session();
    CHECK_OK(session, ln_session_link(session, "sum_out", "sum_in"));
    for (int i = 1; i <= 5; i++) {
        add_ones(session, 3);
        ck_assert_float_eq(total(session), (float)i);
    }
    ln_session_reset_states(session);
    add_ones(session, 2); // of another length
    ck_assert_float_eq(total(session), 1);
    ln_session_free(session);
}
END_TEST

START_TEST(a_state_begins_with_the_value_of_its_input)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = sum_session();
    const int n = 2;
    CHECK_OK(session, ln_session_link(session, "sum_out", "sum_in"));
    for (int i = 0; i < 2; i++) { // also in place of a state
        CHECK_OK(session,
                 ln_session_set_input(session, "sum_in", TL_FLOAT, 1, &n, (const float[]){5, 7}));
        add_ones(session, n);
        add_ones(session, n);
        ck_assert_float_eq(total(session), 9);
    }
    const float lent[] = {20, 30};
    CHECK_OK(session,
             ln_session_bind_input(session, "sum_in", TL_FLOAT, 1, &n, lent, sizeof(lent)));
    add_ones(session, n);
    add_ones(session, n);
    ck_assert_float_eq(total(session), 32);
    ck_assert_float_eq(lent[1], 30);
    ln_session_free(session);
}
END_TEST

START_TEST(a_failed_run_leaves_the_state)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = sum_session();
    const int other = 3;
    CHECK_OK(session, ln_session_link(session, "sum_out", "sum_in"));
    add_ones(session, 2);
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, &other, ones));
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "input 'sum_in' has 2 for 'n', but input 'x' has 3");
    ck_assert_ptr_null(ln_session_output(session, "sum_out"));
    add_ones(session, 2);
    ck_assert_float_eq(total(session), 2);
    ln_session_free(session);
}
END_TEST

// total = state + x + y, where a run may fail since x and y differ in length.
START_TEST(a_failed_first_run_leaves_no_state)
{
    SKIP_WITHOUT_ONNX
    tiny_model m = {0};
    tiny_input(&m, "x", TINY_FLOAT, "n");
    tiny_input(&m, "y", TINY_FLOAT, "n");
    tiny_input(&m, "sum_in", TINY_FLOAT, "n");
    tiny_node(&m, "Add", "x", "y", "z");
    tiny_node(&m, "Add", "z", "sum_in", "sum_out");
    tiny_output(&m, "sum_out", TINY_FLOAT, "n");
    ln_session *session = open_session(tiny_end(&m), NULL), *other;
    const int two = 2, three = 3;
    CHECK_OK(NULL, ln_session_create(session->model, &other));
    CHECK_OK(session, ln_session_link(session, "sum_out", "sum_in"));
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, &two, ones));
    CHECK_OK(session, ln_session_set_input(session, "y", TL_FLOAT, 1, &three, ones));
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "input 'y' has 3 for 'n', but input 'x' has 2");
    CHECK_OK(other, ln_session_copy_states(other, session)); // copies no state
    CHECK_OK(other, ln_session_set_input(other, "y", TL_FLOAT, 1, &three, ones));
    add_ones(other, 3);
    ck_assert_float_eq(total(other), 2);
    add_ones(session, 3);
    ck_assert_float_eq(total(session), 2);
    add_ones(session, 3);
    ck_assert_float_eq(total(session), 4);
    ln_session_free(other);
    ln_session_free(session);
}
END_TEST

START_TEST(outputs_end_with_the_memory_of_their_state)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = sum_session(), *other;
    CHECK_OK(NULL, ln_session_create(session->model, &other));
    CHECK_OK(session, ln_session_link(session, "sum_out", "sum_in"));
    add_ones(session, 2);
    CHECK_OK(other, ln_session_copy_states(other, session));
    add_ones(other, 2);
    add_ones(session, 2);
    CHECK_OK(other, ln_session_copy_states(other, session));
    ck_assert_ptr_null(ln_session_output(other, "sum_out"));
    CHECK_OK(session, ln_session_link(session, NULL, "sum_in"));
    ck_assert_ptr_null(ln_session_output(session, "sum_out"));
    ln_session_free(other);
    ln_session_free(session);
}
END_TEST

START_TEST(links_are_found_by_names_and_removed)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = sum_session();
    float buffer[4];
    ck_assert_ptr_null(ln_session_linked_input(session, "sum_out"));
    ck_assert_int_eq(ln_session_link_states(session), 1);
    ck_assert_str_eq(ln_session_linked_input(session, "sum_out"), "sum_in");
    ck_assert_ptr_null(ln_session_linked_input(session, "z"));
    add_ones(session, 2);
    CHECK_FAILS(session, LN_BAD_ARGUMENT,
                ln_session_bind_output(session, "sum_out", buffer, sizeof(buffer)),
                "output 'sum_out' is linked to input 'sum_in', expected one without a link");
    CHECK_OK(session, ln_session_link(session, NULL, "sum_in"));
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "input 'sum_in' is not given, expected TL_FLOAT [n]");
    CHECK_OK(session, ln_session_bind_output(session, "sum_out", buffer, sizeof(buffer)));
    ln_session_free(session);
}
END_TEST

START_TEST(links_by_names_keep_those_that_exist)
{
    SKIP_WITHOUT_ONNX
    tiny_model m = {0};
    tiny_input(&m, "x", TINY_FLOAT, "n");
    tiny_input(&m, "h", TINY_FLOAT, "n");
    tiny_input(&m, "c", TINY_FLOAT, "n");
    tiny_node(&m, "Add", "x", "h", "h_out");
    tiny_node(&m, "Sub", "x", "h", "h_new");
    tiny_node(&m, "Add", "x", "c", "c_out");
    tiny_output(&m, "h_out", TINY_FLOAT, "n");
    tiny_output(&m, "h_new", TINY_FLOAT, "n");
    tiny_output(&m, "c_out", TINY_FLOAT, "n");
    ln_session *session = open_session(tiny_end(&m), NULL);
    ck_assert_int_eq(ln_session_link_states(session), 2); // h has one output, the first
    ck_assert_str_eq(ln_session_linked_input(session, "h_out"), "h");
    ck_assert_ptr_null(ln_session_linked_input(session, "h_new"));
    CHECK_OK(session, ln_session_link(session, "h_new", "c"));
    add_ones(session, 2);
    ck_assert_int_eq(ln_session_link_states(session), 2);
    ck_assert_str_eq(ln_session_linked_input(session, "h_new"), "c");
    add_ones(session, 2);
    const tl_tensor *const h = ln_session_output(session, "h_out");
    ck_assert_float_eq(((const float *)h->data)[0], 2);
    ln_session_free(session);
}
END_TEST

START_TEST(rejects_links_that_do_not_fit)
{
    SKIP_WITHOUT_ONNX
    tiny_model m = {0};
    tiny_input(&m, "x", TINY_FLOAT, "4");
    tiny_input(&m, "i", TINY_INT64, "4");
    tiny_input(&m, "s", TINY_FLOAT, "?,4");
    tiny_node(&m, "Add", "x", "s", "y");
    tiny_output(&m, "y", TINY_FLOAT, "?,4");
    ln_session *session = open_session(tiny_end(&m), NULL);
    const int four = 4;
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_link(session, "y", "x"),
                "output 'y' is TL_FLOAT [?, 4], expected TL_FLOAT [4], as input 'x'");
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_link(session, "y", "i"),
                "output 'y' is TL_FLOAT [?, 4], expected TL_INT64 [4], as input 'i'");
    ck_assert_int_eq(ln_session_link(session, "z", "s"), LN_NOT_FOUND);
    ck_assert_int_eq(ln_session_link(session, "y", "z"), LN_NOT_FOUND);
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_link(session, "y", NULL),
                "the name of an input is NULL");
    ck_assert_int_eq(ln_session_link(NULL, "y", "s"), LN_BAD_ARGUMENT);
    ck_assert_int_eq(ln_session_link_states(NULL), -1);
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_copy_states(session, NULL),
                "the session to copy from is NULL");
    ln_session_reset_states(NULL);
    CHECK_OK(session, ln_session_link(session, "y", "s"));
    CHECK_OK(session, ln_session_set_input(session, "x", TL_FLOAT, 1, &four, ones));
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "input 's' has no initial state, expected a value TL_FLOAT [?, 4]");
    ln_session_free(session);
}
END_TEST

START_TEST(copied_states_continue_on_their_own)
{
    SKIP_WITHOUT_ONNX
    ln_session *session = sum_session(), *other;
    CHECK_OK(NULL, ln_session_create(session->model, &other));
    CHECK_OK(session, ln_session_link(session, "sum_out", "sum_in"));
    add_ones(session, 2);
    CHECK_OK(other, ln_session_copy_states(other, session));
    add_ones(session, 2);
    add_ones(session, 2);
    add_ones(other, 2);
    ck_assert_float_eq(total(session), 3);
    ck_assert_float_eq(total(other), 2);
    ln_session_reset_states(session);
    CHECK_OK(other, ln_session_copy_states(other, session));
    add_ones(other, 2);
    ck_assert_float_eq(total(other), 1);
    ln_session_free(other);
    ln_session_free(session);
}
END_TEST

START_TEST(rows_move_to_memory_for_more_and_back)
{
    const ln_value shape = {.ndim = 3, .dims = {2, 3, 1}, .size = 6}, scalar = {.size = 1};
    char wide[9] = "........", back[7] = "......", one = '-';
    ln_rows_copy(wide, 4, "abcdef", 0, shape.dims, 1, shape.size);
    ck_assert_str_eq(wide, "abc.def.");
    ln_rows_copy(back, 0, wide, 4, shape.dims, 1, shape.size);
    ck_assert_str_eq(back, "abcdef");
    ln_rows_copy(&one, 0, "z", 0, scalar.dims, 0, scalar.size);
    ck_assert_int_eq(one, 'z');
    ck_assert_uint_eq(ln_state_rows_size(&shape, TL_FLOAT, 1, 5), 40);
    ck_assert_uint_eq(ln_state_rows_size(&(ln_value){.ndim = 3, .dims = {INT_MAX, 1, INT_MAX}},
                                         TL_DOUBLE, 1, INT_MAX),
                      SIZE_MAX);
}
END_TEST

// Decoders

enum { HEADS = 2, HEAD = 8, LONGEST = 40 };

enum { MAX_BATCH = 4 };

static void set_ids(ln_session *session, int batch, int first, int len)
{
    int64_t ids[MAX_BATCH * LONGEST];
    for (int i = 0; i < batch * len; i++)
        ids[i] = (first + i) * 7 % 20;
    CHECK_OK(session,
             ln_session_set_input(session, "ids", TL_INT64, 2, (const int[]){batch, len}, ids));
}

static void run_ids(ln_session *session, int batch, int first, int len)
{
    set_ids(session, batch, first, len);
    CHECK_OK(session, ln_session_run(session));
}

// Feeds the outputs of the last run (its first one: empty caches), as a caller without links does.
static void run_fed(ln_session *session, int batch, int first, int len)
{
    static float cache[2][MAX_BATCH * HEADS * LONGEST * HEAD];
    static const char *const names[][2] = {{"past.key", "present.key"},
                                           {"past.value", "present.value"}};
    for (int i = 0; i < 2; i++) {
        const int dims[] = {batch, HEADS, first, HEAD};
        if (first)
            CHECK_OK(session,
                     ln_session_copy_output(session, names[i][1], cache[i], sizeof(cache[i])));
        CHECK_OK(session, ln_session_set_input(session, names[i][0], TL_FLOAT, 4, dims, cache[i]));
    }
    run_ids(session, batch, first, len);
}

static void check_outputs(ln_session *session, ln_session *other, const char *name)
{
    const tl_tensor *const a = ln_session_output(session, name);
    const tl_tensor *const b = ln_session_output(other, name);
    ck_assert(a && b && tl_tensor_issameshape(a, b));
    ck_assert_mem_eq(a->data, b->data, tl_tensor_size(a));
}

static ln_model *open_decoder(const char *variable)
{
    ln_model *model;
    ck_assert_msg(ln_model_open(getenv(variable), NULL, &model) == LN_OK, "%s",
                  ln_model_error(NULL));
    return model;
}

static int is_in_place(const ln_session *session)
{
    return session->links[0].in_place.rows > 0 && session->links[1].in_place.rows > 0;
}

// A prompt and steps, up to `end` tokens.
static void check_sequence(ln_session *linked, ln_session *fed, int batch, int end)
{
    for (int first = 0; first < end; first += first ? 1 : 5) {
        const int len = first ? 1 : 5;
        run_ids(linked, batch, first, len);
        run_fed(fed, batch, first, len);
        check_outputs(linked, fed, "logits");
        check_outputs(linked, fed, "present.key");
        check_outputs(linked, fed, "present.value");
    }
}

static void check_decoder(const char *variable)
{
    ln_model *const model = open_decoder(variable);
    ln_session *linked, *fork, *fed;
    CHECK_OK(NULL, ln_session_create(model, &linked));
    CHECK_OK(NULL, ln_session_create(model, &fork));
    CHECK_OK(NULL, ln_session_create(model, &fed));
    ck_assert_int_eq(ln_session_link_states(linked), 2);
    for (int round = 0; round < 2; round++) {
        check_sequence(linked, fed, 1, LONGEST - 5);
        ck_assert(is_in_place(linked));
        CHECK_OK(fork, ln_session_copy_states(fork, linked));
        run_ids(linked, 1, LONGEST, 1);
        run_ids(fork, 1, LONGEST, 1);
        check_outputs(linked, fork, "logits");
        ln_session_reset_states(linked);
    }
    ln_session_free(linked);
    ln_session_free(fork);
    ln_session_free(fed);
    ln_model_free(model);
}

// From the third batch on, programs have an open batch: memory is planned for the largest one.
START_TEST(linked_caches_have_any_batch)
{
    static const char *const variables[] = {"LN_TEST_DECODER", "LN_TEST_LLAMA"};
    for (int i = 0; i < 2; i++) {
        ln_model *const model = open_decoder(variables[i]);
        ln_session *linked, *fed;
        CHECK_OK(NULL, ln_session_create(model, &linked));
        CHECK_OK(NULL, ln_session_create(model, &fed));
        ck_assert_int_eq(ln_session_link_states(linked), 2);
        for (int k = 0; k < 8; k++) {
            check_sequence(linked, fed, 1 + k % MAX_BATCH, 12);
            ln_session_reset_states(linked);
        }
        ck_assert(is_in_place(linked));
        ln_session_free(linked);
        ln_session_free(fed);
        ln_model_free(model);
    }
}
END_TEST

START_TEST(outputs_of_states_live_until_the_next_run)
{
    ln_model *const model = open_decoder("LN_TEST_LLAMA");
    ln_session *session;
    float copy[HEADS * LONGEST * HEAD];
    CHECK_OK(NULL, ln_session_create(model, &session));
    ck_assert_int_eq(ln_session_link_states(session), 2);
    run_ids(session, 1, 0, 5);
    run_ids(session, 1, 5, 1);
    ck_assert(is_in_place(session));
    const tl_tensor *const first = ln_session_output(session, "present.key");
    ck_assert_ptr_eq(ln_session_output(session, "present.key"), first);
    CHECK_OK(session, ln_session_copy_output(session, "present.key", copy, sizeof(copy)));
    ck_assert_int_eq(first->dims[2], 6);
    ck_assert_mem_eq(first->data, copy, tl_tensor_size(first));
    ln_session_free(session);
    ln_model_free(model);
}
END_TEST

// A failed run moves a value that the caller has bound, but the next run reads the caller's again.
START_TEST(a_bound_state_is_read_again_after_a_failed_run)
{
    ln_model *const model = open_decoder("LN_TEST_LLAMA");
    ln_session *session, *other;
    static float cache[HEADS * LONGEST * HEAD];
    const int dims[] = {1, HEADS, 6, HEAD};
    const int64_t bad = 1000;
    CHECK_OK(NULL, ln_session_create(model, &session));
    CHECK_OK(NULL, ln_session_create(model, &other));
    ck_assert_int_eq(ln_session_link_states(session), 2);
    run_ids(session, 1, 0, 5);
    run_ids(session, 1, 5, 1);
    for (int i = 0; i < 2; i++)
        CHECK_OK(session, ln_session_bind_input(session, i ? "past.key" : "past.value", TL_FLOAT, 4,
                                                dims, cache, sizeof(cache)));
    CHECK_OK(session, ln_session_set_input(session, "ids", TL_INT64, 2, (const int[]){1, 1}, &bad));
    ck_assert_int_ne(ln_session_run(session), LN_OK);
    for (int i = 0; i < HEADS * LONGEST * HEAD; i++)
        cache[i] = (float)(i % 7);
    for (int i = 0; i < 2; i++)
        CHECK_OK(other, ln_session_set_input(other, i ? "past.key" : "past.value", TL_FLOAT, 4,
                                             dims, cache));
    run_ids(session, 1, 6, 1);
    run_ids(other, 1, 6, 1);
    check_outputs(session, other, "logits");
    ln_session_free(session);
    ln_session_free(other);
    ln_model_free(model);
}
END_TEST

START_TEST(a_linked_cache_has_the_bits_of_one_that_is_fed)
{
    check_decoder("LN_TEST_DECODER");
    check_decoder("LN_TEST_LLAMA");
}
END_TEST

LN_TEST_MAIN("states of sessions", a_state_begins_with_zeros_and_accumulates,
             a_state_begins_with_the_value_of_its_input, a_failed_run_leaves_the_state,
             a_failed_first_run_leaves_no_state, outputs_end_with_the_memory_of_their_state,
             links_are_found_by_names_and_removed, links_by_names_keep_those_that_exist,
             rejects_links_that_do_not_fit, copied_states_continue_on_their_own,
             linked_caches_have_any_batch, outputs_of_states_live_until_the_next_run,
             a_bound_state_is_read_again_after_a_failed_run, rows_move_to_memory_for_more_and_back,
             a_linked_cache_has_the_bits_of_one_that_is_fed)
