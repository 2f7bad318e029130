// SPDX-License-Identifier: Apache-2.0
// Programs: a model, rewritten, planned and loaded for one set of input shapes. One session uses a
// program at a time; meanwhile the model keeps those that no session uses. The memory of runs is
// that of the session: a program without one lies nowhere.

#ifndef LN_PROGRAM_H
#define LN_PROGRAM_H

#include "lightnet/ln_context.h"
#include "run/ln_loan.h"
#include "session/ln_model.h"
#include "session/ln_value.h"

/* Memory of the caller for an output. */
typedef struct ln_place {
    void *data; /* NULL: none */
    size_t size;
} ln_place;

typedef struct ln_program {
    ln_context *ctx;
    ln_value *inputs;   /* their shapes, as the interface has them; without data */
    ln_range *ranges;   /* of each input, where sizes are open; NULL: they are fixed */
    const char **names; /* of the inputs in the context, then of the outputs; NULL: the program
                           does without it */
    ln_loan *loans;     /* the same: those that may lie in memory of others */
    void *memory;       /* for runs, lent */
    uint64_t *fixed;    /* hashes of the values that it was made for, where is_fixed */
    char *is_fixed;     /* of each input */
    size_t n_inputs;
    const tl_tensor **outputs; /* as the interface has them */
    size_t n_outputs;
    int has_state; /* what a run leaves behind may change the next one */
    /* Of those that the model keeps: */
    struct ln_program *next;
    uint64_t session; /* the number of the only one that may take it; 0: any */
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

/** The first step of a program for all shapes within `ranges` (takes them, also after a failure; of
 *  a model whose front end describes it). Nothing is loaded before ln_program_finish. */
int ln_program_compile_open(ln_program *program, const ln_model *model, const ln_value *values,
                            ln_range *ranges);

/** Whether it was made for such values, which have their hashes where model->decides. */
int ln_program_fits(const ln_program *program, const ln_value *values);

/** Bytes of the memory that it is to be lent; 0: it has memory of its own. */
size_t ln_program_run_size(const ln_program *program);

/** Lets it run in `memory` of so many bytes, aligned as CPU memory is, from now on. */
void ln_program_lend(ln_program *program, void *memory);

/** Before a run: lets the inputs have the values, which are read where they lie or copied, and the
 * outputs lie in their `places` where that can be. -1 with the reason in the context. */
int ln_program_fill(const ln_program *program, const ln_value *values, const ln_place *places);

/* ---- kept programs (ln_model.c) ---- */

/* The programs that a model keeps while no session uses them, for all its sessions. One with a
 * state, such as the numbers that a random operator has drawn, is for the session that it had. */

/** A program that fits (ln_program_fits), which the model keeps no longer, for the session of that
 * number; NULL: there is none. */
ln_program *ln_kept_take(ln_model *model, const ln_value *values, uint64_t session);

/** Lets the model keep the program (takes it; NULL: nothing), which the session of that number (0:
 * none) has used, in place of the one that was used least recently where there are too many. */
void ln_kept_give(ln_model *model, ln_program *program, uint64_t session);

/** Frees the programs that are for that session alone. */
void ln_kept_leave(ln_model *model, uint64_t session);

#endif
