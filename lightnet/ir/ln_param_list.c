// SPDX-License-Identifier: Apache-2.0
// The parameter lists of operators.

#include <string.h>

#include "base/ln_list_end.h"
#include "base/ln_name.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_util.h"

static void free_entry(void *entry)
{
    ln_param_entry_free(entry);
}

static void *copy_entry(const void *entry)
{
    return ln_param_entry_copy(entry);
}

static const char *arg_name_of(const void *entry)
{
    return ((const ln_param_entry *)entry)->arg_name;
}

// Appends the entry (NULL: no memory); frees it if setting its value has `failed`.
static ln_list *append_entry(ln_list *list, ln_param_entry *entry, int failed)
{
    if (failed) {
        ln_param_entry_free(entry);
        entry = NULL;
    }
    return ln_entry_list_append(list, entry, free_entry);
}

ln_list *ln_param_list_append_empty(ln_list *list, const char *arg_name, ln_param_type ptype)
{
    return ln_entry_list_append(list, ln_param_entry_create(arg_name, ptype), free_entry);
}

ln_list *ln_param_list_append_string(ln_list *list, const char *arg_name, const char *string)
{
    ln_param_entry *entry = ln_param_entry_create(arg_name, LN_PARAM_STRING);
    return append_entry(list, entry, entry && ln_param_set_string(entry, string));
}

ln_list *ln_param_list_append_number(ln_list *list, const char *arg_name, double number)
{
    ln_param_entry *entry = ln_param_entry_create(arg_name, LN_PARAM_NUMBER);
    if (entry)
        ln_param_set_satu_number(entry, number);
    return append_entry(list, entry, 0);
}

ln_list *ln_param_list_append_double(ln_list *list, const char *arg_name, double number)
{
    return ln_param_list_append_number(list, arg_name, number);
}

ln_list *ln_param_list_append_float(ln_list *list, const char *arg_name, float number)
{
    return ln_param_list_append_number(list, arg_name, number);
}

ln_list *ln_param_list_append_int(ln_list *list, const char *arg_name, int number)
{
    return ln_param_list_append_number(list, arg_name, number);
}

ln_list *ln_param_list_append_bool(ln_list *list, const char *arg_name, ln_bool bool_value)
{
    ln_param_entry *entry = ln_param_entry_create(arg_name, LN_PARAM_BOOL);
    if (entry)
        ln_param_set_bool(entry, bool_value);
    return append_entry(list, entry, 0);
}

ln_list *ln_param_list_append_null(ln_list *list, const char *arg_name)
{
    return ln_param_list_append_empty(list, arg_name, LN_PARAM_NULL);
}

ln_list *ln_param_list_append_array_string(ln_list *list, const char *arg_name, int array_len,
                                           const char *const *array_string)
{
    ln_param_entry *entry = ln_param_entry_create(arg_name, LN_PARAM_ARRAY_STRING);
    return append_entry(list, entry,
                        entry && ln_param_set_array_string(entry, array_len, array_string));
}

ln_list *ln_param_list_append_array_number(ln_list *list, const char *arg_name, int array_len,
                                           const double *array_number)
{
    ln_param_entry *entry = ln_param_entry_create(arg_name, LN_PARAM_ARRAY_NUMBER);
    return append_entry(list, entry,
                        entry && ln_param_set_satu_array_number(entry, array_len, array_number));
}

ln_list *ln_param_list_append_array_double(ln_list *list, const char *arg_name, int array_len,
                                           const double *array_number)
{
    return ln_param_list_append_array_number(list, arg_name, array_len, array_number);
}

ln_list *ln_param_list_append_array_float(ln_list *list, const char *arg_name, int array_len,
                                          const float *array_number)
{
    ln_param_entry *entry = ln_param_entry_create(arg_name, LN_PARAM_ARRAY_NUMBER);
    return append_entry(list, entry,
                        entry && ln_param_set_satu_array_float(entry, array_len, array_number));
}

ln_list *ln_param_list_append_array_int(ln_list *list, const char *arg_name, int array_len,
                                        const int *array_int)
{
    ln_param_entry *entry = ln_param_entry_create(arg_name, LN_PARAM_ARRAY_NUMBER);
    return append_entry(list, entry,
                        entry && ln_param_set_satu_array_int(entry, array_len, array_int));
}

ln_list *ln_param_list_append_array_bool(ln_list *list, const char *arg_name, int array_len,
                                         const ln_bool *array_bool)
{
    ln_param_entry *entry = ln_param_entry_create(arg_name, LN_PARAM_ARRAY_BOOL);
    return append_entry(list, entry,
                        entry && ln_param_set_array_bool(entry, array_len, array_bool));
}

void ln_param_list_free(ln_list *list)
{
    ln_list_free_deep(list, free_entry);
}

ln_list *ln_param_list_copy(const ln_list *list)
{
    return ln_entry_list_copy(list, copy_entry, free_entry);
}

ln_param_entry *ln_param_list_find(const ln_list *list, const char *arg_name)
{
    for (; list; list = list->next) {
        ln_param_entry *entry = list->data;
        if (ln_streq(entry->arg_name, arg_name))
            return entry;
    }
    return NULL;
}

// Whether `name` is "FIRST_SECOND", however long that is.
static int is_joined(const char *name, const char *first, const char *second)
{
    const size_t len = strlen(first);
    return strncmp(name, first, len) == 0 && name[len] == '_' &&
           strcmp(name + len + 1, second) == 0;
}

ln_param_entry *ln_param_list_find2(const ln_list *list, const char *arg_name1,
                                    const char *arg_name2)
{
    for (; list; list = list->next) {
        ln_param_entry *entry = list->data;
        if (entry->arg_name && is_joined(entry->arg_name, arg_name1, arg_name2))
            return entry;
    }
    return NULL;
}

int ln_param_list_length(const ln_list *list)
{
    return ln_list_length((ln_list *)list);
}

int ln_param_list_unique_arg_name(const ln_list *list, char *buf, const char *prefix)
{
    return ln_name_unique(list, arg_name_of, buf, prefix);
}
