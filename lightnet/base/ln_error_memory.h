// SPDX-License-Identifier: Apache-2.0
// Errors beyond ln_msg.h: the reason for lack of memory, if neither a size nor a tensor is known,
// and the status of a failed system call.

#pragma once

#include <errno.h>

#include "lightnet/ln_api.h"
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

/** LN_NOT_FOUND for a missing file, LN_OUT_OF_MEMORY, otherwise LN_IO_ERROR. */
static inline ln_status ln_status_of_errno(int number)
{
    if (number == ENOENT || number == ENOTDIR)
        return LN_NOT_FOUND;
    return number == ENOMEM ? LN_OUT_OF_MEMORY : LN_IO_ERROR;
}
