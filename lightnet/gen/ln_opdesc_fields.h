// SPDX-License-Identifier: Apache-2.0
// Internals of the reader of operator descriptions: the table of fields, which defines the format,
// and functions shared by reading and checking.

#pragma once

#include <stddef.h>

#include "gen/ln_opdesc.h"

/** The max length of an optype or arg_name: derived names then fit the generators' buffers. */
#define LN_OPDESC_MAX_NAME 100

/** The valid types of a value: a bit for each ln_rjson_type. */
enum {
    BOOL = 1 << LN_RJSON_BOOL,
    NUMBER = 1 << LN_RJSON_NUMBER,
    STRING = 1 << LN_RJSON_STRING,
    ARRAY = 1 << LN_RJSON_ARRAY,
    OBJECT = 1 << LN_RJSON_OBJECT,
    ANY = BOOL | NUMBER | STRING | ARRAY,
    CODE = NUMBER | STRING, // a literal, or C that computes the value
};

/** The kinds of arguments with a field: a bit for each ln_argdesc_kind. */
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
    int kinds;       // of arguments; operators: unused
    int is_required; // operators: required after inheritance
    int is_own;      // operators: never inherited
    int is_body;     // C statements: an empty text counts as absent
    int of_target;   // operators: valid in "targets"
    int is_last;     // operators: code at the end of pre_run
    int of_file;     // operators: valid at the top of the file, as a default
} field_spec;

extern const field_spec ln_opdesc_op_fields[LN_OPDESC_FIELDS];
extern const field_spec ln_opdesc_arg_fields[LN_ARGDESC_FIELDS];

/** The key of a list of arguments, by their kind. */
extern const ln_opdesc_field ln_opdesc_kind_fields[];

/** Two exclusive fields: one removes the inherited other. */
typedef struct field_pair {
    int one, other;
} field_pair;

#define LN_OPDESC_OP_PAIRS  2
#define LN_OPDESC_ARG_PAIRS 6
extern const field_pair ln_opdesc_op_pairs[LN_OPDESC_OP_PAIRS];
extern const field_pair ln_opdesc_arg_pairs[LN_OPDESC_ARG_PAIRS];

/** Room for the names of all types. */
#define LN_OPDESC_TYPES_TEXT 64

/** "a string or an array", for messages. */
const char *ln_opdesc_types_text(int types, char buf[LN_OPDESC_TYPES_TEXT]);

/** 0 unless both of a pair are set; -1 with a reason. */
int ln_opdesc_check_pairs(const ln_opdesc *op, const ln_rjson *const *fields,
                          const field_spec *specs, const field_pair *pairs, size_t n,
                          ln_error *err);

/** 0 if all items of an array (NULL: none) have one of the types; -1 with a reason. */
int ln_opdesc_check_items(const ln_opdesc *op, const ln_rjson *array, int types, ln_error *err);

/** ln_opdesc_fail at the key of a member. */
int ln_opdesc_fail_key(const ln_opdesc *op, const ln_rjson *member, ln_error *err, const char *fmt,
                       ...) LN_PRINTF(4, 5);

/** Checks a completed operator, and derives properties from its fields: `arch`, `pure`, the
 * arguments' `ptype`, ... -1 with a reason as in ln_opdescs_check. In ln_opdesc_check.c. */
int ln_opdesc_check(ln_opdesc *op, ln_error *err);
