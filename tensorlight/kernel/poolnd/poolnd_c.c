// SPDX-License-Identifier: Apache-2.0
// Pooling over any number of axes in plain C: the definition.
//
// A window is, along each axis, the taps begin .. end-1 that lie inside src. All axes but the last
// are counted through tap by tap. Along the last one, each tap is taken for a line of windows at a
// time; only where indices are wanted, windows are looked at one by one.

#include <float.h>
#include <math.h>

#include "kernel/poolnd/poolnd.h"
#include "kernel/tl_window.h"
#include "kernel/tl_windows.h"

/* Windows whose sums are taken at once, and taps along the last axis that are found once for all
 * lines. */
enum { PART = 64, KNOWN = 16 };

typedef struct window {
    int64_t start[TL_MAX_SPATIAL]; /* of tap 0, may lie outside */
    int begin[TL_MAX_SPATIAL], end[TL_MAX_SPATIAL];
    int is_empty;
} window;

static window window_at(const tl_poolnd_job *job, size_t index)
{
    const tl_windows *const w = &job->param.windows;
    window at = {.is_empty = 0};
    for (int i = w->n - 1; i >= 0; i--) {
        at.start[i] = (int64_t)(index % job->out[i]) * w->stride[i] - w->padding[i];
        index /= job->out[i];
        tl_window_hits(w->size[i], w->dilation[i], at.start[i], job->in[i], &at.begin[i],
                       &at.end[i]);
        at.is_empty |= at.begin[i] == at.end[i];
    }
    return at;
}

/** Where the line that starts at the taps begins in a plane of src. */
static size_t line_of(const tl_poolnd_job *job, const window *at, const int *taps)
{
    const tl_windows *const w = &job->param.windows;
    size_t place = 0;
    for (int i = 0; i < w->n; i++)
        place += (size_t)(at->start[i] + (int64_t)taps[i] * w->dilation[i]) * job->in_step[i];
    return place;
}

/** The windows of a line of results, whose last axis begins at 0, without taps along it. */
static window line_at(const tl_poolnd_job *job, size_t line)
{
    const tl_windows *const w = &job->param.windows;
    window at = {.is_empty = 0};
    for (int i = w->n - 2; i >= 0; i--) {
        at.start[i] = (int64_t)(line % job->out[i]) * w->stride[i] - w->padding[i];
        line /= job->out[i];
        tl_window_hits(w->size[i], w->dilation[i], at.start[i], job->in[i], &at.begin[i],
                       &at.end[i]);
        at.is_empty |= at.begin[i] == at.end[i];
    }
    return at;
}

/** `len` windows from `start` on of any line: where the first taps along the last axis meet src. */
typedef struct part {
    int start, len;
    tl_window_meeting taps[KNOWN];
} part;

static tl_window_meeting meet(const tl_poolnd_job *job, int k, int start, int len)
{
    const tl_windows *const w = &job->param.windows;
    const int last = w->n - 1;
    return tl_window_meet(0, job->in[last], w->stride[last],
                          (int64_t)k * w->dilation[last] - w->padding[last], start, len);
}

static part part_of(const tl_poolnd_job *job, int start, int len)
{
    const int size = job->param.windows.size[job->param.windows.n - 1];
    part p = {.start = start, .len = len};
    for (int k = 0; k < size && k < KNOWN; k++)
        p.taps[k] = meet(job, k, start, len);
    return p;
}

/** Where tap `k` of the last axis meets src. */
static tl_window_meeting tap_along(const tl_poolnd_job *job, const part *p, int k)
{
    return k < KNOWN ? p->taps[k] : meet(job, k, p->start, p->len);
}

/** The taps of a line's windows inside src, or inside src and its padding, along axis `i`. */
static double count_across(const tl_poolnd_job *job, const window *at, int i)
{
    const tl_windows *const w = &job->param.windows;
    int begin = at->begin[i], end = at->end[i];
    if (job->param.counts_padding) // no window starts before its padding
        tl_window_hits(w->size[i], w->dilation[i], at->start[i] + w->padding[i],
                       (int64_t)job->in[i] + w->padding[i] + w->padding[w->n + i], &begin, &end);
    return end - begin;
}

/** The taps of a line's windows along all axes but the last. */
static double count_all_across(const tl_poolnd_job *job, const window *at)
{
    double count = 1;
    for (int i = 0; i < job->param.windows.n - 1; i++)
        count *= count_across(job, at, i);
    return count;
}

/** The taps of windows along the last axis inside src, or inside src and its padding. */
static void count_along(const tl_poolnd_job *job, const part *p, double *counts)
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

/** Whether to stop before result `k` of a plane. */
static int is_stopped(const tl_poolnd_job *job, size_t k)
{
    return k % 64 == 0 && tl_stop_is_requested(job->stop);
}

/** An index in a plane, counted first axis first. */
static size_t column_major(const tl_poolnd_job *job, size_t index)
{
    size_t result = 0, step = 1;
    for (int i = 0; i < job->param.windows.n; i++) {
        result += index / job->in_step[i] % job->in[i] * step;
        step *= job->in[i];
    }
    return result;
}

static int64_t arg_of(const tl_poolnd_job *job, size_t plane, size_t index)
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

#define TL_TEMPLATE "kernel/poolnd/poolnd_max_c.inc.h"
#include "tensor/tl_each_type.inc.h"
#undef TL_TEMPLATE

#define TL_TEMPLATE "kernel/poolnd/poolnd_sum_c.inc.h"
#include "tensor/tl_each_float.inc.h"
