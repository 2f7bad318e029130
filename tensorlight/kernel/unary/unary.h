// SPDX-License-Identifier: Apache-2.0
// Kernels of the functions of one floating-point number that have no parameters.
//
// A row of unary.def and a formula in unary_c.inc.h make tl_exec_NAME and tl_tensor_NAME. A
// function that gets vector code moves to a family of its own, as relu has it.

#ifndef UNARY_H
#define UNARY_H

#include "kernel/tl_kernel.h"
#include "kernel/tl_map.h"

/** dst[i] = NAME(src[i]), rounded to the type; dst may be src; `param` is not used. */
#define TL_KERNEL(function, dtype, isa) TL_KERNEL_DECLARE(tl_map_func, function, dtype, isa)
#define TL_UNARY(name, grain)           TL_KERNELS_FLT(tl_##name, c, TL_ISA_C)
#include "kernel/unary/unary.def"
#undef TL_UNARY
#undef TL_KERNEL

#endif
