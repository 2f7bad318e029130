// SPDX-License-Identifier: Apache-2.0
// Reading elements of the JSON intermediate representation: locations, errors and values.

#include "front/json/ln_ir_reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_list_end.h"
#include "lightnet/ln_util.h"

// The largest integer up to which a double holds every one.
#define MAX_EXACT 9007199254740992.0

// "FILE", "FILE: ops[2]", "FILE: operator 'conv1'" or "FILE: operator 'conv1' (conv2d)"; a known
// location replaces the file.
static void print_place(const ln_ir_reader *r, char *buf, size_t size)
{
    const char *place = r->at ? ln_ir_place(r->places, r->body, r->at, r->index) : NULL;
    const char *file = place ? place : r->file;
    if (!r->in_op)
        snprintf(buf, size, "%s", file);
    else if (!r->opname)
        snprintf(buf, size, "%s: ops[%zu]", file, r->index);
    else if (!r->optype)
        snprintf(buf, size, "%s: operator '%s'", file, r->opname);
    else
        snprintf(buf, size, "%s: operator '%s' (%s)", file, r->opname, r->optype);
}

int ln_ir_fail(const ln_ir_reader *r, const char *fmt, ...)
{
    char place[LN_MAXLINE], reason[LN_MAXLINE];
    print_place(r, place, sizeof(place));
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return ln_fail(r->ctx, "%s: %s", place, reason);
}

int ln_ir_fail_last(const ln_ir_reader *r)
{
    return ln_ir_fail(r, "%s", ln_last_error());
}

const char *ln_ir_place(const ln_ir_places *places, const char *body, const char *key, size_t i)
{
    return places ? places->find(places->data, body, key, i) : NULL;
}

// Names of value types in messages.
static const char *const kind_names[] = {
    [LN_IR_STRING] = "a string",
    [LN_IR_NUMBER] = "a number",
    [LN_IR_ARRAY] = "an array",
    [LN_IR_OBJECT] = "an object",
};

int ln_ir_is_kind(const json_t *json, ln_ir_kind wanted)
{
    return !strcmp(ln_json_describe(json), kind_names[wanted]);
}

int ln_ir_get_element(const ln_ir_reader *r, ln_ir_element *e, const json_t *array, const char *key,
                      size_t i)
{
    e->json = json_array_get(array, i);
    if (!ln_ir_is_kind(e->json, LN_IR_OBJECT))
        return ln_ir_fail(r, "%s[%zu] is %s, expected an object", key, i,
                          ln_json_describe(e->json));
    snprintf(e->label, sizeof(e->label), "%s[%zu]: ", key, i);
    return 0;
}

const json_t *ln_ir_get(const ln_ir_reader *r, const ln_ir_element *e, const char *key,
                        ln_ir_kind wanted)
{
    const json_t *value = json_object_get(e->json, key);
    if (!value) {
        ln_ir_fail(r, "%s'%s' is missing, expected %s", e->label, key, kind_names[wanted]);
        return NULL;
    }
    if (!ln_ir_is_kind(value, wanted)) {
        ln_ir_fail(r, "%s'%s' is %s, expected %s", e->label, key, ln_json_describe(value),
                   kind_names[wanted]);
        return NULL;
    }
    return value;
}

const char *ln_ir_get_name(const ln_ir_reader *r, const ln_ir_element *e, const char *key)
{
    const json_t *value = ln_ir_get(r, e, key, LN_IR_STRING);
    if (!value)
        return NULL;
    const size_t len = json_string_length(value);
    if (len < 1 || len >= LN_MAX_NAME_LEN) {
        ln_ir_fail(r, "%s'%s' has %zu bytes, expected 1 to %d", e->label, key, len,
                   LN_MAX_NAME_LEN - 1);
        return NULL;
    }
    return json_string_value(value);
}

int ln_ir_get_size(const ln_ir_reader *r, const ln_ir_element *e, const char *key, size_t *size)
{
    const json_t *value = ln_ir_get(r, e, key, LN_IR_NUMBER);
    if (!value)
        return -1;
    const double number = json_number_value(value);
    if (!(number >= 0 && number <= MAX_EXACT && number == floor(number)))
        return ln_ir_fail(r, "%s'%s' is %.17g, expected a number of bytes", e->label, key, number);
    *size = (size_t)number;
    return 0;
}

static int is_listed(const char *str, const char *const *list)
{
    while (*list && strcmp(*list, str) != 0)
        list++;
    return *list != NULL;
}

// Keys of the memory plan, which only compiled models have.
static const char *const plan_keys[] = {"threads",     "scratch",    "offset", "nodes",
                                        "model_nodes", "node_count", NULL};

int ln_ir_warn_of_unknown(const ln_ir_reader *r, const ln_ir_element *e, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)e->json, key, value) {
        const int is_known = is_listed(key, known),
                  is_idle = !r->target && is_listed(key, plan_keys);
        if ((is_known && !is_idle) || ln_hash_find(r->unknown, key))
            continue;
        if (ln_hash_insert(r->unknown, key, (void *)key) < 0)
            return ln_ir_fail_last(r);
        char place[LN_MAXLINE];
        print_place(r, place, sizeof(place));
        if (is_known)
            ln_warn(r->ctx,
                    "%s: %skey '%s' has no effect: the model is not compiled, as it has no "
                    "'arch'",
                    place, e->label, key);
        else
            ln_warn(r->ctx, "%s: %sunknown key '%s'", place, e->label, key);
    }
    return 0;
}

int ln_ir_take_name(const ln_ir_reader *r, const json_t *scope, const char *name)
{
    if (ln_hash_find(r->scopes, name) == scope)
        return 1;
    return ln_hash_insert(r->scopes, name, (void *)scope) < 0 ? ln_ir_fail_last(r) : 0;
}

int ln_ir_take_arg_name(const ln_ir_reader *r, const ln_ir_element *e, const json_t *op,
                        const char *arg_name)
{
    const int taken = ln_ir_take_name(r, op, arg_name);
    if (taken > 0)
        return ln_ir_fail(r,
                          "%s'arg_name' '%s' is taken, expected one that is unique in the operator",
                          e->label, arg_name);
    return taken;
}

int ln_ir_push(const ln_ir_reader *r, ln_list **list, void *data)
{
    return ln_list_push(list, data, NULL) ? ln_ir_fail_last(r) : 0;
}
