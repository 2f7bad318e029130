// SPDX-License-Identifier: Apache-2.0
// Emulator of AMX for tests: runs programs with AMX instructions on processors without AMX.
//
// Such a processor raises SIGILL at each AMX instruction. The handler of this signal decodes the
// instruction, executes it on the emulated tiles of the thread, and continues after it.
//
//     ck_assert_int_eq(ln_tile_emulator_start(), 0);
//     tl_tile_begin(&t, 16, 64);
//     ...
//     tl_tile_end();
//     ck_assert(ln_tile_emulator_count() > 0);
//     ck_assert(!ln_tile_emulator_is_configured());
//
// Supports AMX-TILE, AMX-INT8 and AMX-BF16 with VEX encoding. An instruction that raises #GP or #UD
// because of its operands or its configuration prints the reason on standard error and aborts. A
// malformed or any other illegal instruction ends the process as it does without the emulator.
//
// Where AMX is enabled, the processor executes the instructions itself, and the count stays 0.

#pragma once

/** Emulates AMX in all threads of the process from now on. Further calls have no effect. Returns 0,
 *  or -1 where the emulator is not supported: it needs Linux on x86-64. */
int ln_tile_emulator_start(void);

/** Number of instructions emulated so far, of all threads. */
unsigned long ln_tile_emulator_count(void);

/** 1 if this thread has configured its tiles and not released them. */
int ln_tile_emulator_is_configured(void);
