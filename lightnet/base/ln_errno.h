// SPDX-License-Identifier: Apache-2.0
// The status of a failed system call, from its errno.

#ifndef LN_ERRNO_H
#define LN_ERRNO_H

#include <errno.h>

#include "lightnet/ln_api.h"

/** LN_NOT_FOUND for a missing file, LN_OUT_OF_MEMORY, otherwise LN_IO_ERROR. */
static inline ln_status ln_status_of_errno(int number)
{
    if (number == ENOENT || number == ENOTDIR)
        return LN_NOT_FOUND;
    return number == ENOMEM ? LN_OUT_OF_MEMORY : LN_IO_ERROR;
}

#endif
