// SPDX-License-Identifier: Apache-2.0
// Values that a program depends on: a rule has made the value of a constant part of an operator,
// shapes depend on the value of an input, or the model contains values computed from it.
//
// Also the open sizes of the model's inputs and outputs, with their names; and which of these are
// the tensors of sequences and optional values.
//
// Such a tensor may be set to the same value again, but not to another, from any source. A hash of
// the value is stored, also in a compiled model, independently of the source of its weights.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "lightnet/ln_context.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_tensor.h"

typedef struct ln_fixed_value {
    char *tensor;  // its name; the program may no longer have it
    char *rule;    // the rule that read the value; NULL: shapes depend on it, or it is frozen
    int frozen;    // the model has results computed from it instead (pass/ln_rewriting.h)
    uint64_t hash; // of the value's bytes, ln_fnv64
} ln_fixed_value;

/** The values of a context, in the order of their use. */
typedef struct ln_fixed ln_fixed;

/** Returns new (ln_fixed_value_free), with copies of the names; NULL: no memory. */
ln_fixed_value *ln_fixed_value_create(const char *tensor, const char *rule, uint64_t hash);

/** Ignores NULL, and accepts half-built ones. */
void ln_fixed_value_free(void *value);

/** Returns new (ln_fixed_free), empty; NULL: no memory. */
ln_fixed *ln_fixed_create(void);

/** Accepts NULL. */
void ln_fixed_free(ln_fixed *fixed);

/** Removes all values. */
void ln_fixed_clear(ln_fixed *fixed);

/** Takes the value. For a tensor, the first one counts. -1: no memory, or `value` is NULL; the
 * value is still the caller's. */
int ln_fixed_add(ln_fixed *fixed, ln_fixed_value *value);

/** The same with a new value, see ln_fixed_value_create. -1: no memory. */
int ln_fixed_note(ln_fixed *fixed, const char *tensor, const char *rule, uint64_t hash);

/** The values (ln_fixed_value), in order. Returns borrowed. */
const ln_list *ln_fixed_values(const ln_fixed *fixed);

/** The open sizes of a tensor in the model, even if they are fixed in the program. */
typedef struct ln_open_sizes {
    char *tensor;
    int ndim;
    char *names[LN_MAXDIM]; // "": open without a name; NULL: fixed in the model
} ln_open_sizes;

/** Records the sizes of an input or output, with copies of the names; ignores one without open
 * sizes. For a tensor, the first ones count. -1: no memory. */
int ln_fixed_note_sizes(ln_fixed *fixed, const char *tname, int ndim, const char *const *names);

/** The open sizes of tensor `tname` with `ndim` dimensions; NULL: none. Returns borrowed. */
const ln_open_sizes *ln_fixed_sizes_of(const ln_fixed *fixed, const char *tname, int ndim);

/** All open sizes (ln_open_sizes), in order. Returns borrowed. */
const ln_list *ln_fixed_sizes(const ln_fixed *fixed);

/** Records the next input or output of the model's file, of those that are not tensors: its `len`
 * tensors, -1 if it is absent, from number `first` on of the inputs or outputs. -1: no memory. */
int ln_fixed_note_value(ln_fixed *fixed, int is_output, const char *name, ln_value_form form,
                        int first, int len);

/** Whether any such inputs, or outputs, exist. */
int ln_fixed_has_values(const ln_fixed *fixed, int is_output);

/** The required value of tensor `tname`; NULL: any. Returns borrowed. */
const ln_fixed_value *ln_fixed_find(const ln_fixed *fixed, const char *tname);

/** 0, or -1 with a reason that names the rule: `data` of `size` bytes is not the value that
 * tensor `tname` must have. */
int ln_fixed_check(const ln_context *ctx, const char *tname, const void *data, size_t size);

/** The same for a value with that hash. */
int ln_fixed_check_hash(const ln_context *ctx, const char *tname, uint64_t hash);

/** The same for all constants that operators create from their parameters, which may have
 * changed. */
int ln_fixed_check_params(const ln_context *ctx);

/** Copies the element of the one-element constant `te`, if the model contains it: as a parameter of
 * its producer, or in its own file. -1: it has more elements, is a string, or is unknown. */
int ln_constant_element(const ln_context *ctx, const ln_tensor_entry *te,
                        char element[TL_DTYPE_MAX_SIZE]);
