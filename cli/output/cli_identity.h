// SPDX-License-Identifier: Apache-2.0
// Which file a path leads to, through links, too: to find out whether an output is an input.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

typedef struct cli_identity {
    dev_t device;
    ino_t node;
} cli_identity;

/** 0, or -1: there is no such file. */
int cli_identity_get(cli_identity *identity, const char *path);

/** For qsort, bsearch and tsearch: -1, 0 or 1. */
int cli_identity_compare(const void *a, const void *b);
