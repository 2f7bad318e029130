// SPDX-License-Identifier: Apache-2.0
// A cost model: whether a convolution of few channels is faster in the blocked layout.

#include "kernel/conv_blocked/conv_blocked_plan.h"
#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"

// The unit is a multiply-accumulate of TL_BLOCK floats in a tile of two blocks of results, as in
// winograd_blocked_choice.c.
enum {
    TILE_COST = 2,    // per source lane and tap; a tile of one block takes as long as one of two
    GROUPED_COST = 3, // the same with several groups in a block (tl_tile_job.group_lanes)
    RESULT_COST = 20, // to store a block of a result, and to convert its layout, which adjacent
                      // operators in the blocked layout make unnecessary
    LINE_COST = 200,  // overhead of a line of a block of results, of each grid

    PLAIN_ROW_COST = 40, // overhead of a row that is multiplied by a tap of PLAIN_PLANES channels
    PLAIN_PLANES = 4,
};
static const double plain_vector_cost = 0.5, // a multiply-accumulate of convnd.c, vectorized
    plain_strided_cost = 3.5;                // and one of a strided row, not vectorized

typedef struct shape {
    const int *src, *dst; // [N, C, H, W]
    const tl_conv2d_param *param;
    tl_conv_groups groups;
    int is_transposed;
} shape;

static double tiles_cost(const shape *s)
{
    const int n_blocks = tl_blocks(s->dst[1]);
    double cost = 0;
    if (s->groups.group_lanes)
        return (double)n_blocks * s->groups.group_lanes * GROUPED_COST;
    for (int b = 0, n = 0; b < n_blocks; b += n) {
        n = b + 1 < n_blocks && tl_conv_is_pair(&s->groups, b) ? 2 : 1;
        const tl_conv_span span = tl_conv_span_of(&s->groups, b, 1);
        cost += (double)(span.channels - span.first) * TILE_COST;
    }
    return cost;
}

static double blocked_cost(const shape *s)
{
    const int *const stride = s->param->stride, *const size = s->param->size;
    const double n_blocks = tl_blocks(s->dst[1]), lines = (double)s->dst[0] * s->dst[2];
    const double grids = s->is_transposed ? (double)stride[0] * stride[1] : 1;
    const double taps = (double)size[0] * size[1] / grids; // of a result
    return lines * s->dst[3] * (tiles_cost(s) * taps + RESULT_COST * n_blocks) +
           lines * (s->is_transposed ? stride[1] : 1) * LINE_COST * n_blocks;
}

// The number of (window, tap) pairs inside the image along an axis: convnd.c skips all others.
static double count_inside(const shape *s, int axis)
{
    // The position of tap t of a window at j: in the source or, transposed, in the result.
    const int64_t windows = (s->is_transposed ? s->src : s->dst)[2 + axis];
    const int64_t positions = (s->is_transposed ? s->dst : s->src)[2 + axis];
    const int64_t stride = s->param->stride[axis];
    double n = 0;
    for (int t = 0; t < s->param->size[axis]; t++) {
        const int64_t at = (int64_t)t * s->param->dilation[axis] - s->param->padding[axis];
        const int64_t begin = at < 0 ? (-at + stride - 1) / stride : 0;
        const int64_t end = at < positions ? (positions - at + stride - 1) / stride : 0;
        const int64_t last = end < windows ? end : windows;
        n += last > begin ? (double)(last - begin) : 0;
    }
    return n;
}

static double plain_cost(const shape *s)
{
    const int ic = s->groups.in;
    const double planes = (double)s->dst[0] * s->dst[1];
    const double rows = planes * count_inside(s, 0); // of each column of taps
    const double product = s->param->stride[1] > 1 ? plain_strided_cost : plain_vector_cost;
    return rows * count_inside(s, 1) * ic * product +
           rows * s->param->size[1] * (double)tl_ceil_div(ic, PLAIN_PLANES) * PLAIN_ROW_COST +
           planes * s->dst[2] * s->dst[3];
}

static int pays(const int src[4], const int dst[4], const tl_conv2d_param *param, int is_transposed)
{
    const shape s = {.src = src,
                     .dst = dst,
                     .param = param,
                     .groups = tl_conv_groups_of((int[]){src[1], dst[1]}, param->group),
                     .is_transposed = is_transposed};
    return blocked_cost(&s) < plain_cost(&s);
}

int tl_blocked_conv2d_pays(const int src[4], const int dst[4], const tl_conv2d_param *param)
{
    return pays(src, dst, param, 0);
}

int tl_blocked_deconv2d_pays(const int src[4], const int dst[4], const tl_conv2d_param *param)
{
    return pays(src, dst, param, 1);
}
