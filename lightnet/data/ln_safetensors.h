// SPDX-License-Identifier: Apache-2.0
// safetensors in an open file, for readers of weights.

#pragma once

#include "base/ln_infile.h"
#include "data/ln_bundle.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_data.h"
#include "tensorlight/tl_type.h"

/** Whether the bytes begin like safetensors: with a size and a brace. */
int ln_safetensors_is(const ln_infile *in);

/** As ln_safetensors_open; takes the open file `in`, called `file` in messages. */
ln_safetensors *ln_safetensors_from_file(ln_infile *in, const char *file, ln_error *err);

/** As ln_safetensors_write, for tensors with their data in weights[i]: data in another file is read
 * in parts. */
int ln_safetensors_write_weights(const char *file, int n, const char *const *names,
                                 const tl_tensor *const *tensors, const ln_weight *const *weights,
                                 const char *const *metadata, ln_error *err);

/** The tensors. Returns borrowed (until closing). */
const ln_bundle *ln_safetensors_bundle(const ln_safetensors *st);

/** The metadata of a file with strings: JSON, {"NAME": [DIM, ...], ...}, the shapes of its tensors
 * of TL_STRING. They are stored as U8, see ln_packed_strings.h. */
#define LN_SAFETENSORS_STRINGS "lightnet.strings"

// Dtypes

/** The dtype that the file has for a tensor: its own, TL_UINT8 for strings, which are packed, or
 * ln_raw_dtype of one that the format lacks: integers of fewer than 8 bits, and TL_FLOAT4E2M1 with
 * an odd number of elements. */
tl_dtype ln_safetensors_dtype(const tl_tensor *t);

/** The bytes of the tensor in the file: those of TL_FLOAT4E2M1 are half its elements. */
size_t ln_safetensors_size(const tl_tensor *t);

/** The name of a dtype that the format has. */
const char *ln_safetensors_dtype_name(tl_dtype dtype);
