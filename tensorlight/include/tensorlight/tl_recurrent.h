// SPDX-License-Identifier: Apache-2.0
// Recurrent networks: RNN, GRU and LSTM cells.
//
// A cell has a state h of H elements, and G gates of H elements each. The contribution
// of the input to the gates does not depend on the state, so it is one matrix product
// for all steps: tl_tensor_matmul of [T * B, I] and the weights [D, I, G * H]. These
// functions compute the rest. D: directions, T: steps, B: batch. TL_DOUBLE or TL_FLOAT.
//
// Errors, and preconditions of tl_exec_X: see tl_tensor.h.

#ifndef TL_RECURRENT_H
#define TL_RECURRENT_H

#include "tensorlight/tl_elementwise.h"

TL_BEGIN_DECLS

/** x: the gate in src, y: the product of h and recurrence, b and b': the halves of bias, p:
 *  peephole. f, g, k: the activations, in order. Source: ONNX RNN, GRU and LSTM, opset 14. */
typedef enum tl_cell {
    TL_CELL_INVALID = -1,
    TL_CELL_RNN = 0, // one gate. h = f(x + y + b + b')
    TL_CELL_GRU,     // update z, reset r, candidate n. z, r = f(x + y + b + b');
                     // n = g(x + b + b' + (r h) R), or with reset_after g(x + b + r (y + b'));
                     // h = (1 - z) n + z h
    TL_CELL_LSTM,    // input i, output o, forget f, candidate n, and a second state c.
                     // i, f = f(x + y + b + b' + p c); n = g(x + y + b + b'); c = f c + i n;
                     // o = f(x + y + b + b' + p c) with that c; h = o k(c)
    TL_CELL_SIZE
} tl_cell;
TL_API const char *tl_cell_name(tl_cell cell);
TL_API tl_cell tl_cell_from_str(const char *str);

/** The gates of a (valid) cell, and its activations: 1 and 1, 3 and 2, 4 and 3. */
TL_API int tl_cell_gates(tl_cell cell);
TL_API int tl_cell_acts(tl_cell cell);

enum { TL_RECURRENT_DIRECTIONS = 2, TL_RECURRENT_ACTS = 3 };

/** An activation, with its parameters. */
typedef struct tl_recurrent_act {
    tl_unary_func func;
    double alpha, beta;
} tl_recurrent_act;

typedef struct tl_recurrent_param {
    tl_cell cell;
    int reverse[TL_RECURRENT_DIRECTIONS]; // from the last step to the first
    tl_recurrent_act acts[TL_RECURRENT_DIRECTIONS][TL_RECURRENT_ACTS];
    double clip;     // the sums of gates are clipped to -clip .. clip; 0: no clipping
    int reset_after; // GRU: the reset gate applies after the product with recurrence
    int coupled;     // LSTM: the forget gate is 1 - i
} tl_recurrent_param;

/** All of src's dtype but lens. NULL: absent. */
typedef struct tl_recurrent_tensors {
    const tl_tensor *src;        // [D, T, B, G * H]
    const tl_tensor *recurrence; // [D, G, H, H]: from the state to the gates; or packed
    const tl_tensor *bias;       // [D, 2 * G * H]; NULL: 0
    const tl_tensor *lens;       // TL_INT32 [B]: the steps of each sequence; NULL: T
    const tl_tensor *initial_h;  // [D, B, H], before the first step; NULL: 0
    const tl_tensor *initial_c;  // the same of c; LSTM only
    const tl_tensor *peephole;   // [D, 3 * H], for i, o, f; NULL: 0; LSTM only
    tl_tensor *dst;              // [T, D, B, H]: h at each step, 0 after the end of a sequence
    tl_tensor *last_h, *last_c;  // [D, B, H], after the last step of each sequence; c: LSTM only
} tl_recurrent_tensors;

/** Elements of a block of packed weights, and the number of blocks of H elements. */
enum { TL_CELL_BLOCK = 16 };
TL_API int tl_cell_blocks(int hidden);

/** Whether cells of `param` in `directions` directions support packed weights: with
 *  the default activations, TL_UNARY_SIGMOID for gates and TL_UNARY_TANH otherwise. */
TL_API int tl_recurrent_takes_packed(const tl_recurrent_param *param, int directions);

/** src [D, G, H, H] -> dst [D, blocks of H, H, G, TL_CELL_BLOCK], TL_FLOAT: a step
 *  reads these weights in order, and computes gates and states with the products.
 *  Padding is 0. Results differ by rounding from those with unpacked weights. */
TL_API int tl_exec_recurrent_pack(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst);

/** 0 if inputs and `param` are consistent; -1 with a reason. Data is ignored. */
TL_API int tl_recurrent_check(const tl_recurrent_tensors *t, const tl_recurrent_param *param);

/** Computes the outputs that are not NULL, which must have data. D is 1 or 2, with
 *  independent directions; a reverse sequence begins with its own last step. -1 with a
 *  reason: that of tl_recurrent_check, a wrong output shape, a len outside 0 .. T. */
TL_API int tl_tensor_recurrent(const tl_recurrent_tensors *t, const tl_recurrent_param *param);

/** The bytes of exec->scratch that tl_exec_recurrent
 *  needs on that many threads. Data is ignored. */
TL_API size_t tl_recurrent_scratch(const tl_recurrent_tensors *t, tl_cell cell, int threads);

/** -1 with a reason: a len outside 0 .. T, exec NULL or its scratch too small. */
TL_API int tl_exec_recurrent(const tl_exec *exec, const tl_recurrent_tensors *t,
                             const tl_recurrent_param *param);

TL_END_DECLS

#endif
