// SPDX-License-Identifier: Apache-2.0
// A model: the content of its file, read once, and its programs. Except for the fields under the
// lock, it is constant once it is open.

#pragma once

#include <stdatomic.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_infile.h"
#include "front/ln_front.h"
#include "front/ln_interface.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_session.h"
#include "session/ln_options.h"
#include "session/ln_ranges.h"
#include "tensorlight/tl_util.h"

struct ln_model {
    atomic_int refs; // of the caller and of sessions
    char *name;      // for messages
    ln_options *options;
    ln_pool *pool;
    ln_infile file;             // open; moved into `parsed` if that is not NULL
    const ln_front *front;      // NULL: JSON IR
    void *parsed;               // by the front end; NULL: each program reads the file
    int has_declared_interface; // by the front end; else that of the first program
    ln_interface *interface;
    const ln_port **required; // the n_required required inputs
    int *required_numbers;    // for each input of the interface: its index there; -1: not required
    int n_required;
    ln_hash *input_numbers, *output_numbers; // names -> numbers, from 1
    ln_value_info *values[2];                // of inputs and outputs; NULL: each is one tensor
    int n_values[2];
    struct ln_store *store;     // constants of all programs
    size_t read_size;           // bytes allocated to read it, if memory is limited
    int n_symbols;              // names of open sizes: ln_port.symbols are 1 .. n_symbols
    atomic_int *is_shape_input; // for each input: some program is only for one value of it

    // ln_session_lock
    int shapes_depend_on_values; // of inputs
    struct ln_program *cached;   // the newest first
    int n_cached;
    int n_programs;      // so far
    uint64_t n_sessions; // the number of sessions so far
    ln_changes *changes; // of each input
    ln_kernels kernels;  // of the last program for fixed shapes
    int kernels_known;
    int max_capacity;      // the model has rejected larger ones; 0: unknown
    int uses_fixed_shapes; // programs for open sizes fail, or are slower
    ln_rejections rejections;
};

/** A new reference to the model (ln_model_free). */
ln_model *ln_model_keep(ln_model *model);

/** Whether the options' shapes are for reading the model: its interface follows from them. */
int ln_model_asks_shapes(const ln_model *model);

/** Whether a required input has open sizes. */
int ln_model_is_open(const ln_model *model);

// The interface, while the model is opened. -1 with the reason in the context.

/** Creates it from a context, for formats whose front end does not describe models. */
int ln_model_describe(ln_model *model, const ln_context *ctx);

/** Adds the outputs of option "output", of unknown type and shape. */
int ln_model_add_outputs(const ln_model *model, const ln_context *ctx);

/** Binds the sizes of option "shape". */
int ln_model_narrow(const ln_model *model, const ln_context *ctx);

/** Sets the other fields of the model from its complete interface. */
int ln_model_index(ln_model *model, const ln_context *ctx);

/** Adds inferred types and shapes of outputs that the file does not specify. */
void ln_model_complete(const ln_model *model, const ln_context *ctx);

/** The index of the input of that name; -1 with a reason that lists the inputs. */
int ln_model_find_input(const ln_model *model, const char *name, ln_error *err);
int ln_model_find_output(const ln_model *model, const char *name, ln_error *err);

// The status of a failed call whose reason was recorded without a status

/** The number of failed allocations of this thread, read before the call. */
static inline unsigned long ln_call_begin(void)
{
    return ln_alloc_failures() + tl_alloc_failures();
}

/** The status of the record's reason; else LN_OUT_OF_MEMORY if an allocation has failed since
 * `failures` was read, else `otherwise`. */
static inline ln_status ln_call_status(const ln_error *err, unsigned long failures,
                                       ln_status otherwise)
{
    if (ln_error_status(err) != LN_OK)
        return ln_error_status(err);
    return ln_call_begin() > failures ? LN_OUT_OF_MEMORY : otherwise;
}
