// SPDX-License-Identifier: Apache-2.0
// Test of a CPU with AMX whose system refuses it. Linked with
// -Wl,--wrap=tl_amx_detect,--wrap=tl_amx_permit.

#include "ln_check.h"
#include "tensor/tl_amx.h"
#include "tensor/tl_isa.h"

unsigned __wrap_tl_amx_detect(void);
int __wrap_tl_amx_permit(void);

static int asked;

unsigned __wrap_tl_amx_detect(void)
{
    return TL_AMX_INT8 | TL_AMX_BF16;
}

int __wrap_tl_amx_permit(void)
{
    asked++;
    return 0;
}

START_TEST(a_refused_permission_leaves_the_other_sets)
{
    ck_assert(!tl_isa_is_usable(TL_ISA_AMXINT8) && !tl_isa_is_usable(TL_ISA_AMXBF16));
    ck_assert(!tl_isa_contains(tl_isa_best(), TL_ISA_AMXINT8));
    ck_assert(tl_isa_is_usable(TL_ISA_C));
    ck_assert_int_eq(asked, 1);
}
END_TEST

START_TEST(a_lower_set_does_not_ask)
{
    setenv("LIGHTNET_MAX_ISA", "avx2", 1);
    ck_assert(!tl_isa_is_usable(TL_ISA_AMXINT8));
    ck_assert_int_eq(asked, 0);
}
END_TEST

LN_TEST_MAIN("amx", a_refused_permission_leaves_the_other_sets, a_lower_set_does_not_ask)
