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

void NAME(tl_poolnd_max, c)(void *arg, size_t begin, size_t end)
{
    const tl_poolnd_job *const job = arg;
    for (size_t p = begin; p < end; p++) {
        const T *const plane = (const T *)job->src + p * job->in_plane;
        T *const dst = (T *)job->dst + p * job->out_plane;
        int64_t *const args = job->arg ? job->arg + p * job->out_plane : NULL;
        for (size_t k = 0; k < job->out_plane && !is_stopped(job, k); k++) {
            const window at = window_at(job, k);
            const size_t index = at.is_empty ? 0 : NAME(argmax, c)(job, plane, &at);
            memcpy(&dst[k], at.is_empty ? (const void *)&job->lowest : &plane[index], sizeof(T));
            if (args)
                args[k] = at.is_empty ? -1 : arg_of(job, p, index);
        }
    }
}
