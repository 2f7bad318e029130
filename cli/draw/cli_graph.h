// SPDX-License-Identifier: Apache-2.0
// The graph of a model as diagrams draw it: boxes, edges, and groups of boxes (cli_fold.h).
//
//     cli_graph graph;
//     if (!cli_graph_create(&graph, ctx))
//         for (const cli_box *b = graph.boxes; b < graph.boxes + graph.folding.n; b++) ...
//     cli_graph_free(&graph);
//
// A subgraph that operators run (ln_body.h) has a graph of its own.
//
// Constants, operators at load, and compiled views of one tensor have no boxes: edges lead from the
// producer of a view's memory to its readers. Inputs are beside their first readers, outputs beside
// their producers, so that the caches of a decoder's layer belong to the layer.

#pragma once

#include "draw/cli_fold.h"
#include "lightnet/lightnet.h"

/** In addition to ln_kind, the kind of inputs and outputs of the model. */
enum { CLI_PORT = LN_N_KINDS };

/** The identifier of a kind for colors, such as "convolution", and the name of one for people. */
const char *cli_kind_id(int kind);
const char *cli_kind_name(ln_kind kind);

enum { CLI_BOX_LABEL = 96 };

typedef enum cli_box_what { CLI_BOX_OP, CLI_BOX_INPUT, CLI_BOX_OUTPUT } cli_box_what;

typedef struct cli_box {
    cli_box_what what;
    const ln_op *op;           // of an input or output: its producer
    const ln_tensor_entry *te; // the first output of an operator; NULL: it has none
    int kind;                  // an ln_kind, or CLI_PORT
    char label[CLI_BOX_LABEL]; // of an operator: types of the model's nodes, such as "Conv + Relu"
} cli_box;

typedef struct cli_graph {
    const ln_context *ctx;
    cli_box *boxes;
    cli_edge *edges;
    int *tokens;
    const ln_tensor_entry **tensors; // by their numbers in edges
    cli_folding folding;             // of the boxes, with the number of boxes and edges
} cli_graph;

/** Borrows the context's operators and tensors. Returns 0, or CLI_FAILED after a message; free in
 * any case. */
int cli_graph_create(cli_graph *graph, const ln_context *ctx);

void cli_graph_free(cli_graph *graph);

/** Subgraph `i` of those that the operator runs; NULL: no more. Returns borrowed. */
const ln_context *cli_graph_body(const ln_op *op, int i);

/** The name of a box: that of the first node of the model, else of the operator or the tensor.
 * Returns borrowed. */
const char *cli_box_name(const cli_box *box);
