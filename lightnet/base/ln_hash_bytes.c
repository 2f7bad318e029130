// SPDX-License-Identifier: Apache-2.0
// A seeded hash of untrusted bytes.

#include "base/ln_hash_bytes.h"

#include <stdatomic.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

// Before the system has entropy: the time, an address, and the process.
static uint64_t weak_seed(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)now.tv_sec ^
           (uint64_t)(uintptr_t)&now ^ (uint64_t)getpid() << 40;
}

// The random number of the process, odd; the first thread that needs it determines it.
static uint64_t seed(void)
{
    static _Atomic uint64_t chosen;
    uint64_t known = atomic_load_explicit(&chosen, memory_order_relaxed), number;
    if (known)
        return known;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
        number = weak_seed();
    number |= 1;
    return atomic_compare_exchange_strong(&chosen, &known, number) ? number : known;
}

uint32_t ln_hash_bytes(const void *data, size_t len)
{
    const unsigned char *const bytes = data;
    const uint64_t factor = seed();
    uint64_t h = factor;
    for (size_t i = 0; i < len; i++) {
        h = (h ^ bytes[i]) * factor;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}
