// SPDX-License-Identifier: Apache-2.0
// Options of the small tools beside lightnet, each with one command, and functions shared with
// lightnet.
//
// Their messages on standard error begin with the name of the tool.

#pragma once

enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_WRONG_USAGE = 2 };

/** Prints "TOOL: error: REASON". Returns TOOL_FAILED. */
int tool_fail(const char *tool, const char *reason);

/** Prints "TOOL: error: ...; see TOOL --help". Returns TOOL_WRONG_USAGE. */
__attribute__((format(printf, 2, 3))) int tool_wrong_usage(const char *tool, const char *fmt, ...);

/** Reports an error of getopt_long: `c`, its result, is ':' for a missing value, '?' for anything
 * else; `given` is the argument it read last. Returns TOOL_WRONG_USAGE. */
int tool_wrong_option(const char *tool, int c, const char *given);

/** Whether both names are those of one regular file, through links, too. */
int is_same_file(const char *a, const char *b);

/** TOOL_OK unless `outfile` is the same file as one of the `n` inputs; then as tool_wrong_usage. */
int tool_check_output(const char *tool, const char *outfile, int n, const char *const *inputs);

/** Prints to standard output. Returns TOOL_OK, or TOOL_FAILED if that cannot be written. */
int tool_print_help(const char *help);
