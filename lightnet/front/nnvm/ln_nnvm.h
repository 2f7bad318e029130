// SPDX-License-Identifier: Apache-2.0
// The interface for translators of NNVM and MXNet operators.
//
// A translator reads its node (inputs, attributes) and emits LightNet operators with the node's
// emitter (ln_emit.h), as if nothing could fail.
//
//     static void translate_leaky_relu(ln_nnvm_node *n)
//     {
//         // The output "dst" is the node's output 0.
//         LN_EMIT(&n->emit, 0, LN_OP_UNARY, LN_ARG("src", ln_nnvm_in(n, 0)),
//                 LN_TEXT("func", "TL_UNARY_LRELU"),
//                 LN_NUMBER("alpha", ln_attr_number(&n->emit, "alpha", 0.25)));
//     }
//
//     const ln_nnvm_row ln_nnvm_rows_example[] = {
//         {"leaky_relu", LN_IN_CORE, translate_leaky_relu, .min = 1, .max = 1},
//         {NULL},
//     };
//
// An attribute that the translator does not read is an error, unless it is known to be harmless.

#pragma once

#include <stdint.h>

#include "front/ln_attr.h"
#include "front/nnvm/ln_nnvm_graph.h"

/** Dialects with an operator of this name and meaning. LN_NNVM_ADDED: LightNet adds it to core, as
 * a target of MXNet rewrites; it does not occur in files. */
enum { LN_IN_CORE = 1, LN_IN_MXNET = 2, LN_NNVM_ADDED = 4 };

/** The max length of a tuple. */
enum { LN_NNVM_MAX_TUPLE = 64 };

/** The element None of a tuple. */
#define LN_NNVM_NONE INT64_MIN

typedef struct ln_nnvm_model {
    ln_translation base;
    ln_nnvm_graph graph;
    int n_unbound;  // inputs so far that are not bound by name
    int batch_size; // the first dimension of all inputs; 0: different or unknown
} ln_nnvm_model;

/** The node that is being translated. */
typedef struct ln_nnvm_node {
    ln_emit emit;
    ln_nnvm_model *model;
    ln_nnvm_vertex *vertex;
    const struct ln_nnvm_row *row;
} ln_nnvm_node;

struct ln_nnvm_value;
struct ln_nnvm_op;

typedef void (*ln_nnvm_translate)(ln_nnvm_node *n);

/** How an operator is translated, or rewritten to core operators. A table ends with the op NULL. */
typedef struct ln_nnvm_row {
    const char *op; // its names, separated by blanks
    uint8_t dialects;
    ln_nnvm_translate translate; // NULL: it is rewritten, or not supported
    const char *with;    // selects a case of `translate` or `rewrite`; or why it is not supported
    uint8_t min, max;    // number of inputs; max 0: any number
    uint16_t weights;    // bit i: input i is a parameter, with a shape inferred from the others
    uint16_t unread;     // bit i: input i is ignored: labels
    uint8_t keeps_shape; // the output has the shape of the only input, and vice versa
    const char *ignored; // attributes without effect
    struct ln_nnvm_value (*rewrite)(struct ln_nnvm_op *n); // ln_nnvm_core.h
    const char *attrs; // names of its attributes in core (ln_nnvm_next_rename)
    const char *needs; // required attributes
} ln_nnvm_row;

// The tables of translators, and those of rewriters, one for each kind of operators.

extern const ln_nnvm_row ln_nnvm_rows_detect[];
extern const ln_nnvm_row ln_nnvm_rows_fill[];
extern const ln_nnvm_row ln_nnvm_rows_function[];
extern const ln_nnvm_row ln_nnvm_rows_pair[];
extern const ln_nnvm_row ln_nnvm_rows_part[];
extern const ln_nnvm_row ln_nnvm_rows_pick[];
extern const ln_nnvm_row ln_nnvm_rows_pool[];
extern const ln_nnvm_row ln_nnvm_rows_resize[];
extern const ln_nnvm_row ln_nnvm_rows_shape[];
extern const ln_nnvm_row ln_nnvm_rows_statistics[];
extern const ln_nnvm_row ln_nnvm_rows_weighted[];

extern const ln_nnvm_row ln_nnvm_mxnet_rows_elementwise[];
extern const ln_nnvm_row ln_nnvm_mxnet_rows_layers[];
extern const ln_nnvm_row ln_nnvm_mxnet_rows_shape[];

/** The row of an operator to which another one was rewritten. */
const ln_nnvm_row *ln_nnvm_find_core_row(const char *op);

/** The row with the rewriter of an operator of MXNet; NULL: none. */
const ln_nnvm_row *ln_nnvm_find_rewriter(const char *op);

int ln_nnvm_failed(const ln_nnvm_node *n);
/** Whether its operator is one of MXNet; or was, before the rewrite to a core operator, which may
 * then have attributes that core lacks. */
int ln_nnvm_is_mxnet(const ln_nnvm_node *n);
int ln_nnvm_was_mxnet(const ln_nnvm_node *n);

// Inputs

int ln_nnvm_num_inputs(const ln_nnvm_node *n);

/** Input `i`; a missing one is an error. */
const char *ln_nnvm_in(ln_nnvm_node *n, int i);

/** Input `i`, a parameter `arg`. Sets its shape if that is unknown. Files of MXNet 0.8 may omit
 * parameters at the end. */
const char *ln_nnvm_weight(ln_nnvm_node *n, int i, const char *arg, int ndim, const int *dims);

/** Whether the shape of input `i` is known already. */
int ln_nnvm_is_shaped(const ln_nnvm_node *n, int i);

/** The tensor; see ln_translation_tensor. */
const tl_tensor *ln_nnvm_tensor_of(const ln_nnvm_node *n, const char *tensor);

/** Makes output `i` an existing tensor. */
void ln_nnvm_alias(ln_nnvm_node *n, int i, const char *tensor);

// Attributes, beside those of ln_attr.h: one that is None counts as missing.

extern const ln_attr_reader ln_nnvm_attrs;

/** The names of an attribute in MXNet and in core, and its default. */
typedef struct ln_nnvm_rename {
    char key[40], core_key[40], deflt[40];
    int is_needed, is_added;
} ln_nnvm_rename;

/** Parses the next rename of a row, such as
 *      same old=new old=new:default !needed =new:always +added
 * ("+": LightNet adds the attribute to core). Returns the rest of the text; NULL: the end. */
const char *ln_nnvm_next_rename(const char *attrs, ln_nnvm_rename *r);

/** The name in the file of a core attribute, for messages. */
const char *ln_nnvm_key(ln_nnvm_node *n, const char *key);

/** Whether an attribute is None, where that is not the default. */
int ln_nnvm_has_none(ln_nnvm_node *n, const char *key);

/** The elements of a tuple, nested tuples included; a single number is a tuple of one. Returns how
 * many; -1: the attribute is missing. */
int ln_nnvm_floats(ln_nnvm_node *n, const char *key, double values[LN_NNVM_MAX_TUPLE]);

// Parsers: 0, or -1 if the text is invalid

int ln_nnvm_parse_int(const char *text, int64_t *value);
/** Returns the number of elements, or -1; exactly one of the arrays is not NULL. */
int ln_nnvm_parse_tuple(const char *text, int64_t *ints, double *floats);
tl_dtype ln_nnvm_parse_dtype(const char *text);

/** The name of a type in attributes; NULL: it has none. */
const char *ln_nnvm_dtype_name(tl_dtype dtype);
