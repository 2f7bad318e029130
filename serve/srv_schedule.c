// SPDX-License-Identifier: Apache-2.0
// Scheduling policies and slices of threads.

#include "srv_schedule.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined SYS_sched_setattr && defined SCHED_BATCH

// Slices in ns. From Linux 6.12 on, a thread that wakes up interrupts one with a longer slice at
// once. 0: the default, about 3 ms. Longer ones would make runs of other models wait.
enum { SHORT_SLICE = 100 * 1000, DEFAULT_SLICE = 0 };

// The first version of the kernel's struct sched_attr, which C libraries do not have before 2025.
typedef struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice, deadline, period;
} attributes;

// Keeps the priority (nice) of the thread, and another policy that the server was started under.
static void set_policy(int policy, uint64_t slice)
{
    attributes a = {.size = sizeof(a)};
    if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) || a.policy != SCHED_OTHER)
        return;
    a = (attributes){.size = sizeof(a), .policy = (uint32_t)policy, .nice = a.nice, .slice = slice};
    syscall(SYS_sched_setattr, 0, &a, 0);
}

void srv_schedule_answers(void)
{
    set_policy(SCHED_OTHER, SHORT_SLICE);
}

void srv_schedule_computes(void)
{
    set_policy(SCHED_BATCH, DEFAULT_SLICE);
}

#else

void srv_schedule_answers(void)
{
}

void srv_schedule_computes(void)
{
}

#endif
