// SPDX-License-Identifier: Apache-2.0
// Operators of ONNX's own domain that early versions had as experiments, and later ones dropped:
// Affine, Crop, ImageScaler. ONNX Runtime still has them.

#include <limits.h>

#include "front/onnx/ln_onnx.h"

// alpha * x + beta.
static void translate_affine(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype;
    const char *const alpha = ln_emit_scalar(&n->emit, dtype, ln_attr_number(&n->emit, "alpha", 1));
    const char *const beta = ln_emit_scalar(&n->emit, dtype, ln_attr_number(&n->emit, "beta", 0));
    const char *const product = ln_emit_binary(&n->emit, "TL_BINARY_MUL", src, alpha, LN_EMIT_TEMP);
    ln_emit_binary(&n->emit, "TL_BINARY_ADD", product, beta, 0);
}

// scale * x + bias, a bias for each channel.
static void translate_image_scaler(ln_onnx_node *n)
{
    int len;
    const char *const src = ln_onnx_in_of(n, 0, 4);
    const float *const given = ln_onnx_floats(n, "bias", &len);
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    const tl_dtype dtype = t->dtype;
    if (!ln_onnx_failed(n) && given && len != t->dims[1])
        ln_emit_fail(&n->emit,
                     "attribute 'bias' has %d numbers, expected one for each of %d channels", len,
                     t->dims[1]);
    const char *const factor =
        ln_emit_scalar(&n->emit, dtype, ln_attr_number(&n->emit, "scale", 1));
    const char *const product =
        ln_emit_binary(&n->emit, "TL_BINARY_MUL", src, factor, given ? LN_EMIT_TEMP : 0);
    if (!given || ln_onnx_failed(n))
        return;
    const int dims[] = {len, 1, 1};
    const char *const bias = ln_emit_constant(&n->emit, TL_FLOAT, 3, dims, given);
    ln_emit_binary(&n->emit, "TL_BINARY_ADD", product,
                   ln_emit_cast(&n->emit, bias, dtype, LN_EMIT_TEMP), 0);
}

// The rows and columns within a border of left, top, right and bottom; with `scale`, that many
// rows and columns after the left and top border.
static void translate_crop(ln_onnx_node *n)
{
    enum { LEFT, TOP, RIGHT, BOTTOM };
    int n_border, n_scale;
    const char *const src = ln_onnx_in_of(n, 0, 4);
    const int64_t *const border = ln_attr_ints(&n->emit, "border", &n_border);
    const int64_t *const scale = ln_attr_ints(&n->emit, "scale", &n_scale);
    static const int axes[] = {2, 3};
    ln_attr_require(&n->emit, "border");
    if (n_border != 4)
        ln_emit_fail(&n->emit, "attribute 'border' has %d numbers, expected 4", n_border);
    if (scale && n_scale != 2)
        ln_emit_fail(&n->emit, "attribute 'scale' has %d numbers, expected 2", n_scale);
    for (int k = 0; k < 2; k++)
        ln_onnx_want_fixed_axis(n, src, axes[k]);
    if (ln_onnx_failed(n))
        return;
    const tl_tensor *const t = ln_onnx_tensor_of(n, src);
    int starts[2], ends[2];
    for (int k = 0; k < 2; k++) {
        const int64_t start = border[k == 0 ? TOP : LEFT], after = border[k == 0 ? BOTTOM : RIGHT];
        const int64_t dim = t->dims[axes[k]];
        const int is_within = start >= 0 && start <= dim && after >= 0 && after <= dim;
        const int64_t len = scale ? scale[k] : is_within ? dim - start - after : -1;
        if (!is_within || len < 1 || len > dim - start) {
            ln_emit_fail(&n->emit,
                         "axis %d, of length %d, is cropped to %lld from %lld on, expected a part "
                         "of it",
                         axes[k], t->dims[axes[k]], (long long)len, (long long)start);
            return;
        }
        starts[k] = (int)start;
        ends[k] = (int)(start + len);
    }
    LN_EMIT(&n->emit, 0, LN_OP_STRIDE_SLICE, LN_ARG("src", src), LN_INTS("axes", 2, axes),
            LN_INTS("starts", 2, starts), LN_INTS("ends", 2, ends),
            LN_INTS("steps", 2, (int[]){1, 1}));
}

const ln_onnx_row ln_onnx_rows_dropped[] = {
    {"Affine", 1, translate_affine},
    {"Crop", 1, translate_crop},
    {"ImageScaler", 1, translate_image_scaler},
    {NULL},
};
