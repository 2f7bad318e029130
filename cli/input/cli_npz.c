// SPDX-License-Identifier: Apache-2.0
// Arrays of npz files as sources.

#include "input/cli_npz.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lightnet/ln_data.h"
#include "lightnet/ln_input.h"

#define SUFFIX ".npz"

int cli_npz_split(const char *source, char path[LN_MAXLINE], const char **array)
{
    struct stat st;
    const char *colon = strstr(source, SUFFIX ":");
    if (!colon || !stat(source, &st))
        return 0;
    colon += sizeof(SUFFIX) - 1;
    const int len = snprintf(path, LN_MAXLINE, "%.*s", (int)(colon - source), source);
    *array = colon + 1;
    return len < LN_MAXLINE && !stat(path, &st) && S_ISREG(st.st_mode);
}

const char *cli_npz_file(const char *source, char path[LN_MAXLINE])
{
    const char *array;
    return cli_npz_split(source, path, &array) ? path : source;
}

int cli_npz_exists(const char *source)
{
    char path[LN_MAXLINE];
    return !access(cli_npz_file(source, path), F_OK);
}

tl_tensor *cli_npz_read(const char *path, const char *array, const tl_tensor *like, ln_error *err)
{
    ln_npz *npz = ln_npz_open(path, err);
    tl_tensor *t = npz ? ln_npz_read(npz, array, like, err) : NULL;
    ln_npz_close(npz);
    return t;
}

tl_tensor *cli_npz_read_whole(const char *source, ln_error *err)
{
    char path[LN_MAXLINE];
    const char *array;
    return cli_npz_split(source, path, &array) ? cli_npz_read(path, array, NULL, err)
                                               : ln_input_read_whole(source, err);
}
