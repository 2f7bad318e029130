// SPDX-License-Identifier: Apache-2.0
// Tests of hash tables.

#include "lightnet/ln_hash.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_hash_bytes.h"
#include "lightnet/ln_msg.h"

#include "ln_check.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static void *number(int n)
{
    return (void *)(intptr_t)n;
}

static uint32_t same_hash(const void *key)
{
    (void)key;
    return 7;
}

static char freed[64];

static void note_freed(void *str)
{
    strcat(freed, str);
}

// A table of strings that notes what it frees.
static ln_hash *noting_table(void)
{
    freed[0] = '\0';
    return ln_hash_create(ln_str_hash, ln_str_cmp, note_freed, note_freed);
}

START_TEST(value_is_found_by_an_equal_key)
{
    ln_hash *hash = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    const char conv[] = "conv", same[] = "conv";
    ck_assert_int_eq(ln_hash_insert(hash, conv, number(1)), 1);
    ck_assert_int_eq(ln_hash_insert(hash, "relu", number(2)), 1);
    ck_assert_ptr_eq(ln_hash_find(hash, same), number(1));
    ck_assert_ptr_eq(ln_hash_find(hash, "relu"), number(2));
    ck_assert_ptr_null(ln_hash_find(hash, "pool"));
    ck_assert_int_eq(ln_hash_size(hash), 2);
    ln_hash_free(hash);
    ln_hash_free(NULL);
}
END_TEST

START_TEST(pair_with_a_null_value_is_found_extended)
{
    ln_hash *hash = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    const char key[] = "conv";
    void *found_key = number(5), *found_value = number(6);
    ln_hash_insert(hash, key, NULL);
    ck_assert_int_eq(ln_hash_find_extended(hash, "relu", &found_key, &found_value), 0);
    ck_assert_ptr_eq(found_key, number(5));
    ck_assert_ptr_eq(found_value, number(6));
    ck_assert_int_eq(ln_hash_find_extended(hash, "conv", &found_key, &found_value), 1);
    ck_assert_ptr_eq(found_key, key);
    ck_assert_ptr_null(found_value);
    ck_assert_int_eq(ln_hash_find_extended(hash, "conv", NULL, NULL), 1);
    ln_hash_free(hash);
}
END_TEST

START_TEST(null_functions_make_keys_of_pointers)
{
    ln_hash *hash = ln_hash_create(NULL, NULL, NULL, NULL);
    ck_assert_int_eq(ln_hash_insert(hash, NULL, number(1)), 1);
    ck_assert_int_eq(ln_hash_insert(hash, number(3), number(2)), 1);
    ck_assert_ptr_eq(ln_hash_find(hash, NULL), number(1));
    ck_assert_ptr_eq(ln_hash_find(hash, number(3)), number(2));
    ln_hash_free(hash);
}
END_TEST

START_TEST(replacing_frees_the_old_key_and_value)
{
    ln_hash *hash = noting_table();
    char k1[] = "k", k2[] = "k", v1[] = "1", v2[] = "2";
    ck_assert_int_eq(ln_hash_insert(hash, k1, v1), 1);
    ck_assert_int_eq(ln_hash_insert(hash, k2, v2), 0);
    ck_assert_str_eq(freed, "k1");
    void *key = NULL;
    ln_hash_find_extended(hash, "k", &key, NULL);
    ck_assert_ptr_eq(key, k2);
    ck_assert_ptr_eq(ln_hash_find(hash, "k"), v2);
    ck_assert_int_eq(ln_hash_size(hash), 1);
    ln_hash_free(hash);
    ck_assert_str_eq(freed, "k1k2");
}
END_TEST

START_TEST(replacing_by_the_same_pointers_frees_nothing)
{
    ln_hash *hash = noting_table();
    char k[] = "k", v[] = "v", w[] = "w";
    ln_hash_insert(hash, k, v);
    ck_assert_int_eq(ln_hash_insert(hash, k, v), 0);
    ck_assert_str_eq(freed, "");
    ck_assert_int_eq(ln_hash_insert(hash, k, w), 0);
    ck_assert_str_eq(freed, "v");
    ln_hash_free(hash);
    ck_assert_str_eq(freed, "vkw");
}
END_TEST

START_TEST(key_may_lie_inside_its_value)
{
    ln_hash *hash = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, ln_free);
    char *a = ln_strdup("name"), *b = ln_strdup("name");
    ck_assert_int_eq(ln_hash_insert(hash, a, a), 1);
    ck_assert_int_eq(ln_hash_insert(hash, b, b), 0);
    ck_assert_ptr_eq(ln_hash_find(hash, "name"), b);
    ck_assert_int_eq(ln_hash_remove(hash, b), 1);
    ck_assert_int_eq(ln_hash_size(hash), 0);
    ln_hash_free(hash);
}
END_TEST

START_TEST(adding_leaves_an_equal_key_as_it_is)
{
    ln_hash *hash = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ck_assert_int_eq(ln_hash_add(hash, "conv", number(1)), 1);
    ck_assert_int_eq(ln_hash_add(hash, "conv", number(2)), 0);
    ck_assert_ptr_eq(ln_hash_find(hash, "conv"), number(1));
    ck_assert_int_eq(ln_hash_size(hash), 1);
    ck_assert_int_eq(ln_hash_is_valid(hash), LN_TRUE);
    ln_hash_free(hash);
}
END_TEST

START_TEST(removal_frees_key_and_value_and_says_whether)
{
    ln_hash *hash = noting_table();
    char k[] = "k", v[] = "v";
    ln_hash_insert(hash, k, v);
    ck_assert_int_eq(ln_hash_remove(hash, "x"), 0);
    ck_assert_int_eq(ln_hash_remove(hash, "k"), 1);
    ck_assert_str_eq(freed, "kv");
    ck_assert_int_eq(ln_hash_remove(hash, "k"), 0);
    ck_assert_int_eq(ln_hash_size(hash), 0);
    ln_hash_free(hash);
    ck_assert_str_eq(freed, "kv");
}
END_TEST

START_TEST(table_is_filled_from_an_array)
{
    ln_hash_init_entry entries[] = {
        {(void *)"a", number(1)}, {(void *)"b", NULL}, {(void *)"a", number(3)}, {NULL, NULL}};
    ln_hash *hash = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ck_assert_int_eq(ln_hash_init(hash, entries), 0);
    ck_assert_int_eq(ln_hash_size(hash), 2);
    ck_assert_ptr_eq(ln_hash_find(hash, "a"), number(3));
    ck_assert_int_eq(ln_hash_find_extended(hash, "b", NULL, NULL), 1);
    ln_hash_free(hash);
}
END_TEST

// Inserts 1 to n, removes the odd ones, and looks at all.
static void fill_and_thin(ln_hash *hash, int n)
{
    for (int i = 1; i <= n; i++)
        ck_assert_int_eq(ln_hash_insert(hash, number(i), number(2 * i)), 1);
    ck_assert_int_eq(ln_hash_size(hash), n);
    ck_assert_int_eq(ln_hash_is_valid(hash), LN_TRUE);
    for (int i = 1; i <= n; i += 2)
        ck_assert_int_eq(ln_hash_remove(hash, number(i)), 1);
    ck_assert_int_eq(ln_hash_size(hash), n / 2);
    ck_assert_int_eq(ln_hash_is_valid(hash), LN_TRUE);
    for (int i = 1; i <= n; i++)
        ck_assert_ptr_eq(ln_hash_find(hash, number(i)), i % 2 ? NULL : number(2 * i));
}

START_TEST(thousands_of_keys_are_kept_apart)
{
    const struct {
        ln_hash_func hash_func;
        int n, init_capacity;
        float load_factor;
    } rows[] = {
        {ln_direct_hash, 50000, 16, 0.75f},  {ln_direct_hash, 50000, 0, 0.75f},
        {ln_direct_hash, 2000, 17, 100},     {ln_direct_hash, 2000, 1, 0.01f},
        {ln_direct_hash, 1000, 1, INFINITY}, {same_hash, 2000, 16, 0.75f},
    };
    for (size_t i = 0; i < LEN(rows); i++) {
        ln_hash *hash = ln_hash_create_full(rows[i].hash_func, NULL, NULL, NULL,
                                            rows[i].init_capacity, rows[i].load_factor);
        ck_assert_ptr_nonnull(hash);
        fill_and_thin(hash, rows[i].n);
        ln_hash_free(hash);
    }
}
END_TEST

START_TEST(creation_rejects_missing_functions)
{
    const struct {
        int init_capacity;
        float load_factor;
    } rows[] = {{-1, 0.75f}, {INT_MAX, 0.75f}, {16, 0}, {16, -1}, {16, NAN}};
    for (size_t i = 0; i < LEN(rows); i++) {
        ln_error_clear(NULL);
        ck_assert_ptr_null(ln_hash_create_full(NULL, NULL, NULL, NULL, rows[i].init_capacity,
                                               rows[i].load_factor));
        ck_assert_str_ne(ln_last_error(), "");
    }
}
END_TEST

START_TEST(failed_insertion_leaves_key_and_value_to_the_caller)
{
    for (int n = 0; n < 2; n++) {
        ln_alloc_fail_after(n);
        ck_assert_ptr_null(ln_hash_create(NULL, NULL, NULL, NULL));
        ck_assert_int_eq(ln_alloc_fail_stop(), LN_TRUE);
    }
    ln_hash *hash = noting_table();
    char k[] = "k", v[] = "v";
    ln_hash_init_entry entries[] = {{k, v}, {NULL, NULL}};
    ln_alloc_fail_after(0);
    ck_assert_int_eq(ln_hash_init(hash, entries), -1);
    ln_alloc_fail_stop();
    ck_assert_str_eq(freed, "");
    ck_assert_int_eq(ln_hash_size(hash), 0);
    ck_assert_int_eq(ln_hash_is_valid(hash), LN_TRUE);
    ln_hash_free(hash);
}
END_TEST

START_TEST(table_that_cannot_grow_still_takes_pairs)
{
    ln_hash *hash = ln_hash_create_full(NULL, NULL, NULL, NULL, 1, 1);
    ln_hash_insert(hash, number(1), number(1));
    ln_alloc_fail_after(0);
    ck_assert_int_eq(ln_hash_insert(hash, number(2), number(2)), 1);
    ck_assert_int_eq(ln_alloc_fail_stop(), LN_TRUE);
    ck_assert_int_eq(ln_hash_insert(hash, number(3), number(3)), 1);
    for (int i = 1; i <= 3; i++)
        ck_assert_ptr_eq(ln_hash_find(hash, number(i)), number(i));
    ck_assert_int_eq(ln_hash_is_valid(hash), LN_TRUE);
    ln_hash_free(hash);
}
END_TEST

START_TEST(table_with_a_changed_key_is_not_valid)
{
    char key[] = "conv";
    ln_hash *hash = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    ln_hash_insert(hash, key, NULL);
    key[0] = 'k';
    ck_assert_int_eq(ln_hash_is_valid(hash), LN_FALSE);
    ln_hash_free(hash);
}
END_TEST

// Names that FNV-1a, a hash without a secret, maps to one value: each of the blocks has two texts
// that lead from the same state to the same state.
enum { BLOCK = 7, BLOCKS = 13, N_NAMES = 1 << BLOCKS, TRIED = 1 << 17 };

static uint32_t fnv(uint32_t h, const char *text)
{
    for (int i = 0; i < BLOCK; i++)
        h = (h ^ (unsigned char)text[i]) * 0x01000193u;
    return h;
}

static void print_block(char text[BLOCK + 1], unsigned long n)
{
    snprintf(text, BLOCK + 1, "%07lx", n * 2654435761u % 0xfffffff);
}

typedef struct entry {
    uint32_t h;
    unsigned n;
} entry;

static int compare_entries(const void *a, const void *b)
{
    const entry *const x = a, *const y = b;
    return x->h != y->h ? (x->h > y->h ? 1 : -1) : x->n > y->n ? 1 : -1;
}

// Two texts from state `h` to one; returns that.
static uint32_t find_pair(uint32_t h, char a[BLOCK + 1], char b[BLOCK + 1])
{
    entry *const all = malloc(TRIED * sizeof(*all));
    for (unsigned n = 0; n < TRIED; n++) {
        print_block(a, n);
        all[n] = (entry){fnv(h, a), n};
    }
    qsort(all, TRIED, sizeof(*all), compare_entries);
    size_t i = 1;
    for (; i < TRIED; i++) {
        print_block(a, all[i - 1].n);
        print_block(b, all[i].n);
        if (all[i].h == all[i - 1].h && strcmp(a, b) != 0)
            break;
    }
    ck_assert_uint_lt(i, TRIED);
    const uint32_t next = all[i].h;
    free(all);
    return next;
}

static double seconds_of(char (*names)[BLOCK * BLOCKS + 4])
{
    const clock_t begin = clock();
    ln_hash *const hash = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    for (int i = 0; i < N_NAMES; i++)
        ck_assert_int_eq(ln_hash_insert(hash, names[i], names[i]), 1);
    for (int i = 0; i < N_NAMES; i++)
        ck_assert_ptr_eq(ln_hash_find(hash, names[i]), names[i]);
    ln_hash_free(hash);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

START_TEST(names_of_one_value_of_fnv_are_found_as_fast_as_others)
{
    static char alike[N_NAMES][BLOCK * BLOCKS + 4], others[N_NAMES][BLOCK * BLOCKS + 4];
    char texts[BLOCKS][2][BLOCK + 1];
    uint32_t h = 0x811c9dc5;
    for (int b = 0; b < BLOCKS; b++)
        h = find_pair(h, texts[b][0], texts[b][1]);
    ck_assert_uint_ne(ln_hash_bytes(texts[0][0], BLOCK), ln_hash_bytes(texts[0][1], BLOCK));
    for (int i = 0; i < N_NAMES; i++) {
        for (int b = 0; b < BLOCKS; b++)
            memcpy(alike[i] + BLOCK * b, texts[b][i >> b & 1], BLOCK);
        strcpy(alike[i] + BLOCK * BLOCKS, "123"); // the table adds the last digits
        snprintf(others[i], sizeof(others[i]), "%0*d", BLOCK * BLOCKS + 3, i);
    }
    // A chain of all names takes hundreds of times as long. 0.05 s: for the clock, and other work.
    const double usual = seconds_of(others), slow = seconds_of(alike);
    ck_assert_msg(slow <= 8 * usual + 0.05, "%g s, others %g s", slow, usual);
}
END_TEST

LN_TEST_MAIN("hash", names_of_one_value_of_fnv_are_found_as_fast_as_others,
             value_is_found_by_an_equal_key, pair_with_a_null_value_is_found_extended,
             null_functions_make_keys_of_pointers, replacing_frees_the_old_key_and_value,
             replacing_by_the_same_pointers_frees_nothing, key_may_lie_inside_its_value,
             adding_leaves_an_equal_key_as_it_is, removal_frees_key_and_value_and_says_whether,
             table_is_filled_from_an_array, thousands_of_keys_are_kept_apart,
             creation_rejects_missing_functions,
             failed_insertion_leaves_key_and_value_to_the_caller,
             table_that_cannot_grow_still_takes_pairs, table_with_a_changed_key_is_not_valid)
