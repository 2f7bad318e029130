// SPDX-License-Identifier: Apache-2.0
// Shared by readers and writers of JSON, beyond the JSON library.

#include "data/ln_json.h"

#include <math.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_error_memory.h"
#include "base/ln_number.h"
#include "base/ln_outtext.h"

const char *ln_json_describe(const json_t *json)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number",  [JSON_TRUE] = "a bool",
        [JSON_FALSE] = "a bool",     [JSON_NULL] = "null",
    };
    return names[json_typeof(json)];
}

// The caller checks the stream's errors; any other failure is one to allocate.
static int dump(FILE *fp, const void *json, ln_error *err)
{
    const size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
    return json_dumpf(json, fp, flags) && !ferror(fp) ? ln_error_memory(err) : 0;
}

char *ln_json_text(const json_t *json, size_t *len, ln_error *err)
{
    return ln_outtext(dump, json, len, err);
}

int ln_json_write_string(FILE *fp, const char *str, ln_error *err)
{
    if (!str)
        return ln_error_set(err, "a string that was never set cannot be written");
    const unsigned long failures = ln_alloc_failures();
    json_t *json = json_string(str);
    if (!json)
        return ln_alloc_failures() > failures
                   ? ln_error_memory(err)
                   : ln_error_set(err, "'%s' cannot be written: it is not UTF-8", str);
    const int status = dump(fp, json, err);
    json_decref(json);
    return status;
}

void ln_json_write_number(FILE *fp, double number)
{
    char text[LN_NUMBER_SIZE];
    if (isnan(number) || isinf(number))
        fputs(isnan(number) ? "\"nan\"" : number > 0 ? "\"inf\"" : "\"-inf\"", fp);
    else
        fputs(ln_number_print(text, sizeof(text), number), fp);
}
