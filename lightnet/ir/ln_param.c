// SPDX-License-Identifier: Apache-2.0
// Parameters: entries and their values.

#include "lightnet/ln_param.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>

#include "base/ln_name.h"
#include "base/ln_slab.h"
#include "ir/ln_param_type.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

// Views of a number

static float float_view(double number)
{
    if (number > FLT_MAX)
        return FLT_MAX;
    if (number < -FLT_MAX)
        return -FLT_MAX;
    return (float)number;
}

static int int_view(double number)
{
    if (isnan(number))
        return 0;
    if (number >= INT_MAX)
        return INT_MAX;
    if (number <= INT_MIN)
        return INT_MIN;
    return (int)number;
}

static int same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static int views_agree(double number, float as_float, int as_int)
{
    return same_number(float_view(number), as_float) && int_view(number) == as_int;
}

// Values: created separately, then moved into the entry, which a failure leaves unchanged

static void free_strings(char **strings, int len)
{
    for (int i = 0; strings && i < len; i++)
        ln_free(strings[i]);
    ln_free(strings);
}

static void free_value(ln_param_entry *value)
{
    ln_free(value->value_string);
    free_strings(value->value_array_string, value->array_len);
    ln_free(value->value_array_double); // with the other views
    ln_free(value->value_array_bool);
}

// Moves `value` into the entry, which keeps its arg_name.
static void take_value(ln_param_entry *entry, const ln_param_entry *value)
{
    char *arg_name = entry->arg_name;
    free_value(entry);
    *entry = *value;
    entry->arg_name = arg_name;
}

// Like take_value if the value is complete; else frees it and returns -1.
static int take_value_if(int is_complete, ln_param_entry *entry, ln_param_entry *value)
{
    if (is_complete) {
        take_value(entry, value);
        return 0;
    }
    free_value(value);
    return -1;
}

static int check_array(const ln_param_entry *entry, int array_len, const void *array)
{
    if (array_len < 0)
        return ln_error_set(NULL, "parameter '%s' is given %d elements, expected at least 0",
                            entry->arg_name, array_len);
    if (array_len > 0 && !array)
        return ln_error_set(NULL, "parameter '%s' is given NULL, expected an array of %d elements",
                            entry->arg_name, array_len);
    return 0;
}

static char **copy_strings(int len, const char *const *strings)
{
    char **copy = ln_alloc_array((size_t)len, sizeof *copy);
    for (int i = 0; copy && i < len; i++) {
        copy[i] = ln_strdup(strings[i]);
        if (strings[i] && !copy[i]) {
            free_strings(copy, i);
            return NULL;
        }
    }
    return copy;
}

// Reads element `i` of an array of numbers.
typedef double (*number_func)(const void *array, int i);

static double double_at(const void *array, int i)
{
    return ((const double *)array)[i];
}

static double float_at(const void *array, int i)
{
    return ((const float *)array)[i];
}

static double int_at(const void *array, int i)
{
    return ((const int *)array)[i];
}

static int set_numbers(ln_param_entry *entry, int len, const void *array, number_func number_at)
{
    if (check_array(entry, len, array))
        return -1;
    ln_param_entry value = {.type = LN_PARAM_ARRAY_NUMBER, .array_len = len};
    if (len == 0)
        return take_value_if(1, entry, &value);
    // One block for the three views.
    value.value_array_double =
        ln_alloc_array((size_t)len, sizeof(double) + sizeof(float) + sizeof(int));
    if (!value.value_array_double)
        return -1;
    value.value_array_float = (float *)(value.value_array_double + len);
    value.value_array_int = (int *)(value.value_array_float + len);
    for (int i = 0; i < len; i++) {
        const double number = number_at(array, i);
        value.value_array_double[i] = number;
        value.value_array_float[i] = float_view(number);
        value.value_array_int[i] = int_view(number);
    }
    return take_value_if(1, entry, &value);
}

// Entries

// An entry shares one block with its arg_name.
struct block {
    ln_param_entry entry;
    ln_slab *home;
    char arg_name[];
};

ln_param_entry *ln_param_entry_create(const char *arg_name, ln_param_type type)
{
    ln_slab *home;
    const size_t size = sizeof(struct block) + ln_name_size(arg_name);
    struct block *block = ln_slab_alloc(LN_SLAB_PARAMS, size, &home);
    if (!block)
        return NULL;
    block->home = home;
    block->entry.arg_name = ln_name_put(block->arg_name, arg_name);
    block->entry.type = type;
    return &block->entry;
}

void ln_param_entry_free(ln_param_entry *entry)
{
    if (!entry)
        return;
    free_value(entry);
    ln_slab_free(entry, 0, ((struct block *)entry)->home);
}

// Sets `entry` to the value of `pe`.
static int set_value_of(ln_param_entry *entry, const ln_param_entry *pe)
{
    switch (pe->type) {
    case LN_PARAM_STRING:
        return ln_param_set_string(entry, pe->value_string);
    case LN_PARAM_NUMBER:
        ln_param_set_satu_number(entry, pe->value_double);
        return 0;
    case LN_PARAM_BOOL:
        ln_param_set_bool(entry, pe->value_bool);
        return 0;
    case LN_PARAM_ARRAY_STRING:
        return ln_param_set_array_string(entry, pe->array_len,
                                         (const char *const *)pe->value_array_string);
    case LN_PARAM_ARRAY_NUMBER:
        return ln_param_set_satu_array_number(entry, pe->array_len, pe->value_array_double);
    case LN_PARAM_ARRAY_BOOL:
        return ln_param_set_array_bool(entry, pe->array_len, pe->value_array_bool);
    default:
        return 0;
    }
}

ln_param_entry *ln_param_entry_copy(const ln_param_entry *pe)
{
    return ln_param_entry_copy_as(pe, pe->arg_name);
}

ln_param_entry *ln_param_entry_copy_as(const ln_param_entry *pe, const char *arg_name)
{
    ln_param_entry *copy = ln_param_entry_create(arg_name, pe->type);
    if (copy && set_value_of(copy, pe)) {
        ln_param_entry_free(copy);
        return NULL;
    }
    return copy;
}

void ln_param_entry_exchange(ln_param_entry *a, ln_param_entry *b)
{
    char *name_of_a = a->arg_name, *name_of_b = b->arg_name;
    const ln_param_entry value_of_a = *a;
    *a = *b;
    *b = value_of_a;
    a->arg_name = name_of_a;
    b->arg_name = name_of_b;
}

static int same_element(const ln_param_entry *a, const ln_param_entry *b, int i)
{
    if (a->type == LN_PARAM_ARRAY_STRING)
        return ln_streq(a->value_array_string[i], b->value_array_string[i]);
    if (a->type == LN_PARAM_ARRAY_NUMBER)
        return same_number(a->value_array_double[i], b->value_array_double[i]);
    return !a->value_array_bool[i] == !b->value_array_bool[i];
}

int ln_param_entry_equal(const ln_param_entry *a, const ln_param_entry *b)
{
    if (a->type != b->type || a->array_len != b->array_len)
        return 0;
    switch (a->type) {
    case LN_PARAM_STRING:
        return ln_streq(a->value_string, b->value_string);
    case LN_PARAM_NUMBER:
        return same_number(a->value_double, b->value_double);
    case LN_PARAM_BOOL:
        return !a->value_bool == !b->value_bool;
    default:
        for (int i = 0; i < a->array_len; i++)
            if (!same_element(a, b, i))
                return 0;
        return 1;
    }
}

// An array has values if and only if it is not empty.
static int array_is_valid(const ln_param_entry *entry)
{
    const int has = entry->array_len > 0;
    const int numbers = has && entry->type == LN_PARAM_ARRAY_NUMBER;
    return entry->array_len >= 0 && !entry->value_string &&
           !!entry->value_array_string == (has && entry->type == LN_PARAM_ARRAY_STRING) &&
           !!entry->value_array_bool == (has && entry->type == LN_PARAM_ARRAY_BOOL) &&
           !!entry->value_array_double == numbers && !!entry->value_array_float == numbers &&
           !!entry->value_array_int == numbers;
}

static int scalar_is_valid(const ln_param_entry *entry)
{
    return entry->array_len == 0 && !entry->value_array_string && !entry->value_array_bool &&
           !entry->value_array_double && !entry->value_array_float && !entry->value_array_int &&
           (!entry->value_string || entry->type == LN_PARAM_STRING);
}

int ln_param_entry_is_valid(const ln_param_entry *entry)
{
    if (!entry->arg_name || !ln_param_type_name(entry->type))
        return 0;
    if (entry->type < LN_PARAM_ARRAY_STRING)
        return scalar_is_valid(entry) &&
               views_agree(entry->value_double, entry->value_float, entry->value_int);
    if (!array_is_valid(entry))
        return 0;
    for (int i = 0; entry->value_array_double && i < entry->array_len; i++)
        if (!views_agree(entry->value_array_double[i], entry->value_array_float[i],
                         entry->value_array_int[i]))
            return 0;
    return 1;
}

int ln_param_is_integral(const ln_param_entry *entry, int index)
{
    if (entry->type == LN_PARAM_NUMBER)
        return index == 0 && entry->value_double == entry->value_int;
    if (entry->type == LN_PARAM_ARRAY_NUMBER && index >= 0 && index < entry->array_len)
        return entry->value_array_double[index] == entry->value_array_int[index];
    return 0;
}

int ln_param_vset(ln_param_entry *entry, va_list ap)
{
    int array_len;
    switch (entry->type) {
    case LN_PARAM_NULL:
        return 0;
    case LN_PARAM_STRING:
        return ln_param_set_string(entry, va_arg(ap, const char *));
    case LN_PARAM_NUMBER:
        ln_param_set_satu_number(entry, va_arg(ap, double));
        return 0;
    case LN_PARAM_BOOL:
        ln_param_set_bool(entry, va_arg(ap, int) ? LN_TRUE : LN_FALSE);
        return 0;
    case LN_PARAM_ARRAY_STRING:
        array_len = va_arg(ap, int);
        return ln_param_set_array_string(entry, array_len, va_arg(ap, const char **));
    case LN_PARAM_ARRAY_NUMBER:
        array_len = va_arg(ap, int);
        return ln_param_set_satu_array_number(entry, array_len, va_arg(ap, const double *));
    case LN_PARAM_ARRAY_BOOL:
        array_len = va_arg(ap, int);
        return ln_param_set_array_bool(entry, array_len, va_arg(ap, const ln_bool *));
    default:
        return ln_error_set(NULL, "parameter '%s' has type %d, expected 0 to %d", entry->arg_name,
                            (int)entry->type, LN_PARAM_INVALID - 1);
    }
}

int ln_param_set(ln_param_entry *entry, ...)
{
    va_list ap;
    va_start(ap, entry);
    const int rc = ln_param_vset(entry, ap);
    va_end(ap);
    return rc;
}

void ln_param_set_null(ln_param_entry *entry)
{
    take_value(entry, &(ln_param_entry){.type = LN_PARAM_NULL});
}

void ln_param_set_bool(ln_param_entry *entry, ln_bool bool_value)
{
    take_value(entry, &(ln_param_entry){.type = LN_PARAM_BOOL, .value_bool = bool_value});
}

int ln_param_set_string(ln_param_entry *entry, const char *string)
{
    ln_param_entry value = {.type = LN_PARAM_STRING, .value_string = ln_strdup(string)};
    return take_value_if(!string || value.value_string, entry, &value);
}

void ln_param_set_satu_number(ln_param_entry *entry, double number)
{
    take_value(entry, &(ln_param_entry){.type = LN_PARAM_NUMBER,
                                        .value_double = number,
                                        .value_float = float_view(number),
                                        .value_int = int_view(number)});
}

int ln_param_set_satu_array_number(ln_param_entry *entry, int array_len, const double *array_number)
{
    return set_numbers(entry, array_len, array_number, double_at);
}

int ln_param_set_satu_array_double(ln_param_entry *entry, int array_len, const double *array_number)
{
    return set_numbers(entry, array_len, array_number, double_at);
}

int ln_param_set_satu_array_float(ln_param_entry *entry, int array_len, const float *array_number)
{
    return set_numbers(entry, array_len, array_number, float_at);
}

int ln_param_set_satu_array_int(ln_param_entry *entry, int array_len, const int *array_number)
{
    return set_numbers(entry, array_len, array_number, int_at);
}

int ln_param_set_array_string(ln_param_entry *entry, int array_len, const char *const *array_string)
{
    if (check_array(entry, array_len, array_string))
        return -1;
    ln_param_entry value = {.type = LN_PARAM_ARRAY_STRING, .array_len = array_len};
    if (array_len > 0)
        value.value_array_string = copy_strings(array_len, array_string);
    return take_value_if(array_len == 0 || value.value_array_string, entry, &value);
}

int ln_param_set_array_bool(ln_param_entry *entry, int array_len, const ln_bool *array_bool)
{
    if (check_array(entry, array_len, array_bool))
        return -1;
    ln_param_entry value = {.type = LN_PARAM_ARRAY_BOOL, .array_len = array_len};
    if (array_len > 0)
        value.value_array_bool = ln_clone(array_bool, (size_t)array_len * sizeof *array_bool);
    return take_value_if(array_len == 0 || value.value_array_bool, entry, &value);
}

static const struct {
    const char *name, *text;
} types[LN_PARAM_INVALID + 1] = {
    [LN_PARAM_NULL] = {"LN_PARAM_NULL", "null"},
    [LN_PARAM_STRING] = {"LN_PARAM_STRING", "a string"},
    [LN_PARAM_NUMBER] = {"LN_PARAM_NUMBER", "a number"},
    [LN_PARAM_BOOL] = {"LN_PARAM_BOOL", "a bool"},
    [LN_PARAM_ARRAY_STRING] = {"LN_PARAM_ARRAY_STRING", "an array of strings"},
    [LN_PARAM_ARRAY_NUMBER] = {"LN_PARAM_ARRAY_NUMBER", "an array of numbers"},
    [LN_PARAM_ARRAY_BOOL] = {"LN_PARAM_ARRAY_BOOL", "an array of bools"},
    [LN_PARAM_INVALID] = {"LN_PARAM_INVALID", "invalid"},
};

const char *ln_param_type_name(ln_param_type type)
{
    return (unsigned)type <= LN_PARAM_INVALID ? types[type].name : NULL;
}

ln_param_type ln_param_type_from_str(const char *str)
{
    for (int i = 0; i < LN_PARAM_INVALID; i++)
        if (ln_streq(types[i].name, str))
            return (ln_param_type)i;
    return LN_PARAM_INVALID;
}

const char *ln_param_type_text(ln_param_type type)
{
    return (unsigned)type < LN_PARAM_INVALID ? types[type].text : "invalid";
}
