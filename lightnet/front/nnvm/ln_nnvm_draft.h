// SPDX-License-Identifier: Apache-2.0
// A graph of NNVM's core operators under construction, to be written.
//
// As with ln_emit.h, everything is written as if nothing could fail: the first failure is recorded
// in the translation, and from then on every function does nothing.
//
//     ln_nnvm_draft_begin(d, "leaky_relu", "act1");
//     ln_nnvm_draft_arg(d, src);
//     ln_nnvm_draft_set(d, LN_NUMBER("alpha", 0.01));
//     const ln_nnvm_entry dst = ln_nnvm_draft_end(d, 1);
//
// Nodes may be begun while others are unfinished only after ln_nnvm_draft_end; an entry that was
// returned stays valid.

#ifndef LN_NNVM_DRAFT_H
#define LN_NNVM_DRAFT_H

#include "front/ln_emit.h"
#include "front/nnvm/ln_nnvm_graph.h"

struct ln_nnvm_draft_node;

typedef struct ln_nnvm_draft {
    ln_translation base; /* `file`: that of the graph, "-" for standard output */
    struct ln_nnvm_draft_node *nodes;
    size_t n_nodes;
    size_t source; /* the node of the graph that nodes are drafted for now */
    ln_nnvm_entry *heads;
    size_t n_heads;
    ln_hash *variables;         /* their names */
    const ln_nnvm_graph *graph; /* whose attributes it has; NULL: it has none */
    json_t *attrs;              /* they, once the order of the nodes is known */
} ln_nnvm_draft;

/** An empty graph that will be written to `file`. Clear it also after a failure. */
void ln_nnvm_draft_init(ln_nnvm_draft *d, ln_context *ctx, const char *file);
void ln_nnvm_draft_clear(ln_nnvm_draft *d);

/** A variable: an input, or a parameter if it has data. `like` has its type and shape, NULL: they
 *  are not known. `data`, which must live until the graph is written, goes to the file of
 *  parameters; NULL: none. Inputs are in the order of these calls. */
ln_nnvm_entry ln_nnvm_draft_variable(ln_nnvm_draft *d, const char *name, const tl_tensor *like,
                                     const tl_tensor *data);

/** The data type of the variable that was made last, when its shape is not known. */
void ln_nnvm_draft_set_variable_dtype(ln_nnvm_draft *d, tl_dtype dtype);

/** The same, among the variables behind all of those, in the order of the nodes: whoever writes a
 *  graph that was read does not meet parameters in the order in which he met them before. */
ln_nnvm_entry ln_nnvm_draft_parameter(ln_nnvm_draft *d, const char *name, const tl_tensor *like,
                                      const tl_tensor *data);

/** A parameter with these elements (copied), under a name like `wanted` that none has. */
ln_nnvm_entry ln_nnvm_draft_constant(ln_nnvm_draft *d, const char *wanted, tl_dtype dtype, int ndim,
                                     const int *dims, const void *data);

/** Begins an operator's node; the texts are copied. */
void ln_nnvm_draft_begin(ln_nnvm_draft *d, const char *op, const char *name);

/** Its next input. */
void ln_nnvm_draft_arg(ln_nnvm_draft *d, ln_nnvm_entry entry);

/** A control dependency: a node that must run before it. */
void ln_nnvm_draft_dep(ln_nnvm_draft *d, ln_nnvm_entry entry);

/** Node `i` of the graph ln_nnvm_draft_keep_attrs is given is the one that was begun last. */
void ln_nnvm_draft_set_origin(ln_nnvm_draft *d, size_t i);

/** ((first, second), ..); and inputs, as parts of a node. */
#define LN_PAIRS(param, n, first, second) \
    ((ln_part){LN_PART_PAIRS, param, .len = n, .ints = first, .seconds = second})
#define LN_ENTRY(input) ln_nnvm_draft_input_part(input)
ln_part ln_nnvm_draft_input_part(ln_nnvm_entry entry);

/** Its attribute; a tuple of one is (3,). A type has the name that attributes have for it, or is a
 *  failure. */
void ln_nnvm_draft_set(ln_nnvm_draft *d, ln_part part);

/** Its inputs and attributes. */
void ln_nnvm_draft_parts(ln_nnvm_draft *d, const ln_part *parts);

/** Ends the node, which has `n_outs` outputs, hidden ones included. Returns output 0. */
ln_nnvm_entry ln_nnvm_draft_end(ln_nnvm_draft *d, uint32_t n_outs);

/** Gives the node that makes `entry` another name (copied). */
void ln_nnvm_draft_rename(ln_nnvm_draft *d, ln_nnvm_entry entry, const char *name);

/** The node that makes `entry`: its name (borrowed until it gets another one; "" after a failure),
 *  its operator ("null": a variable), and its input `i`. */
const char *ln_nnvm_draft_name(const ln_nnvm_draft *d, ln_nnvm_entry entry);
const char *ln_nnvm_draft_op(const ln_nnvm_draft *d, ln_nnvm_entry entry);
ln_nnvm_entry ln_nnvm_draft_input(const ln_nnvm_draft *d, ln_nnvm_entry entry, size_t i);

/** The next output of the graph. */
void ln_nnvm_draft_head(ln_nnvm_draft *d, ln_nnvm_entry entry);

/** Lets the graph have the attributes of `g` (kept until it is written), whose core operators it
 * has; those with a value for each entry in its own order of entries. */
void ln_nnvm_draft_keep_attrs(ln_nnvm_draft *d, const ln_nnvm_graph *g);

/** Node `i` as a vertex of a graph, without a row: that of `nodes` which it is, or one whose origin
 * is what it was drafted for. Borrows from the draft. */
ln_nnvm_vertex ln_nnvm_draft_vertex(const ln_nnvm_draft *d, size_t i, const ln_nnvm_vertex *nodes);

/** Writes what the heads need, inputs before users, and the parameters that have data to the file
 *  beside (ln_data_file_beside, .params). -1 with the reason in the context: neither file is
 *  there. */
int ln_nnvm_draft_write(ln_nnvm_draft *d);

#endif
