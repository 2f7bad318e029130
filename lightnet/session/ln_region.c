// SPDX-License-Identifier: Apache-2.0
// The memory that a session lends to the program that it runs.

#include "session/ln_region.h"

#include <stdint.h>

#include "lightnet/ln_mem.h"

/* Every so many times the size is looked at: it shrinks if at most one of so many parts was needed,
 * unless that is little anyway. */
enum { TIMES = 32, PARTS = 4, LITTLE = 1 << 20 };

void ln_region_clear(ln_region *region)
{
    ln_mem_type_info(LN_MEM_CPU).free_func(region->memory);
    *region = (ln_region){0};
}

static int replace(ln_region *region, size_t size)
{
    ln_region_clear(region);
    region->memory = ln_mem_type_info(LN_MEM_CPU).alloc_func(size);
    if (!region->memory)
        return -1;
    region->size = size;
    return 0;
}

// Where sizes grow step by step, not each step needs new memory: what is not used yet takes none.
static int grow(ln_region *region, size_t size)
{
    const size_t twice = region->size <= SIZE_MAX / 2 ? region->size * 2 : SIZE_MAX;
    return twice > size && !replace(region, twice) ? 0 : replace(region, size);
}

int ln_region_fit(ln_region *region, size_t size)
{
    if (size > region->most)
        region->most = size;
    if (!region->memory || size > region->size)
        return grow(region, size);
    if (++region->n < TIMES)
        return 0;
    if (region->size > LITTLE && region->most <= region->size / PARTS)
        return replace(region, region->most);
    region->most = size;
    region->n = 0;
    return 0;
}
