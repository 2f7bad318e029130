// SPDX-License-Identifier: Apache-2.0
// The computations of a context's constants, as keys (ln_store.h).

#ifndef LN_CONSTANT_KEYS_H
#define LN_CONSTANT_KEYS_H

#include "lightnet/ln_context.h"
#include "run/ln_store.h"

typedef struct ln_constant_keys ln_constant_keys;

/** Returns new (ln_constant_keys_free): the keys of the constants that loading computes or reads.
 * NULL with a reason in the context: no memory. */
ln_constant_keys *ln_constant_keys_find(const ln_context *ctx);

void ln_constant_keys_free(ln_constant_keys *keys);

/** Whether tensor `tname` has a key, which is then in *key: not if a value is missing, or an
 * operator's sizes are known only at run time. */
int ln_constant_key(const ln_constant_keys *keys, const char *tname, ln_store_key *key);

#endif
