// SPDX-License-Identifier: Apache-2.0
// Tests of tensor entries, the tensor table and tensor lists.

#include "lightnet/ln_tensor.h"

#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"
#include "ln_check.h"

// A [2, 3] float tensor without data.
static ln_tensor_entry *new_entry(const char *name)
{
    tl_tensor *tensor = tl_tensor_create(NULL, 2, (int[]){2, 3}, TL_FLOAT);
    ln_tensor_entry *entry = ln_tensor_entry_create(name, tensor);
    if (!entry)
        tl_tensor_free(tensor);
    return entry;
}

static ln_tensor_entry *add(ln_hash *table, const char *name)
{
    ln_tensor_entry *entry = new_entry(name);
    ck_assert_int_eq(ln_tensor_table_insert(table, entry), 1);
    return entry;
}

START_TEST(entry_begins_with_a_name_and_a_tensor_alone)
{
    ln_tensor_entry *entry = new_entry("x");
    ck_assert_str_eq(entry->name, "x");
    ck_assert_int_eq(entry->tensor->len, 6);
    ck_assert(!entry->owner && !entry->creater && !entry->offset);
    ck_assert(!entry->isstatic && !entry->isconst && entry->mtype == LN_MEM_NONE);
    ck_assert(ln_tensor_entry_is_valid(entry));
    ck_assert_int_eq(ln_tensor_entry_set_creater(entry, "conv"), 0);
    ck_assert_int_eq(ln_tensor_entry_set_creater(entry, "relu"), 0);
    ck_assert_str_eq(entry->creater, "relu");
    ln_tensor_entry_free_tensor_too(entry);
    ln_tensor_entry_free_tensor_too(NULL);
    ln_tensor_entry_free(NULL);
}
END_TEST

START_TEST(malformed_entries_are_not_valid)
{
    ln_tensor_entry *entry = new_entry("x");
    entry->tensor->len = 7;
    ck_assert(!ln_tensor_entry_is_valid(entry));
    entry->tensor->len = 6;
    entry->mtype = LN_MEM_TYPE_SIZE;
    ck_assert(!ln_tensor_entry_is_valid(entry));
    entry->mtype = LN_MEM_CPU;
    entry->owner = ln_strdup("x");
    ck_assert(!ln_tensor_entry_is_valid(entry));
    ln_tensor_entry_free_tensor_too(entry);
}
END_TEST

START_TEST(table_finds_replaces_and_removes_entries)
{
    ln_hash *table = ln_tensor_table_create();
    add(table, "x");
    ln_tensor_entry *second = new_entry("x");
    ck_assert_int_eq(ln_tensor_table_insert(table, second), 0);
    ck_assert_ptr_eq(ln_tensor_table_find(table, "x"), second);
    ck_assert_int_eq(ln_tensor_table_remove(table, second->name), 1);
    ck_assert_int_eq(ln_tensor_table_remove(table, "x"), 0);
    ck_assert_ptr_null(ln_tensor_table_find(table, "x"));
    ck_assert_ptr_null(ln_tensor_table_find(table, NULL));
    ln_tensor_table_free(table);
    ln_tensor_table_free(NULL);
}
END_TEST

START_TEST(table_never_frees_data)
{
    float data[6] = {1};
    ln_hash *table = ln_tensor_table_create();
    add(table, "x")->tensor->data = data;
    ln_tensor_table_free(table);
    ck_assert_float_eq(data[0], 1);
}
END_TEST

START_TEST(root_is_the_end_of_the_owners)
{
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *a = add(table, "a"), *b = add(table, "b"), *c = add(table, "c");
    ck_assert_int_eq(ln_tensor_entry_set_owner(b, table, "a"), 0);
    ck_assert_int_eq(ln_tensor_entry_set_owner(c, table, "b"), 0);
    ck_assert_str_eq(c->owner, "b");
    ck_assert_ptr_eq(ln_tensor_table_root(table, a), a);
    ck_assert_ptr_eq(ln_tensor_table_root(table, c), a);
    ck_assert_int_eq(ln_tensor_entry_set_owner(c, table, NULL), 0);
    ck_assert_ptr_eq(ln_tensor_table_root(table, c), c);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(owner_that_would_make_a_ring_is_an_error)
{
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *a = add(table, "a"), *b = add(table, "b");
    add(table, "c");
    ck_assert_int_eq(ln_tensor_entry_set_owner(a, table, "c"), 0);
    ck_assert_int_eq(ln_tensor_entry_set_owner(b, table, "a"), 0);
    ck_assert_int_eq(ln_tensor_entry_set_owner(a, table, "b"), -1);
    ck_assert_str_eq(ln_last_error(), "tensor 'a' would own itself through 'b'");
    ck_assert_str_eq(a->owner, "c");
    ck_assert_int_eq(ln_tensor_entry_set_owner(a, table, "a"), -1);
    ck_assert_int_eq(ln_tensor_entry_set_owner(a, table, "z"), -1);
    ck_assert_str_eq(ln_last_error(), "the owner 'z' of tensor 'a' is not in the tensor table");
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(root_of_a_ring_or_a_torn_chain_is_an_error)
{
    // A ring of `len` tensors after a tail of one.
    for (int len = 1; len <= 5; len++) {
        ln_hash *table = ln_tensor_table_create();
        const char *const names[] = {"a", "b", "c", "d", "e"};
        for (int i = 0; i < len; i++)
            add(table, names[i])->owner = ln_strdup(names[(i + 1) % len]);
        ln_tensor_entry *tail = add(table, "tail");
        tail->owner = ln_strdup("a");
        ck_assert_ptr_null(ln_tensor_table_root(table, tail));
        ck_assert_str_eq(ln_last_error(), "the owners of tensor 'tail' form a cycle");
        ln_tensor_table_remove(table, "a");
        ck_assert_ptr_null(ln_tensor_table_root(table, tail));
        ln_tensor_table_free(table);
    }
}
END_TEST

START_TEST(views_of_views_take_linear_time)
{
    // A quadratic step would exceed the test's time limit.
    enum { LEN = 50000 };
    char name[32], owner[32];
    ln_hash *table = ln_tensor_table_create();
    const ln_tensor_entry *first = add(table, "t0"), *last = first;
    for (int i = 1; i < LEN; i++) {
        snprintf(name, sizeof name, "t%d", i);
        snprintf(owner, sizeof owner, "t%d", i - 1);
        ln_tensor_entry *entry = add(table, name);
        ck_assert_int_eq(ln_tensor_entry_set_owner(entry, table, owner), 0);
        last = entry;
    }
    ck_assert_ptr_eq(ln_tensor_table_root(table, last), first);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(data_goes_in_and_out)
{
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *entry = add(table, "x");
    const float numbers[6] = {1, 2, 3, 4, 5, 6};
    float memory[6], out[6];
    ck_assert_uint_eq(ln_tensor_table_data_size(table, "x"), 24);
    ck_assert_int_eq(ln_tensor_table_set_data(table, "x", numbers), -1);
    ck_assert_str_eq(ln_last_error(), "tensor 'x' has no memory yet, expected a loaded model");
    entry->tensor->data = memory;
    entry->mtype = LN_MEM_CPU;
    ck_assert_int_eq(ln_tensor_table_set_data(table, "x", numbers), 0);
    ck_assert_ptr_eq(ln_tensor_table_get_data(table, "x", out), out);
    ck_assert_mem_eq(out, numbers, sizeof numbers);
    float *copy = ln_tensor_table_get_data(table, "x", NULL);
    ck_assert_mem_eq(copy, numbers, sizeof numbers);
    ln_free(copy);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(data_of_an_unknown_tensor_is_an_error)
{
    ln_hash *table = ln_tensor_table_create();
    float data[6];
    ck_assert_int_eq(ln_tensor_table_set_data(table, "y", data), -1);
    ck_assert_str_eq(ln_last_error(), "unknown tensor 'y'");
    ck_assert_ptr_null(ln_tensor_table_get_data(table, "y", data));
    ck_assert_uint_eq(ln_tensor_table_data_size(table, "y"), 0);
    ln_tensor_table_free(table);
}
END_TEST

START_TEST(list_finds_its_entries_in_order)
{
    ln_list *list = ln_tensor_list_append(NULL, "src", "x");
    list = ln_tensor_list_append(list, "weight", "w");
    ck_assert_int_eq(ln_tensor_list_length(list), 2);
    ck_assert_str_eq(((ln_tensor_list_entry *)list->data)->arg_name, "src");
    ck_assert_str_eq(ln_tensor_list_find_name(list, "weight"), "w");
    ck_assert_str_eq(ln_tensor_list_find_by_arg_name(list, "src")->name, "x");
    ck_assert_str_eq(ln_tensor_list_find_by_name(list, "w")->arg_name, "weight");
    ck_assert_ptr_null(ln_tensor_list_find_name(list, "bias"));
    ck_assert_ptr_null(ln_tensor_list_find_by_name(list, "src"));
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *entry = add(table, "w");
    ck_assert_ptr_eq(ln_tensor_list_find_entry(list, table, "weight"), entry);
    ck_assert_ptr_null(ln_tensor_list_find_entry(list, table, "src"));
    ck_assert_ptr_null(ln_tensor_list_find_entry(list, table, "bias"));
    ln_tensor_table_free(table);
    ln_tensor_list_free(list);
}
END_TEST

START_TEST(copy_of_a_list_is_independent)
{
    ln_list *list = ln_tensor_list_append(NULL, "src", "x");
    ((ln_tensor_list_entry *)list->data)->offset = 64;
    list = ln_tensor_list_append(list, "weight", "w");
    ln_list *copy = ln_tensor_list_copy(list);
    ck_assert_int_eq(ln_tensor_list_entry_set_name(list->data, "other"), 0);
    ln_tensor_list_free(list);
    ck_assert_str_eq(ln_tensor_list_find_name(copy, "src"), "x");
    ck_assert_uint_eq(((ln_tensor_list_entry *)copy->data)->offset, 64);
    ck_assert_int_eq(ln_tensor_list_length(copy), 2);
    ln_tensor_list_free(copy);
    ck_assert_ptr_null(ln_tensor_list_copy(NULL));
}
END_TEST

START_TEST(unique_arg_name_counts_on_from_the_largest)
{
    static const struct {
        const char *args[4];
        int number;
    } rows[] = {
        {{"src"}, 0},
        {{"src0", "src1"}, 2},
        {{"src7", "src2", "dst9"}, 8},
        {{"src01", "src1x", "src-3"}, 0}, // none of these is what printing a number gives
        {{"src99999999999999999999"}, 0}, // more than any number here
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char name[LN_MAX_NAME_LEN], expect[LN_MAX_NAME_LEN];
        ln_list *list = NULL;
        for (int j = 0; j < 4 && rows[i].args[j]; j++)
            list = ln_tensor_list_append(list, rows[i].args[j], "x");
        ck_assert_int_eq(ln_tensor_list_unique_arg_name(list, name, "src"), rows[i].number);
        snprintf(expect, sizeof expect, "src%d", rows[i].number);
        ck_assert_str_eq(name, expect);
        ln_tensor_list_free(list);
    }
}
END_TEST

START_TEST(unique_arg_name_that_cannot_be_is_an_error)
{
    char name[LN_MAX_NAME_LEN], prefix[LN_MAX_NAME_LEN] = "";
    ln_list *list = ln_tensor_list_append(NULL, "src2147483647", "x");
    ck_assert_int_eq(ln_tensor_list_unique_arg_name(list, name, "src"), -1);
    ck_assert_str_eq(ln_last_error(), "the name 'src2147483647' leaves no number for another");
    memset(prefix, 'a', sizeof prefix - 1);
    ck_assert_int_eq(ln_tensor_list_unique_arg_name(list, name, prefix), -1);
    prefix[LN_MAX_NAME_LEN - 2] = '\0';
    ck_assert_int_eq(ln_tensor_list_unique_arg_name(list, name, prefix), 0);
    ck_assert_uint_eq(strlen(name), LN_MAX_NAME_LEN - 1);
    ln_tensor_list_free(list);
}
END_TEST

static int use_table(void)
{
    ln_hash *table = ln_tensor_table_create();
    ln_tensor_entry *entry = table ? new_entry("x") : NULL;
    int rc = entry ? ln_tensor_entry_set_creater(entry, "op") : -1;
    if (entry && ln_tensor_table_insert(table, entry) < 0) {
        ln_tensor_entry_free_tensor_too(entry);
        rc = -1;
    }
    ln_tensor_table_free(table);
    return rc;
}

static int use_lists(void)
{
    ln_list *list = ln_tensor_list_append(NULL, "src", "x");
    ln_list *longer = list ? ln_tensor_list_append(list, "dst", "y") : NULL;
    ln_list *copy = ln_tensor_list_copy(longer);
    const int rc = copy ? 0 : -1;
    ck_assert_int_eq(ln_tensor_list_length(list), longer ? 2 : list ? 1 : 0);
    ln_tensor_list_free(copy);
    ln_tensor_list_free(list);
    return rc;
}

START_TEST(every_failing_allocation_is_survived)
{
    int (*const uses[])(void) = {use_table, use_lists};
    for (int i = 0; i < 2; i++) {
        ln_bool failed = LN_TRUE;
        for (int n = 0; failed; n++) {
            ln_alloc_fail_after(n);
            const int rc = uses[i]();
            failed = ln_alloc_fail_stop();
            ck_assert_int_eq(rc, failed ? -1 : 0);
        }
    }
}
END_TEST

LN_TEST_MAIN("tensors", entry_begins_with_a_name_and_a_tensor_alone,
             malformed_entries_are_not_valid, table_finds_replaces_and_removes_entries,
             table_never_frees_data, root_is_the_end_of_the_owners,
             owner_that_would_make_a_ring_is_an_error, root_of_a_ring_or_a_torn_chain_is_an_error,
             views_of_views_take_linear_time, data_goes_in_and_out,
             data_of_an_unknown_tensor_is_an_error, list_finds_its_entries_in_order,
             copy_of_a_list_is_independent, unique_arg_name_counts_on_from_the_largest,
             unique_arg_name_that_cannot_be_is_an_error, every_failing_allocation_is_survived)
