// SPDX-License-Identifier: Apache-2.0
// Compositions for any rank and open sizes: batch normalization, space_to_depth, depth_to_space.

#include "front/ln_emit.h"

#include <limits.h>

#include "tensorlight/tl_shape.h"

const char *ln_emit_batchnorm(ln_emit *e, const char *src, int axis, const char *const vectors[4],
                              double epsilon, int i)
{
    const int ndim = ln_translation_tensor(e->translation, src)->ndim;
    const int as_is = ndim == 4 && axis == 1;
    ln_dim dims[LN_MAXDIM] = {{0}};
    ln_emit_dims(e, src, dims);
    const ln_dim images[] = {ln_emit_product(e, dims, axis), dims[axis < 0 ? 0 : axis],
                             ln_dim_constant(1),
                             ln_emit_product(e, dims + axis + 1, ndim - axis - 1)};
    src = as_is ? src : ln_emit_reshape_dims(e, src, 4, images, LN_EMIT_TEMP);
    const char *const dst = LN_EMIT(e, as_is ? i : LN_EMIT_TEMP, LN_OP_BATCHNORM,
                                    LN_ARG("src", src), LN_ARG("scale", vectors[0]),
                                    LN_ARG("offset", vectors[1]), LN_ARG("mean", vectors[2]),
                                    LN_ARG("var", vectors[3]), LN_NUMBER("epsilon", epsilon));
    return as_is ? dst : ln_emit_reshape_dims(e, dst, ndim, dims, i);
}

// Whether blocks of b x b divide the image, and an int represents all lengths of the result.
static int fits_blocks(const tl_tensor *t, int64_t b, int is_to_depth)
{
    if (t->ndim != 4 || b > 1 << 15)
        return 0;
    return is_to_depth ? t->dims[2] % b == 0 && t->dims[3] % b == 0 && t->dims[1] * b * b <= INT_MAX
                       : t->dims[1] % (b * b) == 0 && t->dims[2] * b <= INT_MAX &&
                             t->dims[3] * b <= INT_MAX;
}

const char *ln_emit_blocks(ln_emit *e, const char *src, int b, ln_blocks way, int i)
{
    static const int axes[][6] = {[LN_SPACE_TO_DEPTH] = {0, 3, 5, 1, 2, 4},
                                  [LN_DEPTH_TO_SPACE] = {0, 3, 4, 1, 5, 2},
                                  [LN_DEPTH_TO_SPACE_CRD] = {0, 1, 4, 2, 5, 3}};
    const tl_tensor *const t = ln_translation_tensor(e->translation, src);
    const int is_to_depth = way == LN_SPACE_TO_DEPTH;
    char text[TL_SHAPE_TEXT_SIZE];
    if (!fits_blocks(t, b, is_to_depth))
        ln_emit_fail(e,
                     "its data has shape %s, expected images that divide into blocks of %d x %d, "
                     "with lengths up to %d",
                     tl_shape_text(text, t->ndim, t->dims), b, b, INT_MAX);
    if (e->translation->failed)
        return NULL;
    ln_dim d[4];
    ln_symbols *const symbols = ln_emit_symbols(e);
    const ln_dim block = ln_dim_constant(b), square = ln_dim_constant((int64_t)b * b);
    ln_emit_dims(e, src, d);
    const ln_dim c = is_to_depth ? d[1] : ln_dim_div(symbols, &d[1], &square);
    const ln_dim h = is_to_depth ? ln_dim_div(symbols, &d[2], &block) : d[2];
    const ln_dim w = is_to_depth ? ln_dim_div(symbols, &d[3], &block) : d[3];
    const ln_dim parts[][6] = {[LN_SPACE_TO_DEPTH] = {d[0], c, h, block, w, block},
                               [LN_DEPTH_TO_SPACE] = {d[0], block, block, c, h, w},
                               [LN_DEPTH_TO_SPACE_CRD] = {d[0], c, block, block, h, w}};
    const ln_dim deep[] = {d[0], ln_dim_mul(symbols, &c, &square), h, w};
    const ln_dim wide[] = {d[0], c, ln_dim_mul(symbols, &h, &block),
                           ln_dim_mul(symbols, &w, &block)};
    src = ln_emit_reshape_dims(e, src, 6, parts[way], LN_EMIT_TEMP);
    src = ln_emit_transpose(e, src, axes[way], LN_EMIT_TEMP);
    return ln_emit_reshape_dims(e, src, 4, is_to_depth ? deep : wide, i);
}
