// SPDX-License-Identifier: Apache-2.0
// The fuzz targets by name.

#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** Reads one input. */
typedef void fuzz_target(const uint8_t *data, size_t size);

/** The target of this name. NULL, having printed the names: there is none. */
fuzz_target *fuzz_find(const char *name);

#endif
