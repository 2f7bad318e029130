// SPDX-License-Identifier: Apache-2.0
// The rectifier in plain C, for every type.

#ifndef T // once

#include "kernel/relu/relu.h"

#define TL_TEMPLATE "kernel/relu/relu_c.c"
#include "tensor/tl_each_type.inc.h"

#else // for each type

void NAME(tl_relu, c)(const void *src, void *dst, size_t len, const void *param)
{
    (void)param;
    const T *const s = src;
    T *const d = dst;
    const C zero = 0;
    for (size_t i = 0; i < len; i++) {
        const C x = LOAD(s[i]);
        d[i] = STORE(x < zero ? zero : x);
    }
}

#endif
