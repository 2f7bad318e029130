// SPDX-License-Identifier: Apache-2.0
// Vectors of AVX-512 VNNI: those of AVX-512, and the words of tl_simd_dot.h by instructions of its
// own.

#ifndef TL_SIMD_AVX512VNNI_H
#define TL_SIMD_AVX512VNNI_H

#define TL_SIMD_AVX512VNNI

#include "kernel/simd/tl_simd_avx512.h"

#endif
