// SPDX-License-Identifier: Apache-2.0
// Tests of the measured peaks.

#include "kernel/peak_rates/peak_rates.h"

#include <string.h>

#include "ln_check.h"
#include "tensorlight/tensorlight.h"

#define VARIANT(arg, name, dtype, isa) {#name, name, isa},
static const struct variant {
    const char *name;
    tl_peak_func *func;
    tl_isa isa;
} variants[] = {TL_PEAK_KERNELS(VARIANT, )};

START_TEST(every_kernel_multiplies_and_adds)
{
    int tested = 0;
    for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
        float once, often;
        if (!tl_isa_is_usable(variants[i].isa))
            continue;
        const double flops = variants[i].func(1, 0.5f, 3, &once);
        ck_assert_msg(flops >= 2 * 12 * 4, "%s: %g operations", variants[i].name, flops);
        // The largest of the chains 0, 1, ... n-1 after one round, and what all come near to.
        ck_assert_msg(once == 11 * 0.5f + 3 || once == 23 * 0.5f + 3, "%s: %g", variants[i].name,
                      once);
        ck_assert_double_eq(variants[i].func(100, 0.5f, 3, &often), 100 * flops);
        ck_assert_msg(often == 6, "%s: %g, expected 6", variants[i].name, often);
        tested++;
    }
    ck_assert_int_ge(tested, 1);
}
END_TEST

// Operations of four products of tiles of words, for each term of a sum.
enum { TILE_OPS = 2 * 4 * 16 * 16 };

static int has_tiles(tl_isa isa)
{
    return isa == TL_ISA_TILES || tl_isa_contains(isa, TL_ISA_AMXINT8);
}

static const struct bytes_variant {
    const char *name;
    tl_peak_bytes_func *func;
    tl_isa isa;
} bytes_variants[] = {TL_PEAK_BYTES_KERNELS(VARIANT, )};

START_TEST(every_kernel_of_bytes_adds_dot_products)
{
    const uint8_t src[4] = {255, 255, 255, 255};
    int8_t weight[64];
    memset(weight, -128, sizeof(weight));
    weight[4] = weight[5] = 127; // lane 1 has the largest sum
    for (size_t i = 0; i < sizeof(bytes_variants) / sizeof(bytes_variants[0]); i++) {
        float result;
        if (!tl_isa_is_usable(bytes_variants[i].isa) && bytes_variants[i].isa != TL_ISA_TILES)
            continue;
        const double ops = bytes_variants[i].func(10, src, weight, &result);
        ck_assert_msg(ops >= 10 * 8 * 4, "%s: %g operations", bytes_variants[i].name, ops);
        const double terms = has_tiles(bytes_variants[i].isa) ? ops / 4 / TILE_OPS : 10;
        ck_assert_msg(result == terms * 255 * -2 || bytes_variants[i].isa == TL_ISA_DOTPROD,
                      "%s: %g", bytes_variants[i].name, result);
    }
}
END_TEST

static const struct pairs_variant {
    const char *name;
    tl_peak_pairs_func *func;
    tl_isa isa;
} pairs_variants[] = {TL_PEAK_PAIRS_KERNELS(VARIANT, )};

START_TEST(every_kernel_of_pairs_adds_two_products)
{
    for (size_t i = 0; i < sizeof(pairs_variants) / sizeof(pairs_variants[0]); i++) {
        const struct pairs_variant *const v = &pairs_variants[i];
        float result;
        if (!tl_isa_is_usable(v->isa) && v->isa != TL_ISA_TILES)
            continue;
        const double ops = v->func(10, 0.5f, 3, &result);
        ck_assert_msg(ops >= 10 * 12 * 4 * 4, "%s: %g operations", v->name, ops);
        if (has_tiles(v->isa))
            ck_assert_msg(result == ops / 2 / TILE_OPS * 3, "%s: %g", v->name, result);
        else
            ck_assert_msg(result == 11 + 30 || result == 23 + 30, "%s: %g", v->name, result);
    }
}
END_TEST

START_TEST(every_set_has_a_peak)
{
    TL_ISA_EACH_USABLE (isa) {
        const tl_exec exec = {.isa = isa};
        const double flops = tl_peak_flops(&exec);
        ck_assert_msg(flops > 1e6 && flops < 1e13, "%s: %g", tl_isa_name(isa), flops);
        const double pairs = tl_peak_bfloat16_flops(&exec);
        ck_assert_msg(pairs > 1e6 && pairs < 1e13, "%s: %g", tl_isa_name(isa), pairs);
        const double bytes = tl_peak_byte_ops(&exec);
        ck_assert_msg(bytes > 1e6 && bytes < 1e14, "%s: %g", tl_isa_name(isa), bytes);
    }
}
END_TEST

START_TEST(memory_has_a_peak_for_any_number_of_threads)
{
    for (int n = 1; n <= 3; n++) {
        const tl_exec exec = {.pool = tl_pool_create(n)};
        const double bandwidth = tl_peak_bandwidth(&exec);
        ck_assert_msg(bandwidth > 1e6 && bandwidth < 1e13, "%d threads: %g", n, bandwidth);
        tl_pool_free(exec.pool);
    }
}
END_TEST

LN_TEST_MAIN("peak", every_kernel_multiplies_and_adds, every_kernel_of_bytes_adds_dot_products,
             every_kernel_of_pairs_adds_two_products, every_set_has_a_peak,
             memory_has_a_peak_for_any_number_of_threads)
