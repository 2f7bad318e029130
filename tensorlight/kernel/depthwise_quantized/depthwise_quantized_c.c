// SPDX-License-Identifier: Apache-2.0
// Windows over single channels of 8-bit images in plain C: the definition.

#include <string.h>

#include "kernel/conv_quantized/requantize_c.h"
#include "kernel/depthwise_quantized/depthwise_quantized.h"

// A window: its plane, its first row and column, and the zero points of its weights.
typedef struct window {
    const uint8_t *plane;
    int64_t top, left;
    int32_t zeros[TL_BLOCK];
} window;

// The pixel under a tap; NULL in the padding.
static const uint8_t *pixel_at(const tl_depthwise_job *job, const window *w, int ky, int kx)
{
    const int64_t y = w->top + (int64_t)ky * job->dilation[0];
    const int64_t x = w->left + (int64_t)kx * job->dilation[1];
    if (y < 0 || y >= job->ih || x < 0 || x >= job->iw)
        return NULL;
    return w->plane + (y * job->iw + x) * TL_BLOCK;
}

// sum[c] += the products of channel c, less the zero point of its weights times the source less
// its own.
static void add_products(const tl_depthwise_job *job, const window *w, const int8_t *weight,
                         uint32_t *sum)
{
    const int quads = tl_depthwise_u8_quads(job->size[1]);
    for (int ky = 0; ky < job->size[0]; ky++)
        for (int kx = 0; kx < job->size[1]; kx++) {
            const uint8_t *const pixel = pixel_at(job, w, ky, kx);
            const int8_t *const quad =
                weight + ((size_t)ky * quads + kx / TL_QUAD) * TL_BLOCK * TL_QUAD + kx % TL_QUAD;
            for (int c = 0; c < TL_BLOCK; c++) {
                const int x = pixel ? pixel[c] : job->q.zero;
                sum[c] += (uint32_t)(x * quad[c * TL_QUAD] - (x - job->q.zero) * w->zeros[c]);
            }
        }
}

// sum[c] += the elements of channel c; max[c] becomes the largest.
static void add_pixels(const tl_depthwise_job *job, const window *w, int32_t *sum, uint8_t *max)
{
    for (int ky = 0; ky < job->size[0]; ky++)
        for (int kx = 0; kx < job->size[1]; kx++) {
            const uint8_t *const pixel = pixel_at(job, w, ky, kx);
            for (int c = 0; pixel && c < TL_BLOCK; c++) {
                sum[c] += pixel[c] - job->q.zero;
                max[c] = max[c] > pixel[c] ? max[c] : pixel[c];
            }
        }
}

// The means of the sums, times q.scale.
static void find_means(const tl_depthwise_job *job, const window *w, const int32_t *sum, float *v)
{
    const float count =
        (float)(tl_depthwise_count(w->top, job->size[0], job->begin[0], job->end[0]) *
                tl_depthwise_count(w->left, job->size[1], job->begin[1], job->end[1]));
    for (int c = 0; c < TL_BLOCK; c++) {
        const float mean = (float)sum[c] / count;
        v[c] = mean * job->q.scale;
    }
}

// Writes a pixel of floats, at element `at` of dst.
static void finish(const tl_depthwise_job *job, float *v, size_t at)
{
    tl_quantized_finish_c(&job->q, job->act_exec, v, job->dtype == TL_FLOAT, job->dst, at);
}

static void run_conv(const tl_depthwise_job *job, const window *w, const int8_t *row, size_t at)
{
    float v[TL_BLOCK];
    tl_quantized_head head;
    memcpy(&head, row, sizeof(head));
    uint32_t sum[TL_BLOCK] = {0};
    add_products(job, w, row + sizeof(head), sum);
    if (job->dtype == TL_INT32) {
        for (int c = 0; c < TL_BLOCK; c++)
            ((uint32_t *)job->dst)[at + c] = sum[c] + tl_quantized_start_c(&head, &job->q, c);
        return;
    }
    tl_quantized_values_c(&head, &job->q, sum, v);
    finish(job, v, at);
}

// The result of one window, at element `at` of dst.
static void run_window(const tl_depthwise_job *job, const window *w, const int8_t *row, size_t at)
{
    float v[TL_BLOCK];
    int32_t sum[TL_BLOCK] = {0};
    uint8_t max[TL_BLOCK] = {0};
    if (job->kind == TL_DEPTHWISE_CONV) {
        run_conv(job, w, row, at);
        return;
    }
    add_pixels(job, w, sum, max);
    if (job->kind == TL_DEPTHWISE_MAX) {
        memcpy((uint8_t *)job->dst + at, max, sizeof(max));
        return;
    }
    find_means(job, w, sum, v);
    finish(job, v, at);
}

void tl_depthwise_u8_c(void *arg, size_t begin, size_t end)
{
    const tl_depthwise_job *const job = arg;
    for (size_t u = begin; u < end; u++) {
        const size_t plane = u / job->oh;
        window w = {.plane = (const uint8_t *)job->src + plane * job->ih * job->iw * TL_BLOCK,
                    .top = (int64_t)(u % job->oh) * job->stride[0] - job->padding[0],
                    .left = -(int64_t)job->padding[1]};
        tl_depthwise_u8_zeros(job, (int)(plane % job->blocks), w.zeros);
        const int8_t *const row =
            job->weight ? (const int8_t *)job->weight + plane % job->blocks * job->row : NULL;
        for (int x = 0; x < job->ow; x++, w.left += job->stride[1])
            run_window(job, &w, row, (u * job->ow + x) * TL_BLOCK);
    }
}
