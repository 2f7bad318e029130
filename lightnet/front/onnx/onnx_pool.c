// SPDX-License-Identifier: Apache-2.0
// ONNX's pooling. Maxima and means over one axis or two, without gaps, use maxpool2d and avgpool2d,
// which are optimized.

#include <limits.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"
#include "tensorlight/tl_nn.h"

// Arguments of a pooling.
typedef struct pooling {
    const char *src, *kind;
    int is_ceil, counts_padding;
    double p; // of TL_POOL_NORM
    tl_windows windows;
} pooling;

// The windows as those of maxpool2d or avgpool2d: ceil_mode becomes padding, which depends on the
// size. 0: not expressible.
static int as_image(const ln_onnx_node *n, const pooling *p, tl_windows *w)
{
    const tl_tensor *const src = ln_onnx_tensor_of(n, p->src);
    const tl_poolnd_param param = {.windows = p->windows, .is_ceil = p->is_ceil};
    int dims[TL_MAXDIM];
    *w = p->windows;
    if (p->is_ceil && ln_onnx_is_dynamic(n, p->src))
        return 0;
    if (ln_streq(p->kind, "TL_POOL_NORM") || !ln_onnx_is_image(n, p->src, w, 0) ||
        tl_poolnd_shape(src, &param, dims) < 0)
        return 0;
    for (int i = 0; i < w->n; i++) {
        if (p->counts_padding && (w->padding[i] > 0 || w->padding[w->n + i] > 0))
            return 0;
        const int64_t end = (int64_t)(dims[2 + i] - 1) * w->stride[i] + w->size[i] - w->padding[i] -
                            src->dims[2 + i];
        if (p->is_ceil)
            w->padding[w->n + i] = end > 0 ? (int)end : 0;
        if (w->padding[i] >= w->size[i] || w->padding[w->n + i] >= w->size[i])
            return 0;
    }
    return 1;
}

static const char *emit_pool(ln_onnx_node *n, const pooling *p, int i)
{
    tl_windows w;
    if (as_image(n, p, &w)) {
        const char *const src = ln_onnx_as_image(n, p->src);
        ln_emit_begin(&n->emit,
                      ln_streq(p->kind, "TL_POOL_MAX") ? LN_OP_MAXPOOL2D : LN_OP_AVGPOOL2D);
        ln_emit_arg(&n->emit, "src", src);
        ln_onnx_set_image_ints(n, "size", &w, 1, w.size, 1);
        ln_onnx_set_image_ints(n, "stride", &w, 1, w.stride, 1);
        ln_onnx_set_image_ints(n, "padding", &w, 2, w.padding, 0);
        ln_emit_set(&n->emit, LN_TEXT("autopad", "NOTSET"));
        return ln_onnx_end_image(n, &w, i);
    }
    return LN_EMIT(&n->emit, i, LN_OP_POOLND, LN_ARG("src", p->src), LN_TEXT("kind", p->kind),
                   LN_ONNX_WINDOWS(&p->windows), LN_BOOL("ceil", p->is_ceil),
                   LN_BOOL("count_padding", p->counts_padding), LN_NUMBER("p", p->p));
}

// The exponent: a float in opset 1, an integer since.
static double read_p(ln_onnx_node *n)
{
    return n->opset < 2 ? ln_attr_number(&n->emit, "p", 2) : (double)ln_attr_int(&n->emit, "p", 2);
}

static pooling read_pooling(ln_onnx_node *n, const char *src, const char *kind)
{
    pooling p = {.src = src, .kind = kind, .p = 2};
    p.windows = ln_onnx_windows(n, p.src, NULL);
    ln_onnx_auto_pad(n, p.src, &p.windows);
    p.is_ceil = ln_attr_bool(&n->emit, "ceil_mode", 0);
    return p;
}

static void translate_max_pool(ln_onnx_node *n)
{
    const pooling p = read_pooling(n, ln_onnx_in(n, 0), n->row->with);
    if (ln_onnx_wants(n, 1))
        LN_ONNX_FORM(n, 0, LN_ONNX_WINDOWS(&p.windows));
    else
        emit_pool(n, &p, 0);
}

const char *ln_onnx_emit_max_pool(ln_onnx_node *n, const char *src, int i)
{
    const pooling p = read_pooling(n, src, "TL_POOL_MAX");
    return emit_pool(n, &p, i);
}

const char *ln_onnx_emit_average_pool(ln_onnx_node *n, const char *src, int i)
{
    pooling p = read_pooling(n, src, "TL_POOL_MEAN");
    p.counts_padding = ln_attr_bool(&n->emit, "count_include_pad", 0);
    return emit_pool(n, &p, i);
}

static void translate_average_pool(ln_onnx_node *n)
{
    ln_onnx_emit_average_pool(n, ln_onnx_in(n, 0), 0);
}

static void translate_lp_pool(ln_onnx_node *n)
{
    pooling p = read_pooling(n, ln_onnx_in(n, 0), n->row->with);
    p.p = read_p(n);
    emit_pool(n, &p, 0);
}

// Global pooling: one window over all spatial axes. Open ones are reduced.
static const char *emit_global_reduce(ln_onnx_node *n, const char *src, const char *kind, int i)
{
    int axes[LN_MAXDIM];
    const int n_axes = ln_onnx_tensor_of(n, src)->ndim - 2;
    for (int k = 0; k < n_axes; k++)
        axes[k] = 2 + k;
    return ln_emit_reduce(&n->emit,
                          ln_streq(kind, "TL_POOL_MAX") ? "TL_REDUCE_MAX" : "TL_REDUCE_MEAN", src,
                          n_axes, axes, 1, i);
}

static int has_open_space(ln_onnx_node *n, const char *src)
{
    int is_open = 0;
    for (int k = 2; k < ln_onnx_tensor_of(n, src)->ndim; k++) {
        const ln_dim size = ln_onnx_axis_size(n, src, k);
        is_open |= !ln_dim_is_constant(&size);
    }
    return is_open;
}

static const char *emit_global_pool(ln_onnx_node *n, const char *src, const char *kind, int i)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    pooling p = {.src = src, .kind = kind, .p = 2, .windows = {.n = t->ndim - 2}};
    if (p.windows.n < 1)
        ln_emit_fail(&n->emit, "its input has %d dimensions, expected at least 3", t->ndim);
    if (!ln_streq(kind, "TL_POOL_NORM") && has_open_space(n, src))
        return emit_global_reduce(n, src, kind, i);
    for (int k = 0; k < p.windows.n; k++) {
        p.windows.size[k] = t->dims[2 + k];
        p.windows.stride[k] = p.windows.dilation[k] = 1;
    }
    if (ln_streq(p.kind, "TL_POOL_NORM"))
        p.p = read_p(n);
    return ln_onnx_failed(n) ? src : emit_pool(n, &p, i);
}

const char *ln_onnx_emit_global_average(ln_onnx_node *n, const char *src, int i)
{
    return emit_global_pool(n, src, "TL_POOL_MEAN", i);
}

static void translate_global_pool(ln_onnx_node *n)
{
    emit_global_pool(n, ln_onnx_in(n, 0), n->row->with, 0);
}

// MaxUnpool

// `tensor` [dims], padded with zeros at the end of each axis to the optional input 2: output 0.
static void enlarge(ln_onnx_node *n, const char *tensor, int ndim, const int *dims)
{
    int len, before[TL_MAXDIM] = {0}, after[TL_MAXDIM] = {0}, more = 0;
    const int64_t *const given = ln_onnx_ints_in(n, 2, &len);
    if (len > 0 && len != ndim)
        ln_emit_fail(&n->emit, "input 'output_shape' has %d numbers, expected %d", len, ndim);
    for (int i = 0; i < len && !ln_onnx_failed(n); i++) {
        if (given[i] < dims[i] || given[i] > INT_MAX)
            ln_emit_fail(&n->emit, "input 'output_shape' has %lld at index %d, expected %d to %d",
                         (long long)given[i], i, dims[i], INT_MAX);
        more += given[i] > dims[i];
        after[i] = (int)(given[i] - dims[i]);
    }
    if (more == 0) {
        ln_emit_reshape(&n->emit, tensor, ndim, dims, 0);
        return;
    }
    const char *const shaped = ln_emit_reshape(&n->emit, tensor, ndim, dims, LN_EMIT_TEMP);
    LN_EMIT(&n->emit, 0, LN_OP_PAD, LN_ARG("src", shaped), LN_INTS("before", ndim, before),
            LN_INTS("after", ndim, after));
}

// Puts the elements at their indices in zeros.
static void translate_max_unpool(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0), *const index = ln_onnx_in(n, 1);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const tl_windows w = ln_onnx_windows(n, src, NULL);
    if (ln_onnx_failed(n))
        return;
    // The shape before pooling; elements outside of all windows are lost.
    int dims[TL_MAXDIM] = {t->dims[0], t->dims[1]}, len;
    for (int i = 0; i < w.n; i++)
        if ((dims[2 + i] = tl_deconv2d_length(t->dims[2 + i], w.size[i], w.stride[i], 1,
                                              w.padding[i], w.padding[w.n + i], 0)) < 0)
            ln_emit_fail(&n->emit, "%s", tl_last_error());
    if (ln_onnx_failed(n))
        return;
    if ((len = tl_compute_length(t->ndim, dims)) < 0) {
        ln_emit_fail(&n->emit, "%s", tl_last_error());
        return;
    }
    // `zeros` is overwritten in place, but makes no empty tensor.
    const char *const zeros = len ? LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_ZEROS,
                                            LN_DTYPE("dtype", t->dtype), LN_INTS("dims", 1, &len))
                                  : ln_emit_filled(&n->emit, t->dtype, 1, &len, 0);
    const char *const line = ln_emit_reshape(&n->emit, src, 1, &t->len, LN_EMIT_TEMP);
    const char *const indices = ln_emit_reshape(&n->emit, index, 1, &t->len, LN_EMIT_TEMP);
    const char *const dst =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_PUT_ALONG, LN_ARG("src", zeros),
                LN_ARG("index", indices), LN_ARG("update", line), LN_INT("axis", 0));
    enlarge(n, dst, t->ndim, dims);
}

const ln_onnx_row ln_onnx_rows_pool[] = {
    {"MaxPool", 1, translate_max_pool, "TL_POOL_MAX"},
    {"AveragePool", 1, translate_average_pool, "TL_POOL_MEAN"},
    {"LpPool", 1, translate_lp_pool, "TL_POOL_NORM"},
    {"GlobalMaxPool", 1, translate_global_pool, "TL_POOL_MAX"},
    {"GlobalAveragePool", 1, translate_global_pool, "TL_POOL_MEAN"},
    {"GlobalLpPool", 1, translate_global_pool, "TL_POOL_NORM"},
    {"MaxUnpool", 9, translate_max_unpool},
    {NULL},
};
