// SPDX-License-Identifier: Apache-2.0
// Tests of operations on strings that models do not reach: bytes that are not UTF-8, failures.

#include <string.h>

#include "kernel/strings/strings.h"
#include "ln_check.h"
#include "tensorlight/tl_util.h"

// A tensor [n] of these texts.
static tl_tensor *create(int n, const char *const *texts)
{
    return tl_tensor_create((void *)tl_strings_from_text(texts, (size_t)n), 1, &n, TL_STRING);
}

START_TEST(bytes_that_are_not_utf_8_are_characters)
{
    static const char *const texts[] = {"\x80",
                                        "\xc3",
                                        "\xe4\xb8",
                                        "\xf0\x9f\x98",
                                        "\xff\xfe",
                                        "a\xc3z",
                                        "\xe0\x81\x81",
                                        "\xe0\x9f\xbf",
                                        "\xed\xa0\x80",
                                        "\xf0\x8f\xbf\xbf",
                                        "\xf4\x90\x80\x80"};
    static const int lens[] = {1, 1, 2, 3, 2, 3, 3, 3, 3, 4, 4};
    for (int i = 0; i < 11; i++) {
        const char *at = texts[i], *const end = at + strlen(at);
        int len = 0;
        for (size_t n; at < end; at += n, len++)
            tl_char_at(at, end, &n);
        ck_assert_ptr_eq(at, end);
        ck_assert_int_eq(len, lens[i]);
    }
}
END_TEST

START_TEST(characters_are_written_as_they_are_read)
{
    static const uint32_t chars[] = {0, 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff};
    for (size_t i = 0; i < sizeof(chars) / sizeof(*chars); i++) {
        char bytes[4];
        size_t n;
        const size_t size = tl_char_put(bytes, chars[i]);
        ck_assert_uint_eq(tl_char_at(bytes, bytes + size, &n), chars[i]);
        ck_assert_uint_eq(n, size);
    }
}
END_TEST

START_TEST(letters_have_a_case)
{
    static const uint32_t pairs[][2] = {{'A', 'a'},     {0xc4, 0xe4},     {0x178, 0xff},
                                        {0x391, 0x3b1}, {0x416, 0x436},   {0x10400, 0x10428},
                                        {0x1e9e, 0xdf}, {0x2c00, 0x2c30}, {0x100, 0x101}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        ck_assert_uint_eq(tl_char_lower(pairs[i][0]), pairs[i][1]);
        ck_assert_uint_eq(tl_char_lower(pairs[i][1]), pairs[i][1]);
        ck_assert_uint_eq(tl_char_upper(pairs[i][0]), pairs[i][0]);
        if (pairs[i][1] != 0xdf) // its upper case has two letters
            ck_assert_uint_eq(tl_char_upper(pairs[i][1]), pairs[i][0]);
    }
    ck_assert_uint_eq(tl_char_lower('1'), '1');
    ck_assert_uint_eq(tl_char_upper(0x4e2d), 0x4e2d);
    ck_assert_uint_eq(tl_char_upper(0x110000), 0x110000);
}
END_TEST

START_TEST(strings_need_an_arena)
{
    tl_tensor *const t = create(2, (const char *const[]){"a", "b"});
    tl_tensor *const dst = tl_tensor_zeros(1, (const int[]){2}, TL_STRING);
    ck_assert_int_eq(tl_exec_strings_join(NULL, t, t, dst), -1);
    ck_assert_str_eq(tl_last_error(), "'exec' has no arena for strings, expected one");
    tl_strings arena = {.limit = 8};
    const tl_exec exec = {.strings = &arena};
    ck_assert_int_eq(tl_exec_strings_join(&exec, t, t, dst), -1);
    ck_assert_int_eq(arena.is_over, 1);
    tl_strings_free(&arena);
    tl_tensor_free_data_too(dst);
    tl_tensor_free_data_too(t);
}
END_TEST

START_TEST(an_order_that_leads_out_of_the_pool_is_rejected)
{
    tl_tensor *const keys = tl_tensor_arange(0, 3, 1, TL_INT64);
    int32_t numbers[] = {0, 1, 3};
    float values[] = {1, 2, 3}, other = 0, result[3];
    tl_tensor *const order = tl_tensor_create(numbers, 1, (const int[]){3}, TL_INT32);
    tl_tensor *const to = tl_tensor_create(values, 1, (const int[]){3}, TL_FLOAT);
    tl_tensor *const deflt = tl_tensor_create(&other, 0, NULL, TL_FLOAT);
    tl_tensor *const dst = tl_tensor_create(result, 1, (const int[]){3}, TL_FLOAT);
    ck_assert_int_eq(tl_exec_lookup(NULL, keys, keys, order, to, deflt, dst), -1);
    ck_assert_str_eq(tl_last_error(), "'order' has 3 at index 2, expected 0 to 2");
    numbers[2] = 2;
    ck_assert_int_eq(tl_exec_lookup(NULL, keys, keys, order, to, deflt, dst), 0);
    ck_assert(result[0] == 1 && result[1] == 2 && result[2] == 3);
    tl_tensor_free(order);
    tl_tensor_free(to);
    tl_tensor_free(deflt);
    tl_tensor_free(dst);
    tl_tensor_free_data_too(keys);
}
END_TEST

LN_TEST_MAIN("operations on strings", bytes_that_are_not_utf_8_are_characters,
             characters_are_written_as_they_are_read, letters_have_a_case, strings_need_an_arena,
             an_order_that_leads_out_of_the_pool_is_rejected)
