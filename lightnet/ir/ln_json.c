// SPDX-License-Identifier: Apache-2.0
// What every reader and writer of JSON needs beside the JSON library.

#include "ir/ln_json.h"

const char *ln_json_describe(const json_t *json)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number",  [JSON_TRUE] = "a bool",
        [JSON_FALSE] = "a bool",     [JSON_NULL] = "null",
    };
    return names[json_typeof(json)];
}

int ln_json_write_string(FILE *fp, const char *str, ln_error *err)
{
    if (!str)
        return ln_error_set(err, "a string that was never set cannot be written");
    json_t *json = json_string(str);
    if (!json)
        return ln_error_set(err, "'%s' cannot be written: it is not UTF-8", str);
    // A stream error is the caller's to find; without one, there was no memory.
    const int failed = json_dumpf(json, fp, JSON_ENCODE_ANY) && !ferror(fp);
    json_decref(json);
    return failed ? ln_error_set(err, "out of memory") : 0;
}
