// SPDX-License-Identifier: Apache-2.0
// A device for tests of memory types, without hardware. The processor can reach the device's memory
// only while an operator of the device runs: whatever else touches it ends the process.

#pragma once

#include <lightnet/ln_api.h>
#include <tensorlight/tensorlight.h>

/** State that a test reads and changes; the plug-in exports it as `device`. */
typedef struct device_state {
    size_t used;  // bytes that are allocated
    size_t limit; // no more than these can be
} device_state;

LN_API extern device_state device;

/** The value of an expression that reads or writes the device's memory. */
#define device_do(expression) (device_open(), device_close(expression))

/** Opens the memory to the calling process, until device_close. */
void device_open(void);

/** Closes the memory. Returns `status`. */
int device_close(int status);

/** Copies src to dst by way of `scratch`, all in the device's memory. Returns 0. */
int device_copy_by(void *scratch, const tl_tensor *src, tl_tensor *dst);

/** Sets the elements of dst to `data`: one number for all, or one for each. Returns 0. */
int device_fill(tl_tensor *dst, const double *data, int n);
