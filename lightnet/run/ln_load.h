// SPDX-License-Identifier: Apache-2.0
// Loading a compiled context: its memory, its threads, and its constants, which are computed at
// load, and again when one of them was set.

#pragma once

#include "lightnet/ln_context.h"

/** Called for each operator after it has been prepared and its constant outputs computed. */
typedef struct ln_constants_watch {
    int (*func)(const ln_context *ctx, const ln_op *op, void *data); // -1 ends it: a failure
    void *data;
} ln_constants_watch;

/** Prepares all operators and runs those that run at load, in list order, so that the inputs of
 * each are ready. Data of files is fetched on first use. With `again`: tensors without inputs keep
 * their data, which may have been set. `watch` NULL: no calls. -1 with a reason in the context. */
int ln_constants_compute(const ln_context *ctx, int again, const ln_constants_watch *watch);

/** Reads the data of constants from files to their memory, if runs read them or they may be set. -1
 * with a reason in the context: a file cannot be read. */
int ln_constants_fetch(const ln_context *ctx);

/** Reads the tensor's data from files or callers to its memory; 0 also without data. -1 with a
 * reason in the context: a file cannot be read. */
int ln_constants_fetch_tensor(const ln_context *ctx, ln_tensor_entry *te);

/** Returns the memory that only loading needed to the system. */
void ln_constants_release(const ln_context *ctx);

/** As ln_context_load; `watch` (or NULL) is called for each operator. */
int ln_load(ln_context *ctx, const char *datafile, const ln_constants_watch *watch);

// Memory, see ln_context_alloc_mem

/** Sets every tensor's address, or NULL without memory. */
void ln_memory_bind(ln_context *ctx);

/** Moves a context with shared constants to `region`: ln_sharing_move. */
void ln_memory_move(ln_context *ctx, void *region);

// Threads

/** 0 if the environment variables are valid; -1 with a reason that names one. */
int ln_context_check_environment(const ln_context *ctx);

/** The number of threads: from ln_context_set_threads, else LIGHTNET_NUM_THREADS, else 1. -1: the
 * variable is not a number. */
int ln_context_threads(const ln_context *ctx, int *n);

/** Sets ctx->pool for that number of threads. */
int ln_context_start_threads(ln_context *ctx);

// Strings

/** From now on, operators create strings for values at load (is_running 0), or for those of a run:
 * the strings of the last one are released. The limit of memory applies. */
void ln_strings_begin(ln_context *ctx, int is_running);

/** Releases all strings. */
void ln_strings_end(ln_context *ctx);

/** Copies `len` strings that a caller sets for tensor `name`. Returns borrowed: pointers to the
 * copies, valid until the run after they are replaced. NULL with the reason in the context. */
const void *ln_texts_keep(ln_context *ctx, const char *name, const void *data, size_t len);

/** Before a run: frees replaced values. */
void ln_texts_forget_replaced(ln_context *ctx);

/** Frees the copies of all strings. */
void ln_texts_free(ln_context *ctx);

/** Fails for a tensor whose data is in a missing file: -1, with the reason in the context. */
int ln_fail_missing(const ln_context *ctx, const char *tname);

// Steps

/** Finds what each run needs: its operators, ctx->steps, and the named axes of inputs; again after
 * the operators were checked anew, which replaces the tensor entries that it keeps. Views and
 * sources, which compute nothing, are most operators of some models, and reading each takes time.
 * -1 with a reason in the context. */
int ln_steps_find(ln_context *ctx);

/** Frees what ln_steps_find has found. */
void ln_steps_forget(ln_context *ctx);

// Running one operator

/** Runs the operator, with the current shapes of its inputs. The context is loaded. -1 after
 * ln_op_fail. */
int ln_dynamic_run(ln_op *op);

/** Resets dynamic tensors to their max shapes, those of the plan, after earlier runs. -1 with the
 * reason in the context. */
int ln_dynamic_forget_runs(ln_context *ctx);
