// SPDX-License-Identifier: Apache-2.0
// Dot products of four bytes each, summed exactly in 32 bits, for 8-bit convolutions and products.
// See tl_simd.h.
//
// Lane i of a sum adds the products of four unsigned source bytes, the same for all lanes, and four
// signed weights of its own. Nothing saturates, for any bytes.
//
//     tl_vs                  sums: TL_VF_LANES of them, in TL_VS_REGISTERS registers
//     tl_vx, tl_vx_load(p, part)   four source bytes, for all lanes
//     tl_vx_opaque(x)          x, opaque to the compiler
//     tl_vw, tl_vw_load(p, part)   four weights of each lane: 4 TL_VF_LANES bytes
//     tl_vs_begin(start)     sums that begin with start[0 .. TL_VF_LANES-1]
//     tl_vs_add(s, x, w)     s plus a product of each lane
//     tl_vf_of_sums(s, start)   the sums, rounded to floats; some sets add `start` only now
//     tl_vs_store(p, s, start)  the sums themselves
//
//     TL_VX_PARTS            sets that multiply two values at a time, not four, load and add each
//                            four in parts: `part` is 0 .. TL_VX_PARTS-1
//     TL_VX_BYTES            bytes that tl_vx_load reads for a source byte: 1, the byte itself, or
//                            2, a word: of each 16, the even ones before the odd ones
//     TL_VX_OFFSET           subtracted from source bytes by tl_vx_load, 128 where instructions
//                            multiply signed bytes only: to compensate, `start` contains
//                            TL_VX_OFFSET times the sum of the weights

//     tl_vb, TL_VB_VECTORS   bytes of TL_VB_VECTORS vectors, in their order
//     tl_vb_of(v, zero)      v[0 .. TL_VB_VECTORS-1], of which none is NaN, rounded, ties to even,
//                            plus `zero`, in 0 .. 255, saturated
//     tl_vb_store(p, b)      all of them
//     tl_vb_store_block(p, b, k)   bytes 16 k .. 16 k + 15

#pragma once

#include "kernel/simd/tl_simd.h"

#if defined(TL_SIMD_X86)
#include "kernel/simd/tl_simd_dot_x86.h"
#elif defined(TL_SIMD_NEON)
#include "kernel/simd/tl_simd_dot_neon.h"
#else
#include "kernel/simd/tl_simd_dot_c.h"
#endif
