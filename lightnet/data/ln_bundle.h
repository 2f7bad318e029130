// SPDX-License-Identifier: Apache-2.0
// Named tensors in order: the content of a weight file of any format.

#pragma once

#include "base/ln_infile.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "tensorlight/tl_tensor.h"

typedef struct ln_bundle_entry {
    char *name;
    tl_tensor *tensor; // data NULL: in the file
    size_t offset;     // of the data in the file
} ln_bundle_entry;

/** All zero: empty. */
typedef struct ln_bundle {
    ln_bundle_entry *entries;
    int len;
    ln_hash *positions;    // name -> 1 + its position
    int shaped;            // 0: the format has only the lengths of its tensors
    const ln_infile *file; // of data that is not in memory; outlives the bundle, or NULL
} ln_bundle;

/** Adds a tensor (takes it, with its data) under a name (copied) that the bundle does not have;
 * without data, it is in the file at `offset`. -1 with the thread's last error: the name is taken,
 * no memory. */
int ln_bundle_add(ln_bundle *bundle, const char *name, tl_tensor *tensor, size_t offset);

/** The entry of that name, or NULL. Returns borrowed. */
const ln_bundle_entry *ln_bundle_entry_of(const ln_bundle *bundle, const char *name);

/** Its tensor, possibly without data, or NULL. Returns borrowed. */
const tl_tensor *ln_bundle_find(const ln_bundle *bundle, const char *name);

/** The tensor of that name with its data, which the first call reads. Returns borrowed; NULL with a
 * reason in `err`: the file cannot be read, no memory; without one: no such tensor. */
const tl_tensor *ln_bundle_read(const ln_bundle *bundle, const char *name, ln_error *err);

/** Frees the content. */
void ln_bundle_clear(ln_bundle *bundle);
