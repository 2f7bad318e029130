// SPDX-License-Identifier: Apache-2.0
// Template: the mean or the norm of each window for one type, see poolnd_c.c.

static double NAME(sum_of, c)(const tl_poolnd_job *job, const T *plane, const window *at)
{
    const int n = job->param.windows.n, dilation = job->param.windows.dilation[n - 1];
    const int is_norm = job->param.kind == TL_POOL_NORM;
    int taps[TL_MAX_SPATIAL];
    memcpy(taps, at->begin, sizeof(taps));
    double sum = 0;
    do {
        size_t place = line_of(job, at, taps);
        for (int k = at->begin[n - 1]; k < at->end[n - 1]; k++, place += dilation) {
            const double value = (double)LOAD(plane[place]);
            sum += is_norm ? raised(value, job->param.p) : value;
        }
    } while (tl_next_tap(taps, at->begin, at->end, n - 1));
    return sum;
}

void NAME(tl_poolnd_sum, c)(void *arg, size_t begin, size_t end)
{
    const tl_poolnd_job *const job = arg;
    for (size_t p = begin; p < end; p++) {
        const T *const plane = (const T *)job->src + p * job->in_plane;
        T *const dst = (T *)job->dst + p * job->out_plane;
        for (size_t k = 0; k < job->out_plane && !is_stopped(job, k); k++) {
            const window at = window_at(job, k);
            const double sum = at.is_empty ? 0 : NAME(sum_of, c)(job, plane, &at);
            dst[k] = STORE((C)(job->param.kind == TL_POOL_NORM ? root(sum, job->param.p)
                               : at.is_empty                   ? 0
                                                               : sum / count_taps(job, &at)));
        }
    }
}
