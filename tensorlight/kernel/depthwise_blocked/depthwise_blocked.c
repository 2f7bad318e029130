// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution and pooling in the blocked layout: packed weights, parameters, threads.

#include "kernel/depthwise_blocked/depthwise_blocked.h"

#include <assert.h>
#include <math.h>

#include "kernel/act/act.h"
#include "kernel/tl_axis.h"

TL_KERNEL_TABLE(pick, tl_depthwise_func, TL_DEPTHWISE_KERNELS)

// Packing

size_t tl_blocked_depthwise_packed(const int size[2])
{
    return TL_BLOCK + (size_t)size[0] * size[1] * TL_BLOCK;
}

int tl_exec_blocked_depthwise_pack(const tl_exec *exec, const tl_tensor *weight,
                                   const tl_tensor *bias, tl_tensor *dst)
{
    (void)exec; // little work, once
    const int channels = weight->dims[0], blocks = tl_blocks(channels);
    const int taps = weight->dims[2] * weight->dims[3];
    const size_t packed = tl_blocked_depthwise_packed(weight->dims + 2);
    assert(weight->dtype == TL_FLOAT && weight->ndim == 4 && weight->dims[1] == 1);
    assert((size_t)dst->len == blocks * packed);
    const float *const w = weight->data, *const b = bias ? bias->data : NULL;
    for (int c = 0; c < blocks * TL_BLOCK; c++) {
        float *to = (float *)dst->data + c / TL_BLOCK * packed + c % TL_BLOCK;
        *to = b && c < channels ? b[c] : 0;
        for (int t = 0; t < taps; t++)
            *(to += TL_BLOCK) = c < channels ? w[(size_t)c * taps + t] : 0;
    }
    return 0;
}

// Computing

tl_depthwise_job tl_depthwise_job_of(tl_depthwise_kind kind, const tl_tensor *src, tl_tensor *dst)
{
    assert(src->ndim == 5 && dst->ndim == 5);
    assert(src->dims[0] == dst->dims[0] && src->dims[1] == dst->dims[1]);
    assert(src->dims[4] == TL_BLOCK && dst->dims[4] == TL_BLOCK);
    return (tl_depthwise_job){.kind = kind,
                              .src = src->data,
                              .dst = dst->data,
                              .dtype = dst->dtype,
                              .blocks = dst->dims[1],
                              .ih = src->dims[2],
                              .iw = src->dims[3],
                              .oh = dst->dims[2],
                              .ow = dst->dims[3],
                              .end = {src->dims[2], src->dims[3]},
                              .low = -INFINITY,
                              .high = INFINITY};
}

void tl_depthwise_set_conv(tl_depthwise_job *job, const tl_conv2d_param *param)
{
    for (int i = 0; i < 2; i++) {
        job->size[i] = param->size[i];
        job->stride[i] = param->stride[i];
        job->dilation[i] = param->dilation[i];
        job->padding[i] = param->padding[i];
    }
}

void tl_depthwise_set_pool(tl_depthwise_job *job, const tl_pool2d_param *param, int counts_padding)
{
    for (int i = 0; i < 2; i++) {
        job->size[i] = param->size[i];
        job->stride[i] = param->stride[i];
        job->dilation[i] = 1;
        job->padding[i] = param->padding[i];
        if (counts_padding) {
            job->begin[i] = -param->padding[i];
            job->end[i] += param->padding[2 + i];
        }
    }
}

static void run(const tl_exec *exec, tl_depthwise_job *job, const tl_tensor *dst)
{
    assert(job->dtype == TL_FLOAT);
    const size_t lines = (size_t)dst->dims[0] * dst->dims[1] * dst->dims[2];
    const size_t cost = (size_t)job->size[0] * job->size[1] * job->ow * (TL_BLOCK / 2);
    tl_parallel(exec, lines, tl_axis_grain(cost), pick(exec, TL_FLOAT), job);
}

int tl_exec_blocked_depthwise(const tl_exec *exec, const tl_tensor *src, const tl_tensor *weight,
                              const tl_tensor *add, tl_tensor *dst, const tl_conv2d_param *param)
{
    tl_depthwise_job job = tl_depthwise_job_of(TL_DEPTHWISE_CONV, src, dst);
    assert((size_t)weight->len == job.blocks * tl_blocked_depthwise_packed(param->size));
    job.weight = weight->data;
    job.add = add ? add->data : NULL;
    tl_depthwise_set_conv(&job, param);
    job.act = param->act;
    tl_act_bounds(param->act, &job.low, &job.high);
    run(exec, &job, dst);
    return 0;
}

static int run_pool(const tl_exec *exec, tl_depthwise_kind kind, const tl_tensor *src,
                    tl_tensor *dst, const tl_pool2d_param *param, int counts_padding)
{
    tl_depthwise_job job = tl_depthwise_job_of(kind, src, dst);
    tl_depthwise_set_pool(&job, param, counts_padding);
    run(exec, &job, dst);
    return 0;
}

int tl_exec_blocked_maxpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                              const tl_pool2d_param *param)
{
    return run_pool(exec, TL_DEPTHWISE_MAX, src, dst, param, 0);
}

int tl_exec_blocked_avgpool2d(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                              const tl_pool2d_param *param, int counts_padding)
{
    return run_pool(exec, TL_DEPTHWISE_MEAN, src, dst, param, counts_padding);
}
