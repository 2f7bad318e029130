// SPDX-License-Identifier: Apache-2.0
// Vectors of NEON with dot products of unsigned by signed bytes: those of NEON, and the words of
// tl_simd_dot.h by instructions of its own.

#ifndef TL_SIMD_I8MM_H
#define TL_SIMD_I8MM_H

#define TL_SIMD_I8MM

#include "kernel/simd/tl_simd_dotprod.h"

#endif
