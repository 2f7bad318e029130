// SPDX-License-Identifier: Apache-2.0
// The identity of a file is its device, and its number there.

#include "output/cli_identity.h"

int cli_identity_get(cli_identity *identity, const char *path)
{
    struct stat st;
    if (stat(path, &st))
        return -1;
    *identity = (cli_identity){st.st_dev, st.st_ino};
    return 0;
}

int cli_identity_compare(const void *a, const void *b)
{
    const cli_identity *const x = a, *const y = b;
    if (x->device != y->device)
        return x->device > y->device ? 1 : -1;
    return (x->node > y->node) - (x->node < y->node);
}
