// SPDX-License-Identifier: Apache-2.0
// GroupQueryAttention of com.microsoft, with its cache; and RotaryEmbedding, which it can contain.
//
// Source: ContribOperators.md of ONNX Runtime.

#include <limits.h>

#include "front/onnx/ln_onnx_attention.h"
#include "front/onnx/ln_onnx_steps.h"

// Rotary embedding

// Rows of the cos or sin cache [M, half] at positions [B or 1, S], with an axis of length 1 for the
// heads: [.., S, 1, half], or with heads_axis 1, [.., 1, S, half].
static const char *angles_at(ln_onnx_node *n, int input, int half, const char *positions,
                             int heads_axis)
{
    const char *const cache = ln_onnx_in(n, input);
    const tl_tensor *const t = ln_onnx_tensor_of(n, cache);
    if (!ln_onnx_failed(n) && (t->ndim != 2 || t->dims[1] != half)) {
        char text[TL_SHAPE_TEXT_SIZE];
        ln_emit_fail(&n->emit, "input %d, a cache, has shape %s, expected [.., %d]", input,
                     tl_shape_text(text, t->ndim, t->dims), half);
    }
    const char *const rows = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_TAKE, LN_ARG("src", cache),
                                     LN_ARG("index", positions), LN_INT("axis", 0));
    return ln_onnx_with_axes(n, rows, 1, &heads_axis);
}

// The positions first, first + 1, .. of each sequence, [B or 1, len]; `first`: [1, 1] or [B, 1].
static const char *positions_from(ln_onnx_node *n, const char *first, const ln_dim *len)
{
    const ln_dim dims[] = {ln_dim_constant(1), *len};
    const char *const steps =
        ln_emit_reshape_dims(&n->emit, ln_onnx_indices(n, len, 0), 2, dims, LN_EMIT_TEMP);
    return ln_onnx_add(n, steps, first);
}

// Input 1, position_ids: the first position of all sequences, [1], or all positions, [B, S].
static const char *read_positions(ln_onnx_node *n, const ln_dim *batch, const ln_dim *len)
{
    const char *const given = ln_onnx_in(n, 1);
    const tl_tensor *const t = ln_onnx_tensor_of(n, given);
    if (t->ndim == 1 && t->len == 1) {
        const char *const first = ln_emit_reshape(&n->emit, given, 2, (int[]){1, 1}, LN_EMIT_TEMP);
        return positions_from(n, ln_emit_cast(&n->emit, first, TL_INT64, LN_EMIT_TEMP), len);
    }
    ln_onnx_want_dims(n, 1, "position_ids", 2, (ln_dim[]){*batch, *len});
    return given;
}

// The number of heads of [B, S, width]: attribute num_heads, or width / the head size of the cache.
static int rotary_heads(ln_onnx_node *n, int width)
{
    const tl_tensor *const cache = ln_onnx_tensor_of(n, ln_onnx_in(n, 2));
    const int given = ln_attr_int_in(&n->emit, "num_heads", 0, 0, INT_MAX);
    const int size = cache->ndim == 2 && cache->dims[1] <= INT_MAX / 2 ? 2 * cache->dims[1] : 0;
    const int heads = given ? given : size ? width / size : 1;
    if (heads > 0 && width % heads == 0)
        return heads;
    ln_emit_fail(&n->emit, "%d heads, expected a divisor of the last axis, %d", heads, width);
    return 1;
}

static void translate_rotary(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const int is_flat = t->ndim == 3; // [B, S, H * D], otherwise [B, H, S, D]
    if (!is_flat && t->ndim != 4)
        ln_emit_fail(&n->emit, "input 0 has %d dimensions, expected 3 or 4", t->ndim);
    ln_onnx_refuse_attr(n, "is_packed_batching", 0);
    if (ln_attr_number(&n->emit, "scale", 1) != 1)
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED, "attribute 'scale' is %g, expected 1",
                        ln_attr_number(&n->emit, "scale", 1));
    if (ln_onnx_failed(n))
        return;
    ln_dim dims[LN_MAXDIM];
    ln_emit_dims(&n->emit, src, dims);
    const char *const x = is_flat ? ln_onnx_split_heads(n, src, rotary_heads(n, t->dims[2])) : src;
    const int size = ln_onnx_failed(n) ? 1 : ln_onnx_tensor_of(n, x)->dims[3];
    const int given = ln_attr_int_in(&n->emit, "rotary_embedding_dim", 0, 0, size);
    const int rotated = given ? given : size;
    if (rotated % 2 != 0)
        ln_emit_fail(&n->emit, "%d elements of a head are rotated, expected an even number",
                     rotated);
    const char *const positions = read_positions(n, &dims[0], &dims[is_flat ? 1 : 2]);
    const int heads_axis = is_flat ? 2 : 1;
    const char *const cosines = angles_at(n, 2, rotated / 2, positions, heads_axis);
    const char *const sines = angles_at(n, 3, rotated / 2, positions, heads_axis);
    const char *const y =
        ln_onnx_rotate(n, x, cosines, sines, rotated, ln_attr_bool(&n->emit, "interleaved", 0));
    if (is_flat)
        ln_emit_reshape_dims(&n->emit, y, 3, dims, 0);
    else
        ln_onnx_alias(n, 0, y);
}

// GroupQueryAttention
//
// Its keys are those of the KV cache (the past), followed by new ones: `first` of each sequence is
// the index of its first new key, and the position of its first query. For a batch of 1, or without
// a past, it follows from the lengths, which may be known only at run time.

enum {
    G_QUERY,
    G_KEY,
    G_VALUE,
    G_PAST_KEY,
    G_PAST_VALUE,
    G_LENS,
    G_TOTAL,
    G_COSINES,
    G_SINES,
    G_POSITIONS,
    G_BIAS,
    G_SINK,
    G_KEY_SCALE,
    G_VALUE_SCALE,
    G_QUERY_NORM,
    G_KEY_NORM
};

typedef struct grouped {
    int heads, kv_heads, size; // size: elements of a head
    ln_dim batch, len, total;  // len: queries; total: keys, with those of the past
    ln_dim past;               // total - len, if that is `first` of all sequences; else unknown
    const char *first;         // [B], TL_INT64
} grouped;

static void refuse_cache_formats(ln_onnx_node *n)
{
    static const ln_attr_word none[] = {{"NONE"}, {0}};
    ln_attr_choose(&n->emit, "k_quant_type", "NONE", none);
    ln_attr_choose(&n->emit, "v_quant_type", "NONE", none);
    ln_onnx_refuse_attr(n, "sliding_window_cache", 0);
    ln_onnx_refuse_input(n, G_KEY_SCALE, "k_scale");
    ln_onnx_refuse_input(n, G_VALUE_SCALE, "v_scale");
}

// Query, key and value as [B, S, H, D], from three inputs or packed in input 0.
static void read_operands(ln_onnx_node *n, grouped *g, const char **parts)
{
    const char *const query = ln_onnx_in(n, G_QUERY);
    const tl_tensor *const t = ln_onnx_tensor_of(n, query);
    const int is_packed = !ln_onnx_has_input(n, G_KEY);
    const int heads[] = {g->heads, g->kv_heads, g->kv_heads};
    if (!ln_onnx_failed(n) && t->ndim != 3)
        ln_emit_fail(&n->emit, "input 0 has %d dimensions, expected 3", t->ndim);
    if (!ln_onnx_failed(n))
        ln_onnx_want_multiple(n, 0, t->dims[2], is_packed ? g->heads + 2 * g->kv_heads : g->heads);
    ln_onnx_want_fixed_axis(n, query, 2);
    if (ln_onnx_failed(n))
        return;
    g->batch = ln_onnx_axis_size(n, query, 0);
    g->len = ln_onnx_axis_size(n, query, 1);
    g->size = t->dims[2] / (is_packed ? g->heads + 2 * g->kv_heads : g->heads);
    if ((int64_t)(g->heads + 2 * g->kv_heads) * g->size > INT_MAX) {
        ln_emit_fail(&n->emit,
                     "%d heads and twice %d key heads of size %d, expected at most %d elements",
                     g->heads, g->kv_heads, g->size, INT_MAX);
        return;
    }
    const ln_dim dims[] = {g->batch, g->len, ln_dim_constant(g->kv_heads * g->size)};
    for (int i = G_KEY; i <= G_VALUE && !is_packed; i++)
        ln_onnx_want_dims(n, i, i == G_KEY ? "key" : "value", 3, dims);
    for (int k = 0, at = 0; k < 3 && !ln_onnx_failed(n); at += heads[k++] * g->size) {
        const char *const part =
            is_packed ? ln_onnx_slice(n, query, 2, at, heads[k] * g->size) : ln_onnx_in(n, k);
        parts[k] = ln_onnx_split_heads(n, part, heads[k]);
    }
}

// Input total_sequence_length: the number of keys, a constant or derived from sizes of inputs.
static ln_dim read_total(ln_onnx_node *n, const grouped *g)
{
    ln_dim total = ln_dim_constant(0);
    const int len = ln_onnx_dims_in(n, G_TOTAL, 1, &total);
    if (len >= 0 && len != 1)
        ln_emit_fail(&n->emit, "input %d has %d elements, expected 1", G_TOTAL, len);
    const int64_t max = ln_onnx_max(n, &total), min = ln_onnx_min(n, &g->len);
    if (!ln_onnx_failed(n) && (max < min || max > INT_MAX))
        ln_emit_fail(&n->emit, "input %d, 'total_sequence_length', is %lld, expected at least %lld",
                     G_TOTAL, (long long)max, (long long)min);
    return total;
}

// Reads the number of keys, which must be known, and sets `past` and `first`.
static void read_lengths(ln_onnx_node *n, grouped *g)
{
    ln_symbols *const symbols = ln_emit_symbols(&n->emit);
    const char *const lens = ln_onnx_in(n, G_LENS);
    if (ln_onnx_failed(n))
        return;
    g->total = read_total(n, g);
    const ln_dim one = ln_dim_constant(1);
    const ln_dim past = ln_dim_sub(symbols, &g->total, &g->len);
    const ln_dim next = ln_dim_sub(symbols, &one, &g->len);
    const int is_known = ln_dim_is(&g->batch, 1) || ln_dim_is(&past, 0);
    if (!ln_onnx_failed(n) && ln_dim_is_constant(&g->batch) &&
        ln_onnx_tensor_of(n, lens)->len != g->batch.constant)
        ln_emit_fail(&n->emit, "input %d, 'seqlens_k', has %d elements, expected %d", G_LENS,
                     ln_onnx_tensor_of(n, lens)->len, (int)g->batch.constant);
    if (ln_onnx_failed(n))
        return;
    if (is_known) {
        g->past = past;
        g->first = ln_emit_expand_dims(&n->emit, ln_emit_length(&n->emit, &past), 1, &g->batch,
                                       LN_EMIT_TEMP);
        return;
    }
    g->past = ln_dim_unknown();
    const char *const wide = ln_emit_cast(&n->emit, lens, TL_INT64, LN_EMIT_TEMP);
    const char *const line = ln_emit_reshape_dims(&n->emit, wide, 1, &g->batch, LN_EMIT_TEMP);
    g->first = ln_onnx_add(n, line, ln_emit_length(&n->emit, &next));
}

// Applies RMS normalization to the heads of `src` [B, S, H, D], if the node has the weight, input
// `i`.
static const char *with_norm(ln_onnx_node *n, const grouped *g, const char *src, int i)
{
    if (!ln_onnx_has_input(n, i))
        return src;
    ln_onnx_want_shape(n, i, i == G_QUERY_NORM ? "q_norm_weight" : "k_norm_weight", 1, &g->size);
    return LN_EMIT(
        &n->emit, LN_EMIT_TEMP, LN_OP_RMSNORM, LN_ARG("src", src),
        LN_ARG("scale", ln_onnx_in(n, i)), LN_INT("axis", 3),
        LN_NUMBER("epsilon", ln_attr_number(&n->emit, "qk_norm_epsilon", (double)1e-6F)));
}

static void rotate_grouped(ln_onnx_node *n, const grouped *g, const char **parts)
{
    const tl_tensor *const cache = ln_onnx_tensor_of(n, ln_onnx_in(n, G_COSINES));
    const int half = cache->ndim == 2 ? cache->dims[1] : 0;
    const ln_dim column[] = {g->batch, ln_dim_constant(1)};
    const char *positions = ln_onnx_optional(n, G_POSITIONS);
    if (!ln_onnx_failed(n) && (half < 1 || half > g->size / 2))
        ln_emit_fail(&n->emit, "input %d, 'cos_cache', has %d columns, expected 1 to %d", G_COSINES,
                     half, g->size / 2);
    if (ln_onnx_failed(n))
        return;
    if (positions)
        ln_onnx_want_dims(n, G_POSITIONS, "position_ids", 2, (ln_dim[]){g->batch, g->len});
    else
        positions = positions_from(
            n, ln_emit_reshape_dims(&n->emit, g->first, 2, column, LN_EMIT_TEMP), &g->len);
    const char *const cosines = angles_at(n, G_COSINES, half, positions, 2);
    const char *const sines = angles_at(n, G_SINES, half, positions, 2);
    const int is_paired = ln_attr_bool(&n->emit, "rotary_interleaved", 0);
    for (int k = 0; k < 2; k++)
        parts[k] = ln_onnx_rotate(n, parts[k], cosines, sines, 2 * half, is_paired);
}

// Pads `cache` of length `past` with zeros to length `len`.
static const char *pad_cache(ln_onnx_node *n, const char *cache, const ln_dim *past,
                             const ln_dim *len)
{
    const ln_dim none[4] = {{0}};
    ln_dim after[4] = {{0}};
    after[2] = ln_dim_sub(ln_emit_symbols(&n->emit), len, past);
    return ln_dim_is(&after[2], 0)
               ? cache
               : ln_emit_pad(&n->emit, cache, none, after, "TL_PAD_CONSTANT", NULL, LN_EMIT_TEMP);
}

// The first `len` keys of a cache with `own` keys.
static const char *first_keys(ln_onnx_node *n, const char *cache, const ln_dim *own,
                              const ln_dim *len)
{
    static const int axis = 2, start = 0, step = 1;
    const int end = (int)ln_onnx_max(n, len);
    if (ln_dim_equals(own, len))
        return cache;
    return LN_EMIT(
        &n->emit, LN_EMIT_TEMP, LN_OP_STRIDE_SLICE, LN_ARG("src", cache), LN_INTS("axes", 1, &axis),
        LN_ARG("ends_now", ln_dim_is_constant(len) ? NULL : ln_emit_length(&n->emit, len)),
        LN_INTS("starts", 1, &start), LN_INTS("ends", 1, &end), LN_INTS("steps", 1, &step));
}

// The length P of `cache`, input `past` [B, Hk, P, D]; 0 for NULL.
static ln_dim cache_len(ln_onnx_node *n, const grouped *g, int past, const char *cache)
{
    const ln_dim len = cache && ln_onnx_tensor_of(n, cache)->ndim == 4
                           ? ln_onnx_axis_size(n, cache, 2)
                           : ln_dim_constant(0);
    const ln_dim dims[] = {g->batch, ln_dim_constant(g->kv_heads), len, ln_dim_constant(g->size)};
    if (cache)
        ln_onnx_want_dims(n, past, past == G_PAST_KEY ? "past_key" : "past_value", 4, dims);
    const ln_dim needed = ln_dim_sub(ln_emit_symbols(&n->emit), &g->total, &g->len);
    if (!ln_onnx_failed(n) && ln_onnx_max(n, &len) < ln_onnx_min(n, &needed))
        ln_emit_fail(&n->emit,
                     "input %d (%s) has %lld tokens, expected at least %lld: "
                     "'total_sequence_length', the length of the mask, less that of 'query'",
                     past, past == G_PAST_KEY ? "past_key" : "past_value",
                     (long long)ln_onnx_max(n, &len), (long long)ln_onnx_min(n, &needed));
    return len;
}

// Emits the updated cache, output `i`: optional input `past` with `now` from `first` on, extended
// to `total` keys if it is shorter. Returns the first `total` keys.
static const char *extend_cache(ln_onnx_node *n, const grouped *g, int past, const char *now, int i)
{
    const char *const cache = ln_onnx_optional(n, past);
    const int out = ln_onnx_wants(n, i) ? i : LN_EMIT_TEMP;
    const ln_dim len = cache_len(n, g, past, cache);
    if (ln_onnx_failed(n))
        return now;
    if (!ln_dim_is(&len, 0) && ln_dim_equals(&g->past, &len))
        return ln_onnx_join(n, cache, now, 2, out);
    const ln_dim all = ln_dim_max(ln_emit_symbols(&n->emit), &len, &g->total);
    if (!cache || (ln_dim_equals(&g->total, &g->len) && ln_dim_equals(&all, &g->total))) {
        ln_onnx_alias(n, i, now);
        return now;
    }
    const char *const present =
        LN_EMIT(&n->emit, out, LN_OP_PUT_RANGE, LN_ARG("src", pad_cache(n, cache, &len, &all)),
                LN_ARG("update", now), LN_ARG("first", g->first), LN_INT("axis", 2));
    return first_keys(n, present, &all, &g->total);
}

// The bias that masks keys after the query, outside of the window, and past the end; NULL: none.
static const char *grouped_bias(ln_onnx_node *n, const grouped *g, tl_dtype dtype)
{
    const int is_causal = ln_attr_bool(&n->emit, "causal", 1);
    const int window = ln_attr_int_in(&n->emit, "local_window_size", -1, -1, INT_MAX);
    if (!is_causal && window >= 0)
        ln_emit_fail(&n->emit, "attribute 'local_window_size' is %d without causality, expected -1",
                     window);
    const int is_known = ln_dim_is_known(&g->past);
    if (ln_onnx_failed(n) || (is_known && !is_causal) ||
        (is_known && ln_dim_is(&g->len, 1) && window < 0))
        return NULL;
    const ln_dim one = ln_dim_constant(1), column[] = {g->batch, one, one, one};
    const char *const keys = ln_onnx_indices(n, &g->total, 0);
    const char *const first =
        ln_dim_is_constant(&g->past)
            ? ln_emit_scalar(&n->emit, TL_INT64, (double)g->past.constant)
            : ln_emit_reshape_dims(&n->emit, g->first, 4, column, LN_EMIT_TEMP);
    if (!is_causal) {
        const char *const end = ln_onnx_add(n, first, ln_emit_length(&n->emit, &g->len));
        return ln_onnx_bias_of(n, ln_emit_compare(&n->emit, "TL_COMPARE_LESS", keys, end), dtype);
    }
    const char *const positions = ln_onnx_add(n, ln_onnx_indices(n, &g->len, 1), first);
    // local_window_size counts the key of the query itself.
    const ln_onnx_window keys_read = {window < 0 ? LN_ONNX_UNBOUNDED : window - 1, 0};
    return ln_onnx_bias_of(n, ln_onnx_in_window(n, keys, positions, &keys_read), dtype);
}

// Input head_sink, or with smooth_softmax 0 for each head; NULL: no sink.
static const char *read_sink(ln_onnx_node *n, const grouped *g, tl_dtype dtype)
{
    const int is_smooth = ln_attr_int(&n->emit, "smooth_softmax", 0) > 0;
    if (ln_onnx_has_input(n, G_SINK)) {
        ln_onnx_want_shape(n, G_SINK, "head_sink", 1, &g->heads);
        return ln_emit_cast(&n->emit, ln_onnx_in(n, G_SINK), dtype, LN_EMIT_TEMP);
    }
    return is_smooth ? ln_emit_filled(&n->emit, dtype, 1, &g->heads, 0) : NULL;
}

static void translate_group_query(ln_onnx_node *n)
{
    grouped g = {.heads = ln_onnx_read_heads(n, "num_heads"),
                 .kv_heads = ln_onnx_read_heads(n, "kv_num_heads")};
    const char *parts[3] = {NULL, NULL, NULL};
    refuse_cache_formats(n);
    read_operands(n, &g, parts);
    read_lengths(n, &g);
    if (ln_onnx_failed(n))
        return;
    parts[0] = with_norm(n, &g, parts[0], G_QUERY_NORM);
    parts[1] = with_norm(n, &g, parts[1], G_KEY_NORM);
    if (ln_attr_bool(&n->emit, "do_rotary", 0))
        rotate_grouped(n, &g, parts);
    ln_onnx_attention a = {.query = ln_onnx_swap_heads(n, parts[0]),
                           .scale = ln_onnx_read_scale(n, g.size),
                           .softcap = ln_attr_number(&n->emit, "softcap", 0),
                           .stage = -1,
                           .stage_output = 3};
    a.key = extend_cache(n, &g, G_PAST_KEY, ln_onnx_swap_heads(n, parts[1]), 1);
    a.value = extend_cache(n, &g, G_PAST_VALUE, ln_onnx_swap_heads(n, parts[2]), 2);
    ln_onnx_measure_attention(n, &a);
    if (ln_onnx_failed(n))
        return;
    a.bias = ln_onnx_add(n, ln_onnx_read_score_bias(n, &a, G_BIAS), grouped_bias(n, &g, a.dtype));
    a.sink = read_sink(n, &g, a.dtype);
    const int stage = ln_attr_int_in(&n->emit, "qk_output", 0, 0, 2);
    if (ln_onnx_is_read(n, 3) && stage == 0)
        ln_emit_fail(&n->emit, "attribute 'qk_output' is 0, but output 3 is read; expected 1 or 2");
    if (ln_onnx_wants(n, 3) && stage)
        a.stage = stage == 1 ? LN_ONNX_BIASED : LN_ONNX_PROBABILITIES;
    ln_onnx_merge_heads(n, ln_onnx_emit_attention(n, &a), 0);
}

const ln_onnx_row ln_onnx_rows_contrib_grouped[] = {
    {"GroupQueryAttention", 1, translate_group_query},
    {"RotaryEmbedding", 1, translate_rotary},
    {NULL},
};
