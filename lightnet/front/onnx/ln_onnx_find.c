// SPDX-License-Identifier: Apache-2.0
// Lookup by name: functions, operator sets and attributes of messages, tensors in the scope of
// nodes.
//
// The first lookup in a longer list creates an index, so n lookups take linear time.

#include <string.h>

#include "base/ln_hash_bytes.h"
#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_context_ops.h"

// Up to this many elements, a linear search is faster than an index.
enum { SHORT = 16 };

// Lists of messages

// The name of an element; NULL: it cannot be found.
typedef const char *(*name_func)(const void *element);

static ln_hash *make_index(const void *const *list, size_t n, name_func name_of)
{
    ln_hash *index = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    for (size_t i = 0; index && i < n; i++) {
        const char *name = name_of(list[i]);
        if (!name || ln_hash_find(index, name)) // of equal names, the first one
            continue;
        if (ln_hash_insert(index, name, (void *)list[i]) < 0) {
            ln_hash_free(index);
            return NULL;
        }
    }
    return index;
}

// NULL: the list is short, or no memory.
static const ln_hash *index_of(const ln_onnx_model *m, const void *const *list, size_t n,
                               name_func name_of)
{
    ln_hash *index = n > SHORT ? ln_hash_find(m->indexes, list) : NULL;
    if (index || n <= SHORT)
        return index;
    index = make_index(list, n, name_of);
    if (index && ln_hash_insert(m->indexes, list, index) < 0) {
        ln_hash_free(index);
        return NULL;
    }
    return index;
}

// The first element with this name, or NULL.
static const void *find(const ln_onnx_model *m, const void *const *list, size_t n,
                        name_func name_of, const char *name)
{
    const ln_hash *index = index_of(m, list, n, name_of);
    if (index)
        return ln_hash_find(index, name);
    for (size_t i = 0; i < n; i++)
        if (ln_streq(name_of(list[i]), name))
            return list[i];
    return NULL;
}

static void free_index(void *index)
{
    ln_hash_free(index);
}

ln_hash *ln_onnx_create_indexes(void)
{
    return ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, free_index);
}

// Operator sets

static const LnOnnx__OperatorSet first_opset = {.domain = "", .has_version = 1, .version = 1};

void ln_onnx_choose_opsets(ln_onnx_scope *scope)
{
    static const LnOnnx__OperatorSet *const first[] = {&first_opset};
    const LnOnnx__Model *proto = scope->model->proto;
    scope->opsets =
        proto->n_opset_import ? (const LnOnnx__OperatorSet *const *)proto->opset_import : first;
    scope->n_opsets = proto->n_opset_import ? proto->n_opset_import : 1;
}

int ln_onnx_is_default_domain(const char *domain)
{
    return !domain || !*domain || ln_streq(domain, "ai.onnx");
}

static const char *domain_of(const void *element)
{
    const LnOnnx__OperatorSet *set = element;
    if (set->version <= 0 || set->version > INT32_MAX)
        return NULL;
    return ln_onnx_is_default_domain(set->domain) ? "" : set->domain;
}

int ln_onnx_scope_opset(const ln_onnx_scope *scope, const char *domain)
{
    const LnOnnx__Model *const m = scope->model->proto;
    const char *const name = ln_onnx_is_default_domain(domain) ? "" : domain;
    const LnOnnx__OperatorSet *set =
        find(scope->model, (const void *const *)scope->opsets, scope->n_opsets, domain_of, name);
    if (!set && scope->opsets != (const LnOnnx__OperatorSet *const *)m->opset_import)
        set = find(scope->model, (const void *const *)m->opset_import, m->n_opset_import, domain_of,
                   name);
    return set ? (int)set->version : ln_onnx_newest_opset(domain);
}

// Attributes

static const char *attr_name(const void *element)
{
    return ((const LnOnnx__Attribute *)element)->name;
}

static const LnOnnx__Attribute *find_attr(const ln_onnx_model *m, LnOnnx__Attribute *const *attrs,
                                          size_t n, const char *name)
{
    return find(m, (const void *const *)attrs, n, attr_name, name);
}

const LnOnnx__Attribute *ln_onnx_find_attr(const ln_onnx_scope *scope, const LnOnnx__Node *node,
                                           const char *name)
{
    const LnOnnx__Attribute *attr =
        find_attr(scope->model, node->attribute, node->n_attribute, name);
    if (!attr || !attr->ref_attr_name || !*attr->ref_attr_name || !scope->function)
        return attr;
    // In a function's body: the attribute of the call, else the function's default.
    const LnOnnx__Attribute *given =
        ln_onnx_find_attr(scope->caller, scope->call, attr->ref_attr_name);
    return given ? given
                 : find_attr(scope->model, scope->function->attribute_proto,
                             scope->function->n_attribute_proto, attr->ref_attr_name);
}

// Functions: by their name, domain and overload

const char *ln_onnx_text(const char *text)
{
    return text ? text : "";
}

static uint32_t hash_text(const char *text)
{
    return ln_hash_bytes(text, strlen(text));
}

static uint32_t hash_function(const void *key)
{
    const LnOnnx__Function *f = key;
    return hash_text(f->name) ^ 31 * hash_text(ln_onnx_text(f->domain)) ^
           37 * hash_text(ln_onnx_text(f->overload));
}

static int compare_functions(const void *a, const void *b)
{
    const LnOnnx__Function *f = a, *g = b;
    return !(ln_streq(f->name, g->name) &&
             ln_streq(ln_onnx_text(f->domain), ln_onnx_text(g->domain)) &&
             ln_streq(ln_onnx_text(f->overload), ln_onnx_text(g->overload)));
}

int ln_onnx_index_functions(ln_onnx_model *m)
{
    m->functions = ln_hash_create(hash_function, compare_functions, NULL, NULL);
    for (size_t i = 0; m->functions && i < m->proto->n_functions; i++) {
        LnOnnx__Function *f = m->proto->functions[i];
        if (!f->name || ln_hash_find(m->functions, f)) // of equal names, the first one
            continue;
        if (ln_hash_insert(m->functions, f, f) < 0)
            return ln_fail_memory(m->base.ctx);
    }
    return m->functions ? 0 : ln_fail_memory(m->base.ctx);
}

const LnOnnx__Function *ln_onnx_find_function(const ln_onnx_model *m, const LnOnnx__Node *node)
{
    const LnOnnx__Function wanted = {
        .name = node->op_type, .domain = node->domain, .overload = node->overload};
    return node->op_type && m->proto->n_functions ? ln_hash_find(m->functions, &wanted) : NULL;
}

static const char *own_name(const void *element)
{
    return element;
}

int ln_onnx_function_declares(const ln_onnx_model *m, const LnOnnx__Function *f, const char *name)
{
    return find(m, (const void *const *)f->attribute, f->n_attribute, own_name, name) ||
           find_attr(m, f->attribute_proto, f->n_attribute_proto, name);
}

// Scopes: names that are visible to the nodes of a graph

int ln_onnx_scope_init(ln_onnx_scope *scope, ln_onnx_model *m, const ln_onnx_scope *outer)
{
    *scope = (ln_onnx_scope){.model = m, .outer = outer};
    if (outer) {
        scope->call = outer->call;
        scope->function = outer->function;
        scope->caller = outer->caller;
        scope->opsets = outer->opsets;
        scope->n_opsets = outer->n_opsets;
    }
    scope->names = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!scope->names)
        ln_translation_fail_memory(&m->base);
    return scope->names ? 0 : -1;
}

void ln_onnx_scope_clear(ln_onnx_scope *scope)
{
    ln_hash_free(scope->names);
    ln_hash_free(scope->reads);
    scope->names = scope->reads = NULL;
}

// Names of messages, and of tensors in the table or the model's memory, live until the translation
// ends.
void ln_onnx_scope_set(ln_onnx_scope *scope, const char *name, const char *tensor)
{
    if (!tensor || scope->model->base.failed)
        return;
    if (ln_hash_insert(scope->names, name, (void *)tensor) < 0)
        ln_translation_fail_memory(&scope->model->base);
}

// Marks an input of a function that is absent from the call.
static const char absent[] = "";

void ln_onnx_scope_set_absent(ln_onnx_scope *scope, const char *name)
{
    ln_onnx_scope_set(scope, name, absent);
}

static const char *find_in_scopes(const ln_onnx_scope *scope, const char *name)
{
    const char *tensor = NULL;
    for (; scope && !tensor; scope = scope->outer)
        tensor = ln_hash_find(scope->names, name);
    return tensor;
}

const char *ln_onnx_scope_get(const ln_onnx_scope *scope, const char *name)
{
    const char *const tensor = find_in_scopes(scope, name);
    return tensor == absent ? NULL : tensor;
}

int ln_onnx_scope_is_absent(const ln_onnx_scope *scope, const char *name)
{
    return scope->function && find_in_scopes(scope, name) == absent;
}

// Names that are read

static void note_reads(ln_onnx_scope *scope, LnOnnx__Node *const *nodes, size_t n, int depth);

static void note_read(ln_onnx_scope *scope, const char *name)
{
    if (name && ln_hash_insert(scope->reads, name, scope) < 0)
        ln_translation_fail_memory(&scope->model->base);
}

static void note_reads_of_graph(ln_onnx_scope *scope, const LnOnnx__Graph *graph, int depth)
{
    for (size_t i = 0; i < graph->n_output; i++)
        note_read(scope, graph->output[i]->name);
    note_reads(scope, graph->node, graph->n_node, depth);
}

// Ignores that names of subgraphs may shadow others, so a name may count as read that is not.
static void note_reads(ln_onnx_scope *scope, LnOnnx__Node *const *nodes, size_t n, int depth)
{
    if (depth >= LN_ONNX_MAX_DEPTH) // translation rejects it
        return;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < nodes[i]->n_input; k++)
            note_read(scope, nodes[i]->input[k]);
        for (size_t k = 0; k < nodes[i]->n_attribute; k++)
            if (nodes[i]->attribute[k]->g)
                note_reads_of_graph(scope, nodes[i]->attribute[k]->g, depth + 1);
    }
}

// Outputs of the function count as read if the caller reads those of the call.
static void note_reads_of_function(ln_onnx_scope *scope)
{
    const LnOnnx__Function *const f = scope->function;
    const LnOnnx__Node *const call = scope->call;
    for (size_t i = 0; i < f->n_output && i < call->n_output; i++)
        if (*call->output[i] && ln_onnx_scope_reads(scope->caller, call->output[i]))
            note_read(scope, f->output[i]);
    note_reads(scope, f->node, f->n_node, 0);
}

int ln_onnx_scope_reads(ln_onnx_scope *scope, const char *name)
{
    if (!scope->reads) {
        scope->reads = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
        if (!scope->reads)
            ln_translation_fail_memory(&scope->model->base);
        else if (scope->graph)
            note_reads_of_graph(scope, scope->graph, 0);
        else if (scope->function)
            note_reads_of_function(scope);
    }
    return !scope->reads || ln_hash_find(scope->reads, name) != NULL;
}
