// SPDX-License-Identifier: Apache-2.0
// The search of a block of rows in a tree of floats: the first levels in vectors of rows.

#include "kernel/simd/tl_simd.h"
#include "kernel/tree/tree.h"
#include "kernel/tree/tree_walk.h"

TL_TREE_WALK(f32, float)

// yes in the lanes whose x goes to the first child of branch `i`, no in the others.
TL_INLINE tl_vf choose(const tl_tree_f32 *tree, const float *block, int i, tl_vf yes, tl_vf no)
{
    const tl_vf x = tl_vf_load(block + tree->column[i]);
    return tl_vf_select(tl_vf_le(x, tl_vf_set1(tree->split[i])), yes, no);
}

// The exits of the rows in the lanes, as numbers: from the last level up, each branch selects one
// of two exits.
TL_INLINE tl_vf find_exits(const tl_tree_f32 *tree, const float *block)
{
    tl_vf exits[TL_TREE_EXITS / 2];
    TL_UNROLL
    for (int i = 0; i < TL_TREE_EXITS / 2; i++)
        exits[i] = choose(tree, block, TL_TREE_EXITS / 2 - 1 + i, tl_vf_set1((float)(2 * i)),
                          tl_vf_set1((float)(2 * i + 1)));
    TL_UNROLL
    for (int n = TL_TREE_EXITS / 4; n > 0; n /= 2) {
        TL_UNROLL
        for (int i = 0; i < n; i++)
            exits[i] = choose(tree, block, n - 1 + i, exits[2 * i], exits[2 * i + 1]);
    }
    return exits[0];
}

void SIMD(tl_tree_find)(const void *tree, const void *nodes, const void *block, size_t rows,
                        uint32_t *at)
{
    const tl_tree_f32 *const t = tree;
    float exits[TL_TREE_ROWS];
    for (size_t r = 0; r < rows; r += TL_VF_LANES)
        tl_vf_store(exits + r, find_exits(t, (const float *)block + r));
    for (size_t r = 0; r < rows; r += TL_TREE_LANES) {
        for (size_t k = 0; k < TL_TREE_LANES; k++)
            at[r + k] = t->exit[(int)exits[r + k]];
        if (t->depth > TL_TREE_LEVELS)
            tl_tree_walk_f32_each(nodes, (const float *)block + r, 0, 1, t->depth - TL_TREE_LEVELS,
                                  at + r);
    }
}
