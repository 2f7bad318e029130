// SPDX-License-Identifier: Apache-2.0
// Kernels of recurrent networks: the update of each sequence's state in a step, after the product
// of the states and the recurrence weights.

#pragma once

#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "kernel/unary/unary.h"
#include "tensorlight/tl_recurrent.h"

/** The stages of a time step. A GRU has two: between them r h is multiplied by weights. */
typedef enum tl_recurrent_stage {
    TL_RECURRENT_RNN,
    TL_RECURRENT_GRU_GATES, // z and r, and r h unless the reset comes after
    TL_RECURRENT_GRU,
    TL_RECURRENT_LSTM,
    TL_RECURRENT_STAGES
} tl_recurrent_stage;

/** With packed weights: a stage for blocks begin .. end-1 of TL_CELL_BLOCK elements, for the
 * tl_recurrent_job at `arg`, including the products that it needs; job->products is ignored. */
typedef void tl_cells_func(void *arg, size_t begin, size_t end);

/** A step of one direction. */
typedef struct tl_recurrent_job {
    const tl_recurrent_param *param;
    tl_recurrent_stage stage;
    size_t hidden, rows, n_gates; // H, B, G
    size_t step, steps;           // of T
    int reverse;
    const int32_t *lens;       // [B] or NULL
    const void *src;           // [T, B, G * H]
    const void *peephole;      // [3 * H] or NULL
    size_t matmul_scratch;     // bytes at the start of the scratch memory, for tl_exec_matmul
    void *products;            // [G, B, H]: of the states and the recurrence weights
    void *bias;                // [G * H], and [H] for the candidate with reset_after
    void *gates;               // [B, G * H]; with packed weights: z of a GRU, [B, H]
    void *reset_h;             // [B, H]: r h of a GRU
    void *h, *c;               // [B, H]: the states
    const void *packed;        // the weights in blocks, or NULL; then:
    void *next;                // [B, H]: h after the step
    size_t first_row, end_row; // the sequences to compute
    tl_cells_func *cells;
    tl_isa isa;
    const tl_stop *stop;
    void *dst;       // [T, .., B, H] or NULL
    size_t dst_step; // elements from a step to the next one
    tl_map_func *acts[TL_RECURRENT_ACTS];
    tl_unary_param act_params[TL_RECURRENT_ACTS];
} tl_recurrent_job;

/** The stage for the rows begin .. end-1 of the tl_recurrent_job at `arg`. */
typedef void tl_recurrent_func(void *arg, size_t begin, size_t end);

#define TL_CELLS_KERNELS(ROW, arg) TL_KERNELS(ROW, arg, tl_cells, F32, BOTH)
TL_CELLS_KERNELS(TL_KERNEL_DECLARE, tl_cells_func)

#define TL_RECURRENT_KERNELS(ROW, arg)                \
    ROW(arg, tl_recurrent_f64_c, TL_DOUBLE, TL_ISA_C) \
    ROW(arg, tl_recurrent_f32_c, TL_FLOAT, TL_ISA_C)
TL_RECURRENT_KERNELS(TL_KERNEL_DECLARE, tl_recurrent_func)
