// SPDX-License-Identifier: Apache-2.0
// Pooling over any number of axes.
//
// A window is, along each axis, the taps begin .. end-1 that lie inside src. All axes but the last
// are counted through tap by tap. Along the last one, each tap is taken for a line of windows at a
// time; only where indices are wanted, windows are looked at one by one.

#ifndef T // once

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "kernel/tl_poll.h"
#include "kernel/tl_windows.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_vision.h"

// src [planes, in..] -> dst [planes, out..], arg the same or NULL.
typedef struct poolnd_job {
    const void *src;
    void *dst;
    int64_t *arg;
    int in[TL_MAX_SPATIAL], out[TL_MAX_SPATIAL];
    size_t in_step[TL_MAX_SPATIAL]; // elements between neighbours along an axis of src
    size_t in_plane, out_plane;     // elements of a plane
    uint64_t lowest;                // the bytes of the smallest value, of a window with nothing
    tl_poolnd_param param;
    const tl_stop *stop;
} poolnd_job;

// Computes the planes begin .. end-1 for the poolnd_job at `arg`.
typedef void poolnd_func(void *arg, size_t begin, size_t end);

// Windows whose sums are taken at once, and taps along the last axis that are found once for all
// lines.
enum { PART = 64, KNOWN = 16 };

typedef struct window {
    int64_t start[TL_MAX_SPATIAL]; // of tap 0, may lie outside
    int begin[TL_MAX_SPATIAL], end[TL_MAX_SPATIAL];
    int is_empty;
} window;

// The window of result `index` of the first `n` axes, without taps along others.
static window window_at(const poolnd_job *job, size_t index, int n)
{
    const tl_windows *const w = &job->param.windows;
    window at = {.is_empty = 0};
    for (int i = n - 1; i >= 0; i--) {
        at.start[i] = (int64_t)(index % job->out[i]) * w->stride[i] - w->padding[i];
        index /= job->out[i];
        tl_window_hits(w->size[i], w->dilation[i], at.start[i], job->in[i], &at.begin[i],
                       &at.end[i]);
        at.is_empty |= at.begin[i] == at.end[i];
    }
    return at;
}

// Where the line that starts at the taps begins in a plane of src.
static size_t line_of(const poolnd_job *job, const window *at, const int *taps)
{
    const tl_windows *const w = &job->param.windows;
    size_t place = 0;
    for (int i = 0; i < w->n; i++)
        place += (size_t)(at->start[i] + (int64_t)taps[i] * w->dilation[i]) * job->in_step[i];
    return place;
}

// `len` windows from `start` on of any line: where the first taps along the last axis meet src.
typedef struct part {
    int start, len;
    tl_window_meeting taps[KNOWN];
} part;

static tl_window_meeting meet(const poolnd_job *job, int k, int start, int len)
{
    const tl_windows *const w = &job->param.windows;
    const int last = w->n - 1;
    return tl_window_meet(0, job->in[last], w->stride[last],
                          (int64_t)k * w->dilation[last] - w->padding[last], start, len);
}

static part part_of(const poolnd_job *job, int start, int len)
{
    const int size = job->param.windows.size[job->param.windows.n - 1];
    part p = {.start = start, .len = len};
    for (int k = 0; k < size && k < KNOWN; k++)
        p.taps[k] = meet(job, k, start, len);
    return p;
}

// Where tap `k` of the last axis meets src.
static tl_window_meeting tap_along(const poolnd_job *job, const part *p, int k)
{
    return k < KNOWN ? p->taps[k] : meet(job, k, p->start, p->len);
}

// The taps of a line's windows inside src, or inside src and its padding, along axis `i`.
static double count_across(const poolnd_job *job, const window *at, int i)
{
    const tl_windows *const w = &job->param.windows;
    int begin = at->begin[i], end = at->end[i];
    if (job->param.counts_padding) // no window starts before its padding
        tl_window_hits(w->size[i], w->dilation[i], at->start[i] + w->padding[i],
                       (int64_t)job->in[i] + w->padding[i] + w->padding[w->n + i], &begin, &end);
    return end - begin;
}

// The taps of a line's windows along all axes but the last.
static double count_all_across(const poolnd_job *job, const window *at)
{
    double count = 1;
    for (int i = 0; i < job->param.windows.n - 1; i++)
        count *= count_across(job, at, i);
    return count;
}

// The taps of windows along the last axis inside src, or inside src and its padding.
static void count_along(const poolnd_job *job, const part *p, double *counts)
{
    const tl_windows *const w = &job->param.windows;
    const int last = w->n - 1, is_padded = job->param.counts_padding;
    const int before = is_padded ? w->padding[last] : 0;
    const int behind = is_padded ? w->padding[w->n + last] : 0;
    for (int x = 0; x < p->len; x++) {
        int begin, end;
        tl_window_hits(w->size[last], w->dilation[last],
                       (int64_t)(p->start + x) * w->stride[last] - w->padding[last] + before,
                       (int64_t)job->in[last] + before + behind, &begin, &end);
        counts[x] = end - begin;
    }
}

// An index in a plane, counted first axis first.
static size_t column_major(const poolnd_job *job, size_t index)
{
    size_t result = 0, step = 1;
    for (int i = 0; i < job->param.windows.n; i++) {
        result += index / job->in_step[i] % job->in[i] * step;
        step *= job->in[i];
    }
    return result;
}

static int64_t arg_of(const poolnd_job *job, size_t plane, size_t index)
{
    return (int64_t)(plane * job->in_plane +
                     (job->param.is_column_major ? column_major(job, index) : index));
}

static double raised(double x, double p)
{
    x = fabs(x);
    return p == 1 ? x : p == 2 ? x * x : pow(x, p);
}

static double root(double x, double p)
{
    return p == 1 ? x : p == 2 ? sqrt(x) : pow(x, 1 / p);
}

#define TL_TEMPLATE "kernel/pool/poolnd.c"
#include "tensor/tl_each_type.inc.h"

TL_PLAIN_TABLE(pick_max, poolnd_func, poolnd_max, ALL)
TL_PLAIN_TABLE(pick_sum, poolnd_func, poolnd_sum, FLT)

static const char *const kind_names[] = {"TL_POOL_MAX", "TL_POOL_MEAN", "TL_POOL_NORM"};

const char *tl_pool_kind_name(tl_pool_kind kind)
{
    return kind >= 0 && kind < TL_POOL_KIND_SIZE ? kind_names[kind] : NULL;
}

tl_pool_kind tl_pool_kind_from_str(const char *str)
{
    for (int i = 0; str && i < TL_POOL_KIND_SIZE; i++)
        if (!strcmp(str, kind_names[i]))
            return (tl_pool_kind)i;
    return TL_POOL_KIND_INVALID;
}

int tl_exec_poolnd(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                   const tl_poolnd_param *param)
{
    poolnd_func *const func =
        param->kind == TL_POOL_MAX ? pick_max(exec, src->dtype) : pick_sum(exec, src->dtype);
    const int n = param->windows.n;
    assert(func && src->ndim == n + 2 && dst->ndim == src->ndim && src->dtype == dst->dtype);
    assert(!arg || (param->kind == TL_POOL_MAX && arg->dtype == TL_INT64 && arg->len == dst->len));
    if (dst->len == 0)
        return 0;
    poolnd_job job = {.src = src->data,
                      .dst = dst->data,
                      .arg = arg ? arg->data : NULL,
                      .in_plane = 1,
                      .out_plane = 1,
                      .param = *param,
                      .stop = exec ? exec->stop : NULL};
    tl_dtype_min(src->dtype, &job.lowest);
    for (int i = n - 1; i >= 0; i--) {
        job.in[i] = src->dims[2 + i];
        job.out[i] = dst->dims[2 + i];
        job.in_step[i] = job.in_plane;
        job.in_plane *= job.in[i];
        job.out_plane *= job.out[i];
    }
    tl_parallel(exec, (size_t)dst->len / job.out_plane,
                tl_axis_grain((job.in_plane + job.out_plane) * 4), func, &job);
    return 0;
}

int tl_poolnd_shape(const tl_tensor *src, const tl_poolnd_param *param, int *dims)
{
    if (!param)
        return tl_fail("'param' is NULL, expected parameters");
    const tl_windows *const w = &param->windows;
    if (tl_check_windows(w, src) < 0 || tl_check_at_least("padding", w->padding, 2 * w->n, 0) < 0)
        return -1;
    if (!tl_pool_kind_name(param->kind))
        return tl_fail("pool kind %d, expected 0 to %d", param->kind, TL_POOL_KIND_SIZE - 1);
    if (param->kind != TL_POOL_MAX && tl_check_float(src, "src") < 0)
        return -1;
    if (param->kind == TL_POOL_NORM && !(param->p > 0))
        return tl_fail("'p' is %g, expected more than 0", param->p);
    dims[0] = src->dims[0];
    dims[1] = src->dims[1];
    for (int i = 0; i < w->n; i++)
        if ((dims[2 + i] = tl_windows_length(w, i, src->dims[2 + i], param->is_ceil)) < 0)
            return -1;
    return 0;
}

tl_tensor *tl_tensor_poolnd(const tl_tensor *src, tl_tensor *dst, tl_tensor *arg,
                            const tl_poolnd_param *param)
{
    int dims[TL_MAXDIM];
    if (tl_check_data(src, "src") < 0 || tl_poolnd_shape(src, param, dims) < 0 ||
        tl_check_apart(dst, src) < 0)
        return NULL;
    if (arg && param->kind != TL_POOL_MAX) {
        tl_fail("'arg' is given for %s, expected it for TL_POOL_MAX",
                tl_pool_kind_name(param->kind));
        return NULL;
    }
    if (arg && (tl_check_given(arg, "arg", src->ndim, dims, TL_INT64) < 0 ||
                tl_check_apart(arg, src) < 0 || (dst && tl_check_apart(arg, dst) < 0)))
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, dims, src->dtype);
    return tl_result_end(result, dst, result ? tl_exec_poolnd(NULL, src, result, arg, param) : -1);
}

#else // for each type

// The maximum

// The index of the greatest element that a window, which is not empty, meets.
static size_t NAME(argmax, c)(const poolnd_job *job, const T *plane, const window *at,
                              tl_poll *poll)
{
    const int n = job->param.windows.n, dilation = job->param.windows.dilation[n - 1];
    int taps[TL_MAX_SPATIAL];
    memcpy(taps, at->begin, sizeof(taps));
    size_t arg = line_of(job, at, taps);
    C max = LOAD(plane[arg]);
    do {
        size_t place = line_of(job, at, taps);
        for (int k = at->begin[n - 1]; k < at->end[n - 1]; k++, place += dilation) {
            const C value = LOAD(plane[place]);
            if (value > max) {
                max = value;
                arg = place;
            }
        }
    } while (!tl_poll_after(poll, (size_t)(at->end[n - 1] - at->begin[n - 1]) + 8) &&
             tl_next_tap(taps, at->begin, at->end, n - 1));
    return arg;
}

// dst[x] = the greater of it and from[x * step], for x = begin .. end-1.
static inline void NAME(take_greater, c)(const T *from, int64_t step, T *dst, int begin, int end)
{
    for (int x = begin; x < end; x++) {
        const C value = LOAD(from[x * step]), max = LOAD(dst[x]);
        dst[x] = STORE(value > max ? value : max);
    }
}

// Line `line` of the results, without their indices: each tap along it is compared where it meets
// src. The first that a window meets is taken as it is.
static void NAME(max_line, c)(const poolnd_job *job, const part *p, const T *plane, size_t line,
                              T *dst, tl_poll *poll)
{
    const tl_windows *const w = &job->param.windows;
    const int last = w->n - 1, len = p->len;
    const window at = window_at(job, line, last);
    int taps[TL_MAX_SPATIAL], fresh = len;
    memcpy(taps, at.begin, sizeof(taps));
    for (int x = 0; x < len; x++)
        memcpy(&dst[x], &job->lowest, sizeof(T));
    if (at.is_empty)
        return;
    for (int is_first = 1; is_first || tl_next_tap(taps, at.begin, at.end, last); is_first = 0) {
        const T *const src = plane + line_of(job, &at, taps);
        for (int k = 0; k < w->size[last]; k++) {
            const tl_window_meeting m = tap_along(job, p, k);
            const T *const from = src + m.src_offset;
            if (tl_poll_after(poll, (size_t)(m.end - m.begin) + 8))
                return;
            // Windows before `fresh` have met nothing yet.
            const int end = fresh < m.begin ? m.begin : fresh < m.end ? fresh : m.end;
            for (int x = m.begin; x < end; x++)
                dst[x] = from[(int64_t)x * m.src_step];
            // Compilers make vectors of steps that they know.
            if (m.src_step == 1)
                NAME(take_greater, c)(from, 1, dst, end, m.end);
            else if (m.src_step == 2)
                NAME(take_greater, c)(from, 2, dst, end, m.end);
            else
                NAME(take_greater, c)(from, m.src_step, dst, end, m.end);
            fresh = m.begin < m.end && m.begin < fresh ? m.begin : fresh;
        }
    }
}

static void NAME(max_lines, c)(const poolnd_job *job, const T *plane, T *dst, tl_poll *poll)
{
    const size_t len = (size_t)job->out[job->param.windows.n - 1];
    const part whole = part_of(job, 0, (int)len);
    for (size_t k = 0; k < job->out_plane && !poll->is_stopped; k += len)
        NAME(max_line, c)(job, &whole, plane, k / len, dst + k, poll);
}

static void NAME(max_and_args, c)(const poolnd_job *job, size_t p, const T *plane, T *dst,
                                  tl_poll *poll)
{
    int64_t *const args = job->arg + p * job->out_plane;
    for (size_t k = 0; k < job->out_plane && !tl_poll_after(poll, 8); k++) {
        const window at = window_at(job, k, job->param.windows.n);
        const size_t index = at.is_empty ? 0 : NAME(argmax, c)(job, plane, &at, poll);
        memcpy(&dst[k], at.is_empty ? (const void *)&job->lowest : &plane[index], sizeof(T));
        args[k] = at.is_empty ? -1 : arg_of(job, p, index);
    }
}

static void NAME(poolnd_max, c)(void *arg, size_t begin, size_t end)
{
    const poolnd_job *const job = arg;
    tl_poll poll = tl_poll_of(job->stop);
    for (size_t p = begin; p < end && !poll.is_stopped; p++) {
        const T *const plane = (const T *)job->src + p * job->in_plane;
        T *const dst = (T *)job->dst + p * job->out_plane;
        if (job->arg)
            NAME(max_and_args, c)(job, p, plane, dst, &poll);
        else
            NAME(max_lines, c)(job, plane, dst, &poll);
    }
}

#if TL_IS_FLOAT
// The mean and the norm

// sums[x] += from[x * step], for x = begin .. end-1.
static inline void NAME(add_line, c)(const T *from, int64_t step, double *sums, int begin, int end)
{
    for (int x = begin; x < end; x++)
        sums[x] += (double)LOAD(from[x * step]);
}

// sums[x] += |from[x * step]| ^ p, for x = begin .. end-1.
TL_INLINE void NAME(add_raised, c)(const T *from, int64_t step, double p, double *sums, int begin,
                                   int end)
{
    for (int x = begin; x < end; x++)
        sums[x] += raised((double)LOAD(from[x * step]), p);
}

// Adds the elements under the taps to the sums of a part of a line.
static void NAME(add_taps, c)(const poolnd_job *job, const part *p, const T *plane,
                              const window *at, double *sums, tl_poll *poll)
{
    const tl_windows *const w = &job->param.windows;
    const int last = w->n - 1, is_norm = job->param.kind == TL_POOL_NORM;
    int taps[TL_MAX_SPATIAL];
    memcpy(taps, at->begin, sizeof(taps));
    do {
        const T *const src = plane + line_of(job, at, taps);
        for (int k = 0; k < w->size[last]; k++) {
            const tl_window_meeting m = tap_along(job, p, k);
            const T *const from = src + m.src_offset;
            if (tl_poll_after(poll, (size_t)(m.end - m.begin) + 8))
                return;
            // Compilers make vectors of steps that they know.
            if (!is_norm && m.src_step == 1)
                NAME(add_line, c)(from, 1, sums, m.begin, m.end);
            else if (!is_norm && m.src_step == 2)
                NAME(add_line, c)(from, 2, sums, m.begin, m.end);
            else if (!is_norm)
                NAME(add_line, c)(from, m.src_step, sums, m.begin, m.end);
            else if (job->param.p == 2)
                NAME(add_raised, c)(from, m.src_step, 2, sums, m.begin, m.end);
            else
                NAME(add_raised, c)(from, m.src_step, job->param.p, sums, m.begin, m.end);
        }
    } while (tl_next_tap(taps, at->begin, at->end, last));
}

// A part of a line of results. counts: of taps along the last axis.
static void NAME(sum_part, c)(const poolnd_job *job, const part *p, const double *counts,
                              const T *plane, const window *at, T *dst, tl_poll *poll)
{
    double sums[PART] = {0};
    if (!at->is_empty)
        NAME(add_taps, c)(job, p, plane, at, sums, poll);
    if (job->param.kind == TL_POOL_NORM) {
        for (int x = 0; x < p->len; x++)
            dst[x] = STORE((C)root(sums[x], job->param.p));
        return;
    }
    const double across = count_all_across(job, at);
    for (int x = 0; x < p->len; x++) {
        const double count = across * counts[x];
        dst[x] = STORE((C)(count > 0 ? sums[x] / count : 0));
    }
}

// The same part of all lines of a plane.
static void NAME(sum_parts, c)(const poolnd_job *job, const part *p, const T *plane, T *dst,
                               tl_poll *poll)
{
    const size_t len = (size_t)job->out[job->param.windows.n - 1];
    double counts[PART];
    count_along(job, p, counts);
    for (size_t k = 0; k < job->out_plane && !tl_poll_after(poll, len); k += len) {
        const window at = window_at(job, k / len, job->param.windows.n - 1);
        NAME(sum_part, c)(job, p, counts, plane, &at, dst + k + p->start, poll);
    }
}

static void NAME(poolnd_sum, c)(void *arg, size_t begin, size_t end)
{
    const poolnd_job *const job = arg;
    const int len = job->out[job->param.windows.n - 1];
    tl_poll poll = tl_poll_of(job->stop);
    for (int x = 0; x < len && !poll.is_stopped; x += PART) {
        const part p = part_of(job, x, len - x < PART ? len - x : PART);
        for (size_t i = begin; i < end; i++)
            NAME(sum_parts, c)
        (job, &p, (const T *)job->src + i * job->in_plane, (T *)job->dst + i * job->out_plane,
         &poll);
    }
}

#endif

#endif
