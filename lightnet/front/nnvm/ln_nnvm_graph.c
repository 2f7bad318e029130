// SPDX-License-Identifier: Apache-2.0
// Reading and checking the JSON of a graph.

#include "front/nnvm/ln_nnvm_graph.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_json_load.h"
#include "base/ln_name.h"
#include "base/ln_number.h"
#include "data/ln_json.h"
#include "lightnet/ln_hash.h"

// The newest known version of MXNet: 2.0.
enum { NEWEST_MXNET = 20000 };

// The state of reading a graph.
typedef struct reader {
    ln_translation *t;
    ln_nnvm_graph *g;
    const ln_nnvm_vertex *unknown; // the first node with an unknown key, `unknown_key`
    const char *unknown_key;
    size_t n_unknown; // nodes with unknown keys
} reader;

// Keys and their types

// The member, or NULL: absent (an error if needed), or of another type (an error).
static json_t *member(reader *r, const json_t *object, const char *where, const char *key,
                      json_type type, int is_needed)
{
    json_t *value = json_object_get(object, key);
    if (value && json_typeof(value) == type)
        return value;
    if (value)
        ln_translation_fail(r->t, "%s%s%s: expected %s, found %s", where, *where ? "." : "", key,
                            type == JSON_ARRAY    ? "array"
                            : type == JSON_OBJECT ? "object"
                                                  : "string",
                            ln_json_describe(value));
    else if (is_needed)
        ln_translation_fail(r->t, "%s%smissing %s\"%s\"", where, *where ? ": " : "",
                            *where ? "" : "key ", key);
    return NULL;
}

// -1: not an index.
static int read_index(const json_t *json, uint32_t *value)
{
    if (!json_is_integer(json) || json_integer_value(json) < 0 ||
        json_integer_value(json) > UINT32_MAX)
        return -1;
    *value = (uint32_t)json_integer_value(json);
    return 0;
}

// Entries

static void read_entry(reader *r, const json_t *json, const char *where, ln_nnvm_entry *entry)
{
    uint32_t version = 0;
    const size_t len = json_array_size(json); // 0: no array
    if ((len != 2 && len != 3) || read_index(json_array_get(json, 0), &entry->node) ||
        read_index(json_array_get(json, 1), &entry->index) ||
        (len == 3 && read_index(json_array_get(json, 2), &version)))
        ln_translation_fail(r->t, "%s: bad entry, expected [node, index] or [node, index, version]",
                            where);
    else if (entry->node >= r->g->n_nodes)
        ln_translation_fail(r->t, "%s refers to node %" PRIu32 " of %zu", where, entry->node,
                            r->g->n_nodes);
}

// The entries of an array.
static ln_nnvm_entry *read_entries(reader *r, const json_t *array, const char *where, size_t *len)
{
    *len = json_array_size(array);
    ln_nnvm_entry *entries = ln_translation_alloc(r->t, (*len + 1) * sizeof(*entries));
    for (size_t i = 0; i < *len && !r->t->failed; i++) {
        char place[LN_MAXLINE];
        snprintf(place, sizeof(place), "%s[%zu]", where, i);
        read_entry(r, json_array_get(array, i), place, &entries[i]);
    }
    return entries;
}

// Nodes

static void read_attrs_of(reader *r, const json_t *object, const char *where, ln_nnvm_vertex *v)
{
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)object, key, value) {
        const char *text = json_string_value(value);
        char number[LN_NUMBER_SIZE];
        if (json_is_boolean(value))
            text = json_is_true(value) ? "True" : "False";
        else if (json_is_integer(value))
            snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        else if (json_is_real(value))
            ln_number_print(number, sizeof(number), json_real_value(value));
        else if (!text)
            ln_translation_fail(r->t, "%s.%s: expected string, found %s", where, key,
                                ln_json_describe(value));
        if (json_is_number(value))
            text = ln_translation_print(r->t, "%s", number);
        v->attrs[v->n_attrs++] = (ln_nnvm_attr){key, text ? text : "", 0};
    }
}

static void read_attrs(reader *r, const json_t *json, const char *where, ln_nnvm_vertex *v)
{
    static const char *const keys[] = {"attrs", "attr", "param"};
    const json_t *objects[3];
    size_t len = 0;
    for (int i = 0; i < 3; i++) {
        objects[i] = member(r, json, where, keys[i], JSON_OBJECT, 0);
        len += json_object_size(objects[i]);
    }
    if (objects[2])
        objects[1] = NULL; // beside `param`, `attr` has only annotations of users
    v->attrs = ln_translation_alloc(r->t, (len + 1) * sizeof(*v->attrs));
    for (int i = 0; i < 3 && !r->t->failed; i++) {
        char place[LN_MAXLINE];
        snprintf(place, sizeof(place), "%.1000s.%s", where, keys[i]);
        read_attrs_of(r, objects[i], place, v);
    }
}

static void check_order(reader *r, const ln_nnvm_vertex *v, size_t i, const ln_nnvm_entry *e)
{
    if (e->node == i)
        ln_translation_fail(r->t, "nodes[%zu] \"%s\" uses itself", i, v->name);
    else if (e->node > i)
        ln_translation_fail(r->t, "nodes[%zu] \"%s\" uses later node %" PRIu32, i, v->name,
                            e->node);
    else if (r->g->nodes[e->node].is_variable && e->index)
        ln_translation_fail(
            r->t, "nodes[%zu] \"%s\": \"%s\" has 1 usable output, index %" PRIu32 " requested", i,
            v->name, r->g->nodes[e->node].name, e->index);
}

static void read_control_deps(reader *r, const json_t *json, const char *where, size_t at)
{
    ln_nnvm_vertex *v = &r->g->nodes[at];
    const json_t *deps = member(r, json, where, "control_deps", JSON_ARRAY, 0);
    v->n_deps = json_array_size(deps);
    v->deps = ln_translation_alloc(r->t, (v->n_deps + 1) * sizeof(*v->deps));
    for (size_t i = 0; i < v->n_deps && !r->t->failed; i++) {
        if (read_index(json_array_get(deps, i), &v->deps[i]) || v->deps[i] >= r->g->n_nodes)
            ln_translation_fail(r->t, "%s.control_deps[%zu]: expected an index below %zu", where, i,
                                r->g->n_nodes);
        else if (v->deps[i] >= at)
            ln_translation_fail(r->t, "%s.control_deps[%zu]: %" PRIu32 ", expected an earlier one",
                                where, i, v->deps[i]);
    }
}

// Counts nodes with unknown keys, for one warning.
static void note_unknown_key(reader *r, const json_t *json, const ln_nnvm_vertex *v)
{
    static const char *const known[] = {
        "op",        "name",        "inputs", "attrs", "attr", "param", "backward_source_id",
        "subgraphs", "control_deps"};
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)json, key, value) {
        if (LN_ROW_NAMED(known, key))
            continue;
        if (r->n_unknown++ == 0) {
            r->unknown = v;
            r->unknown_key = key;
        }
        return;
    }
}

static void read_node(reader *r, const json_t *json, size_t i)
{
    ln_nnvm_vertex *v = &r->g->nodes[i];
    char where[LN_MAXLINE];
    v->at = i;
    snprintf(where, sizeof(where), "nodes[%zu]", i);
    if (!json_is_object(json)) {
        ln_translation_fail(r->t, "%s: expected object, found %s", where, ln_json_describe(json));
        return;
    }
    const json_t *name = member(r, json, where, "name", JSON_STRING, 1);
    v->name = name ? json_string_value(name) : "";
    if (name)
        snprintf(where, sizeof(where), "nodes[%zu] \"%.256s\"", i, v->name);
    v->op = json_string_value(member(r, json, where, "op", JSON_STRING, 1));
    const json_t *inputs = member(r, json, where, "inputs", JSON_ARRAY, 1);
    if (r->t->failed)
        return;
    v->is_variable = ln_streq(v->op, "null");
    strncat(where, ".inputs", sizeof(where) - strlen(where) - 1);
    v->inputs = read_entries(r, inputs, where, &v->n_inputs);
    where[strlen(where) - strlen(".inputs")] = '\0';
    if (v->is_variable && v->n_inputs)
        ln_translation_fail(r->t, "%s: a variable with %zu inputs, expected none", where,
                            v->n_inputs);
    read_attrs(r, json, where, v);
    read_control_deps(r, json, where, i);
    note_unknown_key(r, json, v);
    for (size_t k = 0; k < v->n_inputs && !r->t->failed; k++)
        check_order(r, v, i, &v->inputs[k]);
}

static void check_names(reader *r)
{
    ln_hash *names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!names)
        ln_translation_fail_memory(r->t);
    for (size_t i = 0; i < r->g->n_nodes && !r->t->failed; i++) {
        ln_nnvm_vertex *v = &r->g->nodes[i];
        const ln_nnvm_vertex *other = v->is_variable ? ln_hash_find(names, v->name) : NULL;
        if (other)
            ln_translation_fail(r->t,
                                "nodes[%zu] \"%s\": nodes[%td] has the same name, expected "
                                "different names of variables",
                                i, v->name, other - r->g->nodes);
        else if (v->is_variable && ln_hash_insert(names, v->name, v) < 0)
            ln_translation_fail_memory(r->t);
    }
    ln_hash_free(names);
}

// The top level

static void list_variable(ln_nnvm_graph *g, ln_nnvm_vertex *v)
{
    if (!v->is_listed)
        g->variables[g->n_variables++] = v;
    v->is_listed = 1;
}

static void read_arg_nodes(reader *r)
{
    const json_t *args = member(r, r->g->json, "", "arg_nodes", JSON_ARRAY, 1);
    for (size_t i = 0; i < json_array_size(args) && !r->t->failed; i++) {
        uint32_t node = 0;
        if (read_index(json_array_get(args, i), &node))
            ln_translation_fail(r->t, "arg_nodes[%zu]: expected the index of a node", i);
        else if (node >= r->g->n_nodes)
            ln_translation_fail(r->t, "arg_nodes[%zu] refers to node %" PRIu32 " of %zu", i, node,
                                r->g->n_nodes);
        else if (!r->g->nodes[node].is_variable)
            ln_translation_fail(r->t,
                                "arg_nodes[%zu]: nodes[%" PRIu32 "] \"%s\" is an operator (%s), "
                                "expected a variable",
                                i, node, r->g->nodes[node].name, r->g->nodes[node].op);
        else
            list_variable(r->g, &r->g->nodes[node]);
    }
}

static void list_variables(reader *r)
{
    r->g->variables = ln_translation_alloc(r->t, (r->g->n_nodes + 1) * sizeof(*r->g->variables));
    if (r->t->failed)
        return;
    read_arg_nodes(r);
    for (size_t i = 0; i < r->g->n_nodes && !r->t->failed; i++)
        if (r->g->nodes[i].is_variable && !r->g->nodes[i].is_listed)
            ln_translation_fail(r->t,
                                "\"arg_nodes\" lacks nodes[%zu] \"%s\", expected all variables", i,
                                r->g->nodes[i].name);
}

static void warn_unknown_keys(reader *r)
{
    static const char *const known[] = {"nodes",        "arg_nodes", "heads",
                                        "node_row_ptr", "attrs",     "attr"};
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)r->g->json, key, value)
        if (!LN_ROW_NAMED(known, key))
            ln_warn(r->t->ctx, "%s: unknown key '%s'", r->t->file, key);
    if (r->unknown)
        ln_warn(r->t->ctx, "%s: nodes[%zu] \"%.256s\": unknown key '%.256s' (in %zu nodes)",
                r->t->file, r->unknown->at, r->unknown->name, r->unknown_key, r->n_unknown);
}

static void check_row_ptr(reader *r)
{
    const json_t *rows = member(r, r->g->json, "", "node_row_ptr", JSON_ARRAY, 0);
    uint32_t last = 0, row;
    r->g->row_ptr = rows;
    if (rows && json_array_size(rows) != r->g->n_nodes + 1)
        ln_translation_fail(r->t, "node_row_ptr has %zu numbers, expected %zu",
                            json_array_size(rows), r->g->n_nodes + 1);
    for (size_t i = 0; i < json_array_size(rows) && !r->t->failed; i++) {
        if (read_index(json_array_get(rows, i), &row) || row < last || (i == 0 && row != 0))
            ln_translation_fail(r->t, "node_row_ptr[%zu]: expected %s", i,
                                i ? "a number at least as large as the last" : "0");
        last = row;
    }
}

static void check_graph_attrs(reader *r)
{
    const char *key;
    json_t *value;
    const char *const name = json_object_get(r->g->json, "attrs") ? "attrs" : "attr";
    r->g->attrs = member(r, r->g->json, "", name, JSON_OBJECT, 0);
    json_object_foreach ((json_t *)r->g->attrs, key, value)
        if (json_array_size(value) != 2 || !json_is_string(json_array_get(value, 0)))
            ln_translation_fail(r->t, "%s.%s: expected [type, value]", name, key);
    const json_t *version = json_array_get(json_object_get(r->g->attrs, "mxnet_version"), 1);
    if (version && !json_is_integer(version))
        ln_translation_fail(r->t, "attrs.mxnet_version: expected [\"int\", number]");
    r->g->version = json_integer_value(version);
    if (r->g->version > NEWEST_MXNET)
        ln_warn(r->t->ctx, "%s: written by MXNet %" PRId64 ", newer than the newest known version",
                r->t->file, r->g->version);
}

static void read_nodes(reader *r)
{
    const json_t *nodes = member(r, r->g->json, "", "nodes", JSON_ARRAY, 1);
    r->g->n_nodes = json_array_size(nodes);
    r->g->nodes = ln_translation_alloc(r->t, (r->g->n_nodes + 1) * sizeof(*r->g->nodes));
    for (size_t i = 0; i < r->g->n_nodes && !r->t->failed; i++) {
        const json_t *json = json_array_get(nodes, i);
        read_node(r, json, i);
        r->g->is_oldest |=
            json_object_get(json, "param") || json_object_get(json, "backward_source_id");
    }
}

static void read_heads(reader *r)
{
    const json_t *heads = member(r, r->g->json, "", "heads", JSON_ARRAY, 1);
    if (heads && !json_array_size(heads))
        ln_translation_fail(r->t, "\"heads\" is empty, expected the outputs of the graph");
    if (!r->t->failed)
        r->g->heads = read_entries(r, heads, "heads", &r->g->n_heads);
}

void ln_nnvm_graph_read(ln_nnvm_graph *g, ln_translation *t, const unsigned char *data, size_t size)
{
    reader r = {t, g};
    g->json = ln_json_load((const char *)data, size, JSON_REJECT_DUPLICATES, t->file, "JSON",
                           t->ctx->error);
    if (!g->json)
        t->failed = 1;
    else if (!json_is_object(g->json))
        ln_translation_fail(t, "expected object, found %s", ln_json_describe(g->json));
    if (!t->failed)
        read_nodes(&r);
    if (!t->failed)
        check_names(&r);
    if (!t->failed)
        list_variables(&r);
    if (!t->failed)
        read_heads(&r);
    if (!t->failed)
        check_row_ptr(&r);
    if (!t->failed)
        check_graph_attrs(&r);
    if (!t->failed)
        warn_unknown_keys(&r);
    g->is_oldest &= !g->version;
}

void ln_nnvm_graph_clear(ln_nnvm_graph *g)
{
    json_decref(g->json);
    g->json = NULL;
}

// Queries on a checked graph

const char *ln_nnvm_graph_attr(ln_nnvm_vertex *v, const char *key)
{
    const char *value = NULL;
    for (size_t i = 0; i < v->n_attrs; i++)
        if (!strcmp(v->attrs[i].key, key)) {
            v->attrs[i].is_read = 1;
            value = value ? value : v->attrs[i].value;
        }
    return value;
}

size_t ln_nnvm_graph_entry(const ln_nnvm_graph *g, size_t i)
{
    return g->row_ptr ? (size_t)json_integer_value(json_array_get(g->row_ptr, i)) : i;
}

const json_t *ln_nnvm_graph_value(const ln_nnvm_graph *g, const char *key, size_t i)
{
    const json_t *values = json_array_get(json_object_get(g->attrs, key), 1);
    return i == LN_NNVM_NOWHERE ? NULL : json_array_get(values, ln_nnvm_graph_entry(g, i));
}

int ln_nnvm_graph_shape(const ln_nnvm_graph *g, size_t i, int dims[LN_MAXDIM])
{
    const json_t *shape = ln_nnvm_graph_value(g, "shape", i);
    const size_t ndim = json_array_size(shape);
    if (!ndim || ndim > LN_MAXDIM)
        return -1;
    for (size_t k = 0; k < ndim; k++) {
        const json_t *dim = json_array_get(shape, k);
        if (!json_is_integer(dim) || json_integer_value(dim) < 1 ||
            json_integer_value(dim) > INT_MAX)
            return -1;
        dims[k] = (int)json_integer_value(dim);
    }
    return (int)ndim;
}

const char *ln_nnvm_output_name(ln_translation *t, const char *node, uint32_t index)
{
    return index ? ln_translation_print(t, "%.*s_%" PRIu32, ln_name_stem(node), node, index) : node;
}

// Detection

static int is_word(const unsigned char *data, size_t len, const char *word)
{
    return len == strlen(word) && !memcmp(data, word, len);
}

int ln_nnvm_is(const unsigned char *data, size_t size)
{
    static const char *const keys[] = {"nodes", "arg_nodes", "heads", "node_row_ptr"};
    size_t depth = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = data[i];
        if (!depth && c != '{' && (!c || !strchr(" \t\r\n", c)))
            return 0;
        depth += c == '{' || c == '[';
        depth -= depth && (c == '}' || c == ']');
        if (c != '"')
            continue;
        size_t end = i + 1; // becomes the closing quote
        for (; end < size && data[end] != '"'; end++)
            end += data[end] == '\\';
        for (size_t k = 0; depth == 1 && k < sizeof(keys) / sizeof(keys[0]); k++)
            if (end < size && is_word(data + i + 1, end - i - 1, keys[k]))
                return 1;
        if (depth == 1 && end < size && is_word(data + i + 1, end - i - 1, "ops"))
            return 0; // LightNet's own JSON IR
        i = end;
    }
    return 0;
}
