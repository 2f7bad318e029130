// SPDX-License-Identifier: Apache-2.0
// Selection of a kernel, and work on one element after the other, split among threads.

#include "kernel/tl_kernel.h"

#include <assert.h>

size_t tl_kernel_find(const tl_kernel_key *keys, const tl_exec *exec, int column)
{
    const unsigned usable = tl_isa_usable_within(exec ? exec->isa : TL_ISA_SIZE);
    const tl_kernel_key *found = NULL, *key = keys;
    for (; key->isa < TL_ISA_SIZE; key++)
        if (key->column == column && usable >> key->isa & 1 && (!found || key->isa > found->isa))
            found = key;
    return (size_t)((found ? found : key) - keys);
}

typedef struct map {
    tl_map_func *func;
    const void *src;
    void *dst;
    size_t src_size, dst_size; // of an element
    const void *param;
} map;

static void run_range(void *arg, size_t begin, size_t end)
{
    const map *const m = arg;
    m->func(tl_padd(m->src, (ptrdiff_t)begin, m->src_size),
            tl_padd(m->dst, (ptrdiff_t)begin, m->dst_size), end - begin, m->param);
}

void tl_map(const tl_exec *exec, size_t grain, tl_map_func *func, const tl_tensor *src,
            tl_tensor *dst, const void *param)
{
    assert(func && src->len == dst->len && (src->data || !src->len) && (dst->data || !dst->len));
    map m = {func, src->data, dst->data, tl_size_of(src->dtype), tl_size_of(dst->dtype), param};
    tl_parallel(exec, (size_t)src->len, grain, run_range, &m);
}
