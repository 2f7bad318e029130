// SPDX-License-Identifier: Apache-2.0
// ONNX Attention, as one operator, or if its scores are an output or capped, as matrix
// multiplications and softmax; FlexAttention, always as these; and RotaryEmbedding.
//
// Layouts: queries [B, Hq, S, D], keys [B, Hk, T, D], values [B, Hk, T, E]. Query heads that share
// a key head (grouped-query attention) are rows of one matrix, [B, Hk, Hq / Hk * S, D].
//
// Masked positions get a bias of -infinity. All conditions are collected as bools, whose
// logarithms are the biases: log(1) = 0, log(0) = -infinity. Source: ONNX Attention-25,
// RotaryEmbedding-23, FlexAttention-1 (preview).

#include <inttypes.h>
#include <limits.h>
#include <math.h>

#include "front/onnx/ln_onnx_attention.h"
#include "front/onnx/ln_onnx_steps.h"

// Steps

const char *ln_onnx_join(ln_onnx_node *n, const char *first, const char *second, int axis, int i)
{
    return LN_EMIT(&n->emit, i, LN_OP_JOIN, LN_ARG_AT("src", 0, first), LN_ARG_AT("src", 1, second),
                   LN_INT("axis", axis));
}

// Indices start, start + step, .. before `end` along the last axis of `src`.
static const char *emit_strided_slice(ln_onnx_node *n, const char *src, int start, int end,
                                      int step)
{
    const int axis = ln_onnx_tensor_of(n, src)->ndim - 1;
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_STRIDE_SLICE, LN_ARG("src", src),
                   LN_INTS("axes", 1, &axis), LN_INTS("starts", 1, &start),
                   LN_INTS("ends", 1, &end), LN_INTS("steps", 1, &step));
}

int ln_onnx_heads_of(ln_onnx_node *n, const char *name, const char *src)
{
    const int64_t heads = ln_attr_int(&n->emit, name, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    if (t->ndim == 3 && heads > 0 && heads <= INT_MAX && t->dims[2] % heads == 0)
        return (int)heads;
    ln_emit_fail(&n->emit, "attribute '%s' is %" PRId64 ", expected a divisor of the last axis, %d",
                 name, heads, t->ndim ? t->dims[t->ndim - 1] : 1);
    return 1;
}

const char *ln_onnx_split_heads(ln_onnx_node *n, const char *src, int heads)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    if (t->ndim != 3)
        return src;
    const int width = t->dims[2] / heads;
    const ln_dim dims[] = {ln_onnx_axis_size(n, src, 0), ln_onnx_axis_size(n, src, 1),
                           ln_dim_constant(heads), ln_dim_constant(width)};
    return ln_emit_reshape_dims(&n->emit, src, 4, dims, LN_EMIT_TEMP);
}

const char *ln_onnx_swap_heads(ln_onnx_node *n, const char *src)
{
    static const int swapped[] = {0, 2, 1, 3};
    return ln_emit_transpose(&n->emit, src, swapped, LN_EMIT_TEMP);
}

const char *ln_onnx_merge_heads(ln_onnx_node *n, const char *src, int i)
{
    const char *const swapped = ln_onnx_swap_heads(n, src);
    const tl_tensor *const t = ln_onnx_tensor_of(n, swapped);
    if (ln_onnx_failed(n))
        return swapped;
    const int64_t width = (int64_t)t->dims[2] * t->dims[3];
    if (width > INT_MAX)
        ln_emit_fail(&n->emit, "a result of %lld columns, expected at most %d", (long long)width,
                     INT_MAX);
    const ln_dim dims[] = {ln_onnx_axis_size(n, swapped, 0), ln_onnx_axis_size(n, swapped, 1),
                           ln_dim_constant(width)};
    return ln_emit_reshape_dims(&n->emit, swapped, 3, dims, i);
}

// Input `i` as [B, H, S, D]: of this shape, or [B, S, H * D] with the number of heads in `name`.
static const char *heads_second(ln_onnx_node *n, int i, const char *name)
{
    const char *const src = ln_onnx_in(n, i);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim;
    if (ndim == 4)
        return src;
    if (ndim != 3)
        ln_emit_fail(&n->emit, "input %d has %d dimensions, expected 3 or 4", i, ndim);
    return ln_onnx_swap_heads(n, ln_onnx_split_heads(n, src, ln_onnx_heads_of(n, name, src)));
}

// Attention

void ln_onnx_measure_attention(ln_onnx_node *n, ln_onnx_attention *a)
{
    const tl_tensor *const q = ln_onnx_tensor_of(n, a->query);
    const tl_tensor *const k = ln_onnx_tensor_of(n, a->key);
    if (ln_onnx_failed(n) || q->ndim != 4 || k->ndim != 4)
        return;
    a->dtype = q->dtype;
    a->q_heads = q->dims[1];
    a->kv_heads = k->dims[1];
    a->batch = ln_onnx_axis_size(n, a->query, 0);
    a->q_len = ln_onnx_axis_size(n, a->query, 2);
    a->kv_len = ln_onnx_axis_size(n, a->key, 2);
    if (a->kv_heads == 0 || a->q_heads % a->kv_heads != 0)
        ln_emit_fail(&n->emit, "'Q' has %d heads, expected a multiple of %d, the heads of 'K'",
                     a->q_heads, a->kv_heads);
}

const char *ln_onnx_with_past(ln_onnx_node *n, const char *past, const char *now, int i)
{
    if (past)
        return ln_onnx_join(n, past, now, 2, ln_onnx_wants(n, i) ? i : LN_EMIT_TEMP);
    ln_onnx_alias(n, i, now);
    return now;
}

static void read_attention(ln_onnx_node *n, ln_onnx_attention *a)
{
    a->query = heads_second(n, 0, "q_num_heads");
    a->key = heads_second(n, 1, "kv_num_heads");
    a->value = heads_second(n, 2, "kv_num_heads");
    a->key = ln_onnx_with_past(n, ln_onnx_optional(n, 4), a->key, 1);
    a->value = ln_onnx_with_past(n, ln_onnx_optional(n, 5), a->value, 2);
    ln_onnx_measure_attention(n, a);
}

// The indices 0 .. len-1 as a constant.
static const char *constant_indices(ln_onnx_node *n, int len, int is_column)
{
    if (!ln_emit_allows(&n->emit, (size_t)len, sizeof(int64_t)))
        return NULL;
    int64_t *const indices = tl_alloc((size_t)len * sizeof(*indices));
    const int dims[] = {len, 1};
    if (!indices)
        return ln_emit_fail_memory(&n->emit), NULL;
    for (int i = 0; i < len; i++)
        indices[i] = i;
    const char *const name = ln_emit_constant(&n->emit, TL_INT64, is_column ? 2 : 1, dims, indices);
    tl_free(indices);
    return name;
}

const char *ln_onnx_indices(ln_onnx_node *n, const ln_dim *len, int is_column)
{
    static const int start = 0, step = 1, axis = 0;
    int max = 0;
    const int n_open = ln_emit_max_dims(&n->emit, 1, len, &max);
    const char *const indices = n_open < 0 ? NULL : constant_indices(n, max, is_column);
    if (n_open <= 0)
        return indices;
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_STRIDE_SLICE, LN_ARG("src", indices),
                   LN_ARG("ends_now", ln_emit_length(&n->emit, len)), LN_INTS("axes", 1, &axis),
                   LN_INTS("starts", 1, &start), LN_INTS("ends", 1, &max),
                   LN_INTS("steps", 1, &step));
}

static const char *emit_and(ln_onnx_node *n, const char *a, const char *b)
{
    return a && b ? ln_emit_binary(&n->emit, "TL_BINARY_AND", a, b, LN_EMIT_TEMP) : a ? a : b;
}

const char *ln_onnx_in_window(ln_onnx_node *n, const char *keys, const char *positions,
                              const ln_onnx_window *window)
{
    const char *not_before = NULL, *not_after = NULL;
    if (window->left < LN_ONNX_UNBOUNDED) {
        const char *const left = ln_emit_scalar(&n->emit, TL_INT64, -(double)window->left);
        not_before = ln_emit_compare(&n->emit, "TL_COMPARE_GREATER_EQUAL", keys,
                                     window->left ? ln_onnx_add(n, positions, left) : positions);
    }
    if (window->right < LN_ONNX_UNBOUNDED) {
        const char *const right = ln_emit_scalar(&n->emit, TL_INT64, window->right);
        not_after = ln_emit_compare(&n->emit, "TL_COMPARE_LESS_EQUAL", keys,
                                    window->right ? ln_onnx_add(n, positions, right) : positions);
    }
    return emit_and(n, not_after, not_before);
}

// The attribute, a number of keys; -1: all.
static int read_window_size(ln_onnx_node *n, const char *name)
{
    const int size = ln_attr_int_in(&n->emit, name, -1, -1, LN_ONNX_UNBOUNDED);
    return size < 0 ? LN_ONNX_UNBOUNDED : size;
}

// The positions of the queries among the keys: after the past, if any; with `lens` [B, 1, 1, 1]
// (nonpad_kv_seqlen), at the end of each sequence; otherwise from 0 on.
static const char *positions_of(ln_onnx_node *n, const ln_onnx_attention *a, const char *lens)
{
    const char *const past = ln_onnx_optional(n, 4);
    const char *const rows = ln_onnx_indices(n, &a->q_len, 1);
    const ln_dim past_len = past ? ln_onnx_axis_size(n, past, 2) : ln_dim_constant(0);
    if (past && !(lens && ln_dim_is(&past_len, 0)))
        return ln_onnx_add(n, rows, ln_emit_length(&n->emit, &past_len));
    if (!lens)
        return rows;
    const char *const len = ln_emit_length(&n->emit, &a->q_len);
    const char *const first = ln_emit_binary(&n->emit, "TL_BINARY_SUB", lens, len, LN_EMIT_TEMP);
    return ln_onnx_add(n, rows, first);
}

// True where key j is before the end of its sequence (nonpad_kv_seqlen) and in the window of query
// i, which is_causal ends at the query. NULL: always.
static const char *allowed_by_position(ln_onnx_node *n, const ln_onnx_attention *a)
{
    static const int axes[] = {1, 2, 3};
    ln_onnx_window window = {read_window_size(n, "left_window_size"),
                             read_window_size(n, "right_window_size")};
    const char *lens = ln_onnx_optional(n, 6);
    if (ln_attr_bool(&n->emit, "is_causal", 0))
        window.right = 0;
    const int is_bounded = window.left < LN_ONNX_UNBOUNDED || window.right < LN_ONNX_UNBOUNDED;
    if (!is_bounded && !lens)
        return NULL;
    const char *const keys = ln_onnx_indices(n, &a->kv_len, 0);
    if (lens)
        lens = ln_onnx_with_axes(n, lens, 3, axes);
    const char *const in_window =
        is_bounded ? ln_onnx_in_window(n, keys, positions_of(n, a, lens), &window) : NULL;
    return emit_and(n, in_window,
                    lens ? ln_emit_compare(&n->emit, "TL_COMPARE_LESS", keys, lens) : NULL);
}

const char *ln_onnx_bias_of(ln_onnx_node *n, const char *allowed, tl_dtype dtype)
{
    const char *const numbers = ln_emit_cast(&n->emit, allowed, dtype, LN_EMIT_TEMP);
    return ln_emit_unary(&n->emit, "TL_UNARY_LOG", numbers, LN_EMIT_TEMP);
}

// Extends `mask` to the number of keys, with false or -infinity: further keys are masked.
static const char *complete_mask(ln_onnx_node *n, const ln_onnx_attention *a, const char *mask)
{
    const int last = ln_onnx_tensor_of(n, mask)->ndim - 1;
    const tl_dtype dtype = ln_onnx_tensor_of(n, mask)->dtype;
    ln_dim dims[TL_MAXDIM];
    ln_emit_dims(&n->emit, mask, dims);
    if (last < 0 || ln_dim_is(&dims[last], 1) || !ln_dim_is_constant(&dims[last]) ||
        !ln_dim_is_constant(&a->kv_len) || dims[last].constant >= a->kv_len.constant)
        return mask;
    dims[last] = ln_dim_constant(a->kv_len.constant - dims[last].constant);
    const char *const rest =
        ln_emit_filled_dims(&n->emit, dtype, last + 1, dims, dtype == TL_BOOL ? 0 : -HUGE_VAL);
    return ln_onnx_join(n, mask, rest, last, LN_EMIT_TEMP);
}

// The bias of the scores; NULL: none.
static const char *emit_bias(ln_onnx_node *n, const ln_onnx_attention *a)
{
    const char *mask = ln_onnx_optional(n, 3);
    const char *allowed = allowed_by_position(n, a);
    if (ln_onnx_tensor_of(n, mask)->ndim > 4)
        ln_emit_fail(&n->emit, "input 3, 'attn_mask', has %d dimensions, expected at most 4",
                     ln_onnx_tensor_of(n, mask)->ndim);
    if (mask)
        mask = complete_mask(n, a, mask);
    if (mask && ln_onnx_tensor_of(n, mask)->dtype == TL_BOOL) {
        allowed = emit_and(n, mask, allowed);
        mask = NULL;
    }
    if (allowed)
        allowed = ln_onnx_bias_of(n, allowed, a->dtype);
    if (mask)
        mask = ln_emit_cast(&n->emit, mask, a->dtype, LN_EMIT_TEMP);
    return ln_onnx_add(n, mask, allowed);
}

// `src` [B, Hq, S, ..] as [B, Hk, Hq / Hk * S, ..] times `matrix` [B, Hk, ..], or its transpose,
// as [B, Hq, S, ..].
static const char *multiply_heads(ln_onnx_node *n, const ln_onnx_attention *a, const char *src,
                                  const char *matrix, int is_transposed, double factor)
{
    const int is_grouped = a->q_heads != a->kv_heads;
    const ln_dim each = ln_dim_constant(a->q_heads / a->kv_heads);
    const ln_dim heads = ln_dim_constant(a->kv_heads), q_heads = ln_dim_constant(a->q_heads);
    const ln_dim dims[] = {a->batch, heads, ln_dim_mul(ln_emit_symbols(&n->emit), &each, &a->q_len),
                           ln_onnx_axis_size(n, src, 3)};
    if (is_grouped)
        src = ln_emit_reshape_dims(&n->emit, src, 4, dims, LN_EMIT_TEMP);
    const char *const product =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL, LN_ARG("src1", src), LN_ARG("src2", matrix),
                LN_BOOL("trans2", is_transposed), LN_NUMBER("alpha", factor));
    if (!is_grouped || ln_onnx_failed(n))
        return product;
    const ln_dim out[] = {a->batch, q_heads, a->q_len, ln_onnx_axis_size(n, product, 3)};
    return ln_emit_reshape_dims(&n->emit, product, 4, out, LN_EMIT_TEMP);
}

// softcap * tanh(x / softcap).
static const char *emit_softcap(ln_onnx_node *n, const ln_onnx_attention *a, const char *scores)
{
    const char *const cap = ln_emit_scalar(&n->emit, a->dtype, a->softcap);
    return ln_emit_formula(&n->emit, "tanh(x / a) * a", scores, cap, NULL, LN_EMIT_TEMP);
}

// Softmax of each row with the sink of its head appended, whose probability is dropped.
static const char *emit_with_sink(ln_onnx_node *n, const ln_onnx_attention *a, const char *scores)
{
    const int by_head[] = {1, a->q_heads, 1, 1};
    const ln_dim dims[] = {a->batch, ln_dim_constant(a->q_heads), a->q_len, ln_dim_constant(1)};
    const char *const sink =
        ln_emit_expand_dims(&n->emit, ln_emit_reshape(&n->emit, a->sink, 4, by_head, LN_EMIT_TEMP),
                            4, dims, LN_EMIT_TEMP);
    const char *const all =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SOFTMAX,
                LN_ARG("src", ln_onnx_join(n, scores, sink, 3, LN_EMIT_TEMP)), LN_INT("axis", 3));
    return emit_strided_slice(n, all, 0, -1, 1);
}

// Softmax of the rows; 0 for rows that the bias masks completely.
static const char *emit_probabilities(ln_onnx_node *n, const ln_onnx_attention *a,
                                      const char *scores)
{
    if (a->sink)
        return emit_with_sink(n, a, scores);
    const char *const probabilities =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SOFTMAX, LN_ARG("src", scores), LN_INT("axis", 3));
    if (!a->bias)
        return probabilities;
    const int last = ln_onnx_tensor_of(n, a->bias)->ndim - 1;
    const char *const best =
        ln_emit_reduce(&n->emit, "TL_REDUCE_MAX", a->bias, last >= 0, &last, 1, LN_EMIT_TEMP);
    const char *const lowest = ln_emit_scalar(&n->emit, a->dtype, tl_dtype_min_double(a->dtype));
    const char *const is_empty = ln_emit_compare(&n->emit, "TL_COMPARE_LESS", best, lowest);
    const char *const zero = ln_emit_scalar(&n->emit, a->dtype, 0);
    return ln_emit_where(&n->emit, is_empty, zero, probabilities, LN_EMIT_TEMP);
}

// Emits the stages of the scores, one of which may be an output, and the product with the values.
static const char *emit_stages(ln_onnx_node *n, const ln_onnx_attention *a)
{
    const char *stages[4];
    stages[LN_ONNX_SCORES] = multiply_heads(n, a, a->query, a->key, 1, a->scale);
    stages[LN_ONNX_CAPPED] =
        a->softcap > 0 ? emit_softcap(n, a, stages[LN_ONNX_SCORES]) : stages[LN_ONNX_SCORES];
    stages[LN_ONNX_BIASED] = a->bias ? ln_emit_binary(&n->emit, "TL_BINARY_ADD",
                                                      stages[LN_ONNX_CAPPED], a->bias, LN_EMIT_TEMP)
                                     : stages[LN_ONNX_CAPPED];
    stages[LN_ONNX_PROBABILITIES] = emit_probabilities(n, a, stages[LN_ONNX_BIASED]);
    if (a->stage >= 0)
        ln_onnx_alias(n, a->stage_output, stages[a->stage]);
    return multiply_heads(n, a, stages[LN_ONNX_PROBABILITIES], a->value, 0, 1);
}

const char *ln_onnx_emit_attention(ln_onnx_node *n, const ln_onnx_attention *a)
{
    if (a->softcap > 0 || a->stage >= 0 || a->sink)
        return emit_stages(n, a);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_ATTENTION, LN_ARG("q", a->query),
                   LN_ARG("k", a->key), LN_ARG("v", a->value), LN_ARG("mask", a->bias),
                   LN_NUMBER("scale", a->scale), LN_BOOL("zero_empty", a->bias != NULL));
}

static void translate_attention(ln_onnx_node *n)
{
    ln_onnx_attention a = {.kv_heads = 1, .stage = -1, .stage_output = 3};
    read_attention(n, &a);
    if (ln_onnx_failed(n))
        return;
    const tl_tensor *const q = ln_onnx_tensor_of(n, a.query);
    a.scale = ln_attr_number(&n->emit, "scale", 1 / sqrt(q->dims[3] ? q->dims[3] : 1));
    a.softcap = ln_attr_number(&n->emit, "softcap", 0);
    a.bias = emit_bias(n, &a);
    if (ln_onnx_wants(n, 3)) // a choice of qk_matmul_output_mode
        a.stage = ln_attr_int_in(&n->emit, "qk_matmul_output_mode", 0, 0, 3);
    const char *const dst = ln_onnx_emit_attention(n, &a);
    if (ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->ndim == 4)
        ln_onnx_alias(n, 0, dst);
    else
        ln_onnx_merge_heads(n, dst, 0);
}

// Shared with com.microsoft

int ln_onnx_read_heads(ln_onnx_node *n, const char *name)
{
    ln_attr_require(&n->emit, name);
    return ln_attr_int_in(&n->emit, name, 1, 1, INT_MAX / 4);
}

double ln_onnx_read_scale(ln_onnx_node *n, int size)
{
    const double given = ln_attr_number(&n->emit, "scale", 0);
    return given != 0 ? given : 1 / sqrt(size ? size : 1);
}

const char *ln_onnx_read_score_bias(ln_onnx_node *n, const ln_onnx_attention *a, int i)
{
    const char *const bias = ln_onnx_optional(n, i);
    const tl_tensor *const t = ln_onnx_tensor_of(n, bias);
    if (!bias || ln_onnx_failed(n))
        return NULL;
    ln_dim own[LN_MAXDIM], dims[] = {a->batch, ln_dim_constant(a->q_heads), a->q_len, a->kv_len};
    ln_emit_dims(&n->emit, bias, own);
    for (int k = 0; k < 2 && t->ndim == 4; k++)
        if (ln_dim_is(&own[k], 1))
            dims[k] = own[k];
    ln_onnx_want_dims(n, i, "attention_bias", 4, dims);
    return ln_emit_cast(&n->emit, bias, a->dtype, LN_EMIT_TEMP);
}

// Attention with functions of the scores and of the probabilities

// Applies the graph in attribute `name`, which keeps shape and type, to `src`; unchanged without
// it.
static const char *apply_graph(ln_onnx_node *n, const char *name, const char *src)
{
    const LnOnnx__Graph *const graph = ln_onnx_graph(n, name);
    const char *dst = NULL;
    char text[TL_SHAPE_TEXT_SIZE], wanted[TL_SHAPE_TEXT_SIZE];
    if (!graph)
        return src;
    ln_onnx_inline(n, graph, 1, &src, 1, &dst);
    const tl_tensor *const s = ln_onnx_tensor_of(n, src), *const d = ln_onnx_tensor_of(n, dst);
    if (!ln_onnx_failed(n) && (s->dtype != d->dtype || !tl_tensor_issameshape(s, d)))
        ln_emit_fail(&n->emit, "graph '%s' returns %s %s, expected %s %s as its input", name,
                     tl_dtype_name(d->dtype), tl_shape_text(text, d->ndim, d->dims),
                     tl_dtype_name(s->dtype), tl_shape_text(wanted, s->ndim, s->dims));
    return dst;
}

// The type of scores and probabilities.
static tl_dtype softmax_dtype(ln_onnx_node *n, tl_dtype dtype)
{
    const tl_dtype deflt = dtype == TL_DOUBLE ? TL_DOUBLE : TL_FLOAT;
    const tl_dtype found = ln_attr_dtype(&n->emit, "softmax_precision", deflt);
    if (!tl_dtype_is_float(found))
        ln_emit_fail(&n->emit, "attribute 'softmax_precision' is %s, expected a float type",
                     tl_dtype_name(found));
    return found;
}

static void translate_flex_attention(ln_onnx_node *n)
{
    ln_onnx_attention a = {.kv_heads = 1};
    read_attention(n, &a);
    const tl_dtype dtype = softmax_dtype(n, a.dtype);
    if (ln_onnx_failed(n))
        return;
    const int width = ln_onnx_tensor_of(n, a.query)->dims[3];
    const double scale = ln_attr_number(&n->emit, "scale", 1 / sqrt(width ? width : 1));
    const char *x = multiply_heads(n, &a, ln_emit_cast(&n->emit, a.query, dtype, LN_EMIT_TEMP),
                                   ln_emit_cast(&n->emit, a.key, dtype, LN_EMIT_TEMP), 1, scale);
    x = apply_graph(n, "score_mod", x);
    x = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SOFTMAX, LN_ARG("src", x), LN_INT("axis", 3));
    x = apply_graph(n, "prob_mod", x);
    x = multiply_heads(n, &a, x, ln_emit_cast(&n->emit, a.value, dtype, LN_EMIT_TEMP), 0, 1);
    ln_emit_cast(&n->emit, x, a.dtype, 0);
}

const ln_onnx_row ln_onnx_rows_preview[] = {
    {"FlexAttention", 1, translate_flex_attention},
    {NULL},
};

// Rotary embedding

// The rows of a cos or sin cache at the positions, [B, S, D / 2], with axis `axis` for the heads.
static const char *angles_of(ln_onnx_node *n, int input, int axis)
{
    const char *cache = ln_onnx_in(n, input);
    const char *const positions = ln_onnx_optional(n, 3);
    if (positions) {
        cache = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_TAKE, LN_ARG("src", cache),
                        LN_ARG("index", positions), LN_INT("axis", 0));
    }
    const int ndim = ln_onnx_tensor_of(n, cache)->ndim;
    if (ndim == 3)
        return ln_onnx_with_axes(n, cache, 1, &axis);
    ln_emit_fail(&n->emit, "input %d has %d dimensions for the positions, expected 3", input, ndim);
    return cache;
}

static const char *rotate_all(ln_onnx_node *n, const char *src, const char *cosines,
                              const char *sines, int is_paired)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_ROTATE, LN_ARG("src", src),
                   LN_ARG("cosines", cosines), LN_ARG("sines", sines),
                   LN_BOOL("interleaved", is_paired));
}

const char *ln_onnx_rotate(ln_onnx_node *n, const char *src, const char *cosines, const char *sines,
                           int rotated, int is_paired)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int size = t->ndim == 4 ? t->dims[3] : rotated;
    if (rotated >= size)
        return rotate_all(n, src, cosines, sines, is_paired);
    const char *const rest = emit_strided_slice(n, src, rotated, size, 1);
    const char *const x =
        rotate_all(n, emit_strided_slice(n, src, 0, rotated, 1), cosines, sines, is_paired);
    return ln_onnx_join(n, x, rest, 3, LN_EMIT_TEMP);
}

// The number of elements of a head, of `size`, that are rotated.
static int rotated_size(ln_onnx_node *n, int size)
{
    const int64_t given = ln_attr_int(&n->emit, "rotary_embedding_dim", 0);
    const int64_t rotated = given ? given : size;
    if (rotated >= 0 && rotated <= size && rotated % 2 == 0)
        return (int)rotated;
    ln_emit_fail(&n->emit,
                 "%" PRId64 " elements of a head are rotated, expected an even number up to %d",
                 rotated, size);
    return 0;
}

static void translate_rotary(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int is_flat = t->ndim == 3; // [B, S, H * D], otherwise [B, H, S, D]
    const char *x =
        is_flat ? ln_onnx_split_heads(n, src, ln_onnx_heads_of(n, "num_heads", src)) : src;
    if (!is_flat && t->ndim != 4)
        ln_emit_fail(&n->emit, "input 0 has %d dimensions, expected 3 or 4", t->ndim);
    if (ln_onnx_failed(n))
        return;
    ln_dim dims[LN_MAXDIM];
    ln_emit_dims(&n->emit, src, dims);
    const int rotated = rotated_size(n, ln_onnx_tensor_of(n, x)->dims[3]);
    const char *const cosines = angles_of(n, 1, is_flat ? 2 : 1);
    const char *const sines = angles_of(n, 2, is_flat ? 2 : 1);
    x = ln_onnx_rotate(n, x, cosines, sines, rotated, ln_attr_bool(&n->emit, "interleaved", 0));
    if (is_flat)
        ln_emit_reshape_dims(&n->emit, x, 3, dims, 0);
    else
        ln_onnx_alias(n, 0, x);
}

const ln_onnx_row ln_onnx_rows_attention[] = {
    {"Attention", 23, translate_attention},
    {"RotaryEmbedding", 23, translate_rotary},
    {NULL},
};
