// SPDX-License-Identifier: Apache-2.0
// Failed allocations of the calling thread: their number, and, for tests, injected failures.
//
//     for (int n = 0; n == 0 || failed; n++) {
//         ln_alloc_fail_after(n);
//         int rc = work();
//         failed = ln_alloc_fail_stop();
//         ck_assert_int_eq(rc, failed ? -1 : 0);
//     }

#pragma once

#include "lightnet/ln_util.h"

/** Lets `n` allocations of this thread succeed and the next one fail, once. */
void ln_alloc_fail_after(int n);
/** Lets all allocations succeed again; returns whether one has failed since ln_alloc_fail_after. */
ln_bool ln_alloc_fail_stop(void);

/** For the allocator: counts an allocation; returns whether it must fail. */
ln_bool ln_alloc_fail_now(void);

/** The number of failed allocations of this thread. If a library reports a failed allocation as
 * another error, or not at all, an increase during the call reveals it. */
unsigned long ln_alloc_failures(void);

/** For allocators: counts a failure. */
void ln_alloc_note_failure(void);
