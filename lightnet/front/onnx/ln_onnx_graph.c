// SPDX-License-Identifier: Apache-2.0
// Translating graphs: constants (sparse ones become operators that run at load), nodes in their
// order, functions and subgraphs.

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "data/ln_raw.h"
#include "front/onnx/ln_onnx_compound.h"
#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_limits.h"
#include "tensorlight/tl_util.h"

// Constants

// Packed elements stay packed in the constant, and an operator unpacks them to bytes, which others
// may read (ln_onnx_bytes_of).
static const char *emit_unpacked(ln_onnx_scope *scope, const char *bytes, const ln_onnx_packing *p)
{
    const LnOnnx__Node proto = {.op_type = "packed initializer"};
    ln_onnx_node n = ln_onnx_node_init(scope, &proto);
    const char *const elements =
        LN_EMIT(&n.emit, LN_EMIT_TEMP, LN_OP_UNPACK_BITS, LN_ARG("src", bytes),
                LN_DTYPE("dtype", ln_raw_dtype(p->dtype)), LN_INTS("dims", p->ndim, p->dims),
                LN_INT("bits", p->bits));
    const char *const cast = LN_EMIT(&n.emit, LN_EMIT_TEMP, LN_OP_BITCAST, LN_ARG("src", elements),
                                     LN_DTYPE("dtype", p->dtype));
    ln_emit_begin(&n.emit, NULL); // drops the node
    return cast;
}

const char *ln_onnx_add_tensor(ln_onnx_scope *scope, const LnOnnx__Tensor *proto, const char *name)
{
    ln_onnx_model *const m = scope->model;
    ln_onnx_place place;
    ln_onnx_packing packing;
    const char *made = m->base.failed ? NULL : ln_hash_find(m->constants, proto);
    if (made || m->base.failed)
        return made;
    tl_tensor *tensor = ln_onnx_tensor(proto, &m->source, &place, &packing, m->base.ctx->error);
    if (!tensor)
        return ln_translation_fail(&m->base, "a tensor cannot be read"), NULL;
    made = ln_translation_weight(&m->base, tensor, place.file, place.offset, name);
    if (made && packing.bits)
        made = emit_unpacked(scope, made, &packing);
    if (made && ln_hash_insert(m->constants, proto, (void *)made) < 0)
        ln_translation_fail_memory(&m->base);
    return made;
}

// Of several initializers of one name, the last one counts, as in ONNX Runtime.
static void enter_initializer(ln_onnx_scope *scope, const LnOnnx__Tensor *tensor, ln_hash *entered)
{
    const char *name = ln_onnx_text(tensor->name);
    const int is_duplicate = ln_hash_find(entered, name) != NULL;
    // An input that is bound by its name replaces its default.
    if (!is_duplicate && ln_hash_find(scope->names, name))
        return;
    if (is_duplicate)
        ln_onnx_warn_of_duplicates(scope->model, name, "initializers");
    if (ln_hash_insert(entered, name, scope) < 0)
        ln_translation_fail_memory(&scope->model->base);
    ln_onnx_scope_set(scope, name, ln_onnx_add_tensor(scope, tensor, name));
}

static void enter_initializers(ln_onnx_scope *scope, const LnOnnx__Graph *graph)
{
    ln_onnx_model *m = scope->model;
    ln_hash *entered = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!entered)
        ln_translation_fail_memory(&m->base);
    for (size_t i = 0; i < graph->n_initializer && !m->base.failed; i++)
        enter_initializer(scope, graph->initializer[i], entered);
    ln_hash_free(entered);
    for (size_t i = 0; i < graph->n_sparse_initializer && !m->base.failed; i++) {
        const LnOnnx__SparseTensor *sparse = graph->sparse_initializer[i];
        char *name = sparse->values && sparse->values->name ? sparse->values->name : "";
        const LnOnnx__Node proto = {
            .op_type = "sparse initializer", .output = &name, .n_output = 1};
        ln_onnx_node n = ln_onnx_node_init(scope, &proto);
        ln_onnx_sparse(&n, sparse, 0);
        ln_emit_begin(&n.emit, NULL); // drops unfinished operators of a failure
    }
}

// Nodes

static void translate_nodes(ln_onnx_scope *scope, LnOnnx__Node *const *nodes, size_t n_nodes);

static void call_function(ln_onnx_node *n, const LnOnnx__Function *f)
{
    ln_onnx_scope inner;
    if (n->proto->n_input > f->n_input)
        ln_emit_fail(&n->emit, "the call has %zu inputs, expected at most %zu", n->proto->n_input,
                     f->n_input);
    if (n->proto->n_output > f->n_output)
        ln_emit_fail(&n->emit, "the call has %zu outputs, expected at most %zu", n->proto->n_output,
                     f->n_output);
    if (n->model->base.failed || ln_onnx_scope_init(&inner, n->model, NULL))
        return;
    inner.call = n->proto;
    inner.function = f;
    inner.caller = n->scope;
    inner.opsets = (const LnOnnx__OperatorSet *const *)f->opset_import;
    inner.n_opsets = f->n_opset_import;
    for (size_t i = 0; i < f->n_input; i++) {
        const char *const given = ln_onnx_any_optional(n, (int)i);
        if (given)
            ln_onnx_scope_set(&inner, f->input[i], given);
        else
            ln_onnx_scope_set_absent(&inner, f->input[i]);
    }
    translate_nodes(&inner, f->node, f->n_node);
    for (size_t i = 0; i < n->proto->n_output; i++)
        ln_onnx_alias(n, (int)i, ln_onnx_scope_get(&inner, f->output[i]));
    ln_onnx_scope_clear(&inner);
}

// Fails if an input or an initializer has the name of an output (ln_onnx_sort checks other nodes).
// A node Constant may replace an initializer.
static void check_names(ln_onnx_node *n)
{
    for (size_t i = 0; i < n->proto->n_output; i++)
        if (ln_onnx_wants(n, (int)i) && ln_hash_find(n->scope->names, n->proto->output[i]) &&
            !ln_streq(ln_onnx_text(n->proto->op_type), "Constant"))
            ln_emit_fail_as(&n->emit, LN_BAD_MODEL,
                            "'%s' is defined twice, also by an input or an initializer; expected "
                            "one definition of each name",
                            n->proto->output[i]);
}

static void translate_node(ln_onnx_scope *scope, const LnOnnx__Node *proto)
{
    ln_onnx_model *m = scope->model;
    const LnOnnx__Function *function = ln_onnx_find_function(m, proto);
    ln_onnx_node n = ln_onnx_node_init(scope, proto);
    n.emit.version = n.opset = ln_onnx_scope_opset(scope, proto->domain);
    check_names(&n);
    if (function) {
        call_function(&n, function);
    } else {
        n.row = ln_onnx_find_row(proto->domain, proto->op_type, n.opset);
        if (n.row && n.row->translate)
            n.row->translate(&n);
        else
            ln_emit_fail_as(&n.emit, LN_UNSUPPORTED, "the operator is not supported");
        ln_emit_begin(&n.emit, NULL); // drops unfinished operators of a translator
    }
    for (size_t i = 0; i < proto->n_output; i++)
        if (ln_onnx_wants(&n, (int)i) && !ln_hash_find(scope->names, proto->output[i]) &&
            ln_onnx_is_read(&n, (int)i))
            ln_emit_fail_as(&n.emit, LN_UNSUPPORTED, "output %zu, '%s', is not supported", i,
                            proto->output[i]);
}

static void translate_nodes(ln_onnx_scope *scope, LnOnnx__Node *const *nodes, size_t n_nodes)
{
    ln_onnx_model *m = scope->model;
    if (m->depth >= LN_ONNX_MAX_DEPTH) {
        ln_translation_fail(&m->base,
                            "functions and graphs are more than %d deep within each other",
                            LN_ONNX_MAX_DEPTH);
        return;
    }
    const uint64_t max = ln_limits_max(m->base.ctx, LN_LIMIT_OPS);
    m->n_nodes += n_nodes;
    if (max && m->n_nodes > max) { // a loop translates its graph several times
        ln_translation_fail_as(
            &m->base, LN_LIMIT_REACHED,
            "the model unfolds to more nodes than the limit of %" PRIu64 " operators", max);
        return;
    }
    LnOnnx__Node *const *const sorted = ln_onnx_sort(m, nodes, n_nodes);
    m->depth++;
    for (size_t i = 0; i < n_nodes && !m->base.failed; i++) {
        translate_node(scope, sorted[i]);
        ln_translation_check(&m->base);
    }
    m->depth--;
}

void ln_onnx_translate_graph(ln_onnx_scope *scope, const LnOnnx__Graph *graph)
{
    scope->graph = graph;
    enter_initializers(scope, graph);
    translate_nodes(scope, graph->node, graph->n_node);
}

void ln_onnx_inline(ln_onnx_node *n, const LnOnnx__Graph *graph, int n_ins, const char *const *ins,
                    int n_outs, const char **outs)
{
    ln_onnx_scope inner;
    if (n->model->base.failed)
        return;
    if ((size_t)n_ins != graph->n_input || (size_t)n_outs != graph->n_output) {
        ln_emit_fail_as(&n->emit, LN_BAD_MODEL,
                        "its graph has %zu inputs and %zu outputs, expected %d and %d",
                        graph->n_input, graph->n_output, n_ins, n_outs);
        return;
    }
    if (ln_onnx_scope_init(&inner, n->model, n->scope))
        return;
    for (size_t i = 0; i < graph->n_input; i++)
        ln_onnx_scope_set(&inner, graph->input[i]->name ? graph->input[i]->name : "", ins[i]);
    ln_onnx_translate_graph(&inner, graph);
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name ? graph->output[i]->name : "";
        outs[i] = ln_onnx_scope_get(&inner, name);
        if (!outs[i])
            ln_emit_fail_as(&n->emit, LN_BAD_MODEL,
                            "output '%s' of its graph is not produced by any node", name);
    }
    ln_onnx_scope_clear(&inner);
}

static const char *zeros(ln_onnx_node *n, tl_dtype dtype, int ndim, const int *dims)
{
    const char *const zero = ln_emit_scalar(&n->emit, dtype, 0);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_EXPAND, LN_ARG("src", zero),
                   LN_INTS("dims", ndim, dims));
}

// Emits an operator that scatters `values` to positions `index` of `src`.
static const char *put(ln_onnx_node *n, const char *optype, const char *src, const char *index,
                       const char *values, int i)
{
    return LN_EMIT(&n->emit, i, optype, LN_ARG("src", src), LN_ARG("index", index),
                   LN_ARG("update", values),
                   LN_ONLY_IF(ln_streq(optype, LN_OP_PUT_ALONG), LN_INT("axis", 0)));
}

// -1 after a failure.
static int read_dims(ln_onnx_node *n, const LnOnnx__SparseTensor *sparse, int dims[LN_MAXDIM])
{
    if (!sparse->values || !sparse->indices || sparse->n_dims > LN_MAXDIM) {
        ln_emit_fail(&n->emit,
                     "a sparse tensor has no values, no indices, or more than %d dimensions",
                     LN_MAXDIM);
        return -1;
    }
    for (size_t i = 0; i < sparse->n_dims; i++) {
        dims[i] = (int)sparse->dims[i];
        if (sparse->dims[i] != dims[i] || dims[i] < 0)
            ln_emit_fail(&n->emit, "a sparse tensor has a dimension of %lld, expected 0 to %d",
                         (long long)sparse->dims[i], INT_MAX);
    }
    if (!ln_onnx_failed(n) && tl_compute_length((int)sparse->n_dims, dims) < 0)
        ln_emit_fail(&n->emit, "a sparse tensor: %s", tl_last_error());
    return ln_onnx_failed(n) ? -1 : 0;
}

// Indices are rows of coordinates, [n, ndim], or linear, [n].
const char *ln_onnx_sparse(ln_onnx_node *n, const LnOnnx__SparseTensor *sparse, int i)
{
    int dims[LN_MAXDIM];
    if (read_dims(n, sparse, dims))
        return NULL;
    const int ndim = (int)sparse->n_dims, len = tl_compute_length(ndim, dims);
    const char *const values = ln_onnx_add_tensor(n->scope, sparse->values, "sparse_values");
    const char *const index = ln_onnx_add_tensor(n->scope, sparse->indices, "sparse_indices");
    const tl_dtype dtype = ln_onnx_tensor_of(n, values)->dtype;
    if (ln_onnx_tensor_of(n, index)->ndim == 2)
        return put(n, LN_OP_PUT_ND, zeros(n, dtype, ndim, dims), index, values, i);
    const char *const line =
        put(n, LN_OP_PUT_ALONG, zeros(n, dtype, 1, &len), index, values, LN_EMIT_TEMP);
    return ln_emit_reshape(&n->emit, line, ndim, dims, i);
}
