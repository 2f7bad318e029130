// SPDX-License-Identifier: Apache-2.0
// Kernels of the changes between planes and blocks of channels (tl_blocked.h).

#ifndef BLOCKED_H
#define BLOCKED_H

#include <stddef.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"

/** Planes [blocks * lanes or less, pixels] on one side, [blocks, pixels, 16] on the other, of the
 *  kernel's type. */
typedef struct tl_turn_job {
    const void *src;
    void *dst;
    int channels, blocks; // of an image
    size_t pixels;        // of a plane
    size_t strips;        // of a plane: of TL_TURN_STRIP pixels, the last one of fewer
} tl_turn_job;

enum { TL_TURN_STRIP = 512 };

/** A strip of pixels of one block. */
typedef struct tl_turn_strip {
    size_t plane, block; // where its first plane and its block are, in elements
    size_t begin, end;   // pixels
    int lanes;           // that are channels
} tl_turn_strip;

static inline tl_turn_strip tl_turn_strip_at(const tl_turn_job *job, size_t unit)
{
    const size_t block = unit / job->strips, begin = unit % job->strips * TL_TURN_STRIP;
    const size_t b = block % job->blocks, image = block / job->blocks;
    return (tl_turn_strip){.plane = (image * job->channels + b * TL_BLOCK) * job->pixels,
                           .block = block * job->pixels * TL_BLOCK,
                           .begin = begin,
                           .end = tl_min_size(begin + TL_TURN_STRIP, job->pixels),
                           .lanes = tl_min(TL_BLOCK, job->channels - (int)b * TL_BLOCK)};
}

/** Turns the strips begin .. end-1, counted over all blocks, for the tl_turn_job at `arg`. */
typedef void tl_turn_func(void *arg, size_t begin, size_t end);

#define TL_FROM_BLOCKED_KERNELS(ROW, arg)            \
    TL_KERNELS(ROW, arg, tl_from_blocked, F32, BOTH) \
    TL_KERNELS(ROW, arg, tl_from_blocked, U8, BOTH)
TL_FROM_BLOCKED_KERNELS(TL_KERNEL_DECLARE, tl_turn_func)

#define TL_TO_BLOCKED_KERNELS(ROW, arg)            \
    TL_KERNELS(ROW, arg, tl_to_blocked, F32, BOTH) \
    TL_KERNELS(ROW, arg, tl_to_blocked, U8, BOTH)
TL_TO_BLOCKED_KERNELS(TL_KERNEL_DECLARE, tl_turn_func)

#endif
