// SPDX-License-Identifier: Apache-2.0
// Loading a compiled context: its memory, its threads, and what is computed once: constants, when
// it is loaded, and again when one of them was set.

#ifndef LN_LOAD_H
#define LN_LOAD_H

#include "lightnet/ln_context.h"

/* Who is told of each operator when it has been prepared and its outputs hold what it makes once.
 */
typedef struct ln_constants_watch {
    int (*func)(const ln_context *ctx, const ln_op *op, void *data); /* -1 ends it: a failure */
    void *data;
} ln_constants_watch;

/** Prepares all operators and runs those that run at load, in list order, so that each finds what
 *  the ones before it computed. Data of files is fetched when it is read first. Once
 *  more with `again`: tensors without inputs then keep what they hold, which may have been set.
 *  `watch` NULL: nobody is told. -1 with a reason in the context. */
int ln_constants_compute(const ln_context *ctx, int again, const ln_constants_watch *watch);

/** Reads what files have for constants that runs read, or that may be set, to their memory. -1 with
 *  a reason in the context: a file cannot be read. */
int ln_constants_fetch(const ln_context *ctx);

/** Reads what files or callers have given for the tensor to its memory; 0 where there is nothing.
 * -1 with a reason in the context: a file cannot be read. */
int ln_constants_fetch_tensor(const ln_context *ctx, ln_tensor_entry *te);

/** Lets the system have the memory that only loading needed. */
void ln_constants_release(const ln_context *ctx);

/** As ln_context_load; `watch` (or NULL) sees what is computed once. */
int ln_load(ln_context *ctx, const char *datafile, const ln_constants_watch *watch);

/* ---- memory, see ln_context_alloc_mem ---- */

/** Gives every tensor its address, or NULL where there is no memory. */
void ln_memory_bind(ln_context *ctx);

/** Lets a context that shares constants run in `region` from now on: ln_sharing_move. */
void ln_memory_move(ln_context *ctx, void *region);

/** Whether the limit allows the memory of the plan. -1 with a reason. */
int ln_memory_check_limit(const ln_context *ctx);

/** Fails because `total` bytes exceed the limit of memory: names what takes the most. */
int ln_memory_fail_limit(const ln_context *ctx, size_t total);

/* ---- threads ---- */

/** Whether the environment's variables can be used; else -1 with a reason that names one. */
int ln_context_check_environment(const ln_context *ctx);

/** The number of threads: as ln_context_set_threads says, else LIGHTNET_NUM_THREADS, else 1. -1:
 * the variable is no number. */
int ln_context_threads(const ln_context *ctx, int *n);

/** Lets ctx->pool be what ln_context_threads says. */
int ln_context_start_threads(ln_context *ctx);

#endif
