// SPDX-License-Identifier: Apache-2.0
// Template: resampling one axis by weights for one type, see resample_c.c.

/** dst [n] = the sum of weights[k] * src [indices[k], n]; what has no weight is not looked at. */
static void NAME(mix_lines, c)(const T *src, T *restrict dst, size_t n, const int *indices,
                               const double *weights, int n_taps)
{
    int is_first = 1;
    for (int k = 0; k < n_taps; k++) {
        if (weights[k] == 0)
            continue;
        const T *restrict const line = src + (size_t)indices[k] * n;
        const T weight = (T)weights[k];
        if (is_first)
            for (size_t x = 0; x < n; x++)
                dst[x] = weight * line[x];
        else
            for (size_t x = 0; x < n; x++)
                dst[x] += weight * line[x];
        is_first = 0;
    }
    for (size_t x = 0; x < n && is_first; x++)
        dst[x] = 0;
}

/** The same along the last axis: neighbours are what is mixed. */
static void NAME(mix_elements, c)(const T *src, T *restrict dst, const tl_filter_job *job)
{
    const int n = job->table.n;
    const int *indices = job->table.indices;
    const double *weights = job->table.weights;
    for (size_t x = 0; x < job->out; x++, indices += n, weights += n) {
        T sum = 0;
        for (int k = 0; k < n; k++)
            if (weights[k] != 0)
                sum += (T)weights[k] * src[indices[k]];
        dst[x] = sum;
    }
}

void NAME(tl_resample_filter, c)(void *arg, size_t begin, size_t end)
{
    const tl_filter_job *const job = arg;
    const int n = job->table.n;
    for (size_t unit = begin; unit < end; unit++) {
        if (job->inner == 1) {
            NAME(mix_elements, c)
            ((const T *)job->src + unit * job->in, (T *)job->dst + unit * job->out, job);
            continue;
        }
        const size_t outer = unit / job->out, at = unit % job->out * n;
        NAME(mix_lines, c)
        ((const T *)job->src + outer * job->in * job->inner, (T *)job->dst + unit * job->inner,
         job->inner, job->table.indices + at, job->table.weights + at, n);
    }
}

void NAME(tl_resample_away_from_0, c)(T *sums, size_t n)
{
    // More than rounding takes: of 8 bits in float, of up to 32 in double. Beyond, it is no more
    // than the last digit.
    const double more = sizeof(T) == sizeof(float) ? 0x1p-10 : 0x1p-18;
    for (size_t i = 0; i < n; i++)
        sums[i] += (T)copysign(more, (double)sums[i]);
}
