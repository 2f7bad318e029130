// SPDX-License-Identifier: Apache-2.0
// Gathers channels in the blocked layout: the parts of each block, choice of the kernel, threads.
//
// A block of results is merged from the source blocks of its channels, pixel by pixel. In a
// concatenation of 58 and 58 channels these are one or two, in a channel shuffle two or three.

#include "kernel/channels_blocked/channels_blocked.h"

#include <assert.h>
#include <string.h>

#include "kernel/tl_axis.h"

TL_KERNEL_TABLE(pick_kernel, tl_pick_channels_func, TL_PICK_CHANNELS_KERNELS)

enum { STRIP = 512 }; // pixels of a unit of work

typedef struct pick_job {
    const tl_tensor *const *srcs;
    const int *channels, *map;
    int n_srcs, n_map;
    void *dst;
    size_t size;           // bytes of an element
    size_t pixels, strips; // of a plane
    int blocks;            // of an image of dst
    tl_pick_channels_func *kernel;
} pick_job;

// A source, and the index of its first channel in the concatenation of all sources.
typedef struct source {
    int src, first;
} source;

// Moves `at` to the source of a channel, which is mostly that of the previous channel.
static void find_source(const pick_job *job, int channel, source *at)
{
    while (channel < at->first)
        at->first -= job->channels[--at->src];
    while (channel >= at->first + job->channels[at->src])
        at->first += job->channels[at->src++];
}

// The part with the block at `src` as its source; added if absent.
static tl_block_part *part_from(tl_block_part *parts, int *n, const void *src)
{
    for (int p = *n - 1; p >= 0; p--)
        if (parts[p].src == src)
            return &parts[p];
    tl_block_part *const part = &parts[(*n)++];
    part->src = src;
    for (int lane = 0; lane < TL_BLOCK; lane++)
        part->from[lane] = -1;
    return part;
}

// Pixel `i` of all blocks at `data`.
static void *pixel_at(const pick_job *job, const void *data, size_t i)
{
    return tl_padd(data, (ptrdiff_t)(i * TL_BLOCK), job->size);
}

// Finds the parts of block `b` of image `n`; returns their number.
static int parts_of(const pick_job *job, size_t n, int b, tl_block_part *parts)
{
    const int lanes = tl_min(TL_BLOCK, job->n_map - b * TL_BLOCK);
    source at = {0};
    int n_parts = 0;
    for (int lane = 0; lane < lanes; lane++) {
        const int channel = job->map[b * TL_BLOCK + lane];
        find_source(job, channel, &at);
        const tl_tensor *const src = job->srcs[at.src];
        const size_t block = n * src->dims[1] + (channel - at.first) / TL_BLOCK;
        tl_block_part *const part =
            part_from(parts, &n_parts, pixel_at(job, src->data, block * job->pixels));
        part->from[lane] = (channel - at.first) % TL_BLOCK;
    }
    return n_parts;
}

// Whether a block is a copy of one source block. Lanes beyond the channels are arbitrary.
static int is_copy(const tl_block_part *part, int n_parts)
{
    for (int lane = 0; lane < TL_BLOCK; lane++)
        if (part->from[lane] >= 0 && part->from[lane] != lane)
            return 0;
    return n_parts == 1;
}

static void pick_units(void *arg, size_t begin, size_t end)
{
    const pick_job *const job = arg;
    for (size_t u = begin; u < end; u++) {
        const size_t block = u / job->strips, first = u % job->strips * STRIP;
        const size_t n = tl_min_size(STRIP, job->pixels - first);
        tl_block_part parts[TL_BLOCK];
        const int n_parts = parts_of(job, block / job->blocks, (int)(block % job->blocks), parts);
        for (int p = 0; p < n_parts; p++)
            parts[p].src = pixel_at(job, parts[p].src, first);
        void *const dst = pixel_at(job, job->dst, block * job->pixels + first);
        if (is_copy(parts, n_parts))
            memcpy(dst, parts->src, n * TL_BLOCK * job->size);
        else
            job->kernel(parts, n_parts, dst, n);
    }
}

int tl_exec_blocked_pick(const tl_exec *exec, int n_srcs, const tl_tensor *const *srcs,
                         const int *channels, const int *map, int n_map, tl_tensor *dst)
{
    assert(n_srcs > 0 && srcs[0]->dtype == dst->dtype && dst->ndim == 5 &&
           dst->dims[4] == TL_BLOCK);
    assert(n_map > 0 && dst->dims[1] == tl_blocks(n_map));
    pick_job job = {.srcs = srcs,
                    .channels = channels,
                    .map = map,
                    .n_srcs = n_srcs,
                    .n_map = n_map,
                    .dst = dst->data,
                    .size = tl_size_of(dst->dtype),
                    .pixels = (size_t)dst->dims[2] * dst->dims[3],
                    .blocks = dst->dims[1],
                    .kernel = pick_kernel(exec, dst->dtype)};
    assert(job.kernel);
    job.strips = (job.pixels + STRIP - 1) / STRIP;
    const size_t cost = tl_min_size(job.pixels, STRIP) * TL_BLOCK;
    tl_parallel(exec, (size_t)dst->dims[0] * job.blocks * job.strips, tl_axis_grain(cost),
                pick_units, &job);
    return 0;
}
