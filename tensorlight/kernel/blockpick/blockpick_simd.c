// SPDX-License-Identifier: Apache-2.0
// Channels picked in the blocked layout, see blockpick.h.

#include "kernel/blockpick/blockpick.h"

#include "kernel/simd/tl_simd.h"

/** What a vector of results takes from one vector of a source. */
typedef struct piece {
    const float *src;
    tl_vp pick;
} piece;

/** The pieces of the vector at `lane` of the results; returns how many. */
static int pieces_of(const tl_block_part *parts, int n_parts, int lane, piece *pieces)
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

/** Where `n` is a constant, the picks stay in registers. */
TL_INLINE void merge(const piece *pieces, const int n, float *dst, size_t pixels)
{
    for (size_t i = 0; i < pixels; i++) {
        tl_vf v = tl_vf_zero();
        for (int p = 0; p < n; p++)
            v = tl_vf_pick(pieces[p].pick, tl_vf_load(pieces[p].src + i * TL_BLOCK), v);
        tl_vf_store(dst + i * TL_BLOCK, v);
    }
}

void SIMD(tl_blockpick)(const tl_block_part *parts, int n_parts, void *dst, size_t n)
{
    piece pieces[TL_BLOCK]; // a lane comes from one piece
    for (int lane = 0; lane < TL_BLOCK; lane += TL_VF_LANES) {
        const int n_pieces = pieces_of(parts, n_parts, lane, pieces);
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
