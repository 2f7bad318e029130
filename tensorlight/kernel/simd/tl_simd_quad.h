// SPDX-License-Identifier: Apache-2.0
// Vectors of 32-bit integers, and exact dot products of four bytes each: see tl_simd.h.
//
//     tl_vi                         TL_VF_LANES integers of 32 bits
//     tl_vi_load(p), tl_vi_set1(x)  any address
//     tl_vi_load_u8(p)              from bytes
//     tl_vi_add, tl_vi_mul          modulo 2^32
//     tl_vi_to_vf(a)                the nearest floats
//     tl_vi_round(v)                the nearest integers to floats, ties to even, |v| < 2^31
//     tl_vi_range, tl_vi_range_of(zero, low, high)   the conversion of integers to bytes: add zero,
//                                   saturate to 0 .. 255, then clip to two bytes
//     tl_vi_store_pixels(p, v, n, r)  the integers v[k], converted by the range r, as bytes from
//                                   p[16 * k] on, for k = 0 .. n-1, n <= 4
//     tl_vb, tl_vb_load(p), _zero          four bytes for each lane
//     tl_vb_pixel(p)                byte 0 of lane c is p[c], the others are 0
//     tl_vb_later(a, b)             bytes 0 .. 2 of b become 1 .. 3, byte 0 is byte 3 of a
//     tl_vb_tap(a, k)               byte k of each lane becomes byte 0; the others may be anything
//     tl_vq, tl_vq_of(b)            four unsigned factors for each lane, prepared
//     tl_vq_pixels(p)               factor k of lane c is p[16 * k + c]: the c-th channel of four
//                                   neighbouring pixels in blocks of 16
//     tl_vk, tl_vk_of(b)            four signed factors for each lane, prepared
//     tl_vi_dot(sum, q, w)          sum + the four products of each lane, exact modulo 2^32
//     tl_vi_shift_left(a, n)        modulo 2^32
//     tl_vb_fours(p)                the four bytes at p, for all lanes
//     tl_vb_bits(b, from, n)        bits from .. from + n - 1 of each byte
//     tl_vi_bits(b, from, n)        bits from .. from + n - 1 of each four bytes of a tl_vb
//     tl_vn, TL_VN_REGISTERS        sums of few products with factors below 16, maybe in 16 bits
//     tl_vn_begin(sum)              begins at the tl_vi `sum` or, if narrower, at 0
//     tl_vn_dot(s, q, w)            s + the four products of each lane, of tl_vb: unsigned below 16
//                                   by signed; at most TL_VN_DOTS times before tl_vn_end.
//                                   TL_VN_BYTES: unsigned bytes may have any value
//     tl_vn_end(sum, s)             the tl_vi `sum` of tl_vn_begin plus all products
//     tl_v16                        16 bytes, the channels of a pixel: tl_v16_load, _store, _zero,
//                                   _set1, and tl_v16_max of unsigned ones
//     tl_v16_or, tl_v16_zip_low, _high   bytes of a and b in turn, of their first or second halves
//     tl_v16_pick(a, from)          byte k is a's byte from[k]; 0 where from[k] is 128 or more
//     tl_table, tl_table_load(p)    256 bytes
//     tl_table_look(t, src, dst)    dst[i] = table[src[i]], i < TL_TABLE_BYTES; dst may be src

#pragma once

#include <limits.h>

#include "kernel/simd/tl_simd.h"

#if defined(TL_SIMD_AVX512)
#include "kernel/simd/tl_simd_quad_avx512.h"
#elif defined(TL_SIMD_AVX2)
#include "kernel/simd/tl_simd_quad_avx2.h"
#elif defined(TL_SIMD_NEON)
#include "kernel/simd/tl_simd_quad_neon.h"
#endif
