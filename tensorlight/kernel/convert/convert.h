// SPDX-License-Identifier: Apache-2.0
// Kernels of the conversion between types.

#ifndef CONVERT_H
#define CONVERT_H

#include "kernel/tl_kernel.h"
#include "kernel/tl_map.h"

/** dst[i] = src[i], by the rules of tl_convert; src and dst do not overlap; `param` is not used. A
 *  row is TL_KERNEL(function, src dtype, dst dtype, isa). */
#define TL_KERNEL(name, from, to, isa) tl_map_func name;
#include "kernel/convert/convert.def"
#undef TL_KERNEL

#endif
