// SPDX-License-Identifier: Apache-2.0
// Makes TensorLight find an AMX that is emulated (ln_tile_emulator.h), so that a test runs its AMX
// kernels where the processor has none, but AVX-512. Link with
// -Wl,--wrap=tl_amx_detect,--wrap=tl_amx_permit.

#include "ln_tile_emulator.h"

#include "tensor/tl_amx.h"

unsigned __real_tl_amx_detect(void);
int __real_tl_amx_permit(void);
unsigned __wrap_tl_amx_detect(void);
int __wrap_tl_amx_permit(void);

static int is_emulated; // the processor has none

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
