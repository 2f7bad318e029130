// SPDX-License-Identifier: Apache-2.0
// Running what a fuzz target has read.

#ifndef FUZZ_RUN_H
#define FUZZ_RUN_H

#include "lightnet/lightnet.h"

/** Loads and runs a compiled program, unless it asks for much memory or time: that is right, and
 * not looked for. */
void fuzz_run(ln_context *ctx);

#endif
