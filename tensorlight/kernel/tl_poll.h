// SPDX-License-Identifier: Apache-2.0
// Polls a request to stop, once per fixed amount of work: for loops of kernels whose steps may be
// short or long.
//
//     tl_poll poll = tl_poll_of(job->stop);
//     for (k = 0; k < n && !tl_poll_after(&poll, work); k++)
//         ..

#pragma once

#include <stddef.h>

#include "tensorlight/tl_exec.h"

/** Simple operations between two polls: some tenths of a millisecond to a few milliseconds. */
enum { TL_POLL_WORK = 1 << 20 };

typedef struct tl_poll {
    const tl_stop *stop;
    size_t work; // since the last poll
    int is_stopped;
} tl_poll;

static inline tl_poll tl_poll_of(const tl_stop *stop)
{
    return (tl_poll){stop, 0, 0};
}

/** Counts `work` simple operations, and returns whether a stop is requested, now or before. */
static inline int tl_poll_after(tl_poll *poll, size_t work)
{
    poll->work += work;
    if (poll->work >= TL_POLL_WORK) {
        poll->work = 0;
        poll->is_stopped |= tl_stop_is_requested(poll->stop);
    }
    return poll->is_stopped;
}
