// SPDX-License-Identifier: Apache-2.0
// Programs: a model, rewritten, planned and loaded for one set of input shapes. One session uses a
// program at a time; meanwhile the model keeps those that no session uses.

#ifndef LN_PROGRAM_H
#define LN_PROGRAM_H

#include "lightnet/ln_context.h"
#include "session/ln_model.h"
#include "session/ln_value.h"

typedef struct ln_program {
    ln_context *ctx;
    ln_value *inputs;   /* their shapes, as the interface has them; without data */
    const char **names; /* of the inputs in the context; NULL: the program does without it */
    uint64_t *fixed;    /* hashes of the values that it was made for, where is_fixed */
    char *is_fixed;     /* of each input */
    size_t n_inputs;
    const tl_tensor **outputs; /* as the interface has them */
    size_t n_outputs;
    struct ln_program *next; /* of those that the model keeps */
} ln_program;

/** Returns new (ln_program_free): an empty context with the model's settings, for ln_program_make.
 *  NULL with a reason in `err`. */
ln_program *ln_program_create(const ln_model *model, ln_error *err);

/** Takes NULL and half-built ones. */
void ln_program_free(ln_program *program);

/** Makes the program for the shapes of `values`, one for each input of model->interface; shapes are
 *  decided on their data where that must be. -1 with the reason in the context: the program can
 *  only be freed. */
int ln_program_make(ln_program *program, ln_model *model, const ln_value *values);

/** The two steps of ln_program_make. The first one has no use for `values` where the front end
 *  cannot describe a model: then the interface follows from what was read. */
int ln_program_read(ln_program *program, ln_model *model, const ln_value *values);
int ln_program_finish(ln_program *program, const ln_model *model, const ln_value *values);

/** Whether it was made for such values. */
int ln_program_fits(const ln_program *program, const ln_value *values);

/** Copies the data of all values to the inputs. -1 with the reason in the context. */
int ln_program_fill(const ln_program *program, const ln_value *values);

/** A program that fits, which the model keeps no longer; NULL: there is none. */
ln_program *ln_program_take(ln_model *model, const ln_value *values);

/** Lets the model keep the program (takes it; NULL: nothing), in place of the one that was used
 *  least recently where there are too many. */
void ln_program_give(ln_model *model, ln_program *program);

#endif
