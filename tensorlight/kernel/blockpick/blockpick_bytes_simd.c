// SPDX-License-Identifier: Apache-2.0
// Channels picked from 8-bit tensors in the blocked layout: a pixel is a vector.

#include "kernel/blockpick/blockpick.h"

#include <string.h>

#include "kernel/simd/tl_simd_quad.h"
#include "kernel/simd/tl_simd_small.h"

#ifndef TL_SIMD_HEADER // plain C

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

#else

/** What a pixel takes from one pixel of a source. */
typedef struct piece {
    const uint8_t *src;
    tl_v16 from;
} piece;

static piece piece_of(const tl_block_part *part)
{
    uint8_t from[TL_BLOCK];
    for (int k = 0; k < TL_BLOCK; k++)
        from[k] = part->from[k] < 0 ? UINT8_MAX : (uint8_t)part->from[k];
    return (piece){part->src, tl_v16_load(from)};
}

/** Where `n` is a constant, the picks stay in registers. */
TL_INLINE void merge(const piece *pieces, const int n, uint8_t *dst, size_t pixels)
{
    for (size_t i = 0; i < pixels; i++) {
        tl_v16 v = tl_v16_pick(tl_v16_load(pieces[0].src + i * TL_BLOCK), pieces[0].from);
        for (int p = 1; p < n; p++) {
            const tl_v16 x = tl_v16_load(pieces[p].src + i * TL_BLOCK);
            v = tl_v16_or(v, tl_v16_pick(x, pieces[p].from));
        }
        tl_v16_store(dst + i * TL_BLOCK, v);
    }
}

void SIMD_OF(tl_blockpick_u8)(const tl_block_part *parts, int n_parts, void *dst, size_t n)
{
    piece pieces[TL_BLOCK]; // a lane comes from one piece
    for (int p = 0; p < n_parts; p++)
        pieces[p] = piece_of(&parts[p]);
    if (n_parts == 1)
        merge(pieces, 1, dst, n);
    else if (n_parts == 2)
        merge(pieces, 2, dst, n);
    else if (n_parts == 3)
        merge(pieces, 3, dst, n);
    else
        merge(pieces, n_parts, dst, n);
}

#endif
