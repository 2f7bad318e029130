// SPDX-License-Identifier: Apache-2.0
// Template: the mean or the norm of each window for one type, see poolnd_c.c.

/** sums[x] += from[x * step], for x = begin .. end-1. */
static inline void NAME(add_line, c)(const T *from, int64_t step, double *sums, int begin, int end)
{
    for (int x = begin; x < end; x++)
        sums[x] += (double)LOAD(from[x * step]);
}

/** Adds what the taps meet to the sums of `len` windows from `start` on of a line. */
static void NAME(add_taps, c)(const tl_poolnd_job *job, const T *plane, const window *at, int start,
                              int len, double *sums)
{
    const tl_windows *const w = &job->param.windows;
    const int last = w->n - 1, is_norm = job->param.kind == TL_POOL_NORM;
    int taps[TL_MAX_SPATIAL];
    memcpy(taps, at->begin, sizeof(taps));
    do {
        const T *const src = plane + line_of(job, at, taps);
        for (int k = 0; k < w->size[last]; k++) {
            const tl_window_meeting m = tap_along(job, k, start, len);
            const T *const from = src + m.src_offset;
            // Compilers make vectors of steps that they know.
            if (!is_norm && m.src_step == 1)
                NAME(add_line, c)(from, 1, sums, m.begin, m.end);
            else if (!is_norm && m.src_step == 2)
                NAME(add_line, c)(from, 2, sums, m.begin, m.end);
            else if (!is_norm)
                NAME(add_line, c)(from, m.src_step, sums, m.begin, m.end);
            for (int x = m.begin; is_norm && x < m.end; x++)
                sums[x] += raised((double)LOAD(from[(int64_t)x * m.src_step]), job->param.p);
        }
    } while (tl_next_tap(taps, at->begin, at->end, last));
}

/** `len` results, at most PART, from `start` on of a line. */
static void NAME(sum_part, c)(const tl_poolnd_job *job, const T *plane, const window *at, int start,
                              int len, T *dst)
{
    double sums[PART] = {0}, counts[PART];
    if (!at->is_empty)
        NAME(add_taps, c)(job, plane, at, start, len, sums);
    if (job->param.kind == TL_POOL_NORM) {
        for (int x = 0; x < len; x++)
            dst[x] = STORE((C)root(sums[x], job->param.p));
        return;
    }
    count_taps(job, at, start, len, counts);
    for (int x = 0; x < len; x++)
        dst[x] = STORE((C)(counts[x] > 0 ? sums[x] / counts[x] : 0));
}

void NAME(tl_poolnd_sum, c)(void *arg, size_t begin, size_t end)
{
    const tl_poolnd_job *const job = arg;
    const int len = job->out[job->param.windows.n - 1];
    for (size_t p = begin; p < end; p++) {
        const T *const plane = (const T *)job->src + p * job->in_plane;
        T *const dst = (T *)job->dst + p * job->out_plane;
        for (size_t k = 0; k < job->out_plane && !tl_stop_is_requested(job->stop);
             k += (size_t)len) {
            const window at = line_at(job, k / (size_t)len);
            for (int x = 0; x < len; x += PART)
                NAME(sum_part, c)(job, plane, &at, x, len - x < PART ? len - x : PART, dst + k + x);
        }
    }
}
