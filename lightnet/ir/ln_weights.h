// SPDX-License-Identifier: Apache-2.0
// The data that a model's own file brings: named tensors over bytes that stay where they are.
//
// A model file with weights (ONNX) is mapped, not copied: the tensors point into the maps, and
// loading copies them to the planned memory. Data that the file holds in another form, or that the
// front end has computed, lies in blocks of memory.

#ifndef LN_WEIGHTS_H
#define LN_WEIGHTS_H

#include "base/ln_filemap.h"
#include "lightnet/ln_context.h"
#include "tensorlight/tl_tensor.h"

typedef struct ln_weights ln_weights;

/** Returns new (ln_weights_free), empty; NULL: no memory. */
ln_weights *ln_weights_create(void);

/** Frees the tensors, the maps and the blocks. Takes NULL. */
void ln_weights_free(ln_weights *weights);

/** Enters a tensor under a name (copied), in place of one that had it. Takes the record, and its
 * data too when `owned`. -1: no memory, nothing is taken. */
int ln_weights_add(ln_weights *weights, const char *name, tl_tensor *tensor, int owned);

/** The tensor of that name, or NULL; its data may be at an odd address. Returns borrowed. Takes
 * NULL for weights. */
const tl_tensor *ln_weights_find(const ln_weights *weights, const char *name);

/** As ln_weights_add, with a copy of `tensor` that has a copy of `data`. -1: no memory. */
int ln_weights_copy(ln_weights *weights, const char *name, const tl_tensor *tensor,
                    const void *data);

/** Data from a file for tensor `name` of the model: what was given, else what the model's own file
 *  has; NULL: neither. Returns borrowed. */
const tl_tensor *ln_weights_of(const ln_context *ctx, const char *name);

/** Keeps a map (takes it) open as long as the tensors live. Returns borrowed; NULL: no memory, the
 * map is still the caller's. */
const ln_filemap *ln_weights_keep(ln_weights *weights, const ln_filemap *map);

/** The same for data that lies in `thing`: close(thing) when the weights are freed. `map`: what
 * `thing` has mapped, or NULL. -1: no memory. */
int ln_weights_adopt(ln_weights *weights, void *thing, void (*close)(void *thing),
                     const ln_filemap *map);

/** Tells the system that the mapped bytes have been copied and need no memory any more. */
void ln_weights_rest(const ln_weights *weights);

#endif
