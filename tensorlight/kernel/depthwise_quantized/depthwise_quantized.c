// SPDX-License-Identifier: Apache-2.0
// Windows over single channels of 8-bit images: weights packed, parameters prepared, threads.

#include "kernel/depthwise_quantized/depthwise_quantized.h"

#include <assert.h>
#include <string.h>

#include "kernel/act/act.h"
#include "kernel/tl_axis.h"

TL_KERNEL_TABLE(pick, tl_depthwise_func, TL_DEPTHWISE_U8_KERNELS)

// Packing

size_t tl_quantized_depthwise2d_packed(const int size[2])
{
    return sizeof(tl_quantized_head) +
           (size_t)size[0] * tl_depthwise_u8_quads(size[1]) * TL_BLOCK * TL_QUAD;
}

// The channel's values in `head`, its weights after it, at `row`.
static void pack_channel(const tl_tensor *weight, int c, int8_t *row, tl_quantized_head *head)
{
    const int width = weight->dims[3], taps = weight->dims[2] * width;
    const int quads = tl_depthwise_u8_quads(width), lane = c % TL_BLOCK;
    const int8_t *const from = (const int8_t *)weight->data + (size_t)c * taps;
    for (int t = 0; t < taps; t++) {
        const size_t quad = (size_t)(t / width) * quads + t % width / TL_QUAD;
        row[(quad * TL_BLOCK + lane) * TL_QUAD + t % width % TL_QUAD] = from[t];
        head->weight_sum[lane] += from[t];
    }
}

int tl_exec_quantized_depthwise2d_pack(const tl_exec *exec, const tl_tensor *weight,
                                       const tl_tensor *bias, const tl_tensor *factor,
                                       const tl_tensor *addend, tl_tensor *dst)
{
    (void)exec; // little work, once
    const int channels = weight->dims[0], blocks = tl_blocks(channels);
    const size_t packed = tl_quantized_depthwise2d_packed(weight->dims + 2);
    assert(weight->dtype == TL_INT8 && weight->ndim == 4 && weight->dims[1] == 1);
    assert(dst->dtype == TL_INT8 && (size_t)dst->len == blocks * packed);
    memset(dst->data, 0, tl_tensor_size(dst));
    for (int b = 0; b < blocks; b++) {
        int8_t *const row = (int8_t *)dst->data + b * packed;
        tl_quantized_head head;
        tl_quantized_head_fill(&head, b * TL_BLOCK, channels, bias, factor, addend);
        for (int c = b * TL_BLOCK; c < channels && c < (b + 1) * TL_BLOCK; c++)
            pack_channel(weight, c, row + sizeof(head), &head);
        memcpy(row, &head, sizeof(head));
    }
    return 0;
}

// Computing

static tl_depthwise_job job_of(tl_depthwise_kind kind, const tl_tensor *src, tl_tensor *dst)
{
    assert(src->dtype == TL_UINT8);
    assert(dst->dtype == TL_UINT8 || dst->dtype == TL_FLOAT ||
           (dst->dtype == TL_INT32 && kind == TL_DEPTHWISE_CONV));
    return tl_depthwise_job_of(kind, src, dst);
}

static void run(const tl_exec *exec, tl_depthwise_job *job, const tl_tensor *dst)
{
    const tl_exec act_exec = {.isa = exec ? exec->isa : tl_isa_best()};
    const size_t lines = (size_t)dst->dims[0] * dst->dims[1] * dst->dims[2];
    const size_t cost = (size_t)job->size[0] * job->size[1] * job->ow * (TL_BLOCK / 4);
    job->act_exec = &act_exec;
    tl_act_bounds(job->q.act, &job->low, &job->high);
    job->bounds[0] = tl_quantized_byte(&job->q, job->low);
    job->bounds[1] = tl_quantized_byte(&job->q, job->high);
    tl_parallel(exec, lines, tl_axis_grain(cost), pick(exec, TL_UINT8), job);
}

int tl_exec_quantized_depthwise2d(const tl_exec *exec, const tl_tensor *src,
                                  const tl_tensor *weight, tl_tensor *dst,
                                  const tl_conv2d_param *param, const tl_quantized_param *q)
{
    tl_depthwise_job job = job_of(TL_DEPTHWISE_CONV, src, dst);
    job.weight = weight->data;
    job.row = tl_quantized_depthwise2d_packed(param->size);
    assert(weight->dtype == TL_INT8 && (size_t)weight->len == job.blocks * job.row);
    job.q = *q;
    if (dst->dtype == TL_INT32) // sums, which have no activation
        job.q.act = (tl_activation){TL_ACT_NONE, 0, 0};
    tl_depthwise_set_conv(&job, param);
    run(exec, &job, dst);
    return 0;
}

int tl_exec_quantized_maxpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                const tl_pool2d_param *param)
{
    assert(dst->dtype == TL_UINT8);
    tl_depthwise_job job = job_of(TL_DEPTHWISE_MAX, src, dst);
    tl_depthwise_set_pool(&job, param, 0);
    run(exec, &job, dst);
    return 0;
}

int tl_exec_quantized_avgpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                                const tl_pool2d_param *param, int counts_padding,
                                const tl_quantized_param *q)
{
    tl_depthwise_job job = job_of(TL_DEPTHWISE_MEAN, src, dst);
    job.q = *q;
    tl_depthwise_set_pool(&job, param, counts_padding);
    run(exec, &job, dst);
    return 0;
}
