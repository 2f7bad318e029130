// SPDX-License-Identifier: Apache-2.0
// Colors on terminals.

#include "output/cli_color.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = {"auto", "always", "never"};

static enum when { AUTO, ALWAYS, NEVER, N_WHEN } when;

// N_WHEN: an unknown value.
static enum when when_of(const char *name)
{
    int i = 0;
    while (i < N_WHEN && strcmp(names[i], name) != 0)
        i++;
    return (enum when)i;
}

void cli_color_look(int argc, char **argv)
{
    static const char option[] = "--color";
    const size_t len = sizeof(option) - 1;
    for (int i = 1; i < argc; i++) {
        const char *value = !strcmp(argv[i], "--no-color")       ? names[NEVER]
                            : strncmp(argv[i], option, len) != 0 ? NULL
                            : argv[i][len] == '='                ? argv[i] + len + 1
                            : argv[i][len]                       ? NULL
                                                                 : argv[i + 1];
        if (value && when_of(value) < N_WHEN)
            when = when_of(value);
    }
}

int cli_color_set(const cli_options *opt)
{
    const enum when wanted = opt->color ? when_of(opt->color) : AUTO;
    if (wanted == N_WHEN)
        return -1;
    when = opt->no_color ? NEVER : wanted;
    return 0;
}

static int has_colors(FILE *stream)
{
    if (when != AUTO)
        return when == ALWAYS;
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(none && *none) && term && strcmp(term, "dumb") != 0 && isatty(fileno(stream));
}

static const char *const codes[] = {
    [CLI_PLAIN] = "", [CLI_BOLD] = "\033[1m", [CLI_RED] = "\033[1;31m", [CLI_YELLOW] = "\033[33m"};
static const char end[] = "\033[0m";

const char *cli_color(FILE *stream, cli_style style)
{
    return has_colors(stream) ? codes[style] : "";
}

const char *cli_color_end(FILE *stream)
{
    return has_colors(stream) ? end : "";
}

int cli_color_is(const char *text)
{
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
        if (*text && text == codes[i])
            return 1;
    return text == end;
}
