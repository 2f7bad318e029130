// SPDX-License-Identifier: Apache-2.0
// The command line: its commands and how they speak to the user.
//
// A command returns its exit status: 0 success, 1 the model, data or comparison failed, 2 wrong
// usage. Results go to standard output; errors, one line each, warnings and times to standard
// error.

#ifndef CLI_H
#define CLI_H

#include "cli_options.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_WRONG_USAGE = 2 };

/** Prints "lightnet: error: ..." to standard error. Returns CLI_FAILED. */
__attribute__((format(printf, 1, 2))) int cli_fail(const char *fmt, ...);

/** As cli_fail, for wrong usage. Returns CLI_WRONG_USAGE. */
__attribute__((format(printf, 1, 2))) int cli_usage(const char *fmt, ...);

/** Brings what was printed on its way to standard output. Returns 0, or CLI_FAILED after a message.
 */
int cli_flush(void);

int cli_short(const cli_options *opt);
int cli_run(const cli_options *opt);
int cli_compile(const cli_options *opt);
int cli_convert(const cli_options *opt);
int cli_show(const cli_options *opt);
int cli_verify(const cli_options *opt);
int cli_bench(const cli_options *opt);
int cli_ops(const cli_options *opt);
int cli_env(const cli_options *opt);

#endif
