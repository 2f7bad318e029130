// SPDX-License-Identifier: Apache-2.0
// The walk through nodes of eight rows, or of a row through eight trees, in turns: the loads of one
// overlap those of the others, and no branch depends on a comparison.

#pragma once

#include "kernel/tree/tree.h"

#if defined(__clang__)
#define TL_TREE_EACH_LANE _Pragma("clang loop unroll(full)") for (int k = 0; k < TL_TREE_LANES; k++)
#else
#define TL_TREE_EACH_LANE _Pragma("GCC unroll 8") for (int k = 0; k < TL_TREE_LANES; k++)
#endif

/** Defines tl_tree_walk_<type>_each: at most `depth` branches from the nodes `at`. Lane k reads
 * column c at x[(c >> shift) + k * step]. Every fourth step checks whether all are leaves. */
#define TL_TREE_WALK(type, T)                                                                  \
    TL_INLINE void tl_tree_walk_##type##_each(const tl_tree_node_##type *nodes, const T *x,    \
                                              int shift, int step, uint32_t depth,             \
                                              uint32_t at[TL_TREE_LANES])                      \
    {                                                                                          \
        while (depth > 0) {                                                                    \
            const uint32_t n = depth < 4 ? depth : 4;                                          \
            for (uint32_t s = 0; s < n; s++)                                                   \
                TL_TREE_EACH_LANE                                                              \
                {                                                                              \
                    const tl_tree_node_##type *const node = &nodes[at[k]];                     \
                    at[k] = node->child[!(x[(node->column >> shift) + (uint32_t)(k * step)] <= \
                                          node->u.split)];                                     \
                }                                                                              \
            depth -= n;                                                                        \
            uint32_t moves = 0;                                                                \
            for (int k = 0; k < TL_TREE_LANES && depth > 0; k++)                               \
                moves |= nodes[at[k]].child[0] ^ at[k];                                        \
            if (!moves)                                                                        \
                return;                                                                        \
        }                                                                                      \
    }
