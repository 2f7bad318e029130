// SPDX-License-Identifier: Apache-2.0
// What every reader and writer of JSON needs beside the JSON library.

#include "ir/ln_json.h"

#include <math.h>
#include <string.h>

#include "base/ln_budget.h"
#include "base/ln_number.h"

const char *ln_json_describe(const json_t *json)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number",  [JSON_TRUE] = "a bool",
        [JSON_FALSE] = "a bool",     [JSON_NULL] = "null",
    };
    return names[json_typeof(json)];
}

// Bytes that the library, which has an allocator of its own, takes for the text, about: before
// each element stands one of these characters, two before a member of an object.
static size_t memory_of(const char *text, size_t len)
{
    enum { ELEMENT_SIZE = 56 };
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == ',' || text[i] == ':' || text[i] == '[' || text[i] == '{';
    return n < (SIZE_MAX - len) / ELEMENT_SIZE ? n * ELEMENT_SIZE + len : SIZE_MAX;
}

static json_t *fail_memory(json_error_t *error)
{
    if (error) {
        *error = (json_error_t){.line = 1, .column = 1};
        strcpy(error->text, "out of memory");
    }
    return NULL;
}

json_t *ln_json_load(const char *text, size_t len, size_t flags, json_error_t *error)
{
    if (ln_budget_is_set() && !ln_budget_allows(memory_of(text, len)))
        return fail_memory(error);
    const locale_t before = ln_number_begin();
    json_t *json = json_loadb(text, len, flags, error);
    ln_number_end(before);
    return json;
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

void ln_json_write_number(FILE *fp, double number)
{
    char text[LN_NUMBER_SIZE];
    if (isnan(number) || isinf(number))
        fputs(isnan(number) ? "\"nan\"" : number > 0 ? "\"inf\"" : "\"-inf\"", fp);
    else
        fputs(ln_number_print(text, sizeof(text), number), fp);
}
