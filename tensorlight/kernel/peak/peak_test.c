// SPDX-License-Identifier: Apache-2.0
// Tests of the measured peaks.

#include "kernel/peak/peak.h"
#include "ln_check.h"
#include "tensorlight/tensorlight.h"

#define TL_KERNEL(name, dtype, isa) {#name, name, isa},
static const struct variant {
    const char *name;
    tl_peak_func *func;
    tl_isa isa;
} variants[] = {
#include "kernel/peak/peak.def"
};
#undef TL_KERNEL

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

START_TEST(every_level_has_a_peak)
{
    TL_ISA_EACH_USABLE (isa) {
        const tl_exec exec = {.isa = isa};
        const double flops = tl_peak_flops(&exec);
        ck_assert_msg(flops > 1e6 && flops < 1e13, "%s: %g", tl_isa_name(isa), flops);
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

LN_TEST_MAIN("peak", every_kernel_multiplies_and_adds, every_level_has_a_peak,
             memory_has_a_peak_for_any_number_of_threads)
