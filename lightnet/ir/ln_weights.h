// SPDX-License-Identifier: Apache-2.0
// Data from files: named tensors, in memory or at an offset of an open file.
//
// Large weights are not copied when a model is read: a weight has its type and shape, its file, and
// its offset there. Data is read on demand: loading reads it straight to the planned memory. Data
// that the file has in another form, or that the front end has computed, is in memory.

#pragma once

#include <stddef.h>

#include "base/ln_infile.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_string.h"
#include "tensorlight/tl_tensor.h"

typedef struct ln_weights ln_weights;

typedef struct ln_weight {
    const char *name;
    tl_tensor *tensor;     // data NULL: it is in the file; never of TL_STRING, a block
    const ln_infile *file; // open as long as the weights live, or NULL
    size_t offset;         // in the file
} ln_weight;

/** Returns new (ln_weights_free), empty; NULL: no memory. */
ln_weights *ln_weights_create(void);

/** Frees the tensors and their data, closes the files. Accepts NULL. */
void ln_weights_free(ln_weights *weights);

/** Adds a tensor under a name (copied), replacing one with that name. Takes the record, and its
 * data too when `owned`. -1: no memory, nothing is taken. */
int ln_weights_add(ln_weights *weights, const char *name, tl_tensor *tensor, int owned);

/** The same for a tensor without data (takes it) whose bytes are in `file` at `offset`. */
int ln_weights_add_from(ln_weights *weights, const char *name, tl_tensor *tensor,
                        const ln_infile *file, size_t offset);

/** The weight of that name, or NULL. Returns borrowed. `weights` may be NULL. */
const ln_weight *ln_weights_find(const ln_weights *weights, const char *name);

/** As ln_weights_add, with a copy of `tensor` that has a copy of `data`. -1: no memory. */
int ln_weights_copy(ln_weights *weights, const char *name, const tl_tensor *tensor,
                    const void *data);

/** Data from a file for tensor `name` of the model: from the given file, otherwise from the model's
 * own file; NULL: neither. Returns borrowed. */
const ln_weight *ln_weights_of(const ln_context *ctx, const char *name);

/** Copies `size` bytes of the weight's data, from byte `at` on, to `dst`. -1 with a reason that
 *  names file and tensor. */
int ln_weight_read(const ln_weight *w, size_t at, void *dst, size_t size, ln_error *err);

/** The address of the weight's data in a mapped file; NULL: not mapped. */
const void *ln_weight_mapped(const ln_weight *w);

/** The hash of `len` elements, as ln_fnv64; of strings, of their bytes. */
uint64_t ln_elements_hash(const void *data, tl_dtype dtype, size_t len);

/** The hash of the weight's data, as ln_elements_hash. -1 as above. */
int ln_weight_hash(const ln_weight *w, uint64_t *hash, ln_error *err);

/** Returns new (tl_tensor_free_data_too): the tensor with a copy of its data; NULL as above, or no
 *  memory. */
tl_tensor *ln_weight_clone(const ln_weight *w, ln_error *err);

/** The tensor with its data in memory, owned by the weight. Returns borrowed; NULL with a reason,
 * as above. */
const tl_tensor *ln_weight_tensor(const ln_weight *w, ln_error *err);

/** Keeps an open file (takes it) as long as the tensors live. Returns borrowed; NULL: no memory,
 *  the file is still the caller's. */
const ln_infile *ln_weights_keep(ln_weights *weights, const ln_infile *file);

/** The same for files and data in `thing`: calls close(thing) when the weights are freed. -1: no
 * memory. */
int ln_weights_adopt(ln_weights *weights, void *thing, void (*close)(void *thing));

/** 0 if the `size` bytes are elements of the type, beginning with element `first`. -1 with a reason
 * that names the first invalid one: a TL_BOOL but 0 or 1, an element of fewer than 8 bits that is
 * out of range. */
int ln_elements_check(tl_dtype dtype, const unsigned char *data, size_t size, size_t first,
                      ln_error *err);

/** The same for `size` bytes of the file at `offset`, which it has, from element 0 on. -1 also if
 * the file cannot be read, see ln_infile_read. */
int ln_elements_check_in(tl_dtype dtype, const ln_infile *file, size_t offset, size_t size,
                         ln_error *err);
