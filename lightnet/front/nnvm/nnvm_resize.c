// SPDX-License-Identifier: Apache-2.0
// Operators that change the size of images.

#include <limits.h>
#include <string.h>

#include "front/nnvm/ln_nnvm_layout.h"
#include "front/nnvm/ln_nnvm_rows.h"

/** Rows and columns of [N, C, H, W] to `size`: source positions i in / out, or, with the corners
 *  aligned, i (in - 1) / (out - 1); the nearest one rounds down. */
static const char *emit_resize(ln_nnvm_node *n, const char *src, const int size[2], int is_linear,
                               int is_aligned)
{
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    int dims[4] = {t->dims[0], t->dims[1], size[0], size[1]};
    double none[4] = {0}, ones[4] = {1, 1, 1, 1}, span[4], steps[4];
    for (int i = 0; i < 4; i++) {
        const int aligns = is_linear && is_aligned && dims[i] > 1;
        span[i] = t->dims[i] - aligns;
        steps[i] = dims[i] - aligns;
    }
    ln_emit_begin(&n->emit, "resample");
    ln_emit_arg(&n->emit, "src", src);
    ln_emit_set_string(&n->emit, "mode", is_linear ? "TL_RESAMPLE_LINEAR" : "TL_RESAMPLE_NEAREST");
    ln_emit_set_ints(&n->emit, "dims", 4, dims);
    ln_emit_set_numbers(&n->emit, "shift", 4, none);
    ln_emit_set_numbers(&n->emit, "span", 4, span);
    ln_emit_set_numbers(&n->emit, "steps", 4, steps);
    ln_emit_set_numbers(&n->emit, "start", 4, none);
    ln_emit_set_numbers(&n->emit, "stretch", 4, ones);
    ln_emit_set_string(&n->emit, "rounding", "TL_ROUND_DOWN");
    return ln_emit_end(&n->emit, "dst", LN_EMIT_TEMP);
}

static int reads_linear(ln_nnvm_node *n, const char *deflt)
{
    const char *const method = ln_nnvm_text(n, "method", deflt);
    if (strcmp(method, "BILINEAR") && strcmp(method, "NEAREST_NEIGHBOR"))
        ln_emit_fail(&n->emit,
                     "attribute 'method' is \"%.32s\", expected BILINEAR or NEAREST_NEIGHBOR",
                     method);
    return !strcmp(method, "BILINEAR");
}

/** `with`: scale, which attribute 'scale' multiplies sizes with, or size. */
static void translate_core_resize(ln_nnvm_node *n)
{
    const int scales = !strcmp(n->row->with, "scale");
    const int is_linear = reads_linear(n, scales ? "NEAREST_NEIGHBOR" : "BILINEAR");
    const int is_aligned = !scales && ln_nnvm_bool(n, "align_corners", 0);
    int size[2];
    const ln_nnvm_layout layout = ln_nnvm_layout_of(n, ln_nnvm_text(n, "layout", "NCHW"), "NCHW");
    const char *const src = ln_nnvm_to_plain(n, ln_nnvm_in(n, 0), &layout);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    ln_nnvm_require(n, n->row->with);
    if (scales) {
        const int scale = ln_nnvm_int_in(n, "scale", 1, 1, 1 << 10);
        for (int i = 0; i < 2 && !ln_nnvm_failed(n); i++) {
            if (t->dims[2 + i] > INT_MAX / scale)
                ln_emit_fail(&n->emit, "an image of %d times %d", t->dims[2 + i], scale);
            else
                size[i] = t->dims[2 + i] * scale;
        }
    } else {
        ln_nnvm_ints_of(n, "size", 2, 1, 1, size);
    }
    if (!ln_nnvm_failed(n))
        ln_nnvm_from_plain(n, emit_resize(n, src, size, is_linear, is_aligned), &layout, 0);
}

/** Nearest: one input, whose rows and columns repeat. */
static void translate_upsampling(ln_nnvm_node *n)
{
    ln_nnvm_require(n, "scale");
    ln_nnvm_require(n, "sample_type");
    const int scale = ln_nnvm_int_in(n, "scale", 1, 1, 1 << 10);
    const char *const type = ln_nnvm_text(n, "sample_type", ""), *const src = ln_nnvm_in(n, 0);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    if (strcmp(type, "nearest") || ln_nnvm_int(n, "num_args", 1) != 1 || ln_nnvm_num_inputs(n) != 1)
        ln_emit_fail(&n->emit, "of UpSampling, one input with sample_type nearest is supported");
    if (t->ndim != 4 || t->dims[2] > INT_MAX / scale || t->dims[3] > INT_MAX / scale)
        ln_emit_fail(&n->emit, "its data is no image that can be %d times as large", scale);
    if (ln_nnvm_failed(n))
        return;
    const int size[] = {t->dims[2] * scale, t->dims[3] * scale};
    ln_nnvm_alias(n, 0, emit_resize(n, src, size, 0, 0));
}

static void translate_bilinear_resize(ln_nnvm_node *n)
{
    const char *const src = ln_nnvm_in(n, 0), *const mode = ln_nnvm_text(n, "mode", "size");
    const int is_aligned = ln_nnvm_bool(n, "align_corners", 1);
    const tl_tensor *const t = ln_nnvm_tensor_of(n, src);
    static const char *const keys[][2] = {{"height", "scale_height"}, {"width", "scale_width"}};
    int size[2];
    if (strcmp(mode, "size") || !is_aligned || t->ndim != 4)
        ln_emit_fail(&n->emit, "of images, mode size with align_corners is supported");
    for (int i = 0; i < 2 && !ln_nnvm_failed(n); i++) {
        const double scale = ln_nnvm_float(n, keys[i][1], 0);
        const double scaled = scale * t->dims[2 + i];
        size[i] = ln_nnvm_int_in(n, keys[i][0], 1, 1, INT_MAX);
        if (scale > 0 && scaled >= 1 && scaled < INT_MAX)
            size[i] = (int)scaled;
    }
    if (!ln_nnvm_failed(n))
        ln_nnvm_alias(n, 0, emit_resize(n, src, size, 1, 1));
}

const ln_nnvm_row ln_nnvm_rows_resize[] = {
    {"upsampling", LN_NNVM_IN_CORE, translate_core_resize, "scale", 1, 1},
    {"resize", LN_NNVM_IN_CORE, translate_core_resize, "size", 1, 1},
    {"UpSampling", LN_NNVM_IN_MXNET, translate_upsampling, NULL, 1, .ignored = " workspace "},
    {"_contrib_BilinearResize2D", LN_NNVM_IN_MXNET, translate_bilinear_resize, NULL, 1, 1},
    {NULL},
};
