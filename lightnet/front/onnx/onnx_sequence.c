// SPDX-License-Identifier: Apache-2.0
// ONNX operators of sequences. Lengths of sequences, and most positions, are known when a model is
// read, so that only operators on tensors are emitted.

#include <inttypes.h>

#include "data/ln_onnx_tensor.h"
#include "front/onnx/ln_onnx_body.h"
#include "front/onnx/ln_onnx_compound.h"
#include "front/onnx/ln_onnx_model.h"
#include "front/onnx/ln_onnx_steps.h"
#include "ir/ln_limits.h"
#include "tensorlight/tl_type.h"

// Building and taking apart

static void translate_empty(ln_onnx_node *n)
{
    const tl_dtype dtype = ln_attr_dtype(&n->emit, "dtype", TL_FLOAT);
    ln_onnx_alias(n, 0, ln_onnx_sequence(n, dtype, 0, NULL));
}

static void translate_construct(ln_onnx_node *n)
{
    const int len = ln_onnx_num_inputs(n);
    const char **items = ln_onnx_new_names(n, (size_t)len);
    ln_onnx_in(n, 0);
    for (int i = 0; i < len && items; i++)
        items[i] = ln_onnx_in(n, i);
    if (!ln_onnx_failed(n))
        ln_onnx_alias(n, 0, ln_onnx_sequence(n, ln_onnx_tensor_of(n, items[0])->dtype, len, items));
}

static void translate_length(ln_onnx_node *n)
{
    const ln_onnx_compound *seq = ln_onnx_sequence_in(n, 0);
    ln_onnx_alias(n, 0, ln_emit_scalar(&n->emit, TL_INT64, seq ? seq->len : 0));
}

// The position in input `i`, from 0 to `last`, counted from the end if it is negative; `deflt`
// without the input. -1 after a failure.
static int position(ln_onnx_node *n, int i, int len, int last, int deflt)
{
    const int64_t given = ln_onnx_int_in(n, i, deflt);
    const int is_within = given >= -(int64_t)len && given <= last;
    if (last < 0)
        ln_emit_fail(&n->emit, "the sequence is empty");
    else if (!is_within)
        ln_emit_fail(&n->emit,
                     "the position is %" PRId64 " in a sequence of %d tensor%s, expected %d to %d",
                     given, len, len == 1 ? "" : "s", -len, last);
    return ln_onnx_failed(n) ? -1 : (int)(given < 0 ? given + len : given);
}

// Whether the tensors have one fixed shape, and dimensions left for a stack of them.
static int can_be_stacked(ln_onnx_node *n, const ln_onnx_compound *seq)
{
    for (int i = 0; i < seq->len; i++)
        if (ln_onnx_is_dynamic(n, seq->items[i]) ||
            !ln_onnx_same_shapes(n, seq->items[0], seq->items[i]))
            return 0;
    return seq->len && ln_onnx_tensor_of(n, seq->items[0])->ndim < LN_MAXDIM;
}

// Emits SequenceAt for a position known only at run time.
static void take_at(ln_onnx_node *n, const ln_onnx_compound *seq, const char *at)
{
    const char *rows = ln_onnx_stack(n, seq->items, seq->len, seq->items[0], 0);
    ln_onnx_check_single(n, "the position", at);
    LN_EMIT(&n->emit, 0, LN_OP_TAKE, LN_ARG("src", rows), LN_ARG("index", ln_onnx_as_scalar(n, at)),
            LN_INT("axis", 0));
}

static void translate_at(ln_onnx_node *n)
{
    const ln_onnx_compound *seq = ln_onnx_sequence_in(n, 0);
    const char *given = ln_onnx_in(n, 1);
    if (seq && ln_onnx_varies(n, 1) && can_be_stacked(n, seq)) {
        take_at(n, seq, given);
        return;
    }
    const int at = seq ? position(n, 1, seq->len, seq->len - 1, 0) : -1;
    if (at >= 0)
        ln_onnx_alias(n, 0, seq->items[at]);
}

static void translate_insert(ln_onnx_node *n)
{
    const ln_onnx_compound *seq = ln_onnx_sequence_in(n, 0);
    const char *tensor = ln_onnx_in(n, 1);
    const int at = seq ? position(n, 2, seq->len, seq->len, seq->len) : -1;
    if (at >= 0)
        ln_onnx_alias(n, 0, ln_onnx_sequence_with(n, seq, at, 0, tensor));
}

static void translate_erase(ln_onnx_node *n)
{
    const ln_onnx_compound *seq = ln_onnx_sequence_in(n, 0);
    const int at = seq ? position(n, 1, seq->len, seq->len - 1, seq->len - 1) : -1;
    if (at >= 0)
        ln_onnx_alias(n, 0, ln_onnx_sequence_with(n, seq, at, 1, NULL));
}

// Parts of a tensor

static void fail_lens(ln_onnx_node *n, const int64_t *given, int len, int dim)
{
    int64_t sum = 0;
    for (int i = 0; i < len && sum >= 0; i++)
        sum = given[i] < 0 || given[i] > dim ? -1 : sum + given[i];
    if (sum != dim)
        ln_emit_fail(&n->emit,
                     "the lengths of %d parts in input 1 do not add up to %d, the length of the "
                     "axis",
                     len, dim);
}

// The lengths of the parts of an axis of length `dim`, `*len` of them; NULL after a failure.
static int *part_lens(ln_onnx_node *n, int dim, int *len)
{
    int n_given;
    const int64_t *given = ln_onnx_ints_in(n, 1, &n_given);
    const int is_list = given && ln_onnx_tensor_of(n, ln_onnx_in(n, 1))->ndim;
    const int64_t max = given && !is_list ? given[0] : 1;
    if (is_list)
        fail_lens(n, given, n_given, dim);
    if (max < 1)
        ln_emit_fail(&n->emit, "parts of length %" PRId64 ", expected at least 1", max);
    if (ln_onnx_failed(n))
        return NULL;
    const int part = max < dim ? (int)max : dim;
    *len = is_list ? n_given : dim ? (int)(((int64_t)dim + part - 1) / part) : 0;
    const uint64_t limit = ln_limits_max(n->model->base.ctx, LN_LIMIT_OPS);
    if (limit && (uint64_t)*len > limit)
        ln_emit_fail_as(&n->emit, LN_LIMIT_REACHED,
                        "%d parts exceed the limit of %" PRIu64 " operators", *len, limit);
    int *lens = ln_translation_alloc(&n->model->base, ((size_t)*len + 1) * sizeof(*lens));
    for (int i = 0; i < *len && lens; i++)
        lens[i] = is_list ? (int)given[i] : i < *len - 1 ? part : dim - part * (*len - 1);
    return lens;
}

static const char **split(ln_onnx_node *n, const char *src, int axis, int *len)
{
    const int *lens = part_lens(n, ln_onnx_tensor_of(n, src)->dims[axis], len);
    const char **parts = lens ? ln_onnx_new_names(n, (size_t)*len) : NULL;
    if (!parts || *len < 2) {
        if (parts)
            parts[0] = src;
        return parts;
    }
    LN_EMIT_BEGIN(&n->emit, LN_OP_SPLIT, LN_ARG("src", src), LN_INT("axis", axis),
                  LN_INTS("lens", *len, lens));
    ln_onnx_emit_outs(n, "dst", *len, -1, 1, parts);
    return parts;
}

static void translate_split_to_sequence(ln_onnx_node *n)
{
    int len = 0;
    const char *src = ln_onnx_in(n, 0);
    const int keeps = ln_attr_bool(&n->emit, "keepdims", 1) || ln_onnx_has_input(n, 1);
    const int axis = ln_attr_axis(&n->emit, "axis", 0, ln_onnx_tensor_of(n, src)->ndim);
    ln_onnx_want_fixed_axis(n, src, axis);
    if (ln_onnx_failed(n))
        return;
    const char **parts = keeps ? split(n, src, axis, &len) : ln_onnx_unstack(n, src, axis, &len);
    if (!ln_onnx_failed(n))
        ln_onnx_alias(n, 0, ln_onnx_sequence(n, ln_onnx_tensor_of(n, src)->dtype, len, parts));
}

// One tensor of all

static void translate_concat_from_sequence(ln_onnx_node *n)
{
    const ln_onnx_compound *seq = ln_onnx_sequence_in(n, 0);
    const int is_new = ln_attr_bool(&n->emit, "new_axis", 0);
    ln_attr_require(&n->emit, "axis");
    if (seq && !seq->len)
        ln_emit_fail(&n->emit, "the sequence is empty");
    if (ln_onnx_failed(n))
        return;
    const int ndim = ln_onnx_tensor_of(n, seq->items[0])->ndim;
    const int axis = ln_attr_axis(&n->emit, "axis", 0, ndim + is_new);
    if (ln_onnx_failed(n))
        return;
    if (is_new) {
        ln_onnx_alias(n, 0, ln_onnx_stack(n, seq->items, seq->len, seq->items[0], axis));
        return;
    }
    if (seq->len == 1) {
        ln_onnx_alias(n, 0, seq->items[0]);
        return;
    }
    LN_EMIT(&n->emit, 0, LN_OP_JOIN, LN_ARGS("src", seq->len, seq->items), LN_INT("axis", axis));
}

// SequenceMap: unrolled, its graph for each position

typedef struct map {
    const LnOnnx__Graph *body;
    int len;
    const char **given; // the values of the node's inputs
    const char **ins, **outs;
    const char ***results; // the tensors of each output
} map;

static int begin_map(ln_onnx_node *n, map *m)
{
    const ln_onnx_compound *first = ln_onnx_sequence_in(n, 0);
    const int n_ins = ln_onnx_num_inputs(n);
    *m = (map){.body = ln_onnx_required_graph(n, "body"), .len = first ? first->len : 0};
    if (ln_onnx_failed(n))
        return -1;
    if (m->body->n_input != (size_t)n_ins || m->body->n_output < n->proto->n_output)
        ln_emit_fail(&n->emit,
                     "its graph has %zu inputs and %zu outputs, expected %d, and at least %zu",
                     m->body->n_input, m->body->n_output, n_ins, n->proto->n_output);
    m->given = ln_onnx_new_names(n, (size_t)n_ins);
    m->ins = ln_onnx_new_names(n, (size_t)n_ins);
    m->outs = ln_onnx_new_names(n, m->body->n_output);
    m->results =
        ln_translation_alloc(&n->model->base, (m->body->n_output + 1) * sizeof(*m->results));
    for (size_t k = 0; k < m->body->n_output && m->results; k++)
        m->results[k] = ln_onnx_new_names(n, (size_t)m->len);
    for (int k = 0; k < n_ins && !ln_onnx_failed(n); k++) {
        m->given[k] = ln_onnx_any_in(n, k);
        const ln_onnx_compound *seq =
            m->given[k] ? ln_onnx_compound_of(n->model, m->given[k]) : NULL;
        if (seq && (seq->is_optional || seq->len != m->len))
            ln_emit_fail(&n->emit,
                         "input %d is %s, expected a tensor, or a sequence of %d tensors as input "
                         "0",
                         k, ln_onnx_value_text(n->model, m->given[k]), m->len);
    }
    return ln_onnx_failed(n) ? -1 : 0;
}

static void map_at(ln_onnx_node *n, const map *m, int i)
{
    const int n_ins = (int)m->body->n_input, n_outs = (int)m->body->n_output;
    for (int k = 0; k < n_ins; k++) {
        const ln_onnx_compound *seq = ln_onnx_compound_of(n->model, m->given[k]);
        m->ins[k] = seq ? seq->items[i] : m->given[k];
    }
    ln_onnx_inline(n, m->body, n_ins, m->ins, n_outs, m->outs);
    for (int k = 0; k < n_outs && !ln_onnx_failed(n); k++) {
        ln_onnx_want_tensor(n, "an output of its graph", m->outs[k]);
        m->results[k][i] = m->outs[k];
    }
}

// The type of the tensors of output `k`; if it is empty, as the graph declares, or else TL_FLOAT.
static tl_dtype type_of(ln_onnx_node *n, const map *m, int k)
{
    const LnOnnx__Type *type = m->body->output[k]->type;
    const LnOnnx__TensorType *tensor = type ? type->tensor_type : NULL;
    const tl_dtype dtype = tensor ? ln_onnx_dtype(tensor->elem_type) : TL_DTYPE_INVALID;
    return m->len                      ? ln_onnx_tensor_of(n, m->results[k][0])->dtype
           : dtype == TL_DTYPE_INVALID ? TL_FLOAT
                                       : dtype;
}

static void translate_map(ln_onnx_node *n)
{
    map m;
    if (begin_map(n, &m))
        return;
    const int before = ln_hash_size(n->model->base.ctx->op_table);
    for (int i = 0; i < m.len && !ln_onnx_failed(n); i++) {
        map_at(n, &m, i);
        if (ln_hash_size(n->model->base.ctx->op_table) - before > LN_ONNX_MAX_UNROLLED)
            ln_emit_fail_as(&n->emit, LN_LIMIT_REACHED,
                            "%d of %d elements already need more than %d operators", i + 1, m.len,
                            (int)LN_ONNX_MAX_UNROLLED);
    }
    for (int k = 0; k < (int)n->proto->n_output && !ln_onnx_failed(n); k++)
        ln_onnx_alias(n, k, ln_onnx_sequence(n, type_of(n, &m, k), m.len, m.results[k]));
}

const ln_onnx_row ln_onnx_rows_sequence[] = {
    {"ConcatFromSequence", 11, translate_concat_from_sequence},
    {"SequenceAt", 11, translate_at},
    {"SequenceConstruct", 11, translate_construct},
    {"SequenceEmpty", 11, translate_empty},
    {"SequenceErase", 11, translate_erase},
    {"SequenceInsert", 11, translate_insert},
    {"SequenceLength", 11, translate_length},
    {"SequenceMap", 17, translate_map},
    {"SplitToSequence", 11, translate_split_to_sequence},
    {NULL},
};
