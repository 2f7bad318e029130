// SPDX-License-Identifier: Apache-2.0
// What the system's scheduler is told of threads.

#include "srv_schedule.h"

#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined SYS_sched_setattr && defined SCHED_BATCH

// The slice of a thread: of two that want a core, Linux (6.12 and later) prefers the one with the
// shorter slice. It allows 0.1 to 100 ms; the default is about 3 ms.
static const uint64_t short_slice = 100 * 1000, long_slice = 100 * 1000 * 1000;

// The first version of the kernel's struct sched_attr, which C libraries do not have before 2025.
typedef struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice, deadline, period;
} attributes;

// Keeps the priority (nice) of the thread, and another policy, which who starts the server chose.
static void set(int policy, uint64_t slice)
{
    attributes a = {.size = sizeof(a)};
    if (syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0) || a.policy != SCHED_OTHER)
        return;
    a = (attributes){.size = sizeof(a), .policy = (uint32_t)policy, .nice = a.nice, .slice = slice};
    syscall(SYS_sched_setattr, 0, &a, 0);
}

void srv_schedule_answers(void)
{
    set(SCHED_OTHER, short_slice);
}

void srv_schedule_computes(void)
{
    set(SCHED_BATCH, long_slice);
}

#else

void srv_schedule_answers(void)
{
}

void srv_schedule_computes(void)
{
}

#endif
