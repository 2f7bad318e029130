// SPDX-License-Identifier: Apache-2.0
// The interface of a context: what its inputs and outputs are, with the sizes that are open.

#ifndef LN_INTERFACE_OF_H
#define LN_INTERFACE_OF_H

#include "front/ln_interface.h"
#include "lightnet/ln_context.h"

/** Fills the empty interface: a size of an input is open where a range was given for it, one of an
 * output where it depends on such a size or on data. Names are those of the model, also of sizes
 * that are fixed by now. -1 with the reason in the context: no memory. */
int ln_interface_fill(ln_interface *interface, const ln_context *ctx);

#endif
