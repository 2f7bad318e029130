// SPDX-License-Identifier: Apache-2.0
// The reason for lack of memory, if neither a size nor a tensor is known.

#ifndef LN_ERROR_MEMORY_H
#define LN_ERROR_MEMORY_H

#include "lightnet/ln_msg.h"

#define LN_MEMORY_REASON "out of memory"

/** Records it, as ln_error_set. Returns -1. */
static inline int ln_error_memory(ln_error *err)
{
    return ln_error_set_as(err, LN_OUT_OF_MEMORY, LN_MEMORY_REASON);
}

/** The same after the name of a file. */
static inline int ln_error_memory_at(ln_error *err, const char *file)
{
    return ln_error_set_as(err, LN_OUT_OF_MEMORY, "%s: " LN_MEMORY_REASON, file);
}

#endif
