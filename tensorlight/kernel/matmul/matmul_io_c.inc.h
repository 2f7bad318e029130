// SPDX-License-Identifier: Apache-2.0
// Template: what leads from tensors of one type to sums of the type SUM, and back, see matmul.h.

/** `n` lines from `first` on, as one panel of `width`. Memory is read in order where lines lie side
 *  by side as well as where each is contiguous. */
static void NAME(pack_panel, c)(const tl_matmul_lines *lines, size_t first, size_t n, size_t width,
                                SUM *panel)
{
    const T *const src = (const T *)lines->src + first * lines->step;
    const T *const zeros = (const T *)lines->zero;
    SUM zero[TL_MATMUL_TILE_COLS] = {0};
    if (n < width)
        memset(panel, 0, width * lines->len * sizeof(*panel));
    for (size_t j = 0; zeros && j < n; j++)
        zero[j] = (SUM)LOAD(zeros[(first + j) * lines->zero_step]);
    if (lines->step == 1) {
        for (size_t k = 0; k < lines->len; k++)
            for (size_t j = 0; j < n; j++)
                panel[k * width + j] = (SUM)LOAD(src[k * lines->len_step + j]) - zero[j];
        return;
    }
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < lines->len; k++)
            panel[k * width + j] = (SUM)LOAD(src[j * lines->step + k * lines->len_step]) - zero[j];
}

void NAME(tl_matmul_pack, c)(const tl_matmul_lines *lines, size_t width, void *panels)
{
    for (size_t first = 0; first < lines->n; first += width)
        NAME(pack_panel, c)
    (lines, first, tl_smaller_size(width, lines->n - first), width,
     (SUM *)panels + first * lines->len);
}

/** The product of two lines, divided among lanes that compilers keep in vectors. */
static SUM NAME(multiply_lines, c)(const T *a, size_t a_step, const T *b, size_t len)
{
    SUM lanes[LANES] = {0}, sum = 0;
    size_t k = 0;
    for (; k + LANES <= len; k += LANES)
        for (size_t j = 0; j < LANES; j++)
            lanes[j] += (SUM)LOAD(a[(k + j) * a_step]) * (SUM)LOAD(b[k + j]);
    for (; k < len; k++)
        sum += (SUM)LOAD(a[k * a_step]) * (SUM)LOAD(b[k]);
    for (size_t j = 0; j < LANES; j++)
        sum += lanes[j];
    return sum;
}

void NAME(tl_matmul_row, c)(const void *row, size_t row_step, const tl_matmul_lines *lines,
                            void *acc)
{
    const T *const a = row, *const b = lines->src;
    SUM *const sums = acc;
    if (lines->len_step == 1) {
        for (size_t j = 0; j < lines->n; j++)
            sums[j] += NAME(multiply_lines, c)(a, row_step, b + j * lines->step, lines->len);
        return;
    }
    for (size_t k = 0; k < lines->len; k++) {
        const SUM x = (SUM)LOAD(a[k * row_step]);
        for (size_t j = 0; j < lines->n; j++)
            sums[j] += x * (SUM)LOAD(b[k * lines->len_step + j * lines->step]);
    }
}

void NAME(tl_matmul_store, c)(const void *acc, void *dst, size_t n, double alpha, const void *bias,
                              size_t bias_step, double beta)
{
    const SUM *const sums = acc;
    const T *const b = bias;
    T *const d = dst;
    const SUM factor = SCALE(alpha), bias_factor = SCALE(beta);
    for (size_t j = 0; j < n; j++) {
        SUM sum = factor * sums[j];
        if (b)
            sum += bias_factor * (SUM)LOAD(b[j * bias_step]);
        d[j] = STORE((C)sum);
    }
}
