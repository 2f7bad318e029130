// SPDX-License-Identifier: Apache-2.0
// The fuzz target of the API for applications.

#ifndef FUZZ_SESSION_H
#define FUZZ_SESSION_H

#include <stddef.h>
#include <stdint.h>

/** Opens the model in the input, of any format, and runs it in two sessions: with values of all
 * types, strings and sequences among them, with changing shapes, cancelled and out of time. */
void fuzz_session(const uint8_t *data, size_t size);

#endif
