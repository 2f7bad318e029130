// SPDX-License-Identifier: Apache-2.0
// The names of an enumeration's values, and the values of names.

#pragma once

#include <string.h>

/** The name of `value`, NULL outside 0 .. n-1. */
static inline const char *tl_name_of(const char *const *names, int n, int value)
{
    return value >= 0 && value < n ? names[value] : NULL;
}

/** The value of a name, -1 for every other string and NULL. */
static inline int tl_value_of(const char *const *names, int n, const char *str)
{
    for (int i = 0; str && i < n; i++)
        if (strcmp(names[i], str) == 0)
            return i;
    return -1;
}

/** Defines type_name() and type_from_str() over the table of names [size]. */
#define TL_NAME_AND_FROM_STR(type, names, size)     \
    const char *type##_name(type value)             \
    {                                               \
        return tl_name_of(names, size, value);      \
    }                                               \
    type type##_from_str(const char *str)           \
    {                                               \
        return (type)tl_value_of(names, size, str); \
    }
