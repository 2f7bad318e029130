// SPDX-License-Identifier: Apache-2.0
// The names of dtypes in safetensors.

#ifndef LN_SAFETENSORS_DTYPE_H
#define LN_SAFETENSORS_DTYPE_H

#include "tensorlight/tl_type.h"

/** The name of a valid dtype. */
const char *ln_safetensors_dtype_name(tl_dtype dtype);

/** The dtype of that name, or TL_DTYPE_INVALID. */
tl_dtype ln_safetensors_dtype_from_str(const char *str);

#endif
