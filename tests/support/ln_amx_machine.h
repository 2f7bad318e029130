// SPDX-License-Identifier: Apache-2.0
// An AMX that is emulated (ln_tile_emulator.h) where the processor has none, so that a test runs
// its kernels for AMX on any processor with AVX-512. Link the test with
// -Wl,--wrap=tl_amx_detect,--wrap=tl_amx_permit.

#pragma once

/** Whether AMX instructions were emulated and this thread has released its tiles; also 1 where no
 *  instruction needs to be emulated, as the processor has AMX, or its kernels cannot run. */
int ln_amx_machine_is_used(void);
