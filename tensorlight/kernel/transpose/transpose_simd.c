// SPDX-License-Identifier: Apache-2.0
// Transposition of elements of 4 bytes in vectors, as squares that are transposed in registers.

#include "kernel/transpose/transpose.h"

#include "kernel/simd/tl_simd.h"

// Columns at a time: the lines of src that they touch stay in the cache from row to row.
enum { COLUMNS = 2 * TL_VF_LANES < 16 ? 16 : 2 * TL_VF_LANES };

// `n` rows of `m` elements of src become m rows of n.
TL_INLINE void transpose_square(const float *src, size_t src_stride, float *dst, size_t dst_stride,
                                size_t n, size_t m)
{
    tl_vf v[TL_VF_LANES];
    TL_UNROLL
    for (int k = 0; k < TL_VF_LANES; k++)
        v[k] = (size_t)k >= n             ? tl_vf_zero()
               : m == (size_t)TL_VF_LANES ? tl_vf_load(src + k * src_stride)
                                          : tl_vf_load_partial(src + k * src_stride, m);
    tl_vf_transpose(v);
    TL_UNROLL
    for (int k = 0; k < TL_VF_LANES; k++)
        if ((size_t)k < m && n == (size_t)TL_VF_LANES)
            tl_vf_store(dst + k * dst_stride, v[k]);
        else if ((size_t)k < m)
            tl_vf_store_partial(dst + k * dst_stride, v[k], n);
}

// Transposes to the columns begin .. end-1 of dst, which are rows of src.
static void transpose_cols(const float *src, size_t src_stride, float *dst, size_t dst_stride,
                           size_t rows, size_t begin, size_t end)
{
    for (size_t r = 0; r < rows; r += TL_VF_LANES) {
        const size_t m = tl_min_size(TL_VF_LANES, rows - r);
        for (size_t c = begin; c < end; c += TL_VF_LANES) {
            const size_t n = tl_min_size(TL_VF_LANES, end - c);
            const float *const from = src + c * src_stride + r;
            float *const to = dst + r * dst_stride + c;
            if (n == (size_t)TL_VF_LANES && m == (size_t)TL_VF_LANES)
                transpose_square(from, src_stride, to, dst_stride, TL_VF_LANES, TL_VF_LANES);
            else
                transpose_square(from, src_stride, to, dst_stride, n, m);
        }
    }
}

void SIMD(tl_transpose)(const void *src, size_t src_stride, void *dst, size_t dst_stride,
                        size_t rows, size_t cols)
{
    if (tl_min_size(rows, cols) < TL_VF_LANES / 2) { // squares would be mostly empty
        tl_transpose_u32_c(src, src_stride, dst, dst_stride, rows, cols);
        return;
    }
    for (size_t c = 0; c < cols; c += COLUMNS)
        transpose_cols(src, src_stride, dst, dst_stride, rows, c, tl_min_size(cols, c + COLUMNS));
}
