// SPDX-License-Identifier: Apache-2.0
// Lays out a graph in rows: positions of nodes, and where edges pass rows.
//
//     cli_layers l = {.n = n, .nodes = nodes, .n_links = n_links, .links = links};
//     if (!cli_layers_find(&l))
//         ... nodes[i].x, l.rows[nodes[i].row].top ...
//     cli_layers_free(&l);
//
// A node's row is the length of the longest path to it; a source is one row above its first reader.
// Within a row the order follows the mean position of neighbours (barycentres), in sweeps down and
// up. An edge over several rows passes those between at a bend, which is a node of them: so it has
// a place of its own there. Source: Sugiyama, Tagawa, Toda: Methods for Visual Understanding of
// Hierarchical System Structures, IEEE Transactions on Systems, Man, and Cybernetics 11 (2), 1981.

#pragma once

/** A node, or a bend. */
typedef struct cli_node {
    double width, height; // given
    double x;             // of its center
    int row;
} cli_node;

/** `from` < `to`. Links are in the order of `to`. */
typedef struct cli_link {
    int from, to;
} cli_link;

typedef struct cli_row {
    double top, bottom;
} cli_row;

typedef struct cli_layers {
    int n, n_links;
    cli_node *nodes;       // [n]
    const cli_link *links; // borrowed
    double gap_x, gap_y;
    cli_row *rows;
    int n_rows;
    double width, height;
    cli_node *bends; // of node i from first_bend[i] on, one for each row after its own
    int *first_bend, n_bends;
} cli_layers;

/** Finds positions of nodes, from 0 on. -1: no memory; free in any case. */
int cli_layers_find(cli_layers *l);

/** The x at which the edges from `node` pass `row`. */
double cli_layers_bend(const cli_layers *l, int node, int row);

/** Frees what cli_layers_find made. */
void cli_layers_free(cli_layers *l);
