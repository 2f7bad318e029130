// SPDX-License-Identifier: Apache-2.0
// Template: convolution and deconvolution for one floating type, see conv2d_c.c.

/** acc[k * acc_step] += w * src[k * src_step], k < n. */
static void NAME(add_row, c)(C *restrict acc, ptrdiff_t acc_step, const T *restrict src,
                             ptrdiff_t src_step, ptrdiff_t n, C w)
{
    if (acc_step == 1 && src_step == 1) { // a loop of its own, so that it becomes vector code
        for (ptrdiff_t k = 0; k < n; k++)
            acc[k] += w * LOAD(src[k]);
        return;
    }
    for (ptrdiff_t k = 0; k < n; k++)
        acc[k * acc_step] += w * LOAD(src[k * src_step]);
}

/** Adds what one weight contributes to the tile from one plane of src. */
static void NAME(add_tap, c)(C *acc, int acc_width, const T *plane, int iw, meeting rows,
                             meeting columns, C w)
{
    if (columns.begin == columns.end)
        return;
    for (int64_t y = rows.begin; y < rows.end; y++)
        NAME(add_row, c)
    (acc + (y * rows.acc_step + rows.acc_offset) * acc_width + columns.begin * columns.acc_step +
         columns.acc_offset,
     columns.acc_step,
     plane + (y * rows.src_step + rows.src_offset) * iw + columns.begin * columns.src_step +
         columns.src_offset,
     columns.src_step, columns.end - columns.begin, w);
}

/** Sums a tile of the plane `oc` of image `n`: the bias, then every channel, row and column. */
static void NAME(sum_tile, c)(const tl_conv2d_job *job, int is_transposed, size_t n, int oc,
                              rectangle tile, C *acc)
{
    const T *bias = job->bias;
    const int kh = job->param.size[0], kw = job->param.size[1];
    const size_t src_plane = (size_t)job->ih * job->iw;
    const int group = oc / job->oc;
    const C first = bias ? LOAD(bias[oc]) : 0;
    for (int k = 0; k < tile.height * tile.width; k++)
        acc[k] = first;
    for (int c = 0; c < job->ic; c++) {
        const size_t ic = (size_t)group * job->ic + c;
        const T *plane = (const T *)job->src + (n * job->param.group * job->ic + ic) * src_plane;
        const T *weight =
            (const T *)job->weight + weight_plane(job, is_transposed, c, oc) * kh * kw;
        for (int i = 0; i < kh; i++) {
            const meeting rows = meet(job, is_transposed, 0, tile.y, tile.height, i);
            for (int j = 0; j < kw; j++) {
                const meeting columns = meet(job, is_transposed, 1, tile.x, tile.width, j);
                NAME(add_tap, c)
                (acc, tile.width, plane, job->iw, rows, columns, LOAD(weight[i * kw + j]));
            }
        }
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
            for (int x = 0; x < job->ow; x += width) {
                const rectangle tile = {y, x, smaller(height, job->oh - y),
                                        smaller(width, job->ow - x)};
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
