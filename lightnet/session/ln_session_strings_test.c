// SPDX-License-Identifier: Apache-2.0
// Tests of strings in sessions: given, returned, and how long they live.

#include "lightnet/ln_session.h"

#include <stdlib.h>
#include <string.h>

#include "ln_session_check.h"
#include "tensorlight/tl_util.h"

// y = x and x, joined; z = x. Any number of strings.
static tiny_bytes joining_model(void)
{
    tiny_model m = {.opset = 20};
    tiny_input(&m, "x", TINY_STRING, "n");
    tiny_node(&m, "StringConcat", "x", "x", "y");
    tiny_node(&m, "Identity", "x", NULL, "z");
    tiny_output(&m, "y", TINY_STRING, "n");
    tiny_output(&m, "z", TINY_STRING, "n");
    return tiny_end(&m);
}

static void set(ln_session *session, int n, const char *const *texts)
{
    const ln_status status = ln_session_set_strings(session, "x", 1, &n, texts, NULL);
    ck_assert_msg(status == LN_OK, "%s", ln_session_error(session));
}

static void run(ln_session *session)
{
    const ln_status status = ln_session_run(session);
    ck_assert_msg(status == LN_OK, "%s", ln_session_error(session));
}

static void check(ln_session *session, const char *name, int n, const char *const *expected)
{
    const tl_tensor *const t = ln_session_output(session, name);
    ck_assert_msg(t != NULL, "%s", ln_session_error(session));
    ck_assert_int_eq(t->dtype, TL_STRING);
    ck_assert_int_eq(t->len, n);
    for (int i = 0; i < n; i++)
        ck_assert_str_eq(tl_string_bytes(tl_tensor_string(t, i)), expected[i]);
}

static const char *const words[] = {"red", "", "Gr\xc3\xbcn"};
static const char *const doubled[] = {"redred", "", "Gr\xc3\xbcnGr\xc3\xbcn"};
static const char *const others[] = {"1", "22", "333", "4444"};
static const char *const others_doubled[] = {"11", "2222", "333333", "44444444"};

START_TEST(strings_go_in_and_out)
{
    SKIP_WITHOUT_ONNX
    ln_session *const session = open_session(joining_model(), NULL);
    for (int i = 0; i < 3; i++) {
        set(session, 3, words);
        run(session);
        check(session, "y", 3, doubled);
        check(session, "z", 3, words);
        set(session, 4, others);
        run(session);
        check(session, "y", 4, others_doubled);
        check(session, "z", 4, others);
    }
    ln_session_free(session);
}
END_TEST

START_TEST(outputs_outlive_their_input_until_the_next_run)
{
    SKIP_WITHOUT_ONNX
    ln_session *const session = open_session(joining_model(), NULL);
    set(session, 3, words);
    run(session);
    set(session, 3, others);
    set(session, 3, others);
    check(session, "z", 3, words);
    ck_assert_int_eq(ln_session_bind_input(session, "x", TL_STRING, 0, NULL, NULL, 0), LN_OK);
    check(session, "z", 3, words);
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_run(session),
                "input 'x' is not given, expected TL_STRING [n]");
    ln_session_free(session);
}
END_TEST

START_TEST(strings_may_be_records_and_borrowed)
{
    SKIP_WITHOUT_ONNX
    const int n = 3;
    ln_session *const session = open_session(joining_model(), NULL);
    const tl_string **const block = tl_strings_from_text(words, 3);
    ck_assert_int_eq(
        ln_session_bind_input(session, "x", TL_STRING, 1, &n, block, 3 * sizeof(*block)), LN_OK);
    const tl_string *place[3] = {NULL}, *copy[3] = {NULL};
    ck_assert_int_eq(ln_session_bind_output(session, "y", place, sizeof(place)), LN_OK);
    run(session);
    ck_assert_str_eq(tl_string_bytes(place[2]), doubled[2]);
    ck_assert_int_eq(ln_session_copy_output(session, "z", copy, sizeof(copy)), LN_OK);
    ck_assert_str_eq(tl_string_bytes(copy[0]), "red");
    ck_assert_int_eq(ln_session_bind_output(session, "y", NULL, 0), LN_OK);
    ck_assert_int_eq(ln_session_set_input(session, "x", TL_STRING, 1, &n, block), LN_OK);
    tl_free(block);
    run(session);
    check(session, "y", 3, doubled);
    ln_session_free(session);
}
END_TEST

START_TEST(strings_may_contain_zeros)
{
    SKIP_WITHOUT_ONNX
    ln_session *const session = open_session(joining_model(), NULL);
    ck_assert_int_eq(ln_session_set_strings(session, "x", 1, (const int[]){1},
                                            (const char *const[]){"a\0b"}, (const size_t[]){3}),
                     LN_OK);
    run(session);
    const tl_string *const s = tl_tensor_string(ln_session_output(session, "y"), 0);
    ck_assert_uint_eq(tl_string_size(s), 6);
    ck_assert_int_eq(memcmp(tl_string_bytes(s), "a\0ba\0b", 7), 0);
    ln_session_free(session);
}
END_TEST

START_TEST(text_that_is_not_utf_8_is_rejected)
{
    SKIP_WITHOUT_ONNX
    const int two = 2;
    ln_session *const session = open_session(joining_model(), NULL);
    static const char *const wrong[] = {"\xed\xa0\x80", "\xc0\x80", "\xff", "\xe4\xb8",
                                        "\xf5\x80\x80\x80"};
    set(session, 3, words);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        const char *const texts[] = {"good", wrong[i]};
        ck_assert_int_eq(ln_session_set_strings(session, "x", 1, &two, texts, NULL),
                         LN_BAD_ARGUMENT);
        ck_assert_ptr_nonnull(
            strstr(ln_session_error(session), "input 'x': string 1 is not UTF-8: byte 0 is "));
    }
    CHECK_FAILS(session, LN_BAD_ARGUMENT, ln_session_set_strings(session, "x", 1, &two, NULL, NULL),
                "the data for input 'x' is NULL");
    CHECK_FAILS(session, LN_BAD_ARGUMENT,
                ln_session_set_input(session, "x", TL_INT64, 1, &two, (const int64_t[]){1, 2}),
                "input 'x' is given as TL_INT64 [2], expected TL_STRING [n]");
    run(session); // what was set before
    check(session, "y", 3, doubled);
    ln_session_free(session);
}
END_TEST

START_TEST(sessions_of_a_model_have_strings_of_their_own)
{
    SKIP_WITHOUT_ONNX
    ln_model *const model = open_model(joining_model(), NULL);
    ln_session *first, *second;
    ck_assert_int_eq(ln_session_create(model, &first), LN_OK);
    ck_assert_int_eq(ln_session_create(model, &second), LN_OK);
    ln_model_free(model);
    set(first, 3, words);
    set(second, 3, others);
    run(first);
    run(second);
    check(first, "y", 3, doubled);
    check(second, "y", 3, others_doubled);
    ln_session_free(first);
    check(second, "z", 3, others);
    ln_session_free(second);
}
END_TEST

START_TEST(strings_count_against_the_memory_limit)
{
    SKIP_WITHOUT_ONNX
    ln_options *const options = ln_options_create();
    ck_assert_int_eq(ln_options_set(options, "memory_limit", "400000"), LN_OK);
    ln_session *const session = open_session(joining_model(), options);
    char *const text = malloc(1000001);
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', 1000000);
    text[1000000] = '\0';
    set(session, 1, (const char *const[]){text});
    ck_assert_int_eq(ln_session_run(session), LN_LIMIT_REACHED);
    ck_assert_msg(strstr(ln_session_error(session), "bytes more for strings exceed the limit"),
                  "%s", ln_session_error(session));
    set(session, 3, words);
    run(session);
    check(session, "y", 3, doubled);
    ln_session_free(session);
    ln_options_free(options);
    free(text);
}
END_TEST

START_TEST(no_strings_are_no_error)
{
    SKIP_WITHOUT_ONNX
    ln_session *const session = open_session(joining_model(), NULL);
    ck_assert_int_eq(ln_session_set_strings(session, "x", 1, (const int[]){0}, NULL, NULL), LN_OK);
    run(session);
    check(session, "y", 0, words);
    ln_session_free(session);
}
END_TEST

LN_TEST_MAIN("strings in sessions", strings_go_in_and_out,
             outputs_outlive_their_input_until_the_next_run, strings_may_be_records_and_borrowed,
             strings_may_contain_zeros, text_that_is_not_utf_8_is_rejected,
             sessions_of_a_model_have_strings_of_their_own, strings_count_against_the_memory_limit,
             no_strings_are_no_error)
