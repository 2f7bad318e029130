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
    LN_CUDA_MORE,    // src1_more of a product
    LN_CUDA_FACTORS, // of ln_cuda_plan_scaled
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

/** The part of the epilogue that the kernel lacks: dst = act(dst + bias + addend), after it. */
typedef struct ln_cuda_rest {
    int has_bias, has_addend;
    tl_activation act;
} ln_cuda_rest;

/** One run: see ln_cuda_run_plan. */
typedef struct ln_cuda_run {
    ln_cuda_stream stream;
    void *const *data; // by argument; may end at LN_CUDA_DST if the plan lacks those after it
    void *work;        // device memory, ln_cuda_plan_work bytes
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
    int axis;       // of dst, along which the bias varies
    int reads_taps; // LN_CUDA_WEIGHT is the taps of a convolution
    int sums;       // see ln_cuda_plan_sums
    int (*run)(const ln_cuda_plan *plan, ln_cuda_libs *libs, const ln_cuda_run *run);
    void (*clear)(ln_cuda_plan *plan); // NULL: nothing to free but the plan
};

/** The key of a plan: the members of a request that affect the plan. Unused values are 0. */
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

/** The argument `arg` as a tensor, which borrows its data and the plan's dims. */
tl_tensor ln_cuda_tensor(const ln_cuda_plan *plan, int arg, void *const *data);

/** Whether the kernel of the plan computes the complete epilogue. */
int ln_cuda_is_whole(const ln_cuda_plan *plan);

/** Returns new: a plan for a dst without elements. */
ln_cuda_plan *ln_cuda_plan_nothing(void);

/** Whether the libraries support the dtype: TL_FLOAT, TL_FLOAT16 or TL_BFLOAT16. */
int ln_cuda_is_float(tl_dtype dtype);

// Measurements

/** Fills libs->data with small random values in the plan's shapes, for the next measurements. */
int ln_cuda_use_shapes(ln_cuda_libs *libs, const ln_cuda_plan *plan);

/** Seconds of a run on this data, within a CUDA graph as in inference: this excludes the time of
 *  separate launches. -1: it fails, or cannot be captured. Stops early if it is clearly slower than
 *  `limit` seconds (0: no limit); the result is then only rough. */
double ln_cuda_measure(ln_cuda_libs *libs, const ln_cuda_plan *plan, double limit);

/** Measures `plan`, takes it, and keeps it in `*best` if it is faster than that. */
void ln_cuda_compete(ln_cuda_libs *libs, ln_cuda_plan **best, ln_cuda_plan *plan);

// Plans by request

void ln_cuda_key_add(ln_cuda_key *key, int n, const int *values);
void ln_cuda_key_add_dims(ln_cuda_key *key, const tl_tensor *t);
void ln_cuda_key_add_float(ln_cuda_key *key, float value);
void ln_cuda_key_add_act(ln_cuda_key *key, tl_activation act);

/** 1: replaces `*plan`, if any, by the plan that was kept with this key; 0: there is none. */
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
