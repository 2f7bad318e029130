// SPDX-License-Identifier: Apache-2.0
// SIGINT (Ctrl-C) and SIGTERM: the command finishes the current files.
//
//     cli_interrupt *interrupt = cli_interrupt_watch(cancel, &work);
//     ...                                        // cancel(&work) is called in another thread
//     int signal = cli_interrupt_end(interrupt); // 0: none
//     ...                                        // report, free
//     if (signal)
//         cli_interrupt_die(signal);

#pragma once

typedef struct cli_interrupt cli_interrupt;

/** From now on, the first SIGINT or SIGTERM calls func(data) in a new thread; the second one
 * ends the process. Begin other threads later, or with all signals blocked. Returns new
 * (cli_interrupt_end); NULL: the system has no thread, or the process ignores these signals, which
 * keep their effect. */
cli_interrupt *cli_interrupt_watch(void (*func)(void *data), void *data);

/** Ends the watch: `func` is not called any more, and does not run. Returns the received signal; 0:
 * none, or `interrupt` is NULL. */
int cli_interrupt_end(cli_interrupt *interrupt);

/** Ends the process by `signal`, so that the shell that started it ends its script, too. Flush and
 * free before. */
void cli_interrupt_die(int signal);
