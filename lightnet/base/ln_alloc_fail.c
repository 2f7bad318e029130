// SPDX-License-Identifier: Apache-2.0
// Failed allocations of the calling thread: their number, and, for tests, injected failures.

#include "base/ln_alloc_fail.h"

enum { OFF, COUNTING, FAILED };

static _Thread_local struct {
    int state;
    int left; // allocations that still succeed, while counting
} plan;

void ln_alloc_fail_after(int n)
{
    plan.state = COUNTING;
    plan.left = n;
}

ln_bool ln_alloc_fail_stop(void)
{
    const ln_bool failed = plan.state == FAILED;
    plan.state = OFF;
    return failed;
}

ln_bool ln_alloc_fail_now(void)
{
    if (plan.state != COUNTING || plan.left-- > 0)
        return LN_FALSE;
    plan.state = FAILED;
    return LN_TRUE;
}

static _Thread_local unsigned long failures;

unsigned long ln_alloc_failures(void)
{
    return failures;
}

void ln_alloc_note_failure(void)
{
    failures++;
}
