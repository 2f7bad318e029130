// SPDX-License-Identifier: Apache-2.0
// The checked graph of an NNVM file: nodes, entries and attributes, before translation.
//
// An entry names output `index` of a node. Every entry names a node before the one that reads it,
// so a walk in order visits producers before readers. The JSON tree lives as long as the graph;
// names and values are borrowed from it.

#pragma once

#include <jansson.h>
#include <stdint.h>

#include "front/ln_emit.h"

typedef struct ln_nnvm_entry {
    uint32_t node, index;
} ln_nnvm_entry;

/** An attribute of a node. */
typedef struct ln_nnvm_attr {
    const char *key, *value;
    int is_read;
} ln_nnvm_attr;

/** The index of a variable that is not in the file. */
#define LN_NNVM_NOWHERE SIZE_MAX

typedef struct ln_nnvm_vertex {
    const char *op, *name;               // op "null": a variable
    size_t at;                           // its index in the file
    const struct ln_nnvm_vertex *origin; // the node of the file that it was rewritten from, or NULL
    ln_nnvm_entry *inputs;
    size_t n_inputs;
    uint32_t *deps; // earlier nodes that must run first (control dependencies)
    size_t n_deps;
    ln_nnvm_attr *attrs; // those of `attrs`, `attr` and `param`; the first of a key counts
    size_t n_attrs;
    int is_variable;
    int is_mxnet;                  // its operator is one of MXNet
    int is_live;                   // an output needs it
    int is_read;                   // an input of some node
    int is_listed;                 // in the graph's `variables`
    int is_weight;                 // a variable that a node reads as a parameter
    const struct ln_nnvm_row *row; // the translator of its operator
    const char **outs;             // its output tensors after translation
    uint32_t n_outs;
    struct ln_nnvm_vertex *root; // the vertex that it last waited for, or NULL
} ln_nnvm_vertex;

/** The dialect of a file's operators. */
typedef enum ln_nnvm_dialect { LN_NNVM_CORE, LN_NNVM_MXNET, LN_NNVM_COMPILED } ln_nnvm_dialect;

typedef struct ln_nnvm_graph {
    json_t *json;
    ln_nnvm_vertex *nodes;
    size_t n_nodes;
    ln_nnvm_vertex **variables; // in the order of `arg_nodes`
    size_t n_variables;
    ln_nnvm_entry *heads;
    size_t n_heads;
    const json_t *row_ptr, *attrs; // as in the file, or NULL
    int keeps_deps;                // nodes also need their control dependencies
    ln_nnvm_dialect dialect;
    int64_t version; // of MXNet, 10000 for each major one; 0: unknown, as before 0.9
    int is_oldest;   // written by MXNet up to 0.8, which omits some variables
} ln_nnvm_graph;

/** Reads and checks the file's bytes. The graph's arrays are the translation's memory; the tree is
 * freed by ln_nnvm_graph_clear, also after a failure. */
void ln_nnvm_graph_read(ln_nnvm_graph *g, ln_translation *t, const unsigned char *data,
                        size_t size);
void ln_nnvm_graph_clear(ln_nnvm_graph *g);

/** The value of the node's attribute, or NULL; sets its `is_read`. */
const char *ln_nnvm_graph_attr(ln_nnvm_vertex *v, const char *key);

/** The index of the first entry of node `i`, by `node_row_ptr`; without it: `i`. */
size_t ln_nnvm_graph_entry(const ln_nnvm_graph *g, size_t i);

/** The element of a graph attribute for output 0 of node `i` of the file, or NULL. */
const json_t *ln_nnvm_graph_value(const ln_nnvm_graph *g, const char *key, size_t i);

/** The shape of output 0 of node `i` of the file from graph attributes. Returns the number of
 * dimensions; -1: unknown. */
int ln_nnvm_graph_shape(const ln_nnvm_graph *g, size_t i, int dims[LN_MAXDIM]);

/** The name of a tensor that is output `index` of the node called `node`: its name, or one made
 * from it. NULL after a failure. */
const char *ln_nnvm_output_name(ln_translation *t, const char *node, uint32_t index);

/** Whether the bytes are an NNVM file: JSON whose top level has a key of a graph. */
int ln_nnvm_is(const unsigned char *data, size_t size);
