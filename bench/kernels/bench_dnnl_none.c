// SPDX-License-Identifier: Apache-2.0
// Nothing by oneDNN: the build did not find it.

#include <stddef.h>

#include "bench_dnnl.h"

void bench_dnnl_set_threads(int threads)
{
    (void)threads;
}

const char *bench_dnnl_version(void)
{
    return NULL;
}

int bench_dnnl_ways(bench_dnnl_kind kind)
{
    (void)kind;
    return 0;
}

bench_dnnl *bench_dnnl_create(bench_dnnl_kind kind, int way, const bench_job *job)
{
    (void)kind, (void)way, (void)job;
    return NULL;
}

int bench_dnnl_run(bench_dnnl *d)
{
    (void)d;
    return -1;
}

int bench_dnnl_result(bench_dnnl *d, tl_tensor *dst)
{
    (void)d, (void)dst;
    return -1;
}

void bench_dnnl_free(bench_dnnl *d)
{
    (void)d;
}
