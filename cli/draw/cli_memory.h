// SPDX-License-Identifier: Apache-2.0
// The main memory of a run, for diagrams: the blocks of the memory plan over the operators of a
// run.
//
//     cli_memory m;
//     if (!cli_memory_list(&m, ctx))
//         for (const cli_block *b = m.blocks; b < m.blocks + m.n; b++) ...
//     cli_memory_free(&m);
//
// Constants are left out: they are always there, and most of the memory. Blocks are moved down over
// offsets that only constants use.

#pragma once

#include "lightnet/ln_memory_plan.h"
#include "lightnet/lightnet.h"

/** A block that has its own memory. */
typedef struct cli_block {
    ln_memory_block plan; // strings are borrowed from the context
    size_t offset;        // moved down
    int first, last;      // the operators of a run between which it is live, from 0, inclusive
} cli_block;

typedef struct cli_memory {
    cli_block *blocks; // by offset
    int n, capacity;
    int n_run;               // operators of a run
    size_t size;             // of the blocks
    size_t constants;        // bytes of constants
    ln_memory_total planned; // with constants
    int *before;             // [time]: operators of a run before that time, up to time n_ops + 1
    int n_ops, failed;
} cli_memory;

/** Lists the memory of a compiled context. Returns 0, or CLI_FAILED after a message; free in any
 * case. */
int cli_memory_list(cli_memory *m, const ln_context *ctx);

void cli_memory_free(cli_memory *m);
