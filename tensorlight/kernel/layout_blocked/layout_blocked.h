// SPDX-License-Identifier: Apache-2.0
// Kernels that convert between planes and the blocked layout (tl_blocked.h).

#pragma once

#include <stddef.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"

/** A conversion of [channels, pixels] to [blocks, pixels, 16], or back, of the kernel's type. */
typedef struct tl_layout_job {
    const void *src;
    void *dst;
    int channels, blocks; // of an image
    size_t pixels;        // of a plane
    size_t strips;        // of a plane: of TL_LAYOUT_STRIP pixels, the last one of fewer
} tl_layout_job;

enum { TL_LAYOUT_STRIP = 512 };

/** A strip of pixels of one block. */
typedef struct tl_layout_strip {
    size_t plane, block; // offsets of its first plane and of its block, in elements
    size_t begin, end;   // pixels
    int lanes;           // that are channels
} tl_layout_strip;

static inline tl_layout_strip tl_layout_strip_at(const tl_layout_job *job, size_t unit)
{
    const size_t block = unit / job->strips, begin = unit % job->strips * TL_LAYOUT_STRIP;
    const size_t b = block % job->blocks, image = block / job->blocks;
    return (tl_layout_strip){.plane = (image * job->channels + b * TL_BLOCK) * job->pixels,
                             .block = block * job->pixels * TL_BLOCK,
                             .begin = begin,
                             .end = tl_min_size(begin + TL_LAYOUT_STRIP, job->pixels),
                             .lanes = tl_min(TL_BLOCK, job->channels - (int)b * TL_BLOCK)};
}

/** Converts the strips begin .. end-1, counted over all blocks, for the tl_layout_job at `arg`. */
typedef void tl_layout_func(void *arg, size_t begin, size_t end);

#define TL_FROM_BLOCKED_KERNELS(ROW, arg)            \
    TL_KERNELS(ROW, arg, tl_from_blocked, F32, BOTH) \
    TL_KERNELS(ROW, arg, tl_from_blocked, U8, BOTH)
TL_FROM_BLOCKED_KERNELS(TL_KERNEL_DECLARE, tl_layout_func)

#define TL_TO_BLOCKED_KERNELS(ROW, arg)            \
    TL_KERNELS(ROW, arg, tl_to_blocked, F32, BOTH) \
    TL_KERNELS(ROW, arg, tl_to_blocked, U8, BOTH)
TL_TO_BLOCKED_KERNELS(TL_KERNEL_DECLARE, tl_layout_func)
