// SPDX-License-Identifier: Apache-2.0
// Exit statuses and messages of the command line, one line each on standard error.

#pragma once

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_WRONG_USAGE = 2 };

/** Prints "lightnet: error: ..." to standard error. Returns CLI_FAILED. */
__attribute__((format(printf, 1, 2))) int cli_fail(const char *fmt, ...);

/** The same for lack of memory. */
int cli_fail_memory(void);

/** As cli_fail, for wrong usage. Returns CLI_WRONG_USAGE. */
__attribute__((format(printf, 1, 2))) int cli_usage(const char *fmt, ...);

/** Prints "warning: ..." to standard error. */
__attribute__((format(printf, 1, 2))) void cli_warn(const char *fmt, ...);

/** Prints "WHAT: TEXT" to standard error, once for each text: a command may read a model several
 * times. */
void cli_msg_print(const char *what, const char *text);

/** Flushes standard output. Returns 0, or CLI_FAILED after a message. */
int cli_flush(void);
