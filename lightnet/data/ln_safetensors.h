// SPDX-License-Identifier: Apache-2.0
// For readers of any format of weights: safetensors in a file that is open already.

#ifndef LN_SAFETENSORS_H
#define LN_SAFETENSORS_H

#include "data/ln_bundle.h"
#include "base/ln_filemap.h"
#include "lightnet/ln_data.h"

/** Whether the bytes begin like safetensors: with a size and a brace. */
int ln_safetensors_is(const ln_filemap *map);

/** The open file. Returns borrowed (until closing). */
const ln_filemap *ln_safetensors_map(const ln_safetensors *st);

/** As ln_safetensors_open; takes the open file `map`, called `file` in messages. */
ln_safetensors *ln_safetensors_from_map(ln_filemap *map, const char *file, ln_error *err);

/** The tensors. Returns borrowed (until closing). */
const ln_bundle *ln_safetensors_bundle(const ln_safetensors *st);

#endif
