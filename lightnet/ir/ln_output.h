// SPDX-License-Identifier: Apache-2.0
// Files and standard output that operators of a model may write: none, unless the caller allows it.

#pragma once

#include "lightnet/ln_context.h"

/** Checks that operators of the context and its bodies write only what is allowed. -1 with a reason
 * that names the operator and the option that allows it. */
int ln_output_check(const ln_context *ctx);
