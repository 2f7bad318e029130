// SPDX-License-Identifier: Apache-2.0
// Work on one element after the other, split among threads.

#include "kernel/tl_map.h"

#include <assert.h>

typedef struct map {
    tl_map_func *func;
    const void *src;
    void *dst;
    size_t src_size, dst_size; /* of an element */
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
