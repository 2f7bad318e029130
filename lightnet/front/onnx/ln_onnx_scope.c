// SPDX-License-Identifier: Apache-2.0
// The names that the nodes of a graph see.

#include <string.h>

#include "front/onnx/ln_onnx_model.h"

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
        ln_translation_fail(&m->base, "out of memory");
    return scope->names ? 0 : -1;
}

void ln_onnx_scope_clear(ln_onnx_scope *scope)
{
    ln_hash_free(scope->names);
    scope->names = NULL;
}

// Names are those of messages, tensors those of the table or of the model's memory: both live until
// the translation ends.
void ln_onnx_scope_set(ln_onnx_scope *scope, const char *name, const char *tensor)
{
    if (!tensor || scope->model->base.failed)
        return;
    if (ln_hash_insert(scope->names, name, (void *)tensor) < 0)
        ln_translation_fail(&scope->model->base, "out of memory");
}

const char *ln_onnx_scope_get(const ln_onnx_scope *scope, const char *name)
{
    const char *tensor = NULL;
    for (; scope && !tensor; scope = scope->outer)
        tensor = ln_hash_find(scope->names, name);
    return tensor;
}

int ln_onnx_is_default_domain(const char *domain)
{
    return !domain || !*domain || ln_streq(domain, "ai.onnx");
}

int ln_onnx_scope_opset(const ln_onnx_scope *scope, const char *domain)
{
    for (size_t i = 0; i < scope->n_opsets; i++) {
        const LnOnnx__OperatorSet *set = scope->opsets[i];
        const int same = ln_onnx_is_default_domain(domain)
                             ? ln_onnx_is_default_domain(set->domain)
                             : set->domain && !strcmp(set->domain, domain);
        if (same && set->version > 0 && set->version <= INT32_MAX)
            return (int)set->version;
    }
    return 0;
}

static const LnOnnx__Attribute *find(LnOnnx__Attribute *const *attrs, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (ln_streq(attrs[i]->name, name))
            return attrs[i];
    return NULL;
}

const LnOnnx__Attribute *ln_onnx_find_attr(const ln_onnx_scope *scope, const LnOnnx__Node *node,
                                           const char *name)
{
    const LnOnnx__Attribute *attr = find(node->attribute, node->n_attribute, name);
    if (!attr || !attr->ref_attr_name || !*attr->ref_attr_name || !scope->function)
        return attr;
    // Of a function's body: what the call gives, or else the function's default.
    const LnOnnx__Attribute *given =
        ln_onnx_find_attr(scope->caller, scope->call, attr->ref_attr_name);
    return given ? given
                 : find(scope->function->attribute_proto, scope->function->n_attribute_proto,
                        attr->ref_attr_name);
}
