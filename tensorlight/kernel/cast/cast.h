// SPDX-License-Identifier: Apache-2.0
// Kernels of the conversion between types that does not saturate floats and integers.

#ifndef CAST_H
#define CAST_H

#include "kernel/tl_kernel.h"
#include "kernel/tl_map.h"

/** dst[i] = src[i], by the rules of tl_tensor_cast; src and dst do not overlap; `param` is not
 *  used. */
#define TL_KERNEL(name, from, to, isa) tl_map_func name;
#include "kernel/cast/cast.def"
#undef TL_KERNEL

/** The kernel of a conversion; NULL where the types are the same. */
tl_map_func *tl_cast_kernel(const tl_exec *exec, tl_dtype from, tl_dtype to);

#endif
