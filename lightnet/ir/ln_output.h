// SPDX-License-Identifier: Apache-2.0
// What operators of a model may write beside its tensors: nothing, unless the host allows it.

#pragma once

#include "lightnet/ln_context.h"

/** Whether the operators that the context and its bodies were read with may write what they do.
 * Returns 0; -1 with a reason that names the operator and the option that allows it. */
int ln_output_check(const ln_context *ctx);
