// SPDX-License-Identifier: Apache-2.0
// A graph rewritten to NNVM's core operators, without shapes: before it is read, or to be written.
//
// A rewriter says what a node of MXNet is in core's operators: it reads the node as a translator
// does (ln_nnvm.h), and drafts nodes. To be read, these may be operators and have attributes that
// LightNet adds to core's. To be written, what core cannot say without shapes is a failure.
//
//     static void rewrite_leaky(ln_nnvm_recast *r)
//     {
//         const double slope = ln_nnvm_float(&r->node, "slope", 0.25);
//         ln_nnvm_recast_out(r, 0, LN_RECAST(r, "leaky_relu", LN_ENTRY(ln_nnvm_recast_in(r, 0)),
//                                            LN_NUMBER("alpha", slope)));
//     }

#ifndef LN_NNVM_CORE_H
#define LN_NNVM_CORE_H

#include "base/ln_infile.h"
#include "front/nnvm/ln_nnvm.h"
#include "front/nnvm/ln_nnvm_draft.h"

struct ln_nnvm_core;

/* A node that is being rewritten. */
typedef struct ln_nnvm_recast {
    ln_nnvm_node node;
    struct ln_nnvm_core *core;
    ln_nnvm_draft *draft;
    size_t first;   /* the nodes that are drafted for it begin here */
    int is_reading; /* they are read, not written */
    const ln_nnvm_row *row;
} ln_nnvm_recast;

/** Fails, without a reason, where the graph is written and `lacks`: core alone cannot express the
 * node. The model is read then, and written with its shapes. */
void ln_nnvm_recast_lacks(ln_nnvm_recast *r, int lacks);

/** Input `i`, which must be there. */
ln_nnvm_entry ln_nnvm_recast_in(ln_nnvm_recast *r, int i);

/** Input `i`, a parameter called `arg`, which a file of MXNet 0.8 leaves out. */
ln_nnvm_entry ln_nnvm_recast_weight(ln_nnvm_recast *r, int i, const char *arg);

/** Sets output `i`, the next one; its node gets the name of this one
 *  if it was drafted for it. */
void ln_nnvm_recast_out(ln_nnvm_recast *r, uint32_t i, ln_nnvm_entry entry);

/** Begins a node with these inputs. */
void ln_nnvm_recast_begin(ln_nnvm_recast *r, const char *op, int len, const ln_nnvm_entry *inputs);

/** Ends it; one output. */
ln_nnvm_entry ln_nnvm_recast_end(ln_nnvm_recast *r);

/** All of it: LN_RECAST(r, op, part, part, ..), an input being LN_ENTRY(entry). */
ln_nnvm_entry ln_nnvm_recast_parts(ln_nnvm_recast *r, const char *op, const ln_part *parts);
#define LN_RECAST(r, op, ...) \
    ln_nnvm_recast_parts(r, op, (const ln_part[]){__VA_ARGS__, {.kind = LN_PART_END}})

/** Gives it the attribute under another name, with its value as core writes it, unless the node
 * lacks it. */
void ln_nnvm_recast_attr(ln_nnvm_recast *r, const char *key, const char *core_key);

/** The same for all that the row lists, with their defaults; what is needed must be there. */
void ln_nnvm_recast_attrs(ln_nnvm_recast *r);

/** Operators of one or two inputs without attributes, and of a number on the right. */
ln_nnvm_entry ln_nnvm_recast_unary(ln_nnvm_recast *r, const char *op, ln_nnvm_entry x);
ln_nnvm_entry ln_nnvm_recast_binary(ln_nnvm_recast *r, const char *op, ln_nnvm_entry a,
                                    ln_nnvm_entry b);
ln_nnvm_entry ln_nnvm_recast_scalar(ln_nnvm_recast *r, const char *op, ln_nnvm_entry x,
                                    double number);

/** `rewrite` of an operator that core has: one output, `with` its name, `attrs` what they are
 * called there. */
void ln_nnvm_recast_same(ln_nnvm_recast *r);

/** Output 0: what numbers of any type, as indices, pick from `src`. */
void ln_nnvm_recast_take(ln_nnvm_recast *r, ln_nnvm_entry src, ln_nnvm_entry index, int axis);

/** The same tensor. */
void ln_nnvm_recast_alias(ln_nnvm_recast *r);

/** The row of a rewriter of MXNet's operator `op` with `len` inputs. */
#define LN_MXNET_ROW(op, with, len, ...)                   \
    {                                                      \
        op, LN_IN_MXNET, NULL, with, len, len, __VA_ARGS__ \
    }

/** Rewrites the model's graph to be read, if it is one of MXNet. Operators that have a translator
 * of their own stay. The graph borrows from the draft. */
void ln_nnvm_recast_model(ln_nnvm_model *m, ln_nnvm_draft *d);

/** Writes the graph of NNVM or MXNet in `in` to `file` in core's operators, and its parameters,
 *  from the file that ln_context_bind_file named, beside it. 1: some operator needs shapes for
 *  that, or is none of core's. -1 with a reason in the context: the graph is not sound, or a file
 *  cannot be read or written. */
int ln_nnvm_rewrite(ln_context *ctx, const char *name, const ln_infile *in, const char *file);

#endif
