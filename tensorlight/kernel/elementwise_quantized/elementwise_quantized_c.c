// SPDX-License-Identifier: Apache-2.0
// Operations on 8-bit tensors in plain C: the definition.

#include "kernel/elementwise_quantized/elementwise_quantized.h"

static float value(const tl_elementwise_u8_job *job, float a, float b)
{
    if (job->op == TL_ELEMENTWISE_U8_MUL) {
        const float factor = job->factors[0] * job->factors[1];
        return a * b * factor; // the first product is exact
    }
    const float first = a * job->factors[0], second = b * job->factors[1];
    return first + second;
}

void tl_elementwise_u8_c(void *arg, size_t begin, size_t end)
{
    const tl_elementwise_u8_job *const job = arg;
    for (size_t at = begin * TL_ELEMENTWISE_U8_CHUNK; begin < end;
         begin++, at += TL_ELEMENTWISE_U8_CHUNK) {
        float v[TL_ELEMENTWISE_U8_CHUNK];
        int n = (int)tl_min_size(TL_ELEMENTWISE_U8_CHUNK, job->len - at);
        for (int i = 0; i < n; i++) {
            const size_t k = at + (size_t)i;
            const uint8_t b = job->b[job->plane ? k / job->plane * TL_BLOCK + k % TL_BLOCK : k];
            v[i] = value(job, (float)job->a[k] - job->zeros[0], (float)b - job->zeros[1]);
        }
        tl_tensor t = {.dtype = TL_FLOAT, .len = n, .ndim = 1, .dims = &n, .data = v};
        tl_exec_act(job->act_exec, &t, &t, job->q.act);
        for (int i = 0; i < n; i++)
            job->dst[at + (size_t)i] = tl_quantized_byte(&job->q, v[i]);
    }
}

void tl_lookup_u8_c(const uint8_t *src, const uint8_t *table, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = table[src[i]];
}
