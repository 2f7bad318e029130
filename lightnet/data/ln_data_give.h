// SPDX-License-Identifier: Apache-2.0
// A file of weights beside a model.

#ifndef LN_DATA_GIVE_H
#define LN_DATA_GIVE_H

#include "lightnet/ln_context.h"

/** Opens a file that has all data that the model wants from one, and keeps it open for ctx->given,
 *  from where constants are computed. -1 with a reason in the context: as ln_data_load. */
int ln_data_give(ln_context *ctx, const char *file);

#endif
