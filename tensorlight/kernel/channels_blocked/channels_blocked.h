// SPDX-License-Identifier: Apache-2.0
// Kernels that gather channels from tensors in the blocked layout (tl_blocked.h).

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"

/** The lanes of a block of results that are copied from one block of a source. */
typedef struct tl_block_part {
    const void *src;        // the block's first pixel
    int32_t from[TL_BLOCK]; // the source lane of each lane of the result; -1: not from this block
} tl_block_part;

/** Merges `n_parts` >= 1 blocks of `n` pixels each; lanes without a part become 0. The pixels have
 * the kernel's type. */
typedef void tl_pick_channels_func(const tl_block_part *parts, int n_parts, void *dst, size_t n);

#define TL_PICK_CHANNELS_KERNELS(ROW, arg)            \
    TL_KERNELS(ROW, arg, tl_pick_channels, F32, BOTH) \
    TL_KERNELS(ROW, arg, tl_pick_channels, U8, BOTH)
TL_PICK_CHANNELS_KERNELS(TL_KERNEL_DECLARE, tl_pick_channels_func)
