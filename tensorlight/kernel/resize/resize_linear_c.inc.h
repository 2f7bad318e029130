// SPDX-License-Identifier: Apache-2.0
// Template: linear resampling for one number type, see resize_c.c.

/** Adds `weight` times the mixed elements of a row to sums. */
static void NAME(add_row, c)(double *sums, const T *row, const mix *columns, int n, double weight)
{
    for (int x = 0; x < n; x++) {
        const mix m = columns[x];
        const double low = (double)LOAD(row[m.low]), high = (double)LOAD(row[m.high]);
        sums[x] += weight * (m.part > 0 ? (1 - m.part) * low + m.part * high : low);
    }
}

static void NAME(store_row, c)(T *dst, double *sums, int n, tl_dtype dtype)
{
    if (tl_dtype_is_float(dtype)) {
        for (int x = 0; x < n; x++)
            dst[x] = STORE((C)sums[x]);
        return;
    }
    for (int x = 0; x < n; x++)
        sums[x] = round(sums[x]);
    tl_convert_array(dst, dtype, sums, TL_DOUBLE, (size_t)n);
}

void NAME(tl_resize_linear, c)(void *arg, size_t begin, size_t end)
{
    const tl_resize_job *const job = arg;
    const int in = job->in[job->ndim - 1], out = job->out[job->ndim - 1];
    mix columns[CHUNK];
    corner corners[MAX_CORNERS];
    for (int start = 0; start < out; start += CHUNK) {
        const int n = tl_smaller(CHUNK, out - start);
        for (int x = 0; x < n; x++)
            columns[x] = mix_at(start + x, in, out);
        for (size_t row = begin; row < end; row++) {
            double sums[CHUNK];
            for (int x = 0; x < n; x++)
                sums[x] = -0.0; // a sum that begins so keeps the sign of a 0
            const int n_corners = corners_of(job, row, corners);
            for (int k = 0; k < n_corners; k++) {
                const T *const src = (const T *)job->src + corners[k].row * in;
                NAME(add_row, c)(sums, src, columns, n, corners[k].weight);
            }
            NAME(store_row, c)((T *)job->dst + row * out + start, sums, n, job->dtype);
        }
        if (out - start <= CHUNK)
            break; // start + CHUNK could exceed an int
    }
}
