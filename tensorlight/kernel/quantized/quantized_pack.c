// SPDX-License-Identifier: Apache-2.0
// Weights of 8-bit convolutions and products, packed.

#include <assert.h>
#include <string.h>

#include "kernel/quantized/quantized.h"
#include "kernel/tl_axis.h"

/* ---- sizes ---- */

/** Quads of channels of all blocks. */
static size_t quads_of(int channels)
{
    return tl_divide_up((size_t)channels, TL_QUAD);
}

static size_t row_size(size_t channels, size_t taps)
{
    return sizeof(tl_quantized_head) + quads_of((int)channels) * taps * TL_BLOCK * TL_QUAD;
}

size_t tl_quantized_conv2d_packed(const int channels[2], const int size[2])
{
    return row_size((size_t)channels[0], (size_t)size[0] * (size_t)size[1]);
}

size_t tl_quantized_matmul_packed(int k)
{
    return row_size((size_t)k, 1);
}

/* ---- packing ---- */

typedef struct pack_job {
    const int8_t *weight;
    size_t out_step, in_step; /* of weights: from an output channel, a source channel to the next */
    int outputs, channels, taps;
    const int32_t *bias;
    const float *factor, *addend;
    size_t factor_step;
    int8_t *dst;
    size_t row;
} pack_job;

static int weight_of(const pack_job *job, int o, int c, int tap)
{
    if (o >= job->outputs || c >= job->channels)
        return 0;
    return job->weight[(size_t)o * job->out_step + (size_t)c * job->in_step + (size_t)tap];
}

/** The weights of four channels from `c` on for one tap. Adds them to the sums of the outputs. */
static void pack_quad(const pack_job *job, int o, int c, int tap, int8_t *dst, int32_t *sums)
{
    for (int i = 0; i < TL_BLOCK; i++)
        for (int k = 0; k < TL_QUAD; k++) {
            const int w = weight_of(job, o + i, c + k, tap);
            dst[i * TL_QUAD + k] = (int8_t)w;
            sums[i] += w;
        }
}

static void pack_head(const pack_job *job, int o, tl_quantized_head *head)
{
    for (int i = 0; i < TL_BLOCK && o + i < job->outputs; i++) {
        head->bias[i] = job->bias ? job->bias[o + i] : 0;
        head->factor[i] = job->factor ? job->factor[(size_t)(o + i) * job->factor_step] : 1;
        head->addend[i] = job->addend ? job->addend[o + i] : 0;
    }
}

static void pack_block(const pack_job *job, size_t block)
{
    const int o = (int)block * TL_BLOCK;
    int8_t *dst = job->dst + block * job->row;
    int8_t *const begin = dst;
    tl_quantized_head head = {0};
    pack_head(job, o, &head);
    dst += sizeof(head);
    for (int first = 0; first < job->channels; first += TL_BLOCK)
        for (int tap = 0; tap < job->taps; tap++)
            for (int c = first; c < first + TL_BLOCK && c < job->channels; c += TL_QUAD) {
                pack_quad(job, o, c, tap, dst, head.weight_sum);
                dst += TL_BLOCK * TL_QUAD;
            }
    memcpy(begin, &head, sizeof(head));
}

static void pack_blocks(void *arg, size_t begin, size_t end)
{
    for (size_t b = begin; b < end; b++)
        pack_block(arg, b);
}

static int pack(const tl_exec *exec, pack_job *job, const tl_tensor *bias, const tl_tensor *factor,
                const tl_tensor *addend, tl_tensor *dst)
{
    assert(dst->dtype == TL_INT8 && dst->ndim == 2 && dst->dims[0] == tl_blocks(job->outputs));
    assert(!bias || (bias->dtype == TL_INT32 && bias->len == job->outputs));
    assert(!factor || factor->len == 1 || factor->len == job->outputs);
    assert(!addend || (addend->dtype == TL_FLOAT && addend->len == job->outputs));
    job->bias = bias ? bias->data : NULL;
    job->factor = factor ? factor->data : NULL;
    job->factor_step = factor && factor->len > 1;
    job->addend = addend ? addend->data : NULL;
    job->dst = dst->data;
    job->row = row_size((size_t)job->channels, (size_t)job->taps);
    assert(job->row == (size_t)dst->dims[1]);
    tl_parallel(exec, (size_t)dst->dims[0], tl_axis_grain(job->row), pack_blocks, job);
    return 0;
}

int tl_exec_quantized_conv2d_pack(const tl_exec *exec, const tl_tensor *weight,
                                  const tl_tensor *bias, const tl_tensor *factor,
                                  const tl_tensor *addend, tl_tensor *dst)
{
    const int *const dims = weight->dims;
    assert(weight->dtype == TL_INT8 && weight->ndim == 4);
    const size_t taps = (size_t)dims[2] * dims[3];
    pack_job job = {.weight = weight->data,
                    .out_step = taps * dims[1],
                    .in_step = taps,
                    .outputs = dims[0],
                    .channels = dims[1],
                    .taps = (int)taps};
    return pack(exec, &job, bias, factor, addend, dst);
}

int tl_exec_quantized_matmul_pack(const tl_exec *exec, const tl_tensor *weight,
                                  const tl_tensor *bias, const tl_tensor *factor,
                                  const tl_tensor *addend, tl_tensor *dst, int is_transposed)
{
    const int *const dims = weight->dims;
    assert(weight->dtype == TL_INT8 && weight->ndim == 2);
    const size_t columns = (size_t)dims[1];
    pack_job job = {.weight = weight->data,
                    .out_step = is_transposed ? columns : 1,
                    .in_step = is_transposed ? 1 : columns,
                    .outputs = dims[is_transposed ? 0 : 1],
                    .channels = dims[is_transposed ? 1 : 0],
                    .taps = 1};
    return pack(exec, &job, bias, factor, addend, dst);
}
