// SPDX-License-Identifier: Apache-2.0
// Programs: a model, rewritten, planned and loaded for one set of input shapes. One session uses a
// program at a time; the model caches unused ones. The session owns the memory of runs: an unused
// program has none.

#pragma once

#include "lightnet/ln_context.h"
#include "run/ln_loan.h"
#include "session/ln_model.h"
#include "session/ln_value.h"

/** Memory of the caller for an output. */
typedef struct ln_buffer {
    void *data; // NULL: none
    size_t size;
    int input;    // its number + 1, if the output grows in the memory of an input (ln_state_rows.h)
    int is_offer; // a larger output is elsewhere
} ln_buffer;

typedef struct ln_program {
    ln_context *ctx;
    ln_value *inputs;   // their shapes, in the order of the interface; without data
    ln_range *ranges;   // of each input with open sizes; NULL: all are fixed
    const char **names; // names in the context of the inputs, then of the outputs; NULL: the
                        // program lacks it
    ln_loan *loans;     // the memory of each of these
    void *memory;       // for runs, lent
    uint64_t *fixed;    // hashes of the values that it depends on, if is_fixed
    char *is_fixed;     // of each input
    size_t n_inputs;
    const tl_tensor **outputs; // in the order of the interface
    size_t n_outputs;
    int *updated; // of each output: the number + 1 of the input that it updates, which nothing else
                  // reads, so that both may have the caller's memory; 0: none
    int has_state; // a run may affect the next one
    int draws;     // runs draw random numbers of the session
    // In the model's cache:
    struct ln_program *next;
    uint64_t session; // the number of the only session that may use it; 0: any
} ln_program;

/** The target of the model's programs. Returns borrowed. */
const char *ln_program_target(const ln_model *model);

/** Returns new (ln_program_free): an empty context with the model's settings, for ln_program_make.
 *  NULL with a reason in `err`. */
ln_program *ln_program_create(const ln_model *model, ln_error *err);

/** Accepts NULL and half-built ones. */
void ln_program_free(ln_program *program);

/** Creates the program for the shapes of `values`, one for each input of model->interface, and for
 * their data if shapes depend on it. -1 with the reason in the context: the program can only be
 * freed. */
int ln_program_make(ln_program *program, ln_model *model, const ln_value *values);

/** The two steps of ln_program_make. The first one ignores `values` if the front end cannot
 * describe a model: then the interface is created from the context. */
int ln_program_read(ln_program *program, ln_model *model, const ln_value *values);
int ln_program_finish(ln_program *program, ln_model *model, const ln_value *values);

/** The first step for a program for all shapes within `ranges` (takes them, also after a failure),
 * for a model whose front end describes it. Nothing is loaded before ln_program_finish. */
int ln_program_compile_open(ln_program *program, const ln_model *model, const ln_value *values,
                            ln_range *ranges);

/** Reads a model whose front end describes it, with its open sizes open: for those of `values` and
 * smaller ones. -1 with the reason in the context. */
int ln_program_read_open(ln_program *program, const ln_model *model, const ln_value *values);

/** As ln_program_make, without loading: the program shows its kernels only. */
int ln_program_compile_fixed(ln_program *program, ln_model *model, const ln_value *values);

/** Reads a model whose front end describes it for the shapes of `values`. -1 with the reason in the
 * context: also if it needs values (ln_bind_wants_values). */
int ln_program_read_shapes(ln_program *program, const ln_model *model, const ln_value *values);

/** Whether the program supports these input values, which have hashes for model->is_shape_input. */
int ln_program_fits(const ln_program *program, const ln_value *values);

/** Bytes of the session's memory that it needs; 0: it has its own memory. */
size_t ln_program_run_size(const ln_program *program);

/** Moves its run memory to `memory`, of that many bytes, aligned like CPU memory. */
void ln_program_lend(ln_program *program, void *memory);

/** Before a run: sets the inputs, in place or copied, and moves outputs into buffers that they fit.
 * -1 with the reason in the context. */
int ln_program_fill(const ln_program *program, const ln_value *values, const ln_buffer *buffers);

// Cached programs (ln_model.c)

// The cache of a model: programs that no session uses, for all its sessions. A program with a
// state, such as that of a random number generator, is only for its previous session.

/** Removes and returns a program that fits (ln_program_fits), for the session of that number; NULL:
 * none. */
ln_program *ln_program_cache_take(ln_model *model, const ln_value *values, uint64_t session);

/** Caches the program (takes it; NULL: nothing) of the session of that number (0: none), and evicts
 * the least recently used one of too many. */
void ln_program_cache_put(ln_model *model, ln_program *program, uint64_t session);

/** Frees the programs that are only for that session. */
void ln_program_cache_drop(ln_model *model, uint64_t session);
