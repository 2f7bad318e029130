// SPDX-License-Identifier: Apache-2.0
// How the small tools beside lightnet answer their options.

#include "tool_options.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lightnet/ln_msg.h"

int tool_fail(const char *tool, const char *reason)
{
    fprintf(stderr, "%s: error: %s\n", tool, reason);
    return TOOL_FAILED;
}

int tool_wrong_usage(const char *tool, const char *fmt, ...)
{
    ln_error reason = {0}; // a line, escaped
    va_list args;
    va_start(args, fmt);
    ln_error_vset(&reason, fmt, args);
    va_end(args);
    fprintf(stderr, "%s: error: %s; see %s --help\n", tool, ln_error_text(&reason), tool);
    return TOOL_WRONG_USAGE;
}

int tool_wrong_option(const char *tool, int c, const char *given)
{
    // A letter may share its argument with others; a long option is a whole argument.
    const char letter[] = {'-', (char)optopt, '\0'};
    const char *option = optopt ? letter : given;
    return c == ':' ? tool_wrong_usage(tool, "option '%s' needs a value", option)
                    : tool_wrong_usage(tool, "unknown option '%s'", option);
}

int is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

int tool_check_output(const char *tool, const char *outfile, int n, const char *const *inputs)
{
    for (int i = 0; i < n; i++)
        if (is_same_file(outfile, inputs[i]))
            return tool_wrong_usage(tool, "%s: the output would overwrite the input '%s'", outfile,
                                    inputs[i]);
    return TOOL_OK;
}

int tool_print_help(const char *help)
{
    return fputs(help, stdout) < 0 || fflush(stdout) ? TOOL_FAILED : TOOL_OK;
}
