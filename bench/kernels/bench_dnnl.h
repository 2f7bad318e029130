// SPDX-License-Identifier: Apache-2.0
// The same computations by oneDNN, to compare with. A build without oneDNN has none of them.

#pragma once

#include "bench_job.h"

typedef struct bench_dnnl bench_dnnl;

/** Before anything else: how many threads it shall use. */
void bench_dnnl_set_threads(int threads);

/** Its version, or NULL: the build has no oneDNN. */
const char *bench_dnnl_version(void);

/** How many ways to compute there are to choose from, each to be made by its number `way`. */
int bench_dnnl_ways(bench_dnnl_kind kind);

/** Returns new (bench_dnnl_free): a primitive for a prepared job, with copies of its data in the
 *  layouts that it likes best; NULL: oneDNN does not compute that in this way. */
bench_dnnl *bench_dnnl_create(bench_dnnl_kind kind, int way, const bench_job *job);

/** 0, or -1: it failed. */
int bench_dnnl_run(bench_dnnl *d);

/** Copies the result to `dst`, as job->plain_dst has it. 0, or -1. */
int bench_dnnl_result(bench_dnnl *d, tl_tensor *dst);

/** Accepts NULL. */
void bench_dnnl_free(bench_dnnl *d);
