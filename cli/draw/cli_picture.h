// SPDX-License-Identifier: Apache-2.0
// The layout of a graph on paper: rows from top to bottom, and columns if there are many.
//
//     cli_picture *p = cli_picture_create(&graph);
//     double width, height;
//     if (p)
//         cli_picture_arrange(p, &width, &height);
//     cli_picture_free(p);
//
// A block that repeats is a frame with its first copy, which is a picture of its own, and one node
// of the picture around it. Edges from outside enter it at one point of its upper side, and leave
// it at one of its lower side.

#pragma once

#include "draw/cli_graph.h"
#include "draw/cli_layers.h"

enum {
    CLI_PICTURE_WIDTH = 272, // of a box
    CLI_PICTURE_HEIGHT = 50,
    CLI_PICTURE_PORT = 22, // the height of an input or output
    CLI_PICTURE_HEAD = 22, // of a frame, above its content
    CLI_PICTURE_PAD = 12,  // at its other sides
    CLI_PICTURE_COLUMN_GAP = 60,
    CLI_PICTURE_COLUMNS = 64
};

/** Rows from `row` to the next column, moved to the right by `x`. */
typedef struct cli_column {
    int row;
    double x, left, right; // left and right: of its content, before
} cli_column;

/** A node of a picture: a box, or a group with a picture of its first copy, or without. */
typedef struct cli_item {
    int first, end; // boxes of the graph
    const cli_group *group;
    struct cli_picture *inner;
} cli_item;

/** Node 0 of the layers is the outside above, node n + 1 the outside below; item i is node i + 1.
 */
typedef struct cli_picture {
    const cli_graph *graph;
    int first, end; // boxes of the graph
    int is_inner;   // has edges from and to the outside
    cli_item *items;
    int n;
    cli_node *nodes;
    cli_link *links;
    int n_links; // that are drawn; others keep the outside below all
    cli_layers layers;
    double x, y; // of its layers in the diagram, set by the caller
    cli_column columns[CLI_PICTURE_COLUMNS];
    int n_columns;
} cli_picture;

/** Returns new (cli_picture_free), without columns; borrows the graph. NULL: no memory. */
cli_picture *cli_picture_create(const cli_graph *graph);

void cli_picture_free(cli_picture *p);

/** Puts a tall picture into columns, side by side. */
void cli_picture_arrange(cli_picture *p, double *width, double *height);

/** The box of an item; NULL: it is a group. */
const cli_box *cli_picture_box(const cli_picture *p, const cli_item *i);

/** The column of a row, how far its x are moved, and where it begins and ends. */
int cli_picture_column(const cli_picture *p, int row);
double cli_picture_left(const cli_picture *p, int row);
double cli_picture_top(const cli_picture *p, int row);
double cli_picture_bottom(const cli_picture *p, int row);
