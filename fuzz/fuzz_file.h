// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share: the bytes of a run as a file, for readers that take names of files.

#ifndef FUZZ_FILE_H
#define FUZZ_FILE_H

#include <stddef.h>
#include <stdint.h>

/** Reads one input. Returns 0. Called by libFuzzer, or by fuzz_replay.c with saved inputs. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** The name of a file in memory with these bytes, the same file at every call. Ends the program
 * when there is none to be had. */
const char *fuzz_file(const uint8_t *data, size_t size);

#endif
