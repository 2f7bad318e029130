// SPDX-License-Identifier: Apache-2.0
// Builds graphs of core operators, and writes them as JSON with their parameters.

#include "front/nnvm/ln_nnvm_draft.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ln_error_memory.h"
#include "data/ln_params.h"
#include "front/nnvm/ln_nnvm.h"
#include "ir/ln_context_ops.h"
#include "base/ln_number.h"
#include "data/ln_json.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_outfile.h"

typedef struct ln_nnvm_draft_node {
    const char *op, *name; // op "null": a variable
    ln_nnvm_attr *attrs;
    size_t n_attrs;
    ln_nnvm_entry *inputs;
    size_t n_inputs;
    uint32_t *deps;
    size_t n_deps;
    uint32_t n_outs;
    size_t origin;         // 1 + the corresponding node of the source graph; 0: none
    size_t source;         // the node of the source graph that it replaces
    const tl_tensor *data; // of a parameter
    ln_nnvm_variable kind;
} node;

static const ln_nnvm_entry no_entry = {0, 0};

static int is_variable(const node *n)
{
    return !strcmp(n->op, "null");
}

void ln_nnvm_draft_init(ln_nnvm_draft *d, ln_context *ctx, const char *file)
{
    *d = (ln_nnvm_draft){.base = {.ctx = ctx, .file = file}};
    ln_hash **hashes[] = {&d->variables, &d->names, &d->steps};
    for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++) {
        *hashes[i] = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
        if (!*hashes[i])
            ln_translation_fail_memory(&d->base);
    }
}

void ln_nnvm_draft_clear(ln_nnvm_draft *d)
{
    json_decref(d->attrs);
    ln_hash_free(d->variables);
    ln_hash_free(d->names);
    ln_hash_free(d->steps);
    ln_translation_clear(&d->base);
}

static const char *copy(ln_nnvm_draft *d, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *own = ln_translation_alloc(&d->base, size);
    return own ? memcpy(own, text, size) : NULL;
}

// Names

// The next number for a name with this prefix, from 0.
static int next_number(ln_nnvm_draft *d, const char *prefix)
{
    int *count = ln_hash_find(d->steps, prefix);
    if (count)
        return ++*count;
    count = ln_translation_alloc(&d->base, sizeof(*count));
    const char *const key = count ? copy(d, prefix) : NULL;
    if (!key)
        return 0;
    *count = 0;
    if (ln_hash_insert(d->steps, key, count) < 0)
        ln_translation_fail_memory(&d->base);
    return 0;
}

void ln_nnvm_draft_reserve_name(ln_nnvm_draft *d, const char *name)
{
    if (!d->base.failed && ln_hash_insert(d->names, name, (void *)name) < 0)
        ln_translation_fail_memory(&d->base);
}

const char *ln_nnvm_draft_step(ln_nnvm_draft *d, const char *label, const char *what)
{
    char prefix[LN_MAX_NAME_LEN], name[LN_MAX_NAME_LEN + 16];
    if (d->base.failed)
        return NULL;
    snprintf(prefix, sizeof(prefix), "%.*s_%.64s", ln_name_stem(label), label, what);
    do {
        const int number = next_number(d, prefix);
        snprintf(name, sizeof(name), number ? "%s_%d" : "%s", prefix, number);
    } while (!d->base.failed && ln_hash_find(d->names, name));
    const char *const own = copy(d, name);
    ln_nnvm_draft_reserve_name(d, own);
    return d->base.failed ? NULL : own;
}

// Nodes

static void add_node(ln_nnvm_draft *d, const char *op, const char *name)
{
    const char *own_op = copy(d, op), *own_name = copy(d, name);
    if (own_op && own_name)
        LN_TRANSLATION_ADD(
            &d->base, d->nodes, d->n_nodes,
            (node){.op = own_op, .name = own_name, .n_outs = 1, .source = d->source});
}

// The node under construction; NULL after a failure.
static node *last_node(ln_nnvm_draft *d)
{
    return d->base.failed ? NULL : &d->nodes[d->n_nodes - 1];
}

// Variables

// Writes types by code if the code never changed, others by name.
void ln_nnvm_draft_set_variable_dtype(ln_nnvm_draft *d, tl_dtype dtype)
{
    for (int i = 0; i < LN_PARAMS_SURE_CODES; i++)
        if (ln_params_codes[i] == dtype) {
            ln_nnvm_draft_set(d, LN_INT("dtype", i));
            return;
        }
    ln_nnvm_draft_set(d, LN_DTYPE("dtype", dtype));
}

// In NNVM, a shape without dimensions, or with a dimension of 0, is unknown.
static int has_shape(const tl_tensor *like)
{
    return like->ndim && like->len;
}

ln_nnvm_entry ln_nnvm_draft_variable(ln_nnvm_draft *d, ln_nnvm_variable kind, const char *name,
                                     const tl_tensor *like, const tl_tensor *data)
{
    add_node(d, "null", name);
    node *v = last_node(d);
    if (!v)
        return no_entry;
    const int added = ln_hash_insert(d->variables, v->name, (void *)v->name);
    if (added < 0)
        ln_translation_fail_memory(&d->base);
    else if (!added)
        ln_translation_fail(&d->base, "two variables have the name \"%.256s\"", v->name);
    v->kind = kind;
    v->data = data;
    if (like && (has_shape(like) || like->dtype != TL_FLOAT))
        ln_nnvm_draft_set_variable_dtype(d, like->dtype);
    if (like && has_shape(like))
        ln_nnvm_draft_set(d, LN_INTS("shape", like->ndim, like->dims));
    return ln_nnvm_draft_end(d, 1);
}

// Copies a tensor, with its data, to the translation's memory.
static const tl_tensor *copy_tensor(ln_nnvm_draft *d, const tl_tensor *t)
{
    const size_t size = tl_tensor_size(t);
    tl_tensor *own = ln_translation_alloc(&d->base, sizeof(*own));
    int *dims = ln_translation_alloc(&d->base, ((size_t)t->ndim + 1) * sizeof(*dims));
    void *data = ln_translation_alloc(&d->base, size + 1);
    if (!own || !dims || !data)
        return NULL;
    *own = *t;
    own->dims = memcpy(dims, t->dims, (size_t)t->ndim * sizeof(*dims));
    own->data = memcpy(data, t->data, size);
    return own;
}

ln_nnvm_entry ln_nnvm_draft_constant(ln_nnvm_draft *d, const char *wanted, tl_dtype dtype, int ndim,
                                     const int *dims, const void *data)
{
    const char *name = d->base.failed ? NULL : *wanted ? wanted : "constant";
    for (int i = 1; name && ln_hash_find(d->variables, name); i++)
        name = ln_translation_print(&d->base, "%.*s_%d", ln_name_stem(wanted), wanted, i);
    tl_tensor *t = name ? tl_tensor_create((void *)data, ndim, dims, dtype) : NULL;
    if (name && !t)
        ln_translation_fail(&d->base, "constant \"%.256s\": %s", name, tl_last_error());
    const tl_tensor *own = t ? copy_tensor(d, t) : NULL;
    tl_tensor_free(t);
    return own ? ln_nnvm_draft_variable(d, LN_NNVM_PARAMETER, name, own, own) : no_entry;
}

// Operators

void ln_nnvm_draft_begin(ln_nnvm_draft *d, const char *op, const char *name)
{
    add_node(d, op, name);
}

void ln_nnvm_draft_dep(ln_nnvm_draft *d, ln_nnvm_entry entry)
{
    node *n = last_node(d);
    if (n)
        LN_TRANSLATION_ADD(&d->base, n->deps, n->n_deps, entry.node);
}

void ln_nnvm_draft_set_origin(ln_nnvm_draft *d, size_t i)
{
    node *n = last_node(d);
    if (n)
        n->origin = i + 1;
}

ln_nnvm_entry ln_nnvm_draft_end(ln_nnvm_draft *d, uint32_t n_outs)
{
    node *n = last_node(d);
    if (!n)
        return no_entry;
    n->n_outs = n_outs;
    return (ln_nnvm_entry){(uint32_t)(d->n_nodes - 1), 0};
}

const char *ln_nnvm_draft_name(const ln_nnvm_draft *d, ln_nnvm_entry entry)
{
    return d->base.failed ? "" : d->nodes[entry.node].name;
}

void ln_nnvm_draft_rename(ln_nnvm_draft *d, ln_nnvm_entry entry, const char *name)
{
    const char *own = copy(d, name);
    if (own)
        d->nodes[entry.node].name = own;
}

const char *ln_nnvm_draft_op(const ln_nnvm_draft *d, ln_nnvm_entry entry)
{
    return entry.node < d->n_nodes ? d->nodes[entry.node].op : "null";
}

ln_nnvm_entry ln_nnvm_draft_input(const ln_nnvm_draft *d, ln_nnvm_entry entry, size_t i)
{
    return entry.node < d->n_nodes && i < d->nodes[entry.node].n_inputs
               ? d->nodes[entry.node].inputs[i]
               : no_entry;
}

ln_nnvm_vertex ln_nnvm_draft_vertex(const ln_nnvm_draft *d, size_t i, const ln_nnvm_vertex *nodes)
{
    const node *n = &d->nodes[i];
    ln_nnvm_vertex v = {.op = n->op,
                        .name = n->name,
                        .at = LN_NNVM_NOWHERE,
                        .origin = &nodes[n->source],
                        .attrs = n->attrs,
                        .n_attrs = n->n_attrs,
                        .is_variable = is_variable(n)};
    if (n->origin)
        v = nodes[n->origin - 1];
    v.inputs = n->inputs;
    v.n_inputs = n->n_inputs;
    return v;
}

void ln_nnvm_draft_head(ln_nnvm_draft *d, ln_nnvm_entry entry)
{
    LN_TRANSLATION_ADD(&d->base, d->heads, d->n_heads, entry);
}

// Attributes

static void set(ln_nnvm_draft *d, const char *key, const char *value)
{
    const char *own_key = copy(d, key), *own_value = copy(d, value);
    node *n = last_node(d);
    if (n)
        LN_TRANSLATION_ADD(&d->base, n->attrs, n->n_attrs, (ln_nnvm_attr){own_key, own_value, 0});
}

static const char *print_number(double value, char text[LN_NUMBER_SIZE])
{
    return isfinite(value) ? ln_number_print(text, LN_NUMBER_SIZE, value)
           : isnan(value)  ? "nan"
           : value < 0     ? "-inf"
                           : "inf";
}

// A tuple's text: of up to LN_NNVM_MAX_TUPLE pairs of integers.
typedef struct tuple {
    char text[LN_NNVM_MAX_TUPLE * 32];
    size_t len;
} tuple;

static void LN_PRINTF(2, 3) append(tuple *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const int len = vsnprintf(t->text + t->len, sizeof(t->text) - t->len, fmt, ap);
    va_end(ap);
    if (len > 0)
        t->len += (size_t)len;
}

// Sets a tuple of integers, or of pairs of them.
static void set_tuple(ln_nnvm_draft *d, const ln_part *p)
{
    tuple t = {.len = 0};
    if (p->len > LN_NNVM_MAX_TUPLE) {
        ln_translation_fail(&d->base, "attribute '%s' has %d numbers, expected at most %d", p->name,
                            p->len, LN_NNVM_MAX_TUPLE);
        return;
    }
    append(&t, "(");
    for (int i = 0; i < p->len; i++) {
        if (p->seconds)
            append(&t, "(%d, %d)", p->ints[i], p->seconds[i]);
        else
            append(&t, "%d", p->ints[i]);
        append(&t, "%s", i + 1 < p->len ? ", " : p->len == 1 ? "," : "");
    }
    append(&t, ")");
    set(d, p->name, t.text);
}

static void set_dtype(ln_nnvm_draft *d, const ln_part *p)
{
    const char *name = ln_nnvm_dtype_name((tl_dtype)p->integer);
    const node *n = last_node(d);
    if (n && !name)
        ln_translation_fail(&d->base, "%s '%.256s': NNVM has no data type %s",
                            is_variable(n) ? "tensor" : "operator", n->name,
                            tl_dtype_name((tl_dtype)p->integer));
    else
        set(d, p->name, name);
}

static void add_input(ln_nnvm_draft *d, const ln_part *p)
{
    node *n = last_node(d);
    if (n)
        LN_TRANSLATION_ADD(&d->base, n->inputs, n->n_inputs,
                           (ln_nnvm_entry){(uint32_t)p->integer, (uint32_t)p->len});
}

void ln_nnvm_draft_set(ln_nnvm_draft *d, ln_part part)
{
    char text[LN_NUMBER_SIZE];
    snprintf(text, sizeof(text), "%" PRId64, part.integer);
    if (part.kind == LN_PART_ARG)
        add_input(d, &part);
    else if (part.kind == LN_PART_DTYPE)
        set_dtype(d, &part);
    else if (part.kind == LN_PART_INTS || part.kind == LN_PART_PAIRS)
        set_tuple(d, &part);
    else if (part.kind != LN_PART_NONE)
        set(d, part.name,
            part.kind == LN_PART_TEXT     ? part.text
            : part.kind == LN_PART_INT    ? text
            : part.kind == LN_PART_NUMBER ? print_number(part.number, text)
            : part.integer                ? "True"
                                          : "False");
}

ln_part ln_nnvm_draft_input_part(ln_nnvm_entry entry)
{
    return (ln_part){LN_PART_ARG, .integer = entry.node, .len = (int)entry.index};
}

// The order of the nodes

// A topological order of the nodes that outputs need; then unread inputs.
typedef struct order {
    const ln_nnvm_draft *draft;
    size_t *nodes; // in order
    size_t len;
    size_t *places; // 1 + the position of each node in `nodes`; 0: none yet
    size_t *path;   // the stack of the walk
    size_t *next;   // of each node: its next predecessor to visit
} order;

// Predecessor `i`: an input, then a control dependency.
static size_t predecessor(const node *n, size_t i)
{
    return i < n->n_inputs ? n->inputs[i].node : n->deps[i - n->n_inputs];
}

// Visits a node after its predecessors; by a stack instead of recursion, as graphs may be deep.
static void walk(order *o, size_t start)
{
    size_t depth = 0;
    if (!o->places[start])
        o->path[depth++] = start;
    while (depth) {
        const size_t at = o->path[depth - 1];
        const node *n = &o->draft->nodes[at];
        const size_t len = n->n_inputs + n->n_deps;
        while (o->next[at] < len && o->places[predecessor(n, o->next[at])])
            o->next[at]++;
        if (o->next[at] < len) {
            o->path[depth++] = predecessor(n, o->next[at]);
        } else {
            depth--;
            o->nodes[o->len++] = at;
            o->places[at] = o->len;
        }
    }
}

static int make_order(order *o, ln_nnvm_draft *d)
{
    size_t **arrays[] = {&o->nodes, &o->places, &o->path, &o->next};
    o->draft = d;
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        *arrays[i] = ln_translation_alloc(&d->base, (d->n_nodes + 1) * sizeof(**arrays[i]));
        if (!*arrays[i])
            return -1;
    }
    for (size_t i = 0; i < d->n_heads; i++)
        walk(o, d->heads[i].node);
    for (size_t i = 0; i < d->n_nodes; i++)
        if (d->nodes[i].kind == LN_NNVM_INPUT)
            walk(o, i);
    return 0;
}

// JSON

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const ln_nnvm_attr *)a)->key, ((const ln_nnvm_attr *)b)->key);
}

// Writes the text `before`, then a member of an object.
static int write_member(FILE *fp, const char *before, const char *key, const char *value,
                        ln_error *err)
{
    fputs(before, fp);
    if (ln_json_write_string(fp, key, err))
        return -1;
    fputs(": ", fp);
    return ln_json_write_string(fp, value, err);
}

static void write_entries(FILE *fp, const order *o, const ln_nnvm_entry *entries, size_t len)
{
    fputs("[", fp);
    for (size_t i = 0; i < len; i++)
        fprintf(fp, "%s[%zu, %" PRIu32 ", 0]", i ? ", " : "", o->places[entries[i].node] - 1,
                entries[i].index);
    fputs("]", fp);
}

static void write_index(FILE *fp, size_t index, int *is_first)
{
    fprintf(fp, "%s%zu", *is_first ? "" : ", ", index);
    *is_first = 0;
}

static int write_node(FILE *fp, const order *o, const node *n, ln_error *err)
{
    if (write_member(fp, "{", "op", n->op, err) || write_member(fp, ", ", "name", n->name, err))
        return -1;
    if (n->n_attrs) // qsort rejects NULL
        qsort(n->attrs, n->n_attrs, sizeof(*n->attrs), compare_keys);
    for (size_t i = 0; i < n->n_attrs; i++)
        if (write_member(fp, i ? ", " : ", \"attrs\": {", n->attrs[i].key, n->attrs[i].value, err))
            return -1;
    fputs(n->n_attrs ? "}, \"inputs\": " : ", \"inputs\": ", fp);
    write_entries(fp, o, n->inputs, n->n_inputs);
    for (size_t i = 0; i < n->n_deps; i++)
        fprintf(fp, "%s%zu", i ? ", " : ", \"control_deps\": [", o->places[n->deps[i]] - 1);
    fputs(n->n_deps ? "]}" : "}", fp);
    return 0;
}

// Writes variables in the order of their creation, that of the inputs; then parameters.
static void write_arg_nodes(FILE *fp, const order *o)
{
    const node *nodes = o->draft->nodes;
    int is_first = 1;
    fputs("[", fp);
    for (size_t i = 0; i < o->draft->n_nodes; i++)
        if (o->places[i] && is_variable(&nodes[i]) && nodes[i].kind != LN_NNVM_PARAMETER)
            write_index(fp, o->places[i] - 1, &is_first);
    for (size_t i = 0; i < o->len; i++)
        if (is_variable(&nodes[o->nodes[i]]) && nodes[o->nodes[i]].kind == LN_NNVM_PARAMETER)
            write_index(fp, i, &is_first);
    fputs("]", fp);
}

static void write_row_ptr(FILE *fp, const order *o)
{
    uint64_t sum = 0;
    fputs("[0", fp);
    for (size_t i = 0; i < o->len; i++) {
        sum += o->draft->nodes[o->nodes[i]].n_outs;
        fprintf(fp, ", %" PRIu64, sum);
    }
    fputs("]", fp);
}

// Attributes of the graph

// Returns new: the values in the order of the written entries; NULL: some have no value.
static json_t *reorder(const order *o, const json_t *values)
{
    const ln_nnvm_graph *g = o->draft->graph;
    json_t *list = json_array();
    for (size_t i = 0; i < o->len; i++) {
        const node *n = &o->draft->nodes[o->nodes[i]];
        const size_t first = n->origin ? ln_nnvm_graph_entry(g, n->origin - 1) : 0;
        // The node must have as many entries as its origin.
        int failed =
            !n->origin || n->n_outs != (g->row_ptr ? ln_nnvm_graph_entry(g, n->origin) - first : 1);
        for (uint32_t k = 0; k < n->n_outs && !failed; k++)
            failed = json_array_append(list, json_array_get(values, first + k));
        if (failed) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static int keep_attr(ln_nnvm_draft *d, const order *o, const char *key, json_t *pair)
{
    const ln_nnvm_graph *g = d->graph;
    const json_t *value = json_array_get(pair, 1);
    const size_t n_entries = g->row_ptr ? ln_nnvm_graph_entry(g, g->n_nodes) : g->n_nodes;
    if (!json_is_array(value) || json_array_size(value) != n_entries)
        return json_object_set(d->attrs, key, pair);
    json_t *list = reorder(o, value);
    if (list)
        return json_object_set_new(d->attrs, key,
                                   json_pack("[O, o]", json_array_get(pair, 0), list));
    ln_warn(d->base.ctx,
            "%s: graph attribute '%s' is not written: its entries are not those of the "
            "operators",
            d->base.file, key);
    return 0;
}

static int keep_graph_attrs(ln_nnvm_draft *d, const order *o)
{
    const char *key;
    json_t *pair;
    if (!d->graph || !json_object_size(d->graph->attrs))
        return 0;
    d->attrs = json_object();
    json_object_foreach ((json_t *)d->graph->attrs, key, pair)
        if (!d->attrs || keep_attr(d, o, key, pair))
            return ln_fail_memory(d->base.ctx);
    return 0;
}

static int write_graph(FILE *fp, const void *arg, ln_error *err)
{
    const order *o = arg;
    fputs("{\n  \"nodes\": [", fp);
    for (size_t i = 0; i < o->len; i++) {
        fputs(i ? ",\n    " : "\n    ", fp);
        if (write_node(fp, o, &o->draft->nodes[o->nodes[i]], err))
            return -1;
    }
    fputs("\n  ],\n  \"arg_nodes\": ", fp);
    write_arg_nodes(fp, o);
    fputs(",\n  \"node_row_ptr\": ", fp);
    write_row_ptr(fp, o);
    fputs(",\n  \"heads\": ", fp);
    write_entries(fp, o, o->draft->heads, o->draft->n_heads);
    const int has_attrs = json_object_size(o->draft->attrs) > 0;
    fputs(has_attrs ? ",\n  \"attrs\": " : "", fp);
    if (has_attrs && json_dumpf(o->draft->attrs, fp, JSON_ENSURE_ASCII))
        return ln_error_memory(err);
    fputs("\n}\n", fp);
    return 0;
}

// Files

// The content of the parameter file.
typedef struct params {
    int n;
    const char **names;
    const tl_tensor **tensors;
} params;

static int find_params(params *p, ln_nnvm_draft *d, const order *o)
{
    p->names = ln_translation_alloc(&d->base, (o->len + 1) * sizeof(*p->names));
    p->tensors = ln_translation_alloc(&d->base, (o->len + 1) * sizeof(*p->tensors));
    if (!p->names || !p->tensors)
        return -1;
    for (size_t i = 0; i < o->len; i++) {
        const node *n = &d->nodes[o->nodes[i]];
        p->tensors[p->n] = n->data;
        p->names[p->n] = n->name;
        p->n += n->data != NULL;
    }
    return 0;
}

static int write_files(const ln_nnvm_draft *d, const order *o, const params *p)
{
    char file[LN_MAXLINE];
    if (!strcmp(d->base.file, "-")) {
        if (p->n)
            ln_warn(
                d->base.ctx,
                "standard output: %d parameters are not written; write to a file for FILE.params",
                p->n);
        return ln_outfile_print(stdout, "standard output", write_graph, o, d->base.ctx->error);
    }
    if (p->n && (ln_data_name_beside(file, sizeof(file), d->base.file, ".params") ||
                 ln_params_write(file, p->n, p->names, p->tensors, d->base.ctx->error)))
        return -1;
    if (!ln_outfile_write(d->base.file, write_graph, o, d->base.ctx->error))
        return 0;
    if (p->n)
        unlink(file); // of no use without the graph
    return -1;
}

int ln_nnvm_draft_write(ln_nnvm_draft *d)
{
    order o = {0};
    params p = {0};
    if (!d->base.failed && !d->n_heads)
        ln_translation_fail(&d->base, "the graph has no outputs, expected at least one");
    if (d->base.failed || make_order(&o, d) || keep_graph_attrs(d, &o) || find_params(&p, d, &o))
        return -1;
    return write_files(d, &o, &p);
}
