// SPDX-License-Identifier: Apache-2.0
// Constants that a caller sets: what depends on them is computed anew, and nothing else.
//
// Any `create` may be set, but which ones a caller will set is unknown when the memory is planned.
// So operators that run at load keep their places: setting a tensor marks those that depend on it
// as outdated, and the next run begins by running them again, in order. Each place is free for
// that, since the plan has them at the same times as when loading.
//
// What an outdated operator reads from one that is not may have lost its memory to a run. The first
// time, its maker is pulled in too, and the result kept in memory of its own, as packed weights
// are; the entry's data points there until the result itself becomes outdated.

#ifndef LN_UPDATE_H
#define LN_UPDATE_H

#include "lightnet/ln_context.h"

/* Values of te->isfetched, of a tensor from a file. */
enum {
    LN_FETCHED_NEVER = 0,   /* not yet, or other data has been given */
    LN_FETCHED_EARLIER = 1, /* its memory may be others' now */
    LN_FETCHED_NOW = 2,     /* since the update began */
};

/* Values of ctx->stale. */
enum {
    LN_STALE_ALL = 1,    /* all that runs at load must be computed anew */
    LN_STALE_MARKED = 2, /* the outdated operators must be */
    LN_STALE_FILE = 4,   /* data of a file that was given is not in its place yet */
};

/** Notes that the constant `te` has other data now. */
void ln_update_mark(ln_context *ctx, ln_tensor_entry *te);

/** After a file of data was given: fetches what lasts. -1 with a reason; the next run tries again.
 */
int ln_update_fetch(ln_context *ctx);

/** Before a run: computes what is outdated. -1 with a reason; the next run tries again. */
int ln_update_run(ln_context *ctx);

/** Frees what is kept, lets data point to the planned places again, and forgets what is outdated.
 */
void ln_update_forget(ln_context *ctx);

#endif
