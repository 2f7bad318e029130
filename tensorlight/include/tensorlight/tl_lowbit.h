// SPDX-License-Identifier: Apache-2.0
// Products of floats with weights of 2, 4 or 8 bits, which share a scale in blocks of rows:
//
//     w[k, c] = (q[k, c] - zero[block of k, c]) * scale[block of k, c]
//     dst [.., m, n] = src [.., m, k] x w [k, n] + bias
//
// Weights stay packed, so a product of few rows is memory-bound. The result equals the
// definition up to this rounding: the elements of src are rounded to multiples of 2^-22
// of the power of two above the max magnitude of their block, the sums of a block are
// exact, and sums of blocks are added in floats. With one or two rows, or src_bits 8, every
// instruction set computes the same bits. Rows with infinities or NaN use the definition, which is
// slow. Scales must be finite; a product of a scale with 2^-22 of the max magnitude of a block is
// a factor, which loses bits where it is below 2^-126. With many rows (more than 8 without
// instructions for byte dot products, else more than 64) and src_bits 0, the weights are converted
// to floats, panel by panel, for tl_exec_matmul_packed. Matrix units compute as for few rows.
//
//     tl_lowbit_param param = {.bits = 4, .block = tl_lowbit_block(k, 32), .zero = 8};
//     // packed: TL_UINT8 [tl_lowbit_packed(k, n, &param)]
//     tl_lowbit_layout layout = {.k = k, .n = n, .is_signed = 1, .scale_block = 32};
//     tl_exec_lowbit_pack(&exec, weight, scale, NULL, packed, &param, &layout);
//     tl_exec_lowbit_matmul(&exec, src, packed, NULL, dst, &param);
//
// All functions trust their caller like all tl_exec_X (tl_tensor.h).

#ifndef TL_LOWBIT_H
#define TL_LOWBIT_H

#include <stddef.h>

#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_tensor.h"

TL_BEGIN_DECLS

/** Columns of a panel of packed weights. */
enum { TL_LOWBIT_PANEL = 32 };

typedef struct tl_lowbit_param {
    int bits;      // of a weight: 2, 4 or 8
    int block;     // rows of a block, of tl_lowbit_block
    int has_zeros; // a zero point per block and column; else all have `zero`
    int zero;      // as stored: signed weights are stored with an offset of half the range
    int src_bits;  // 8: src is rounded by tl_exec_round_blocks in the same blocks; 0: it is not
} tl_lowbit_param;

/** The rows of a block in which `k` rows are packed whose scales are those
 *  of `block` rows each (`k` or more: one for a column): a divisor of
 *  `block`, from 16 to 128. 0: none, `block` is not a multiple of 16. */
TL_API int tl_lowbit_block(int k, int block);

/** Panels of a matrix of `n` columns. */
TL_API int tl_lowbit_panels(int n);

/** Bytes of a packed matrix [k, n]: a head of 64 bytes, whose first one is 1 if all scales are
 *  binary16, then panels. A panel has blocks, then 32 zero points for each block, if any, up to a
 *  multiple of 64. A block has for each 8 rows (of 2 bits: 16, of 8 bits: 4) 32 columns of 4 bytes,
 * of which byte i has the rows i, i + 4, .. from its lowest bit on; then 32 scales, as binary16 if
 * that changes none of the matrix, else as float. Panels of float fill all bytes; of binary16, the
 * rest is 0. SIZE_MAX: too large for the address space. */
TL_API size_t tl_lowbit_packed(int k, int n, const tl_lowbit_param *param);

/** Weights to pack: a matrix [k, n]. */
typedef struct tl_lowbit_layout {
    int k, n;
    int is_transposed; // weights, scales and zero points are [n, k]
    int is_signed;     // weights are two's complement
    int scale_block;   // rows that share a scale
} tl_lowbit_layout;

/** weight TL_UINT8 or TL_INT8: k * n elements of param->bits bits, as ONNX packs them: the first
 * ones of a byte in its lowest bits; scale TL_FLOAT of one element, [n], or [ceil(k / scale_block),
 * n], transposed with the weight; zero (for param->has_zeros, else NULL) TL_INT8 or TL_UINT8, of
 * the shape of scale, or of one element -> dst TL_UINT8 [tl_lowbit_packed(k, n, param)]. -1 with a
 * reason: an element of zero is below the min of these bits. */
TL_API int tl_exec_lowbit_pack(const tl_exec *exec, const tl_tensor *weight, const tl_tensor *scale,
                               const tl_tensor *zero, tl_tensor *dst, const tl_lowbit_param *param,
                               const tl_lowbit_layout *layout);

/** Bytes of scratch memory that tl_exec_lowbit_matmul needs for `threads`
 *  threads and `n` columns; with less it uses fewer threads; one thread
 *  needs its full part. SIZE_MAX: too large for the address space. */
TL_API size_t tl_lowbit_matmul_scratch(const tl_tensor *src, int n, const tl_lowbit_param *param,
                                       int threads);

/** src TL_FLOAT [.., m, k], weight packed by tl_exec_lowbit_pack, bias TL_FLOAT [n] or NULL ->
 *  dst TL_FLOAT [.., m, n]. -1 with a reason when exec is NULL or has less scratch memory. */
TL_API int tl_exec_lowbit_matmul(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                                 const tl_tensor *bias, tl_tensor *dst,
                                 const tl_lowbit_param *param);

/** Rounds src to 8 bits with a unit for each block of `block` elements of the last axis, whose
 * length is a multiple: unit = max |x| / 127, at least 2^-104 / 127, and x becomes rint(x * (127 /
 * max))
 *  * unit. A block with an infinity or NaN becomes NaN. src, dst TL_FLOAT of one shape. */
TL_API int tl_exec_round_blocks(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                int block);

/** Elements of `bits` (2 or 4) bits, as ONNX packs them: the first ones of a
 * byte in its lowest bits. src TL_UINT8, with at least the bits of all
 * elements of dst -> dst TL_UINT8, or TL_INT8: the highest bit is a sign; or a type of
 * that many bits. */
TL_API int tl_exec_lowbit_unpack(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                 int bits);

TL_END_DECLS

#endif
