// SPDX-License-Identifier: Apache-2.0
// The bodies of a context, for those who read, compile and write it. See lightnet/ln_body.h.

#ifndef LN_BODIES_H
#define LN_BODIES_H

#include "lightnet/ln_body.h"

/* In a plan, where the tensors lie that a body is given: any place that is one, for its views are
 * placed relative to it. */
#define LN_BODY_GIVEN_OFFSET ((size_t)64)

/** Whether `te` is an input of a body: its memory is that of others. */
int ln_body_is_given(const ln_context *ctx, const ln_tensor_entry *te);

/** Enters the operators that the bodies of `ctx` were read with, in order. -1 with the reason. */
int ln_bodies_init(ln_context *ctx);

/** How many there are, in constant time. */
int ln_bodies_count(const ln_context *ctx);

/** Lets the bodies have the settings of `ctx`. */
void ln_bodies_share_settings(ln_context *ctx);

/** Removes the bodies that no operator names, and that none of those runs that one does. */
void ln_bodies_prune(ln_context *ctx);

/** Frees what ln_body_prepare allocated. */
void ln_bodies_unload(ln_context *ctx);

void ln_bodies_free(ln_context *ctx);

/** -1 with a reason: an operator of the compiled body keeps data from load to run. */
int ln_body_check_ops(const ln_context *body);

#endif
