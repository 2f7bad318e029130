// SPDX-License-Identifier: Apache-2.0
// Named tensors in order: what a file of weights holds, whatever its format.

#ifndef LN_BUNDLE_H
#define LN_BUNDLE_H

#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "tensorlight/tl_tensor.h"

typedef struct ln_bundle_entry {
    char *name;
    tl_tensor *tensor;
} ln_bundle_entry;

/* All zero: empty. */
typedef struct ln_bundle {
    ln_bundle_entry *entries;
    int len;
    int capacity;
    ln_hash *positions; /* name -> 1 + its position */
    int shaped;         /* 0: the format knows only the lengths of its tensors */
    int owns_data;      /* the tensors' data is freed with them */
} ln_bundle;

/** Adds a tensor (takes it) under a name (copied) that the bundle does not have. -1 with the
 * thread's last error: the name is taken, no memory. */
int ln_bundle_add(ln_bundle *bundle, const char *name, tl_tensor *tensor);

/** The tensor of that name, or NULL. Returns borrowed. */
const tl_tensor *ln_bundle_find(const ln_bundle *bundle, const char *name);

/** Frees the content. */
void ln_bundle_clear(ln_bundle *bundle);

#endif
