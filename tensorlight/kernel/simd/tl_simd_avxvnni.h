// SPDX-License-Identifier: Apache-2.0
// Vectors of AVX-VNNI: those of AVX2, and the words of tl_simd_dot.h by instructions of its own.

#ifndef TL_SIMD_AVXVNNI_H
#define TL_SIMD_AVXVNNI_H

#define TL_SIMD_AVXVNNI

#include "kernel/simd/tl_simd_avx2.h"

#endif
