// SPDX-License-Identifier: Apache-2.0
// Work on one element after the other: src [len] -> dst [len], split among threads.

#ifndef TL_MAP_H
#define TL_MAP_H

#include "tensorlight/tl_tensor.h"

/** A kernel of `len` elements; `param` is the family's. */
typedef void tl_map_func(const void *src, void *dst, size_t len, const void *param);

/** Elements that one thread takes at least, for work that costs about a copy, and for functions
 *  such as exp: some ten microseconds, many times what it takes to wake a thread. */
enum { TL_MAP_CHEAP = 32768, TL_MAP_DEAR = 2048 };

/** Runs `func` over all elements of `src`; `dst` has as many. */
void tl_map(const tl_exec *exec, size_t grain, tl_map_func *func, const tl_tensor *src,
            tl_tensor *dst, const void *param);

#endif
