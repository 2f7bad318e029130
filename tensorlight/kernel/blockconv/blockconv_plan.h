// SPDX-License-Identifier: Apache-2.0
// Shared by packing and computing a convolution: the source channels of each block of the result,
// and the order of the taps.

#ifndef BLOCKCONV_PLAN_H
#define BLOCKCONV_PLAN_H

#include "tensorlight/tl_blocked.h"

/** The channels of source and result, in groups. */
typedef struct tl_conv_groups {
    int n;
    int in, out; /* of a group */
    int all_out; /* 0: unknown, where there is one group */
    int shared;  /* of tl_tile_job */
} tl_conv_groups;

tl_conv_groups tl_conv_groups_of(const int channels[2], int group);

/** The source channels that a block of the result is summed from. */
typedef struct tl_conv_span {
    int block;           /* where the first one is */
    int first, channels; /* they are first .. channels-1 of those from that block on */
} tl_conv_span;

/** Of `n_blocks` blocks from `block` on; channels of other groups in that range have weight
 * 0. */
tl_conv_span tl_conv_span_of(const tl_conv_groups *g, int block, int n_blocks);

/** The max number of source channels over all units of `n_blocks` blocks. */
int tl_conv_most_channels(const tl_conv_groups *g, int n_blocks);

/** Whether `block` and the next one are summed from the same channels: a tile has both. */
int tl_conv_is_pair(const tl_conv_groups *g, int block);

/** The taps of a window. A transposed convolution makes every stride[0]-th line and stride[1]-th
 *  column of its result with the same taps: a grid of results. A convolution has one grid. */
typedef struct tl_conv_taps {
    int n;                      /* of all grids */
    int order[TL_BLOCKED_TAPS]; /* the taps, y * KW + x, grid by grid */
    int n_grids;                /* grid g has the taps whose distance from the first one leaves the
                                   remainders g / stride[1] and g % stride[1] */
    int end[TL_BLOCKED_GRIDS];  /* of each grid: what follows its last tap in `order` */
} tl_conv_taps;

/** Of a transposed convolution, or of a convolution. */
void tl_conv_taps_of(tl_conv_taps *taps, const tl_conv2d_param *param, int is_transposed);

#endif
