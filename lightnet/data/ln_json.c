// SPDX-License-Identifier: Apache-2.0
// Shared by readers and writers of JSON, beyond the JSON library.

#include "data/ln_json.h"

#include <math.h>
#include <stdlib.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_budget.h"
#include "base/ln_error_memory.h"
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

/* The JSON library reports a failed allocation as an error of the text, or as none. Its allocation
 * functions, of which a process has one pair, therefore count failures on their way to those that
 * were there before, and memory, where that comes from malloc, for the budget in use. */

static json_malloc_t allocate;
static json_free_t release;

static int is_malloc(void)
{
    return allocate == malloc && release == free;
}

static void *allocate_and_count(size_t size);

// Whether the library's allocations count: a program may have set functions of its own.
static int is_counted(void)
{
    json_malloc_t now;
    json_free_t free_now;
    json_get_alloc_funcs(&now, &free_now);
    return now == allocate_and_count && is_malloc() && ln_budget_knows_sizes();
}

// About the bytes that the library allocates for the text: one of these characters precedes each
// element, two precede a member of an object.
static size_t memory_of(const char *text, size_t len)
{
    enum { ELEMENT_SIZE = 56 };
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == ',' || text[i] == ':' || text[i] == '[' || text[i] == '{';
    return n < (SIZE_MAX - len) / ELEMENT_SIZE ? n * ELEMENT_SIZE + len : SIZE_MAX;
}

/* While a text is parsed: the library's buffer for the string that it reads, of a power of two of
 * bytes, drops characters where it cannot grow, without which the library ends the process or reads
 * after the buffer. So the buffer grows all the same; that this was to fail is noted. */
static _Thread_local int is_parsing;

static int is_buffer(size_t size)
{
    enum { LEAST_SIZE = 16 };
    return is_parsing && size >= LEAST_SIZE && !(size & (size - 1));
}

static void *allocate_and_count(size_t size)
{
    const int may = !ln_alloc_fail_now() && ln_budget_allows(size);
    void *ptr = may || is_buffer(size) ? allocate(size) : NULL;
    if (!may || !ptr)
        ln_alloc_note_failure();
    return is_malloc() ? ln_budget_count(ptr) : ptr;
}

static void uncount_and_release(void *ptr)
{
    if (is_malloc())
        ln_budget_uncount(ptr);
    release(ptr);
}

__attribute__((constructor)) static void count_allocations(void)
{
    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(allocate_and_count, uncount_and_release);
}

__attribute__((destructor)) static void leave_allocations(void)
{
    json_malloc_t now;
    json_free_t free_now;
    json_get_alloc_funcs(&now, &free_now);
    if (now == allocate_and_count && free_now == uncount_and_release)
        json_set_alloc_funcs(allocate, release);
}

json_t *ln_json_load(const char *text, size_t len, size_t flags, json_error_t *error)
{
    if (!is_counted() && !ln_budget_allows(memory_of(text, len))) {
        if (error)
            error->line = LN_JSON_NO_MEMORY;
        return NULL;
    }
    const locale_t before = ln_number_begin();
    const unsigned long failures = ln_alloc_failures();
    is_parsing = 1;
    json_t *json = json_loadb(text, len, flags, error);
    is_parsing = 0;
    ln_number_end(before);
    if (ln_alloc_failures() == failures)
        return json;
    json_decref(json);
    if (error)
        error->line = LN_JSON_NO_MEMORY;
    return NULL;
}

int ln_json_load_fail(ln_error *err, const char *file, const char *what, const json_error_t *error)
{
    if (error->line == LN_JSON_NO_MEMORY)
        return ln_error_memory_at(err, file);
    return ln_error_set(err, "%s:%d:%d: %s: %s", file, error->line, error->column, what,
                        error->text);
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
    // A stream error is the caller's to find; without one, there was no memory.
    const int failed = json_dumpf(json, fp, JSON_ENCODE_ANY) && !ferror(fp);
    json_decref(json);
    return failed ? ln_error_memory(err) : 0;
}

void ln_json_write_number(FILE *fp, double number)
{
    char text[LN_NUMBER_SIZE];
    if (isnan(number) || isinf(number))
        fputs(isnan(number) ? "\"nan\"" : number > 0 ? "\"inf\"" : "\"-inf\"", fp);
    else
        fputs(ln_number_print(text, sizeof(text), number), fp);
}
