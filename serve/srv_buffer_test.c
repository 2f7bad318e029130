// SPDX-License-Identifier: Apache-2.0
// Tests of buffers: text, numbers, strings of JSON.

#include "srv_buffer.h"

#include <stdint.h>
#include <string.h>

#include "ln_check.h"

static void expect(srv_buffer *b, const char *text)
{
    ck_assert_int_eq(b->has_failed, 0);
    srv_buffer_add(b, "", 1);
    ck_assert_str_eq(b->data, text);
    srv_buffer_clear(b);
}

START_TEST(parts_follow_each_other)
{
    srv_buffer b = {.data = NULL};
    srv_buffer_text(&b, "a");
    srv_buffer_add(&b, "bcd", 2);
    srv_buffer_printf(&b, "%d-%s", 7, "x");
    srv_buffer_text(&b, "");
    ck_assert_uint_eq(b.size, 6);
    expect(&b, "abc7-x");
}
END_TEST

START_TEST(buffer_grows_by_any_size)
{
    srv_buffer b = {.data = NULL};
    for (int i = 0; i < 1000; i++)
        srv_buffer_printf(&b, "%03d", i);
    ck_assert_uint_eq(b.size, 3000);
    ck_assert_mem_eq(b.data + 2997, "999", 3);
    ck_assert_ptr_nonnull(srv_buffer_room(&b, 1 << 20));
    ck_assert_uint_eq(b.size, 3000);
    ck_assert_uint_ge(b.capacity, 3000 + (1 << 20));
    srv_buffer_clear(&b);
    ck_assert_ptr_null(b.data);
}
END_TEST

START_TEST(size_beyond_all_memory_fails_and_keeps_the_bytes)
{
    srv_buffer b = {.data = NULL};
    srv_buffer_text(&b, "kept");
    ck_assert_ptr_null(srv_buffer_room(&b, SIZE_MAX - 2));
    ck_assert_int_eq(b.has_failed, 1);
    ck_assert_uint_eq(b.size, 4);
    ck_assert_mem_eq(b.data, "kept", 4);
    srv_buffer_clear(&b);
}
END_TEST

START_TEST(json_string_escapes_and_replaces)
{
    static const struct {
        const char *text;
        size_t size;
        const char *json;
    } rows[] = {
        {"", 0, "\"\""},
        {"a/b", 3, "\"a/b\""},
        {"\"\\", 2, "\"\\\"\\\\\""},
        {"\n\t\0x", 4, "\"\\u000a\\u0009\\u0000x\""},
        {"\x7f", 1, "\"\x7f\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff"
         "a",
         2, "\"\\ufffda\""},
        {"\xc3", 1, "\"\\ufffd\""},                                  // ends too early
        {"\xc0\x80", 2, "\"\\ufffd\\ufffd\""},                       // longer than needed
        {"\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\""},            // a surrogate
        {"\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, // beyond Unicode
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        srv_buffer b = {.data = NULL};
        srv_buffer_json(&b, rows[i].text, rows[i].size);
        expect(&b, rows[i].json);
    }
}
END_TEST

START_TEST(utf8_is_recognized)
{
    static const struct {
        const char *text;
        size_t size;
        int is_valid;
    } rows[] = {
        {"", 0, 1},         {"a\0b", 3, 1},
        {"\\ufffd", 6, 1},  {"\xef\xbf\xbd", 3, 1}, // as text, and the character
        {"\xc3\xa4", 2, 1}, {"\xc3", 1, 0},
        {"a\xff", 2, 0},    {"\xed\xa0\x80", 3, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        ck_assert_int_eq(srv_is_utf8(rows[i].text, rows[i].size), rows[i].is_valid);
}
END_TEST

LN_TEST_MAIN("buffers", parts_follow_each_other, buffer_grows_by_any_size,
             size_beyond_all_memory_fails_and_keeps_the_bytes, json_string_escapes_and_replaces,
             utf8_is_recognized)
