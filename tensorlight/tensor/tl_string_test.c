// SPDX-License-Identifier: Apache-2.0
// Tests of strings in blocks, arenas and tensors.

#include "tensorlight/tl_string.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ln_check.h"
#include "tensorlight/tl_tensor.h"

static const char *const words[] = {"red", "", NULL, "green"};

START_TEST(a_block_has_copies_of_texts)
{
    const tl_string **const block = tl_strings_from_text(words, 4);
    ck_assert_ptr_nonnull(block);
    ck_assert_str_eq(tl_string_bytes(block[0]), "red");
    ck_assert_uint_eq(tl_string_size(block[0]), 3);
    ck_assert_ptr_null(block[1]);
    ck_assert_ptr_null(block[2]);
    ck_assert_str_eq(tl_string_bytes(block[2]), "");
    ck_assert_uint_eq(tl_string_size(block[3]), 5);
    tl_free(block);
}
END_TEST

START_TEST(a_string_may_contain_zeros)
{
    const tl_string **const block = tl_strings_block((const size_t[]){3, 2}, 2);
    ck_assert_ptr_nonnull(block);
    memcpy((char *)tl_string_bytes(block[0]), "a\0b", 3);
    memcpy((char *)tl_string_bytes(block[1]), "a\0", 2);
    const tl_string **const clone = tl_strings_clone(block, 2);
    tl_free(block);
    ck_assert_uint_eq(tl_string_size(clone[0]), 3);
    ck_assert_int_eq(memcmp(tl_string_bytes(clone[0]), "a\0b", 4), 0);
    ck_assert_int_eq(tl_string_cmp(clone[0], clone[1]), 1);
    tl_free(clone);
}
END_TEST

START_TEST(strings_compare_by_their_bytes)
{
    static const char *const sorted[] = {"", "a", "ab", "b", "\xc3\xa4", "\xe4\xb8\xad"};
    const tl_string **const block = tl_strings_from_text(sorted, 6);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++)
            ck_assert_int_eq(tl_string_cmp(block[i], block[k]), (i > k) - (i < k));
    ck_assert_int_eq(tl_cmp(&block[1], &block[2], TL_STRING), -1);
    tl_free(block);
}
END_TEST

START_TEST(sizes_that_overflow_are_rejected)
{
    ck_assert_ptr_null(tl_strings_block((const size_t[]){SIZE_MAX - 3}, 1));
    ck_assert_ptr_null(tl_strings_block((const size_t[]){SIZE_MAX / 2, SIZE_MAX / 2}, 2));
    tl_strings arena = {0};
    const tl_string *s;
    char *bytes;
    ck_assert_int_eq(tl_strings_add(&arena, SIZE_MAX, &s, &bytes), -1);
    ck_assert_ptr_null(s);
    tl_strings_free(&arena);
}
END_TEST

START_TEST(an_arena_keeps_all_until_it_is_cleared)
{
    tl_strings arena = {0};
    const tl_string *all[2000], *large;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2000; i++) {
            char text[32];
            const size_t size = (size_t)snprintf(text, sizeof(text), "%d", i * i);
            ck_assert_int_eq(tl_strings_copy(&arena, text, size, &all[i]), 0);
            ck_assert_uint_eq((uintptr_t)all[i] % sizeof(void *), 0);
        }
        char *bytes;
        ck_assert_int_eq(tl_strings_add(&arena, 100000, &large, &bytes), 0);
        memset(bytes, 'x', 100000);
        for (int i = 0; i < 2000; i++)
            ck_assert_int_eq(atoi(tl_string_bytes(all[i])), i * i);
        ck_assert_uint_eq(strlen(tl_string_bytes(large)), 100000);
        ck_assert_uint_ge(arena.held, 100000);
        tl_strings_clear(&arena);
        ck_assert_uint_lt(arena.held, 100000);
    }
    ck_assert_int_eq(tl_strings_copy(&arena, NULL, 0, &all[0]), 0);
    ck_assert_ptr_null(all[0]);
    tl_strings_free(&arena);
    ck_assert_uint_eq(arena.held, 0);
}
END_TEST

START_TEST(an_arena_has_a_limit)
{
    tl_strings arena = {.limit = 1000};
    const tl_string *s;
    char *bytes;
    ck_assert_int_eq(tl_strings_add(&arena, 400, &s, &bytes), 0);
    ck_assert_int_eq(tl_strings_add(&arena, 700, &s, &bytes), -1);
    ck_assert_int_eq(arena.is_over, 1);
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "exceed the limit of 1000 bytes"));
    tl_strings_clear(&arena);
    ck_assert_int_eq(arena.is_over, 0);
    ck_assert_int_eq(tl_strings_add(&arena, 700, &s, &bytes), 0);
    tl_strings_free(&arena);
    ck_assert_uint_eq(arena.limit, 1000);
}
END_TEST

static tl_tensor *some_words(void)
{
    tl_tensor *const t = tl_tensor_create(NULL, 1, (const int[]){4}, TL_STRING);
    t->data = tl_strings_from_text(
        (const char *const[]){"a\"\\\n", "\x01z", "\xc2\x9b\xe2\x80\xae\xc3\xa4", "\xe9\x9b\x7f"},
        4);
    return t;
}

START_TEST(a_clone_of_a_tensor_has_strings_of_its_own)
{
    tl_tensor *const t = some_words();
    tl_tensor *const clone = tl_tensor_clone(t);
    tl_tensor_free_data_too(t);
    ck_assert_str_eq(tl_string_bytes(tl_tensor_string(clone, 1)), "\x01z");
    tl_tensor_free_data_too(clone);
}
END_TEST

START_TEST(strings_print_in_quotes_with_escapes)
{
    tl_tensor *const t = some_words();
    char text[128] = "";
    FILE *const stream = fmemopen(text, sizeof(text), "w");
    ck_assert_int_eq(tl_tensor_fprint(stream, t, NULL), 0);
    fclose(stream);
    ck_assert_str_eq(text, "[\"a\\\"\\\\\\n\" \"\\u0001z\" \"\\u009b\\u202e\xc3\xa4\" "
                           "\"\\udce9\\udc9b\\u007f\"]\n");
    tl_tensor_free_data_too(t);
}
END_TEST

START_TEST(strings_are_no_numbers)
{
    tl_tensor *const t = some_words();
    int64_t number = 7;
    ck_assert_ptr_null(tl_tensor_relu(t, NULL));
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "TL_STRING"));
    ck_assert_ptr_null(tl_tensor_elew(t, t, NULL, TL_SUM));
    ck_assert_ptr_null(tl_tensor_convert(t, NULL, TL_INT64));
    tl_convert(&number, TL_INT64, t->data, TL_STRING);
    ck_assert_int_eq(number, 0);
    number = 7;
    const tl_string *s = tl_tensor_string(t, 0);
    tl_convert(&s, TL_STRING, &number, TL_INT64);
    ck_assert_ptr_null(s);
    ck_assert_int_eq(tl_elew(t->data, t->data, &s, TL_SUM, TL_STRING), -1);
    tl_tensor_free_data_too(t);
}
END_TEST

LN_TEST_MAIN("strings", a_block_has_copies_of_texts, a_string_may_contain_zeros,
             strings_compare_by_their_bytes, sizes_that_overflow_are_rejected,
             an_arena_keeps_all_until_it_is_cleared, an_arena_has_a_limit,
             a_clone_of_a_tensor_has_strings_of_its_own, strings_print_in_quotes_with_escapes,
             strings_are_no_numbers)
