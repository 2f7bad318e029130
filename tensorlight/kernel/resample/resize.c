// SPDX-License-Identifier: Apache-2.0
// Resizing: nearest neighbour, and linear interpolation along all axes.
//
// Position d of `out` is at c = (d + 0.5) * (in / out) - 0.5 of `in`. Rows are computed in chunks
// of the last axis: positions of the columns of a chunk are computed once for all rows.

#ifndef T // once

#include <assert.h>
#include <math.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

// src [in] -> dst [out], both of `ndim` dimensions, none of them 0.
typedef struct resize_job {
    const void *src;
    void *dst;
    tl_dtype dtype;
    int ndim; // 1 .. TL_MAXDIM
    int in[TL_MAXDIM], out[TL_MAXDIM];
} resize_job;

// Computes the rows (all axes but the last) begin .. end-1 of dst for the resize_job at `arg`.
typedef void resize_func(void *arg, size_t begin, size_t end);

enum { CHUNK = 256 };

// Max corners of a row: a low and a high one along each axis but the last.
enum { MAX_CORNERS = 1 << (TL_MAXDIM - 1) };

// The index of `in` nearest to index `d` of `out`. Scale and c are floats before rounding, which
// decides ties.
static int nearest(int d, int in, int out)
{
    const float scale = (float)in / (float)out;
    const float c = roundf((float)((d + 0.5) * (double)scale - 0.5));
    return c < 0 ? 0 : c >= (float)(in - 1) ? in - 1 : tl_min((int)c, in - 1);
}

// Interpolation: (1 - part) * src[low] + part * src[high].
typedef struct mix {
    int low, high;
    double part;
} mix;

static mix mix_at(int d, int in, int out)
{
    double c = (d + 0.5) * ((double)in / out) - 0.5;
    c = c < 0 ? 0 : c > in - 1 ? in - 1 : c;
    const int low = (int)c;
    return (mix){low, tl_min(low + 1, in - 1), c - low};
}

// A row of src, and its weight in a row of dst.
typedef struct corner {
    size_t row;
    double weight;
} corner;

// Splits `row` of dst into its coordinates on all axes but the last.
static void coords_of(const resize_job *job, size_t row, int *coords)
{
    for (int i = job->ndim - 2; i >= 0; i--) {
        coords[i] = (int)(row % (size_t)job->out[i]);
        row /= (size_t)job->out[i];
    }
}

static size_t nearest_row(const resize_job *job, size_t row)
{
    int coords[TL_MAXDIM];
    coords_of(job, row, coords);
    size_t src_row = 0;
    for (int i = 0; i < job->ndim - 1; i++)
        src_row = src_row * job->in[i] + nearest(coords[i], job->in[i], job->out[i]);
    return src_row;
}

// Lists the rows of src that `row` of dst interpolates, and returns how many. Leaves out weight 0,
// since 0 times infinity is NaN.
static int corners_of(const resize_job *job, size_t row, corner *corners)
{
    int coords[TL_MAXDIM];
    coords_of(job, row, coords);
    int n = 1;
    corners[0] = (corner){0, 1};
    for (int i = 0; i < job->ndim - 1; i++) {
        const mix m = mix_at(coords[i], job->in[i], job->out[i]);
        const int old = n;
        for (int k = 0; k < old; k++) {
            const corner at = {corners[k].row * job->in[i], corners[k].weight};
            corners[k] = (corner){at.row + m.low, at.weight * (1 - m.part)};
            if (m.part > 0)
                corners[n++] = (corner){at.row + m.high, at.weight * m.part};
        }
    }
    return n;
}

#define TL_TEMPLATE "kernel/resample/resize.c"

// A copy serves all types of its size, such as TL_FLOAT.
#define IS_NEAREST
#define TL_TUNED_ALL
#include "tensor/tl_each_uint.inc.h"
#undef IS_NEAREST
#undef TL_TUNED_ALL

#include "tensor/tl_each_float.inc.h"
#include "tensor/tl_each_int.inc.h"

TL_PLAIN_TABLE(pick_nearest, resize_func, resize_nearest, UINT)
TL_PLAIN_TABLE(pick_linear, resize_func, resize_linear, NUM)

int tl_exec_resize(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_resize_type rtype)
{
    resize_func *const func = rtype == TL_LINEAR
                                  ? pick_linear(exec, src->dtype)
                                  : pick_nearest(exec, tl_dtype_of_size(tl_size_of(src->dtype)));
    assert(func && src->dtype == dst->dtype && src->ndim == dst->ndim);
    assert(src->len > 0 || dst->len == 0);
    if (tl_tensor_issameshape(src, dst)) // exact, also for 64-bit integers
        return tl_exec_copy(exec, src, dst);
    if (dst->len == 0)
        return 0;
    resize_job job = {src->data, dst->data, src->dtype, src->ndim, {0}, {0}};
    memcpy(job.in, src->dims, (size_t)src->ndim * sizeof(int));
    memcpy(job.out, dst->dims, (size_t)dst->ndim * sizeof(int));
    const size_t width = (size_t)job.out[job.ndim - 1];
    tl_parallel(exec, (size_t)dst->len / width, TL_GRAIN_MEMORY_BOUND / width + 1, func, &job);
    return 0;
}

int tl_resize_check(const tl_tensor *src, const int *new_dims, tl_resize_type rtype)
{
    if (!tl_resize_type_name(rtype))
        return tl_fail("resize type %d, expected 0 to %d", rtype, TL_RESIZE_TYPE_SIZE - 1);
    if (rtype == TL_LINEAR && src->dtype == TL_BOOL)
        return tl_fail("'src' has type TL_BOOL, expected a number type for TL_LINEAR");
    const int len = tl_compute_length(src->ndim, new_dims);
    if (len < 0)
        return -1;
    if (src->len == 0 && len > 0)
        return tl_fail("'src' is empty, expected elements to make %d of", len);
    return 0;
}

tl_tensor *tl_tensor_resize(const tl_tensor *src, tl_tensor *dst, const int *new_dims,
                            tl_resize_type rtype)
{
    if (tl_check_operand(src, "src", dst) < 0 || tl_resize_check(src, new_dims, rtype) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, new_dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_resize(NULL, src, result, rtype) : -1);
}

#else // for each type

#ifdef IS_NEAREST

// Nearest neighbour, for one element size

static void NAME(resize_nearest, c)(void *arg, size_t begin, size_t end)
{
    const resize_job *const job = arg;
    const int in = job->in[job->ndim - 1], out = job->out[job->ndim - 1];
    int columns[CHUNK];
    for (int start = 0; start < out; start += CHUNK) {
        const int n = tl_min(CHUNK, out - start);
        for (int x = 0; x < n; x++)
            columns[x] = nearest(start + x, in, out);
        for (size_t row = begin; row < end; row++) {
            const T *const src = (const T *)job->src + nearest_row(job, row) * in;
            T *const dst = (T *)job->dst + row * out + start;
            for (int x = 0; x < n; x++)
                dst[x] = src[columns[x]];
        }
        if (out - start <= CHUNK)
            break; // start + CHUNK could exceed an int
    }
}

#else

// Linear

// Adds `weight` times the interpolated elements of a row to sums.
static void NAME(add_row, c)(double *sums, const T *row, const mix *columns, int n, double weight)
{
    for (int x = 0; x < n; x++) {
        const mix m = columns[x];
        const double low = (double)LOAD(row[m.low]), high = (double)LOAD(row[m.high]);
        sums[x] += weight * (m.part > 0 ? (1 - m.part) * low + m.part * high : low);
    }
}

static void NAME(store_row, c)(T *dst, double *sums, int n, tl_dtype dtype)
{
    if (tl_dtype_is_float(dtype)) {
        for (int x = 0; x < n; x++)
            dst[x] = STORE((C)sums[x]);
        return;
    }
    for (int x = 0; x < n; x++)
        sums[x] = round(sums[x]);
    tl_convert_array(dst, dtype, sums, TL_DOUBLE, (size_t)n);
}

static void NAME(resize_linear, c)(void *arg, size_t begin, size_t end)
{
    const resize_job *const job = arg;
    const int in = job->in[job->ndim - 1], out = job->out[job->ndim - 1];
    mix columns[CHUNK];
    corner corners[MAX_CORNERS];
    for (int start = 0; start < out; start += CHUNK) {
        const int n = tl_min(CHUNK, out - start);
        for (int x = 0; x < n; x++)
            columns[x] = mix_at(start + x, in, out);
        for (size_t row = begin; row < end; row++) {
            double sums[CHUNK];
            for (int x = 0; x < n; x++)
                sums[x] = -0.0; // -0 + x is x, also for x = -0
            const int n_corners = corners_of(job, row, corners);
            for (int k = 0; k < n_corners; k++) {
                const T *const src = (const T *)job->src + corners[k].row * in;
                NAME(add_row, c)(sums, src, columns, n, corners[k].weight);
            }
            NAME(store_row, c)((T *)job->dst + row * out + start, sums, n, job->dtype);
        }
        if (out - start <= CHUNK)
            break; // start + CHUNK could exceed an int
    }
}

#endif

#endif
