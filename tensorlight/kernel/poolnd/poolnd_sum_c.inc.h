// SPDX-License-Identifier: Apache-2.0
// Template: the mean or the norm of each window for one type, see poolnd_c.c.

/** sums[x] += from[x * step], for x = begin .. end-1. */
static inline void NAME(add_line, c)(const T *from, int64_t step, double *sums, int begin, int end)
{
    for (int x = begin; x < end; x++)
        sums[x] += (double)LOAD(from[x * step]);
}

/** Adds what the taps meet to the sums of a part of a line. */
static void NAME(add_taps, c)(const tl_poolnd_job *job, const part *p, const T *plane,
                              const window *at, double *sums)
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
            // Compilers make vectors of steps that they know.
            if (!is_norm && m.src_step == 1)
                NAME(add_line, c)(from, 1, sums, m.begin, m.end);
            else if (!is_norm && m.src_step == 2)
                NAME(add_line, c)(from, 2, sums, m.begin, m.end);
            else if (!is_norm)
                NAME(add_line, c)(from, m.src_step, sums, m.begin, m.end);
            for (int x = m.begin; is_norm && x < m.end; x++)
                sums[x] += raised((double)LOAD(from[x * m.src_step]), job->param.p);
        }
    } while (tl_next_tap(taps, at->begin, at->end, last));
}

/** A part of a line of results. counts: of taps along the last axis. */
static void NAME(sum_part, c)(const tl_poolnd_job *job, const part *p, const double *counts,
                              const T *plane, const window *at, T *dst)
{
    double sums[PART] = {0};
    if (!at->is_empty)
        NAME(add_taps, c)(job, p, plane, at, sums);
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

/** The same part of all lines of a plane. */
static void NAME(sum_parts, c)(const tl_poolnd_job *job, const part *p, const T *plane, T *dst)
{
    const size_t len = (size_t)job->out[job->param.windows.n - 1];
    double counts[PART];
    count_along(job, p, counts);
    for (size_t k = 0; k < job->out_plane && !tl_stop_is_requested(job->stop); k += len) {
        const window at = line_at(job, k / len);
        NAME(sum_part, c)(job, p, counts, plane, &at, dst + k + p->start);
    }
}

void NAME(tl_poolnd_sum, c)(void *arg, size_t begin, size_t end)
{
    const tl_poolnd_job *const job = arg;
    const int len = job->out[job->param.windows.n - 1];
    for (int x = 0; x < len; x += PART) {
        const part p = part_of(job, x, len - x < PART ? len - x : PART);
        for (size_t i = begin; i < end; i++)
            NAME(sum_parts, c)
        (job, &p, (const T *)job->src + i * job->in_plane, (T *)job->dst + i * job->out_plane);
    }
}
