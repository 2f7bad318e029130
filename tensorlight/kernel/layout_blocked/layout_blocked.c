// SPDX-License-Identifier: Apache-2.0
// Converts planes to the blocked layout, and back: choice of the kernel, threads.

#include "kernel/layout_blocked/layout_blocked.h"

#include <assert.h>

#include "kernel/tl_axis.h"

TL_KERNEL_TABLE(pick_to, tl_layout_func, TL_TO_BLOCKED_KERNELS)
TL_KERNEL_TABLE(pick_from, tl_layout_func, TL_FROM_BLOCKED_KERNELS)

static int convert(const tl_exec *exec, const tl_tensor *planes, const tl_tensor *blocked,
                   tl_layout_job job, tl_layout_func *func)
{
    assert(planes->ndim == 4 && blocked->ndim == 5 && blocked->dims[4] == TL_BLOCK);
    assert(planes->dtype == blocked->dtype && func);
    assert(blocked->dims[1] == tl_blocks(planes->dims[1]));
    job.channels = planes->dims[1];
    job.blocks = blocked->dims[1];
    job.pixels = (size_t)planes->dims[2] * planes->dims[3];
    job.strips = (job.pixels + TL_LAYOUT_STRIP - 1) / TL_LAYOUT_STRIP;
    const size_t cost = tl_min_size(job.pixels, TL_LAYOUT_STRIP) * TL_BLOCK;
    tl_parallel(exec, (size_t)planes->dims[0] * job.blocks * job.strips, tl_axis_grain(cost), func,
                &job);
    return 0;
}

int tl_exec_to_blocked(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    return convert(exec, src, dst, (tl_layout_job){.src = src->data, .dst = dst->data},
                   pick_to(exec, src->dtype));
}

int tl_exec_from_blocked(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    return convert(exec, dst, src, (tl_layout_job){.src = src->data, .dst = dst->data},
                   pick_from(exec, src->dtype == TL_INT32 ? TL_FLOAT : src->dtype)); // 4 bytes
}
