// SPDX-License-Identifier: Apache-2.0
// Element-wise kernels: src [len] -> dst [len], split among threads.

#ifndef TL_MAP_H
#define TL_MAP_H

#include "tensorlight/tl_tensor.h"

/** A kernel of `len` elements; `param` is the family's. */
typedef void tl_map_func(const void *src, void *dst, size_t len, const void *param);

/** The min elements per thread, for memory-bound kernels and for compute-bound ones such as exp:
 *  some ten microseconds, many times the time to wake a thread. */
enum { TL_GRAIN_MEMORY_BOUND = 32768, TL_GRAIN_COMPUTE_BOUND = 2048 };

/** Runs `func` over all elements of `src`; `dst` has equal length. */
void tl_map(const tl_exec *exec, size_t grain, tl_map_func *func, const tl_tensor *src,
            tl_tensor *dst, const void *param);

#endif
