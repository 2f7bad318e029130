// SPDX-License-Identifier: Apache-2.0
// The types of parameters: their names in C, and what messages call their values.

#include "ir/ln_param_type.h"

#include "lightnet/ln_util.h"

static const struct {
    const char *name, *text;
} types[LN_PARAM_INVALID] = {
    [LN_PARAM_NULL] = {"LN_PARAM_NULL", "null"},
    [LN_PARAM_STRING] = {"LN_PARAM_STRING", "a string"},
    [LN_PARAM_NUMBER] = {"LN_PARAM_NUMBER", "a number"},
    [LN_PARAM_BOOL] = {"LN_PARAM_BOOL", "a bool"},
    [LN_PARAM_ARRAY_STRING] = {"LN_PARAM_ARRAY_STRING", "an array of strings"},
    [LN_PARAM_ARRAY_NUMBER] = {"LN_PARAM_ARRAY_NUMBER", "an array of numbers"},
    [LN_PARAM_ARRAY_BOOL] = {"LN_PARAM_ARRAY_BOOL", "an array of bools"},
};

const char *ln_param_type_name(ln_param_type type)
{
    return (unsigned)type < LN_PARAM_INVALID ? types[type].name : NULL;
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
