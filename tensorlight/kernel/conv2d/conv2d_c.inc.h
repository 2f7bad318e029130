// SPDX-License-Identifier: Apache-2.0
// Template: convolution and deconvolution for one floating type, see conv2d_c.c.

/** acc[k * acc_step] += the sum of w[b] * src[b * plane + k * src_step] over b < n_planes, one
 *  after the other, for k < n. */
static void NAME(add_row, c)(C *restrict acc, ptrdiff_t acc_step, const T *restrict src,
                             ptrdiff_t src_step, ptrdiff_t n, size_t plane, const C *w,
                             int n_planes)
{
    if (n_planes == BLOCK && acc_step == 1 && src_step == 1) { // becomes vector code
        const T *restrict src1 = src + plane, *restrict src2 = src1 + plane;
        const T *restrict src3 = src2 + plane;
        const C w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
        for (ptrdiff_t k = 0; k < n; k++)
            acc[k] = acc[k] + w0 * LOAD(src[k]) + w1 * LOAD(src1[k]) + w2 * LOAD(src2[k]) +
                     w3 * LOAD(src3[k]);
        return;
    }
    for (int b = 0; b < n_planes; b++, src += plane) {
        if (acc_step == 1 && src_step == 1)
            for (ptrdiff_t k = 0; k < n; k++)
                acc[k] += w[b] * LOAD(src[k]);
        else
            for (ptrdiff_t k = 0; k < n; k++)
                acc[k * acc_step] += w[b] * LOAD(src[k * src_step]);
    }
}

/** Adds what one tap contributes to the tile from `n_planes` planes of src. */
static void NAME(add_tap, c)(const tl_conv2d_job *job, C *acc, int acc_width, const T *src,
                             tl_window_meeting rows, tl_window_meeting columns, const C *w,
                             int n_planes)
{
    if (columns.begin == columns.end)
        return;
    const size_t plane = (size_t)job->ih * job->iw;
    acc += columns.begin * columns.acc_step + columns.acc_offset;
    src += columns.begin * columns.src_step + columns.src_offset;
    const ptrdiff_t n = columns.end - columns.begin;
    for (int64_t y = rows.begin; y < rows.end; y++) {
        C *const to = acc + (y * rows.acc_step + rows.acc_offset) * acc_width;
        const T *const from = src + (y * rows.src_step + rows.src_offset) * job->iw;
        NAME(add_row, c)(to, columns.acc_step, from, columns.src_step, n, plane, w, n_planes);
    }
}

/** Adds what the channels c .. c+n_planes-1 of the group of `oc` contribute to the tile; src is
 *  the first one's plane. */
static void NAME(add_channels, c)(const tl_conv2d_job *job, int is_transposed, const T *src, int c,
                                  int n_planes, int oc, rectangle tile, C *acc)
{
    const T *const weight = job->weight;
    const int kh = job->param.size[0], kw = job->param.size[1];
    for (int i = 0; i < kh; i++) {
        const tl_window_meeting rows = meet(job, is_transposed, 0, tile.y, tile.height, i);
        for (int j = 0; j < kw; j++) {
            const tl_window_meeting columns = meet(job, is_transposed, 1, tile.x, tile.width, j);
            C w[BLOCK];
            for (int b = 0; b < n_planes; b++)
                w[b] = LOAD(weight[weight_index(job, is_transposed, c + b, oc, i, j)]);
            NAME(add_tap, c)(job, acc, tile.width, src, rows, columns, w, n_planes);
        }
    }
}

/** Sums a tile of plane `oc` of image `n`: the bias, then block after block of channels. */
static void NAME(sum_tile, c)(const tl_conv2d_job *job, int is_transposed, size_t n, int oc,
                              rectangle tile, C *acc)
{
    const T *const bias = job->bias;
    const C first = bias ? LOAD(bias[oc]) : 0;
    for (int k = 0; k < tile.height * tile.width; k++)
        acc[k] = first;
    const size_t group = n * job->param.group + oc / job->oc;
    const size_t plane = (size_t)job->ih * job->iw;
    for (int c = 0; c < job->ic; c += BLOCK) {
        const T *const src = (const T *)job->src + (group * job->ic + c) * plane;
        const int n_planes = tl_smaller(BLOCK, job->ic - c);
        NAME(add_channels, c)(job, is_transposed, src, c, n_planes, oc, tile, acc);
    }
}

static void NAME(store_tile, c)(T *plane, int ow, rectangle tile, const C *acc)
{
    for (int y = 0; y < tile.height; y++) {
        T *row = plane + (size_t)(tile.y + y) * ow + tile.x;
        for (int x = 0; x < tile.width; x++)
            row[x] = STORE(acc[y * tile.width + x]);
    }
}

static void NAME(sum_planes, c)(const tl_conv2d_job *job, int is_transposed, size_t begin,
                                size_t end)
{
    const int oc = job->oc * job->param.group;
    const int width = job->ow < TILE_SIZE ? job->ow : TILE_SIZE;
    const int height = TILE_SIZE / width;
    C acc[TILE_SIZE];
    for (size_t p = begin; p < end; p++)
        for (int y = 0; y < job->oh; y += height)
            for (int x = 0; x < job->ow && !tl_stop_is_requested(job->stop); x += width) {
                const rectangle tile = {y, x, tl_smaller(height, job->oh - y),
                                        tl_smaller(width, job->ow - x)};
                NAME(sum_tile, c)(job, is_transposed, p / oc, (int)(p % oc), tile, acc);
                NAME(store_tile, c)((T *)job->dst + p * job->oh * job->ow, job->ow, tile, acc);
            }
}

void NAME(tl_conv2d, c)(void *arg, size_t begin, size_t end)
{
    NAME(sum_planes, c)(arg, 0, begin, end);
}

void NAME(tl_deconv2d, c)(void *arg, size_t begin, size_t end)
{
    NAME(sum_planes, c)(arg, 1, begin, end);
}
