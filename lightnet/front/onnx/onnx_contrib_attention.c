// SPDX-License-Identifier: Apache-2.0
// Attention of com.microsoft: Attention and QAttention, which contain the projection of their
// input, and MultiHeadAttention.
//
// The layout is [B, H, S, D], as in onnx_attention.c. Masks add `mask_filter_value` to the scores
// of masked keys, causal masks -infinity. Source: ContribOperators.md of ONNX Runtime.

#include <limits.h>

#include "front/onnx/ln_onnx_attention.h"
#include "front/onnx/ln_onnx_steps.h"

// Masks

// 0 where `allowed` is true, otherwise mask_filter_value.
static const char *masked_bias(ln_onnx_node *n, const char *allowed, tl_dtype dtype)
{
    const double value = ln_attr_number(&n->emit, "mask_filter_value", -10000);
    return ln_emit_where(&n->emit, allowed, ln_emit_scalar(&n->emit, dtype, 0),
                         ln_emit_scalar(&n->emit, dtype, value), LN_EMIT_TEMP);
}

// Compares the index of each key with an element of `mask` for each sequence, those of half `part`
// (-1: `mask` has only one): [B, 1, 1, T].
static const char *compare_keys(ln_onnx_node *n, const ln_onnx_attention *a, const char *op,
                                const char *mask, int part)
{
    const ln_dim one = ln_dim_constant(1), column[] = {a->batch, one, one, one};
    const int batch = (int)ln_onnx_max(n, &a->batch);
    const char *const some = part < 0 ? mask : ln_onnx_slice(n, mask, 0, part * batch, batch);
    const char *const numbers = ln_emit_reshape_dims(&n->emit, some, 4, column, LN_EMIT_TEMP);
    const char *const keys = ln_onnx_indices(n, &a->kv_len, 0);
    return ln_emit_compare(&n->emit, op, keys,
                           ln_emit_cast(&n->emit, numbers, TL_INT64, LN_EMIT_TEMP));
}

// A mask of one dimension: the end of each sequence, [B], or with may_start, the ends and then the
// starts, [2 * B].
static const char *allowed_by_length(ln_onnx_node *n, const ln_onnx_attention *a, int i,
                                     const char *mask, int may_start)
{
    const ln_dim len = ln_onnx_axis_size(n, mask, 0);
    const int batch = (int)ln_onnx_max(n, &a->batch), n_lens = (int)ln_onnx_max(n, &len);
    if (ln_onnx_failed(n))
        return NULL;
    if (ln_dim_equals(&len, &a->batch) || n_lens == batch)
        return compare_keys(n, a, "TL_COMPARE_LESS", mask, -1);
    ln_onnx_want_fixed(n, mask);
    if (!may_start || n_lens != 2 * batch)
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED,
                        "input %d, the mask, has %d elements, expected %d%s", i, n_lens, batch,
                        may_start ? ", or twice as many" : "");
    const char *const end = compare_keys(n, a, "TL_COMPARE_LESS", mask, 0);
    const char *const start = compare_keys(n, a, "TL_COMPARE_GREATER_EQUAL", mask, 1);
    return ln_emit_binary(&n->emit, "TL_BINARY_AND", start, end, LN_EMIT_TEMP);
}

// The bias of optional input `i`, a mask: of lengths (one dimension), or [B, T] or [B, S, T], above
// 0 where a key is not masked. NULL: no mask.
static const char *bias_of_mask(ln_onnx_node *n, const ln_onnx_attention *a, int i, int may_start)
{
    static const int rows[] = {1, 2}, heads[] = {1};
    const char *const mask = ln_onnx_optional(n, i);
    const tl_tensor *const t = ln_onnx_tensor_of(n, mask);
    const ln_dim batch_and_keys[] = {a->batch, a->kv_len}, all[] = {a->batch, a->q_len, a->kv_len};
    if (!mask)
        return NULL;
    if (t->ndim == 1)
        return masked_bias(n, allowed_by_length(n, a, i, mask, may_start), a->dtype);
    if (t->ndim != 2 && t->ndim != 3) {
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED,
                        "input %d, the mask, has %d dimensions, expected 1 to 3", i, t->ndim);
        return NULL;
    }
    ln_onnx_want_dims(n, i, "mask", t->ndim, t->ndim == 2 ? batch_and_keys : all);
    const char *const allowed =
        ln_emit_compare(&n->emit, "TL_COMPARE_GREATER", mask,
                        ln_emit_scalar(&n->emit, ln_onnx_tensor_of(n, mask)->dtype, 0));
    const int ndim = ln_onnx_tensor_of(n, allowed)->ndim;
    return masked_bias(
        n, ln_onnx_with_axes(n, allowed, ndim == 2 ? 2 : 1, ndim == 2 ? rows : heads), a->dtype);
}

// Masks key j for query i if j > i + (kv_len - q_len): the last query reads all keys. NULL: none.
static const char *causal_bias(ln_onnx_node *n, const ln_onnx_attention *a)
{
    const ln_dim before = ln_dim_sub(ln_emit_symbols(&n->emit), &a->kv_len, &a->q_len);
    if (ln_dim_is(&a->q_len, 1))
        return NULL;
    const char *const keys = ln_onnx_indices(n, &a->kv_len, 0);
    const char *const last =
        ln_onnx_add(n, ln_onnx_indices(n, &a->q_len, 1), ln_emit_length(&n->emit, &before));
    return ln_onnx_bias_of(n, ln_emit_compare(&n->emit, "TL_COMPARE_LESS_EQUAL", keys, last),
                           a->dtype);
}

// MultiHeadAttention

// Its inputs, in order.
enum { QUERY, KEY, VALUE, BIAS, PADDING, SCORE_BIAS, PAST_KEY, PAST_VALUE, PAST_LEN, BEAMS };

// Element `k` along the axis, which is removed.
static const char *element_of(ln_onnx_node *n, const char *src, int axis, int k)
{
    const char *const part = ln_onnx_slice(n, src, axis, k, 1);
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SQUEEZE, LN_ARG("src", part),
                   LN_INTS("axes", 1, &axis));
}

// The node fails unless input `i` is [B, S, heads, parts, D].
static void want_packed(ln_onnx_node *n, int i, int heads, int parts)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in(n, i));
    if (t->ndim != 5 || t->dims[2] != heads || t->dims[3] != parts) {
        char text[TL_SHAPE_TEXT_SIZE];
        ln_emit_fail(&n->emit, "input %d has shape %s, expected [B, S, %d, %d, D]", i,
                     tl_shape_text(text, t->ndim, t->dims), heads, parts);
    }
}

// Input `i` [B, S, H * D] as [B, S, H, D].
static const char *read_separate(ln_onnx_node *n, int i, int heads)
{
    const char *const src = ln_onnx_in(n, i);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    if (ln_onnx_failed(n))
        return src;
    if (t->ndim != 3)
        ln_emit_fail(&n->emit, "input %d has %d dimensions, expected 3", i, t->ndim);
    else
        ln_onnx_want_multiple(n, i, t->dims[2], heads);
    return ln_onnx_failed(n) ? src : ln_onnx_split_heads(n, src, heads);
}

// Query, key and value as [B, S, H, D]. Returns 1 if key and value are inputs [B, H, T, D] instead:
// already projected, as in cross-attention.
static int read_operands(ln_onnx_node *n, int heads, const char **parts)
{
    const int ndim = ln_onnx_tensor_of(n, ln_onnx_in(n, QUERY))->ndim;
    if (ndim == 5) {
        want_packed(n, QUERY, heads, 3);
        ln_onnx_refuse_input(n, KEY, "key");
        ln_onnx_refuse_input(n, VALUE, "value");
        for (int k = 0; k < 3 && !ln_onnx_failed(n); k++)
            parts[k] = element_of(n, ln_onnx_in(n, QUERY), 3, k);
        return 0;
    }
    parts[0] = read_separate(n, QUERY, heads);
    const int key_ndim = ln_onnx_tensor_of(n, ln_onnx_in(n, KEY))->ndim;
    if (key_ndim == 5) {
        want_packed(n, KEY, heads, 2);
        ln_onnx_refuse_input(n, VALUE, "value");
        for (int k = 0; k < 2 && !ln_onnx_failed(n); k++)
            parts[1 + k] = element_of(n, ln_onnx_in(n, KEY), 3, k);
        return 0;
    }
    for (int i = KEY; i <= VALUE && key_ndim == 4; i++)
        parts[i] = ln_onnx_in(n, i);
    for (int i = KEY; i <= VALUE && key_ndim != 4; i++)
        parts[i] = read_separate(n, i, heads);
    return key_ndim == 4;
}

// Adds to the first `n_parts` operands [B, S, H, D] their parts of the bias; projected keys and
// values have none.
static void add_biases(ln_onnx_node *n, const char **parts, int n_parts)
{
    const char *const bias = ln_onnx_optional(n, BIAS);
    int lens[3];
    int64_t total = 0;
    if (!bias || ln_onnx_failed(n))
        return;
    for (int k = 0; k < 3; k++) {
        const tl_tensor *const t = ln_onnx_tensor_of(n, parts[k]);
        lens[k] = t->ndim == 4 ? t->dims[3] * t->dims[n_parts < 3 && k > 0 ? 1 : 2] : 1;
        total += lens[k];
    }
    ln_onnx_want_shape(n, BIAS, "bias", 1, &(int){total <= INT_MAX ? (int)total : -1});
    for (int k = 0, at = 0; k < n_parts && !ln_onnx_failed(n); at += lens[k++]) {
        const tl_tensor *const t = ln_onnx_tensor_of(n, parts[k]);
        const int dims[] = {t->dims[2], t->dims[3]};
        const char *const part = ln_onnx_slice(n, bias, 0, at, lens[k]);
        parts[k] = ln_onnx_add(n, parts[k], ln_emit_reshape(&n->emit, part, 2, dims, LN_EMIT_TEMP));
    }
}

static void translate_multi_head(ln_onnx_node *n)
{
    const int heads = ln_onnx_read_heads(n, "num_heads");
    const char *parts[3] = {NULL, NULL, NULL};
    if (ln_onnx_has_input(n, PAST_KEY)) // without a past its length has no effect
        ln_onnx_refuse_input(n, PAST_LEN, "past_sequence_length");
    ln_onnx_refuse_input(n, BEAMS, "cache_indirection");
    const int is_projected = read_operands(n, heads, parts);
    add_biases(n, parts, is_projected ? 1 : 3);
    if (ln_onnx_has_input(n, PAST_KEY) != ln_onnx_has_input(n, PAST_VALUE))
        ln_emit_fail(&n->emit, "one of inputs %d and %d, 'past_key' and 'past_value', is missing",
                     PAST_KEY, PAST_VALUE);
    if (ln_onnx_failed(n))
        return;
    ln_onnx_attention a = {
        .query = ln_onnx_swap_heads(n, parts[0]), .stage = -1, .stage_output = 3};
    a.key = is_projected ? parts[1] : ln_onnx_swap_heads(n, parts[1]);
    a.value = is_projected ? parts[2] : ln_onnx_swap_heads(n, parts[2]);
    a.key = ln_onnx_with_past(n, ln_onnx_optional(n, PAST_KEY), a.key, 1);
    a.value = ln_onnx_with_past(n, ln_onnx_optional(n, PAST_VALUE), a.value, 2);
    ln_onnx_measure_attention(n, &a);
    if (ln_onnx_failed(n))
        return;
    a.scale = ln_onnx_read_scale(n, ln_onnx_tensor_of(n, a.query)->dims[3]);
    a.bias =
        ln_onnx_add(n, bias_of_mask(n, &a, PADDING, 0), ln_onnx_read_score_bias(n, &a, SCORE_BIAS));
    if (ln_attr_bool(&n->emit, "unidirectional", 0))
        a.bias = ln_onnx_add(n, a.bias, causal_bias(n, &a));
    if (ln_onnx_wants(n, 3))
        a.stage = LN_ONNX_BIASED;
    ln_onnx_merge_heads(n, ln_onnx_emit_attention(n, &a), 0);
}

// Attention, QAttention

// The projection of Attention or QAttention, and the indices of other inputs.
typedef struct projected {
    const char *all; // [B, S, widths of query, key and value]
    int sizes[3];
    int mask, past, bias; // indices of inputs; -1: none
} projected;

// The widths of query, key and value: equal parts of `total`, unless the node lists them.
static void read_widths(ln_onnx_node *n, int total, int heads, int *sizes)
{
    int len;
    const int64_t *const given = ln_attr_ints(&n->emit, "qkv_hidden_sizes", &len);
    int64_t sum = 0;
    if (given && len != 3)
        ln_emit_fail(&n->emit, "attribute 'qkv_hidden_sizes' has %d numbers, expected 3", len);
    for (int k = 0; k < 3 && !ln_onnx_failed(n); k++) {
        sizes[k] =
            given ? ln_attr_element(&n->emit, "qkv_hidden_sizes", given[k], 1, total) : total / 3;
        sum += sizes[k];
        if (sizes[k] % heads != 0)
            ln_emit_fail(&n->emit, "a width of %d, expected a multiple of the %d heads", sizes[k],
                         heads);
    }
    if (!ln_onnx_failed(n) && (sum != total || sizes[0] != sizes[1]))
        ln_emit_fail(&n->emit,
                     "widths of %d, %d and %d, expected the first two equal and a sum of %d",
                     sizes[0], sizes[1], sizes[2], total);
}

// Prepends the past to key and value; output 1 is both, [2, B, H, T, D].
static void join_past(ln_onnx_node *n, const projected *p, ln_onnx_attention *a)
{
    const char *const past = ln_onnx_optional(n, p->past);
    const int axis = 0;
    const tl_tensor *const t = ln_onnx_tensor_of(n, past);
    char text[TL_SHAPE_TEXT_SIZE];
    if (past && !ln_onnx_failed(n) && (t->ndim != 5 || t->dims[0] != 2))
        ln_emit_fail(&n->emit, "input %d, 'past', has shape %s, expected [2, B, H, P, D]", p->past,
                     tl_shape_text(text, t->ndim, t->dims));
    if (past && !ln_onnx_failed(n)) {
        a->key = ln_onnx_join(n, element_of(n, past, 0, 0), a->key, 2, LN_EMIT_TEMP);
        a->value = ln_onnx_join(n, element_of(n, past, 0, 1), a->value, 2, LN_EMIT_TEMP);
    }
    if (ln_onnx_wants(n, 1))
        ln_onnx_join(n, ln_onnx_with_axes(n, a->key, 1, &axis),
                     ln_onnx_with_axes(n, a->value, 1, &axis), 0, 1);
}

static void emit_projected(ln_onnx_node *n, const projected *p, int heads)
{
    const char *parts[3];
    if (ln_onnx_failed(n))
        return;
    for (int k = 0, at = 0; k < 3; at += p->sizes[k++]) {
        const char *const part = ln_onnx_slice(n, p->all, 2, at, p->sizes[k]);
        parts[k] = ln_onnx_swap_heads(n, ln_onnx_split_heads(n, part, heads));
    }
    ln_onnx_attention a = {.query = parts[0], .key = parts[1], .value = parts[2], .stage = -1};
    join_past(n, p, &a);
    ln_onnx_measure_attention(n, &a);
    if (ln_onnx_failed(n))
        return;
    a.scale = ln_onnx_read_scale(n, p->sizes[0] / heads);
    a.bias = bias_of_mask(n, &a, p->mask, 1);
    if (p->bias >= 0)
        a.bias = ln_onnx_add(n, a.bias, ln_onnx_read_score_bias(n, &a, p->bias));
    if (ln_attr_bool(&n->emit, "unidirectional", 0))
        a.bias = ln_onnx_add(n, a.bias, causal_bias(n, &a));
    ln_onnx_merge_heads(n, ln_onnx_emit_attention(n, &a), 0);
}

// Checks inputs 0 to 2 and the attributes of both. Returns the width of the projection, input 1
// [In, width]; 0 after a failure.
static int read_projection(ln_onnx_node *n)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in(n, 0));
    const tl_tensor *const w = ln_onnx_tensor_of(n, ln_onnx_in(n, 1));
    ln_onnx_refuse_attr(n, "do_rotary", 0);
    ln_onnx_refuse_attr(n, "past_present_share_buffer", 0);
    if (!ln_onnx_failed(n) && (t->ndim != 3 || w->ndim != 2))
        ln_emit_fail(&n->emit, "input 0 has %d dimensions and input 1 %d, expected 3 and 2",
                     t->ndim, w->ndim);
    const int width = ln_onnx_failed(n) ? 0 : w->dims[1];
    if (ln_onnx_has_input(n, 2))
        ln_onnx_want_shape(n, 2, "bias", 1, &width);
    return ln_onnx_failed(n) ? 0 : width;
}

static void translate_attention(ln_onnx_node *n)
{
    enum { INPUT, WEIGHT, OFFSET, MASK, PAST, SCORES, PAST_SEQUENCE };
    const int heads = ln_onnx_read_heads(n, "num_heads"), width = read_projection(n);
    projected p = {.mask = MASK, .past = PAST, .bias = SCORES};
    if (ln_onnx_has_input(n, PAST)) // without a past its length has no effect
        ln_onnx_refuse_input(n, PAST_SEQUENCE, "past_sequence_length");
    if (!ln_onnx_failed(n))
        read_widths(n, width, heads, p.sizes);
    p.all =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_MATMUL, LN_ARG("src1", ln_onnx_in(n, INPUT)),
                LN_ARG("src2", ln_onnx_in(n, WEIGHT)), LN_ARG("bias", ln_onnx_optional(n, OFFSET)));
    emit_projected(n, &p, heads);
}

// The projection of integers: (input - zero) x (weight - zero) * scales + bias.
static void translate_qattention(ln_onnx_node *n)
{
    enum { INPUT, WEIGHT, OFFSET, SCALE, WEIGHT_SCALE, MASK, ZERO, WEIGHT_ZERO, PAST };
    const int heads = ln_onnx_read_heads(n, "num_heads"), width = read_projection(n);
    projected p = {.mask = MASK, .past = PAST, .bias = -1};
    if (!ln_onnx_failed(n))
        read_widths(n, width, heads, p.sizes);
    ln_onnx_in(n, OFFSET);
    const char *const src = ln_onnx_in(n, INPUT), *const weight = ln_onnx_in(n, WEIGHT);
    const char *const sums = LN_EMIT(
        &n->emit, LN_EMIT_TEMP, LN_OP_MATMUL_INT, LN_ARG("src1", src), LN_ARG("src2", weight),
        LN_ARG("zero1", ln_onnx_has_input(n, ZERO) ? ln_onnx_scalar_in(n, ZERO) : NULL),
        LN_ARG("zero2", ln_onnx_zero_point(n, WEIGHT_ZERO, weight, 1)));
    const char *const factor =
        ln_emit_binary(&n->emit, "TL_BINARY_MUL", ln_onnx_scalar_in(n, SCALE),
                       ln_onnx_scalar_in(n, WEIGHT_SCALE), LN_EMIT_TEMP);
    const tl_dtype dtype = ln_onnx_tensor_of(n, factor)->dtype;
    const char *const numbers = ln_emit_cast(&n->emit, sums, dtype, LN_EMIT_TEMP);
    p.all = ln_onnx_add(n, ln_emit_binary(&n->emit, "TL_BINARY_MUL", numbers, factor, LN_EMIT_TEMP),
                        ln_onnx_in(n, OFFSET));
    emit_projected(n, &p, heads);
}

const ln_onnx_row ln_onnx_rows_contrib_attention[] = {
    {"Attention", 1, translate_attention},
    {"MultiHeadAttention", 1, translate_multi_head},
    {"QAttention", 1, translate_qattention},
    {NULL},
};
