// SPDX-License-Identifier: Apache-2.0
// Removes nodes and initializers whose values nothing reads.

#include "front/onnx/write/ln_onnx_write.h"

#include "lightnet/ln_hash.h"

static void need(ln_onnx_writer *w, ln_hash *needed, const char *value)
{
    if (!w->base.failed && ln_hash_insert(needed, value, (void *)value) < 0)
        ln_translation_fail_memory(&w->base);
}

static void need_graph(ln_onnx_writer *w, ln_hash *needed, const LnOnnx__Graph *graph);

// The inputs of a node, and all that its graphs read.
static void need_inputs(ln_onnx_writer *w, ln_hash *needed, const LnOnnx__Node *node)
{
    for (size_t i = 0; i < node->n_input; i++)
        need(w, needed, node->input[i]);
    for (size_t i = 0; i < node->n_attribute; i++)
        if (node->attribute[i]->g)
            need_graph(w, needed, node->attribute[i]->g);
}

static void need_graph(ln_onnx_writer *w, ln_hash *needed, const LnOnnx__Graph *graph)
{
    for (size_t i = 0; i < graph->n_node; i++)
        need_inputs(w, needed, graph->node[i]);
    for (size_t i = 0; i < graph->n_output; i++)
        need(w, needed, graph->output[i]->name);
}

static int is_needed(const ln_hash *needed, const LnOnnx__Node *node)
{
    for (size_t i = 0; i < node->n_output; i++)
        if (*node->output[i] && ln_hash_find(needed, node->output[i]))
            return 1;
    return 0;
}

// From the last node to the first: inputs of a needed node are needed.
static void prune_nodes(ln_onnx_writer *w, ln_hash *needed, ln_onnx_list *nodes)
{
    size_t at = nodes->len;
    for (size_t i = nodes->len; i-- > 0;)
        if (is_needed(needed, nodes->items[i])) {
            need_inputs(w, needed, nodes->items[i]);
            nodes->items[--at] = nodes->items[i];
        }
    if (at) // NULL without nodes
        nodes->items += at;
    nodes->len -= at;
}

static void prune_initializers(const ln_hash *needed, ln_onnx_list *tensors)
{
    size_t len = 0;
    for (size_t i = 0; i < tensors->len; i++)
        if (ln_hash_find(needed, ((LnOnnx__Tensor *)tensors->items[i])->name))
            tensors->items[len++] = tensors->items[i];
    tensors->len = len;
}

void ln_onnx_prune(ln_onnx_writer *w, ln_onnx_level *level)
{
    ln_hash *const needed = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!needed) {
        ln_translation_fail_memory(&w->base);
        return;
    }
    for (size_t i = 0; i < level->outputs.len; i++)
        need(w, needed, ((LnOnnx__ValueInfo *)level->outputs.items[i])->name);
    prune_nodes(w, needed, &level->nodes);
    if (!w->base.failed)
        prune_initializers(needed, &w->initializers);
    ln_hash_free(needed);
}
