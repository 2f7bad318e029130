// SPDX-License-Identifier: Apache-2.0
// Merges the tensors of several frozen programs: the file stores equal contents once.

#pragma once

#include "ir/ln_weights.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_hash.h"

/** All zero: empty. Lists for ln_safetensors_write_weights. */
typedef struct ln_merge {
    const char **names;
    tl_tensor **tensors; // shapes
    const ln_weight **weights;
    int n;
    ln_hash *by_name;    // name in the file -> 1 + its position
    ln_hash *by_content; // hash of type, shape and data -> 1 + the first position
    ln_list *texts;      // generated names
} ln_merge;

/** Adds the file data of the frozen program. *stored: new (ln_hash_free), the name of each of its
 *  tensors in the file -> the position there, from 1. -1 with the reason in the context. */
int ln_merge_add(ln_merge *m, const ln_context *ctx, ln_hash **stored);

void ln_merge_clear(ln_merge *m);
