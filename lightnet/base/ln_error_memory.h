// SPDX-License-Identifier: Apache-2.0
// The reason of calls that had no memory, where neither a size nor a tensor can be named.

#ifndef LN_ERROR_MEMORY_H
#define LN_ERROR_MEMORY_H

#include "lightnet/ln_msg.h"

#define LN_OUT_OF_MEMORY "out of memory"

/** Records it, as ln_error_set. Returns -1. */
static inline int ln_error_memory(ln_error *err)
{
    return ln_error_set(err, LN_OUT_OF_MEMORY);
}

/** The same behind the name of a file. */
static inline int ln_error_memory_at(ln_error *err, const char *file)
{
    return ln_error_set(err, "%s: " LN_OUT_OF_MEMORY, file);
}

#endif
