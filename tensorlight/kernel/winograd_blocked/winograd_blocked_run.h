// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution in the blocked layout, for all element types: partition of the work, and
// offsets of patches and results. See winograd_blocked.h for the algorithm.
//
// A unit is some tiles by some blocks of output channels. The patches of its tiles are transformed
// once; then two blocks at a time are multiplied, at all points, and transformed to results.

#pragma once

#include <stddef.h>

#include "kernel/tl_kernel.h"
#include "tensorlight/tl_blocked.h"

enum { TL_WINO_PRODUCT = 4 /* bytes of a product: a float, or an integer of 32 bits */ };

typedef struct tl_wino tl_wino;

/** `n` adjacent tiles: their first result is element `offset` of dst, and together they have
 * `rows` x `cols` pixels. */
typedef struct tl_wino_span {
    size_t offset;
    int n, rows, cols;
} tl_wino_span;

/** The parts that depend on the element type. Steps are in elements. */
typedef struct tl_wino_kind {
    int m;             // the extent of a tile
    size_t size;       // bytes of an element of the source
    size_t point_size; // and of a transformed one
    int fill;          // the value of each byte of padding
    int groups;        // of source channels, whose products are separate
    size_t row;        // transformed elements of the packed weights of a block
    /** Transforms a block of a patch, m + 2 rows `row` apart, to a vector of TL_BLOCK elements for
     *  each point, source_step apart. */
    void (*source)(const tl_wino *w, const void *patch, size_t row, void *dst);
    /** Multiplies `n` tiles, [point][block][tile][TL_BLOCK] at `source`, by the weights of
     *  `n_blocks` blocks of output channels from `block` on: products
     *  [group][point][block][tile][TL_BLOCK], product_step between points. */
    void (*multiply)(const tl_wino *w, const void *source, int n, int block, int n_blocks,
                     void *products);
    /** Transforms the products of tiles of a block, side by side at `products`, to results. */
    void (*result)(const tl_wino *w, const void *products, int block, const tl_wino_span *span);
    const void *arg;
} tl_wino_kind;

/** A convolution, divided into units. */
struct tl_wino {
    const tl_wino_kind *kind;
    int t; // the extent of a patch
    int blocks_in, ih, iw;
    int blocks_out, oh, ow;
    int top, left;      // padding
    int lines, columns; // of tiles in an image
    size_t n_tiles;     // of all images, counted line by line
    int tiles_per_unit, tile_units;
    int blocks_per_unit, block_units;
    size_t source_step, product_step; // elements from a point to the next
    size_t slot_size; // bytes of a slot's scratch: the transformed source, and the products
    const char *src;
    char *scratch;
    size_t transformed[TL_MAX_SLOTS]; // 1 + the tile that a slot's scratch begins with, 0: none
};

/** Points along both axes for tiles of `m` x `m` results. */
static inline size_t tl_wino_n_points(int m)
{
    return (size_t)(m + 2) * (m + 2);
}

/** Bytes of scratch memory for `threads` threads; SIZE_MAX: larger than the address space. */
size_t tl_wino_scratch(const tl_wino_kind *kind, const tl_tensor *src, const tl_tensor *dst,
                       int threads);

/** The same for as many images as src has, or fewer. */
size_t tl_wino_batch_scratch(const tl_wino_kind *kind, const tl_tensor *src, const tl_tensor *dst,
                             int threads);

/** -1 with a reason when exec is NULL or has less scratch memory than for one thread. */
int tl_wino_run(const tl_exec *exec, const tl_wino_kind *kind, const tl_tensor *src,
                const tl_tensor *dst, const tl_conv2d_param *param);
