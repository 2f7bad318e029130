// SPDX-License-Identifier: Apache-2.0
// Template: the maximum of each window for one type, see poolnd_c.c.

/** The index of the greatest element that a window, which is not empty, meets. */
static size_t NAME(argmax, c)(const tl_poolnd_job *job, const T *plane, const window *at)
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
    } while (tl_next_tap(taps, at->begin, at->end, n - 1));
    return arg;
}

/** dst[x] = the greater of it and from[x * step], for x = begin .. end-1. */
static inline void NAME(take_greater, c)(const T *from, int64_t step, T *dst, int begin, int end)
{
    for (int x = begin; x < end; x++) {
        const C value = LOAD(from[x * step]), max = LOAD(dst[x]);
        dst[x] = STORE(value > max ? value : max);
    }
}

/** Line `line` of the results, without their indices: each tap along it is compared where it meets
 *  src. The first that a window meets is taken as it is. */
static void NAME(max_line, c)(const tl_poolnd_job *job, const part *p, const T *plane, size_t line,
                              T *dst)
{
    const tl_windows *const w = &job->param.windows;
    const int last = w->n - 1, len = p->len;
    const window at = line_at(job, line);
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

static void NAME(max_lines, c)(const tl_poolnd_job *job, const T *plane, T *dst)
{
    const size_t len = (size_t)job->out[job->param.windows.n - 1];
    const part whole = part_of(job, 0, (int)len);
    for (size_t k = 0; k < job->out_plane && !tl_stop_is_requested(job->stop); k += len)
        NAME(max_line, c)(job, &whole, plane, k / len, dst + k);
}

static void NAME(max_and_args, c)(const tl_poolnd_job *job, size_t p, const T *plane, T *dst)
{
    int64_t *const args = job->arg + p * job->out_plane;
    for (size_t k = 0; k < job->out_plane && !is_stopped(job, k); k++) {
        const window at = window_at(job, k);
        const size_t index = at.is_empty ? 0 : NAME(argmax, c)(job, plane, &at);
        memcpy(&dst[k], at.is_empty ? (const void *)&job->lowest : &plane[index], sizeof(T));
        args[k] = at.is_empty ? -1 : arg_of(job, p, index);
    }
}

void NAME(tl_poolnd_max, c)(void *arg, size_t begin, size_t end)
{
    const tl_poolnd_job *const job = arg;
    for (size_t p = begin; p < end; p++) {
        const T *const plane = (const T *)job->src + p * job->in_plane;
        T *const dst = (T *)job->dst + p * job->out_plane;
        if (job->arg)
            NAME(max_and_args, c)(job, p, plane, dst);
        else
            NAME(max_lines, c)(job, plane, dst);
    }
}
