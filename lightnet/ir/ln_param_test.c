// SPDX-License-Identifier: Apache-2.0
// Tests of parameters and parameter lists.

#include "lightnet/ln_param.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"
#include "ln_check.h"

START_TEST(types_have_their_enum_names)
{
    ck_assert_str_eq(ln_param_type_name(LN_PARAM_NULL), "LN_PARAM_NULL");
    ck_assert_str_eq(ln_param_type_name(LN_PARAM_ARRAY_BOOL), "LN_PARAM_ARRAY_BOOL");
    ck_assert_str_eq(ln_param_type_name(LN_PARAM_INVALID), "LN_PARAM_INVALID");
    ck_assert_ptr_null(ln_param_type_name((ln_param_type)(LN_PARAM_INVALID + 1)));
    for (int i = 0; i < LN_PARAM_INVALID; i++)
        ck_assert_int_eq(ln_param_type_from_str(ln_param_type_name((ln_param_type)i)), i);
    ck_assert_int_eq(ln_param_type_from_str("number"), LN_PARAM_INVALID);
    ck_assert_int_eq(ln_param_type_from_str(NULL), LN_PARAM_INVALID);
}
END_TEST

START_TEST(number_views_saturate)
{
    static const struct {
        double number;
        float as_float;
        int as_int;
        int integral;
    } rows[] = {
        {0, 0, 0, 1},
        {-0.1, -0.1f, 0, 0},
        {1.9, 1.9f, 1, 0},
        {-1.9, -1.9f, -1, 0},
        {1e-300, 0, 0, 0},
        {2147483647, 2147483648.0f, INT_MAX, 1},
        {2147483647.5, 2147483648.0f, INT_MAX, 0},
        {2147483648.0, 2147483648.0f, INT_MAX, 0},
        {-2147483648.0, -2147483648.0f, INT_MIN, 1},
        {-2147483649.0, -2147483648.0f, INT_MIN, 0},
        {1e39, FLT_MAX, INT_MAX, 0},
        {-1e39, -FLT_MAX, INT_MIN, 0},
        {INFINITY, FLT_MAX, INT_MAX, 0},
        {-INFINITY, -FLT_MAX, INT_MIN, 0},
    };
    ln_param_entry *entry = ln_param_entry_create("p", LN_PARAM_NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ln_param_set_satu_number(entry, rows[i].number);
        ck_assert_int_eq(entry->type, LN_PARAM_NUMBER);
        ck_assert_double_eq(entry->value_double, rows[i].number);
        ck_assert_float_eq(entry->value_float, rows[i].as_float);
        ck_assert_int_eq(entry->value_int, rows[i].as_int);
        ck_assert_int_eq(ln_param_is_integral(entry, 0), rows[i].integral);
        ck_assert(ln_param_entry_is_valid(entry));
    }
    ln_param_set_satu_number(entry, NAN);
    ck_assert(isnan(entry->value_double) && isnan(entry->value_float));
    ck_assert_int_eq(entry->value_int, 0);
    ck_assert(!ln_param_is_integral(entry, 0));
    ck_assert(ln_param_entry_is_valid(entry));
    ln_param_entry_free(entry);
}
END_TEST

START_TEST(number_arrays_have_the_same_views_from_any_source)
{
    ln_param_entry *entry = ln_param_entry_create("p", LN_PARAM_ARRAY_NUMBER);
    ck_assert_int_eq(ln_param_set_satu_array_double(entry, 2, (double[]){1e10, -2.5}), 0);
    ck_assert_double_eq(entry->value_array_double[0], 1e10);
    ck_assert_float_eq(entry->value_array_float[0], 1e10f);
    ck_assert_int_eq(entry->value_array_int[0], INT_MAX);
    ck_assert_int_eq(entry->value_array_int[1], -2);
    ck_assert_int_eq(ln_param_set_satu_array_float(entry, 1, (float[]){-1e10f}), 0);
    ck_assert_double_eq(entry->value_array_double[0], -1e10f);
    ck_assert_int_eq(entry->value_array_int[0], INT_MIN);
    ck_assert_int_eq(ln_param_set_satu_array_int(entry, 3, (int[]){7, INT_MIN, INT_MAX}), 0);
    ck_assert_double_eq(entry->value_array_double[2], 2147483647.0);
    ck_assert_float_eq(entry->value_array_float[0], 7);
    ck_assert_int_eq(entry->value_array_int[1], INT_MIN);
    ck_assert_int_eq(entry->array_len, 3);
    ck_assert_int_eq(ln_param_is_integral(entry, 2), 1);
    ck_assert_int_eq(ln_param_is_integral(entry, 3), 0);
    ck_assert_int_eq(ln_param_is_integral(entry, -1), 0);
    ck_assert(ln_param_entry_is_valid(entry));
    ln_param_entry_free(entry);
}
END_TEST

START_TEST(setters_replace_the_type_with_the_value)
{
    ln_param_entry *entry = ln_param_entry_create("p", LN_PARAM_STRING);
    ck_assert_ptr_null(entry->value_string);
    ck_assert_int_eq(ln_param_set_string(entry, "SAME_UPPER"), 0);
    ck_assert_int_eq(ln_param_set_string(entry, entry->value_string + 5), 0);
    ck_assert_str_eq(entry->value_string, "UPPER");
    ck_assert_int_eq(ln_param_set_array_string(entry, 2, (const char *[]){"a", "b"}), 0);
    ck_assert_ptr_null(entry->value_string);
    ck_assert_str_eq(entry->value_array_string[1], "b");
    ck_assert_int_eq(ln_param_set_array_bool(entry, 2, (ln_bool[]){LN_TRUE, LN_FALSE}), 0);
    ck_assert_ptr_null(entry->value_array_string);
    ck_assert_int_eq(entry->value_array_bool[0], LN_TRUE);
    ln_param_set_bool(entry, LN_TRUE);
    ck_assert_int_eq(entry->value_bool, LN_TRUE);
    ck_assert_int_eq(entry->array_len, 0);
    ln_param_set_null(entry);
    ck_assert_int_eq(entry->type, LN_PARAM_NULL);
    ck_assert_str_eq(entry->arg_name, "p");
    ck_assert(ln_param_entry_is_valid(entry));
    ln_param_entry_free(entry);
    ln_param_entry_free(NULL);
}
END_TEST

START_TEST(set_reads_what_the_type_of_the_entry_says)
{
    ln_param_entry *entry = ln_param_entry_create("p", LN_PARAM_NUMBER);
    ck_assert_int_eq(ln_param_set(entry, 2.5), 0);
    ck_assert_double_eq(entry->value_double, 2.5);
    entry->type = LN_PARAM_BOOL;
    ck_assert_int_eq(ln_param_set(entry, LN_TRUE), 0);
    ck_assert_int_eq(entry->value_bool, LN_TRUE);
    entry->type = LN_PARAM_STRING;
    ck_assert_int_eq(ln_param_set(entry, "text"), 0);
    ck_assert_str_eq(entry->value_string, "text");
    entry->type = LN_PARAM_ARRAY_NUMBER;
    ck_assert_int_eq(ln_param_set(entry, 2, (double[]){1, 2}), 0);
    ck_assert_int_eq(entry->value_array_int[1], 2);
    entry->type = LN_PARAM_ARRAY_NUMBER;
    ck_assert_int_eq(ln_param_set(entry, 0, (double *)NULL), 0);
    ck_assert_int_eq(entry->array_len, 0);
    entry->type = LN_PARAM_ARRAY_STRING;
    ck_assert_int_eq(ln_param_set(entry, 1, (const char *[]){"a"}), 0);
    ck_assert_str_eq(entry->value_array_string[0], "a");
    ln_param_set_null(entry);
    ck_assert_int_eq(ln_param_set(entry), 0);
    entry->type = LN_PARAM_ARRAY_BOOL;
    ck_assert_int_eq(ln_param_set(entry, 1, (ln_bool[]){LN_TRUE}), 0);
    ck_assert_int_eq(entry->value_array_bool[0], LN_TRUE);
    entry->type = LN_PARAM_INVALID;
    ck_assert_int_eq(ln_param_set(entry, 1), -1);
    ck_assert_str_eq(ln_last_error(), "parameter 'p' has type 7, expected 0 to 6");
    entry->type = LN_PARAM_ARRAY_BOOL;
    ln_param_entry_free(entry);
}
END_TEST

START_TEST(impossible_arrays_are_errors_and_change_nothing)
{
    ln_param_entry *entry = ln_param_entry_create("p", LN_PARAM_NULL);
    ln_param_set_satu_array_int(entry, 1, (int[]){5});
    ck_assert_int_eq(ln_param_set_satu_array_int(entry, -1, (int[]){5}), -1);
    ck_assert_str_eq(ln_last_error(), "parameter 'p' is given -1 elements, expected at least 0");
    ck_assert_int_eq(ln_param_set_array_string(entry, 3, NULL), -1);
    ck_assert_str_eq(ln_last_error(),
                     "parameter 'p' is given NULL, expected an array of 3 elements");
    ck_assert_int_eq(entry->value_array_int[0], 5);
    ln_param_entry_free(entry);
}
END_TEST

static ln_list *list_of_all(void)
{
    ln_list *list = ln_param_list_append_empty(NULL, "empty", LN_PARAM_ARRAY_NUMBER);
    list = ln_param_list_append_string(list, "string", "text");
    list = ln_param_list_append_number(list, "number", 0.5);
    list = ln_param_list_append_double(list, "double", 0.1);
    list = ln_param_list_append_float(list, "float", 0.25f);
    list = ln_param_list_append_int(list, "int", 3);
    list = ln_param_list_append_bool(list, "bool", LN_TRUE);
    list = ln_param_list_append_null(list, "null");
    list = ln_param_list_append_array_string(list, "strings", 2, (const char *[]){"a", "b"});
    list = ln_param_list_append_array_number(list, "numbers", 2, (double[]){1, 2});
    list = ln_param_list_append_array_double(list, "doubles", 1, (double[]){0.1});
    list = ln_param_list_append_array_float(list, "floats", 1, (float[]){0.5f});
    list = ln_param_list_append_array_int(list, "ints", 2, (int[]){4, 5});
    return ln_param_list_append_array_bool(list, "bools", 1, (ln_bool[]){LN_TRUE});
}

START_TEST(list_keeps_its_entries_in_order)
{
    ln_list *list = list_of_all();
    const char *const names[] = {"empty",   "string", "number", "double",  "float",
                                 "int",     "bool",   "null",   "strings", "numbers",
                                 "doubles", "floats", "ints",   "bools"};
    int i = 0;
    for (const ln_list *l = list; l; l = l->next, i++) {
        ck_assert_str_eq(((ln_param_entry *)l->data)->arg_name, names[i]);
        ck_assert(ln_param_entry_is_valid(l->data));
    }
    ck_assert_int_eq(ln_param_list_length(list), 14);
    ck_assert_str_eq(ln_param_list_find(list, "string")->value_string, "text");
    ck_assert_float_eq(ln_param_list_find(list, "double")->value_float, 0.1f);
    ck_assert_int_eq(ln_param_list_find(list, "int")->value_int, 3);
    ck_assert_int_eq(ln_param_list_find(list, "ints")->value_array_int[1], 5);
    ck_assert_str_eq(ln_param_list_find(list, "strings")->value_array_string[0], "a");
    ck_assert_ptr_null(ln_param_list_find(list, "other"));
    ln_param_list_free(list);
    ln_param_list_free(NULL);
}
END_TEST

START_TEST(copy_of_a_list_is_equal_and_independent)
{
    ln_list *list = list_of_all(), *copy = ln_param_list_copy(list);
    const ln_list *c = copy;
    for (const ln_list *l = list; l; l = l->next, c = c->next) {
        ck_assert_str_eq(((ln_param_entry *)l->data)->arg_name,
                         ((ln_param_entry *)c->data)->arg_name);
        ck_assert(ln_param_entry_equal(l->data, c->data));
    }
    ck_assert_ptr_null(c);
    ln_param_list_free(list);
    ck_assert_str_eq(ln_param_list_find(copy, "strings")->value_array_string[1], "b");
    ln_param_list_free(copy);
    ck_assert_ptr_null(ln_param_list_copy(NULL));
}
END_TEST

START_TEST(values_of_other_type_or_content_are_not_equal)
{
    ln_list *list = list_of_all(), *other = NULL;
    other = ln_param_list_append_empty(other, "a", LN_PARAM_ARRAY_BOOL);
    other = ln_param_list_append_string(other, "b", "texts");
    other = ln_param_list_append_number(other, "c", 0.25);
    other = ln_param_list_append_bool(other, "d", LN_FALSE);
    other = ln_param_list_append_array_string(other, "e", 2, (const char *[]){"a", "c"});
    other = ln_param_list_append_array_number(other, "f", 2, (double[]){1, 3});
    other = ln_param_list_append_array_number(other, "g", 3, (double[]){1, 2, 3});
    other = ln_param_list_append_array_bool(other, "h", 1, (ln_bool[]){LN_FALSE});
    for (const ln_list *l = list; l; l = l->next)
        for (const ln_list *o = other; o; o = o->next)
            ck_assert_int_eq(ln_param_entry_equal(l->data, o->data),
                             strcmp(((ln_param_entry *)l->data)->arg_name, "float") == 0 &&
                                 strcmp(((ln_param_entry *)o->data)->arg_name, "c") == 0);
    ln_param_list_free(list);
    ln_param_list_free(other);
}
END_TEST

START_TEST(find2_joins_two_names_with_an_underscore)
{
    ln_list *list = ln_param_list_append_int(NULL, "conv_stride", 2);
    ck_assert_ptr_eq(ln_param_list_find2(list, "conv", "stride"), list->data);
    ck_assert_ptr_null(ln_param_list_find2(list, "conv", "strid"));
    ck_assert_ptr_null(ln_param_list_find2(list, "con", "stride"));
    ck_assert_ptr_null(ln_param_list_find2(list, "conv_stride", ""));
    ln_param_list_free(list);
}
END_TEST

START_TEST(unique_arg_name_counts_on_from_the_largest)
{
    char name[LN_MAX_NAME_LEN];
    ln_list *list = ln_param_list_append_int(NULL, "p4", 2);
    ck_assert_int_eq(ln_param_list_unique_arg_name(list, name, "p"), 5);
    ck_assert_str_eq(name, "p5");
    ln_param_list_free(list);
}
END_TEST

START_TEST(entries_with_foreign_values_are_not_valid)
{
    ln_param_entry *entry = ln_param_entry_create("p", LN_PARAM_NUMBER);
    entry->value_int = 1;
    ck_assert(!ln_param_entry_is_valid(entry));
    ln_param_set_satu_array_int(entry, 2, (int[]){1, 2});
    entry->value_array_float[1] = 3;
    ck_assert(!ln_param_entry_is_valid(entry));
    entry->value_array_float[1] = 2;
    ck_assert(ln_param_entry_is_valid(entry));
    entry->type = LN_PARAM_ARRAY_BOOL;
    ck_assert(!ln_param_entry_is_valid(entry));
    entry->type = LN_PARAM_INVALID;
    ck_assert(!ln_param_entry_is_valid(entry));
    ln_param_entry_free(entry);
}
END_TEST

// An entry goes through all types; on failure it must be valid and of the type before.
static int use_entry(void)
{
    ln_param_entry *entry = ln_param_entry_create("p", LN_PARAM_NULL);
    if (!entry)
        return -1;
    int failures = 0;
    failures += ln_param_set_string(entry, "text") != 0;
    ck_assert(ln_param_entry_is_valid(entry));
    failures += ln_param_set_array_string(entry, 2, (const char *[]){"a", "b"}) != 0;
    ck_assert(ln_param_entry_is_valid(entry));
    failures += ln_param_set_satu_array_int(entry, 2, (int[]){1, 2}) != 0;
    ck_assert(ln_param_entry_is_valid(entry));
    failures += ln_param_set_array_bool(entry, 1, (ln_bool[]){LN_TRUE}) != 0;
    ck_assert(ln_param_entry_is_valid(entry));
    ln_param_entry_free(entry);
    return failures ? -1 : 0;
}

static int use_list(void)
{
    ln_list *list = ln_param_list_append_array_string(NULL, "a", 2, (const char *[]){"a", "b"});
    ln_list *longer = list ? ln_param_list_append_array_int(list, "b", 1, (int[]){1}) : NULL;
    ln_list *copy = ln_param_list_copy(longer);
    const int rc = copy ? 0 : -1;
    ck_assert_int_eq(ln_param_list_length(list), longer ? 2 : list ? 1 : 0);
    ln_param_list_free(copy);
    ln_param_list_free(list);
    return rc;
}

START_TEST(every_failing_allocation_is_survived)
{
    int (*const uses[])(void) = {use_entry, use_list};
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

LN_TEST_MAIN("parameters", types_have_their_enum_names, number_views_saturate,
             number_arrays_have_the_same_views_from_any_source,
             setters_replace_the_type_with_the_value, set_reads_what_the_type_of_the_entry_says,
             impossible_arrays_are_errors_and_change_nothing, list_keeps_its_entries_in_order,
             copy_of_a_list_is_equal_and_independent, values_of_other_type_or_content_are_not_equal,
             find2_joins_two_names_with_an_underscore, unique_arg_name_counts_on_from_the_largest,
             entries_with_foreign_values_are_not_valid, every_failing_allocation_is_survived)
