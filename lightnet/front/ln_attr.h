// SPDX-License-Identifier: Apache-2.0
// Attributes of an emitter's node, which all formats read alike, and their checks.
//
// A front end reads attributes (ln_attr_reader, in ln_emit.h). An unreadable or unexpected value is
// a failure that names the attribute as the file does, its value, and the expected one. Afterwards
// the functions return harmless values.
//
//     const double alpha = ln_attr_number(e, "alpha", 1);
//     const int axis = ln_attr_axis(e, "axis", 1, ndim);
//     const int group = ln_attr_int_in(e, "group", 1, 1, INT_MAX);

#pragma once

#include "front/ln_emit.h"

/** Whether the node has the attribute. */
static inline int ln_attr_has(const ln_emit *e, const char *key)
{
    return e->front->attrs->has(e, key);
}

/** The attribute; `deflt` without it. Returns borrowed (until the translation ends). */
static inline int64_t ln_attr_int(ln_emit *e, const char *key, int64_t deflt)
{
    return e->front->attrs->integer(e, key, deflt);
}
static inline double ln_attr_number(ln_emit *e, const char *key, double deflt)
{
    return e->front->attrs->number(e, key, deflt);
}
static inline int ln_attr_bool(ln_emit *e, const char *key, int deflt)
{
    return e->front->attrs->flag(e, key, deflt);
}
static inline const char *ln_attr_text(ln_emit *e, const char *key, const char *deflt)
{
    return e->front->attrs->text(e, key, deflt);
}
static inline tl_dtype ln_attr_dtype(ln_emit *e, const char *key, tl_dtype deflt)
{
    return e->front->attrs->dtype(e, key, deflt);
}

/** NULL and `*len` 0 without the attribute. */
static inline const int64_t *ln_attr_ints(ln_emit *e, const char *key, int *len)
{
    return e->front->attrs->integers(e, key, len);
}

/** The value of a bool, which must be 0 or 1. */
int ln_attr_to_bool(ln_emit *e, const char *key, int64_t value);

/** Fails without the attribute. */
void ln_attr_require(ln_emit *e, const char *key);

/** The attribute as an int from `min` to `max`; and `value`, one of its numbers. */
int ln_attr_int_in(ln_emit *e, const char *key, int64_t deflt, int min, int max);
int ln_attr_element(ln_emit *e, const char *key, int64_t value, int min, int max);

/** `len` integers that are at least `min`; all `deflt` without the attribute, or where it is
 *  empty. */
void ln_attr_ints_of(ln_emit *e, const char *key, int len, int deflt, int min, int *values);

/** 0 <= axis < ndim for -ndim <= axis < ndim; and the attribute. */
int ln_attr_to_axis(ln_emit *e, int64_t axis, int ndim);
int ln_attr_axis(ln_emit *e, const char *key, int64_t deflt, int ndim);

/** The attribute, at least 0, in the range of operators: above 0. */
double ln_attr_epsilon(ln_emit *e, const char *key, double deflt);

/** A valid word. A table ends with the name NULL. */
typedef struct ln_attr_word {
    const char *name, *ours; // the format's word and LightNet's; NULL: the same
    int since;               // the version of the format that has it first (ln_emit); 0: all
} ln_attr_word;

/** LightNet's word for the attribute's; for one that is not in the table, that of its first row. */
const char *ln_attr_choose(ln_emit *e, const char *key, const char *deflt,
                           const ln_attr_word *words);

/** The format's word for LightNet's: the first that has that meaning; NULL: none does. */
const ln_attr_word *ln_attr_word_for(const ln_attr_word *words, const char *ours);
