// SPDX-License-Identifier: Apache-2.0
// Jobs: made, run, freed.

#include "bench_job.h"

#include <stdlib.h>
#include <string.h>

// Aligned, and in pages, as a context's tensors and scratch memory are, which decides how fast
// they are read.
static void *allocate(size_t size)
{
    enum { ALIGNMENT = 64 };
    void *const data = aligned_alloc(ALIGNMENT, (size / ALIGNMENT + 1) * ALIGNMENT);
    if (!data) {
        tl_fail("out of memory: %zu bytes", size);
        return NULL;
    }
    tl_use_large_pages(data, size);
    return memset(data, 0, size);
}

tl_tensor *bench_blank_of(bench_job *job, tl_dtype dtype, int ndim, const int *dims)
{
    tl_tensor *const t = tl_tensor_create(NULL, ndim, dims, dtype);
    if (!t)
        return NULL;
    t->data = allocate(tl_tensor_size(t));
    if (!t->data) {
        tl_tensor_free(t);
        return NULL;
    }
    return job->tensors[job->n_tensors++] = t;
}

tl_tensor *bench_random_of(bench_job *job, tl_dtype dtype, int ndim, const int *dims, double lo,
                           double hi)
{
    tl_tensor *const t = bench_blank_of(job, dtype, ndim, dims);
    return t && !tl_tensor_fill_uniform(t, lo, hi, &job->random) ? t : NULL;
}

tl_tensor *bench_blank(bench_job *job, int ndim, const int *dims)
{
    return bench_blank_of(job, TL_FLOAT, ndim, dims);
}

tl_tensor *bench_random(bench_job *job, int ndim, const int *dims, double lo, double hi)
{
    return bench_random_of(job, TL_FLOAT, ndim, dims, lo, hi);
}

static int pad_of(const bench_shape *shape)
{
    return shape->pad < 0 ? 0 : shape->pad > 0 ? shape->pad : (shape->size - 1) / 2;
}

int bench_length(const bench_shape *shape, int in)
{
    return tl_conv2d_length(in, shape->size, shape->stride, 1, pad_of(shape), pad_of(shape));
}

tl_conv2d_param bench_conv(const bench_shape *s, int group)
{
    const int pad = pad_of(s);
    return (tl_conv2d_param){.group = group,
                             .size = {s->size, s->size},
                             .stride = {s->stride, s->stride},
                             .dilation = {1, 1},
                             .padding = {pad, pad, pad, pad}};
}

tl_pool2d_param bench_pool(const bench_shape *s)
{
    const int pad = pad_of(s);
    return (tl_pool2d_param){.size = {s->size, s->size},
                             .stride = {s->stride, s->stride},
                             .padding = {pad, pad, pad, pad}};
}

double bench_size(const tl_tensor *t)
{
    return t ? (double)tl_tensor_size(t) : 0;
}

int bench_job_prepare(bench_job *job, const bench_kernel *kernel, const bench_shape *shape,
                      int threads)
{
    *job =
        (bench_job){.shape = *shape, .threads = threads, .random = 1, .variant = kernel->variant};
    const int status = kernel->prepare(job);
    if (status)
        return status;
    job->plain_src = job->plain_src ? job->plain_src : job->src;
    job->plain_dst = job->plain_dst ? job->plain_dst : job->dst;
    job->scratch = allocate(job->scratch_size);
    return job->scratch ? 0 : -1;
}

int bench_job_run(bench_job *job, const bench_kernel *kernel, tl_exec exec)
{
    exec.scratch = job->scratch;
    exec.scratch_size = job->scratch_size;
    return kernel->run(&exec, job);
}

void bench_job_free(bench_job *job)
{
    for (int i = 0; i < job->n_tensors; i++)
        tl_tensor_free_data_too(job->tensors[i]);
    free(job->scratch);
}
