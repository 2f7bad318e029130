// SPDX-License-Identifier: Apache-2.0
// The benchmarks: kernels on shapes.
//
// A group has shapes and kernels that compute the same on them; each kernel is timed on each shape,
// with each instruction set, next to oneDNN if the build has it. To add a kernel, write a function
// that prepares a job and a BENCH_KERNEL. To add a row, add a line to bench_rows.c.

#pragma once

#include <stdint.h>

#include "tensorlight/tensorlight.h"

/** The shape for a kernel; kernels define other parameters themselves. 0: not needed. */
typedef struct bench_shape {
    const char *name;
    int dims[4]; // of the source: [n, c, h, w], [rows, inner]
    int out;     // channels of the result, or columns of the second matrix
    int size;    // of a window; its padding keeps the size at stride 1, unless it is `pad`
    int stride;
    int pad;      // -1: none
    int group;    // of a convolution's channels, 0: 1
    int axes[4];  // of a transpose
    int dims2[4]; // of a second source, which is broadcast to the first
    int func;     // of unary: tl_unary_func, and its parameters
    double alpha, beta;
    tl_dtype from, to; // for kernels on several types
} bench_shape;

enum { BENCH_MAX_TENSORS = 10 };

/** A kernel on a shape, ready to run. */
typedef struct bench_job {
    bench_shape shape;
    int threads;
    double flops; // of a run; 0: it is limited by memory, and only bytes count
    double bytes; // of a run: read and written
    tl_tensor *src, *weight, *bias, *dst;
    tl_tensor *plain_src, *plain_dst; // for oneDNN: as the operators define them
    tl_tensor *packed;
    tl_matmul_param matmul;
    tl_conv2d_param conv;
    tl_pool2d_param pool;
    tl_lowbit_param lowbit;
    int variant; // of the kernel: for Winograd's, the extent of the tiles of its results
    void *scratch;
    size_t scratch_size;
    tl_tensor *tensors[BENCH_MAX_TENSORS]; // all of them, to be freed
    int n_tensors;
    uint64_t random;
} bench_job;

/** Primitives of oneDNN for a group. */
typedef enum bench_dnnl_kind {
    BENCH_DNNL_NONE,
    BENCH_DNNL_MATMUL,
    BENCH_DNNL_CONV,
    BENCH_DNNL_DECONV,
    BENCH_DNNL_MAXPOOL,
    BENCH_DNNL_AVGPOOL,
    BENCH_DNNL_SOFTMAX,
    BENCH_DNNL_LAYERNORM,
    BENCH_DNNL_UNARY,
    BENCH_DNNL_ADD,
    BENCH_DNNL_TRANSPOSE,
    BENCH_DNNL_QUANTIZED_MATMUL,
    BENCH_DNNL_QUANTIZED_CONV,
} bench_dnnl_kind;

typedef struct bench_kernel {
    const char *name;
    /** Fills the job with the given shape and threads: tensors, flops, bytes. 0; 1: the kernel does
     * not support this shape; -1 with TensorLight's reason. */
    int (*prepare)(bench_job *job);
    /** As all tl_exec_X. */
    int (*run)(const tl_exec *exec, bench_job *job);
    /** Makes plain_dst of dst after a run. NULL: they are the same. */
    int (*finish)(bench_job *job);
    int variant; // of several that one function prepares, as job->variant
} bench_kernel;

/** Defines the kernel bench_ID, which runs by the expression `call` over `exec` and `job`. */
#define BENCH_KERNEL(id, name, prepare, finish, call)        \
    static int run_##id(const tl_exec *exec, bench_job *job) \
    {                                                        \
        return call;                                         \
    }                                                        \
    const bench_kernel bench_##id = {name, prepare, run_##id, finish, 0}

/** The operands that a kernel multiplies: they determine the peak for comparison, and the
 * instruction sets to measure. */
typedef enum bench_numbers {
    BENCH_FLOATS,
    BENCH_BYTES,
    BENCH_PAIRS,
    BENCH_NUMBERS_SIZE
} bench_numbers;

typedef struct bench_group {
    const bench_kernel *const *kernels; // ends with NULL
    const bench_shape *shapes;          // ends with one that has no name
    bench_dnnl_kind dnnl;
    bench_numbers numbers;
} bench_group;

extern const bench_group bench_groups[];
extern const int bench_n_groups;

/** 0, or 1 or -1 as bench_kernel.prepare. Free with bench_job_free in any case. */
int bench_job_prepare(bench_job *job, const bench_kernel *kernel, const bench_shape *shape,
                      int threads);

int bench_job_run(bench_job *job, const bench_kernel *kernel, tl_exec exec);

void bench_job_free(bench_job *job);

// For kernels

/** Returns borrowed (until bench_job_free): a tensor of floats, random in lo .. hi; NULL with a
 *  reason. The numbers are the same in each job. */
tl_tensor *bench_random(bench_job *job, int ndim, const int *dims, double lo, double hi);

/** The same, not filled. */
tl_tensor *bench_blank(bench_job *job, int ndim, const int *dims);

/** The same of any dtype; integers are random in lo .. hi. */
tl_tensor *bench_blank_of(bench_job *job, tl_dtype dtype, int ndim, const int *dims);
tl_tensor *bench_random_of(bench_job *job, tl_dtype dtype, int ndim, const int *dims, double lo,
                           double hi);

/** Extent of the shape's window's result for an extent `in`. */
int bench_length(const bench_shape *shape, int in);

/** The shape's window in a convolution of `groups` groups, and in a pool. */
tl_conv2d_param bench_conv(const bench_shape *shape, int group);
tl_pool2d_param bench_pool(const bench_shape *shape);

/** The bytes of a tensor; 0: NULL. */
double bench_size(const tl_tensor *t);
