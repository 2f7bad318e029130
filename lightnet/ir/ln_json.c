// SPDX-License-Identifier: Apache-2.0
// What every reader and writer of JSON needs beside the JSON library.

#include "ir/ln_json.h"

const char *ln_json_describe(const json_t *json)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = NULL,        [JSON_TRUE] = "a bool",
        [JSON_FALSE] = NULL,         [JSON_NULL] = "null",
    };
    const json_type type = json_typeof(json);
    return names[type == JSON_REAL ? JSON_INTEGER : type == JSON_FALSE ? JSON_TRUE : type];
}

int ln_json_write_string(FILE *fp, const char *str, ln_error *err)
{
    json_t *json = json_string(str);
    if (!json)
        return ln_error_set(err, "'%s' cannot be written: it is not UTF-8", str);
    json_dumpf(json, fp, JSON_ENCODE_ANY);
    json_decref(json);
    return 0;
}
