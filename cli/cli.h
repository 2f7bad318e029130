// SPDX-License-Identifier: Apache-2.0
// The command line: its commands.
//
// A command returns its exit status: 0 success, 1 the model, data or comparison failed, 2 wrong
// usage. Results go to standard output; errors, one line each, warnings and times to standard
// error.

#ifndef CLI_H
#define CLI_H

#include "cli_msg.h"
#include "cli_options.h"

int cli_short(const cli_options *opt);
int cli_run(const cli_options *opt);
int cli_compile(const cli_options *opt);
int cli_convert(const cli_options *opt);
int cli_quantize(const cli_options *opt);
int cli_show(const cli_options *opt);
int cli_verify(const cli_options *opt);
int cli_bench(const cli_options *opt);
int cli_ops(const cli_options *opt);
int cli_env(const cli_options *opt);
int cli_version(const cli_options *opt);

#endif
