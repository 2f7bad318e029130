// SPDX-License-Identifier: Apache-2.0
// Gathers channels in the blocked layout, see channels_blocked.h.

#include "kernel/channels_blocked/channels_blocked.h"

#include <string.h>

#include "kernel/simd/tl_simd_quad.h"
#include "kernel/simd/tl_simd_small.h"

// The lanes of a result vector that come from one source vector.
typedef struct piece {
    const float *src;
    tl_vp pick;
} piece;

// Finds the pieces of the vector at `lane` of the results; returns their number.
static int find_pieces(const tl_block_part *parts, int n_parts, int lane, piece *pieces)
{
    int n = 0;
    for (int p = 0; p < n_parts; p++)
        for (int base = 0; base < TL_BLOCK; base += TL_VF_LANES) {
            int32_t from[TL_VF_LANES];
            int any = 0;
            for (int k = 0; k < TL_VF_LANES; k++) {
                const int32_t at = parts[p].from[lane + k];
                const int is_here = at >= base && at < base + (int)TL_VF_LANES;
                from[k] = is_here ? at - base : -1;
                any |= is_here;
            }
            if (any)
                pieces[n++] = (piece){(const float *)parts[p].src + base, tl_vp_load(from)};
        }
    return n;
}

// If `n` is a constant, the picks stay in registers.
TL_INLINE void merge(const piece *pieces, const int n, float *dst, size_t pixels)
{
    for (size_t i = 0; i < pixels; i++) {
        tl_vf v = tl_vf_zero();
        for (int p = 0; p < n; p++)
            v = tl_vf_pick(pieces[p].pick, tl_vf_load(pieces[p].src + i * TL_BLOCK), v);
        tl_vf_store(dst + i * TL_BLOCK, v);
    }
}

void SIMD(tl_pick_channels)(const tl_block_part *parts, int n_parts, void *dst, size_t n)
{
    piece pieces[TL_BLOCK]; // a lane comes from one piece
    for (int lane = 0; lane < TL_BLOCK; lane += TL_VF_LANES) {
        const int n_pieces = find_pieces(parts, n_parts, lane, pieces);
        if (n_pieces == 1)
            merge(pieces, 1, (float *)dst + lane, n);
        else if (n_pieces == 2)
            merge(pieces, 2, (float *)dst + lane, n);
        else if (n_pieces == 3)
            merge(pieces, 3, (float *)dst + lane, n);
        else
            merge(pieces, n_pieces, (float *)dst + lane, n);
    }
}

// Bytes: a pixel is a vector

#ifndef TL_SIMD_HEADER // plain C

void tl_pick_channels_u8_c(const tl_block_part *parts, int n_parts, void *dst, size_t n)
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

// The bytes of a pixel that come from one source pixel.
typedef struct byte_piece {
    const uint8_t *src;
    tl_v16 from;
} byte_piece;

static byte_piece piece_of(const tl_block_part *part)
{
    uint8_t from[TL_BLOCK];
    for (int k = 0; k < TL_BLOCK; k++)
        from[k] = part->from[k] < 0 ? UINT8_MAX : (uint8_t)part->from[k];
    return (byte_piece){part->src, tl_v16_load(from)};
}

// If `n` is a constant, the picks stay in registers.
TL_INLINE void merge_bytes(const byte_piece *pieces, const int n, uint8_t *dst, size_t pixels)
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

void SIMD_OF(tl_pick_channels_u8)(const tl_block_part *parts, int n_parts, void *dst, size_t n)
{
    byte_piece pieces[TL_BLOCK]; // a lane comes from one piece
    for (int p = 0; p < n_parts; p++)
        pieces[p] = piece_of(&parts[p]);
    if (n_parts == 1)
        merge_bytes(pieces, 1, dst, n);
    else if (n_parts == 2)
        merge_bytes(pieces, 2, dst, n);
    else if (n_parts == 3)
        merge_bytes(pieces, 3, dst, n);
    else
        merge_bytes(pieces, n_parts, dst, n);
}

#endif
