// SPDX-License-Identifier: Apache-2.0
// The common part of the plans of cuDNN, cuBLASLt and our own kernels; private to arch/cuda.
//
// A plan runs a kernel (`run`), then the part of the epilogue that this kernel lacks (`rest`, by
// ln_cuda_epilogue). A request measures several candidates on the data of `libs`, and keeps the
// fastest:
//
//     if (ln_cuda_use_shapes(libs, plan))
//         return -1;
//     ln_cuda_compete(libs, &best, plan);       (for each candidate)
//     ln_cuda_keep_plan(libs, &key, best);
//
// `libs`, and the plans made with it, belong to one thread at a time. Free plans before `libs`, and
// after the CUDA graphs that captured them, since freeing them may unload their kernels.

#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include "arch/cuda/ln_cuda_libs.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The order of a plan's data. */
enum {
    LN_CUDA_SRC,
    LN_CUDA_WEIGHT,
    LN_CUDA_BIAS,
    LN_CUDA_ADDEND,
    LN_CUDA_DST,
    LN_CUDA_MORE,    // of a product with src1_more only,
    LN_CUDA_FACTORS, // of ln_cuda_plan_scaled only: others may be run without them
    LN_CUDA_ARGS
};

enum {
    LN_CUDA_ALIGNMENT = 16, // of all data, in bytes; promised to the libraries
    LN_CUDA_NAME_SIZE = 32,
};

typedef struct ln_cuda_shape {
    int ndim; // 0: the plan does not have this argument
    int dims[4];
} ln_cuda_shape;

/** dst = act(dst + bias + addend), after the kernel. */
typedef struct ln_cuda_rest {
    int has_bias, has_addend;
    tl_activation act;
} ln_cuda_rest;

/** One run: see ln_cuda_run_plan. */
typedef struct ln_cuda_run {
    ln_cuda_stream stream;
    void *const *data; // [LN_CUDA_ARGS], without LN_CUDA_FACTORS unless it is used
    void *work;
} ln_cuda_run;

/** The first member of each plan of a certain kind. */
struct ln_cuda_plan {
    int refs; // its users
    char name[LN_CUDA_NAME_SIZE];
    double seconds;
    size_t work; // bytes
    tl_dtype dtype;
    ln_cuda_shape args[LN_CUDA_ARGS];
    ln_cuda_rest rest;
    int axis;       // of dst, that of the bias
    int takes_taps; // LN_CUDA_WEIGHT is the taps of a convolution
    int sums;       // see ln_cuda_plan_sums
    int (*run)(const ln_cuda_plan *plan, ln_cuda_libs *libs, const ln_cuda_run *run);
    void (*clear)(ln_cuda_plan *plan); // NULL: nothing to free but the plan
};

/** The key of a plan: the members of a request that affect the plan. Zeroed at first. */
typedef struct ln_cuda_key {
    int n, values[64];
} ln_cuda_key;

typedef struct ln_cuda_kept ln_cuda_kept;

struct ln_cuda_libs {
    cudnnHandle_t cudnn;
    cublasLtHandle_t blas;
    cudaStream_t stream; // of measurements
    cudaEvent_t start, stop;
    void *arena; // device memory for the data of measurements
    size_t arena_size;
    void *work;               // LN_CUDA_WORK bytes
    void *data[LN_CUDA_ARGS]; // in the arena; NULL: no such argument
    ln_cuda_kept *kept;       // the plans, by request
};

/** Frees the device memory for measurements, until the next plan is made. */
void ln_cuda_trim(ln_cuda_libs *libs);

// Plans

/** Returns new (ln_cuda_free_plan): a plan of `size` bytes, zeroed, with one user. NULL with a
 *  reason: no memory. */
void *ln_cuda_new_plan(size_t size);

/** The shape of a tensor of up to 4 dimensions. */
ln_cuda_shape ln_cuda_shape_of(const tl_tensor *t);

/** A record over the data of an argument; it borrows the dims of the plan. */
tl_tensor ln_cuda_tensor(const ln_cuda_plan *plan, int arg, void *const *data);

/** Whether the kernel of the plan computes the complete epilogue. */
int ln_cuda_is_whole(const ln_cuda_plan *plan);

/** Returns new: a plan for a dst without elements. */
ln_cuda_plan *ln_cuda_plan_nothing(void);

/** Whether the libraries support the dtype: TL_FLOAT, TL_FLOAT16 or TL_BFLOAT16. */
int ln_cuda_is_float(tl_dtype dtype);

// Measurements

/** Prepares data of the plan's shapes, with small random values, for the next measurements. */
int ln_cuda_use_shapes(ln_cuda_libs *libs, const ln_cuda_plan *plan);

/** Seconds of a run on this data, within a CUDA graph as in use: so the time to launch a kernel
 *  does not hide its speed, and a plan that cannot be captured fails. -1: it fails. Stops early if
 *  it is clearly slower than `limit` seconds (0: no limit); the result is then only rough. */
double ln_cuda_measure(ln_cuda_libs *libs, const ln_cuda_plan *plan, double limit);

/** Measures `plan`, takes it, and keeps it in `*best` if it is faster than that. */
void ln_cuda_compete(ln_cuda_libs *libs, ln_cuda_plan **best, ln_cuda_plan *plan);

// Plans by request

void ln_cuda_key_add(ln_cuda_key *key, int value);
void ln_cuda_key_add_dims(ln_cuda_key *key, const tl_tensor *t);
void ln_cuda_key_add_float(ln_cuda_key *key, float value);
void ln_cuda_key_add_act(ln_cuda_key *key, tl_activation act);

/** Replaces `*plan`, if any, by the plan that was kept with this key: 1, or 0: none. */
int ln_cuda_find_plan(ln_cuda_libs *libs, const ln_cuda_key *key, ln_cuda_plan **plan);

/** Takes `made`, which replaces `*plan`, if any. */
int ln_cuda_keep_plan(ln_cuda_libs *libs, const ln_cuda_key *key, ln_cuda_plan *made,
                      ln_cuda_plan **plan);

// For benchmarks

/** ln_cuda_plan_conv2d of the convolution alone, without bias, addend and activation, by cuDNN
 * only: the fastest engine that its heuristics propose. */
int ln_cuda_plan_bare_conv2d(ln_cuda_libs *libs, ln_cuda_plan **plan, const ln_cuda_conv *conv);

#ifdef __cplusplus
}
#endif
