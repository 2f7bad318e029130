// SPDX-License-Identifier: Apache-2.0
// The data flow graph of a model: operators are its nodes, tensor names its edges.
//
//     ln_dfg *dfg = ln_dfg_create();
//     ln_dfg_add(dfg, conv);                             // writes "y"
//     ln_dfg_add(dfg, relu);                             // reads "y": an edge appears
//     ln_op *next = ln_dfg_next(dfg, conv, "y");         // relu
//     if (ln_dfg_check(dfg)) ...                         // conv's inputs have no producer
//
// Operators are added and removed in any order. An operator that reads a tensor twice
// has two edges. The inputs and outputs of an operator are those of its lists when it
// is added: to change them, remove the operator, change the lists, and add it again.
// Functions return 0, or -1 with the thread's last error and an unchanged graph.

#ifndef LN_DFG_H
#define LN_DFG_H

#include <stdio.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_graph.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_op.h"

LN_BEGIN_DECLS

/** Read the fields freely, change them through the functions only. */
typedef struct ln_dfg {
    ln_graph *graph;       // node data: ln_op *, edge data: tensor name
    ln_hash *node_table;   // operator name -> ln_graph_node *
    ln_list *dangling_ins; // ln_graph_edge_node: a tensor and a node that reads it without an edge,
                           // newest first
    ln_list *dangling_outs; // ln_graph_edge_node: a tensor and the node that writes it, which no
                            // edge leaves with it, newest first

    // Beyond the documented fields.
    ln_hash *values;  // tensor name -> the ln_dfg_value that all its users point to
    size_t n_checked; // operators that ln_context_check has visited in all its walks
} ln_dfg;

/** Returns new (ln_dfg_free). NULL with a reason: no memory. */
LN_API ln_dfg *ln_dfg_create(void);

/** Frees the graph, not the operators, which may be freed already. Ignores NULL. */
LN_API void ln_dfg_free(ln_dfg *dfg);

/** Restores the edges with tensor `tname` from op1, which writes it, to
 * op2, which reads it, after ln_dfg_unlink; existing edges stay. -1: an
 * operator is not in the graph, or does not write or read the tensor. */
LN_API int ln_dfg_link(ln_dfg *dfg, const ln_op *op1, const ln_op *op2, const char *tname);

/** Removes the edges with tensor `tname` from op1 to op2, if any. */
LN_API void ln_dfg_unlink(ln_dfg *dfg, const ln_op *op1, const ln_op *op2, const char *tname);

/** Adds the operator (keeps it, until it is removed) and its edges. -1: an operator of that name is
 * in the graph, another one writes the same tensor, no memory. O(arguments + new edges). */
LN_API int ln_dfg_add(ln_dfg *dfg, ln_op *op);

/** Removes the operator and its edges; its readers dangle then. Ignores
 * an operator that is not in the graph. O(its arguments and edges). */
LN_API void ln_dfg_remove(ln_dfg *dfg, const ln_op *op);

/** The first of ln_dfg_nexts, or NULL. Returns borrowed. */
LN_API ln_op *ln_dfg_next(const ln_dfg *dfg, const ln_op *op, const char *tname);

/** Returns new (ln_list_free): the operators that edges with `tname` lead to from `op`, each once,
 * in the order in which they were linked. NULL: none; NULL with a reason: no memory. */
LN_API ln_list *ln_dfg_nexts(const ln_dfg *dfg, const ln_op *op, const char *tname);

/** The number of operator arguments that read tensor `tname`; 0 for an unknown tensor. */
LN_API int ln_dfg_num_readers(const ln_dfg *dfg, const char *tname);

/** The operator that an edge with `tname` comes from to `op`, or NULL. Returns borrowed. */
LN_API ln_op *ln_dfg_prev(const ln_dfg *dfg, const ln_op *op, const char *tname);

/** 0 if another operator produces every input of every operator and there
 * is no cycle; otherwise -1, and the reason names an exception. */
LN_API int ln_dfg_check(const ln_dfg *dfg);

/** 1 when the graph, the node table, the dangling lists and the internal tables agree. */
LN_API int ln_dfg_is_valid(const ln_dfg *dfg);

/** Writes a line per operator, "NAME -> NEXT (TENSOR), ..", then the dangling inputs and outputs.
 * -1: the stream cannot be written. */
LN_API int ln_dfg_fprint(FILE *fp, const ln_dfg *dfg);

/** ln_dfg_fprint to standard output. */
LN_API int ln_dfg_print(const ln_dfg *dfg);

LN_END_DECLS

#endif
