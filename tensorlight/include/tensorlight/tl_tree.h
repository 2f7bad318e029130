// SPDX-License-Identifier: Apache-2.0
// Ensembles of decision trees: the leaf that each row reaches in each tree votes for targets, and
// the votes for a target are aggregated.
//
// A branch compares one feature x of a row with a number: x <= split goes to its first child, all
// else, also NaN, to its second one. The features F .. 2F-1 are the negated features 0 .. F-1:
// with them, one comparison expresses <, <=, > and >= with NaN on either side.
//
//     x < t    x <= the number before t        NaN is false
//     x >= t   the negated x <= -t             NaN is false
//     x < t    children swapped: x >= t        NaN is true
//
// Sums are bit-identical on every instruction set and for any number of threads: votes are added
// in the order of trees, and within a leaf in the order of its votes, from 0 on.
//
//     const size_t size = tl_trees_packed(&trees, features);
//     // packed: TL_UINT8 [size], once for all runs
//     tl_exec_trees_pack(&exec, &trees, features, packed);
//     tl_exec_trees_packed(&exec, src, packed, &votes, base, dst, TL_TREE_SUM);
//
// All functions trust their caller like all tl_exec_X (tl_tensor.h), except for the contents of the
// tensors of trees, which they check.

#ifndef TL_TREE_H
#define TL_TREE_H

#include <stddef.h>

#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

/** How the votes for a target are combined. Without votes: 0. */
typedef enum tl_tree_aggregate {
    TL_TREE_INVALID = -1,
    TL_TREE_SUM,
    TL_TREE_AVERAGE, // the sum divided by the number of trees
    TL_TREE_MIN,     // the first of equal votes; a NaN that is not the first one loses
    TL_TREE_MAX,
    TL_TREE_SIZE
} tl_tree_aggregate;

/** "TL_TREE_SUM", ..; NULL for another value. And the value of a name, or TL_TREE_INVALID. */
TL_API const char *tl_tree_aggregate_name(tl_tree_aggregate aggregate);
TL_API tl_tree_aggregate tl_tree_aggregate_from_str(const char *str);

/** The votes of leaves: leaf l has the votes start[l] .. start[l + 1] - 1; vote k adds weight[k] to
 *  target[k]. */
typedef struct tl_tree_votes {
    const tl_tensor *weight; // [V], TL_FLOAT or TL_DOUBLE
    const tl_tensor *target; // TL_INT32 [V]; NULL: all are for target 0
    const tl_tensor *start;  // TL_INT32 [L + 1]; NULL: leaf l has vote l
} tl_tree_votes;

/** Trees of N nodes. Node i is a leaf if feature[i] < 0. Trees may share nodes, but have no
 *  cycles. */
typedef struct tl_trees {
    const tl_tensor *split;   // [N], of the dtype of weight
    const tl_tensor *feature; // TL_INT32 [N]
    const tl_tensor *child;   // TL_INT32 [N, 2]: two nodes; of a leaf, its number and any one
    const tl_tensor *root;    // TL_INT32 [T]: the first nodes
    tl_tree_votes votes;
} tl_trees;

/** src [R, F], base [targets] or NULL -> dst [R, targets]; all TL_FLOAT or all TL_DOUBLE, as split
 *  and weight. The direct walk, which defines the result. -1 with a reason: a node, leaf, vote,
 *  feature or target is out of range, or the nodes have a cycle. */
TL_API int tl_exec_trees(const tl_exec *exec, const tl_tensor *src, const tl_trees *trees,
                         const tl_tensor *base, tl_tensor *dst, tl_tree_aggregate aggregate);

/** Bytes of packed trees for rows of `features` features; SIZE_MAX: too large for a tensor. */
TL_API size_t tl_trees_packed(const tl_trees *trees, int features);

/** Bytes of scratch memory that tl_exec_trees_pack needs; SIZE_MAX as above. */
TL_API size_t tl_trees_pack_scratch(const tl_trees *trees, int features);

/** Packs trees for tl_exec_trees_packed -> dst TL_UINT8 [tl_trees_packed(..)]. -1 with a reason as
 *  tl_exec_trees, or exec has less scratch memory. */
TL_API int tl_exec_trees_pack(const tl_exec *exec, const tl_trees *trees, int features,
                              tl_tensor *dst);

/** -1 with a reason: `packed` contains indices outside of its memory, of a row of `features` or of
 *  the votes, so it is not a result of tl_exec_trees_pack for this dtype; or `votes` have a leaf or
 *  one of `targets` that is out of range. */
TL_API int tl_trees_check(const tl_tensor *packed, tl_dtype dtype, int features,
                          const tl_tree_votes *votes, int targets);

/** Bytes of scratch memory that tl_exec_trees_packed needs for `threads` threads; with less it uses
 *  fewer; SIZE_MAX: too large for the address space. */
TL_API size_t tl_trees_scratch(const tl_tensor *src, const tl_tensor *packed, int threads);

/** As tl_exec_trees, of trees that tl_trees_check accepts, with the same bits. -1 with a reason
 *  when exec is NULL or has less scratch memory than for one thread. */
TL_API int tl_exec_trees_packed(const tl_exec *exec, const tl_tensor *src, const tl_tensor *packed,
                                const tl_tree_votes *votes, const tl_tensor *base, tl_tensor *dst,
                                tl_tree_aggregate aggregate);

TL_END_DECLS

#endif
