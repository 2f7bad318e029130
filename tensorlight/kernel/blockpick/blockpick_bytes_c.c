// SPDX-License-Identifier: Apache-2.0
// Channels picked from 8-bit tensors in the blocked layout, in plain C.

#include <string.h>

#include "kernel/blockpick/blockpick.h"

void tl_blockpick_u8_c(const tl_block_part *parts, int n_parts, void *dst, size_t n)
{
    uint8_t *const to = dst;
    memset(dst, 0, n * TL_BLOCK);
    for (int p = 0; p < n_parts; p++) {
        const uint8_t *const from = parts[p].src;
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < TL_BLOCK; k++)
                if (parts[p].from[k] >= 0)
                    to[i * TL_BLOCK + k] = from[i * TL_BLOCK + parts[p].from[k]];
    }
}
