// SPDX-License-Identifier: Apache-2.0
// Tests of errors, memory, checked sizes and numbers.

#include "tensorlight/tl_util.h"

#include <limits.h>
#include <pthread.h>

#include "ln_check.h"

START_TEST(the_last_error_is_kept_and_cleared)
{
    tl_clear_error();
    ck_assert_str_eq(tl_last_error(), "");
    ck_assert_int_eq(tl_fail("%d dimensions", 9), -1);
    ck_assert_str_eq(tl_last_error(), "9 dimensions");
    tl_fail("layer 3: %s", tl_last_error());
    ck_assert_str_eq(tl_last_error(), "layer 3: 9 dimensions");
    tl_clear_error();
    ck_assert_str_eq(tl_last_error(), "");
}
END_TEST

START_TEST(a_long_error_is_cut)
{
    tl_fail("%2000d", 1);
    ck_assert_uint_eq(strlen(tl_last_error()), 1023);
}
END_TEST

static void *fail_elsewhere(void *arg)
{
    tl_fail("another thread");
    return arg;
}

START_TEST(each_thread_has_its_own_error)
{
    tl_fail("this thread");
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    pthread_join(thread, NULL);
    ck_assert_str_eq(tl_last_error(), "this thread");
}
END_TEST

START_TEST(memory_that_cannot_be_had_is_an_error)
{
    ck_assert_ptr_null(tl_alloc(SIZE_MAX / 2));
    ck_assert_ptr_nonnull(strstr(tl_last_error(), "no memory"));
    ck_assert_ptr_null(tl_repeat("ab", 2, -1));
    ck_assert_ptr_null(tl_repeat("ab", SIZE_MAX, 2));
}
END_TEST

START_TEST(copies_are_complete)
{
    char *const clone = tl_clone("abc", 4);
    ck_assert_str_eq(clone, "abc");
    char *const twice = tl_repeat("abc", 3, 2);
    ck_assert_mem_eq(twice, "abcabc", 6);
    char text[8] = "abcdef";
    ck_assert_ptr_eq(tl_copy(text, text + 1, 6), text + 1);
    ck_assert_str_eq(text, "aabcdef");
    ck_assert_ptr_eq(tl_memcpy(text, text + 1, 7), text);
    ck_assert_str_eq(text, "abcdef");
    void *const nothing = tl_clone(NULL, 0);
    ck_assert_ptr_nonnull(nothing);
    tl_free(nothing);
    tl_free(clone);
    tl_free(twice);
}
END_TEST

START_TEST(large_pages_change_no_content)
{
    enum { SIZE = 9 << 20, BEGIN = 1000, END = SIZE - 3000 };
    unsigned char *const p = malloc(SIZE);
    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < SIZE; i++)
        p[i] = (unsigned char)(i * 37 >> 4);
    unsigned char *const copy = tl_clone(p, SIZE);
    ck_assert_ptr_nonnull(copy);
    tl_use_large_pages(p + BEGIN, END - BEGIN);
    tl_use_large_pages(p, 1);
    tl_use_large_pages(NULL, 0);
    ck_assert_int_eq(memcmp(p, copy, SIZE), 0);
    tl_free(copy);
    free(p);
}
END_TEST

START_TEST(pointers_move_by_elements)
{
    int16_t a[] = {1, 2, 3, 4};
    ck_assert_ptr_eq(tl_padd(a, 2, 2), a + 2);
    ck_assert_ptr_eq(tl_pointer_add(a + 3, -2, TL_INT16), a + 1);
    ck_assert_int_eq(tl_psub(a + 3, a + 1, 2), 2);
    ck_assert_int_eq(tl_pointer_sub(a, a + 3, TL_INT16), -3);
    tl_passign(a, 3, a, 0, 2);
    ck_assert_int_eq(a[3], 1);
    tl_pmove(a, 1, a, 0, 3, 2);
    const int16_t moved[] = {1, 1, 2, 3};
    ck_assert_mem_eq(a, moved, sizeof(moved));
    tl_pointer_assign(a, 0, a, 3, TL_INT16);
    tl_pointer_move(a, 0, a, 2, 2, TL_INT16);
    const int16_t again[] = {2, 3, 2, 3};
    ck_assert_mem_eq(a, again, sizeof(again));
}
END_TEST

START_TEST(sizes_do_not_wrap)
{
    size_t size = 7;
    ck_assert_int_eq(tl_size_mul(SIZE_MAX / 2 + 1, 2, &size), -1);
    ck_assert_int_eq(tl_size_add(SIZE_MAX, 1, &size), -1);
    ck_assert_uint_eq(size, 7);
    ck_assert_int_eq(tl_size_mul(6, 7, &size), 0);
    ck_assert_uint_eq(size, 42);
    ck_assert_int_eq(tl_size_add(SIZE_MAX - 1, 1, &size), 0);
    ck_assert(size == SIZE_MAX);
}
END_TEST

START_TEST(a_length_is_the_product_of_the_dims)
{
    ck_assert_int_eq(tl_compute_length(3, (int[]){2, 3, 4}), 24);
    ck_assert_int_eq(tl_compute_length(0, NULL), 1);
    ck_assert_int_eq(tl_compute_length(2, (int[]){5, 0}), 0);
    ck_assert_int_eq(tl_compute_length(1, (int[]){INT_MAX}), INT_MAX);
}
END_TEST

START_TEST(rejects_impossible_shapes)
{
    ck_assert_int_eq(tl_compute_length(2, (int[]){3, -1}), -1);
    ck_assert_str_eq(tl_last_error(), "shape [3, -1], expected no negative dimension");
    ck_assert_int_eq(tl_compute_length(2, (int[]){65536, 32768}), -1);
    ck_assert_str_eq(tl_last_error(), "shape [65536, 32768], expected at most 2147483647 elements");
    ck_assert_int_eq(tl_compute_length(3, (int[]){65536, 65536, 0}), -1);
    ck_assert_int_eq(tl_compute_length(9, (int[]){1, 1, 1, 1, 1, 1, 1, 1, 1}), -1);
    ck_assert_int_eq(tl_compute_length(-1, NULL), -1);
    ck_assert_int_eq(tl_compute_length(1, NULL), -1);
}
END_TEST

START_TEST(the_longest_shape_text_fits)
{
    int dims[TL_MAXDIM];
    for (int i = 0; i < TL_MAXDIM; i++)
        dims[i] = INT_MIN;
    char text[TL_SHAPE_TEXT_SIZE];
    ck_assert_uint_lt(strlen(tl_shape_text(text, TL_MAXDIM, dims)), sizeof(text));
    ck_assert_str_eq(tl_shape_text(text, 0, NULL), "[]");
}
END_TEST

START_TEST(numbers_are_read_between_anything_else)
{
    static const struct {
        const char *text;
        int num, n;
        float expected[4];
    } rows[] = {
        {"1 2.5 -3", 4, 3, {1, 2.5f, -3}},
        {"[1,-.5;+2e2]\n\n4", 4, 4, {1, -0.5f, 200, 4}},
        {"x-y--7.", 4, 1, {-7}},
        {"1 2 3", 2, 2, {1, 2}},
        {"", 4, 0, {0}},
        {"no number", 4, 0, {0}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char path[] = "/tmp/tl_util_test_XXXXXX";
        FILE *const stream = fdopen(mkstemp(path), "w");
        fputs(rows[i].text, stream);
        fclose(stream);
        float buf[4] = {0};
        ck_assert_int_eq(tl_read_floats(path, rows[i].num, buf), rows[i].n);
        ck_assert_mem_eq(buf, rows[i].expected, sizeof(buf));
        remove(path);
    }
    float one;
    ck_assert_int_eq(tl_read_floats("/tmp", 1, &one), -1);
    ck_assert_str_eq(tl_last_error(), "cannot read '/tmp'");
    ck_assert_int_eq(tl_read_floats("/nonexistent/file", 1, &one), -1);
    ck_assert_str_eq(tl_last_error(), "cannot open '/nonexistent/file': No such file or directory");
}
END_TEST

START_TEST(numbers_are_read_behind_a_nul_byte)
{
    static const char text[] = "1.5\0 2.5\n3";
    char path[] = "/tmp/tl_util_test_XXXXXX";
    FILE *const stream = fdopen(mkstemp(path), "w");
    fwrite(text, 1, sizeof(text), stream); // another NUL at the end
    fclose(stream);
    float buf[4];
    ck_assert_int_eq(tl_read_floats(path, 4, buf), 3);
    ck_assert_mem_eq(buf, ((float[]){1.5f, 2.5f, 3}), 3 * sizeof(float));
    remove(path);
}
END_TEST

START_TEST(random_numbers_repeat_and_spread)
{
    uint64_t state = 1, again = 1;
    int counts[10] = {0};
    for (int i = 0; i < 10000; i++) {
        const double x = tl_random_uniform(&state);
        ck_assert_double_eq(x, tl_random_uniform(&again));
        ck_assert(x >= 0 && x < 1);
        counts[(int)(x * 10)]++;
    }
    for (int i = 0; i < 10; i++)
        ck_assert(counts[i] > 850 && counts[i] < 1150); // five standard deviations of 30
}
END_TEST

LN_TEST_MAIN("tl_util", the_last_error_is_kept_and_cleared, a_long_error_is_cut,
             each_thread_has_its_own_error, memory_that_cannot_be_had_is_an_error,
             copies_are_complete, large_pages_change_no_content, pointers_move_by_elements,
             sizes_do_not_wrap, a_length_is_the_product_of_the_dims, rejects_impossible_shapes,
             the_longest_shape_text_fits, numbers_are_read_between_anything_else,
             numbers_are_read_behind_a_nul_byte, random_numbers_repeat_and_spread)
