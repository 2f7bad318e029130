// SPDX-License-Identifier: Apache-2.0
// Inside the reader of operator descriptions: the table of fields, which is the format, and what
// reading and checking share.

#ifndef LN_OPDESC_FIELDS_H
#define LN_OPDESC_FIELDS_H

#include <stddef.h>

#include "gen/ln_opdesc.h"

/** The longest optype or arg_name: what the generators make of them then fits their buffers. */
#define LN_OPDESC_MAX_NAME 100

/** What a value may be: a bit for each ln_rjson_type. */
enum {
    BOOL = 1 << LN_RJSON_BOOL,
    NUMBER = 1 << LN_RJSON_NUMBER,
    STRING = 1 << LN_RJSON_STRING,
    ARRAY = 1 << LN_RJSON_ARRAY,
    OBJECT = 1 << LN_RJSON_OBJECT,
    ANY = BOOL | NUMBER | STRING | ARRAY,
    CODE = NUMBER | STRING, /* a literal, or C that computes the value */
};

/** Which arguments may have a field: a bit for each ln_argdesc_kind. */
enum {
    IN = 1 << LN_ARGDESC_IN,
    OUT = 1 << LN_ARGDESC_OUT,
    PARAM = 1 << LN_ARGDESC_PARAM,
    TENSOR = IN | OUT,
    ALL = IN | OUT | PARAM,
};

typedef struct field_spec {
    const char *key;
    int types;
    int kinds;       /* of arguments; operators: unused */
    int is_required; /* operators: once the inherited fields are there */
    int is_own;      /* operators: never inherited */
    int is_body;     /* statements of C: without any, it is as if absent */
    int of_target;   /* operators: "targets" may give it */
    int is_last;     /* operators: pre_run ends with it */
    int of_file;     /* operators: their file may give it, for all that do not themselves */
} field_spec;

extern const field_spec ln_opdesc_op_fields[LN_OPDESC_FIELDS];
extern const field_spec ln_opdesc_arg_fields[LN_ARGDESC_FIELDS];

/** The key of a list of arguments, by their kind. */
extern const ln_opdesc_field ln_opdesc_kind_fields[];

/** Two fields that stand for each other: giving one takes the inherited other away. */
typedef struct field_pair {
    int one, other;
} field_pair;

#define LN_OPDESC_OP_PAIRS  2
#define LN_OPDESC_ARG_PAIRS 3
extern const field_pair ln_opdesc_op_pairs[LN_OPDESC_OP_PAIRS];
extern const field_pair ln_opdesc_arg_pairs[LN_OPDESC_ARG_PAIRS];

/** Room for the names of all types. */
#define LN_OPDESC_TYPES_TEXT 64

/** "a string or an array", for messages. */
const char *ln_opdesc_types_text(int types, char buf[LN_OPDESC_TYPES_TEXT]);

/** Not both of a pair are given: or -1 with a reason. */
int ln_opdesc_check_pairs(const ln_opdesc *op, const ln_rjson *const *fields,
                          const field_spec *specs, const field_pair *pairs, size_t n,
                          ln_error *err);

/** All items of an array (NULL: there is none) have one of the types: or -1 with a reason. */
int ln_opdesc_check_items(const ln_opdesc *op, const ln_rjson *array, int types, ln_error *err);

/** ln_opdesc_fail at the key of a member. */
int ln_opdesc_fail_key(const ln_opdesc *op, const ln_rjson *member, ln_error *err, const char *fmt,
                       ...) LN_PRINTF(4, 5);

/** Checks a completed operator, and finds what its fields say together: `arch`, `pure`, the
 * arguments' `ptype`, ... -1 with a reason as in ln_opdescs_check. In ln_opdesc_check.c. */
int ln_opdesc_check(ln_opdesc *op, ln_error *err);

#endif
