// SPDX-License-Identifier: Apache-2.0
// What the system's scheduler is told of threads. Threads that answer requests run for a moment,
// and wait for cores that runs of models keep busy: they are to interrupt these at once.
//
// Threads begin with what the one that creates them has. On a system that does not know a wish, or
// forbids it, nothing changes.
#pragma once

/** The calling thread answers: it runs for parts of a millisecond. */
void srv_schedule_answers(void);

/** The calling thread computes: it may be interrupted, and interrupts nobody when it wakes up. */
void srv_schedule_computes(void);
