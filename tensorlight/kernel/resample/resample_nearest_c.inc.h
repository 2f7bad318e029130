// SPDX-License-Identifier: Apache-2.0
// Template: resampling to the nearest element for one size of elements, see resample_c.c.

static void NAME(nearest_row, c)(const tl_nearest_job *job, ptrdiff_t src_row, T *restrict dst,
                                 T fill)
{
    const int last = job->ndim - 1, out = job->out[last];
    const int *const indices = job->indices[last];
    const T *const src = (const T *)job->src + src_row * job->in[last];
    if (src_row < 0)
        for (int x = 0; x < out; x++)
            dst[x] = fill;
    else if (!indices)
        memcpy(dst, src, (size_t)out * sizeof(T));
    else
        for (int x = 0; x < out; x++)
            dst[x] = indices[x] < 0 ? fill : src[indices[x]];
}

void NAME(tl_resample_nearest, c)(void *arg, size_t begin, size_t end)
{
    const tl_nearest_job *const job = arg;
    const size_t out = (size_t)job->out[job->ndim - 1];
    T fill;
    memcpy(&fill, &job->fill, sizeof(T));
    T *dst = (T *)job->dst + begin * out;
    ptrdiff_t before = -2;
    for (size_t row = begin; row < end; row++, dst += out) {
        const ptrdiff_t src_row = nearest_src_row(job, row);
        if (src_row == before)
            memcpy(dst, dst - out, out * sizeof(T));
        else
            NAME(nearest_row, c)(job, src_row, dst, fill);
        before = src_row;
    }
}
