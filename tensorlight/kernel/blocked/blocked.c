// SPDX-License-Identifier: Apache-2.0
// From planes to blocks of channels, and back.

#include <assert.h>

#include "kernel/tl_axis.h"
#include "tensorlight/tl_blocked.h"

typedef struct turn_job {
    const float *src;
    float *dst;
    int channels, blocks;
    size_t pixels; /* of a plane */
} turn_job;

/** Pixels turned together: their planes' parts and their block fit the first cache. */
enum { STRIP = 64 };

/** Channels of block `b`. */
static int lanes_of(const turn_job *job, int b)
{
    const int rest = job->channels - b * TL_BLOCK;
    return rest < TL_BLOCK ? rest : TL_BLOCK;
}

static void to_blocked(void *arg, size_t begin, size_t end)
{
    const turn_job *const job = arg;
    for (size_t u = begin; u < end; u++) { // blocks of all images
        const int b = (int)(u % job->blocks), lanes = lanes_of(job, b);
        const float *const src =
            job->src + (u / job->blocks * job->channels + (size_t)b * TL_BLOCK) * job->pixels;
        float *const dst = job->dst + u * job->pixels * TL_BLOCK;
        for (size_t p = 0; p < job->pixels; p += STRIP) {
            const size_t stop = p + STRIP < job->pixels ? p + STRIP : job->pixels;
            for (int lane = 0; lane < TL_BLOCK; lane++)
                for (size_t i = p; i < stop; i++)
                    dst[i * TL_BLOCK + lane] =
                        lane < lanes ? src[(size_t)lane * job->pixels + i] : 0;
        }
    }
}

static void from_blocked(void *arg, size_t begin, size_t end)
{
    const turn_job *const job = arg;
    for (size_t u = begin; u < end; u++) {
        const int b = (int)(u % job->blocks), lanes = lanes_of(job, b);
        const float *const src = job->src + u * job->pixels * TL_BLOCK;
        float *const dst =
            job->dst + (u / job->blocks * job->channels + (size_t)b * TL_BLOCK) * job->pixels;
        for (size_t p = 0; p < job->pixels; p += STRIP) {
            const size_t stop = p + STRIP < job->pixels ? p + STRIP : job->pixels;
            for (int lane = 0; lane < lanes; lane++)
                for (size_t i = p; i < stop; i++)
                    dst[(size_t)lane * job->pixels + i] = src[i * TL_BLOCK + lane];
        }
    }
}

static int turn(const tl_exec *exec, const tl_tensor *planes, const tl_tensor *blocked,
                turn_job job, tl_range_func func)
{
    assert(planes->ndim == 4 && blocked->ndim == 5 && blocked->dims[4] == TL_BLOCK);
    assert(planes->dtype == TL_FLOAT && blocked->dtype == TL_FLOAT);
    assert(blocked->dims[1] == tl_blocks(planes->dims[1]));
    job.channels = planes->dims[1];
    job.blocks = blocked->dims[1];
    job.pixels = (size_t)planes->dims[2] * planes->dims[3];
    tl_parallel(exec, (size_t)planes->dims[0] * job.blocks, tl_axis_grain(job.pixels * TL_BLOCK),
                func, &job);
    return 0;
}

int tl_exec_to_blocked(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    return turn(exec, src, dst, (turn_job){.src = src->data, .dst = dst->data}, to_blocked);
}

int tl_exec_from_blocked(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    return turn(exec, dst, src, (turn_job){.src = src->data, .dst = dst->data}, from_blocked);
}
