// SPDX-License-Identifier: Apache-2.0
// Tests of comparing, hashing, memory, checked sizes, text files and close names.

#include "base/ln_fnv.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

#include "ln_check.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

START_TEST(pointers_compare_by_address)
{
    const char pair[2] = {0};
    ck_assert_int_eq(ln_direct_cmp(pair, pair), 0);
    ck_assert_int_lt(ln_direct_cmp(pair, pair + 1), 0);
    ck_assert_int_gt(ln_direct_cmp(pair + 1, pair), 0);
    ck_assert_int_eq(ln_direct_cmp(NULL, NULL), 0);
    ck_assert_uint_eq(ln_direct_hash(NULL), 0);
    ck_assert_uint_eq(ln_direct_hash((void *)(uintptr_t)77), 77);
}
END_TEST

START_TEST(strings_compare_by_content_and_null_is_least)
{
    const struct {
        const char *a, *b;
        int sign;
    } rows[] = {
        {"a", "a", 0},  {"a", "b", -1}, {"b", "a", 1},   {"", "", 0},
        {NULL, "", -1}, {"", NULL, 1},  {NULL, NULL, 0},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        const int order = ln_str_cmp(rows[i].a, rows[i].b);
        ck_assert_int_eq((order > 0) - (order < 0), rows[i].sign);
        ck_assert_int_eq(ln_streq(rows[i].a, rows[i].b), rows[i].sign == 0);
    }
}
END_TEST

START_TEST(hashes_are_fnv_1a)
{
    ck_assert_uint_eq(ln_str_hash(""), 0x811C9DC5u);
    ck_assert_uint_eq(ln_str_hash("a"), 0xE40C292Cu);
    ck_assert_uint_eq(ln_str_hash("foobar"), 0xBF9CF968u);
    ck_assert_uint_eq(ln_str_hash(NULL), ln_str_hash(""));
    ck_assert_uint_eq(ln_fnv64("", 0), 0xCBF29CE484222325u);
    ck_assert_uint_eq(ln_fnv64("foobar", 6), 0x85944171F73967E8u);
    ck_assert_uint_eq(ln_fnv64_more(ln_fnv64("foo", 3), "bar", 3), ln_fnv64("foobar", 6));
}
END_TEST

START_TEST(memory_is_zeroed_copied_and_resized)
{
    unsigned char *bytes = ln_alloc_array(10, 10);
    for (int i = 0; i < 100; i++)
        ck_assert_uint_eq(bytes[i], 0);
    memset(bytes, 7, 100);
    bytes = ln_realloc(bytes, 1000);
    ck_assert_uint_eq(bytes[99], 7);
    unsigned char *copy = ln_clone(bytes, 100);
    ck_assert_ptr_ne(copy, bytes);
    ck_assert_mem_eq(copy, bytes, 100);
    ln_free(copy);
    ln_free(bytes);
    ln_free(NULL);
}
END_TEST

START_TEST(memory_of_size_0_is_an_object)
{
    void *a = ln_alloc(0), *b = ln_clone(NULL, 0), *c = ln_realloc(NULL, 0);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_ptr_nonnull(c);
    ck_assert_ptr_ne(a, b);
    ln_free(a);
    ln_free(b);
    ln_free(c);
}
END_TEST

START_TEST(string_is_duplicated_and_null_stays_null)
{
    char *copy = ln_strdup("conv1");
    ck_assert_str_eq(copy, "conv1");
    ln_free(copy);
    ck_assert_ptr_null(ln_strdup(NULL));
}
END_TEST

START_TEST(memory_that_cannot_be_had_is_a_reason)
{
    char *kept = ln_strdup("kept");
    ck_assert_ptr_null(ln_alloc_array(SIZE_MAX, 2));
    ck_assert_str_eq(ln_last_error(),
                     "out of memory: cannot get 18446744073709551615 elements of 2 bytes");
    ln_alloc_fail_after(0);
    ck_assert_ptr_null(ln_realloc(kept, 100));
    ck_assert_str_eq(ln_last_error(), "out of memory: cannot get 100 bytes");
    ck_assert_int_eq(ln_alloc_fail_stop(), LN_TRUE);
    ck_assert_str_eq(kept, "kept");
    ln_free(kept);
}
END_TEST

START_TEST(chosen_allocation_fails_once)
{
    ln_alloc_fail_after(1);
    void *first = ln_alloc(1), *second = ln_alloc(1), *third = ln_alloc(1);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(second);
    ck_assert_ptr_nonnull(third);
    ck_assert_int_eq(ln_alloc_fail_stop(), LN_TRUE);
    ln_alloc_fail_after(1);
    ck_assert_int_eq(ln_alloc_fail_stop(), LN_FALSE);
    ln_free(first);
    ln_free(third);
}
END_TEST

START_TEST(rejects_sizes_out_of_range)
{
    const struct {
        size_t a, b;
        int sum_fits, product_fits;
    } rows[] = {
        {0, SIZE_MAX, 1, 1},     {1, SIZE_MAX, 0, 1}, {2, SIZE_MAX / 2, 1, 1},
        {3, SIZE_MAX / 2, 1, 0}, {SIZE_MAX, 0, 1, 1}, {SIZE_MAX, SIZE_MAX, 0, 0},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        size_t sum = 42, product = 42;
        const size_t a = rows[i].a, b = rows[i].b;
        ck_assert_int_eq(ln_size_add(a, b, &sum), rows[i].sum_fits ? 0 : -1);
        ck_assert_int_eq(ln_size_mul(a, b, &product), rows[i].product_fits ? 0 : -1);
        ck_assert_uint_eq(sum, rows[i].sum_fits ? a + b : 42);
        ck_assert_uint_eq(product, rows[i].product_fits ? a * b : 42);
    }
}
END_TEST

// Returns a stream with `size` bytes, all 'x'.
static FILE *stream_of(size_t size)
{
    FILE *stream = tmpfile();
    ck_assert_ptr_nonnull(stream);
    for (size_t i = 0; i < size; i++)
        fputc('x', stream);
    rewind(stream);
    return stream;
}

START_TEST(stream_is_read_to_its_end)
{
    const size_t sizes[] = {0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 100000};
    for (size_t i = 0; i < LEN(sizes); i++) {
        FILE *stream = stream_of(sizes[i]);
        size_t size = 42;
        char *text = ln_read_stream(stream, "x", &size);
        ck_assert_ptr_nonnull(text);
        ck_assert_uint_eq(size, sizes[i]);
        ck_assert_uint_eq(strlen(text), sizes[i]);
        ln_free(text);
        fclose(stream);
    }
}
END_TEST

START_TEST(stream_survives_every_failing_allocation)
{
    ln_bool failed = LN_TRUE;
    for (int n = 0; failed; n++) {
        FILE *stream = stream_of(10000);
        ln_alloc_fail_after(n);
        char *text = ln_read_stream(stream, "x", NULL);
        failed = ln_alloc_fail_stop();
        ck_assert_int_eq(text == NULL, failed);
        ln_free(text);
        fclose(stream);
    }
}
END_TEST

// Writes a file of `size` bytes and reads it as text; *file: its name.
static char *read_file_of(const void *bytes, size_t size, char file[32])
{
    strcpy(file, "/tmp/ln_util_XXXXXX");
    const int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), size);
    close(fd);
    char *text = ln_read_text(file);
    unlink(file);
    return text;
}

START_TEST(text_file_is_read_whole)
{
    char file[32];
    char *text = read_file_of("two\nlines\n", 10, file);
    ck_assert_str_eq(text, "two\nlines\n");
    ln_free(text);
}
END_TEST

START_TEST(rejects_files_that_are_no_text_by_name)
{
    char file[32], expected[128];
    ck_assert_ptr_null(ln_read_text("/no/such/file"));
    ck_assert_str_eq(ln_last_error(), "/no/such/file: cannot read: No such file or directory");
    ck_assert_ptr_null(ln_read_text("/tmp"));
    ck_assert_str_eq(ln_last_error(), "/tmp: cannot read: Is a directory");
    ck_assert_ptr_null(read_file_of("ab\0c", 4, file));
    snprintf(expected, sizeof(expected), "%s: NUL byte at offset 2, expected text", file);
    ck_assert_str_eq(ln_last_error(), expected);
}
END_TEST

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static const char *const known[] = {"run", "bench", "conv2d", "convert", "create", "create_cpu"};

static const char *closest(const char *name)
{
    const char *best = NULL;
    for (size_t i = 0; i < LEN(known); i++)
        best = ln_closer_name(name, best, known[i]);
    return best;
}

START_TEST(closest_name_differs_in_a_third_of_its_letters_at_most)
{
    static const struct {
        const char *name, *closest;
    } rows[] = {
        {"rnu", "run"},        // swapped
        {"rn", "run"},         // inserted
        {"runn", "run"},       // deleted
        {"bemch", "bench"},    // changed
        {"RUN", "run"},        // case does not count
        {"convet", "convert"}, // one letter, conv2d is two
        {"craete", "create"},  //
        {"create_cuda", "create_cpu"},
        {"r", NULL},          // two letters of one
        {"fun2", NULL},       // two of four
        {"frobnicate", NULL}, //
        {"", NULL},
        {"runrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrunrun", NULL},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        const char *got = closest(rows[i].name);
        ck_assert_msg(ln_streq(got, rows[i].closest), "%s: got %s, expected %s", rows[i].name,
                      got ? got : "nothing", rows[i].closest ? rows[i].closest : "nothing");
    }
}
END_TEST

START_TEST(first_of_equally_close_names_stays)
{
    ck_assert_str_eq(ln_closer_name("cat1", "cat2", "cat3"), "cat2");
    ck_assert_str_eq(ln_closer_name("cat1", "cat2", "cat11"), "cat2");
    ck_assert_str_eq(ln_closer_name("cat1", "cats2", "cat3"), "cat3");
}
END_TEST

LN_TEST_MAIN("util", pointers_compare_by_address, strings_compare_by_content_and_null_is_least,
             hashes_are_fnv_1a, memory_is_zeroed_copied_and_resized, memory_of_size_0_is_an_object,
             string_is_duplicated_and_null_stays_null, memory_that_cannot_be_had_is_a_reason,
             chosen_allocation_fails_once, rejects_sizes_out_of_range, stream_is_read_to_its_end,
             stream_survives_every_failing_allocation, text_file_is_read_whole,
             rejects_files_that_are_no_text_by_name,
             closest_name_differs_in_a_third_of_its_letters_at_most,
             first_of_equally_close_names_stays)
