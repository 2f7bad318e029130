// SPDX-License-Identifier: Apache-2.0
// lightnet serve: starts lightnet-serve, a program of its own with options of its own.

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli_options.h"

#define PROGRAM "lightnet-serve"

// The program beside this one; empty: unknown.
static const char *beside(char path[PATH_MAX])
{
    const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof(PROGRAM));
    path[n > 0 ? n : 0] = '\0';
    char *const slash = strrchr(path, '/');
    if (!slash)
        return "";
    memcpy(slash + 1, PROGRAM, sizeof(PROGRAM));
    return path;
}

int cli_serve(char **argv)
{
    char path[PATH_MAX];
    argv[0] = PROGRAM;
    if (!access(beside(path), X_OK))
        execv(path, argv);
    else
        execvp(PROGRAM, argv);
    return errno == ENOENT ? cli_fail(PROGRAM " is neither beside this program nor in PATH: make "
                                              "install has it, the package of pip does not")
                           : cli_fail("cannot start " PROGRAM ": %s", strerror(errno));
}

// Its arguments are not read here.
static int run_serve(const cli_options *opt)
{
    char *argv[] = {PROGRAM, "--help", NULL};
    (void)opt;
    return cli_serve(argv);
}

static cli_options given = {CLI_DEFAULTS};

const cli_command cli_serve_command = {
    {"serve", "MODEL|DIR...", 0, -1, "serve models over HTTP and gRPC"},
    NULL,
    0,
    &given,
    run_serve};
