// SPDX-License-Identifier: Apache-2.0
// Forests: tree ensembles of any version of the domain ai.onnx.ml. The vertices of a forest are
// branches, of any comparison, or leaves. It becomes nodes of the operator tree_ensemble, which
// only compare with <= (tl_tree.h): one or two for a branch, a binary search for membership of a
// set.

#pragma once

#include "front/onnx/ln_onnx_model.h"

/** In the order of nodes_modes of TreeEnsemble. */
typedef enum ln_onnx_tree_mode {
    LN_TREE_LEQ,
    LN_TREE_LT,
    LN_TREE_GTE,
    LN_TREE_GT,
    LN_TREE_EQ,
    LN_TREE_NEQ,
    LN_TREE_MEMBER,
    LN_TREE_LEAF,
    LN_TREE_MODES
} ln_onnx_tree_mode;

typedef struct ln_onnx_numbers {
    const double *at;
    int len;
} ln_onnx_numbers;

/** The votes of leaves: weight[i] for target[i] in vertex[i]. */
typedef struct ln_onnx_votes {
    int len;
    int *vertex, *target;
    const double *weight;
} ln_onnx_votes;

typedef struct ln_onnx_forest {
    ln_onnx_node *n;
    tl_dtype dtype; // to compute in
    int features;   // of a row
    int len;        // vertices
    uint8_t *mode, *tracks_true;
    int *feature;
    const double *split;
    int *child;         // [len, 2]
    int *set;           // [len + 1]: the members of a branch on a set, or NULL
    double *members;    // sorted within a set
    int n_roots, *root; // vertices
    int n_targets;
    ln_onnx_votes votes;
    ln_onnx_numbers base;
    const char *aggregate; // a name of tl_tree_aggregate
} ln_onnx_forest;

/** Memory of the translation, zeroed; NULL after a failure. */
void *ln_onnx_forest_array(ln_onnx_node *n, size_t len, size_t size);

/** Emits the aggregated votes, [N, targets], of the rows of input 0. Returns their tensor. */
const char *ln_onnx_emit_forest(const ln_onnx_forest *w);
