// SPDX-License-Identifier: Apache-2.0
// Preprocessed IL as a tree.
//
//     program   = { statement }
//     statement = [name ":"] optype "(" tensors [ "|" tensors [ "|" params [ "|" params ]]] ")" ";"
//               | key "=" value ";"            what the JSON IR has at its top: inputs = [image];
//               | "body" name "{" program "}"  a program that operators run
//               | ";"
//     tensors   = [ arg "=" tensor [ "@" offset ] { "," ... } [ "," ]]   inputs, then outputs
//     params    = [ param "=" value { "," ... } [ "," ]]      parameters, then scratch memory
//     value     = number | string | name | "true" | "false" | "null" | "[" values "]"
//               | "{" name ":" value, ... "}"
//
// Names are identifiers or strings. Offsets, scratch memory and braces are those of compiled
// models.

#include "il/ln_il_parse.h"

#include <stdio.h>
#include <string.h>

#include "il/ln_il_lex.h"
#include "lightnet/ln_util.h"

/* Values within each other; those of the IR are arrays of objects at most. */
enum { MAX_DEPTH = 16 };

typedef struct parser {
    ln_il_lexer lexer;
    ln_il_model *model;
    const ln_il_host *host;
    size_t tokens; /* that were read */
    ln_error *err;
} parser;

/* Every function returns 0, or -1 with a reason; one that makes something returns NULL then. */

static int fail_memory(const parser *p)
{
    return ln_il_fail_memory(p->err, p->lexer.place);
}

static int unexpected(const parser *p, const char *expected)
{
    char token[80];
    return ln_il_fail(p->err, p->lexer.place, "%s is unexpected, expected %s",
                      ln_il_lex_describe(&p->lexer, token, sizeof(token)), expected);
}

static int next(parser *p)
{
    return ln_il_host_step(p->host, &p->tokens) ? -1 : ln_il_lex_next(&p->lexer);
}

static int is_next(const parser *p, int kind)
{
    return p->lexer.kind == kind;
}

static int is_name(const parser *p)
{
    return is_next(p, LN_IL_NAME) || is_next(p, LN_IL_STRING);
}

static int is_word(const parser *p, const char *word)
{
    return is_next(p, LN_IL_NAME) && !strcmp(p->lexer.text, word);
}

static int expect(parser *p, int kind)
{
    const char text[] = {'\'', (char)kind, '\'', '\0'};
    return is_next(p, kind) ? next(p) : unexpected(p, text);
}

// Takes the value, also NULL: there was no memory for it.
static int put(const parser *p, json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) ? fail_memory(p) : 0;
}

static int push(const parser *p, json_t *array, json_t *value)
{
    return json_array_append_new(array, value) ? fail_memory(p) : 0;
}

/* Values */

// The token at hand as a string. Texts are checked to be UTF-8 when they become strings.
static json_t *string(const parser *p)
{
    const ln_il_lexer *l = &p->lexer;
    json_t *value = json_stringn(l->text, l->len);
    json_t *unchecked = value ? NULL : json_stringn_nocheck(l->text, l->len);
    if (unchecked)
        ln_il_fail(p->err, l->place, "a string is not UTF-8");
    else if (!value)
        fail_memory(p);
    json_decref(unchecked);
    return value;
}

static json_t *take_name(parser *p, const char *expected)
{
    if (!is_name(p)) {
        unexpected(p, expected);
        return NULL;
    }
    json_t *name = string(p);
    if (name && next(p)) {
        json_decref(name);
        return NULL;
    }
    return name;
}

static json_t *read_value(parser *p, int depth);

// What stands between brackets, up to the closing one; commas between and, if wanted, at the end.
static int read_list(parser *p, int close, json_t *list, int depth,
                     int (*read)(parser *p, json_t *list, int depth))
{
    while (!is_next(p, close)) {
        if (read(p, list, depth))
            return -1;
        if (!is_next(p, close) && expect(p, ','))
            return -1;
    }
    return next(p);
}

static int read_element(parser *p, json_t *array, int depth)
{
    json_t *value = read_value(p, depth);
    return value ? push(p, array, value) : -1;
}

static int read_member(parser *p, json_t *object, int depth)
{
    json_t *key = take_name(p, "a name");
    if (!key)
        return -1;
    int rc = expect(p, ':');
    if (!rc && json_object_get(object, json_string_value(key)))
        rc = ln_il_fail(p->err, p->lexer.place, "'%.60s' is given twice", json_string_value(key));
    json_t *value = rc ? NULL : read_value(p, depth);
    rc = value ? put(p, object, json_string_value(key), value) : -1;
    json_decref(key);
    return rc;
}

static json_t *read_brackets(parser *p, int depth)
{
    const int is_array = is_next(p, '[');
    json_t *list = is_array ? json_array() : json_object();
    if (!list) {
        fail_memory(p);
        return NULL;
    }
    if (next(p) || read_list(p, is_array ? ']' : '}', list, depth + 1,
                             is_array ? read_element : read_member)) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *read_word(const parser *p)
{
    if (is_word(p, "true"))
        return json_true();
    if (is_word(p, "false"))
        return json_false();
    return is_word(p, "null") ? json_null() : string(p);
}

static json_t *read_value(parser *p, int depth)
{
    if (depth > MAX_DEPTH) {
        ln_il_fail(p->err, p->lexer.place, "brackets are nested too deeply, expected at most %d",
                   MAX_DEPTH);
        return NULL;
    }
    if (is_next(p, '[') || is_next(p, '{'))
        return read_brackets(p, depth);
    json_t *value = NULL;
    if (is_next(p, LN_IL_NUMBER) && !(value = json_real(p->lexer.number)))
        fail_memory(p);
    else if (is_next(p, LN_IL_STRING))
        value = string(p);
    else if (is_next(p, LN_IL_NAME))
        value = read_word(p);
    else if (!is_next(p, LN_IL_NUMBER))
        unexpected(p, "a value");
    if (value && next(p)) {
        json_decref(value);
        return NULL;
    }
    return value;
}

/* Operators */

static int read_offset(parser *p, json_t *tensor)
{
    if (next(p))
        return -1;
    if (!is_next(p, LN_IL_NUMBER))
        return unexpected(p, "an offset");
    return put(p, tensor, "offset", json_real(p->lexer.number)) || next(p) ? -1 : 0;
}

// "ARG =", as the first member of an element of the list.
static json_t *begin_argument(parser *p, json_t *list)
{
    json_t *name = take_name(p, "the name of an argument");
    json_t *element = name ? json_object() : NULL;
    if (name && push(p, list, element)) {
        json_decref(name);
        return NULL;
    }
    return name && !put(p, element, "arg_name", name) && !expect(p, '=') ? element : NULL;
}

static int read_tensor(parser *p, json_t *list)
{
    json_t *tensor = begin_argument(p, list);
    json_t *name = tensor ? take_name(p, "the name of a tensor") : NULL;
    if (!name || put(p, tensor, "name", name))
        return -1;
    return is_next(p, '@') ? read_offset(p, tensor) : 0;
}

static int read_param(parser *p, json_t *list)
{
    json_t *param = begin_argument(p, list);
    json_t *value = param ? read_value(p, 0) : NULL;
    return value ? put(p, param, "value", value) : -1;
}

static int read_scratch(parser *p, json_t *object)
{
    json_t *key = take_name(p, "'size' or 'offset'");
    if (!key)
        return -1;
    int rc = expect(p, '=');
    json_t *value = rc ? NULL : read_value(p, 0);
    rc = value ? put(p, object, json_string_value(key), value) : -1;
    json_decref(key);
    return rc;
}

/* What stands between the bars, in order. */
static const struct {
    const char *key;
    int (*read)(parser *p, json_t *list);
    int is_optional; /* left out, the operator does not have the key */
} groups[] = {
    {"tensors_in", read_tensor, 0},
    {"tensors_out", read_tensor, 0},
    {"params", read_param, 0},
    {"scratch", read_scratch, 1},
};

enum { N_GROUPS = sizeof(groups) / sizeof(groups[0]) };

static int read_group(parser *p, json_t *list, int (*read)(parser *p, json_t *list))
{
    while (!is_next(p, '|') && !is_next(p, ')')) {
        if (read(p, list))
            return -1;
        if (is_next(p, ',')) {
            if (next(p))
                return -1;
        } else if (!is_next(p, '|') && !is_next(p, ')')) {
            return unexpected(p, "',', '|' or ')'");
        }
    }
    return 0;
}

// "(" and all groups; those that are left out are empty.
static int read_groups(parser *p, json_t *op)
{
    if (expect(p, '('))
        return -1;
    for (int g = 0; g < N_GROUPS; g++) {
        if (g && is_next(p, '|') && next(p))
            return -1;
        if (groups[g].is_optional && is_next(p, ')'))
            break;
        json_t *list = groups[g].is_optional ? json_object() : json_array();
        if (put(p, op, groups[g].key, list) || read_group(p, list, groups[g].read))
            return -1;
    }
    return expect(p, ')');
}

static int keep_place(parser *p, const json_t *element, ln_il_place place)
{
    char text[LN_MAXLINE];
    snprintf(text, sizeof(text), "%s:%d", place.file, place.line);
    char *copy = ln_strdup(text);
    if (copy && ln_hash_insert(p->model->places, element, copy) >= 0)
        return 0;
    ln_free(copy);
    return fail_memory(p);
}

// "conv2d3" for the fourth conv2d of its program, whatever the others are called.
static int name_op(const parser *p, json_t *op, json_t *counts)
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

/* Programs: the top and bodies */

typedef struct program {
    json_t *json, *ops;
    json_t *counts; /* operators so far, by type */
} program;

// After what may be the operator's name.
static int read_op(parser *p, const program *into, json_t *name, ln_il_place place)
{
    json_t *op = json_object();
    if (push(p, into->ops, op)) {
        json_decref(name);
        return -1;
    }
    if (keep_place(p, op, place)) {
        json_decref(name);
        return -1;
    }
    if (is_next(p, ':')) {
        if (put(p, op, "name", name) || next(p))
            return -1;
        name = take_name(p, "the type of an operator");
        if (!name)
            return -1;
    }
    return put(p, op, "optype", name) || name_op(p, op, into->counts) || read_groups(p, op) ||
                   expect(p, ';')
               ? -1
               : 0;
}

static int is_reserved(const char *key)
{
    return !strcmp(key, "ops") || !strcmp(key, "bodies");
}

// Takes the key.
static int read_key(parser *p, const program *into, json_t *name, ln_il_place place)
{
    const char *key = json_string_value(name);
    int rc = 0;
    if (is_reserved(key))
        rc = ln_il_fail(p->err, place, "'%s' is unexpected before '='", key);
    else if (json_object_get(into->json, key))
        rc = ln_il_fail(p->err, place, "'%.60s' is given twice", key);
    json_t *value = rc || next(p) ? NULL : read_value(p, 0);
    if (!value || put(p, into->json, key, value) || keep_place(p, value, place) || expect(p, ';'))
        rc = -1;
    json_decref(name);
    return rc;
}

static int read_statements(parser *p, const program *into, int close, json_t *bodies);

static int read_program(parser *p, json_t *json, int close, json_t *bodies)
{
    program into = {.json = json, .ops = json_array(), .counts = json_object()};
    const int rc = put(p, json, "ops", into.ops) || (into.counts ? 0 : fail_memory(p)) ||
                           read_statements(p, &into, close, bodies)
                       ? -1
                       : 0;
    json_decref(into.counts);
    return rc;
}

// After "body". All bodies belong to the top.
static int read_body(parser *p, json_t *bodies)
{
    const ln_il_place place = p->lexer.place;
    json_t *name = take_name(p, "the name of a body");
    if (!name)
        return -1;
    int rc = 0;
    json_t *body = json_object();
    if (json_object_get(bodies, json_string_value(name)))
        rc = ln_il_fail(p->err, place, "body '%.60s' is given twice", json_string_value(name));
    if (rc)
        json_decref(body);
    else
        rc = put(p, bodies, json_string_value(name), body) || keep_place(p, body, place) ||
                     expect(p, '{') || read_program(p, body, '}', NULL) || expect(p, '}')
                 ? -1
                 : 0;
    json_decref(name);
    return rc;
}

// `bodies` NULL: in a body, which has none.
static int read_statement(parser *p, const program *into, json_t *bodies)
{
    const ln_il_place place = p->lexer.place;
    const int may_be_body = bodies && is_word(p, "body");
    json_t *name = take_name(p, "an operator");
    if (!name)
        return -1;
    if (may_be_body && is_name(p)) {
        json_decref(name);
        return read_body(p, bodies);
    }
    if (is_next(p, '='))
        return read_key(p, into, name, place);
    if (is_next(p, '(') || is_next(p, ':'))
        return read_op(p, into, name, place);
    json_decref(name);
    return unexpected(p, "'(', ':' or '='");
}

static int read_statements(parser *p, const program *into, int close, json_t *bodies)
{
    while (!is_next(p, close)) {
        if (is_next(p, ';') ? next(p) : read_statement(p, into, bodies))
            return -1;
    }
    return 0;
}

static int read_top(parser *p)
{
    json_t *bodies = json_object();
    if (!bodies)
        return fail_memory(p);
    int rc = next(p) || read_program(p, p->model->tree, LN_IL_END, bodies) ? -1 : 0;
    if (!rc && json_object_size(bodies))
        rc = put(p, p->model->tree, "bodies", json_incref(bodies));
    json_decref(bodies);
    return rc;
}

int ln_il_parse(ln_il_model *m, const char *name, const ln_il_text *text, const ln_il_host *host,
                ln_error *err)
{
    parser p = {.model = m, .host = host, .err = err};
    m->tree = json_object();
    m->places = ln_hash_create(NULL, NULL, NULL, ln_free);
    const int rc = ln_il_lex_begin(&p.lexer, name, text, err) ||
                           (m->tree && m->places ? 0 : fail_memory(&p)) || read_top(&p)
                       ? -1
                       : 0;
    ln_il_lex_end(&p.lexer);
    return rc;
}

void ln_il_model_free(ln_il_model *m)
{
    json_decref(m->tree);
    ln_hash_free(m->places);
    *m = (ln_il_model){0};
}
