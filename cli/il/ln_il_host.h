// SPDX-License-Identifier: Apache-2.0
// Folders and callbacks of the IL reader.

#ifndef LN_IL_HOST_H
#define LN_IL_HOST_H

#include <stddef.h>

#include "lightnet/ln_list.h"

/* Included files are looked for beneath the folder of the model, then of those that the user
 * allows, and nowhere else. */
typedef struct ln_il_host {
    const char *model;      /* "": the current one; NULL: the model is no file, and has none */
    const ln_list *allowed; /* further folders (char *), in order */
    /* Called now and then, unless NULL: -1 ends the reading, after it has recorded a reason in the
     * error that the reader was given. */
    int (*check)(void *data);
    void *data;
} ln_il_host;

/** Counts a step of the work, and calls host->check before each 4,096. 0, or -1 to end it. */
static inline int ln_il_host_step(const ln_il_host *host, size_t *steps)
{
    return (*steps)++ % 4096 || !host->check ? 0 : host->check(host->data);
}

#endif
