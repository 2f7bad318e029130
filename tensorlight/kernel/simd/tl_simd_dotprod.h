// SPDX-License-Identifier: Apache-2.0
// Vectors of NEON with dot products: those of NEON, and the words of tl_simd_dot.h by instructions
// of its own.

#ifndef TL_SIMD_DOTPROD_H
#define TL_SIMD_DOTPROD_H

#define TL_SIMD_DOTPROD

#include "kernel/simd/tl_simd_neon.h"

#endif
