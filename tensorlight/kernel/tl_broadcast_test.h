// SPDX-License-Identifier: Apache-2.0
// The checks that all families of broadcast operations share, over the rows of their lists.

#pragma once

#include <math.h>

#include "kernel/tl_broadcast.h"
#include "kernel/tl_map_test.h"

/** A row of a list. */
typedef struct tl_broadcast_variant {
    const char *name;
    tl_broadcast_func *func;
    int n; // sources
    tl_dtype src_dtypes[TL_BROADCAST_MAX];
    tl_dtype dst_dtype;
    tl_isa isa;
} tl_broadcast_variant;

/** Applies `plain` to one element after the other; -1 like the kernel. */
static inline int tl_broadcast_expect(const tl_broadcast_variant *plain, void *const *srcs,
                                      const int *steps, void *dst, size_t len)
{
    static const int ones[TL_BROADCAST_MAX] = {1, 1, 1};
    int status = 0;
    for (size_t i = 0; i < len; i++) {
        const void *at[TL_BROADCAST_MAX];
        for (int k = 0; k < plain->n; k++)
            at[k] = tl_pointer_add(srcs[k], (ptrdiff_t)i * steps[k], plain->src_dtypes[k]);
        if (plain->func(at, ones, tl_pointer_add(dst, (ptrdiff_t)i, plain->dst_dtype), 1) < 0)
            status = -1;
    }
    return status;
}

/** One kernel on one length and one pattern of steps, between guards, against plain C, and in place
 *  of each source that allows it. */
static inline void tl_broadcast_check_one(const tl_broadcast_variant *v,
                                          const tl_broadcast_variant *plain, size_t len,
                                          const int *steps)
{
    ln_guard guards[TL_BROADCAST_MAX + 1];
    void *srcs[TL_BROADCAST_MAX];
    const size_t dst_size = len * tl_size_of(v->dst_dtype);
    void *const dst = ln_guard_alloc(&guards[v->n], dst_size);
    void *const expected = tl_alloc(dst_size);
    for (int k = 0; k < v->n; k++) {
        const size_t size = (steps[k] ? len : 1) * tl_size_of(v->src_dtypes[k]);
        srcs[k] = ln_guard_alloc(&guards[k], size);
        tl_map_fill(srcs[k], size, len + (size_t)k);
    }
    const int status = tl_broadcast_expect(plain, srcs, steps, expected, len);
    ck_assert_int_eq(v->func((const void *const *)srcs, steps, dst, len), status);
    ck_assert_msg(status < 0 || tl_map_is_same(dst, expected, len, v->dst_dtype),
                  "%s on %zu elements, steps %d %d %d", v->name, len, steps[0], steps[1], steps[2]);
    for (int k = 0; k < v->n && status == 0; k++) {
        if (!steps[k] || v->src_dtypes[k] != v->dst_dtype)
            continue;
        void *const original = tl_clone(srcs[k], dst_size);
        v->func((const void *const *)srcs, steps, srcs[k], len);
        ck_assert_msg(tl_map_is_same(srcs[k], expected, len, v->dst_dtype),
                      "%s in place of source %d on %zu elements", v->name, k, len);
        memcpy(srcs[k], original, dst_size);
        tl_free(original);
    }
    for (int k = 0; k <= v->n; k++) {
        ck_assert_msg(ln_guard_is_intact(&guards[k]), "%s writes before its buffers", v->name);
        ln_guard_free(&guards[k]);
    }
    tl_free(expected);
}

static inline const tl_broadcast_variant *tl_broadcast_plain(const tl_broadcast_variant *variants,
                                                             size_t n,
                                                             const tl_broadcast_variant *v)
{
    for (size_t i = 0; i < n; i++)
        if (variants[i].isa == TL_ISA_C &&
            memcmp(variants[i].src_dtypes, v->src_dtypes, sizeof(v->src_dtypes)) == 0)
            return &variants[i];
    ck_abort_msg("%s has no plain C kernel", v->name);
    return NULL;
}

/** Every kernel that this CPU can run, on lengths around those of vectors, with every pattern of
 *  steps. The rows of one operation are at variants[0 .. n-1]. */
static inline void tl_broadcast_check_variants(const tl_broadcast_variant *variants, size_t n)
{
    static const size_t lens[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 65, 129};
    size_t tested = 0;
    for (size_t i = 0; i < n; i++) {
        if (!tl_isa_is_usable(variants[i].isa)) {
            ln_check_skip(variants[i].name);
            continue;
        }
        const tl_broadcast_variant *const plain = tl_broadcast_plain(variants, n, &variants[i]);
        for (int pattern = 1; pattern < 1 << variants[i].n; pattern++)
            for (size_t k = 0; k < sizeof(lens) / sizeof(*lens); k++) {
                const int steps[] = {pattern & 1, pattern >> 1 & 1, pattern >> 2 & 1};
                tl_broadcast_check_one(&variants[i], plain, lens[k], steps);
            }
        tested++;
    }
    ck_assert_uint_gt(tested, 0);
}
