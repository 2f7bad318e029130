// SPDX-License-Identifier: Apache-2.0
// The binary operations in vectors. But for what they give beside a NaN, and for powers,
// which have no vectors, they are those of tensors that are broadcast.

#include "kernel/elew/elew.h"

#include "kernel/binary/binary_simd.h"

static VECTOR_OPERATION(greater, tl_vf_max(a, b)) static VECTOR_OPERATION(smaller, tl_vf_min(a, b))

    int SIMD(tl_elew)(tl_elew_op op, const void *src1, const void *src2, void *dst, size_t len)
{
    static tl_broadcast_func *const funcs[TL_ELEW_OP_SIZE] = {
        [TL_MUL] = SIMD(tl_binary_mul),
        [TL_DIV] = SIMD(tl_binary_div),
        [TL_SUM] = SIMD(tl_binary_add),
        [TL_SUB] = SIMD(tl_binary_sub),
        [TL_MAX] = greater,
        [TL_MIN] = smaller,
        [TL_POW] = tl_binary_pow_f32_c,
    };
    return funcs[op]((const void *[]){src1, src2}, (const int[]){1, 1}, dst, len);
}
