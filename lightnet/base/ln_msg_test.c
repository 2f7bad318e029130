// SPDX-License-Identifier: Apache-2.0
// Tests of messages and of the record of why a call failed.

#include "lightnet/ln_msg.h"

#include <pthread.h>
#include <string.h>

#include "ln_check.h"

START_TEST(first_reason_wins_in_an_own_record)
{
    ln_error err = {0};
    ck_assert_str_eq(ln_error_text(&err), "");
    ck_assert_int_eq(ln_error_set(&err, "dims[%d] is %s", 1, "-3"), -1);
    ck_assert_int_eq(ln_error_set(&err, "later"), -1);
    ck_assert_str_eq(ln_error_text(&err), "dims[1] is -3");
    ln_error_clear(&err);
    ck_assert_str_eq(ln_error_text(&err), "");
    ln_error_set(&err, "later");
    ck_assert_str_eq(ln_error_text(&err), "later");
}
END_TEST

START_TEST(newest_reason_wins_in_the_threads_record)
{
    ln_error_set(NULL, "old");
    ck_assert_int_eq(ln_error_set(NULL, "new"), -1);
    ck_assert_str_eq(ln_last_error(), "new");
    ck_assert_str_eq(ln_error_text(NULL), "new");
    ln_error_clear(NULL);
    ck_assert_str_eq(ln_last_error(), "");
}
END_TEST

START_TEST(a_reason_keeps_its_status)
{
    ln_error err = {0};
    ck_assert_int_eq(ln_error_status(&err), LN_OK);
    ck_assert_int_eq(ln_error_set_as(&err, LN_IO_ERROR, "disk %d", 3), -1);
    ln_error_set_as(&err, LN_CANCELLED, "later");
    ln_error_prefix(&err, "a.json");
    ck_assert_str_eq(ln_error_text(&err), "a.json: disk 3");
    ck_assert_int_eq(ln_error_status(&err), LN_IO_ERROR);
    ln_error_clear(&err);
    ck_assert_int_eq(ln_error_status(&err), LN_OK);
    ln_error_set(&err, "of unknown status");
    ln_error_set_as(&err, LN_IO_ERROR, "later");
    ck_assert_int_eq(ln_error_status(&err), LN_OK);
}
END_TEST

START_TEST(the_threads_reason_is_taken_over_with_its_status)
{
    ln_error err = {0};
    ln_error_set_as(NULL, LN_LIMIT_REACHED, "too much");
    ck_assert_int_eq(ln_error_status(NULL), LN_LIMIT_REACHED);
    ck_assert_int_eq(ln_error_set_last(NULL), -1);
    ck_assert_int_eq(ln_error_set_last(&err), -1);
    ck_assert_str_eq(ln_error_text(&err), "too much");
    ck_assert_int_eq(ln_error_status(&err), LN_LIMIT_REACHED);
    ln_error_set(NULL, "newer");
    ck_assert_int_eq(ln_error_status(NULL), LN_OK);
}
END_TEST

START_TEST(prefix_names_the_position)
{
    ln_error err = {0};
    ln_error_set(&err, "no tensor");
    ck_assert_int_eq(ln_error_prefix(&err, "operator '%s'", "conv1"), -1);
    ck_assert_int_eq(ln_error_prefix(&err, "a.json"), -1);
    ck_assert_str_eq(ln_error_text(&err), "a.json: operator 'conv1': no tensor");
    ln_error_clear(&err);
    ln_error_prefix(&err, "a.json");
    ck_assert_str_eq(ln_error_text(&err), "a.json");
    ln_error_set(NULL, "no tensor");
    ln_error_prefix(NULL, "a.json");
    ck_assert_str_eq(ln_last_error(), "a.json: no tensor");
}
END_TEST

START_TEST(arguments_may_point_into_the_record)
{
    ln_error_set(NULL, "inner");
    ln_error_set(NULL, "outer (%s)", ln_last_error());
    ln_error_prefix(NULL, "%s", ln_last_error());
    ck_assert_str_eq(ln_last_error(), "outer (inner): outer (inner)");
}
END_TEST

START_TEST(reason_is_one_line_and_never_empty)
{
    ln_error_set(NULL, "a\nb\x1B[31m\x7F\t\xC3\xA4");
    ck_assert_str_eq(ln_last_error(), "a\\x0ab\\x1b[31m\\x7f\\x09\xC3\xA4");
    ln_error_set(NULL, "%s", "");
    ck_assert_str_eq(ln_last_error(), "unknown reason");
}
END_TEST

START_TEST(text_for_a_terminal_is_escaped)
{
    static const struct {
        const char *text, *escaped;
    } rows[] = {
        {"", ""},
        {"plain \\x1b", "plain \\x1b"},
        {"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
        {"a\nb\tc\r\x7f", "a\\x0ab\\x09c\\x0d\\x7f"},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xc2\x9b"
         "31m",
         "\\u009b31m"},
        {"\xe2\x80\xae"
         "gpj.exe\xe2\x81\xa9",
         "\\u202egpj.exe\\u2069"},
        {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "\\u200e\\u200f\\u061c"},
        {"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
        {"caf\xe9 \x9b\xc3", "caf\\xe9 \\x9b\\xc3"},
        {"\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char buf[64], twice[64], cut[8];
        const size_t len = ln_escape(buf, sizeof(buf), rows[i].text);
        ck_assert_str_eq(buf, rows[i].escaped);
        ck_assert_uint_eq(len, strlen(buf));
        ln_escape(twice, sizeof(twice), buf);
        ck_assert_str_eq(twice, buf);
        ck_assert_uint_eq(ln_escape(cut, sizeof(cut), rows[i].text), len);
        ck_assert_int_eq(strncmp(cut, buf, strlen(cut)), 0);
        ck_assert_uint_eq(ln_escape(NULL, 0, rows[i].text), len);
    }
}
END_TEST

START_TEST(long_reason_is_cut_between_characters)
{
    // Characters of two bytes from offset 0 fill the 4092 bytes before the dots; from offset 1, the
    // last that fits ends one byte earlier.
    const size_t lens[2] = {4095, 4094};
    for (size_t shift = 0; shift < 2; shift++) {
        char text[2 * LN_MAXLINE] = "x";
        for (size_t i = shift; i + 2 < sizeof(text); i += 2)
            memcpy(text + i, "\xC3\xA4", 2);
        ln_error_set(NULL, "%s", text);
        const char *cut = ln_last_error();
        ck_assert_uint_eq(strlen(cut), lens[shift]);
        ck_assert_str_eq(cut + lens[shift] - 5, "\xC3\xA4...");
    }
}
END_TEST

START_TEST(prefix_on_a_full_record_stays_in_bounds)
{
    ln_error err = {0};
    char text[LN_MAXLINE];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    ln_error_set(&err, "%s", text);
    ck_assert_str_eq(err.text, text);
    ln_error_prefix(&err, "file");
    ck_assert_uint_eq(strlen(err.text), LN_MAXLINE - 1);
    ck_assert_int_eq(strncmp(err.text, "file: xxx", 9), 0);
    ck_assert_str_eq(err.text + LN_MAXLINE - 5, "x...");
}
END_TEST

static void *fail_in_thread(void *seen)
{
    strcpy(seen, ln_last_error());
    ln_error_set(NULL, "theirs");
    return NULL;
}

START_TEST(each_thread_has_its_own_record)
{
    pthread_t thread;
    char seen[LN_MAXLINE] = "?";
    ln_error_set(NULL, "ours");
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_in_thread, seen), 0);
    pthread_join(thread, NULL);
    ck_assert_str_eq(seen, "");
    ck_assert_str_eq(ln_last_error(), "ours");
}
END_TEST

static void note(void *data, ln_msg_level level, const char *text)
{
    snprintf(data, 64, "%s: %s", ln_msg_level_name(level), text);
}

START_TEST(message_reaches_its_function)
{
    char seen[64] = "";
    ln_msg_send(note, seen, LN_MSG_WARN, "key '%s'\n", "opz");
    ck_assert_str_eq(seen, "warning: key 'opz'\\x0a");
    ln_msg_send(NULL, seen, LN_MSG_WARN, "unheard");
    ck_assert_str_eq(seen, "warning: key 'opz'\\x0a");
}
END_TEST

START_TEST(levels_have_names)
{
    ck_assert_str_eq(ln_msg_level_name(LN_MSG_DEBUG), "debug");
    ck_assert_str_eq(ln_msg_level_name(LN_MSG_INFO), "info");
    ck_assert_str_eq(ln_msg_level_name(LN_MSG_WARN), "warning");
    ck_assert_str_eq(ln_msg_level_name(LN_MSG_ERROR), "error");
    ck_assert_str_eq(ln_msg_level_name(LN_MSG_INTER_ERROR), "internal error");
    ck_assert_str_eq(ln_msg_level_name((ln_msg_level)99), "message");
}
END_TEST

LN_TEST_MAIN("msg", first_reason_wins_in_an_own_record, newest_reason_wins_in_the_threads_record,
             a_reason_keeps_its_status, the_threads_reason_is_taken_over_with_its_status,
             prefix_names_the_position, arguments_may_point_into_the_record,
             reason_is_one_line_and_never_empty, text_for_a_terminal_is_escaped,
             long_reason_is_cut_between_characters, prefix_on_a_full_record_stays_in_bounds,
             each_thread_has_its_own_record, message_reaches_its_function, levels_have_names)
