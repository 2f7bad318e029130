// SPDX-License-Identifier: Apache-2.0
// The model being translated: internals of this folder, in addition to ln_onnx.h.

#pragma once

#include "data/ln_onnx_tensor.h"
#include "front/ln_interface.h"
#include "ir/ln_sizes.h"
#include "front/onnx/ln_onnx.h"
#include "ir/ln_weights.h"

/** The max depth of nested function calls and subgraphs. */
enum { LN_ONNX_MAX_DEPTH = 64 };

struct ln_onnx_model {
    ln_translation base;
    LnOnnx__Model *proto;
    ln_onnx_source source; // the file with the data of lean tensors

    ln_hash *varying;    // name -> ln_onnx_variation of tensors that differ from run to run
    ln_hash *values;     // name -> tl_tensor: the known values
    ln_hash *opened;     // location -> ln_infile: files with external data
    int n_opened;        // how many of them
    ln_hash *constants;  // tensor message -> name of the constant that was made of it
    ln_hash *long_loops; // node messages of loops that are too long to unroll
    ln_hash *functions;  // the model's functions, themselves the keys
    ln_hash *indexes;    // long lists of messages -> ln_hash of names -> messages
    ln_hash *unfolded;   // name -> why its value, a constant, is computed at load
    ln_hash *compounds;  // names, themselves the keys -> ln_onnx_compound
    size_t n_items;      // elements of all sequences that were built
    size_t values_size;  // bytes of the data in `values`
    int depth;           // of graphs and functions within each other
    int has_warned_of_duplicates; // of constants with one name
    size_t n_nodes;               // translated nodes, those of functions at every call
};

/** The dependencies of a tensor, in order of variability. */
typedef enum ln_onnx_variation {
    LN_ONNX_CONSTANT, // on nothing that is set at run time
    LN_ONNX_BOUND,    // on inputs with values set before compiling
    LN_ONNX_SIZED,    // on sizes that are known only at run time: the largest are known
    LN_ONNX_UNKNOWN,  // on other inputs, or on random operators
} ln_onnx_variation;

ln_onnx_variation ln_onnx_variation_of(const ln_onnx_model *m, const char *tensor);
void ln_onnx_set_variation(ln_onnx_model *m, const char *tensor, ln_onnx_variation variation);

/** Names of one graph: ONNX name -> LightNet tensor; a graph within a node also sees the names
 * around it, a function does not. */
struct ln_onnx_scope {
    ln_onnx_model *model;
    const ln_onnx_scope *outer; // NULL: no outer names are visible
    const LnOnnx__Graph *graph; // whose names these are; NULL: those of a function
    ln_hash *names;
    ln_hash *reads; // names that a node, the graph or the call reads; NULL: not collected yet
    const LnOnnx__Node *call; // within a function: the node that calls it, for its attributes
    const LnOnnx__Function *function;
    ln_onnx_scope *caller; // within a function: the scope of the call
    const LnOnnx__OperatorSet *const *opsets;
    size_t n_opsets;
};

// Scopes

/** -1: no memory, the model has failed. Clear it also then. */
int ln_onnx_scope_init(ln_onnx_scope *scope, ln_onnx_model *m, const ln_onnx_scope *outer);
void ln_onnx_scope_clear(ln_onnx_scope *scope);

/** Binds an ONNX name to a tensor. */
void ln_onnx_scope_set(ln_onnx_scope *scope, const char *name, const char *tensor);

/** The tensor bound to the name, here or in outer scopes; NULL: none. */
const char *ln_onnx_scope_get(const ln_onnx_scope *scope, const char *name);

/** Marks the name, an input of a function, as absent from the call. */
void ln_onnx_scope_set_absent(ln_onnx_scope *scope, const char *name);

/** Whether the name is marked so, here or in outer scopes. */
int ln_onnx_scope_is_absent(const ln_onnx_scope *scope, const char *name);

/** Whether a node of the graph or function, a graph within it, or its caller reads the name. */
int ln_onnx_scope_reads(ln_onnx_scope *scope, const char *name);

// Contents of messages: ln_onnx_find.c

/** A text of a message; "" for NULL. */
const char *ln_onnx_text(const char *text);

/** Whether a domain is ONNX's own. */
int ln_onnx_is_default_domain(const char *domain);

/** Returns new: an empty table of indexes. NULL: no memory. */
ln_hash *ln_onnx_create_indexes(void);

/** Sets the operator sets that the model imports; by default, version 1. */
void ln_onnx_choose_opsets(ln_onnx_scope *scope);

/** The version of the operator set of a domain: the one that the function imports, else the model;
 *  of a domain that neither imports, the newest one. 0: the domain is unknown. */
int ln_onnx_scope_opset(const ln_onnx_scope *scope, const char *domain);

/** The newest version of the operator sets of a domain; 0: the domain is unknown. */
int ln_onnx_newest_opset(const char *domain);

/** The attribute of the node, or the one of the function's call that it refers to; NULL: none. */
const LnOnnx__Attribute *ln_onnx_find_attr(const ln_onnx_scope *scope, const LnOnnx__Node *node,
                                           const char *name);

/** -1, and the node fails: the attribute is of another type than this row of
 *  AttributeProto.AttributeType. In ln_onnx_node.c. */
int ln_onnx_want_type(ln_onnx_node *n, const LnOnnx__Attribute *a, int type);

/** Enters the functions of the model. -1 with a reason: no memory. */
int ln_onnx_index_functions(ln_onnx_model *m);

/** The function of the model that a node calls, or NULL. */
const LnOnnx__Function *ln_onnx_find_function(const ln_onnx_model *m, const LnOnnx__Node *node);

/** Whether the function declares the attribute, with or without a default. */
int ln_onnx_function_declares(const ln_onnx_model *m, const LnOnnx__Function *f, const char *name);

/** As ln_front.operator_at. */
int ln_onnx_operator_at(size_t i, ln_format_operator *op);

/** Why no row was found, or one without a translator; NULL: the operator is unknown. In
 * ln_onnx_support.c. */
const char *ln_onnx_why_missing(ln_translation *t, const LnOnnx__Node *node, const ln_onnx_row *row,
                                int opset);

// Nodes: ln_onnx_emit.c

/** Stores the value of a small tensor of integers, if sizes and constants determine it. */
void ln_onnx_find_small(ln_onnx_node *n, const char *tensor);

/** Stores the known value (takes it) of the tensor. */
void ln_onnx_keep_value(ln_onnx_model *m, const char *tensor, tl_tensor *value);

/** The node of a scope, to be translated. */
ln_onnx_node ln_onnx_node_init(ln_onnx_scope *scope, const LnOnnx__Node *proto);

// Inputs: ln_onnx_input.c

/** Adds the model's inputs. One with an initializer of its name is a constant, unless it is bound
 * by its name. */
void ln_onnx_add_inputs(ln_onnx_scope *scope);

/** Records the names of symbolic dimensions, bound or not, of the input or output that is tensor
 * `name`. */
void ln_onnx_note_sizes(ln_onnx_model *m, const LnOnnx__ValueInfo *value, const char *name);

/** The form of a value of that type (NULL: a tensor), and the type of its tensors, or NULL. */
ln_value_form ln_onnx_form_of(const LnOnnx__Type *type, const LnOnnx__TensorType **tensor);

/** Returns new (ln_hash_free): the names of the graph's initializers; NULL: no memory. */
ln_hash *ln_onnx_initializer_names(const LnOnnx__Graph *graph);

// Graphs: ln_onnx_graph.c

/** Enters the graph's initializers as constants, then translates its nodes. */
void ln_onnx_translate_graph(ln_onnx_scope *scope, const LnOnnx__Graph *graph);

/** A new constant for a tensor message, named after `name` if that is free; elements of 2 or 4 bits
 * are unpacked by an operator. Returns its name; NULL after a failure. */
const char *ln_onnx_add_tensor(ln_onnx_scope *scope, const LnOnnx__Tensor *proto, const char *name);

/** A sparse tensor, emitted as operators that put its elements among zeros; `i` as in ln_emit_out.
 * Returns its name; NULL after a failure. */
const char *ln_onnx_sparse(ln_onnx_node *n, const LnOnnx__SparseTensor *sparse, int i);

/** The nodes, each after those whose outputs it reads: `nodes` itself if it is sorted. Returns
 *  borrowed, until the translation ends; NULL after a failure: they form a cycle. ln_onnx_sort.c */
LnOnnx__Node *const *ln_onnx_sort(ln_onnx_model *m, LnOnnx__Node *const *nodes, size_t n);

/** Warns, once for a model, of constants with one name; `what`: their kind. ln_onnx_sort.c */
void ln_onnx_warn_of_duplicates(ln_onnx_model *m, const char *name, const char *what);

/** Changes inputs of the graph that are maps, and that CastMap or DictVectorizer read, into a
 *  tensor, in place: [1, C] of the values, in the order of the vocabulary or of ascending keys. -1:
 *  no memory. ln_onnx_maps.c */
int ln_onnx_replace_maps(LnOnnx__Graph *graph);

/** Adds the keys of maps that are tensors here to the metadata: of outputs of ZipMap and of inputs
 *  of DictVectorizer, as "keys of NAME", an array of JSON. -1: no memory. ln_onnx_maps.c */
int ln_onnx_describe_maps(const LnOnnx__Graph *graph, ln_interface *interface);

/** Checks that depend on no size (ln_onnx_check.c): reports all unsupported operators in one
 * message, with their counts; nodes that violate the schemas of their operators (ln_onnx_schema.h);
 * values that no node produces; and more nodes than LN_LIMIT_OPS, those of functions counted at
 * every call. Linear in the nodes of the file. Warns of a newer operator set. -1 with a reason in
 * the context, which stays empty. */
int ln_onnx_check(const ln_context *ctx, const char *name, LnOnnx__Model *proto);
