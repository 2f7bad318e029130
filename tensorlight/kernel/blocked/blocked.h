// SPDX-License-Identifier: Apache-2.0
// Kernels of the changes between planes and blocks of channels (tl_blocked.h).

#ifndef BLOCKED_H
#define BLOCKED_H

#include <stddef.h>

#include "kernel/tl_kernel.h"

/** Planes [blocks * lanes or less, pixels] on one side, [blocks, pixels, 16] on the other. */
typedef struct tl_turn_job {
    const float *src;
    float *dst;
    int channels, blocks; /* of an image */
    size_t pixels;        /* of a plane */
    size_t strips;        /* of a plane: of TL_TURN_STRIP pixels, the last one of fewer */
} tl_turn_job;

enum { TL_TURN_STRIP = 512 };

/** Turns the strips begin .. end-1, counted over all blocks, for the tl_turn_job at `arg`. */
typedef void tl_turn_func(void *arg, size_t begin, size_t end);

#define TL_KERNEL(name, dtype, isa) TL_KERNEL_DECLARE(tl_turn_func, name, dtype, isa)
#include "kernel/blocked/from_blocked.def"
#include "kernel/blocked/to_blocked.def"
#undef TL_KERNEL

#endif
