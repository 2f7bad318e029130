// SPDX-License-Identifier: Apache-2.0
// States that grow in place: a cache to which each run appends rows.
//
// If a program joins a state with new rows along an axis, and only attention reads the result, the
// two tensors can be one: memory with room for more rows in each head, in which join writes the new
// ones and copies nothing. A run takes the same time for a cache of any length, but for attention.
//
//     memory, rows 4       past [2, 3, D]      present [2, 4, D]
//     head 0   0 1 2 .     0 1 2               0 1 2 new
//     head 1   0 1 2 .     0 1 2               0 1 2 new

#pragma once

#include "session/ln_program.h"

/** How a state grows in a program; rows 0: not in place. */
typedef struct ln_state_rows {
    ln_tensor_entry *past, *present;
    int axis; // that grows
    int rows; // of the memory of each head
} ln_state_rows;

/** Whether input `input` grows into output `output`, numbers of the interface: then *state is how.
 * -1 with a reason in the program's context: no memory. */
int ln_state_rows_find(const ln_program *program, size_t input, size_t output,
                       ln_state_rows *state);

/** From now on, the two tensors of the program have `state->rows` rows, or with `is_set` 0, those
 * of their shapes. */
void ln_state_rows_set(const ln_state_rows *state, int is_set);

/** The bytes of a state of that shape, but with `rows` rows along `axis`. SIZE_MAX: too many. */
size_t ln_state_rows_size(const ln_value *shape, tl_dtype dtype, int axis, int rows);
