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
        ln_translation_fail_memory(&m->base);
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
        ln_translation_fail_memory(&scope->model->base);
}

const char *ln_onnx_scope_get(const ln_onnx_scope *scope, const char *name)
{
    const char *tensor = NULL;
    for (; scope && !tensor; scope = scope->outer)
        tensor = ln_hash_find(scope->names, name);
    return tensor;
}
