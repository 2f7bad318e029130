// SPDX-License-Identifier: Apache-2.0
// Pooling. The number of windows is computed here, and the padding at the end is set to reach the
// end of the last one, which expresses all rounding modes.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"

// The divisor of a mean: the elements of the window inside the source (at least 1), all of the
// window, or those inside the source and the node's padding.
typedef enum divisor { INSIDE, WINDOW, PADDED } divisor;

// Max weights of a mean over windows of unequal sizes.
enum { MAX_WEIGHTS = 1 << 26 };

typedef enum pool_kind { POOL_MAX, POOL_MEAN, POOL_SUM, POOL_NORM } pool_kind;

typedef struct pool {
    pool_kind kind;
    divisor divisor;
    double p;       // of POOL_NORM
    int axes;       // 1 to 3 spatial ones
    int pads_zeros; // elements outside count as 0, also for maxima
    int rounds_up;
    int size[3], stride[3], before[3], after[3];
    int len[3], end[3]; // the number of windows; how far the last one reaches beyond the source
} pool;

// Sets `len` and `end` for windows over `extent` elements along axis i.
static void count_windows(ln_nnvm_node *n, pool *p, int i, int extent)
{
    const int64_t room = (int64_t)extent + p->before[i] + p->after[i] - p->size[i];
    if (room < 0) {
        ln_emit_fail(&n->emit, "a window of %d elements, expected at most %lld, those with padding",
                     p->size[i], (long long)room + p->size[i]);
        return;
    }
    const int64_t len = (room + (p->rounds_up ? p->stride[i] - 1 : 0)) / p->stride[i] + 1;
    const int64_t end = (len - 1) * p->stride[i] + p->size[i] - p->before[i] - extent;
    if (len > INT_MAX || end > INT_MAX)
        ln_emit_fail(&n->emit, "%lld windows, expected at most %d", (long long)len, INT_MAX);
    p->len[i] = (int)len;
    p->end[i] = end > 0 ? (int)end : 0;
}

static int fits_image(const pool *p)
{
    int fits =
        p->axes == 2 && p->kind <= POOL_MEAN && (p->kind == POOL_MAX || p->divisor == INSIDE);
    for (int i = 0; i < p->axes; i++)
        fits &= p->before[i] < p->size[i] && p->end[i] < p->size[i];
    return fits;
}

static const char *emit_windows(ln_nnvm_node *n, const pool *p, const char *src, int i)
{
    static const char *const kinds[] = {"TL_POOL_MAX", "TL_POOL_MEAN", "TL_POOL_MEAN",
                                        "TL_POOL_NORM"};
    static const int ones[] = {1, 1, 1};
    const int is_image = fits_image(p), counts = p->divisor != INSIDE || p->kind == POOL_SUM;
    int padding[6];
    for (int k = 0; k < p->axes; k++) {
        padding[k] = p->before[k];
        padding[p->axes + k] = p->end[k];
    }
    LN_EMIT_BEGIN(&n->emit,
                  is_image ? p->kind == POOL_MAX ? LN_OP_MAXPOOL2D : LN_OP_AVGPOOL2D : LN_OP_POOLND,
                  LN_ARG("src", src), LN_INTS("size", p->axes, p->size),
                  LN_INTS("stride", p->axes, p->stride), LN_INTS("padding", 2 * p->axes, padding));
    if (is_image) {
        ln_emit_set(&n->emit, LN_TEXT("autopad", "NOTSET"));
    } else {
        ln_emit_set(&n->emit, LN_INTS("dilation", p->axes, ones));
        ln_emit_set(&n->emit, LN_TEXT("kind", kinds[p->kind]));
        ln_emit_set(&n->emit, LN_BOOL("count_padding", counts));
        if (p->kind == POOL_NORM)
            ln_emit_set(&n->emit, LN_NUMBER("p", p->p));
    }
    return ln_emit_end(&n->emit, "dst", i);
}

// Factors that turn means over whole windows into means over the padded source, along axis `i`: a
// constant that broadcasts.
static const char *padded_factors(ln_nnvm_node *n, const pool *p, int i, int extent, tl_dtype dtype)
{
    const int64_t limit = (int64_t)extent + p->after[i];
    int dims[5] = {1, 1, 1, 1, 1};
    double *factors =
        ln_translation_alloc(&n->model->base, ((size_t)p->len[i] + 1) * sizeof(*factors));
    dims[2 + i] = p->len[i];
    for (int w = 0; factors && w < p->len[i]; w++) {
        const int64_t start = (int64_t)w * p->stride[i] - p->before[i], end = start + p->size[i];
        factors[w] = (double)p->size[i] / (int)((end < limit ? end : limit) - start);
    }
    if (!factors)
        return NULL;
    const char *const all = ln_emit_constant(&n->emit, TL_DOUBLE, p->axes + 2, dims, factors);
    return ln_emit_cast(&n->emit, all, dtype, LN_EMIT_TEMP);
}

// Whether the last windows along the axis exceed the padding, so that means need factors.
static int overhangs(const pool *p, int i)
{
    return p->kind == POOL_MEAN && p->divisor == PADDED && p->end[i] > p->after[i];
}

// `i` as in ln_emit_out.
static const char *emit_pool(ln_nnvm_node *n, pool *p, const char *src, int i)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const tl_dtype own = t->dtype;
    int extents[3];
    double window = 1;
    int n_steps = p->kind == POOL_SUM; // after the windows
    for (int k = 0; k < p->axes; k++) {
        extents[k] = t->dims[2 + k];
        count_windows(n, p, k, extents[k]);
        window *= p->size[k];
        n_steps += overhangs(p, k);
    }
    if (ln_nnvm_failed(n))
        return NULL;
    if (p->pads_zeros && p->kind == POOL_MAX) {
        int before[5] = {0}, after[5] = {0};
        for (int k = 0; k < p->axes; k++) {
            before[2 + k] = p->before[k];
            after[2 + k] = p->end[k];
            p->before[k] = p->end[k] = 0;
        }
        src = LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_PAD, LN_ARG("src", src),
                      LN_INTS("before", p->axes + 2, before), LN_INTS("after", p->axes + 2, after));
    }
    const int is_cast = p->kind != POOL_MAX && !tl_dtype_is_float(own);
    n_steps += is_cast;
    if (is_cast)
        src = ln_emit_cast(&n->emit, src, TL_DOUBLE, LN_EMIT_TEMP);
    const char *dst = emit_windows(n, p, src, n_steps ? LN_EMIT_TEMP : i);
    const tl_dtype dtype = is_cast ? TL_DOUBLE : own;
    for (int k = 0; k < p->axes; k++)
        if (overhangs(p, k))
            dst = ln_emit_binary(&n->emit, "TL_BINARY_MUL", dst,
                                 padded_factors(n, p, k, extents[k], dtype),
                                 --n_steps ? LN_EMIT_TEMP : i);
    if (p->kind == POOL_SUM)
        dst = ln_emit_binary(&n->emit, "TL_BINARY_MUL", dst,
                             ln_emit_scalar(&n->emit, dtype, window), --n_steps ? LN_EMIT_TEMP : i);
    return is_cast ? ln_emit_cast(&n->emit, dst, own, i) : dst;
}

// Reads the source in its layout, pools, and returns the result in the same layout; `is_global`:
// windows are those of the whole image.
static void translate_in_layout(ln_nnvm_node *n, pool *p, int is_global)
{
    const char *const plain = ln_nnvm_plain_layout(p->axes);
    const ln_nnvm_layout layout =
        ln_nnvm_layout_of(n, ln_attr_text(&n->emit, "layout", plain), plain);
    const char *const src = ln_nnvm_to_plain(n, ln_nnvm_in(n, 0), &layout);
    if (ln_nnvm_failed(n))
        return;
    for (int i = 0; is_global && i < p->axes; i++) {
        const int len = ln_nnvm_tensor_of(n, src)->dims[2 + i];
        p->size[i] = len ? len : 1;
        p->stride[i] = 1;
    }
    const int is_plain = ln_nnvm_is_plain(&layout);
    const char *const dst = emit_pool(n, p, src, is_plain ? 0 : LN_EMIT_TEMP);
    if (!is_plain)
        ln_nnvm_from_plain(n, dst, &layout, 0);
}

// Windows of one size

// Attribute 'padding': one number for all sides, [y, x], or [top, left, bottom, right].
static void read_core_padding(ln_nnvm_node *n, pool *p)
{
    int len;
    const int64_t *const given = ln_attr_ints(&n->emit, "padding", &len);
    if (len > 0 && len != 1 && len != 2 && len != 4)
        ln_emit_fail(&n->emit, "attribute 'padding' has %d numbers, expected 1, 2 or 4", len);
    for (int i = 0; i < 2 && len > 0 && !ln_nnvm_failed(n); i++) {
        const int64_t after = given[len == 1 ? 0 : len == 2 ? i : 2 + i];
        p->before[i] = ln_attr_element(&n->emit, "padding", given[len == 1 ? 0 : i], 0, INT_MAX);
        p->after[i] = ln_attr_element(&n->emit, "padding", after, 0, INT_MAX);
    }
}

// Reads the kind of pooling. LightNet adds sums and norms to core's.
static pool read_kind(ln_nnvm_node *n, int axes)
{
    pool p = {.kind = strcmp(n->row->with, "max") ? POOL_MEAN : POOL_MAX, .axes = axes};
    const char *const type = ln_nnvm_was_mxnet(n) ? ln_attr_text(&n->emit, "pool_type", "") : "";
    if (*type)
        p.kind = strcmp(type, "sum") ? POOL_NORM : POOL_SUM;
    if (*type)
        p.p = (double)ln_attr_int(&n->emit, "p_value", 2);
    return p;
}

// MXNet's windows may have any axes, and as much padding at the end as at the beginning.
static void read_mxnet_windows(ln_nnvm_node *n, pool *p)
{
    ln_attr_ints(&n->emit, "pool_size", &p->axes);
    ln_attr_ints_of(&n->emit, "padding", p->axes, 0, 0, p->before);
    memcpy(p->after, p->before, sizeof(p->after));
    p->pads_zeros = ln_attr_bool(&n->emit, "pads_zeros", 0);
    p->divisor = ln_attr_bool(&n->emit, "is_padded", 0) ? PADDED : WINDOW;
}

static void translate_windows(ln_nnvm_node *n)
{
    pool p = read_kind(n, 2);
    p.divisor = WINDOW;
    if (ln_nnvm_was_mxnet(n))
        read_mxnet_windows(n, &p);
    else
        read_core_padding(n, &p);
    ln_attr_ints_of(&n->emit, "pool_size", p.axes, 1, 1, p.size);
    ln_attr_ints_of(&n->emit, "strides", p.axes, 1, 1, p.stride);
    p.rounds_up = ln_attr_bool(&n->emit, "ceil_mode", 0);
    if (p.kind == POOL_MAX || !ln_attr_bool(&n->emit, "count_include_pad", 0))
        p.divisor = INSIDE;
    translate_in_layout(n, &p, 0);
}

static void translate_global(ln_nnvm_node *n)
{
    const int ndim = ln_nnvm_tensor_of(n, ln_nnvm_in(n, 0))->ndim;
    pool p = read_kind(n, ln_nnvm_was_mxnet(n) ? ndim - 2 : 2);
    if (p.axes < 1 || p.axes > 3)
        ln_emit_fail(&n->emit, "pooling over %d axes, expected 1 to 3", p.axes);
    else
        translate_in_layout(n, &p, 1);
}

// Windows of different sizes

// [out, in]: row i has equal weights from i in / out, rounded down, to (i + 1) in / out, rounded
// up. A product with it computes the means over these windows.
static const char *mean_matrix(ln_nnvm_node *n, int out, int in, tl_dtype dtype)
{
    const int dims[] = {out, in};
    if ((int64_t)out * in > MAX_WEIGHTS) {
        ln_emit_fail(&n->emit, "%d windows over %d elements, expected a product of at most %d", out,
                     in, MAX_WEIGHTS);
        return NULL;
    }
    double *weights =
        ln_translation_alloc(&n->model->base, (size_t)out * (size_t)in * sizeof(*weights));
    for (int64_t i = 0; weights && i < out; i++) {
        const int first = (int)(i * in / out), end = (int)(((i + 1) * in + out - 1) / out);
        for (int k = first; k < end; k++)
            weights[i * in + k] = 1.0 / (end - first);
    }
    return weights ? ln_emit_cast(&n->emit, ln_emit_constant(&n->emit, TL_DOUBLE, 2, dims, weights),
                                  dtype, LN_EMIT_TEMP)
                   : NULL;
}

// Means over a given number of windows of sizes as equal as possible: pooling for equal ones.
static void translate_adaptive_pool(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    const tl_dtype dtype = t->dtype;
    int len;
    const int64_t *const given = ln_attr_ints(&n->emit, "output_size", &len);
    pool p = {.kind = POOL_MEAN, .axes = 2, .divisor = INSIDE};
    int out[2], is_even = 1;
    if (t->ndim != 4 || !tl_dtype_is_float(dtype) || !t->len)
        ln_emit_fail(&n->emit, "its data is not an image [N, C, H, W] of floats");
    if (len > 2)
        ln_emit_fail(&n->emit, "attribute 'output_size' has %d numbers, expected 1 or 2", len);
    for (int i = 0; i < 2 && !ln_nnvm_failed(n); i++)
        out[i] = ln_attr_element(&n->emit, "output_size", len <= 0 ? 1 : given[len == 1 ? 0 : i], 1,
                                 INT_MAX);
    if (ln_nnvm_failed(n))
        return;
    for (int i = 0; i < 2; i++) {
        is_even &= t->dims[2 + i] % out[i] == 0;
        p.size[i] = p.stride[i] = t->dims[2 + i] / out[i];
    }
    if (is_even) {
        emit_pool(n, &p, src, 0);
        return;
    }
    const char *const rows = mean_matrix(n, out[0], t->dims[2], dtype);
    const char *const columns = mean_matrix(n, out[1], t->dims[3], dtype);
    if (!ln_nnvm_failed(n))
        ln_nnvm_matmul(n, rows, ln_nnvm_matmul(n, src, columns, 0, 1, LN_EMIT_TEMP), 0, 0, 0);
}

const ln_nnvm_row ln_nnvm_rows_pool[] = {
    {"max_pool2d", LN_IN_CORE, translate_windows, "max", 1, 1, .needs = "pool_size"},
    {"avg_pool2d", LN_IN_CORE, translate_windows, "mean", 1, 1, .needs = "pool_size"},
    {"global_max_pool2d", LN_IN_CORE, translate_global, "max", 1, 1},
    {"global_avg_pool2d", LN_IN_CORE, translate_global, "mean", 1, 1},
    {"_contrib_AdaptiveAvgPooling2D", LN_IN_MXNET, translate_adaptive_pool, NULL, 1, 1},
    {NULL},
};
