// SPDX-License-Identifier: Apache-2.0
// Template: the mean of each window for one type, see pool2d_c.c.

static T NAME(mean_of, c)(const T *plane, int iw, range rows, range columns)
{
    const double count = (double)(rows.end - rows.begin) * (columns.end - columns.begin);
    double sum = 0;
    for (int y = rows.begin; y < rows.end; y++) {
        const T *const row = plane + (size_t)y * iw;
        for (int x = columns.begin; x < columns.end; x++)
            sum += (double)LOAD(row[x]);
    }
    return STORE((C)(sum / count));
}

void NAME(tl_avgpool2d, c)(void *arg, size_t begin, size_t end)
{
    const tl_pool2d_job *const job = arg;
    for (size_t p = begin; p < end; p++) {
        const T *const plane = (const T *)job->src + p * job->ih * job->iw;
        T *dst = (T *)job->dst + p * job->oh * job->ow;
        for (int y = 0; y < job->oh; y++) {
            const range rows = window_at(job, 0, y);
            for (int x = 0; x < job->ow; x++)
                *dst++ = NAME(mean_of, c)(plane, job->iw, rows, window_at(job, 1, x));
        }
    }
}
