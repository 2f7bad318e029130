// SPDX-License-Identifier: Apache-2.0
// Attention in plain C, row by row: all scores, softmax, then the weighted sum of values.

#ifndef T // once

#include <math.h>

#include "kernel/attention/attention.h"
#include "kernel/softmax/exp_weight.h"

enum { LANES = 8 };

#define TL_TEMPLATE "kernel/attention/attention_c.c"
#include "tensor/tl_each_float.inc.h"

#else // for each type

// The dot product, in lanes that compilers vectorize.
static C NAME(dot, c)(const T *a, const T *b, size_t len)
{
    C lanes[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= len; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lanes[j] += LOAD(a[i + j]) * LOAD(b[i + j]);
    for (; i < len; i++)
        sum += LOAD(a[i]) * LOAD(b[i]);
    for (size_t j = 0; j < LANES; j++)
        sum += lanes[j];
    return sum;
}

// Computes the scores of one query with all keys. Returns the max; ignores NaN.
static C NAME(score, c)(const tl_attention_job *job, const T *q, const T *k, const T *mask,
                        C *scores)
{
    C max = -(C)INFINITY;
    for (size_t j = 0; j < job->kv_len; j++) {
        C x = NAME(dot, c)(q, k + j * job->k.row, job->d) * (C)job->scale;
        if (mask)
            x += LOAD(mask[j * job->mask_key]);
        scores[j] = x;
        max = x > max ? x : max;
    }
    return max;
}

// Replaces the scores by exp(score - max). Returns the sum.
static double NAME(exponentials, c)(C *scores, size_t len, C max)
{
    double sum = 0;
    const C origin = max > -(C)INFINITY ? max : 0;
    for (size_t j = 0; j < len; j++) {
        scores[j] = TL_EXP_WEIGHT(scores[j] - origin);
        sum += (double)scores[j];
    }
    return sum;
}

// Sums the values times their weights.
static void NAME(add_values, c)(const tl_attention_job *job, const C *weights, const T *v, C *sums)
{
    for (size_t i = 0; i < job->e; i++)
        sums[i] = 0;
    for (size_t j = 0; j < job->kv_len; j++, v += job->v.row)
        for (size_t i = 0; i < job->e; i++)
            sums[i] += weights[j] * LOAD(v[i]);
}

void NAME(tl_attention, c)(const tl_attention_job *job, size_t batch, size_t head, size_t first,
                           size_t n, void *scratch)
{
    C *const scores = scratch, *const sums = scores + job->kv_len;
    const T *const k = (const T *)job->k.data + batch * job->k.batch + head * job->k.head;
    const T *const v = (const T *)job->v.data + batch * job->v.batch + head * job->v.head;
    for (size_t row = first; row < first + n; row++) {
        const T *const q =
            (const T *)job->q.data + tl_attention_row(job, &job->q, batch, head, row);
        const T *mask = job->mask.data;
        if (mask)
            mask += tl_attention_row(job, &job->mask, batch, head, row);
        T *const dst = (T *)job->dst.data + tl_attention_row(job, &job->dst, batch, head, row);
        const C max = NAME(score, c)(job, q, k, mask, scores);
        const double sum = NAME(exponentials, c)(scores, job->kv_len, max);
        NAME(add_values, c)(job, scores, v, sums);
        const C factor = sum == 0 && job->zero_empty ? 0 : (C)(1 / sum);
        for (size_t i = 0; i < job->e; i++)
            dst[i] = STORE(sums[i] * factor);
    }
}

#endif
