// SPDX-License-Identifier: Apache-2.0
// Helpers of operators on weights of 2 to 8 bits for their kernels.

#pragma once

#include "lightnet/ln_arch.h"
#include "tensorlight/tl_lowbit.h"

/** The packing of `k` rows, with scales per `block` rows (0: all), for a source that is rounded to
 *  `src_bits` (0: it is not); block 0: not supported. */
static inline tl_lowbit_param ln_lowbit_param(int k, int bits, int block, int has_zeros, int zero,
                                              int src_bits)
{
    return (tl_lowbit_param){bits, tl_lowbit_block(k, block ? block : k), has_zeros, zero,
                             src_bits};
}

/** Scratch memory of a product with `n` columns. */
static inline size_t ln_lowbit_scratch(const tl_tensor *src, int n, int bits, int block,
                                       int has_zeros, int src_bits, int threads)
{
    const tl_lowbit_param param =
        ln_lowbit_param(src->dims[src->ndim - 1], bits, block, has_zeros, 0, src_bits);
    return tl_lowbit_matmul_scratch(src, n, &param, threads);
}

/** Bytes of k * n elements of `bits` bits. */
static inline long long ln_lowbit_bytes(int k, int n, int bits)
{
    return ((long long)k * n * bits + 7) / 8;
}

/** Whether `scale` is one element, or has one for each column of a weight [k, n], or for each block
 *  of rows and column. */
static inline int ln_lowbit_has_scales(int k, int n, const tl_tensor *scale, int block,
                                       int is_transposed)
{
    if (scale->len == 1 || block == 0)
        return scale->len == 1 || (scale->ndim == 1 && scale->len == n);
    return scale->ndim == 2 && scale->dims[is_transposed ? 0 : 1] == n &&
           scale->dims[is_transposed ? 1 : 0] == k / block + (k % block != 0);
}
