// SPDX-License-Identifier: Apache-2.0
// Plans: their handles, measurements, and the list of those that were made.

#include "arch/cuda/ln_cuda_plan.h"

#include <math.h>
#include <string.h>

struct ln_cuda_kept {
    ln_cuda_key key;
    ln_cuda_plan *plan;
    ln_cuda_kept *next;
};

// The libraries

static int create_handles(ln_cuda_libs *libs)
{
    const cudnnStatus_t status = cudnnCreate(&libs->cudnn);
    if (status)
        return tl_fail("cuDNN cannot start: %s", cudnnGetErrorString(status));
    if (cublasLtCreate(&libs->blas))
        return tl_fail("cuBLASLt cannot start");
    cudaError_t error = cudaStreamCreateWithFlags(&libs->stream, cudaStreamNonBlocking);
    if (!error)
        error = cudaEventCreate(&libs->start);
    if (!error)
        error = cudaEventCreate(&libs->stop);
    return error ? tl_fail("CUDA: %s", cudaGetErrorString(error)) : 0;
}

ln_cuda_libs *ln_cuda_libs_create(void)
{
    ln_cuda_libs *const libs = tl_alloc(sizeof(*libs));
    if (!libs)
        return NULL;
    memset(libs, 0, sizeof(*libs));
    if (!create_handles(libs))
        return libs;
    ln_cuda_libs_free(libs);
    return NULL;
}

void ln_cuda_trim(ln_cuda_libs *libs)
{
    cudaFree(libs->arena);
    cudaFree(libs->work);
    libs->arena = libs->work = NULL;
    libs->arena_size = 0;
    memset(libs->data, 0, sizeof(libs->data));
}

void ln_cuda_libs_free(ln_cuda_libs *libs)
{
    if (!libs)
        return;
    while (libs->kept) {
        ln_cuda_kept *const kept = libs->kept;
        libs->kept = kept->next;
        ln_cuda_free_plan(kept->plan);
        tl_free(kept);
    }
    ln_cuda_trim(libs);
    if (libs->stop)
        cudaEventDestroy(libs->stop);
    if (libs->start)
        cudaEventDestroy(libs->start);
    if (libs->stream)
        cudaStreamDestroy(libs->stream);
    if (libs->blas)
        cublasLtDestroy(libs->blas);
    if (libs->cudnn)
        cudnnDestroy(libs->cudnn);
    tl_free(libs);
}

// Plans

void *ln_cuda_new_plan(size_t size)
{
    ln_cuda_plan *const plan = tl_alloc(size);
    if (!plan)
        return NULL;
    memset(plan, 0, size);
    plan->refs = 1;
    return plan;
}

void ln_cuda_free_plan(ln_cuda_plan *plan)
{
    if (!plan || --plan->refs)
        return;
    if (plan->clear)
        plan->clear(plan);
    tl_free(plan);
}

ln_cuda_shape ln_cuda_shape_of(const tl_tensor *t)
{
    ln_cuda_shape shape = {.ndim = t->ndim};
    for (int i = 0; i < t->ndim && i < 4; i++)
        shape.dims[i] = t->dims[i];
    return shape;
}

static int length_of(const ln_cuda_shape *shape)
{
    int len = shape->ndim > 0;
    for (int i = 0; i < shape->ndim; i++)
        len *= shape->dims[i];
    return len;
}

tl_tensor ln_cuda_tensor(const ln_cuda_plan *plan, int arg, void *const *data)
{
    const ln_cuda_shape *const shape = &plan->args[arg];
    return (tl_tensor){.dtype = plan->dtype,
                       .len = length_of(shape),
                       .ndim = shape->ndim,
                       .dims = (int *)shape->dims,
                       .data = data[arg]};
}

int ln_cuda_is_whole(const ln_cuda_plan *plan)
{
    const ln_cuda_rest *const rest = &plan->rest;
    return !rest->has_bias && !rest->has_addend && rest->act.act == TL_ACT_NONE;
}

static int run_nothing(const ln_cuda_plan *plan, ln_cuda_libs *libs, const ln_cuda_run *run)
{
    (void)plan, (void)libs, (void)run;
    return 0;
}

ln_cuda_plan *ln_cuda_plan_nothing(void)
{
    ln_cuda_plan *const plan = ln_cuda_new_plan(sizeof(*plan));
    if (!plan)
        return NULL;
    strcpy(plan->name, "nothing");
    plan->run = run_nothing;
    return plan;
}

int ln_cuda_is_float(tl_dtype dtype)
{
    return dtype == TL_FLOAT || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

static int run_rest(const ln_cuda_plan *plan, const ln_cuda_run *run)
{
    const ln_cuda_rest *const rest = &plan->rest;
    const tl_tensor bias = ln_cuda_tensor(plan, LN_CUDA_BIAS, run->data),
                    addend = ln_cuda_tensor(plan, LN_CUDA_ADDEND, run->data);
    tl_tensor dst = ln_cuda_tensor(plan, LN_CUDA_DST, run->data);
    return ln_cuda_epilogue(run->stream, rest->has_bias ? &bias : NULL,
                            rest->has_addend ? &addend : NULL, &dst, plan->axis, rest->act);
}

int ln_cuda_run_plan(const ln_cuda_plan *plan, ln_cuda_libs *libs, ln_cuda_stream stream,
                     void *const *data, void *work)
{
    const ln_cuda_run run = {stream, data, work};
    if (plan->run(plan, libs, &run))
        return -1;
    return ln_cuda_is_whole(plan) ? 0 : run_rest(plan, &run);
}

size_t ln_cuda_plan_work(const ln_cuda_plan *plan)
{
    return plan->work;
}

const char *ln_cuda_plan_name(const ln_cuda_plan *plan)
{
    return plan->name;
}

int ln_cuda_plan_reads_taps(const ln_cuda_plan *plan)
{
    return plan->reads_taps;
}

int ln_cuda_plan_sums(const ln_cuda_plan *plan)
{
    return plan->sums;
}

double ln_cuda_plan_seconds(const ln_cuda_plan *plan)
{
    return plan->seconds;
}

// Data for measurements

enum {
    BLOCK_LEN = 1 << 16, // random elements that are then repeated
    ARENA_STEP = 256,    // the alignment of cudaMalloc
};

static size_t size_of(const ln_cuda_plan *plan, int arg)
{
    const size_t size = (size_t)length_of(&plan->args[arg]) * tl_size_of(plan->dtype);
    return (size + ARENA_STEP - 1) / ARENA_STEP * ARENA_STEP;
}

static cudaError_t grow_arena(ln_cuda_libs *libs, size_t size)
{
    if (!libs->work) {
        const cudaError_t error = cudaMalloc(&libs->work, LN_CUDA_WORK);
        if (error)
            return error;
    }
    if (libs->arena_size >= size)
        return cudaSuccess;
    cudaFree(libs->arena);
    libs->arena = NULL;
    libs->arena_size = 0;
    const cudaError_t error = cudaMalloc(&libs->arena, size);
    if (!error)
        libs->arena_size = size;
    return error;
}

// Copies the block to the start of the arena, then doubles it until it has `size` bytes.
static cudaError_t replicate(ln_cuda_libs *libs, const void *block, size_t block_size, size_t size)
{
    char *const arena = libs->arena;
    size_t done = block_size < size ? block_size : size;
    cudaError_t error = cudaMemcpyAsync(arena, block, done, cudaMemcpyHostToDevice, libs->stream);
    while (!error && done < size) {
        const size_t n = done < size - done ? done : size - done;
        error = cudaMemcpyAsync(arena + done, arena, n, cudaMemcpyDeviceToDevice, libs->stream);
        done += n;
    }
    return error ? error : cudaStreamSynchronize(libs->stream);
}

// Values that are not 0: zeros would cost the GPU less power, and so run at a higher clock.
static int fill_arena(ln_cuda_libs *libs, tl_dtype dtype, size_t size)
{
    uint64_t state = 1;
    tl_tensor *const block = tl_tensor_zeros(1, (int[]){BLOCK_LEN}, dtype);
    if (!block)
        return -1;
    int failed = tl_tensor_fill_uniform(block, -0.5, 0.5, &state);
    if (!failed) {
        const cudaError_t error = replicate(libs, block->data, tl_tensor_size(block), size);
        if (error)
            failed = tl_fail("CUDA cannot fill %zu bytes: %s", size, cudaGetErrorString(error));
    }
    tl_tensor_free_data_too(block);
    return failed;
}

int ln_cuda_use_shapes(ln_cuda_libs *libs, const ln_cuda_plan *plan)
{
    size_t size = 0;
    for (int i = 0; i < LN_CUDA_ARGS; i++)
        size += size_of(plan, i);
    const cudaError_t error = grow_arena(libs, size);
    if (error) {
        cudaGetLastError();
        return tl_fail("no device memory of %zu bytes for measurements: %s", size,
                       cudaGetErrorString(error));
    }
    char *next = libs->arena;
    for (int i = 0; i < LN_CUDA_ARGS; i++) {
        libs->data[i] = plan->args[i].ndim ? next : NULL;
        next += size_of(plan, i);
    }
    return fill_arena(libs, plan->dtype, size);
}

// Measurements

// A plan needs about 15 measurements, so each is short: a candidate that is clearly slower than the
// best runs twice, and one whose groups take equal times runs for two of them.
enum {
    WARM_UPS = 1, // the first run loads the code
    GROUPS = 5,   // of runs, at most, of which the fastest counts
    MAX_RUNS = 30 // of a group
};
static const double group_seconds = 0.3e-3, clearly_slower = 1.3;
static const double steady = 0.02; // the relative difference of equal times
// A single run, with its launch, may take once_slower * limit + launch_seconds.
static const double once_slower = 1.5, launch_seconds = 50e-6;

static int run_times(ln_cuda_libs *libs, const ln_cuda_plan *plan, int n)
{
    for (int i = 0; i < n; i++)
        if (ln_cuda_run_plan(plan, libs, libs->stream, libs->data, libs->work))
            return -1;
    return 0;
}

// Seconds from the event `start` to `stop`, once they happened; -1: something failed.
static double elapsed(ln_cuda_libs *libs)
{
    float milliseconds;
    if (cudaEventRecord(libs->stop, libs->stream) || cudaEventSynchronize(libs->stop) ||
        cudaEventElapsedTime(&milliseconds, libs->start, libs->stop))
        return -1;
    return milliseconds * 1e-3;
}

// Seconds of `n` runs that are launched one by one, or -1.
static double time_runs(ln_cuda_libs *libs, const ln_cuda_plan *plan, int n)
{
    if (cudaEventRecord(libs->start, libs->stream) || run_times(libs, plan, n))
        return -1;
    return elapsed(libs);
}

// Seconds of a group, or -1.
static double time_group(ln_cuda_libs *libs, cudaGraphExec_t group)
{
    if (cudaEventRecord(libs->start, libs->stream) || cudaGraphLaunch(group, libs->stream))
        return -1;
    return elapsed(libs);
}

static cudaGraphExec_t capture_group(ln_cuda_libs *libs, const ln_cuda_plan *plan, int n)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t group = NULL;
    if (cudaStreamBeginCapture(libs->stream, cudaStreamCaptureModeThreadLocal))
        return NULL;
    const int failed = run_times(libs, plan, n);
    if (cudaStreamEndCapture(libs->stream, &graph) || failed ||
        cudaGraphInstantiate(&group, graph, 0))
        group = NULL;
    if (graph)
        cudaGraphDestroy(graph);
    return group;
}

// The number of runs that take about group_seconds if one, with its launch, takes `seconds`.
static int runs_of_group(double seconds)
{
    const double n = seconds > 1e-6 ? group_seconds / seconds : MAX_RUNS;
    return n < 1 ? 1 : n > MAX_RUNS ? MAX_RUNS : (int)n;
}

// The seconds of the fastest group, or -1. Stops after two equal ones, or at the limit.
static double fastest_group(ln_cuda_libs *libs, cudaGraphExec_t group, double limit)
{
    double fastest = time_group(libs, group); // the first one warms up
    for (int i = 0; i < GROUPS && fastest >= 0; i++) {
        const double seconds = time_group(libs, group), last = fastest;
        if (seconds < fastest)
            fastest = seconds;
        if ((limit > 0 && fastest > limit) || fabs(seconds - last) < steady * last)
            break;
    }
    return fastest;
}

static double measure(ln_cuda_libs *libs, const ln_cuda_plan *plan, double limit)
{
    if (time_runs(libs, plan, WARM_UPS) < 0)
        return -1;
    const double once = time_runs(libs, plan, 1);
    if (once < 0)
        return -1;
    if (limit > 0 && once > limit * once_slower + launch_seconds)
        return once;
    const int n = runs_of_group(once);
    const cudaGraphExec_t group = capture_group(libs, plan, n);
    if (!group)
        return -1;
    const double seconds = fastest_group(libs, group, limit * clearly_slower * n);
    cudaGraphExecDestroy(group);
    return seconds < 0 ? -1 : seconds / n;
}

double ln_cuda_measure(ln_cuda_libs *libs, const ln_cuda_plan *plan, double limit)
{
    const double seconds = measure(libs, plan, limit);
    if (seconds < 0)
        cudaGetLastError(); // a failed candidate is not an error of later calls
    return seconds;
}

void ln_cuda_compete(ln_cuda_libs *libs, ln_cuda_plan **best, ln_cuda_plan *plan)
{
    plan->seconds = ln_cuda_measure(libs, plan, *best ? (*best)->seconds : 0);
    if (plan->seconds < 0 || (*best && (*best)->seconds <= plan->seconds)) {
        ln_cuda_free_plan(plan);
        return;
    }
    ln_cuda_free_plan(*best);
    *best = plan;
}

// Plans by request

void ln_cuda_key_add(ln_cuda_key *key, int n, const int *values)
{
    for (int i = 0; i < n; i++)
        key->values[key->n++] = values[i];
}

void ln_cuda_key_add_dims(ln_cuda_key *key, const tl_tensor *t)
{
    ln_cuda_key_add(key, 1, &t->ndim);
    ln_cuda_key_add(key, t->ndim, t->dims);
}

void ln_cuda_key_add_float(ln_cuda_key *key, float value)
{
    int bits;
    memcpy(&bits, &value, sizeof(bits));
    ln_cuda_key_add(key, 1, &bits);
}

void ln_cuda_key_add_act(ln_cuda_key *key, tl_activation act)
{
    ln_cuda_key_add(key, 1, (const int[]){act.act});
    ln_cuda_key_add_float(key, act.alpha);
    ln_cuda_key_add_float(key, act.beta);
}

static void replace(ln_cuda_plan **plan, ln_cuda_plan *by)
{
    by->refs++;
    ln_cuda_free_plan(*plan);
    *plan = by;
}

int ln_cuda_find_plan(ln_cuda_libs *libs, const ln_cuda_key *key, ln_cuda_plan **plan)
{
    const ln_cuda_kept *kept = libs->kept;
    while (kept && memcmp(&kept->key, key, sizeof(*key)))
        kept = kept->next;
    if (!kept)
        return 0;
    replace(plan, kept->plan);
    return 1;
}

int ln_cuda_keep_plan(ln_cuda_libs *libs, const ln_cuda_key *key, ln_cuda_plan *made,
                      ln_cuda_plan **plan)
{
    ln_cuda_kept *const kept = tl_alloc(sizeof(*kept));
    if (!kept) {
        ln_cuda_free_plan(made);
        return -1;
    }
    *kept = (ln_cuda_kept){*key, made, libs->kept};
    libs->kept = kept;
    replace(plan, made);
    return 0;
}
