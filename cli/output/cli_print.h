// SPDX-License-Identifier: Apache-2.0
// Text for the terminal: the only functions of the tools that print names, of models and of files.
//
//     cli_print("%-10s %s\n", "input", name);      // a name with ESC prints \x1b
//
// The text of a format is printed unchanged. Arguments of %s are escaped (ln_escape), except for
// the colors of cli_color.h. A test rejects printf and its variants in other files.

#pragma once

#include <stdarg.h>
#include <stdio.h>

/** As printf, with escaped %s; a precision of %s counts bytes, and cuts between characters. There
 * are no conversions but d i u o x X c s f e g and %, and no wide characters. */
__attribute__((format(printf, 1, 2))) void cli_print(const char *fmt, ...);

/** The same to a stream. */
__attribute__((format(printf, 2, 3))) void cli_fprint(FILE *stream, const char *fmt, ...);
__attribute__((format(printf, 2, 0))) void cli_vfprint(FILE *stream, const char *fmt, va_list args);

/** Text that reaches a stream at once: in parts, it would mix with that of other processes, such as
 * the ranks of mpirun. cli_fprint does so for stderr. */
typedef struct cli_whole {
    FILE *stream, *memory;
    char *text;
    size_t len;
} cli_whole;

/** Returns the stream to print to, until cli_whole_end writes the text to `stream`: in memory, or
 * without memory `stream` itself. */
FILE *cli_whole_begin(cli_whole *whole, FILE *stream);
void cli_whole_end(cli_whole *whole);
