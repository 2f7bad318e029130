// SPDX-License-Identifier: Apache-2.0
// From planes of bytes to blocks of channels, and back, in plain C.

#include "kernel/blocked/blocked.h"

void tl_to_blocked_u8_c(void *arg, size_t begin, size_t end)
{
    const tl_turn_job *const job = arg;
    for (size_t u = begin; u < end; u++) {
        const tl_turn_strip s = tl_turn_strip_at(job, u);
        const uint8_t *const src = (const uint8_t *)job->src + s.plane;
        uint8_t *const dst = (uint8_t *)job->dst + s.block;
        for (size_t i = s.begin; i < s.end; i++)
            for (int k = 0; k < TL_BLOCK; k++)
                dst[i * TL_BLOCK + k] = k < s.lanes ? src[k * job->pixels + i] : 0;
    }
}

void tl_from_blocked_u8_c(void *arg, size_t begin, size_t end)
{
    const tl_turn_job *const job = arg;
    for (size_t u = begin; u < end; u++) {
        const tl_turn_strip s = tl_turn_strip_at(job, u);
        const uint8_t *const src = (const uint8_t *)job->src + s.block;
        uint8_t *const dst = (uint8_t *)job->dst + s.plane;
        for (int k = 0; k < s.lanes; k++)
            for (size_t i = s.begin; i < s.end; i++)
                dst[k * job->pixels + i] = src[i * TL_BLOCK + k];
    }
}
