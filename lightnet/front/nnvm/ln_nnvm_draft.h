// SPDX-License-Identifier: Apache-2.0
// Builds a graph of NNVM core operators, and writes it.
//
// As with ln_emit.h, callers need not check for failures: the first one is recorded in the
// translation, and all further calls do nothing.
//
//     ln_nnvm_draft_begin(d, "leaky_relu", "act1");
//     ln_nnvm_draft_set(d, LN_ENTRY(src));
//     ln_nnvm_draft_set(d, LN_NUMBER("alpha", 0.01));
//     const ln_nnvm_entry dst = ln_nnvm_draft_end(d, 1);
//
// Begin a node only after ln_nnvm_draft_end of the previous one. Returned entries stay valid.

#pragma once

#include "front/ln_emit.h"
#include "front/nnvm/ln_nnvm_graph.h"

struct ln_nnvm_draft_node;

typedef struct ln_nnvm_draft {
    ln_translation base; // `file`: that of the graph, "-" for standard output
    struct ln_nnvm_draft_node *nodes;
    size_t n_nodes;
    size_t source; // the node of the source graph that new nodes replace
    ln_nnvm_entry *heads;
    size_t n_heads;
    ln_hash *variables; // names of variables
    ln_hash *names;     // names of tensors and nodes
    ln_hash *steps;     // prefix of step names -> int, its last number
    // The source of graph attributes, with the same core operators; NULL: none. Lists with a value
    // for each entry follow the new order of entries.
    const ln_nnvm_graph *graph;
    json_t *attrs; // graph attributes, set when the order of nodes is known
} ln_nnvm_draft;

/** An empty graph that will be written to `file`. Clear it also after a failure. */
void ln_nnvm_draft_init(ln_nnvm_draft *d, ln_context *ctx, const char *file);
void ln_nnvm_draft_clear(ln_nnvm_draft *d);

/** Variables: LN_NNVM_INPUT is written even if no output needs it; LN_NNVM_PARAMETER comes after
 * others, in the order of nodes, so that parameters of a graph that is read and written again keep
 * their order. */
typedef enum ln_nnvm_variable {
    LN_NNVM_VARIABLE,
    LN_NNVM_INPUT,
    LN_NNVM_PARAMETER
} ln_nnvm_variable;

/** Adds a variable, a parameter if it has data. `like` has its type and shape; NULL: unknown.
 * `data`, which must live until the graph is written, goes to the parameter file; NULL: none.
 * Inputs are in the order of these calls. */
ln_nnvm_entry ln_nnvm_draft_variable(ln_nnvm_draft *d, ln_nnvm_variable kind, const char *name,
                                     const tl_tensor *like, const tl_tensor *data);

/** Sets the data type of the last variable, whose shape is unknown. */
void ln_nnvm_draft_set_variable_dtype(ln_nnvm_draft *d, tl_dtype dtype);

/** Adds a parameter with these elements (copied) and a unique name like `wanted`. */
ln_nnvm_entry ln_nnvm_draft_constant(ln_nnvm_draft *d, const char *wanted, tl_dtype dtype, int ndim,
                                     const int *dims, const void *data);

/** Reserves a name (borrowed). */
void ln_nnvm_draft_reserve_name(ln_nnvm_draft *d, const char *name);

/** A unique name for a node: that of an operator and `what`, the purpose; NULL after a failure. */
const char *ln_nnvm_draft_step(ln_nnvm_draft *d, const char *label, const char *what);

/** Begins a node with an operator; copies the strings. */
void ln_nnvm_draft_begin(ln_nnvm_draft *d, const char *op, const char *name);

/** Adds a control dependency: a node that must run before. */
void ln_nnvm_draft_dep(ln_nnvm_draft *d, ln_nnvm_entry entry);

/** The last node corresponds to node `i` of `graph`. */
void ln_nnvm_draft_set_origin(ln_nnvm_draft *d, size_t i);

/** Parts of a node: ((first, second), ..), and an input. */
#define LN_PAIRS(param, n, first, second) \
    ((ln_part){LN_PART_PAIRS, param, .len = n, .ints = first, .seconds = second})
#define LN_ENTRY(input) ln_nnvm_draft_input_part(input)
ln_part ln_nnvm_draft_input_part(ln_nnvm_entry entry);

/** Adds an input or an attribute to the node; a tuple of one is (3,). Types without a name in
 *  attributes are errors. */
void ln_nnvm_draft_set(ln_nnvm_draft *d, ln_part part);

/** Ends the node, which has `n_outs` outputs, hidden ones included. Returns output 0. */
ln_nnvm_entry ln_nnvm_draft_end(ln_nnvm_draft *d, uint32_t n_outs);

/** Renames the node that produces `entry` (copied). */
void ln_nnvm_draft_rename(ln_nnvm_draft *d, ln_nnvm_entry entry, const char *name);

/** The node that produces `entry`: its name (borrowed until it is renamed; "" after a failure), its
 *  operator ("null": a variable), and its input `i`. */
const char *ln_nnvm_draft_name(const ln_nnvm_draft *d, ln_nnvm_entry entry);
const char *ln_nnvm_draft_op(const ln_nnvm_draft *d, ln_nnvm_entry entry);
ln_nnvm_entry ln_nnvm_draft_input(const ln_nnvm_draft *d, ln_nnvm_entry entry, size_t i);

/** Adds an output to the graph. */
void ln_nnvm_draft_head(ln_nnvm_draft *d, ln_nnvm_entry entry);

/** Node `i` as a vertex without a row. If it corresponds to one of `nodes`, it has that vertex's
 * fields, else its origin is the vertex that it replaces. Borrows from the draft. */
ln_nnvm_vertex ln_nnvm_draft_vertex(const ln_nnvm_draft *d, size_t i, const ln_nnvm_vertex *nodes);

/** Writes the nodes that outputs need, inputs before users, and unread inputs; and parameters with
 * data to FILE.params (ln_data_name_beside). -1 with the reason in the context: writes neither. */
int ln_nnvm_draft_write(ln_nnvm_draft *d);
