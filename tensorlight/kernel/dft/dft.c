// SPDX-License-Identifier: Apache-2.0
// Fourier transforms along an axis and of frames: lines of a tensor are read, transformed and
// written.

#ifndef T // once

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "kernel/dft/fft.h"
#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_signal.h"

// The lines [.., inner] of scalars of a tensor; distances in elements.
typedef struct tl_dft_lines {
    size_t outer, inner; // from a line to the next one of that axis
    size_t step;         // from a number to the next one
    size_t len;          // numbers of a line
    size_t parts;        // of a number: 1 or 2
} tl_dft_lines;

typedef struct dft_job {
    const void *src, *window; // window [src_lines.len] or NULL
    void *dst;
    tl_dft_lines src_lines, dst_lines; // at most fft->n numbers; those that src lacks are 0,
    size_t n_inner;                    // of the lines of both
    int inverse, mirrored;             // or, mirrored, conjugates of those on the other side
    const tl_fft *fft;
    const tl_stop *stop; // checked before each line
} dft_job;

// Transforms the lines begin .. end-1; `work` [2 * fft->n + tl_fft_work_len(fft->n)].
typedef void dft_func(const dft_job *job, size_t begin, size_t end, double *work);

#define TL_TEMPLATE "kernel/dft/dft.c"
#include "tensor/tl_each_float.inc.h"

TL_PLAIN_TABLE(pick, dft_func, dft, FLT)

// Lines among threads

// The max number of threads for a line: scratch memory is planned before their number is known.
enum { LANES = 8 };

static size_t lane_len(size_t n)
{
    return 2 * n + tl_fft_work_len(n);
}

static size_t scratch_for(size_t n)
{
    return (tl_fft_table_len(n) + LANES * lane_len(n)) * sizeof(double);
}

typedef struct lanes {
    const dft_job *job;
    dft_func *func;
    size_t n_lines;
    double *work;
} lanes;

static void transform_lanes(void *arg, size_t begin, size_t end)
{
    const lanes *const a = arg;
    for (size_t lane = begin; lane < end; lane++)
        a->func(a->job, a->n_lines * lane / LANES, a->n_lines * (lane + 1) / LANES,
                a->work + lane * lane_len(a->job->fft->n));
}

// Prepares the job's `fft`, and runs it on lines of `n` scalars.
static int transform_lines(const tl_exec *exec, dft_job *job, size_t n_lines, size_t n,
                           tl_dtype dtype)
{
    if (tl_check_scratch(exec, scratch_for(n), "to transform") < 0)
        return -1;
    double *const plan = exec->scratch, *const work = plan + tl_fft_table_len(n);
    tl_fft fft;
    tl_fft_init(&fft, n, plan, work, exec->stop);
    job->fft = &fft;
    job->stop = exec->stop;
    lanes a = {job, pick(exec, dtype), n_lines, work};
    tl_parallel(exec, LANES, tl_axis_grain(n_lines / LANES * n * 16), transform_lanes, &a);
    return 0;
}

// Along an axis

// n of the transform; less than 1: none.
static long long dft_length(const tl_tensor *src, const tl_dft_param *param)
{
    if (param->len)
        return param->len;
    const int len = src->dims[param->axis];
    return param->inverse && param->onesided ? 2 * ((long long)len - 1) : len;
}

// The last axis of `src` is a scalar, real or complex.
static int check_parts(const tl_tensor *src)
{
    char text[TL_SHAPE_TEXT_SIZE];
    if (src->ndim < 2 || src->dims[src->ndim - 1] < 1 || src->dims[src->ndim - 1] > 2)
        return tl_fail("'src' has shape %s, expected [.., 1] for real or [.., 2] for complex "
                       "numbers",
                       tl_shape_text(text, src->ndim, src->dims));
    return 0;
}

static int check_onesided(const tl_tensor *src)
{
    if (src->dims[src->ndim - 1] != 1)
        return tl_fail("'src' is complex, expected a real signal to take one side of its "
                       "frequencies");
    return 0;
}

int tl_dft_dims(const tl_tensor *src, const tl_dft_param *param, int *dims)
{
    if (check_parts(src) < 0)
        return -1;
    if (param->axis < 0 || param->axis >= src->ndim - 1)
        return tl_fail("axis %d, expected 0 to %d", param->axis, src->ndim - 2);
    if (param->onesided && !param->inverse && check_onesided(src) < 0)
        return -1;
    const long long n = dft_length(src, param);
    if (n < 1 || n > INT_MAX)
        return tl_fail("a transform of %lld numbers, expected 1 to %d", n, INT_MAX);
    memcpy(dims, src->dims, (size_t)src->ndim * sizeof(*dims));
    dims[param->axis] = param->onesided && !param->inverse ? (int)(n / 2 + 1) : (int)n;
    dims[src->ndim - 1] = param->onesided && param->inverse ? 1 : 2;
    return 0;
}

size_t tl_dft_scratch(const tl_tensor *src, const tl_dft_param *param)
{
    return scratch_for((size_t)dft_length(src, param));
}

// The lines of `t` along `axis`, with at most `max` scalars each.
static tl_dft_lines lines_of(const tl_tensor *t, int axis, size_t max)
{
    const tl_axis a = tl_axis_of(t, axis);
    const size_t parts = (size_t)t->dims[t->ndim - 1];
    return (tl_dft_lines){.outer = a.len * a.inner,
                          .inner = parts,
                          .step = a.inner,
                          .len = tl_min_size(a.len, max),
                          .parts = parts};
}

int tl_exec_dft(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst,
                const tl_dft_param *param)
{
    assert(tl_dtype_is_float(src->dtype) && src->dtype == dst->dtype && src->ndim == dst->ndim);
    const size_t n = (size_t)dft_length(src, param);
    const int mirrored = param->onesided && param->inverse;
    const tl_axis a = tl_axis_of(dst, param->axis);
    dft_job job = {.src = src->data,
                   .dst = dst->data,
                   .src_lines = lines_of(src, param->axis, mirrored ? n / 2 + 1 : n),
                   .dst_lines = lines_of(dst, param->axis, n),
                   .n_inner = a.inner / (size_t)dst->dims[dst->ndim - 1],
                   .inverse = param->inverse,
                   .mirrored = mirrored};
    if (dst->len == 0)
        return 0;
    return transform_lines(exec, &job, a.outer * job.n_inner, n, src->dtype);
}

tl_tensor *tl_tensor_dft(const tl_tensor *src, tl_tensor *dst, const tl_dft_param *param)
{
    int dims[TL_MAXDIM];
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_float(src, "src") < 0 ||
        tl_dft_dims(src, param, dims) < 0)
        return NULL;
    const tl_exec exec = tl_result_exec(tl_dft_scratch(src, param));
    tl_tensor *const result =
        exec.scratch ? tl_result_begin(dst, src->ndim, dims, src->dtype) : NULL;
    const int status = result ? tl_exec_dft(&exec, src, result, param) : -1;
    tl_free(exec.scratch);
    return tl_result_end(result, dst, status);
}

// Of frames

int tl_stft_dims(const tl_tensor *src, const tl_stft_param *param, int *dims)
{
    char text[TL_SHAPE_TEXT_SIZE];
    if (check_parts(src) < 0)
        return -1;
    if (src->ndim != 3)
        return tl_fail("'src' has shape %s, expected 3 dimensions",
                       tl_shape_text(text, src->ndim, src->dims));
    if (param->onesided && check_onesided(src) < 0)
        return -1;
    if (param->step < 1 || param->len < 1)
        return tl_fail("frames of %d at a distance of %d, expected both to be at least 1",
                       param->len, param->step);
    if (param->len > src->dims[1])
        return tl_fail("frames of %d, expected at most the length of 'src', %d", param->len,
                       src->dims[1]);
    dims[0] = src->dims[0];
    dims[1] = (src->dims[1] - param->len) / param->step + 1;
    dims[2] = param->onesided ? param->len / 2 + 1 : param->len;
    dims[3] = 2;
    return 0;
}

size_t tl_stft_scratch(const tl_stft_param *param)
{
    return scratch_for((size_t)param->len);
}

int tl_exec_stft(const tl_exec *exec, const tl_tensor *src, const tl_tensor *window, tl_tensor *dst,
                 const tl_stft_param *param)
{
    assert(tl_dtype_is_float(src->dtype) && src->dtype == dst->dtype);
    assert(!window || (window->dtype == src->dtype && window->len == param->len));
    const size_t parts = (size_t)src->dims[2], n = (size_t)param->len;
    const size_t frames = (size_t)dst->dims[1], n_out = (size_t)dst->dims[2];
    dft_job job = {.src = src->data,
                   .window = window ? window->data : NULL,
                   .dst = dst->data,
                   .src_lines = {.outer = (size_t)src->dims[1] * parts,
                                 .inner = (size_t)param->step * parts,
                                 .step = parts,
                                 .len = n,
                                 .parts = parts},
                   .dst_lines = {.outer = frames * n_out * 2,
                                 .inner = n_out * 2,
                                 .step = 2,
                                 .len = n_out,
                                 .parts = 2},
                   .n_inner = frames};
    if (dst->len == 0)
        return 0;
    return transform_lines(exec, &job, (size_t)src->dims[0] * frames, n, src->dtype);
}

tl_tensor *tl_tensor_stft(const tl_tensor *src, const tl_tensor *window, tl_tensor *dst,
                          const tl_stft_param *param)
{
    int dims[TL_MAXDIM];
    if (tl_check_operand(src, "src", dst) < 0 || tl_check_float(src, "src") < 0 ||
        tl_stft_dims(src, param, dims) < 0 ||
        (window && (tl_check_given(window, "window", 1, &param->len, src->dtype) < 0 ||
                    tl_check_apart(dst, window) < 0)))
        return NULL;
    const tl_exec exec = tl_result_exec(tl_stft_scratch(param));
    tl_tensor *const result = exec.scratch ? tl_result_begin(dst, 4, dims, src->dtype) : NULL;
    const int status = result ? tl_exec_stft(&exec, src, window, result, param) : -1;
    tl_free(exec.scratch);
    return tl_result_end(result, dst, status);
}

#else // for each type

static void NAME(read_line, c)(const dft_job *job, const T *src, double *re, double *im)
{
    const tl_dft_lines *const lines = &job->src_lines;
    const T *const window = job->window;
    const size_t n = job->fft->n;
    memset(re, 0, n * sizeof(*re));
    memset(im, 0, n * sizeof(*im));
    for (size_t j = 0; j < lines->len; j++)
        re[j] = (double)LOAD(src[j * lines->step]);
    for (size_t j = 0; lines->parts == 2 && j < lines->len; j++)
        im[j] = (double)LOAD(src[j * lines->step + 1]);
    for (size_t j = 0; window && j < lines->len; j++) {
        re[j] *= (double)LOAD(window[j]);
        im[j] *= (double)LOAD(window[j]);
    }
    for (size_t j = 1; job->mirrored && j < n - n / 2; j++) {
        re[n - j] = re[j];
        im[n - j] = -im[j];
    }
}

static void NAME(write_line, c)(const dft_job *job, const double *re, const double *im, T *dst)
{
    const tl_dft_lines *const lines = &job->dst_lines;
    const double n = job->inverse ? (double)job->fft->n : 1;
    for (size_t k = 0; k < lines->len; k++)
        dst[k * lines->step] = STORE((C)(re[k] / n));
    for (size_t k = 0; lines->parts == 2 && k < lines->len; k++)
        dst[k * lines->step + 1] = STORE((C)(im[k] / n));
}

static void NAME(dft, c)(const dft_job *job, size_t begin, size_t end, double *work)
{
    double *const re = work, *const im = work + job->fft->n, *const rest = im + job->fft->n;
    for (size_t i = begin; i < end && !tl_stop_is_requested(job->stop); i++) {
        const size_t outer = i / job->n_inner, inner = i % job->n_inner;
        const tl_dft_lines *const s = &job->src_lines, *const d = &job->dst_lines;
        const T *const src = (const T *)job->src + outer * s->outer + inner * s->inner;
        T *const dst = (T *)job->dst + outer * d->outer + inner * d->inner;
        NAME(read_line, c)(job, src, re, im);
        tl_fft_run(job->fft, job->inverse ? im : re, job->inverse ? re : im, rest);
        NAME(write_line, c)(job, re, im, dst);
    }
}

#endif
