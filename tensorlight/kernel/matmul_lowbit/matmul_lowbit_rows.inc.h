// SPDX-License-Identifier: Apache-2.0
// Template: rows of floats as integers of one or three bytes, see matmul_lowbit.h. The source that
// includes it defines, for `n` elements of a block,
//
//     largest_bits(src, n)   the bits of the max magnitude; those of infinity or more: not finite
//     write_limbs, write_bytes(src, n, factor, limbs, head)   three limbs, one limb, and their sums

#include "kernel/matmul_lowbit/matmul_lowbit_units.h"

static void prepare_block(const tl_lowbit_job *job, const float *src, char *dst)
{
    const size_t block = (size_t)job->param.block;
    const int32_t zero = job->param.has_zeros ? 1 : job->param.zero;
    const uint32_t max = largest_bits(src, block);
    const int is_finite = max < 0x7f800000;
    float factor;
    tl_lowbit_head head = {.is_finite = job->limbs == 1 || is_finite};
    int8_t *const limbs = (int8_t *)dst + sizeof(head);
    if (!is_finite)
        memset(limbs, 0, job->limbs * block);
    if (job->limbs == 1)
        tl_lowbit_scale_bytes(max, &factor, &head.unit);
    else if (is_finite)
        tl_lowbit_scale_limbs(max, &factor, &head.unit);
    if (is_finite && job->limbs == 1)
        write_bytes(src, block, factor, limbs, &head);
    else if (is_finite)
        write_limbs(src, block, factor, limbs, &head);
    head.high *= -zero;
    head.low *= -zero;
    memcpy(dst, &head, sizeof(head));
}

// A block that has fewer elements is filled with 0.
static void prepare_row(const tl_lowbit_job *job, const float *src, char *dst)
{
    const size_t block = (size_t)job->param.block, rest = job->k % block;
    float last[TL_LOWBIT_MAX_BLOCK] = {0};
    for (size_t k = 0; k + rest < job->k; k += block, dst += tl_lowbit_block_size(job))
        prepare_block(job, src + k, dst);
    if (rest == 0)
        return;
    memcpy(last, src + job->k - rest, rest * sizeof(*last));
    prepare_block(job, last, dst);
}
