// SPDX-License-Identifier: Apache-2.0
// 8-bit convolutions: as those of floats (conv_blocked.c), with other kernels of lines.

#include "kernel/conv_quantized/conv_quantized.h"

#include <assert.h>

#include "kernel/act/act.h"
#include "kernel/conv_blocked/conv_blocked_plan.h"

TL_KERNEL_TABLE(pick, const tl_quad_kernel, TL_QUANTIZED_KERNELS)
TL_KERNEL_TABLE(pick_tiles, const tl_quad_kernel, TL_QUANTIZED_TILES)

const tl_quad_kernel *tl_quad_kernel_for(const tl_exec *exec)
{
    return pick(exec, TL_UINT8);
}

const tl_quad_kernel *tl_quad_tiles_for(const tl_exec *exec)
{
    return pick_tiles(exec, TL_UINT8);
}

tl_quad_job tl_quad_job_of(const tl_tensor *weight, const tl_tensor *dst,
                           const tl_quantized_param *q)
{
    assert(weight->dtype == TL_INT8 && weight->ndim >= 2);
    assert(dst->dtype == TL_FLOAT || dst->dtype == TL_UINT8 || dst->dtype == TL_INT32);
    tl_quad_job job = {.weight_step = (size_t)weight->dims[weight->ndim - 1],
                       .dtype = dst->dtype,
                       .q = *q,
                       .zeros = {.zero = q->weight_zero}};
    tl_act_bounds(q->act, &job.low, &job.high);
    return job;
}

typedef struct lines {
    tl_quad_line_func *line;
    tl_quad_job job;
    const int8_t *weight;
    char *dst;
    size_t dst_size; // bytes of an element
    size_t pixels;   // of a block of the result
    size_t blocks;   // of an image of the result
} lines;

// The zero points and sums of the line that begins at element `dst_offset` of the result.
static tl_quad_zeros zeros_at(const lines *l, int block, size_t dst_offset)
{
    tl_quad_zeros z = l->job.zeros;
    const size_t pixel = dst_offset / TL_BLOCK;
    z.channel = block * TL_BLOCK;
    if (z.sums)
        z.sums += pixel / (l->pixels * l->blocks) * l->pixels + pixel % l->pixels;
    return z;
}

static void run_line(const void *arg, const tl_tile_job *tile, const void *src, int block,
                     size_t weight_offset, size_t dst_offset, int n, int n_blocks)
{
    const lines *const l = arg;
    tl_quad_job job = l->job;
    tl_quad_job_set_channels(&job, tile->channels); // those before tile->first have weight 0
    job.src_block_step = tile->src_block_step;
    job.n_taps = tile->n_taps;
    job.taps = tile->taps;
    job.dst_block_step = tile->dst_block_step;
    job.dst_step = tile->dst_step;
    job.zeros = zeros_at(l, block, dst_offset);
    const int pixel = tl_quad_pixel(tile->channels);
    job.area = (tl_quad_area){pixel, (size_t)pixel * (size_t)tile->src_step, tile->n_lines,
                              tile->src_line_step, tile->dst_line_step};
    l->line(&job, src, l->weight + block * job.weight_step + weight_offset,
            l->dst + dst_offset * l->dst_size, n, n_blocks, TL_BLOCK);
}

static void widen_pixels(void *dst, const void *src, size_t n, size_t step)
{
    for (size_t i = 0; i < n; i++)
        tl_quad_widen((uint8_t *)dst + i * 2 * TL_BLOCK,
                      (const uint8_t *)src + i * step * TL_BLOCK);
}

static tl_conv_kind kind_of(const tl_conv2d_param *param, const int channels[2], int is_transposed,
                            const tl_quad_kernel *kernel)
{
    const tl_quad_row row = tl_quad_row_of(channels, param, is_transposed);
    const int in = channels[0] / param->group, is_tiled = kernel->is_tiled;
    return (tl_conv_kind){.size = (size_t)kernel->bytes,
                          .widen = kernel->bytes > 1 ? widen_pixels : NULL,
                          .lanes = is_tiled ? tl_quad_pixel(in) : TL_BLOCK,
                          .joined = is_tiled ? tl_quad_groups_of(in).blocks : 0,
                          .block_bytes = TL_BLOCK,
                          .is_area = is_tiled,
                          .row_len = row.size,
                          .head_len = sizeof(tl_quantized_head),
                          .tap_len = row.tap,
                          .is_transposed = is_transposed,
                          .line = run_line};
}

// Whether the channels of each group, and the results of a line, fill tiles.
static int fills_tiles(const tl_tensor *dst, const tl_conv2d_param *param, const int channels[2],
                       int is_transposed)
{
    const int in = channels[0] / param->group, out = channels[1] / param->group;
    const tl_quad_groups g = tl_quad_groups_of(in);
    if (param->group > 1 && (g.n * g.blocks * TL_BLOCK != in || out % TL_BLOCK != 0))
        return 0;
    const int stride = is_transposed ? param->stride[1] : 1;
    return in > 0 && tl_conv_line(param, dst->dims) / stride >= TL_AREA_PIXELS;
}

size_t tl_quantized_conv2d_scratch(const tl_tensor *src, const tl_tensor *dst,
                                   const tl_conv2d_param *param, const int channels[2],
                                   int is_transposed, int threads)
{
    static const tl_quad_kernel kernels[] = {
        {.bytes = 1}, {.bytes = 2}, {.bytes = 1, .is_tiled = 1}};
    size_t max = 0; // of all kernels: the one that will run is unknown
    for (int i = 0; i < 2 + fills_tiles(dst, param, channels, is_transposed); i++) {
        const tl_conv_kind kind = kind_of(param, channels, is_transposed, &kernels[i]);
        const size_t size = tl_conv_scratch(&kind, src, dst, param, channels, threads);
        max = size > max ? size : max;
    }
    return max;
}

size_t tl_quantized_conv2d_sums(const tl_tensor *src, const tl_tensor *dst, int group)
{
    const int *const s = src->dims, *const d = dst->dims;
    return tl_quad_sums_size((size_t)group, (size_t)s[0] * s[2] * s[3], (size_t)d[0] * d[2] * d[3]);
}

// Writes the sums that zero points of weights multiply to the start of the scratch memory.
static int sum_windows(const tl_exec *exec, const tl_tensor *src, const tl_tensor *dst,
                       const tl_conv2d_param *param, const int channels[2], tl_quad_job *job,
                       tl_exec *rest)
{
    if (tl_quad_split_scratch(exec, tl_quantized_conv2d_sums(src, dst, param->group), rest) < 0)
        return -1;
    const tl_conv_groups g = tl_conv_groups_of(channels, param->group);
    job->zeros.sums = exec->scratch;
    job->zeros.group_step = (size_t)dst->dims[0] * dst->dims[2] * dst->dims[3];
    job->zeros.outputs = g.n > 1 ? g.out * g.n : dst->dims[1] * TL_BLOCK;
    job->zeros.group = g.n > 1 ? g.out : job->zeros.outputs;
    tl_quad_sum_windows(exec, src, dst, param, channels, job->q.zero, exec->scratch);
    return 0;
}

static const tl_quad_kernel *kernel_for(const tl_exec *exec, const tl_tensor *dst,
                                        const tl_conv2d_param *param, const int channels[2],
                                        int is_transposed)
{
    const tl_quad_kernel *const tiles = tl_quad_tiles_for(exec);
    return tiles && fills_tiles(dst, param, channels, is_transposed) ? tiles
                                                                     : tl_quad_kernel_for(exec);
}

int tl_exec_quantized_conv2d(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                             tl_tensor *dst, const tl_conv2d_param *param, const int channels[2],
                             int is_transposed, const tl_quantized_param *q)
{
    assert(src->dtype == TL_UINT8 && src->ndim == 5 && dst->ndim == 5);
    assert(!is_transposed || param->stride[0] * param->stride[1] <= TL_BLOCKED_GRIDS);
    const tl_quad_kernel *const kernel = kernel_for(exec, dst, param, channels, is_transposed);
    lines l = {
        kernel->line,           tl_quad_job_of(weight, dst, q),      weight->data,        dst->data,
        tl_size_of(dst->dtype), (size_t)dst->dims[2] * dst->dims[3], (size_t)dst->dims[1]};
    tl_exec rest;
    if (q->weight_zero && dst->len > 0) {
        assert(!is_transposed);
        if (sum_windows(exec, src, dst, param, channels, &l.job, &rest) < 0)
            return -1;
        exec = &rest;
    }
    tl_conv2d_param p = *param;
    p.act = (tl_activation){TL_ACT_NONE, 0, 0}; // not read
    tl_conv_kind kind = kind_of(&p, channels, is_transposed, kernel);
    kind.fill = q->zero;
    kind.arg = &l;
    return tl_conv_run(exec, &kind, src, dst, &p, channels);
}
