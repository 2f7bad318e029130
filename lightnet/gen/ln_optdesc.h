// SPDX-License-Identifier: Apache-2.0
// Optimizer descriptions: rewrite rules, read and checked.
//
//     ln_arena arena = {0};
//     ln_optdesc desc = {.arena = &arena};
//     if (ln_optdesc_read(&desc, root, NULL) || ln_optdesc_check(&desc, NULL))
//         fprintf(stderr, "%s\n", ln_last_error());
//     for (const ln_optrule *rule = desc.rules; rule; rule = rule->next)
//         ...
//     ln_arena_free(&arena);
//
// The format is documented in docs/optimizer-descriptions.md. Errors are recorded as
// "FILE:LINE:COLUMN: rule 'x': reason". Everything read lives in the arena and borrows from the
// relaxed JSON, which is kept.

#pragma once

#include "gen/ln_arena.h"
#include "gen/ln_rjson.h"

/** The value after `param=`. */
typedef enum ln_optvalue {
    LN_OPT_STRING,
    LN_OPT_NUMBER,
    LN_OPT_BOOL,
    LN_OPT_NULL,
    LN_OPT_STRINGS,
    LN_OPT_NUMBERS,
    LN_OPT_BOOLS,
    LN_OPT_PARAM,        // OPERATOR.PARAM: another operator's
    LN_OPT_CODE_STRING,  // string(C), as all below: the value of a C expression
    LN_OPT_CODE_NUMBER,  // number(C)
    LN_OPT_CODE_BOOL,    // bool(C)
    LN_OPT_CODE_INTS,    // ints(LENGTH, C)
    LN_OPT_CODE_NUMBERS, // numbers(LENGTH, C)
    LN_OPT_CODE_INPUT,   // number(C), or a number, of an input: a constant
} ln_optvalue;

typedef struct ln_optparam {
    struct ln_optparam *next;
    ln_rjson place;       // its location; .text is C code for LN_OPT_CODE_*
    const char *arg_name; // NULL: all parameters of `op`
    ln_optvalue type;
    const char **items; // the literal's text, or the texts of an array's elements
    int len;            // of items
    const char *op;     // OPERATOR of LN_OPT_PARAM, and of `OPERATOR.*`
    const char *param;  // PARAM of LN_OPT_PARAM
} ln_optparam;

/** A tensor of an example: "TL_INT8 [2, 2] {1, 2, 3, 4}". */
typedef struct ln_optdata {
    const char *dtype; // NULL: unspecified
    int has_dims;
    const char **dims;
    int ndim;
    const char **items; // the elements: numbers, "nan", "inf", "-inf"
    int len;
} ln_optdata;

typedef struct ln_optarg {
    struct ln_optarg *next;
    ln_rjson place;
    const char *arg_name;   // NULL: all inputs of `op`
    const char *tensor;     // its name in the rule
    const ln_optdata *data; // of an example: the tensor itself
    const char *op;         // OPERATOR of `OPERATOR.*`
    int optional;           // `?=`: may be absent
    int exchange; // n > 0: it and the next may be exchanged, the nth such pair of the rule
} ln_optarg;

/** An operator of a pattern or a replacement. */
typedef struct ln_optop {
    struct ln_optop *next;
    ln_rjson place;       // where it begins
    const char *text;     // as written, on one line
    const char *name;     // its name in the rule
    const char **optypes; // one or more
    int noptypes;
    const char *like; // of a replacement: `OPERATOR.optype`, has that operator's optype
    int keep;         // of a pattern: is kept
    int any_in;       // of a pattern: `*`, may have other inputs
    int any_out;      // of a pattern: may have other outputs
    ln_optarg *ins;
    ln_optarg *outs;
    ln_optparam *params;
    const ln_rjson *only_if; // of a replacement: C, without which it is left out; or NULL
    int reached;             // of a checked pattern: leads to the anchor
} ln_optop;

/** An example of an operator: its arguments, and the expected result. */
typedef struct ln_optexample {
    struct ln_optexample *next;
    ln_optop op; // its place, inputs, outputs and parameters
    const char *doc;
    const char *tolerance; // as written, or NULL
    const char *error;     // a part of the message, or NULL
} ln_optexample;

/** A tensor of a rule. */
typedef struct ln_opttensor {
    struct ln_opttensor *next;
    ln_rjson place; // its first occurrence
    const char *name;
    ln_optop *producer; // in the pattern, or NULL
    int reads;          // by operators of the pattern that the replacement removes
    int optional;       // may be absent
    int index;          // its index in the order of matching, from 0
    int fresh;          // first named by the replacement
    int made;           // by the replacement
    int removed;        // produced by the pattern, not by the replacement
} ln_opttensor;

/** A tensor of a rule's test: "const TL_FLOAT [C, 4] in 0.5 .. 2". */
typedef struct ln_opthint {
    struct ln_opthint *next;
    ln_rjson place;
    const char *tensor;
    const char *dtype;
    const char **dims; // each a number, the name of a size, or a product of these
    int ndim;
    int is_const;
    double low, high;
} ln_opthint;

/** A size, "N=3", or one drawn at random, "N=1 .. 4". */
typedef struct ln_optsize {
    struct ln_optsize *next;
    ln_rjson place;
    const char *name;
    int low, high;
} ln_optsize;

typedef struct ln_opttest {
    struct ln_opttest *next;
    ln_rjson place;
    ln_optop *ops; // additional arguments of the pattern's operators of these names (or optypes)
    ln_opthint *tensors;
    ln_optsize *sizes;
    double tolerance;
    const char *precision; // of ln_context_set_precision, or NULL
    int fires;             // 1, or 0: the rule must not apply
} ln_opttest;

typedef struct ln_optrule {
    struct ln_optrule *next;
    ln_rjson place;
    const char *name;
    const char *doc;
    const char *function; // a hand-written ln_subgraph_func in place of a pattern, or NULL
    ln_optop *match;
    ln_optop **order; // the operators in the order of matching: order[0] is the anchor, but
                      // for adjacent ones
    int nmatch;
    int nexchange; // pairs of inputs that may be exchanged
    const ln_rjson **when;
    int nwhen;
    const ln_rjson *let; // C before the replacement, or NULL
    ln_optop *replace;
    ln_opttensor *tensors; // in the order of their first appearance
    const char *warn;      // a message instead of a replacement, or NULL
    int adjacent;
    int batch;     // it also applies if only the first axes are dynamic
    int dynamic;   // it also applies to tensors whose sizes are known only at run time
    int wide;      // of a meaning: it is for floats of 32 bits or more
    double within; // of a meaning: its error
    double rank;   // "order"
    int stage;     // "stage" of its file, 1 or more
    ln_opttest *tests;
} ln_optrule;

/** The descriptions of one architecture, from one or more files. */
typedef struct ln_optdesc {
    ln_arena *arena;
    const char *arch;
    ln_optrule *rules;     // by "order", then as read
    const ln_rjson *lower; // the suffix of the optypes of lowered operators, or NULL
    const ln_rjson **code; // C at the beginning of the file, as read
    int ncode;
    int nstages;        // the largest "stage"
    int stage;          // of the last file
    int of_operator;    // the rules are the meanings of an operator
    const char **files; // as read
    int nfiles;
} ln_optdesc;

/** Adds the rules of a file (keeps `root`). -1 with a reason in `err` (NULL: the thread's last
 * error): an unknown key, a value of the wrong type, an error in a pattern. */
int ln_optdesc_read(ln_optdesc *desc, const ln_rjson *root, ln_error *err);

/** Checks and orders the rules. -1 with a reason, such as a duplicate or unknown name, an operator
 * that does not lead to the last one, or a tensor that is used after its removal. */
int ln_optdesc_check(ln_optdesc *desc, ln_error *err);

/** The operator of that name in a list, or NULL. */
ln_optop *ln_optop_find(ln_optop *ops, const char *name);

/** The tensor of that name, or NULL. */
ln_opttensor *ln_opttensor_find(const ln_optrule *rule, const char *name);

/** Records "FILE:LINE:COLUMN: rule 'x': reason" for the location of `node`; returns -1. */
int ln_optrule_fail(const ln_optrule *rule, const ln_rjson *node, ln_error *err, const char *fmt,
                    ...) LN_PRINTF(4, 5);

/** Checks the tests of a rule whose pattern is checked. -1 with a reason in `err`: a name that is
 * not in the pattern, syntax of patterns only, an invalid tensor, no test that fires. */
int ln_opthint_check(const ln_optrule *rule, ln_error *err);

// The operators of patterns and replacements, in an extension of the syntax of IL.
//
// [keep] [NAME:] OPTYPE(ARG=TENSOR, .. | ARG=TENSOR, .. | PARAM=VALUE, ..);

/** Reads all operators of the string `node` into `*ops`, in their order. -1 with a reason in `err`.
 */
int ln_optpat_parse(ln_arena *arena, const ln_optrule *rule, const ln_rjson *node, ln_optop **ops,
                    ln_error *err);

/** Reads all tests of the string `node`, which belong to a rule,
 *
 *     OPERATOR(ARG=TENSOR, .. | .. | PARAM=VALUE, ..), ..,
 *     TENSOR=[const] DTYPE [DIM, ..] [in LOW .. HIGH], .., SIZE=MIN .. LARGEST, ..
 *     [unchanged] [within TOLERANCE] [as PRECISION];
 *
 * into `*tests`, in their order. -1 with a reason in `err`. */
int ln_optpat_parse_tests(ln_arena *arena, const ln_optrule *rule, const ln_rjson *node,
                          ln_opttest **tests, ln_error *err);

/** Reads all examples of the string `node`,
 *
 *     ["DOC":] (ARG=[DTYPE] [DIMS] {DATA}, .. | .. | PARAM=VALUE, ..) [within N | fails "MESSAGE"];
 *
 * into `*examples`, in their order. -1 with a reason in `err`, after the place and `subject`. */
int ln_optpat_parse_examples(ln_arena *arena, const char *subject, const ln_rjson *node,
                             ln_optexample **examples, ln_error *err);
