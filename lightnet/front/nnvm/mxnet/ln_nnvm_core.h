// SPDX-License-Identifier: Apache-2.0
// Rewriting a graph to NNVM's core operators, without shapes: before it is read, or to write it.
//
// A rewriter replaces a node of MXNet by nodes of core operators: it reads the node's attributes as
// a translator does (ln_attr.h), and puts nodes into a draft (ln_nnvm_put.h). It returns output 0.
// A graph to be read may use LightNet's extensions of core. In a graph to be written, a node that
// core cannot express without shapes is a failure.
//
//     static ln_nnvm_value rewrite_leaky(ln_nnvm_op *n)
//     {
//         return ln_put_leaky(n, ln_nnvm_recast_in(n, 0), ln_attr_number(n->e, "slope", 0.25));
//     }

#pragma once

#include "base/ln_infile.h"
#include "front/nnvm/ln_nnvm.h"
#include "front/nnvm/ln_nnvm_put.h"

/** The node in the file. */
static inline ln_nnvm_node *ln_nnvm_recast_node(const ln_nnvm_op *n)
{
    return (ln_nnvm_node *)n->e; // its first member
}

/** If `lacks` and the graph is written, fails without a message, as core cannot express the node
 * without shapes: the caller then reads the model, and writes it with its shapes. */
void ln_nnvm_recast_lacks(ln_nnvm_op *n, int lacks);

/** Input `i`; fails if it is missing. */
ln_nnvm_value ln_nnvm_recast_in(ln_nnvm_op *n, int i);

/** Input `i`, a parameter `arg`, which files of MXNet 0.8 omit. */
ln_nnvm_value ln_nnvm_recast_weight(ln_nnvm_op *n, int i, const char *arg);

/** Sets output `i`, the next one, of a node with several. A node drafted for output 0 gets the
 * node's name. */
void ln_nnvm_recast_out(ln_nnvm_op *n, uint32_t i, ln_nnvm_value value);

/** Begins a node with the inputs of the node in the file. */
void ln_nnvm_recast_begin(ln_nnvm_op *n, const char *op);

/** Copies the attribute, if the MXNet node has it, to the begun node under core's name and in
 * core's notation. */
void ln_nnvm_recast_attr(ln_nnvm_op *n, const char *key, const char *core_key);

/** The same for all attributes of the row, with defaults; fails if a required one is missing. */
void ln_nnvm_recast_attrs(ln_nnvm_op *n);

/** Ends the node with the attributes of the row. */
ln_nnvm_value ln_nnvm_recast_end(ln_nnvm_op *n, uint32_t n_outs);

/** `rewrite` of an operator that is a formula, `with`, of input 0. */
ln_nnvm_value ln_nnvm_recast_with(ln_nnvm_op *n);

/** `rewrite` of an operator of one output that core has: `with` is its name there (NULL: the same),
 * `attrs` those of its attributes; _many: of as many inputs as attribute num_args. */
ln_nnvm_value ln_nnvm_recast_same(ln_nnvm_op *n);
ln_nnvm_value ln_nnvm_recast_many(ln_nnvm_op *n);

/** Elements of `src` at `index`, of any numeric type, along `axis`. */
ln_nnvm_value ln_nnvm_recast_take(ln_nnvm_op *n, ln_nnvm_value src, ln_nnvm_value index, int axis);

/** Input 0. */
ln_nnvm_value ln_nnvm_recast_alias(ln_nnvm_op *n);

/** The row of a rewriter of MXNet's operator `op` with `len` inputs. */
#define LN_MXNET_ROW(op, with, len, ...)                   \
    {                                                      \
        op, LN_IN_MXNET, NULL, with, len, len, __VA_ARGS__ \
    }

/** Rewrites the model's graph before it is read, if its dialect is MXNet. Operators with a
 * translator stay. The graph borrows from the draft. */
void ln_nnvm_recast_model(ln_nnvm_model *m, ln_nnvm_draft *d);

/** Writes the NNVM or MXNet graph in `in` to `file` as NNVM core operators, and the parameters of
 *  ln_context_bind_file beside it. 1: an operator needs shapes for that, or core cannot express it.
 *  -1 with a reason in the context: the graph is invalid, or a file cannot be read or written. */
int ln_nnvm_rewrite(ln_context *ctx, const char *name, const ln_infile *in, const char *file);
