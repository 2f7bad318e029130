// SPDX-License-Identifier: Apache-2.0
// Kernels of decision trees, and the memory layout of packed trees.
//
// Rows are searched in blocks of TL_TREE_ROWS, whose features are adjacent: column c of a block
// is one feature, or negated feature, of all of its rows. Only features that a branch compares are
// columns. All nodes are in one array; a leaf is its own child, so rows that arrive early may go
// on.
//
// The branches of the first TL_TREE_LEVELS levels of a tree are also in its record, as a complete
// binary tree (the children of branch i are 2i + 1 and 2i + 2). Vectors of rows evaluate all of
// them and select one of the exits, without any gathered load; a walk of eight rows, or trees, in
// turns continues from there. Below a leaf within these levels, all exits are that leaf.
//
//     packed trees: header | features of columns | records of trees | nodes

#pragma once

#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_tree.h"

enum {
    TL_TREE_ROWS = 64,   // of a block
    TL_TREE_SHIFT = 6,   // its logarithm
    TL_TREE_LEVELS = 4,  // that vectors evaluate
    TL_TREE_EXITS = 16,  // of these levels
    TL_TREE_LANES = 8,   // of an interleaved walk
    TL_TREE_ALIGN = 64,  // of the parts of packed trees
    TL_TREE_BLOCKS = 8,  // max blocks that are searched in the same trees
    TL_TREE_FEW_ROWS = 8 // fewer are searched one by one, in several trees alternately
};

typedef struct tl_tree_header {
    uint32_t dtype, nodes, trees, columns;
    uint32_t is_simple; // a leaf has its only vote, for target 0, in place of its number
} tl_tree_header;

/** The record of a tree, and a node, for each type. Columns are multiples of TL_TREE_ROWS: the
 * offset of a column in a block. */
#define TL_TREE_TYPES(type, T)                                                    \
    typedef struct tl_tree_##type {                                               \
        uint32_t root, depth; /* max branches from it to a leaf */                \
        uint32_t column[TL_TREE_EXITS - 1], exit[TL_TREE_EXITS];                  \
        T split[TL_TREE_EXITS - 1];                                               \
    } tl_tree_##type;                                                             \
    typedef struct tl_tree_node_##type {                                          \
        union {                                                                   \
            T split;       /* of a branch; of a leaf its vote if is_simple, or */ \
            uint32_t leaf; /* its number */                                       \
        } u;                                                                      \
        uint32_t column;                                                          \
        uint32_t child[2];                                                        \
    } tl_tree_node_##type;
TL_TREE_TYPES(f32, float)
TL_TREE_TYPES(f64, double)

/** Trees and rows: direct or packed. */
typedef struct tl_tree_job {
    const tl_trees *direct; // NULL: packed
    const tl_tree_header *header;
    const uint32_t *columns; // their features
    const void *trees, *nodes;
    tl_tree_votes votes;
    size_t n_leaves;
    const void *src, *base; // base may be NULL
    void *dst;
    size_t rows, features, targets;
    tl_tree_aggregate aggregate;
    const struct tl_tree_type *type;
    void (*find)(const void *tree, const void *nodes, const void *block, size_t rows, uint32_t *at);

    // Scratch memory: of each slot, or of few rows.
    char *scratch;
    size_t slot_size, unit; // rows of a unit
    size_t group;           // trees that fit the L2 cache with the blocks of a unit
    const tl_stop *stop;
    int is_cyclic; // result of the direct walk
} tl_tree_job;

/** Finds the leaves of the first `rows` rows of a block in a tree, as nodes: at [TL_TREE_ROWS].
 *  The block has numbers in all columns of all rows up to a multiple of 16. */
typedef void tl_tree_find(const void *tree, const void *nodes, const void *block, size_t rows,
                          uint32_t *at);

#define TL_ROWS_TREES(ROW, arg, kernel, set, isa) \
    ROW(arg, kernel##_f64_##set, TL_DOUBLE, isa)  \
    ROW(arg, kernel##_f32_##set, TL_FLOAT, isa)

#define TL_TREE_KERNELS(ROW, arg)                    \
    TL_KERNELS(ROW, arg, tl_tree_find, TREES, PLAIN) \
    TL_KERNELS(ROW, arg, tl_tree_find, F32, SIMD)
TL_TREE_KERNELS(TL_KERNEL_DECLARE, tl_tree_find)

/** Functions that do not depend on the instruction set, for each type. */
typedef struct tl_tree_type {
    size_t node_size, tree_size, element_size;

    /** Rows begin .. end-1 of a direct tl_tree_job at `arg`. */
    void (*direct)(void *arg, size_t begin, size_t end);

    /** Units begin .. end-1 of `unit` rows, with the memory of a slot. */
    void (*blocks)(void *arg, size_t slot, size_t begin, size_t end);

    /** Values of the columns of few rows, [rows, columns], to `values`. */
    void (*values)(const tl_tree_job *job, void *values);

    /** The leaves of a row in the trees begin .. end-1, to the nodes `at` of all trees. */
    void (*find_row)(const tl_tree_job *job, const void *values, size_t begin, size_t end,
                     uint32_t *at);

    /** The result of a row whose leaves are known. */
    void (*sum_row)(const tl_tree_job *job, size_t row, const uint32_t *at);

    /** Writes the node: a branch, or a leaf whose column is 0. */
    void (*write)(void *nodes, size_t node, const tl_trees *trees, int is_simple, uint32_t column);

    /** Writes the record of a tree over written nodes. */
    void (*write_tree)(void *trees, size_t tree, const void *nodes, uint32_t root, uint32_t depth);

    /** Whether all records and nodes stay within these numbers of nodes and columns. */
    int (*is_valid)(const tl_tree_header *header, const void *trees, const void *nodes);
} tl_tree_type;

extern const tl_tree_type tl_tree_type_f32_c, tl_tree_type_f64_c;

static inline const tl_tree_type *tl_tree_type_of(tl_dtype dtype)
{
    return dtype == TL_DOUBLE ? &tl_tree_type_f64_c : &tl_tree_type_f32_c;
}

/** The parts of packed trees of some capacity, as offsets. */
typedef struct tl_tree_parts {
    size_t columns, trees, nodes, size;
} tl_tree_parts;

/** For `n_columns` columns. `size` is SIZE_MAX if it were more than a tensor may have. */
tl_tree_parts tl_tree_parts_of(tl_dtype dtype, size_t n_nodes, size_t n_trees, size_t n_columns);

/** -1 with a reason: a leaf or one of `targets` is out of range. Sets the number of leaves. */
int tl_tree_check_votes(const tl_tree_votes *votes, int targets, size_t *n_leaves);

/** -1 with a reason: a node, feature or leaf is out of range. */
int tl_tree_check_nodes(const tl_trees *trees, int features, size_t n_leaves);
