// SPDX-License-Identifier: Apache-2.0
// Emulated AMX: see ln_amx_machine.h.

#include "ln_amx_machine.h"

#include <stdio.h>

#include "ln_tile_emulator.h"
#include "tensor/tl_amx.h"
#include "tensorlight/tl_exec.h"

unsigned __real_tl_amx_detect(void);
int __real_tl_amx_permit(void);
unsigned __wrap_tl_amx_detect(void);
int __wrap_tl_amx_permit(void);

static int is_emulated;

unsigned __wrap_tl_amx_detect(void)
{
    const unsigned own = __real_tl_amx_detect();
    is_emulated = own == 0 && ln_tile_emulator_start() == 0;
    return is_emulated ? TL_AMX_INT8 | TL_AMX_BF16 : own;
}

int __wrap_tl_amx_permit(void)
{
    return is_emulated || __real_tl_amx_permit();
}

int ln_amx_machine_is_used(void)
{
    if (!tl_isa_is_usable(TL_ISA_AMXINT8))
        printf("# skipped: amxint8, without AVX-512\n");
    return !is_emulated || !tl_isa_is_usable(TL_ISA_AMXINT8) ||
           (ln_tile_emulator_count() > 0 && !ln_tile_emulator_is_configured());
}
