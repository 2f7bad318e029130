// SPDX-License-Identifier: Apache-2.0
// An input value: a shape, and the data that the next run reads.

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "front/ln_interface.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_string.h"

/** All zero: not set. */
typedef struct ln_value {
    int is_given;
    int ndim;
    int dims[LN_MAXDIM];
    size_t size;      // of the data in bytes
    const void *data; // `own`, or the caller's
    uint64_t hash;    // hash of the data, in a run of a model whose shapes depend on it
    void *own;        // memory of `room` bytes, for copied data
    size_t room;
    void *strings;      // a block: copied data of TL_STRING
    void *last_strings; // of the last run, if others were set since: its outputs may point to them
    int is_read;        // the last run has read `strings`
} ln_value;

/** Frees its data, except strings of the last run. */
void ln_value_clear(ln_value *value);

/** Frees all its data. */
void ln_value_free(ln_value *value);

/** Whether both are set and have the same shape, or neither is set. */
int ln_value_is_like(const ln_value *value, const ln_value *other);

/** Sets the shape of `value`, without data. -1 with a reason and an unchanged `value`: `port` has
 * another type, or does not allow the shape; too many elements. */
int ln_value_set_shape(ln_value *value, const ln_port *port, tl_dtype dtype, int ndim,
                       const int *dims, ln_error *err);

/** Copies the data, value->size bytes. -1: no memory, nothing changes. */
int ln_value_copy(ln_value *value, const void *data);

/** The same for data of TL_STRING: copies the strings, which must be UTF-8, too. -1 with a reason;
 * nothing changes. */
int ln_value_copy_strings(ln_value *value, const ln_port *port, const tl_string *const *data,
                          ln_error *err);

/** 0 if all strings are UTF-8; -1 with a reason that names the input. */
int ln_value_check_strings(const ln_value *value, const ln_port *port, const tl_string *const *data,
                           ln_error *err);

/** Call when a run begins: frees strings that only outputs of the run before point to. */
void ln_value_begin_run(ln_value *value);

/** The hash of the data. */
uint64_t ln_value_hash(const ln_value *value);
