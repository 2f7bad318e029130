// SPDX-License-Identifier: Apache-2.0
// Writing the weights that a model's own file brought, beside what else is to stand in their file.

#ifndef LN_DATA_SAVE_H
#define LN_DATA_SAVE_H

#include "lightnet/ln_context.h"

/** As ln_data_save, with `metadata` as ln_safetensors_write takes it. */
int ln_data_save_with(const ln_context *ctx, const char *const *metadata, const char *file);

#endif
