// SPDX-License-Identifier: Apache-2.0
// Values that a program was made for: a rule has made the value of a constant part of an operator,
// shapes were decided on the value of an input, or the model has what was computed from it.
//
// Beside them stands which sizes of its inputs and outputs the model leaves open, by what names.
//
// Such a tensor may be given its value again, but no other, whichever way data comes. What is kept
// of the value is a hash, so that a compiled model knows it, too, wherever its weights come from.

#ifndef LN_FIXED_H
#define LN_FIXED_H

#include <stddef.h>
#include <stdint.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_tensor.h"

typedef struct ln_fixed_value {
    char *tensor;  /* its name; the program may do without it by now */
    char *rule;    /* that has seen the value; NULL: shapes were decided on it, or it is frozen */
    int frozen;    /* the model has instead what was computed from it (pass/ln_rewriting.h) */
    uint64_t hash; /* of the value's bytes, ln_fnv64 */
} ln_fixed_value;

/* The values of a context, in the order of the decisions. */
typedef struct ln_fixed ln_fixed;

/** Returns new (ln_fixed_value_free), with copies of the names; NULL: no memory. */
ln_fixed_value *ln_fixed_value_create(const char *tensor, const char *rule, uint64_t hash);

/** Takes NULL and half-built ones. */
void ln_fixed_value_free(void *value);

/** Returns new (ln_fixed_free), empty; NULL: no memory. */
ln_fixed *ln_fixed_create(void);

/** Takes NULL. */
void ln_fixed_free(ln_fixed *fixed);

/** Forgets all values. */
void ln_fixed_clear(ln_fixed *fixed);

/** Takes the value. Of a tensor, the first one counts. -1: no memory, or `value` is NULL; the value
 * is still the caller's. */
int ln_fixed_add(ln_fixed *fixed, ln_fixed_value *value);

/** The same with a new value, see ln_fixed_value_create. -1: no memory. */
int ln_fixed_note(ln_fixed *fixed, const char *tensor, const char *rule, uint64_t hash);

/** The values (ln_fixed_value), in order. Returns borrowed. */
const ln_list *ln_fixed_values(const ln_fixed *fixed);

/* The sizes of a tensor that the model leaves open, also where the program has numbers for them. */
typedef struct ln_open_sizes {
    char *tensor;
    int ndim;
    char *names[LN_MAXDIM]; /* "": open without a name; NULL: the model has a number */
} ln_open_sizes;

/** Notes the sizes of an input or output, with copies of the names; nothing where no size is open.
 * Of a tensor, the first ones count. -1: no memory. */
int ln_fixed_note_sizes(ln_fixed *fixed, const char *tname, int ndim, const char *const *names);

/** What was noted of tensor `tname`, which has `ndim` dimensions; NULL: nothing. Returns borrowed.
 */
const ln_open_sizes *ln_fixed_sizes_of(const ln_fixed *fixed, const char *tname, int ndim);

/** All that was noted (ln_open_sizes), in order. Returns borrowed. */
const ln_list *ln_fixed_sizes(const ln_fixed *fixed);

/** What is known of the value that tensor `tname` must have; NULL: it may have any. Returns
 * borrowed. */
const ln_fixed_value *ln_fixed_find(const ln_fixed *fixed, const char *tname);

/** 0, or -1 with a reason that names the rule: `data` of `size` bytes is not the value that
 * tensor `tname` must have. */
int ln_fixed_check(const ln_context *ctx, const char *tname, const void *data, size_t size);

/** The same of a value that has `hash`. */
int ln_fixed_check_hash(const ln_context *ctx, const char *tname, uint64_t hash);

/** The same of all constants that operators make of their parameters, which may have changed. */
int ln_fixed_check_params(const ln_context *ctx);

/** Copies the one element of constant `te`, where the model itself brings it: as a parameter of the
 * operator that makes it, or in its own file. -1: it has other elements, or is not known. */
int ln_constant_element(const ln_context *ctx, const ln_tensor_entry *te,
                        char element[TL_DTYPE_MAX_SIZE]);

#endif
