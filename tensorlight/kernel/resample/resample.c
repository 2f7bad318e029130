// SPDX-License-Identifier: Apache-2.0
// Resampling: checks, tables, the order of the axes, threads.

#include "kernel/resample/resample.h"

#include <assert.h>
#include <limits.h>
#include <math.h>

#include "kernel/cast/cast.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_name.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick_nearest, tl_resample_func, TL_RESAMPLE_NEAREST_KERNELS)
TL_KERNEL_TABLE(pick_filter, tl_resample_func, TL_RESAMPLE_FILTER_KERNELS)

// Names

static const char *const mode_names[] = {"TL_RESAMPLE_NEAREST", "TL_RESAMPLE_LINEAR",
                                         "TL_RESAMPLE_CUBIC"};
static const char *const rounding_names[] = {"TL_ROUND_HALF_DOWN", "TL_ROUND_HALF_UP",
                                             "TL_ROUND_DOWN", "TL_ROUND_UP"};
TL_NAME_AND_FROM_STR(tl_resample_mode, mode_names, TL_RESAMPLE_MODE_SIZE)
TL_NAME_AND_FROM_STR(tl_rounding, rounding_names, TL_ROUNDING_SIZE)

// Scratch memory: buffers, then a table per axis

// The type to compute in: for integers one with enough digits for exact sums.
static tl_dtype compute_dtype(tl_dtype dtype)
{
    const int is_narrow = tl_dtype_is_float(dtype) ? dtype != TL_DOUBLE : tl_size_of(dtype) == 1;
    return is_narrow ? TL_FLOAT : TL_DOUBLE;
}

// Lists the axes to resample, the smallest out / in first, and returns how many.
static int sort_axes(const tl_tensor *src, const int *dims, const tl_resample_param *param,
                     int *axes)
{
    int n = 0;
    for (int i = 0; i < src->ndim; i++) {
        if (tl_resample_is_identity(param, i, src->dims[i], dims[i]))
            continue;
        int k = n++;
        for (; k > 0; k--) { // insert before larger ratios
            const int other = axes[k - 1];
            if ((int64_t)dims[other] * src->dims[i] <= (int64_t)dims[i] * src->dims[other])
                break;
            axes[k] = other;
        }
        axes[k] = i;
    }
    return n;
}

// Offsets in scratch memory; sizes that are too large become SIZE_MAX / 2.
typedef struct layout {
    int n, axes[TL_MAXDIM];
    size_t buffers[2], weights[TL_MAXDIM], indices[TL_MAXDIM]; // tables: by index in axes
    size_t size;
} layout;

static size_t reserve(layout *l, double elements, size_t element_size)
{
    const size_t offset = l->size;
    const double size = elements * (double)element_size + 63;
    l->size =
        (double)l->size + size < 0x1p62 ? l->size + ((size_t)size & ~(size_t)63) : SIZE_MAX / 2;
    return offset;
}

static layout lay_out(const tl_tensor *src, const int *dims, const tl_resample_param *param)
{
    layout l = {.n = 0};
    l.n = sort_axes(src, dims, param, l.axes);
    const int is_nearest = param->mode == TL_RESAMPLE_NEAREST;
    double len = src->len, max = is_nearest ? 0 : len;
    for (int k = 0; k < l.n; k++) {
        const int axis = l.axes[k];
        const double taps = (double)dims[axis] * (double)tl_resample_taps(param, axis);
        l.indices[k] = reserve(&l, taps, sizeof(int));
        l.weights[k] = reserve(&l, is_nearest ? 0 : taps, sizeof(double));
        len = len / src->dims[axis] * dims[axis];
        max = is_nearest || max > len ? max : len;
    }
    for (int k = 0; k < 2; k++)
        l.buffers[k] = reserve(&l, max, tl_size_of(compute_dtype(src->dtype)));
    return l;
}

size_t tl_resample_scratch(const tl_tensor *src, const int *dims, const tl_resample_param *param)
{
    const layout l = lay_out(src, dims, param);
    if (l.size >= SIZE_MAX / 4) {
        tl_fail("resampling needs at least %zu bytes of scratch memory", SIZE_MAX / 4);
        return 0;
    }
    return l.size;
}

static tl_resample_table make_table(const tl_exec *exec, const layout *l, int k,
                                    const tl_tensor *src, const int *dims,
                                    const tl_resample_param *param)
{
    char *const scratch = exec->scratch;
    const int axis = l->axes[k];
    const tl_resample_table table = {
        (int)tl_resample_taps(param, axis), (int *)(scratch + l->indices[k]),
        param->mode == TL_RESAMPLE_NEAREST ? NULL : (double *)(scratch + l->weights[k])};
    tl_resample_fill_table(&table, param, axis, src->dims[axis], dims[axis]);
    return table;
}

// Computing

static uint64_t fill_of(const tl_resample_param *param, tl_dtype dtype)
{
    uint64_t fill = 0;
    tl_convert(&fill, dtype, &param->fill, TL_DOUBLE);
    return fill;
}

static void run_nearest(const tl_exec *exec, const layout *l, const tl_tensor *src, tl_tensor *dst,
                        const tl_resample_param *param)
{
    tl_nearest_job job = {
        src->data, dst->data, src->ndim, {0}, {0}, {0}, fill_of(param, dst->dtype)};
    memcpy(job.in, src->dims, (size_t)src->ndim * sizeof(int));
    memcpy(job.out, dst->dims, (size_t)dst->ndim * sizeof(int));
    for (int k = 0; k < l->n; k++)
        job.indices[l->axes[k]] = make_table(exec, l, k, src, dst->dims, param).indices;
    const size_t width = (size_t)job.out[job.ndim - 1];
    tl_parallel(exec, (size_t)dst->len / width, TL_GRAIN_MEMORY_BOUND / width + 1,
                pick_nearest(exec, tl_dtype_of_size(tl_size_of(src->dtype))), &job);
}

// Stores sums of the compute type as integers, in pieces that stay in the cache.
static void store_integers(char *from, tl_dtype compute, tl_tensor *dst)
{
    enum { PIECE = 2048 };
    for (int at = 0; at < dst->len; at += PIECE) {
        const size_t n = (size_t)(dst->len - at < PIECE ? dst->len - at : PIECE);
        char *const sums = from + (size_t)at * tl_size_of(compute);
        if (compute == TL_FLOAT)
            tl_resample_away_from_0_f32_c((float *)sums, n);
        else
            tl_resample_away_from_0_f64_c((double *)sums, n);
        tl_convert_array(tl_pointer_add(dst->data, at, dst->dtype), dst->dtype, sums, compute, n);
    }
}

// Stores sums of the compute type, which it may overwrite, in dst's type. Values beyond a float's
// range become infinite.
static void store(const tl_exec *exec, void *from, tl_dtype compute, tl_tensor *dst)
{
    if (!tl_dtype_is_float(dst->dtype))
        store_integers(from, compute, dst);
    else
        tl_cast_kernel(exec, compute, dst->dtype)(from, dst->data, (size_t)dst->len, NULL);
}

static void run_filter(const tl_exec *exec, const layout *l, const tl_tensor *src, tl_tensor *dst,
                       const tl_resample_param *param)
{
    const tl_dtype compute = compute_dtype(src->dtype);
    const int is_direct = compute == src->dtype;
    char *const scratch = exec->scratch;
    const void *from = src->data;
    if (!is_direct) {
        tl_convert_array(scratch + l->buffers[1], compute, src->data, src->dtype, (size_t)src->len);
        from = scratch + l->buffers[1];
    }
    int dims[TL_MAXDIM];
    memcpy(dims, src->dims, (size_t)src->ndim * sizeof(int));
    for (int k = 0; k < l->n; k++) {
        const int axis = l->axes[k];
        tl_filter_job job = {.src = from, .in = (size_t)dims[axis], .inner = 1};
        size_t outer = 1;
        for (int i = 0; i < src->ndim; i++) // dims[axis] goes to job.out, which is set below
            *(i < axis ? &outer : i > axis ? &job.inner : &job.out) *= (size_t)dims[i];
        job.out = (size_t)dst->dims[axis];
        job.dst = is_direct && k == l->n - 1 ? dst->data : scratch + l->buffers[k % 2];
        job.table = make_table(exec, l, k, src, dst->dims, param);
        const size_t line = job.inner == 1 ? job.out : job.inner;
        tl_parallel(exec, job.inner == 1 ? outer : outer * job.out,
                    TL_GRAIN_MEMORY_BOUND / (line * (size_t)job.table.n) + 1,
                    pick_filter(exec, compute), &job);
        from = job.dst;
        dims[axis] = dst->dims[axis];
    }
    if (!is_direct)
        store(exec, scratch + l->buffers[(l->n - 1) % 2], compute, dst);
}

// Overwrites results whose position is outside src.
static void fill_outside(const tl_tensor *src, tl_tensor *dst, const tl_resample_param *param)
{
    const uint64_t fill = fill_of(param, dst->dtype);
    const size_t size = tl_size_of(dst->dtype);
    for (int axis = 0; axis < dst->ndim; axis++) {
        size_t inner = 1;
        for (int i = axis + 1; i < dst->ndim; i++)
            inner *= (size_t)dst->dims[i];
        const size_t step = inner * (size_t)dst->dims[axis];
        for (int i = 0; i < dst->dims[axis]; i++) {
            if (!tl_resample_is_outside(param, axis, src->dims[axis], i))
                continue;
            for (size_t at = i * inner; at < (size_t)dst->len; at += step)
                for (size_t k = 0; k < inner; k++)
                    memcpy((char *)dst->data + (at + k) * size, &fill, size);
        }
    }
}

int tl_exec_resample(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                     const tl_resample_param *param)
{
    assert(src->dtype == dst->dtype && src->ndim == dst->ndim);
    assert(src->len > 0 || dst->len == 0);
    const layout l = lay_out(src, dst->dims, param);
    if (dst->len == 0)
        return 0;
    if (l.n == 0)
        return tl_exec_copy(exec, src, dst);
    if (tl_check_scratch(exec, l.size, "to resample") < 0)
        return -1;
    if (param->mode == TL_RESAMPLE_NEAREST) {
        run_nearest(exec, &l, src, dst, param);
    } else {
        run_filter(exec, &l, src, dst, param);
        if (param->fills_outside)
            fill_outside(src, dst, param);
    }
    return 0;
}

// Checks

static int check_axis(const tl_resample_axis *a, int axis, int in)
{
    if (!isfinite(a->shift) || !isfinite(a->span) || !isfinite(a->start) || !isfinite(a->steps) ||
        a->steps == 0)
        return tl_fail(
            "axis %d has shift %g, span %g, steps %g, start %g, expected finite numbers, "
            "'steps' not 0",
            axis, a->shift, a->span, a->steps, a->start);
    if (!(a->stretch >= 1 && a->stretch <= (in > 1 ? in : 1)))
        return tl_fail("axis %d has stretch %g, expected 1 to its length, %d", axis, a->stretch,
                       in);
    return 0;
}

int tl_resample_check(const tl_tensor *src, const int *dims, const tl_resample_param *param)
{
    if (!param)
        return tl_fail("'param' is NULL, expected parameters");
    if (!tl_resample_mode_name(param->mode))
        return tl_fail("resampling mode %d, expected 0 to %d", param->mode,
                       TL_RESAMPLE_MODE_SIZE - 1);
    if (!tl_rounding_name(param->rounding))
        return tl_fail("rounding %d, expected 0 to %d", param->rounding, TL_ROUNDING_SIZE - 1);
    if (param->mode != TL_RESAMPLE_NEAREST && src->dtype == TL_BOOL)
        return tl_fail("'src' has dtype TL_BOOL, expected a number for %s",
                       tl_resample_mode_name(param->mode));
    for (int i = 0; i < src->ndim; i++) {
        if (check_axis(&param->axes[i], i, src->dims[i]) < 0)
            return -1;
        if (tl_resample_taps(param, i) > INT_MAX)
            return tl_fail("axis %d has stretch %g, expected a filter of at most %d taps", i,
                           param->axes[i].stretch, INT_MAX);
    }
    const int len = tl_compute_length(src->ndim, dims);
    if (len < 0)
        return -1;
    if (src->len == 0 && len > 0)
        return tl_fail("'src' is empty, expected elements to make %d of", len);
    return 0;
}

tl_tensor *tl_tensor_resample(const tl_tensor *src, tl_tensor *dst, const int *dims,
                              const tl_resample_param *param)
{
    if (tl_check_operand(src, "src", dst) < 0 || tl_resample_check(src, dims, param) < 0)
        return NULL;
    tl_exec exec = {.scratch_size = tl_resample_scratch(src, dims, param), .isa = tl_isa_best()};
    tl_tensor *const result = tl_result_begin(dst, src->ndim, dims, src->dtype);
    if (!result)
        return NULL;
    exec.scratch = exec.scratch_size > 0 ? tl_alloc(exec.scratch_size) : NULL;
    const int status = tl_exec_resample(&exec, src, result, param);
    tl_free(exec.scratch);
    return tl_result_end(result, dst, status);
}
