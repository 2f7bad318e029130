// SPDX-License-Identifier: Apache-2.0
// Floats rounded to 8 bits in blocks, as products with weights of few bits may round their source.

#include <assert.h>

#include "kernel/matmul_lowbit/matmul_lowbit.h"
#include "kernel/matmul_lowbit/matmul_lowbit_units.h"
#include "kernel/tl_axis.h"

typedef struct round_job {
    const float *src;
    float *dst;
    size_t block;
} round_job;

static void round_range(void *arg, size_t begin, size_t end)
{
    const round_job *const j = arg;
    for (size_t b = begin; b < end; b++) {
        const float *const src = j->src + b * j->block;
        float *const dst = j->dst + b * j->block;
        float factor, unit;
        tl_lowbit_scale_bytes(tl_lowbit_largest(src, j->block), &factor, &unit);
        for (size_t i = 0; i < j->block; i++) {
            const float moved = src[i] * factor + 0x1.8p23f;
            dst[i] = (moved - 0x1.8p23f) * unit;
        }
    }
}

int tl_exec_round_blocks(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, int block)
{
    assert(src->dtype == TL_FLOAT && dst->dtype == TL_FLOAT && src->len == dst->len);
    round_job job = {src->data, dst->data, (size_t)block};
    tl_parallel(exec, (size_t)src->len / (size_t)block, tl_axis_grain((size_t)block / 8),
                round_range, &job);
    return 0;
}
