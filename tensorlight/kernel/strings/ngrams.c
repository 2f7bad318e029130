// SPDX-License-Identifier: Apache-2.0
// Pools of n-grams (ONNX TfIdfVectorizer): sorting, and binary search for sequences of tokens.
//
//     pool 2 3 5 4 5 6 7 8 6 7, starts 0 4
//     1-grams (2) (3) (5) (4), 2-grams (5 6) (7 8) (6 7); sorted: indices 0 1 3 2 4 6 5

#include <string.h>

#include "kernel/strings/strings.h"
#include "kernel/tl_kernel.h"
#include "kernel/tl_poll.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_util.h"

// Tokens

static int is_nan(const void *token, tl_dtype dtype)
{
    double value;
    if (!tl_dtype_is_float(dtype))
        return 0;
    tl_convert(&value, TL_DOUBLE, token, dtype);
    return value != value;
}

// NaN equals NaN and is larger than all numbers.
static int compare_tokens(const void *a, const void *b, tl_dtype dtype)
{
    const int a_is_nan = is_nan(a, dtype), b_is_nan = is_nan(b, dtype);
    return a_is_nan || b_is_nan ? a_is_nan - b_is_nan : tl_cmp(a, b, dtype);
}

// Pools

// N-grams of one length.
typedef struct group {
    int start, count; // the first token, the number of n-grams
    int first;        // the index of the first n-gram
} group;

// The tokens of n-grams of length `i` + 1.
static int tokens_of(const tl_ngrams *grams, int len, int i)
{
    return (i + 1 < grams->n_starts ? grams->starts[i + 1] : len) - grams->starts[i];
}

int tl_ngrams_count(const tl_ngrams *grams, int len)
{
    int count = 0;
    if (grams->n_starts < 1 || grams->starts[0] != 0)
        return tl_fail("n-grams begin at token %d, expected 0",
                       grams->n_starts < 1 ? -1 : grams->starts[0]);
    for (int i = 0; i < grams->n_starts; i++) {
        if (grams->starts[i] < 0 || grams->starts[i] > len || tokens_of(grams, len, i) < 0)
            return tl_fail("%d-grams begin at token %d of %d, expected ascending numbers", i + 1,
                           grams->starts[i], len);
        if (tokens_of(grams, len, i) % (i + 1))
            return tl_fail("%d-grams have %d tokens, expected a multiple", i + 1,
                           tokens_of(grams, len, i));
        count += tokens_of(grams, len, i) / (i + 1);
    }
    return count;
}

// The group of n-grams of length `n`.
static group group_of(const tl_ngrams *grams, int len, int n)
{
    group g = {0, 0, 0};
    for (int i = 0; i < grams->n_starts && i < n; i++) {
        g.first += g.count;
        g.start = grams->starts[i];
        g.count = tokens_of(grams, len, i) / (i + 1);
    }
    if (n > grams->n_starts)
        g.count = 0;
    return g;
}

// Sorting: a stable merge sort

typedef struct sorting {
    const tl_tensor *pool;
    group group;
    int n; // tokens of an n-gram
    const tl_stop *stop;
} sorting;

static const void *token_at(const sorting *s, int32_t gram, int i)
{
    return tl_pointer_add(s->pool->data, s->group.start + (gram - s->group.first) * s->n + i,
                          s->pool->dtype);
}

static int compare_grams(const sorting *s, int32_t a, int32_t b)
{
    int order = 0;
    for (int i = 0; i < s->n && !order; i++)
        order = compare_tokens(token_at(s, a, i), token_at(s, b, i), s->pool->dtype);
    return order;
}

// The cost of a comparison for tl_poll_after; strings may be long.
static size_t compare_cost(const sorting *s)
{
    return (size_t)s->n * (s->pool->dtype == TL_STRING ? 1024 : 4);
}

static void merge(const sorting *s, const int32_t *from, int middle, int n, int32_t *to,
                  tl_poll *poll)
{
    int left = 0, right = middle;
    for (int k = 0; k < n && !tl_poll_after(poll, compare_cost(s)); k++) {
        const int takes_right =
            left == middle || (right < n && compare_grams(s, from[right], from[left]) < 0);
        to[k] = from[takes_right ? right++ : left++];
    }
}

// Sorts the n-grams of one length at `order`; `buffer` has the same length.
static void sort(const sorting *s, int32_t *order, int32_t *buffer)
{
    const int64_t n = s->group.count;
    tl_poll poll = tl_poll_of(s->stop);
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t i = 0; i < n; i += 2 * width) {
            const int64_t len = n - i < 2 * width ? n - i : 2 * width;
            merge(s, order + i, (int)(width < len ? width : len), (int)len, buffer + i, &poll);
        }
        // A stop leaves garbage in `buffer`, not indices.
        if (poll.is_stopped)
            return;
        memcpy(order, buffer, (size_t)n * sizeof(*order));
    }
}

size_t tl_ngrams_scratch(const tl_tensor *order)
{
    return tl_tensor_size(order);
}

int tl_exec_ngrams_order(const tl_exec *exec, const tl_tensor *pool, tl_tensor *order,
                         const tl_ngrams *grams)
{
    int32_t *const numbers = order->data;
    if (order->len && tl_check_scratch(exec, tl_ngrams_scratch(order), "to sort") < 0)
        return -1;
    for (int i = 0; i < order->len; i++)
        numbers[i] = i;
    for (int n = 1; n <= grams->n_starts; n++) {
        const sorting s = {pool, group_of(grams, pool->len, n), n, exec ? exec->stop : NULL};
        if (s.group.count > 1)
            sort(&s, numbers + s.group.first, exec->scratch);
    }
    return 0;
}

// Searching

// A sequence of `n` tokens, `step` apart, from element `at` of a tensor.
typedef struct sequence {
    const tl_tensor *tokens;
    int at, step, n;
} sequence;

// Compares an n-gram with a sequence, whose integers are widened to the pool's type.
static int compare_sequence(const sorting *s, int32_t gram, const sequence *q)
{
    int order = 0;
    for (int i = 0; i < s->n && !order; i++) {
        const void *token = tl_pointer_add(q->tokens->data, q->at + i * q->step, q->tokens->dtype);
        int64_t wide;
        if (q->tokens->dtype != s->pool->dtype) {
            tl_convert(&wide, TL_INT64, token, q->tokens->dtype);
            token = &wide;
        }
        order = compare_tokens(token_at(s, gram, i), token, s->pool->dtype);
    }
    return order;
}

// The first n-gram of the pool that is the sequence; -1: none.
static int32_t search(const sorting *s, const int32_t *order, const sequence *q)
{
    int low = 0, high = s->group.count;
    const int32_t *const grams = order + s->group.first;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (compare_sequence(s, grams[middle], q) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->group.count && !compare_sequence(s, grams[low], q) ? grams[low] : -1;
}

// Checks 'order', which may come from a file: each index names an n-gram of the length that is
// sorted there, so none is outside the pool.
static int check_order(const tl_tensor *order, const tl_ngrams *grams, int len)
{
    const int32_t *const numbers = order->data;
    for (int n = 1; n <= grams->n_starts; n++) {
        const group g = group_of(grams, len, n);
        if (g.count > order->len - g.first)
            return tl_fail("'order' has %d elements, expected at least %d", order->len,
                           g.first + g.count);
        for (int i = g.first; i < g.first + g.count; i++)
            if (numbers[i] < g.first || numbers[i] >= g.first + g.count)
                return tl_fail("'order' has %d at index %d, expected %d to %d", numbers[i], i,
                               g.first, g.first + g.count - 1);
    }
    return 0;
}

int tl_exec_lookup(const tl_exec *exec, const tl_tensor *src, const tl_tensor *keys,
                   const tl_tensor *order, const tl_tensor *values, const tl_tensor *deflt,
                   tl_tensor *dst)
{
    const sorting s = {keys, {0, keys->len, 0}, 1, NULL};
    if (check_order(order, &(tl_ngrams){(const int[]){0}, 1}, keys->len) < 0)
        return -1;
    for (int i = 0; i < src->len && !tl_stop_is_requested(exec ? exec->stop : NULL); i++) {
        const sequence q = {src, i, 1, 1};
        const int32_t k = search(&s, order->data, &q);
        tl_pointer_assign(dst->data, i, k < 0 ? deflt->data : values->data, k < 0 ? 0 : k,
                          dst->dtype);
    }
    return 0;
}

// TF-IDF

static const char *const names[TL_TFIDF_MODE_SIZE] = {
    [TL_TFIDF_TF] = "TL_TFIDF_TF",
    [TL_TFIDF_IDF] = "TL_TFIDF_IDF",
    [TL_TFIDF_TFIDF] = "TL_TFIDF_TFIDF",
};
TL_NAME_AND_FROM_STR(tl_tfidf_mode, names, TL_TFIDF_MODE_SIZE)

typedef struct row {
    const tl_tensor *src, *pool, *order, *index, *weights;
    const tl_tfidf *param;
    int begin, len; // tokens
    float *dst;
    const tl_stop *stop;
} row;

static void count(const row *r, int32_t gram)
{
    const int at = ((const int32_t *)r->index->data)[gram];
    const float weight = ((const float *)r->weights->data)[gram];
    if (r->param->mode == TL_TFIDF_TF)
        r->dst[at] += 1;
    else if (r->param->mode == TL_TFIDF_IDF)
        r->dst[at] = weight;
    else
        r->dst[at] += weight;
}

// Counts the n-grams of one length. Those of one token have no skips.
static void count_grams(const row *r, int n)
{
    const sorting s = {r->pool, group_of(&r->param->grams, r->pool->len, n), n, r->stop};
    const int max = n == 1 ? 1 : tl_min(r->param->max_skip, r->len) + 1;
    for (int step = 1; s.group.count && step <= max && !tl_stop_is_requested(r->stop); step++) {
        if ((int64_t)step * (n - 1) >= r->len)
            return;
        for (int i = 0; i + step * (n - 1) < r->len; i++) {
            const int32_t gram =
                search(&s, r->order->data, &(sequence){r->src, r->begin + i, step, n});
            if (gram >= 0)
                count(r, gram);
        }
    }
}

static int check_index(const tl_tensor *index, int len)
{
    const int32_t *const numbers = index->data;
    for (int i = 0; i < index->len; i++)
        if (numbers[i] < 0 || numbers[i] >= len)
            return tl_fail("'index' has %d at index %d, expected 0 to %d", numbers[i], i, len - 1);
    return 0;
}

int tl_exec_tfidf(const tl_exec *exec, const tl_tensor *src, const tl_tensor *pool,
                  const tl_tensor *order, const tl_tensor *index, const tl_tensor *weights,
                  tl_tensor *dst, const tl_tfidf *param)
{
    const int n_rows = src->ndim == 2 ? src->dims[0] : 1;
    const int width = dst->dims[dst->ndim - 1];
    const int max = tl_min(param->max, param->grams.n_starts); // the pool has no longer ones
    const tl_stop *const stop = exec ? exec->stop : NULL;
    if (check_order(order, &param->grams, pool->len) < 0 || check_index(index, width) < 0)
        return -1;
    tl_exec_zeros(exec, dst);
    for (int i = 0; i < n_rows && !tl_stop_is_requested(stop); i++) {
        const int len = src->dims[src->ndim - 1];
        float *const to = (float *)dst->data + (size_t)i * (size_t)width;
        const row r = {src, pool, order, index, weights, param, i * len, len, to, stop};
        for (int n = param->min; n <= max; n++)
            count_grams(&r, n);
    }
    return 0;
}
