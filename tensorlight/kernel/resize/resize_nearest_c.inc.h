// SPDX-License-Identifier: Apache-2.0
// Template: resampling to the nearest element for one size of elements, see resize_c.c.

void NAME(tl_resize_nearest, c)(void *arg, size_t begin, size_t end)
{
    const tl_resize_job *const job = arg;
    const int in = job->in[job->ndim - 1], out = job->out[job->ndim - 1];
    int columns[CHUNK];
    for (int start = 0; start < out; start += CHUNK) {
        const int n = tl_smaller(CHUNK, out - start);
        for (int x = 0; x < n; x++)
            columns[x] = nearest(start + x, in, out);
        for (size_t row = begin; row < end; row++) {
            const T *const src = (const T *)job->src + nearest_row(job, row) * in;
            T *const dst = (T *)job->dst + row * out + start;
            for (int x = 0; x < n; x++)
                dst[x] = src[columns[x]];
        }
        if (out - start <= CHUNK)
            break; // start + CHUNK could exceed an int
    }
}
