// SPDX-License-Identifier: Apache-2.0
// A model: what its file says, read once, and the programs that were made of it. All but what the
// lock guards is constant once the model is open.

#ifndef LN_MODEL_H
#define LN_MODEL_H

#include <stdatomic.h>

#include "base/ln_infile.h"
#include "front/ln_front.h"
#include "front/ln_interface.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_session.h"
#include "session/ln_options.h"
#include "session/ln_ranges.h"

struct ln_model {
    atomic_int refs; /* of the caller and of sessions */
    char *name;      /* for messages */
    ln_options *options;
    ln_pool *pool;
    ln_infile file;        /* open; taken where `parsed` is not NULL */
    const ln_front *front; /* NULL: JSON IR */
    void *parsed;          /* by the front end; NULL: each program reads the file */
    int is_described;      /* by the front end; else the interface is that of the first program */
    ln_interface *interface;
    const ln_port **required; /* the inputs that a run must be given */
    int *required_numbers;    /* of each input of the interface; -1: it need not be given */
    int n_required;
    ln_hash *input_numbers, *output_numbers; /* names -> numbers, from 1 */
    struct ln_store *store;                  /* constants of all programs */
    size_t read_size;    /* bytes that were allocated to read it, if memory is limited */
    int n_symbols;       /* names of open sizes: ln_port.symbols are 1 .. n_symbols */
    atomic_int *decides; /* of each input: some program is for one value of it alone */

    /* ln_session_lock */
    int wants_values;        /* shapes are decided on values of inputs */
    struct ln_program *kept; /* the newest first */
    int n_kept;
    uint64_t n_sessions; /* that there have been */
    ln_changes *changes; /* of each input */
    ln_kernels kernels;  /* of the last program for fixed shapes */
    int has_kernels;
    int most_capacity; /* more, the model has been found not to take; 0: nothing is known */
    int stays_fixed;   /* programs for open sizes do not work, or not as well */
    ln_refusals refusals;
};

/** The model, once more: to be freed with ln_model_free. */
ln_model *ln_model_keep(ln_model *model);

/** Whether an input that a run must be given has open sizes. */
int ln_model_is_open(const ln_model *model);

/* The interface, while the model is opened. -1 with the reason in the context. */

/** Makes it of what a context has read, for formats whose front end does not describe models. */
int ln_model_describe(const ln_model *model, const ln_context *ctx);

/** Adds the outputs that options ask for, of which nothing else is known. */
int ln_model_add_outputs(const ln_model *model, const ln_context *ctx);

/** Binds the sizes that options give. */
int ln_model_narrow(const ln_model *model, const ln_context *ctx);

/** Sets what the model has beside its interface, which is whole by now. */
int ln_model_index(ln_model *model, const ln_context *ctx);

/** Adds what was inferred for outputs of which the file says less. */
void ln_model_complete(const ln_model *model, const ln_context *ctx);

/** Which input has that name; -1 with a reason that names those that there are. */
int ln_model_find_input(const ln_model *model, const char *name, ln_error *err);
int ln_model_find_output(const ln_model *model, const char *name, ln_error *err);

#endif
