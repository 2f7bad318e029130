// SPDX-License-Identifier: Apache-2.0
// What a translator of an NNVM or MXNet operator is written with.
//
// A translator reads its node (inputs, attributes) and emits LightNet operators with the node's
// emitter (ln_emit.h), as if nothing could fail.
//
//     static void translate_leaky_relu(ln_nnvm_node *n)
//     {
//         // What comes out, "dst", is the node's output 0.
//         LN_EMIT(&n->emit, 0, "unary", LN_ARG("src", ln_nnvm_in(n, 0)),
//                 LN_TEXT("func", "TL_UNARY_LRELU"),
//                 LN_NUMBER("alpha", ln_nnvm_float(n, "alpha", 0.25)));
//     }
//
//     const ln_nnvm_row ln_nnvm_rows_example[] = {
//         {"leaky_relu", LN_NNVM_IN_CORE, translate_leaky_relu, .least = 1, .most = 1},
//         {NULL},
//     };
//
// An attribute that no translator asks for and that is not known to be harmless is an error.

#ifndef LN_NNVM_H
#define LN_NNVM_H

#include <stdint.h>

#include "front/ln_attr.h"
#include "front/nnvm/ln_nnvm_graph.h"

/* Which dialects have an operator of that name and meaning. LN_NNVM_ADDED: LightNet adds it to
 * core, for MXNet's operators to be rewritten to; no file has it. */
enum { LN_NNVM_IN_CORE = 1, LN_NNVM_IN_MXNET = 2, LN_NNVM_IN_BOTH = 3, LN_NNVM_ADDED = 4 };

/* The most numbers that an attribute is read with. */
enum { LN_NNVM_MAX_TUPLE = LN_ATTR_MOST };

/* An element None of a tuple. */
#define LN_NNVM_NONE INT64_MIN

typedef struct ln_nnvm_model {
    ln_translation base;
    ln_nnvm_graph graph;
    int n_unbound;  /* inputs that were met and not bound by name */
    int batch_size; /* the first length of all inputs; 0: they differ, or nobody tells it */
} ln_nnvm_model;

/* The node that is being translated. */
typedef struct ln_nnvm_node {
    ln_emit emit;
    ln_nnvm_model *model;
    ln_nnvm_vertex *vertex;
    const struct ln_nnvm_row *row;
} ln_nnvm_node;

struct ln_nnvm_recast;

typedef void (*ln_nnvm_translate)(ln_nnvm_node *n);

/* How an operator is translated, or rewritten to core's. A table of these ends with an op of NULL.
 */
typedef struct ln_nnvm_row {
    const char *op;
    int dialects;
    ln_nnvm_translate translate; /* NULL: it is rewritten, or cannot be read, because of */
    const char *with;    /* what tells it from other rows of the same function; or that reason */
    int least, most;     /* how many inputs it may have; most 0: any number */
    unsigned weights;    /* bit i: input i is a parameter, whose shape the others tell */
    unsigned unread;     /* bit i: input i is not looked at: labels */
    int keeps_shape;     /* of one input: the output has its shape, so one tells the other */
    const char *ignored; /* attributes without effect, each between blanks */
    void (*rewrite)(struct ln_nnvm_recast *r); /* ln_nnvm_core.h */
    const char *attrs; /* what core calls its attributes (ln_nnvm_next_rename) */
} ln_nnvm_row;

/* The tables of translators, and those of rewriters, one for each kind of operators. */

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

/** The row for an operator: its translator, else, of MXNet's, its rewriter. NULL: not known. */
const ln_nnvm_row *ln_nnvm_find_row(const char *op, ln_nnvm_dialect dialect);

/** The row of an operator that another was rewritten to. */
const ln_nnvm_row *ln_nnvm_find_core_row(const char *op);

/** The row with the rewriter of an operator of MXNet; NULL: there is none. */
const ln_nnvm_row *ln_nnvm_find_rewriter(const char *op);

/** Whether the name is an operator of MXNet alone. */
int ln_nnvm_is_mxnet_only(const char *op);

int ln_nnvm_failed(const ln_nnvm_node *n);
/** Whether its operator is one of MXNet; and whether it was, before it was rewritten to core's,
 * which may then have attributes that core's own lack. */
int ln_nnvm_is_mxnet(const ln_nnvm_node *n);
int ln_nnvm_was_mxnet(const ln_nnvm_node *n);

/* Inputs */

int ln_nnvm_num_inputs(const ln_nnvm_node *n);

/** Input `i`, which must be there. */
const char *ln_nnvm_in(ln_nnvm_node *n, int i);

/** Input `i`, a parameter called `arg`: if its shape is not known yet it is this one. A file of
 *  MXNet 0.8 leaves it out if it is the last. */
const char *ln_nnvm_weight(ln_nnvm_node *n, int i, const char *arg, int ndim, const int *dims);

/** Whether the shape of input `i` is known. */
int ln_nnvm_is_shaped(const ln_nnvm_node *n, int i);

/** The tensor's record; see ln_translation_tensor. */
const tl_tensor *ln_nnvm_tensor_of(const ln_nnvm_node *n, const char *tensor);

/** Says that output `i` is a tensor that exists already. */
void ln_nnvm_alias(ln_nnvm_node *n, int i, const char *tensor);

/* Attributes: the default when the node does not have it, or has None; what cannot be read is a
 * failure. ln_attr.h has further checks. */

extern const ln_attr_reader ln_nnvm_attrs;

/* An attribute and what core calls it, with the value of those that do not have it; or NULL. */
typedef struct ln_nnvm_rename {
    char key[40], core_key[40], deflt[40];
    int is_needed, is_added;
} ln_nnvm_rename;

/** The next one of a row's, which are written "same old=new old=new:default !needed =new:always
 * +added", the last being one that LightNet adds to core's. Returns the text behind it; NULL: there
 * is none. */
const char *ln_nnvm_next_rename(const char *attrs, ln_nnvm_rename *r);

/** What the file calls an attribute of core's: for messages. */
const char *ln_nnvm_key(ln_nnvm_node *n, const char *key);

int ln_nnvm_has(ln_nnvm_node *n, const char *key);
/** Whether it says None, where that is not the default. */
int ln_nnvm_has_none(ln_nnvm_node *n, const char *key);
int64_t ln_nnvm_int(ln_nnvm_node *n, const char *key, int64_t deflt);
double ln_nnvm_float(ln_nnvm_node *n, const char *key, double deflt);
int ln_nnvm_bool(ln_nnvm_node *n, const char *key, int deflt);
const char *ln_nnvm_text(ln_nnvm_node *n, const char *key, const char *deflt);
tl_dtype ln_nnvm_dtype(ln_nnvm_node *n, const char *key, tl_dtype deflt);

/** The numbers of a tuple, also of tuples within it; a number alone is a tuple of one. Returns how
 * many; -1: the node does not have it. */
int ln_nnvm_ints(ln_nnvm_node *n, const char *key, int64_t values[LN_NNVM_MAX_TUPLE]);
int ln_nnvm_floats(ln_nnvm_node *n, const char *key, double values[LN_NNVM_MAX_TUPLE]);

/* Syntax: 0, or -1 when the text is no such value */

int ln_nnvm_parse_int(const char *text, int64_t *value);
int ln_nnvm_parse_float(const char *text, double *value);
int ln_nnvm_parse_bool(const char *text, int *value);
/** Returns how many numbers there are, or -1; exactly one of the arrays is not NULL. */
int ln_nnvm_parse_tuple(const char *text, int64_t *ints, double *floats);
tl_dtype ln_nnvm_parse_dtype(const char *text);

/** The name of a type in attributes; NULL: it has none. */
const char *ln_nnvm_dtype_name(tl_dtype dtype);

#endif
