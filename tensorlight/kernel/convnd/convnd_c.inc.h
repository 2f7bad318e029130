// SPDX-License-Identifier: Apache-2.0
// Template: one work, convolution or deconvolution, for one type of src, see convnd_c.c.

#define LOCAL_(work, name) work##_##name
#define LOCAL2(work, name) LOCAL_(work, name)
#define LOCAL(name)        NAME(LOCAL2(WORK, name), c)

/** Adds what one tap of the last axis contributes from a line of src. */
static void LOCAL(add)(const tl_convnd_job *job, A *restrict acc, const T *restrict src,
                       tl_window_meeting m, A w)
{
    acc += m.begin * m.acc_step + m.acc_offset;
    src += m.begin * m.src_step + m.src_offset;
    const ptrdiff_t n = m.end - m.begin, acc_step = m.acc_step, src_step = m.src_step;
    if (acc_step == 1 && src_step == 1) // becomes vector code
        for (ptrdiff_t k = 0; k < n; k++)
            acc[k] += w * ELEMENT(job, src[k]);
    else
        for (ptrdiff_t k = 0; k < n; k++)
            acc[k * acc_step] += w * ELEMENT(job, src[k * src_step]);
    (void)job;
}

/** Adds what the taps of all axes but the last join with the piece: line `index` of the planes of
 *  a group. */
static void LOCAL(add_line)(const tl_convnd_job *job, A *acc, int start, int len, const line *l,
                            ptrdiff_t index, const int *taps)
{
    const int last = job->windows.n - 1;
    const size_t width = (size_t)job->in[last];
    size_t plane = width;
    for (int i = 0; i < last; i++)
        plane *= job->in[i];
    const size_t group = l->image * job->group + l->channel / job->oc;
    const T *src = (const T *)job->src + group * job->ic * plane + index * width;
    for (int c = 0; c < job->ic; c++, src += plane) {
        const size_t first = weight_index(job, TRANSPOSED, c, l->channel, taps);
        for (int j = 0; j < job->windows.size[last]; j++) {
            const tl_window_meeting m = meet(job, TRANSPOSED, start, len, j);
            if (m.begin < m.end)
                LOCAL(add)(job, acc, src, m, WEIGHT(job, l->channel, first + j));
        }
    }
}

static void LOCAL(sum_piece)(const tl_convnd_job *job, A *acc, int start, int len, const line *l)
{
    static const int zeros[TL_MAX_SPATIAL];
    int taps[TL_MAX_SPATIAL] = {0};
    for (int k = 0; k < len; k++)
        acc[k] = FIRST(job, l->channel);
    do {
        const ptrdiff_t index = joined_line(job, TRANSPOSED, l, taps);
        if (index >= 0)
            LOCAL(add_line)(job, acc, start, len, l, index, taps);
    } while (tl_next_tap(taps, zeros, job->windows.size, job->windows.n - 1));
}

void NAME(WORK, c)(void *arg, size_t begin, size_t end)
{
    const tl_convnd_job *const job = arg;
    const int width = job->out[job->windows.n - 1];
    A acc[PIECE];
    for (size_t k = begin; k < end; k++) {
        const line l = line_at(job, k);
        R *const dst = (R *)job->dst + k * width;
        for (int start = 0; start < width;) {
            const int len = tl_smaller(PIECE, width - start);
            LOCAL(sum_piece)(job, acc, start, len, &l);
            for (int x = 0; x < len; x++)
                dst[start + x] = RESULT(acc[x]);
            start += len;
        }
    }
}

#undef LOCAL_
#undef LOCAL2
#undef LOCAL
