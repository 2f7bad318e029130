// SPDX-License-Identifier: Apache-2.0
// The min rate of a body that arrives. A client that sends a byte now and then is not idle, but
// would hold memory that all clients share.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { SRV_MIN_RATE = 16 << 10 }; // bytes per second

/** A period of a body: since when, and with how many bytes. */
typedef struct srv_pace {
    uint64_t since;
    size_t size;
} srv_pace;

/** Whether a body, which has `size` bytes now, had less than SRV_MIN_RATE in a whole period; begins
 *  the next one if not. period 0: never. */
static inline int srv_pace_is_slow(srv_pace *p, size_t size, uint64_t now, uint64_t period)
{
    if (!period || now - p->since < period)
        return 0;
    const double wanted = (double)SRV_MIN_RATE * ((double)(now - p->since) * 1e-9);
    const int is_slow = (double)(size - p->size) < wanted;
    *p = (srv_pace){now, size};
    return is_slow;
}
