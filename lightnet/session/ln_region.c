// SPDX-License-Identifier: Apache-2.0
// The memory that a session lends to the program that it runs.

#include "session/ln_region.h"

#include <stdint.h>

#include "lightnet/ln_mem.h"

/* Every so many times what has been used is looked at: if at most one of so many parts was needed,
 * the rest goes back to the system, unless that is little anyway. */
enum { TIMES = 32, PARTS = 4, LITTLE = 1 << 20 };

/* A region that has to grow has room for so many times what it had: pages that are not used yet
 * take no memory, and those of another region would be new ones. */
enum { ROOM = 16 };

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

static int grow(ln_region *region, size_t size)
{
    const size_t room = region->size <= SIZE_MAX / ROOM ? region->size * ROOM : SIZE_MAX;
    return room > size && !replace(region, room) ? 0 : replace(region, size);
}

static void give_back_unused(ln_region *region)
{
    if (region->used <= LITTLE || region->most > region->used / PARTS)
        return;
    ln_mem_discard((char *)region->memory + region->most, region->used - region->most);
    region->used = region->most;
}

int ln_region_fit(ln_region *region, size_t size)
{
    if ((!region->memory || size > region->size) && grow(region, size))
        return -1;
    region->used = size > region->used ? size : region->used;
    region->most = size > region->most ? size : region->most;
    if (++region->n < TIMES)
        return 0;
    give_back_unused(region);
    region->most = size;
    region->n = 0;
    return 0;
}
