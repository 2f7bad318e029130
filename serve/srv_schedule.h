// SPDX-License-Identifier: Apache-2.0
// Scheduling policies and slices of threads. Threads that answer requests run for a moment, and
// wait for cores that runs of models keep busy: they are to interrupt these at once.
//
// Threads inherit the settings of the thread that creates them. Where a setting is missing or
// forbidden, nothing changes.
#pragma once

/** The calling thread answers: it runs for parts of a millisecond. */
void srv_schedule_answers(void);

/** The calling thread computes: it may be interrupted, and interrupts nobody when it wakes up. */
void srv_schedule_computes(void);
