// SPDX-License-Identifier: Apache-2.0
// The memory that a session lends to the program that it runs: as large as the largest one needs.

#ifndef LN_REGION_H
#define LN_REGION_H

#include <stddef.h>

/* All zero: no memory. */
typedef struct ln_region {
    void *memory; /* aligned as CPU memory is */
    size_t size;
    size_t
        used; /* bytes from the first one on that may have been used: the system has the others */
    size_t most; /* that was needed since `used` was looked at */
    int n;       /* times that memory was needed since then */
} ln_region;

/** Makes room for a program that needs `size` bytes. What was there is lost. Now and then gives
 * memory back that has not been needed for long. -1: no memory, and the region has none then. */
int ln_region_fit(ln_region *region, size_t size);

/** Frees its memory. */
void ln_region_clear(ln_region *region);

#endif
