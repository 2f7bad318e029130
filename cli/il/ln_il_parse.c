// SPDX-License-Identifier: Apache-2.0
// Preprocessed IL as a tree.
//
//     program   = { statement }
//     statement = [name ":"] optype "(" tensors [ "|" tensors [ "|" params [ "|" params ]]] ")" ";"
//               | key "=" value ";"            a top-level key of the JSON IR: inputs = [image];
//               | "body" name "{" program "}"  a program that operators run
//               | ";"
//     tensors   = [ arg "=" tensor [ "@" offset ] { "," ... } [ "," ]]   inputs, then outputs
//     params    = [ param "=" value { "," ... } [ "," ]]      parameters, then of compiled models
//                                                             scratch memory and nodes
//     value     = number | string | name | "true" | "false" | "null" | "[" values "]"
//               | "{" name ":" value, ... "}"
//
// Names are identifiers or strings. Offsets, scratch memory and braces are those of compiled
// models.

#include "il/ln_il.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "il/ln_lexer.h"
#include "base/ln_utf8.h"
#include "lightnet/ln_util.h"

// The max nesting of values; values of the IR are at most arrays of objects.
enum { MAX_DEPTH = 16 };

typedef struct parser {
    ln_lexer lexer; // first: readers of list elements get a pointer to it
    ln_il_model *model;
    const ln_il_host *host;
    size_t steps; // statements, arguments and values that were read
    int depth;    // of brackets
} parser;

// Functions return 0, or -1 with a reason; functions that create a value return NULL then.

static ln_il_place place_of(const ln_scan *at)
{
    const ln_il_text *text = at->owner;
    if (!text->n_lines)
        return (ln_il_place){.file = at->file, .line = 1};
    return text->lines[at->line - 1];
}

static int fail_at(const ln_scan *at, const char *reason)
{
    return ln_il_fail(at->err, place_of(at), "%s", reason);
}

static int fail_memory(parser *p)
{
    return ln_lexer_fail(&p->lexer, LN_MEMORY_REASON);
}

static int step(parser *p)
{
    p->lexer.failed |= ln_il_host_step(p->host, &p->steps) != 0;
    return p->lexer.failed ? -1 : 0;
}

static int is_next(const parser *p, int kind)
{
    return ln_lexer_is(&p->lexer, kind);
}

static int is_name(const parser *p)
{
    return is_next(p, LN_TOKEN_NAME) || is_next(p, LN_TOKEN_STRING);
}

// Takes the value; NULL: allocating it failed.
static int put(parser *p, json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) ? fail_memory(p) : 0;
}

static int push(parser *p, json_t *array, json_t *value)
{
    return json_array_append_new(array, value) ? fail_memory(p) : 0;
}

// Values

// The current token as a string. Texts are checked to be UTF-8 when they become strings.
static json_t *string(parser *p)
{
    const ln_scan_text *text = &p->lexer.text;
    if (ln_utf8_prefix(text->at, text->len) < text->len)
        return ln_lexer_fail(&p->lexer, "a string is not UTF-8"), NULL;
    json_t *value = json_stringn_nocheck(text->at, text->len);
    if (!value)
        fail_memory(p);
    return value;
}

static json_t *take_name(parser *p, const char *expected)
{
    json_t *name = is_name(p) ? string(p) : NULL;
    if (!is_name(p))
        ln_lexer_unexpected(&p->lexer, expected);
    ln_lexer_next(&p->lexer);
    return name;
}

static json_t *read_value(parser *p);

static int read_element(ln_lexer *l, void *array)
{
    parser *p = (parser *)l;
    json_t *value = read_value(p);
    return value ? push(p, array, value) : -1;
}

// Takes the key of a member whose value comes next.
static int put_value(parser *p, json_t *object, json_t *key)
{
    json_t *value = read_value(p);
    const int rc = value ? put(p, object, json_string_value(key), value) : -1;
    json_decref(key);
    return rc;
}

static int read_member(ln_lexer *l, void *object)
{
    parser *p = (parser *)l;
    json_t *key = take_name(p, "a name");
    if (key && !ln_lexer_expect(l, ':') && json_object_get(object, json_string_value(key)))
        ln_lexer_fail(l, "duplicate '%.60s'", json_string_value(key));
    return key ? put_value(p, object, key) : -1;
}

static json_t *read_brackets(parser *p, int close, json_t *list, ln_lexer_func *read)
{
    ln_lexer_next(&p->lexer);
    if (!list)
        fail_memory(p);
    p->depth++;
    if (list && ln_lexer_list(&p->lexer, close, read, list)) {
        json_decref(list);
        return NULL;
    }
    p->depth--;
    return list;
}

// After '-': a number, or the word inf, which is a string in JSON.
static json_t *read_negative(parser *p)
{
    ln_lexer_next(&p->lexer);
    if (is_next(p, LN_TOKEN_NUMBER))
        return json_real(-p->lexer.number);
    if (ln_lexer_is_word(&p->lexer, "inf"))
        return json_string("-inf");
    ln_lexer_unexpected(&p->lexer, "a number after '-'");
    return NULL;
}

static json_t *read_scalar(parser *p)
{
    json_t *value = NULL;
    if (is_next(p, '-'))
        value = read_negative(p);
    else if (is_next(p, LN_TOKEN_NUMBER))
        value = json_real(p->lexer.number);
    else if (ln_lexer_is_word(&p->lexer, "true"))
        value = json_true();
    else if (ln_lexer_is_word(&p->lexer, "false"))
        value = json_false();
    else if (ln_lexer_is_word(&p->lexer, "null"))
        value = json_null();
    else if (is_next(p, LN_TOKEN_STRING) || is_next(p, LN_TOKEN_NAME))
        value = string(p);
    else
        ln_lexer_unexpected(&p->lexer, "a value");
    if (!value)
        fail_memory(p);
    ln_lexer_next(&p->lexer);
    return value;
}

static json_t *read_value(parser *p)
{
    if (step(p))
        return NULL;
    if (p->depth > MAX_DEPTH) {
        ln_lexer_fail(&p->lexer, "brackets are nested too deeply, expected at most %d", MAX_DEPTH);
        return NULL;
    }
    if (is_next(p, '['))
        return read_brackets(p, ']', json_array(), read_element);
    if (is_next(p, '{'))
        return read_brackets(p, '}', json_object(), read_member);
    return read_scalar(p);
}

// Operators

// "ARG =": appends an element to the list, with ARG as its first member.
static json_t *begin_argument(parser *p, json_t *op, const char *group)
{
    json_t *name = step(p) ? NULL : take_name(p, "the name of an argument");
    json_t *element = name ? json_object() : NULL;
    if (name && push(p, json_object_get(op, group), element)) {
        json_decref(name);
        return NULL;
    }
    return name && !put(p, element, "arg_name", name) && !ln_lexer_expect(&p->lexer, '=') ? element
                                                                                          : NULL;
}

static int read_tensor(parser *p, json_t *op, const char *group)
{
    json_t *tensor = begin_argument(p, op, group);
    json_t *name = tensor ? take_name(p, "the name of a tensor") : NULL;
    if (!name || put(p, tensor, "name", name))
        return -1;
    if (!is_next(p, '@'))
        return 0;
    ln_lexer_next(&p->lexer);
    if (!is_next(p, LN_TOKEN_NUMBER))
        return ln_lexer_unexpected(&p->lexer, "an offset");
    const int rc = put(p, tensor, "offset", json_real(p->lexer.number));
    ln_lexer_next(&p->lexer);
    return rc;
}

static int read_input(ln_lexer *l, void *op)
{
    return read_tensor((parser *)l, op, "tensors_in");
}

static int read_output(ln_lexer *l, void *op)
{
    return read_tensor((parser *)l, op, "tensors_out");
}

static int read_param(ln_lexer *l, void *op)
{
    parser *p = (parser *)l;
    json_t *param = begin_argument(p, op, "params");
    json_t *value = param ? read_value(p) : NULL;
    return value ? put(p, param, "value", value) : -1;
}

// Scratch memory, or the nodes of the original model. The keys are absent without these.
static int read_scratch(ln_lexer *l, void *op)
{
    parser *p = (parser *)l;
    json_t *key = take_name(p, "'size', 'offset' or 'nodes'");
    if (!key)
        return -1;
    const int is_scratch = strcmp(json_string_value(key), "nodes") != 0;
    if (is_scratch && !json_object_get(op, "scratch"))
        put(p, op, "scratch", json_object());
    ln_lexer_expect(l, '=');
    return put_value(p, is_scratch ? json_object_get(op, "scratch") : op, key);
}

// "(", all groups, and ")"; omitted groups are empty.
static int read_groups(parser *p, json_t *op)
{
    static ln_lexer_func *const read[] = {read_input, read_output, read_param, read_scratch};
    if (ln_lexer_expect(&p->lexer, '(') || put(p, op, "tensors_in", json_array()) ||
        put(p, op, "tensors_out", json_array()) || put(p, op, "params", json_array()) ||
        ln_lexer_groups(&p->lexer, read, 4, op))
        return -1;
    return ln_lexer_expect(&p->lexer, ')');
}

static int record_place(parser *p, const json_t *element, ln_il_place place)
{
    char text[LN_MAXLINE];
    snprintf(text, sizeof(text), "%s:%d", place.file, place.line);
    char *copy = ln_strdup(text);
    if (copy && ln_hash_insert(p->model->places, element, copy) >= 0)
        return 0;
    ln_free(copy);
    return fail_memory(p);
}

// "conv2d3" for the fourth conv2d of its program, regardless of the names of the others.
static int name_op(parser *p, json_t *op, json_t *counts)
{
    const char *optype = json_string_value(json_object_get(op, "optype"));
    const json_int_t n = json_integer_value(json_object_get(counts, optype));
    if (put(p, counts, optype, json_integer(n + 1)))
        return -1;
    if (json_object_get(op, "name"))
        return 0;
    json_t *name = json_sprintf("%s%lld", optype, (long long)n);
    return put(p, op, "name", name);
}

// Programs: the top and bodies

typedef struct program {
    json_t *json, *ops;
    json_t *counts; // operators so far, by type
} program;

// After the operator's optional name.
static int read_op(parser *p, const program *into, json_t *name, ln_il_place place)
{
    json_t *op = json_object();
    if (push(p, into->ops, op) || record_place(p, op, place)) {
        json_decref(name);
        return -1;
    }
    if (is_next(p, ':')) {
        ln_lexer_next(&p->lexer);
        if (put(p, op, "name", name))
            return -1;
        name = take_name(p, "the type of an operator");
        if (!name)
            return -1;
    }
    return put(p, op, "optype", name) || name_op(p, op, into->counts) || read_groups(p, op) ||
                   ln_lexer_expect(&p->lexer, ';')
               ? -1
               : 0;
}

// Takes the key.
static int read_key(parser *p, const program *into, json_t *name, const ln_scan *at)
{
    const char *key = json_string_value(name);
    int rc = 0;
    if (!strcmp(key, "ops") || !strcmp(key, "bodies"))
        rc = ln_lexer_fail_at(&p->lexer, at, "'%s' is unexpected before '='", key);
    else if (json_object_get(into->json, key))
        rc = ln_lexer_fail_at(&p->lexer, at, "duplicate '%.60s'", key);
    ln_lexer_next(&p->lexer);
    json_t *value = rc ? NULL : read_value(p);
    if (!value || put(p, into->json, key, value) || record_place(p, value, place_of(at)) ||
        ln_lexer_expect(&p->lexer, ';'))
        rc = -1;
    json_decref(name);
    return rc;
}

static int read_statements(parser *p, const program *into, int close, json_t *bodies);

static int read_program(parser *p, json_t *json, int close, json_t *bodies)
{
    program into = {.json = json, .ops = json_array(), .counts = json_object()};
    const int rc = -(put(p, json, "ops", into.ops) || (into.counts ? 0 : fail_memory(p)) ||
                     read_statements(p, &into, close, bodies));
    json_decref(into.counts);
    return rc;
}

// After "body". All bodies belong to the top.
static int read_body(parser *p, json_t *bodies)
{
    const ln_scan at = p->lexer.token;
    json_t *name = take_name(p, "the name of a body");
    json_t *body = name ? json_object() : NULL;
    if (json_object_get(bodies, json_string_value(name)))
        ln_lexer_fail_at(&p->lexer, &at, "duplicate body '%.60s'", json_string_value(name));
    const int rc = !name || put(p, bodies, json_string_value(name), body) ||
                           record_place(p, body, place_of(&at)) ||
                           ln_lexer_expect(&p->lexer, '{') || read_program(p, body, '}', NULL)
                       ? -1
                       : 0;
    json_decref(name);
    return rc;
}

// `bodies` NULL: in a body, which has none.
static int read_statement(parser *p, const program *into, json_t *bodies)
{
    const ln_scan at = p->lexer.token;
    const int may_be_body = bodies && ln_lexer_is_word(&p->lexer, "body");
    json_t *name = step(p) ? NULL : take_name(p, "an operator");
    if (!name)
        return -1;
    if (may_be_body && is_name(p)) {
        json_decref(name);
        return read_body(p, bodies);
    }
    if (is_next(p, '='))
        return read_key(p, into, name, &at);
    if (is_next(p, '(') || is_next(p, ':'))
        return read_op(p, into, name, place_of(&at));
    json_decref(name);
    return ln_lexer_unexpected(&p->lexer, "'(', ':' or '='");
}

// Up to and including '}', or the end.
static int read_statements(parser *p, const program *into, int close, json_t *bodies)
{
    while (!ln_lexer_accept(&p->lexer, close)) {
        if (!ln_lexer_accept(&p->lexer, ';') && read_statement(p, into, bodies))
            return -1;
    }
    return 0;
}

static int read_top(parser *p)
{
    json_t *bodies = json_object();
    if (!bodies)
        return fail_memory(p);
    int rc = read_program(p, p->model->tree, LN_TOKEN_END, bodies);
    if (!rc && json_object_size(bodies))
        rc = put(p, p->model->tree, "bodies", json_incref(bodies));
    json_decref(bodies);
    return rc;
}

int ln_il_parse(ln_il_model *m, const char *name, const ln_il_text *text, const ln_il_host *host,
                ln_error *err)
{
    const ln_scan at = {.file = name,
                        .p = text->text,
                        .end = text->len ? text->text + text->len : text->text,
                        .line = 1,
                        .err = err,
                        .fail = fail_at,
                        .owner = text};
    parser p = {.model = m, .host = host};
    ln_lexer_begin(&p.lexer, &at);
    m->tree = json_object();
    m->places = ln_hash_create(NULL, NULL, NULL, ln_free);
    const int rc = m->tree && m->places ? read_top(&p) : fail_memory(&p);
    return -(ln_lexer_end(&p.lexer) || rc);
}

void ln_il_model_free(ln_il_model *m)
{
    json_decref(m->tree);
    ln_hash_free(m->places);
    *m = (ln_il_model){0};
}
