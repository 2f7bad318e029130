// SPDX-License-Identifier: Apache-2.0
// Constants set by a caller: recomputes exactly the values that depend on them.
//
// Any `create` may be set, but which ones a caller will set is unknown when the memory is planned.
// So results of operators that run at load keep their offsets: setting a tensor marks operators
// that depend on it as outdated, and the next run first runs them again, in order. Their memory is
// free then, as during loading.
//
// If an outdated operator reads the result of one that is not, a run may have reused its memory.
// The first time, its producer runs again, too, and the result is kept in separate memory, like
// packed weights; the entry's data points there until the result itself becomes outdated.

#pragma once

#include "lightnet/ln_context.h"

/** Values of te->isfetched, of a tensor from a file. */
enum {
    LN_FETCHED_NEVER = 0,   // not yet, or new data was set
    LN_FETCHED_EARLIER = 1, // its memory may have been reused
    LN_FETCHED_NOW = 2,     // since the update began
};

/** Values of ctx->stale. */
enum {
    LN_STALE_ALL = 1,    // all operators at load must run again
    LN_STALE_MARKED = 2, // the outdated operators must run again
    LN_STALE_FILE = 4,   // data of a given file has not been fetched yet
};

/** Records that the constant `te` has new data. */
void ln_update_mark(ln_context *ctx, ln_tensor_entry *te);

/** After a data file was set: fetches constants of runs. -1 with a reason; the next run retries. */
int ln_update_fetch(ln_context *ctx);

/** Before a run: recomputes outdated values. -1 with a reason; the next run retries. */
int ln_update_run(ln_context *ctx);

/** Frees kept results, resets data to the planned addresses, and clears outdated marks. */
void ln_update_forget(ln_context *ctx);
