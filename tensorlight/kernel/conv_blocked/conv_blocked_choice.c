// SPDX-License-Identifier: Apache-2.0
// Whether a convolution of few channels is faster in blocks: a model of the costs.

#include "kernel/conv_blocked/conv_blocked_plan.h"
#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"

// Costs are counted in multiply-accumulates of TL_BLOCK floats, of two blocks of results in turns,
// as those of Winograd's algorithm are.
enum {
    TILE_COST = 2,    // of a source lane and a tap: one block of results needs as long as two
    SHARED_COST = 3,  // the same with lanes broadcast within groups
    RESULT_COST = 20, // to store a block of a result, and to change its layout unless neighbours
                      // are in blocks
    LINE_COST = 200,  // to begin a line of a block of results, of each grid

    PLAIN_ROW_COST = 40, // to begin a row of products with a tap of PLAIN_PLANES channels
    PLAIN_PLANES = 4,
};
static const double plain_vector_cost = 0.5, // of one plain product among neighbours
    plain_stepped_cost = 3.5;                // where a stride leaves no vectors of them

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
    if (s->groups.shared)
        return (double)n_blocks * s->groups.shared * SHARED_COST;
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

// Along an axis, how often a tap meets the image: plain sums have products of no others.
static double meetings(const shape *s, int axis)
{
    // The position of tap t of a window at j: in the source or, transposed, in the result.
    const int64_t windows = (s->is_transposed ? s->src : s->dst)[2 + axis];
    const int64_t places = (s->is_transposed ? s->dst : s->src)[2 + axis];
    const int64_t stride = s->param->stride[axis];
    double n = 0;
    for (int t = 0; t < s->param->size[axis]; t++) {
        const int64_t at = (int64_t)t * s->param->dilation[axis] - s->param->padding[axis];
        const int64_t begin = at < 0 ? (-at + stride - 1) / stride : 0;
        const int64_t end = at < places ? (places - at + stride - 1) / stride : 0;
        const int64_t last = end < windows ? end : windows;
        n += last > begin ? (double)(last - begin) : 0;
    }
    return n;
}

static double plain_cost(const shape *s)
{
    const int ic = s->groups.in;
    const double planes = (double)s->dst[0] * s->dst[1];
    const double rows = planes * meetings(s, 0); // of each column of taps
    const double product = s->param->stride[1] > 1 ? plain_stepped_cost : plain_vector_cost;
    return rows * meetings(s, 1) * ic * product +
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
