// SPDX-License-Identifier: Apache-2.0
// Copies of elements: blocks of bytes with constant strides.
//
// Every slice, concatenation, stacking and repetition is such a copy: along `axis` a tensor is `n`
// = the product of the dims before it, blocks, each dims[axis] * (the product of the dims after it)
// elements long.
//
//     src  |aaaaaa|bbbbbb|     n = 2, size = 3 elements, src_stride = 6, dst_stride = 3:
//     dst  |aaa|bbb|           a slice of 3 from 0 on

#pragma once

#include "tensorlight/tl_tensor.h"

/** Memory with blocks `stride` bytes apart. */
typedef struct tl_strided {
    void *data;
    ptrdiff_t stride;
} tl_strided;

/** Copies `n` blocks of `size` bytes; a src stride of 0 repeats one block. They do not overlap. The
 * second one does so in this thread. */
void tl_move_blocks(const tl_exec *exec, tl_strided dst, tl_strided src, size_t n, size_t size);
void tl_copy_blocks(tl_strided dst, tl_strided src, size_t n, size_t size);
