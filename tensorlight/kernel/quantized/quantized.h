// SPDX-License-Identifier: Apache-2.0
// What packing and kernels of 8-bit products agree on (tl_quantized.h says how weights lie).

#ifndef QUANTIZED_H
#define QUANTIZED_H

#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_quantized.h"

enum { TL_QUAD = 4 }; /* channels whose products are summed at a time */

/** What a row of packed weights begins with: for each of its output channels. */
typedef struct tl_quantized_head {
    int32_t bias[TL_BLOCK], weight_sum[TL_BLOCK];
    float factor[TL_BLOCK], addend[TL_BLOCK];
} tl_quantized_head;

#endif
