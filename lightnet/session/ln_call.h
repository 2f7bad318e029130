// SPDX-License-Identifier: Apache-2.0
// The status of a failed call whose reason was recorded without a status.

#ifndef LN_CALL_H
#define LN_CALL_H

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_util.h"

/** The number of failed allocations of this thread, read before the call. */
static inline unsigned long ln_call_begin(void)
{
    return ln_alloc_failures() + tl_alloc_failures();
}

/** The status of the record's reason; else LN_OUT_OF_MEMORY if an allocation has failed since
 * `failures` was read, else `otherwise`. */
static inline ln_status ln_call_status(const ln_error *err, unsigned long failures,
                                       ln_status otherwise)
{
    if (ln_error_status(err) != LN_OK)
        return ln_error_status(err);
    return ln_call_begin() > failures ? LN_OUT_OF_MEMORY : otherwise;
}

#endif
