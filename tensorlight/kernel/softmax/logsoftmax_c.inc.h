// SPDX-License-Identifier: Apache-2.0
// Template: the logarithm of softmax for one floating type, see softmax_c.c; behind
// softmax_c.inc.h.

/** `n` neighbouring lines of `len` elements, `inner` apart. */
static void NAME(logsoftmax_lines, c)(const T *src, T *dst, size_t n, size_t len, size_t inner)
{
    C max[LINES];
    double sum[LINES] = {0};
    NAME(find_max, c)(src, max, n, len, inner);
    for (size_t i = 0; i < len; i++)
        for (size_t j = 0; j < n; j++)
            sum[j] += (double)exp_of(LOAD(src[i * inner + j]) - max[j]);
    for (size_t j = 0; j < n; j++)
        sum[j] = log(sum[j]);
    for (size_t i = 0; i < len; i++)
        for (size_t j = 0; j < n; j++) {
            const C x = LOAD(src[i * inner + j]) - max[j];
            dst[i * inner + j] = STORE((C)((double)x - sum[j]));
        }
}

void NAME(tl_logsoftmax, c)(void *arg, size_t begin, size_t end)
{
    const tl_softmax_job *const job = arg;
    const size_t len = job->axis.len, inner = job->axis.inner;
    for (size_t k = begin, n; k < end; k += n) {
        n = tl_axis_span(k, end, inner, LINES);
        const size_t first = k / inner * len * inner + k % inner;
        NAME(logsoftmax_lines, c)
        ((const T *)job->src + first, (T *)job->dst + first, n, len, inner);
    }
}
