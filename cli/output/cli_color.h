// SPDX-License-Identifier: Apache-2.0
// Colors on terminals: errors red, warnings yellow, headings bold. By default never in files and
// pipes, and not where the environment has NO_COLOR (https://no-color.org).

#pragma once

#include <stdio.h>

#include "cli_options.h"

typedef enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_RED, CLI_YELLOW } cli_style;

/** Looks for --color and --no-color among the arguments, for errors in other options. */
void cli_color_look(int argc, char **argv);

/** Applies the options. Returns 0; -1: --color has another value. */
int cli_color_set(const cli_options *opt);

/** The escape sequence that begins the style on the stream, "" without colors. */
const char *cli_color(FILE *stream, cli_style style);

/** The escape sequence that ends it. */
const char *cli_color_end(FILE *stream);

/** Whether `text` is a result of these two functions, the same pointer. */
int cli_color_is(const char *text);
