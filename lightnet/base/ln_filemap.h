// SPDX-License-Identifier: Apache-2.0
// The bytes of an input file, mapped read-only.

#ifndef LN_FILEMAP_H
#define LN_FILEMAP_H

#include <stddef.h>

#include "lightnet/ln_msg.h"

/* All zero: nothing is open. */
typedef struct ln_filemap {
    const unsigned char *data;
    size_t size;
    void *copy; /* of what cannot be mapped, such as a pipe; else NULL */
} ln_filemap;

/** Opens a file with at least one byte. Close it with ln_filemap_close. -1 with a reason that names
 *  the file: it cannot be read, is a directory, or is empty. */
int ln_filemap_open(ln_filemap *map, const char *file, ln_error *err);

/** Tells the system that the bytes are not needed for now: it may drop them and read them again. */
void ln_filemap_rest(const ln_filemap *map);

/** Takes what is not open, too. */
void ln_filemap_close(ln_filemap *map);

#endif
