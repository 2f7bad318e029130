// SPDX-License-Identifier: Apache-2.0
// Lines of standard input as they arrive: what is there is read, and nothing is waited for that the
// caller does not ask for.
//
//     cli_lines *lines = cli_lines_open(STDIN_FILENO);
//     while ((found = cli_lines_next(lines, 1, 0, &line)) == CLI_LINE)
//         ...
//     cli_lines_error(lines); // NULL: the end of the input
//     cli_lines_close(lines);

#pragma once

#include <stdint.h>

typedef struct cli_lines cli_lines;

typedef enum cli_lines_found { CLI_LINES_END, CLI_LINE, CLI_NO_LINE_YET } cli_lines_found;

/** Lines of a descriptor, which is borrowed. Returns new (cli_lines_close); NULL: no memory. */
cli_lines *cli_lines_open(int fd);

/** Ignores NULL. */
void cli_lines_close(cli_lines *lines);

/** The next line that is not empty, without its end (\n or \r\n), borrowed until the next call. One
 * caller at a time. may_wait 0: CLI_NO_LINE_YET if no whole line is there; else waits, at most `ms`
 * milliseconds, 0 for ever. CLI_LINES_END: the input has ended, the time is over, cli_lines_stop
 * was called, or there is an error. */
cli_lines_found cli_lines_next(cli_lines *lines, int may_wait, uint64_t ms, char **line);

/** Ends cli_lines_next, from any thread. */
void cli_lines_stop(cli_lines *lines);

/** Why the lines have ended before the input; NULL: they have not. */
const char *cli_lines_error(const cli_lines *lines);
