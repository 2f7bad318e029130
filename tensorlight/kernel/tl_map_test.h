// SPDX-License-Identifier: Apache-2.0
// The checks that all element-by-element families share, over the rows of their lists.

#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernel/tl_kernel.h"
#include "ln_check.h"
#include "ln_guard.h"

/** A row of a list. */
typedef struct tl_map_variant {
    const char *name;
    tl_map_func *func;
    tl_dtype src_dtype, dst_dtype;
    tl_isa isa;
    int is_close; // to plain C, by another test: only checks that all elements are treated alike
} tl_map_variant;

/** Fills `size` bytes with every kind of number: all bit patterns occur, NaN and infinities too. */
static inline void tl_map_fill(void *data, size_t size, uint64_t seed)
{
    unsigned char *const bytes = data;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(tl_random_uniform(&seed) * 256);
}

/** The plain C row for the types of `v`. */
static inline const tl_map_variant *tl_map_plain(const tl_map_variant *variants, size_t n,
                                                 const tl_map_variant *v)
{
    for (size_t i = 0; i < n; i++)
        if (variants[i].isa == TL_ISA_C && variants[i].src_dtype == v->src_dtype &&
            variants[i].dst_dtype == v->dst_dtype)
            return &variants[i];
    ck_abort_msg("%s has no plain C kernel", v->name);
    return NULL;
}

/** Whether two arrays have the same elements: the same bits, or NaN of any kind. */
static inline int tl_map_is_same(const void *a, const void *b, size_t len, tl_dtype dtype)
{
    const size_t size = tl_size_of(dtype);
    if (memcmp(a, b, len * size) == 0)
        return 1;
    for (size_t i = 0; i < len; i++) {
        const void *const x = tl_padd(a, (ptrdiff_t)i, size), *const y =
                                                                  tl_padd(b, (ptrdiff_t)i, size);
        double values[2];
        tl_convert(&values[0], TL_DOUBLE, x, dtype);
        tl_convert(&values[1], TL_DOUBLE, y, dtype);
        if (memcmp(x, y, size) != 0 && !(isnan(values[0]) && isnan(values[1])))
            return 0;
    }
    return 1;
}

/** The expected result of `v` for `src`. */
static inline void tl_map_expect(const tl_map_variant *v, const tl_map_variant *plain,
                                 const void *src, void *dst, size_t len, const void *param)
{
    if (!v->is_close) {
        plain->func(src, dst, len, param);
        return;
    }
    for (size_t i = 0; i < len; i++)
        v->func(tl_padd(src, (ptrdiff_t)i, tl_size_of(v->src_dtype)),
                tl_padd(dst, (ptrdiff_t)i, tl_size_of(v->dst_dtype)), 1, param);
}

/** One kernel on one length, between guards, against plain C, and in place where the types agree.
 */
static inline void tl_map_check_one(const tl_map_variant *v, const tl_map_variant *plain,
                                    size_t len, const void *param)
{
    const size_t src_size = len * tl_size_of(v->src_dtype);
    const size_t dst_size = len * tl_size_of(v->dst_dtype);
    ln_guard src_guard, dst_guard;
    void *const src = ln_guard_alloc(&src_guard, src_size);
    void *const dst = ln_guard_alloc(&dst_guard, dst_size);
    tl_map_fill(src, src_size, len + 1);
    void *const original = tl_clone(src, src_size);
    void *const expected = tl_alloc(dst_size);
    tl_map_expect(v, plain, original, expected, len, param);

    v->func(src, dst, len, param);
    ck_assert_msg(tl_map_is_same(dst, expected, len, v->dst_dtype), "%s on %zu elements", v->name,
                  len);
    ck_assert_msg(memcmp(src, original, src_size) == 0, "%s changes its source", v->name);
    if (v->src_dtype == v->dst_dtype) {
        v->func(src, src, len, param);
        ck_assert_msg(tl_map_is_same(src, expected, len, v->dst_dtype),
                      "%s in place on %zu elements", v->name, len);
    }
    ck_assert_msg(ln_guard_is_intact(&src_guard) && ln_guard_is_intact(&dst_guard),
                  "%s writes before its buffers", v->name);
    tl_free(original);
    tl_free(expected);
    ln_guard_free(&src_guard);
    ln_guard_free(&dst_guard);
}

/** Every kernel that this CPU can run, on lengths around the tiles of vector code. */
static inline void tl_map_check_variants(const tl_map_variant *variants, size_t n,
                                         const void *param)
{
    static const size_t lens[] = {0,  1,  2,  3,  7,  8,  9,  15,  16,
                                  17, 31, 32, 33, 63, 64, 65, 129, 997};
    size_t tested = 0;
    for (size_t i = 0; i < n; i++) {
        if (!tl_isa_is_usable(variants[i].isa)) {
            ln_check_skip(variants[i].name);
            continue;
        }
        const tl_map_variant *const plain = tl_map_plain(variants, n, &variants[i]);
        for (size_t k = 0; k < sizeof(lens) / sizeof(*lens); k++)
            tl_map_check_one(&variants[i], plain, lens[k], param);
        tested++;
    }
    ck_assert_uint_gt(tested, 0);
}

/** The same bits from one thread and from three. */
static inline void tl_map_check_threads(const tl_map_variant *variants, size_t n, const void *param)
{
    enum { LEN = 10007 };
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool, .isa = tl_isa_best()};
    for (size_t i = 0; i < n; i++) {
        if (!tl_isa_is_usable(variants[i].isa))
            continue;
        tl_tensor *const src = tl_tensor_zeros(1, (int[]){LEN}, variants[i].src_dtype);
        tl_tensor *const one = tl_tensor_zeros(1, (int[]){LEN}, variants[i].dst_dtype);
        tl_tensor *const three = tl_tensor_clone(one);
        tl_map_fill(src->data, tl_tensor_size(src), i);
        tl_map(NULL, 1, variants[i].func, src, one, param);
        tl_map(&exec, 1, variants[i].func, src, three, param);
        ck_assert_msg(memcmp(one->data, three->data, tl_tensor_size(one)) == 0, "%s",
                      variants[i].name);
        tl_tensor_free_data_too(src);
        tl_tensor_free_data_too(one);
        tl_tensor_free_data_too(three);
    }
    tl_pool_free(pool);
}

/** Defines the two tests that every such family has, over its rows in `variants`. */
#define TL_MAP_TESTS(variants, param)                                                   \
    START_TEST(every_kernel_equals_plain_c)                                             \
    {                                                                                   \
        tl_map_check_variants(variants, sizeof(variants) / sizeof(*(variants)), param); \
    }                                                                                   \
    END_TEST                                                                            \
                                                                                        \
    START_TEST(threads_do_not_change_the_result)                                        \
    {                                                                                   \
        tl_map_check_threads(variants, sizeof(variants) / sizeof(*(variants)), param);  \
    }                                                                                   \
    END_TEST
