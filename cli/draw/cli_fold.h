// SPDX-License-Identifier: Apache-2.0
// Repeated blocks of a graph, such as the layers of a transformer.
//
// Boxes are in an order of execution, so that a group of consecutive boxes never makes a cycle. A
// repeat is a sequence of copies: equal boxes in the same order, each copy reading results of the
// one before it. Copies may contain repeats. Long lists become parts, for drawing.
//
//     cli_folding f = {.n = n, .tokens = tokens, .n_edges = n_edges, .edges = edges};
//     if (!cli_fold(&f))
//         ... f.groups ...
//     free(f.groups);

#pragma once

/** From a box to a later one, in the order of `to`. `tensor`: the number of what it reads. */
typedef struct cli_edge {
    int from, to;
    int tensor;
} cli_edge;

typedef enum cli_group_what { CLI_REPEAT, CLI_COPY, CLI_PART } cli_group_what;

/** Consecutive boxes. */
typedef struct cli_group {
    cli_group_what what;
    int first, end; // boxes, without `end`
    int parent;     // a group before it, or -1
    int count;      // of a repeat: copies; if count == end - first, each copy is one box and has no
                    // group
} cli_group;

typedef struct cli_folding {
    int n;             // boxes
    const int *tokens; // equal for equal boxes
    int n_edges;
    const cli_edge *edges;
    cli_group *groups; // outer ones before inner ones, otherwise in the order of boxes (free)
    int n_groups, capacity;
} cli_folding;

/** Finds the groups. -1: no memory. */
int cli_fold(cli_folding *f);
