// SPDX-License-Identifier: Apache-2.0
// Prevents commands from overwriting the user's files: inputs always, other files unless --force
// is given.

#include "output/cli_guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "input/cli_npz.h"
#include "lightnet/lightnet.h"
#include "output/cli_msg.h"
#include "tool_options.h"

int cli_guard_is_file(const char *file)
{
    struct stat st;
    return strcmp(file, "-") && (stat(file, &st) || S_ISREG(st.st_mode));
}

// The input's file, if the output is the same one; else NULL.
static const char *same_file(const char *output, const char *input, char path[LN_MAXLINE])
{
    if (input)
        input = cli_npz_file(input, path);
    return input && is_same_file(output, input) ? input : NULL;
}

const char *cli_guard_same_input(const cli_options *opt, const char *file, char path[LN_MAXLINE])
{
    const char *same = same_file(file, opt->datafile, path);
    for (int i = 0; i < opt->n_args && !same; i++)
        same = same_file(file, opt->args[i], path);
    for (int i = 0; i < opt->inputs.n && !same; i++) {
        // "NAME=FILE" or "FILE", each of which may have '=' in it.
        const char *arg = opt->inputs.items[i];
        same = same_file(file, arg, path);
        while (!same && (arg = strchr(arg, '=')))
            same = same_file(file, ++arg, path);
    }
    for (int i = 0; i < opt->plugins.n && !same; i++)
        same = same_file(file, opt->plugins.items[i], path);
    if (!same)
        same = same_file(file, opt->samples, path);
    return same ? same : same_file(file, opt->labels, path);
}

int cli_guard_inputs(const cli_options *opt, const char *file)
{
    char path[LN_MAXLINE];
    const char *const same = cli_guard_same_input(opt, file, path);
    return same ? cli_usage("%s: the output would overwrite the input '%s'", file, same) : CLI_OK;
}

int cli_guard_output(const cli_options *opt, const char *file, const char *kind)
{
    struct stat st;
    if (strcmp(file, "-") && !stat(file, &st) && S_ISDIR(st.st_mode))
        return cli_fail("%s: cannot write: %s", file, strerror(EISDIR));
    if (!cli_guard_is_file(file))
        return CLI_OK;
    const int status = cli_guard_inputs(opt, file);
    const char *there = status || opt->force ? NULL : ln_file_kind(file);
    if (there && (!kind || strcmp(there, kind)))
        return cli_fail("%s: the file exists and holds %s; --force replaces it", file, there);
    return status;
}

int cli_guard_beside(const cli_options *opt, const char *file)
{
    struct stat st;
    const int status = cli_guard_inputs(opt, file);
    if (!status && !opt->force && !lstat(file, &st) && !S_ISDIR(st.st_mode))
        return cli_fail("%s: the file exists; --force replaces it", file);
    return status;
}

const char *cli_guard_suffix(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    const char *dot = strrchr(name, '.');
    return dot && dot > name ? dot : "";
}

const cli_format *cli_guard_format(const char *file, const cli_format *formats, const char *or_else)
{
    const char *suffix = cli_guard_suffix(file);
    char known[256];
    if (!cli_guard_is_file(file))
        return &formats[0];
    for (int i = 0; formats[i].suffix; i++)
        if (!strcmp(suffix, formats[i].suffix))
            return &formats[i];
    size_t len = 0; // of `known`: ".json, .net or .il"
    for (int i = 0; formats[i].suffix && len < sizeof(known); i++) {
        const int is_last = !formats[i + 1].suffix || !*formats[i + 1].suffix;
        const char *before = !i ? "" : is_last ? " or " : ", ";
        if (*formats[i].suffix)
            len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", before,
                                    formats[i].suffix);
    }
    if (*suffix)
        cli_usage("%s: unknown suffix '%s', expected %s%s", file, suffix, known, or_else);
    else
        cli_usage("%s: the name has no suffix, expected %s%s", file, known, or_else);
    return NULL;
}
