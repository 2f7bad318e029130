// SPDX-License-Identifier: Apache-2.0
// Rewriting a graph to NNVM's core operators, without shapes: before it is read, or to write it.
//
// A rewriter replaces a node of MXNet by nodes of core operators: it reads the node as a translator
// does (ln_nnvm.h), and adds nodes to a draft. A graph to be read may use LightNet's extensions of
// core. In a graph to be written, a node that core cannot express without shapes is a failure.
//
//     static void rewrite_leaky(ln_nnvm_recast *r)
//     {
//         const double slope = ln_attr_number(&r->node.emit, "slope", 0.25);
//         ln_nnvm_recast_out(r, 0, LN_RECAST(r, "leaky_relu", LN_ENTRY(ln_nnvm_recast_in(r, 0)),
//                                            LN_NUMBER("alpha", slope)));
//     }

#ifndef LN_NNVM_CORE_H
#define LN_NNVM_CORE_H

#include "base/ln_infile.h"
#include "front/nnvm/ln_nnvm.h"
#include "front/nnvm/ln_nnvm_draft.h"
#include "front/nnvm/ln_nnvm_formula.h"

struct ln_nnvm_core;

/** The state of rewriting a node. */
typedef struct ln_nnvm_recast {
    ln_nnvm_node node;
    struct ln_nnvm_core *core;
    ln_nnvm_draft *draft;
    size_t first;   // the first of its nodes in the draft
    int is_reading; // the graph is read, not written
    const ln_nnvm_row *row;
} ln_nnvm_recast;

/** If `lacks` and the graph is written, fails without a message, as core alone cannot express the
 * node: the model is then read, and written with its shapes. */
void ln_nnvm_recast_lacks(ln_nnvm_recast *r, int lacks);

/** Input `i`; fails if it is missing. */
ln_nnvm_entry ln_nnvm_recast_in(ln_nnvm_recast *r, int i);

/** Input `i`, a parameter `arg`, which files of MXNet 0.8 omit. */
ln_nnvm_entry ln_nnvm_recast_weight(ln_nnvm_recast *r, int i, const char *arg);

/** Sets output `i`, the next one. If the entry's node was drafted for this node, it gets its name.
 */
void ln_nnvm_recast_out(ln_nnvm_recast *r, uint32_t i, ln_nnvm_entry entry);

/** Begins a node with these inputs. */
void ln_nnvm_recast_begin(ln_nnvm_recast *r, const char *op, int len, const ln_nnvm_entry *inputs);

/** Ends the node; returns its only output. */
ln_nnvm_entry ln_nnvm_recast_end(ln_nnvm_recast *r);

/** Adds a whole node: LN_RECAST(r, op, part, part, ..), with LN_ENTRY(entry) for an input. */
ln_nnvm_entry ln_nnvm_recast_parts(ln_nnvm_recast *r, const char *op, const ln_part *parts);
#define LN_RECAST(r, op, ...) \
    ln_nnvm_recast_parts(r, op, (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})

/** Copies the attribute, if the MXNet node has it, to the begun node under core's name and in
 * core's notation. */
void ln_nnvm_recast_attr(ln_nnvm_recast *r, const char *key, const char *core_key);

/** The same for all attributes of the row, with defaults; fails if a required one is missing. */
void ln_nnvm_recast_attrs(ln_nnvm_recast *r);

/** Operators of one or two inputs without attributes, and of an input and a scalar. */
ln_nnvm_entry ln_nnvm_recast_unary(ln_nnvm_recast *r, const char *op, ln_nnvm_entry x);
ln_nnvm_entry ln_nnvm_recast_binary(ln_nnvm_recast *r, const char *op, ln_nnvm_entry a,
                                    ln_nnvm_entry b);
ln_nnvm_entry ln_nnvm_recast_scalar(ln_nnvm_recast *r, const char *op, ln_nnvm_entry x,
                                    double number);

/** x between two numbers. */
ln_nnvm_entry ln_nnvm_recast_clip(ln_nnvm_recast *r, ln_nnvm_entry x, double min, double max);

/** A formula (ln_nnvm_formula.h) of x, whose reductions are along the last axis, which stays. */
ln_nnvm_entry ln_nnvm_recast_formula(ln_nnvm_recast *r, const char *words, ln_nnvm_entry x,
                                     double alpha, double beta);

/** `rewrite` of an operator that is a formula, `with`, of input 0. */
void ln_nnvm_recast_with(ln_nnvm_recast *r);

/** `rewrite` of an operator that core has: one output, `with` its name there, `attrs` the names of
 * its attributes there. */
void ln_nnvm_recast_same(ln_nnvm_recast *r);

/** Output 0: elements of `src` at `index`, of any numeric type, along `axis`. */
void ln_nnvm_recast_take(ln_nnvm_recast *r, ln_nnvm_entry src, ln_nnvm_entry index, int axis);

/** Output 0 is input 0. */
void ln_nnvm_recast_alias(ln_nnvm_recast *r);

/** The row of a rewriter of MXNet's operator `op` with `len` inputs. */
#define LN_MXNET_ROW(op, with, len, ...)                   \
    {                                                      \
        op, LN_IN_MXNET, NULL, with, len, len, __VA_ARGS__ \
    }

/** Rewrites the model's graph before it is read, if its dialect is MXNet. Operators with a
 * translator of their own stay. The graph borrows from the draft. */
void ln_nnvm_recast_model(ln_nnvm_model *m, ln_nnvm_draft *d);

/** Writes the NNVM or MXNet graph in `in` to `file` as NNVM core operators, and the parameters of
 *  ln_context_bind_file beside it. 1: an operator needs shapes for that, or core cannot express it.
 *  -1 with a reason in the context: the graph is invalid, or a file cannot be read or written. */
int ln_nnvm_rewrite(ln_context *ctx, const char *name, const ln_infile *in, const char *file);

#endif
