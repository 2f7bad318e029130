// SPDX-License-Identifier: Apache-2.0
// The table of a compiled model's operators, as lightnet show prints it.

#ifndef CLI_SHOW_OPS_H
#define CLI_SHOW_OPS_H

#include "lightnet/lightnet.h"

/** Prints a line for each operator that a run computes: its type, the shape of its first output,
 * the parameters that it is the first to read, multiply-accumulates, and the bytes of what it
 * makes; and their totals. Returns 0, or CLI_FAILED after a message. */
int cli_show_ops(const ln_context *ctx);

#endif
