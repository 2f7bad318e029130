// SPDX-License-Identifier: Apache-2.0
// Operators that change the size of images.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_steps.h"
#include "tensorlight/tl_util.h"

// ONNX coordinate_transformation_mode: the source coordinate of output index i is i in / out,
// (i + 1/2) in / out - 1/2, or i (in - 1) / (out - 1).
typedef enum coordinates { ASYMMETRIC, HALF_PIXEL, ALIGN_CORNERS } coordinates;

// Resizes images [N, C, H, W] to `size`, H and W. Without `is_linear`: nearest, rounded down (ONNX
// nearest_mode floor). `i` as in ln_emit_out.
static const char *emit_resize(ln_nnvm_node *n, const char *src, const int size[2], int is_linear,
                               coordinates mode, int i)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    int dims[4] = {t->dims[0], t->dims[1], size[0], size[1]};
    double shift[4], ones[4] = {1, 1, 1, 1}, span[4], steps[4], start[4];
    for (int k = 0; k < 4; k++) {
        const int aligns = is_linear && mode == ALIGN_CORNERS && dims[k] > 1;
        span[k] = t->dims[k] - aligns;
        steps[k] = dims[k] - aligns;
        shift[k] = mode == HALF_PIXEL && k >= 2 ? 0.5 : 0;
        start[k] = -shift[k];
    }
    return LN_EMIT(&n->emit, i, LN_OP_RESAMPLE, LN_ARG("src", src),
                   LN_TEXT("mode", is_linear ? "TL_RESAMPLE_LINEAR" : "TL_RESAMPLE_NEAREST"),
                   LN_INTS("dims", 4, dims), LN_NUMBERS("shift", 4, shift),
                   LN_NUMBERS("span", 4, span), LN_NUMBERS("steps", 4, steps),
                   LN_NUMBERS("start", 4, start), LN_NUMBERS("stretch", 4, ones),
                   LN_TEXT("rounding", "TL_ROUND_DOWN"));
}

// Multiplies H and W of images [N, C, H, W] by `scale`, into `size`.
static void scale_size(ln_nnvm_node *n, const char *src, int scale, int size[2])
{
    int dims[LN_MAXDIM];
    ln_nnvm_image_dims(n, src, dims);
    for (int i = 0; i < 2; i++) {
        if (dims[2 + i] > INT_MAX / scale)
            ln_emit_fail(&n->emit, "attribute 'scale' is %d for length %d, expected at most %d",
                         scale, dims[2 + i], INT_MAX / dims[2 + i]);
        size[i] = ln_nnvm_failed(n) ? 1 : dims[2 + i] * scale;
    }
}

// `with` names the attribute that determines the output size: "scale" or "size".
static void translate_core_resize(ln_nnvm_node *n)
{
    static const ln_attr_word methods[] = {{"BILINEAR"}, {"NEAREST_NEIGHBOR"}, {0}};
    const int has_scale = !strcmp(n->row->with, "scale");
    const char *const deflt = methods[has_scale].name;
    const int is_linear = !strcmp(ln_attr_choose(&n->emit, "method", deflt, methods), "BILINEAR");
    const coordinates mode =
        !has_scale && ln_attr_bool(&n->emit, "align_corners", 0) ? ALIGN_CORNERS : ASYMMETRIC;
    int size[2];
    const ln_nnvm_layout layout =
        ln_nnvm_layout_of(n, ln_attr_text(&n->emit, "layout", "NCHW"), "NCHW");
    const char *const src = ln_nnvm_to_plain(n, ln_nnvm_in(n, 0), &layout);
    if (has_scale)
        scale_size(n, src, ln_attr_int_in(&n->emit, "scale", 1, 1, 1 << 10), size);
    else
        ln_attr_ints_of(&n->emit, "size", 2, 1, 1, size);
    if (ln_nnvm_failed(n))
        return;
    const int is_plain = ln_nnvm_is_plain(&layout);
    const char *const dst = emit_resize(n, src, size, is_linear, mode, is_plain ? 0 : LN_EMIT_TEMP);
    if (!is_plain)
        ln_nnvm_from_plain(n, dst, &layout, 0);
}

// MXNet

// Resizes inputs to `scale` times the size of the first; concatenates them, or adds if `is_sum`.
static void emit_nearest(ln_nnvm_node *n, int scale, int is_sum)
{
    const int len = ln_nnvm_num_inputs(n);
    const char **all = ln_translation_alloc(&n->model->base, ((size_t)len + 1) * sizeof(*all));
    char text[TL_SHAPE_TEXT_SIZE];
    int size[2];
    scale_size(n, ln_nnvm_in(n, 0), scale, size);
    for (int i = 0; all && i < len && !ln_nnvm_failed(n); i++) {
        const char *const src = ln_nnvm_in(n, i);
        const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
        if (t->ndim != 4 || !t->dims[2] || !t->dims[3] || size[0] % t->dims[2] ||
            size[1] % t->dims[3])
            ln_emit_fail(&n->emit, "input %d has shape %s, expected images that divide %d x %d", i,
                         tl_shape_text(text, t->ndim, t->dims), size[0], size[1]);
        else
            all[i] = emit_resize(n, src, size, 0, ASYMMETRIC, len > 1 ? LN_EMIT_TEMP : 0);
    }
    if (!all || ln_nnvm_failed(n))
        return;
    const char *dst = all[0];
    for (int i = 1; is_sum && i < len; i++)
        dst =
            ln_emit_binary(&n->emit, "TL_BINARY_ADD", dst, all[i], i + 1 < len ? LN_EMIT_TEMP : 0);
    if (!is_sum && len > 1)
        ln_nnvm_join(n, len, all, 1, 0);
}

// A depthwise transposed convolution, whose weight is in the parameter file.
static void emit_bilinear(ln_nnvm_node *n, int scale)
{
    static const int ones[] = {1, 1}, none[4] = {0};
    const char *const src = ln_nnvm_in(n, 0);
    int src_dims[LN_MAXDIM];
    ln_nnvm_image_dims(n, src, src_dims);
    const int k = 2 * scale - scale % 2, channels = src_dims[1], pad = scale / 2;
    const int dims[] = {channels, 1, k, k};
    const int size[] = {k, k}, stride[] = {scale, scale}, padding[] = {pad, pad, pad, pad};
    const int64_t n_filters = ln_attr_int(&n->emit, "num_filter", channels);
    if (n_filters != channels)
        ln_emit_fail(&n->emit, "attribute 'num_filter' is %lld, expected %d, the channels of data",
                     (long long)n_filters, channels);
    const char *const weight = ln_nnvm_weight(n, 1, "weight", 4, dims);
    const char *const bias =
        ln_emit_filled(&n->emit, ln_nnvm_tensor_of(n, src)->dtype, 1, &channels, 0);
    LN_EMIT(&n->emit, 0, LN_OP_DECONV2D, LN_ARG("src", src), LN_ARG("weight", weight),
            LN_ARG("bias", bias), LN_INT("group", channels), LN_INTS("size", 2, size),
            LN_INTS("stride", 2, stride), LN_INTS("dilation", 2, ones),
            LN_INTS("padding", 4, padding), LN_INTS("output_padding", 2, none),
            LN_INTS("output_dims", 4, none), LN_TEXT("autopad", "NOTSET"));
}

static void translate_upsampling(ln_nnvm_node *n)
{
    static const ln_attr_word types[] = {{"nearest"}, {"bilinear"}, {0}};
    static const ln_attr_word modes[] = {{"concat"}, {"sum"}, {0}};
    const int scale = ln_attr_int_in(&n->emit, "scale", 1, 1, 1 << 10);
    const char *const type = ln_attr_choose(&n->emit, "sample_type", "nearest", types);
    const char *const mode = ln_attr_choose(&n->emit, "multi_input_mode", "concat", modes);
    const int is_linear = !strcmp(type, "bilinear"), len = ln_nnvm_num_inputs(n);
    const int64_t n_args = ln_attr_int(&n->emit, "num_args", len);
    if (n_args != len && !(is_linear && n_args == 1))
        ln_emit_fail(&n->emit, "%d inputs, expected %lld, attribute 'num_args'", len,
                     (long long)n_args);
    if (is_linear && len != 2)
        ln_emit_fail(&n->emit, "%d inputs, expected 2, data and weight", len);
    if (ln_nnvm_failed(n))
        return;
    ln_attr_has(&n->emit, "num_filter"); // unused by nearest
    if (is_linear)
        emit_bilinear(n, scale);
    else
        emit_nearest(n, scale, !strcmp(mode, "sum"));
}

// Resizes to the size of the second input in mode "like", or by scale_height and scale_width if
// present, or to height and width.
static void translate_bilinear_resize(ln_nnvm_node *n)
{
    static const char *const keys[][2] = {{"height", "scale_height"}, {"width", "scale_width"}};
    static const ln_attr_word modes[] = {{"size"}, {"like"}, {0}};
    const coordinates mode =
        ln_attr_bool(&n->emit, "align_corners", 1) ? ALIGN_CORNERS : HALF_PIXEL;
    const int is_like = !strcmp(ln_attr_choose(&n->emit, "mode", "size", modes), "like");
    int size[2], dims[LN_MAXDIM], like[LN_MAXDIM];
    ln_nnvm_image_dims(n, ln_nnvm_in(n, 0), dims);
    ln_nnvm_image_dims(n, ln_nnvm_in(n, is_like), like);
    for (int i = 0; i < 2; i++) {
        const double scale = ln_attr_number(&n->emit, keys[i][1], 0), scaled = scale * dims[2 + i];
        size[i] = ln_attr_int_in(&n->emit, keys[i][0], 1, 1, INT_MAX);
        if (is_like)
            size[i] = like[2 + i];
        else if (scale != 0 && !(scaled >= 1 && scaled < INT_MAX))
            ln_emit_fail(&n->emit, "attribute '%s' scales length %d to %g, expected 1 to %d",
                         keys[i][1], dims[2 + i], scaled, INT_MAX);
        else if (scale != 0)
            size[i] = (int)scaled;
    }
    if (!ln_nnvm_failed(n))
        emit_resize(n, ln_nnvm_in(n, 0), size, 1, mode, 0);
}

const ln_nnvm_row ln_nnvm_rows_resize[] = {
    {"upsampling", LN_IN_CORE, translate_core_resize, "scale", 1, 1, .needs = "scale"},
    {"resize", LN_IN_CORE, translate_core_resize, "size", 1, 1, .needs = "size"},
    {"UpSampling", LN_IN_MXNET, translate_upsampling, NULL, 1, .weights = 2, .ignored = "workspace",
     .needs = "scale sample_type"},
    {"_contrib_BilinearResize2D", LN_IN_MXNET, translate_bilinear_resize, NULL, 1, 2},
    {NULL},
};
