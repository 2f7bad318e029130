// SPDX-License-Identifier: Apache-2.0
// Reads the JSON intermediate representation.
//
// The text becomes a tree (Jansson: strict, of limited depth, no key twice), and the tree is walked
// once: this file reads its top, ln_ir_read_nodes.c the nodes of the original model,
// ln_ir_read_op.c the operators, ln_ir_read_param.c their parameters, all by the functions of
// ln_ir_reader.h.

#include "front/json/ln_ir_json.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_json_load.h"
#include "ir/ln_bodies.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "front/json/ln_ir_reader.h"
#include "lightnet/ln_util.h"

// The result of the reader, before the context owns it.
typedef struct model {
    ln_list *ops, *inputs, *outputs;
    char *target;
    size_t mem_sizes[LN_MEM_TYPE_SIZE];
    int threads; // 0: unspecified
    ln_ir_nodes nodes;
    int declared;
} model;

static int check_interface_name(const ln_ir_reader *r, const json_t *array, size_t i, int is_input)
{
    const char *key = is_input ? "inputs" : "outputs";
    const char *name = json_string_value(json_array_get(array, i));
    if (!name)
        return ln_ir_fail(r, "%s[%zu] is %s, expected the name of a tensor", key, i,
                          ln_json_describe(json_array_get(array, i)));
    const char *optype = ln_hash_find(r->tensors, name);
    if (!optype)
        return ln_ir_fail(r, "%s[%zu] '%s' is not a tensor of the model", key, i, name);
    if (is_input && !ln_produces_inputs(optype))
        return ln_ir_fail(r,
                          "%s[%zu] '%s' is an output of a '%s', expected one of a 'create' or "
                          "a 'source'",
                          key, i, name, optype);
    // A model may return a tensor several times.
    const int taken = is_input ? ln_ir_take_name(r, array, name) : 0;
    return taken > 0 ? ln_ir_fail(r, "%s[%zu] '%s' is listed twice", key, i, name) : taken;
}

// Reads the names of the optional key "inputs" or "outputs".
static int read_interface(ln_ir_reader *r, const ln_ir_element *top, int is_input, model *m)
{
    const char *key = is_input ? "inputs" : "outputs";
    ln_list **names = is_input ? &m->inputs : &m->outputs;
    if (!json_object_get(top->json, key))
        return 0;
    const json_t *array = ln_ir_get(r, top, key, LN_IR_ARRAY);
    if (!array)
        return -1;
    r->at = key;
    m->declared |= is_input ? LN_DECLARES_INPUTS : LN_DECLARES_OUTPUTS;
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (check_interface_name(r, array, i, is_input))
            return -1;
        char *copy = ln_strdup(json_string_value(json_array_get(array, i)));
        if (ln_ir_push(r, names, copy)) {
            ln_free(copy);
            return -1;
        }
    }
    *names = ln_list_reverse(*names);
    r->at = NULL;
    return 0;
}

static int read_mem_sizes(const ln_ir_reader *r, const json_t *object, size_t *mem_sizes)
{
    const ln_ir_element e = {.json = object, .label = "mem_sizes: "};
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)object, key, value) {
        const int mtype = ln_mem_type_from_str(key);
        if (mtype < 0)
            return ln_ir_fail(r, "mem_sizes: unknown memory type '%s'", key);
        if (ln_ir_get_size(r, &e, key, &mem_sizes[mtype]))
            return -1;
    }
    return 0;
}

// The number of threads with scratch memory; 1 is not written.
static int read_threads(const ln_ir_reader *r, const ln_ir_element *top, int *threads)
{
    if (!json_object_get(top->json, "threads"))
        return 0;
    const json_t *value = ln_ir_get(r, top, "threads", LN_IR_NUMBER);
    if (!value)
        return -1;
    const double n = json_number_value(value);
    if (!(n >= 1 && n <= INT_MAX && n == floor(n)))
        return ln_ir_fail(r, "'threads' is %.17g, expected a number of threads", n);
    *threads = (int)n;
    return 0;
}

// Top-level keys of a compiled model.
static int read_plan(ln_ir_reader *r, const ln_ir_element *top, model *m)
{
    if (!json_object_get(top->json, "arch") && !json_object_get(top->json, "mem_sizes"))
        return 0;
    const char *arch = ln_ir_get_name(r, top, "arch");
    const json_t *mem_sizes = arch ? ln_ir_get(r, top, "mem_sizes", LN_IR_OBJECT) : NULL;
    if (!mem_sizes || read_mem_sizes(r, mem_sizes, m->mem_sizes) ||
        read_threads(r, top, &m->threads))
        return -1;
    r->target = m->target = ln_strdup(arch);
    return m->target ? 0 : ln_ir_fail_last(r);
}

static int read_hash(const ln_ir_reader *r, const ln_ir_element *e, uint64_t *hash)
{
    static const char digits[] = "0123456789abcdef";
    const json_t *value = ln_ir_get(r, e, "hash", LN_IR_STRING);
    if (!value)
        return -1;
    const char *text = json_string_value(value);
    if (strlen(text) != 16 || strspn(text, digits) != 16)
        return ln_ir_fail(r, "%s'hash' is '%.32s', expected 16 digits of 0 to 9 and a to f",
                          e->label, text);
    *hash = strtoull(text, NULL, 16);
    return 0;
}

static int read_fixed_value(const ln_ir_reader *r, const ln_ir_element *e, const json_t *array)
{
    static const char *const keys[] = {"tensor", "rule", "frozen", "hash", NULL};
    uint64_t hash = 0;
    const json_t *frozen = json_object_get(e->json, "frozen");
    const char *tensor = ln_ir_get_name(r, e, "tensor");
    const char *rule =
        tensor && json_object_get(e->json, "rule") ? ln_ir_get_name(r, e, "rule") : NULL;
    if (!tensor || (!rule && json_object_get(e->json, "rule")) || read_hash(r, e, &hash) ||
        ln_ir_warn_of_unknown(r, e, keys))
        return -1;
    const int taken = ln_ir_take_name(r, array, tensor);
    if (taken)
        return taken < 0 ? -1 : ln_ir_fail(r, "%s'%s' is listed twice", e->label, tensor);
    if (frozen && !json_is_boolean(frozen))
        return ln_ir_fail(r, "%s'frozen' is %s, expected true or false", e->label,
                          ln_json_describe(frozen));
    ln_fixed_value *value = ln_fixed_value_create(tensor, rule, hash);
    if (value)
        value->frozen = json_is_true(frozen);
    if (!ln_fixed_add(r->ctx->fixed, value))
        return 0;
    ln_fixed_value_free(value);
    return ln_ir_fail_last(r);
}

// Reads the values for which the program was compiled, also of tensors that it lacks.
static int read_fixed(const ln_ir_reader *r, const ln_ir_element *top)
{
    if (!json_object_get(top->json, "fixed"))
        return 0;
    const json_t *array = ln_ir_get(r, top, "fixed", LN_IR_ARRAY);
    if (!array)
        return -1;
    for (size_t i = 0; i < json_array_size(array); i++) {
        ln_ir_element e;
        if (ln_ir_get_element(r, &e, array, "fixed", i) || read_fixed_value(r, &e, array))
            return -1;
    }
    return 0;
}

static int read_sizes_of(const ln_ir_reader *r, const ln_ir_element *e)
{
    static const char *const keys[] = {"tensor", "names", NULL};
    const char *names[LN_MAXDIM];
    const char *tensor = ln_ir_get_name(r, e, "tensor");
    const json_t *array = tensor ? ln_ir_get(r, e, "names", LN_IR_ARRAY) : NULL;
    const size_t n = json_array_size(array);
    if (!array || ln_ir_warn_of_unknown(r, e, keys))
        return -1;
    if (n > LN_MAXDIM)
        return ln_ir_fail(r, "%s'names' has %zu elements, expected at most %d", e->label, n,
                          LN_MAXDIM);
    for (size_t i = 0; i < n; i++) {
        const json_t *const value = json_array_get(array, i);
        if (!json_is_string(value) && !json_is_null(value))
            return ln_ir_fail(r, "%s'names' has %s, expected strings and null", e->label,
                              ln_json_describe(value));
        names[i] = json_string_value(value);
    }
    return ln_fixed_note_sizes(r->ctx->fixed, tensor, (int)n, names) ? ln_ir_fail_last(r) : 0;
}

// Reads the names of open sizes.
static int read_sizes(const ln_ir_reader *r, const ln_ir_element *top)
{
    if (!json_object_get(top->json, "sizes"))
        return 0;
    const json_t *array = ln_ir_get(r, top, "sizes", LN_IR_ARRAY);
    if (!array)
        return -1;
    for (size_t i = 0; i < json_array_size(array); i++) {
        ln_ir_element e;
        if (ln_ir_get_element(r, &e, array, "sizes", i) || read_sizes_of(r, &e))
            return -1;
    }
    return 0;
}

static int read_version(ln_ir_reader *r, const ln_ir_element *top)
{
    if (!json_object_get(top->json, "version"))
        return 0;
    int rc = -1;
    r->at = "version";
    const json_t *value = ln_ir_get(r, top, "version", LN_IR_NUMBER);
    if (value)
        rc = json_number_value(value) == LN_IR_VERSION
                 ? 0
                 : ln_ir_fail(r, "'version' is %.17g, expected %d", json_number_value(value),
                              LN_IR_VERSION);
    r->at = NULL;
    return rc;
}

// Common keys of models and bodies.
static int read_program(ln_ir_reader *r, const ln_ir_element *e, model *m)
{
    return -(ln_ir_read_ops(r, e, &m->ops) || read_interface(r, e, 1, m) ||
             read_interface(r, e, 0, m));
}

// NULL after a failure. Integers are read as doubles, which all numbers become.
static json_t *parse(const ln_context *ctx, const char *name, const char *text, size_t len)
{
    if (!len)
        return ln_fail(ctx, "%s: the model is empty", name), NULL;
    const char *nul = memchr(text, '\0', len);
    if (nul) {
        ln_fail(ctx, "%s: NUL byte at offset %td, expected JSON text", name, nul - text);
        return NULL;
    }
    return ln_json_load(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, name, "JSON",
                        ctx->error);
}

static int read_bodies(const ln_ir_reader *r, const ln_ir_element *top, const model *m);

// config.json of Hugging Face, which has a similar name, is not a model.
static int check_is_model(const ln_ir_reader *r, const json_t *json)
{
    if (json_object_get(json, "ops") ||
        !(json_object_get(json, "model_type") || json_object_get(json, "architectures")))
        return 0;
    return ln_ir_fail(r, "this is a configuration of Hugging Face's, expected a model, such as the "
                         "ONNX file of the same repository");
}

static int read_top(ln_ir_reader *r, const json_t *json, model *m)
{
    static const char *const keys[] = {
        "version", "inputs", "outputs", "arch",        "mem_sizes",  "threads", "fixed",
        "sizes",   "bodies", "ops",     "model_nodes", "node_count", NULL};
    const ln_ir_element top = {.json = json};
    if (!ln_ir_is_kind(json, LN_IR_OBJECT))
        return ln_ir_fail(r, "the model is %s, expected an object", ln_json_describe(json));
    return -(check_is_model(r, json) || read_version(r, &top) || read_plan(r, &top, m) ||
             ln_ir_read_nodes(r, &top, &m->nodes) || read_fixed(r, &top) || read_sizes(r, &top) ||
             ln_ir_warn_of_unknown(r, &top, keys) || read_program(r, &top, m) ||
             read_bodies(r, &top, m));
}

static int create_tables(ln_ir_reader *r)
{
    ln_hash **const tables[] = {&r->opnames, &r->scopes, &r->tensors, &r->unknown};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        *tables[i] = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
        if (!*tables[i])
            return ln_ir_fail_last(r);
    }
    return 0;
}

static void free_tables(ln_ir_reader *r)
{
    ln_hash_free(r->opnames);
    ln_hash_free(r->scopes);
    ln_hash_free(r->tensors);
    ln_hash_free(r->unknown);
}

static void free_model(model *m)
{
    ln_op_list_free_lists_too(m->ops);
    ln_list_free_deep(m->inputs, ln_free);
    ln_list_free_deep(m->outputs, ln_free);
    ln_free(m->target);
}

static void hand_over(ln_context *ctx, const model *m, ln_list **ops)
{
    ctx->inputs = m->inputs;
    ctx->outputs = m->outputs;
    ctx->declared = m->declared;
    ctx->target = m->target;
    memcpy(ctx->mem_sizes, m->mem_sizes, sizeof(ctx->mem_sizes));
    ctx->planned_threads = m->threads ? m->threads : 1;
    *ops = m->ops;
}

// Bodies: each is read with separate tables

static int read_body_keys(ln_ir_reader *r, const ln_ir_element *e, model *m)
{
    static const char *const keys[] = {"inputs", "outputs", "mem_sizes", "ops", NULL};
    if (ln_ir_warn_of_unknown(r, e, keys) || !ln_ir_get(r, e, "inputs", LN_IR_ARRAY) ||
        !ln_ir_get(r, e, "outputs", LN_IR_ARRAY) || read_program(r, e, m))
        return -1;
    if (!r->target)
        return 0;
    const json_t *mem_sizes = ln_ir_get(r, e, "mem_sizes", LN_IR_OBJECT);
    return mem_sizes ? read_mem_sizes(r, mem_sizes, m->mem_sizes) : -1;
}

static int read_body(const ln_ir_reader *outer, const char *name, const json_t *json,
                     const char *target)
{
    char label[LN_MAXLINE];
    model m = {0};
    ln_context *body = ln_body_create(outer->ctx, name);
    ln_ir_reader r = {.ctx = body,
                      .file = label,
                      .places = outer->places,
                      .body = name,
                      .target = outer->target,
                      .nodes = outer->nodes};
    const ln_ir_element e = {.json = json};
    if (!body)
        return -1;
    const char *place = ln_ir_place(outer->places, name, NULL, 0);
    snprintf(label, sizeof(label), "%s: body '%s'", place ? place : outer->file, name);
    if (!ln_ir_is_kind(json, LN_IR_OBJECT))
        return ln_ir_fail(&r, "it is %s, expected an object", ln_json_describe(json));
    int status = -(create_tables(&r) || read_body_keys(&r, &e, &m));
    if (!status && target && !(m.target = ln_strdup(target)))
        status = ln_ir_fail_last(&r);
    if (status)
        free_model(&m);
    else
        hand_over(body, &m, &body->ops);
    free_tables(&r);
    return status;
}

static int read_bodies(const ln_ir_reader *r, const ln_ir_element *top, const model *m)
{
    const char *name;
    json_t *value;
    if (!json_object_get(top->json, "bodies"))
        return 0;
    const json_t *object = ln_ir_get(r, top, "bodies", LN_IR_OBJECT);
    if (!object)
        return -1;
    json_object_foreach ((json_t *)object, name, value) {
        if (!*name || strlen(name) >= LN_MAX_NAME_LEN)
            return ln_ir_fail(r, "bodies: a name has %zu bytes, expected 1 to %d", strlen(name),
                              LN_MAX_NAME_LEN - 1);
        if (read_body(r, name, value, m->target))
            return -1;
    }
    return 0;
}

static int read_tree(ln_context *ctx, const char *name, const json_t *tree,
                     const ln_ir_places *places, ln_list **ops)
{
    ln_ir_reader r = {.ctx = ctx, .file = name, .places = places};
    model m = {0};
    r.nodes = &m.nodes;
    const int rc = -(create_tables(&r) || read_top(&r, tree, &m));
    if (rc) {
        free_model(&m);
        ln_bodies_free(ctx);
        ln_fixed_clear(ctx->fixed);
    } else {
        hand_over(ctx, &m, ops);
        ctx->n_model_nodes = m.nodes.total;
    }
    ln_ir_free_nodes(&m.nodes);
    free_tables(&r);
    return rc;
}

int ln_ir_read(ln_context *ctx, const char *name, const char *text, size_t len,
               const ln_ir_places *places, ln_list **ops)
{
    json_t *tree = parse(ctx, name, text, len);
    const int rc = tree ? read_tree(ctx, name, tree, places, ops) : -1;
    json_decref(tree);
    return rc;
}
