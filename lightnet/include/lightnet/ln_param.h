// SPDX-License-Identifier: Apache-2.0
// Parameters: the attributes of an operator, such as the stride of a convolution.
//
//     ln_list *params = NULL;
//     params = ln_param_list_append_array_int(params, "stride", 2, (int[]){2, 2});
//     params = ln_param_list_append_string(params, "autopad", "VALID");
//     int sx = ln_param_list_find(params, "stride")->value_array_int[1];
//
// A number is stored as double, and viewed as a float (clamped to -FLT_MAX ..
// FLT_MAX) and as an int (truncated toward zero, clamped to INT_MIN .. INT_MAX);
// NaN is NaN as a float and 0 as an int. A setter replaces type and value together
// and copies its argument; an array of length 0 has NULL for its arrays. Functions
// return 0, or -1 with the thread's last error (the entry is then unchanged); a
// pointer is NULL then (the list is then unchanged and still the caller's).

#ifndef LN_PARAM_H
#define LN_PARAM_H

#include <stdarg.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_util.h"

LN_BEGIN_DECLS

typedef enum ln_param_type {
    LN_PARAM_NULL = 0, // first
    LN_PARAM_STRING,
    LN_PARAM_NUMBER,
    LN_PARAM_BOOL,
    LN_PARAM_ARRAY_STRING,
    LN_PARAM_ARRAY_NUMBER,
    LN_PARAM_ARRAY_BOOL,
    LN_PARAM_INVALID // last
} ln_param_type;

typedef struct ln_param_entry {
    char *arg_name;      // its role in the operator
    ln_param_type type;  // selects the valid values below
    int array_len;       // of an array
    double value_double; // a number, in three views
    float value_float;
    int value_int;
    ln_bool value_bool;
    char *value_string; // may be NULL when never set
    char **value_array_string;
    double *value_array_double; // an array of numbers, in three views
    float *value_array_float;
    int *value_array_int;
    ln_bool *value_array_bool;
} ln_param_entry;

/** Returns new (ln_param_entry_free): a value of that type, all zero, NULL or empty. */
LN_API ln_param_entry *ln_param_entry_create(const char *arg_name, ln_param_type type);

/** Frees the entry and its value. Ignores NULL. */
LN_API void ln_param_entry_free(ln_param_entry *entry);

/** The enum name, such as "LN_PARAM_NULL"; NULL out of range. */
LN_API const char *ln_param_type_name(ln_param_type type);

/** The type of that name, or LN_PARAM_INVALID. */
LN_API ln_param_type ln_param_type_from_str(const char *str);

/** Returns new (ln_param_entry_free). */
LN_API ln_param_entry *ln_param_entry_copy(const ln_param_entry *pe);

/** 1 if type and value are equal, for any arg_names; numbers as doubles, NaN equal to NaN. */
LN_API int ln_param_entry_equal(const ln_param_entry *a, const ln_param_entry *b);

/** 1 when the values are those of the type and the views of each number agree. */
LN_API int ln_param_entry_is_valid(const ln_param_entry *entry);

/** Whether a number, or element `index` of an array of numbers, is an integer that an int holds. 0
 *  for other types and indices. */
LN_API int ln_param_is_integral(const ln_param_entry *entry, int index);

/** Sets the value from `ap`, by the entry's type: double for a number, int for a bool, const char *
 *  for a string, nothing for null; for arrays int len, then const double *, const ln_bool *, or
 *  const char **. */
LN_API int ln_param_vset(ln_param_entry *entry, va_list ap);
LN_API int ln_param_set(ln_param_entry *entry, ...);

/** Set the value and the type. Numbers are stored as double, and rounded
 * and saturated to the other types; strings and arrays are copied. Those
 * that return int: 0, or -1 with an unchanged entry: no memory. */
LN_API void ln_param_set_null(ln_param_entry *entry);
LN_API void ln_param_set_bool(ln_param_entry *entry, ln_bool bool_value);
LN_API int ln_param_set_string(ln_param_entry *entry, const char *string);
LN_API void ln_param_set_satu_number(ln_param_entry *entry, double number);
LN_API int ln_param_set_satu_array_number(ln_param_entry *entry, int array_len,
                                          const double *array_number);
LN_API int ln_param_set_satu_array_double(ln_param_entry *entry, int array_len,
                                          const double *array_number);
LN_API int ln_param_set_satu_array_float(ln_param_entry *entry, int array_len,
                                         const float *array_number);
LN_API int ln_param_set_satu_array_int(ln_param_entry *entry, int array_len,
                                       const int *array_number);
LN_API int ln_param_set_array_string(ln_param_entry *entry, int array_len,
                                     const char *const *array_string);
LN_API int ln_param_set_array_bool(ln_param_entry *entry, int array_len, const ln_bool *array_bool);

/** Parameter lists: each append returns the list with a new entry at its end. */

LN_API ln_list *ln_param_list_append_empty(ln_list *list, const char *arg_name,
                                           ln_param_type ptype);
LN_API ln_list *ln_param_list_append_string(ln_list *list, const char *arg_name,
                                            const char *string);
LN_API ln_list *ln_param_list_append_number(ln_list *list, const char *arg_name, double number);
LN_API ln_list *ln_param_list_append_double(ln_list *list, const char *arg_name, double number);
LN_API ln_list *ln_param_list_append_float(ln_list *list, const char *arg_name, float number);
LN_API ln_list *ln_param_list_append_int(ln_list *list, const char *arg_name, int number);
LN_API ln_list *ln_param_list_append_bool(ln_list *list, const char *arg_name, ln_bool bool_value);
LN_API ln_list *ln_param_list_append_null(ln_list *list, const char *arg_name);
LN_API ln_list *ln_param_list_append_array_string(ln_list *list, const char *arg_name,
                                                  int array_len, const char *const *array_string);
LN_API ln_list *ln_param_list_append_array_number(ln_list *list, const char *arg_name,
                                                  int array_len, const double *array_number);
LN_API ln_list *ln_param_list_append_array_double(ln_list *list, const char *arg_name,
                                                  int array_len, const double *array_number);
LN_API ln_list *ln_param_list_append_array_float(ln_list *list, const char *arg_name, int array_len,
                                                 const float *array_number);
LN_API ln_list *ln_param_list_append_array_int(ln_list *list, const char *arg_name, int array_len,
                                               const int *array_int);
LN_API ln_list *ln_param_list_append_array_bool(ln_list *list, const char *arg_name, int array_len,
                                                const ln_bool *array_bool);

/** Frees the list, its entries and their values. Ignores NULL. */
LN_API void ln_param_list_free(ln_list *list);

/** Returns new (ln_param_list_free): the list with copies of its entries. NULL for NULL; NULL with
 * a reason: no memory. */
LN_API ln_list *ln_param_list_copy(const ln_list *list);

/** The first entry with this arg_name, or NULL. Returns borrowed. */
LN_API ln_param_entry *ln_param_list_find(const ln_list *list, const char *arg_name);

/** The first entry whose arg_name is "ARG_NAME1_ARG_NAME2", or NULL. Returns borrowed. */
LN_API ln_param_entry *ln_param_list_find2(const ln_list *list, const char *arg_name1,
                                           const char *arg_name2);

/** Entries of the list. */
LN_API int ln_param_list_length(const ln_list *list);

/** As ln_tensor_list_unique_arg_name, for a parameter list. */
LN_API int ln_param_list_unique_arg_name(const ln_list *list, char *buf, const char *prefix);

LN_END_DECLS

#endif
