// SPDX-License-Identifier: Apache-2.0
// Operator descriptions: read, completed by inheritance, and checked.
//
//     ln_opdescs *descs = ln_opdescs_create();
//     if (ln_opdescs_read(descs, "cpu/conv.op", 1, NULL) ||
//         ln_opdescs_read(descs, "none/conv.op", 0, NULL) || ln_opdescs_check(descs, NULL))
//         fprintf(stderr, "%s\n", ln_last_error());
//     for (size_t i = 0; i < descs->len; i++)
//         ...
//     ln_opdescs_free(descs);
//
// A checked description has the format of docs/operator-descriptions.md: every field has its type,
// every required one is present, every name that a field refers to exists. Only the C in it is
// unchecked.

#pragma once

#include <stddef.h>

#include "gen/ln_arena.h"
#include "gen/ln_rjson.h"

#define LENGTH_OF(array) (sizeof(array) / sizeof(*(array)))

/** The fields of an operator. */
typedef enum ln_opdesc_field {
    LN_OPDESC_OPTYPE,
    LN_OPDESC_AUTHOR,
    LN_OPDESC_ARCH,
    LN_OPDESC_INHERITS,
    LN_OPDESC_AUTOGEN,
    LN_OPDESC_TARGETS,
    LN_OPDESC_DOC,
    LN_OPDESC_PURE,
    LN_OPDESC_WRITES,
    LN_OPDESC_MTYPE,
    LN_OPDESC_INPLACE,
    LN_OPDESC_INPLACE_WRITER,
    LN_OPDESC_STRINGS,
    LN_OPDESC_TRAITS,
    LN_OPDESC_MEANS,
    LN_OPDESC_EXTRA_PRIVS,
    LN_OPDESC_TENSORS_IN,
    LN_OPDESC_TENSORS_OUT,
    LN_OPDESC_PARAMS,
    LN_OPDESC_CUSTOM,
    LN_OPDESC_SCRATCH,
    LN_OPDESC_CAN_FAIL,
    LN_OPDESC_MACS,
    LN_OPDESC_ALGORITHM,
    LN_OPDESC_LAYOUT,
    LN_OPDESC_STATIC_RUN,
    LN_OPDESC_STATIC_CALL,
    LN_OPDESC_RUN,
    LN_OPDESC_CALL,
    LN_OPDESC_POST_RUN,
    LN_OPDESC_CALC_OFFSET,
    LN_OPDESC_ONNX,
    LN_OPDESC_EXAMPLES,
    LN_OPDESC_FIELDS
} ln_opdesc_field;

/** The fields of an input, an output or a parameter. The six comparisons have the order of
 * `ln_opck_cmp`. */
typedef enum ln_argdesc_field {
    LN_ARGDESC_ARG_NAME,
    LN_ARGDESC_TYPE,
    LN_ARGDESC_DOC,
    LN_ARGDESC_OPTIONAL,
    LN_ARGDESC_VARIADIC,
    LN_ARGDESC_MTYPE,
    LN_ARGDESC_DTYPE,
    LN_ARGDESC_SAMETYPE,
    LN_ARGDESC_NDIM,
    LN_ARGDESC_DIMS,
    LN_ARGDESC_SAMESHAPE,
    LN_ARGDESC_SIZES,
    LN_ARGDESC_VALUES,
    LN_ARGDESC_STATIC,
    LN_ARGDESC_OWNER,
    LN_ARGDESC_INPLACE,
    LN_ARGDESC_DYNAMIC,
    LN_ARGDESC_SETS,
    LN_ARGDESC_PTYPE,
    LN_ARGDESC_REALTYPE,
    LN_ARGDESC_FROM_FUNC,
    LN_ARGDESC_NAME_FUNC,
    LN_ARGDESC_DEFAULT,
    LN_ARGDESC_EXAMPLE,
    LN_ARGDESC_LEN,
    LN_ARGDESC_LEN_GT,
    LN_ARGDESC_LEN_GE,
    LN_ARGDESC_LEN_LT,
    LN_ARGDESC_LEN_LE,
    LN_ARGDESC_LEN_NE,
    LN_ARGDESC_EQ,
    LN_ARGDESC_GT,
    LN_ARGDESC_GE,
    LN_ARGDESC_LT,
    LN_ARGDESC_LE,
    LN_ARGDESC_NE,
    LN_ARGDESC_CHECK,
    LN_ARGDESC_CHECKS,
    LN_ARGDESC_CUSTOM,
    LN_ARGDESC_CLEANUP,
    LN_ARGDESC_FIELDS
} ln_argdesc_field;

typedef enum ln_argdesc_kind { LN_ARGDESC_IN, LN_ARGDESC_OUT, LN_ARGDESC_PARAM } ln_argdesc_kind;

/** The type of a parameter in the IR. */
typedef enum ln_argdesc_ptype {
    LN_ARGDESC_NULL,
    LN_ARGDESC_STRING,
    LN_ARGDESC_NUMBER,
    LN_ARGDESC_BOOL,
    LN_ARGDESC_ARRAY_STRING,
    LN_ARGDESC_ARRAY_NUMBER,
    LN_ARGDESC_ARRAY_BOOL,
    LN_ARGDESC_PTYPES
} ln_argdesc_ptype;

/** The names and C types of a ptype. */
typedef struct ln_ptype_spec {
    const char *name;   // in descriptions: "LN_PARAM_ARRAY_NUMBER"
    const char *word;   // in messages and names of functions: "array_number"
    ln_rjson_type type; // of one value
} ln_ptype_spec;

extern const ln_ptype_spec ln_ptype_specs[LN_ARGDESC_PTYPES];

/** An input, an output or a parameter. */
typedef struct ln_argdesc {
    ln_argdesc_kind kind;
    const char *name;                          // the arg_name
    const ln_rjson *node;                      // the last description
    const ln_rjson *fields[LN_ARGDESC_FIELDS]; // the inherited ones too; NULL: not given
    ln_argdesc_ptype ptype;                    // of a parameter
    const char *dtypes; // C: the set of data types that "dtype" names; NULL: "dtype" is C
    int optional;
    int variadic;
} ln_argdesc;

/** The progress of inheritance of an operator. */
typedef enum ln_opdesc_state {
    LN_OPDESC_READ,
    LN_OPDESC_BEING_COMPLETED,
    LN_OPDESC_COMPLETE
} ln_opdesc_state;

/** An operator. Rows of "targets" become operators, too: each computes its base on one target, and
 * shares the base's arguments, private structure, pre_run and post_run. */
typedef struct ln_opdesc {
    struct ln_opdescs *descs; // that it belongs to
    const char *optype;
    const char *arch;
    const ln_rjson *root; // of its file
    const ln_rjson *node;
    const ln_rjson *fields[LN_OPDESC_FIELDS]; // the inherited ones too; NULL: not given
    ln_argdesc *args;                         // inputs, then outputs, then parameters
    size_t nargs;
    const ln_rjson **includes; // of its own and the inherited descriptions, each header once
    size_t nincludes;
    int autogen;        // generate C
    int pure;           // no side effects
    const char *writes; // C: what it writes beside its tensors; NULL: nothing
    int inplace_writer; // writes the memory of an input that an output has as its owner
    const char *traits; // C: LN_TRAIT_*, joined; NULL: none
    int own;            // from a file to generate C for, not only to inherit from
    ln_opdesc_state state;
    struct ln_opdesc *base; // the operator that this one computes on a target; or NULL
    ln_rjson target_type, target_arch, target_mtype; // with a base: fields that its row lacks
} ln_opdesc;

typedef struct ln_opdescs {
    ln_opdesc **ops; // in the order of reading
    size_t len;
    ln_rjson **files; // the roots that everything above borrows from
    size_t nfiles;
    ln_arena arena; // everything above lives there
} ln_opdescs;

/** Returns new (ln_opdescs_free). */
ln_opdescs *ln_opdescs_create(void);

/** Ignores NULL. */
void ln_opdescs_free(ln_opdescs *descs);

/** Adds the operators of a file. `own` 0: they only serve inheritance. -1 with "FILE:LINE:COLUMN:
 * operator 'x': reason" in `err` (NULL: the thread's last error): not relaxed JSON, an unknown key,
 * a value of the wrong type, a duplicate optype. */
int ln_opdescs_read(ln_opdescs *descs, const char *file, int own, ln_error *err);

/** Completes all operators by inheritance, and checks them. -1 with a reason as in ln_opdescs_read:
 * an unknown or cyclic `inherits`, a missing field, an unknown name in a field. */
int ln_opdescs_check(ln_opdescs *descs, ln_error *err);

/** The argument of that name, or NULL. Returns borrowed. */
const ln_argdesc *ln_opdesc_find_arg(const ln_opdesc *op, const char *arg_name);

/** The text of a string field, or NULL. */
const char *ln_opdesc_text(const ln_opdesc *op, ln_opdesc_field field);
const char *ln_argdesc_text(const ln_argdesc *arg, ln_argdesc_field field);

/** 1 for a bool field that is given and true. */
int ln_argdesc_is(const ln_argdesc *arg, ln_argdesc_field field);

/** The key of a field in descriptions. */
const char *ln_opdesc_key(ln_opdesc_field field);
const char *ln_argdesc_key(ln_argdesc_field field);

/** 1 for an operator that generate C for: of a file of its own, and not "autogen": false. */
int ln_opdesc_is_generated(const ln_opdesc *op);

/** The operator whose arguments, private structure and pre_run this one uses: its base or itself.
 */
const ln_opdesc *ln_opdesc_base(const ln_opdesc *op);

/** 1 for an operator that may have outputs. */
int ln_opdesc_has_output(const ln_opdesc *op);

/** 1 for a parameter that is an array. */
int ln_argdesc_is_array(const ln_argdesc *arg);

/** Records "FILE:LINE:COLUMN: operator 'x': reason" for the location of `node`; returns -1. */
int ln_opdesc_fail(const ln_opdesc *op, const ln_rjson *node, ln_error *err, const char *fmt, ...)
    LN_PRINTF(4, 5);
