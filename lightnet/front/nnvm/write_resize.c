// SPDX-License-Identifier: Apache-2.0
// Writing operators that change the size of images.

#include <string.h>

#include "front/nnvm/ln_nnvm_put.h"

/* ---- what core's resize does ---- */

/* How the positions in the source follow from an index i of the result, along both axes. */
typedef enum positions {
    PLAIN,   /* i in / out */
    ALIGNED, /* i (in - 1) / (out - 1), so that the corners meet */
    OTHER    /* nothing that core does */
} positions;

static ln_nnvm_value put_resize(ln_nnvm_op *n, ln_nnvm_value src, int is_linear, positions at)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    ln_nnvm_draft *const d = &n->writer->draft;
    if (ln_nnvm_op_failed(n))
        return src;
    ln_put_begin(n, "resize");
    ln_put_arg(n, src);
    ln_nnvm_draft_set_ints(d, "size", 2, dst->dims + 2);
    ln_nnvm_draft_set(d, "method", is_linear ? "BILINEAR" : "NEAREST_NEIGHBOR");
    if (at == ALIGNED)
        ln_nnvm_draft_set_bool(d, "align_corners", 1);
    return ln_put_end(n, src.dtype, dst->ndim, dst->dims, 1);
}

// Whether only rows and columns of images change.
static int is_of_images(const tl_tensor *src, const tl_tensor *dst)
{
    return src->ndim == 4 && src->dims[0] == dst->dims[0] && src->dims[1] == dst->dims[1];
}

/* ---- resample ---- */

// The element of a parameter that has one for each axis.
static double at_axis(const ln_nnvm_op *n, const char *param, int axis, double deflt)
{
    int len;
    const double *const values = ln_nnvm_op_doubles(n, param, &len);
    return axis < len ? values[axis] : deflt;
}

// Whether the positions along an axis are those.
static int has_positions(const ln_nnvm_op *n, int axis, int in, int out, positions at)
{
    const int corner = at == ALIGNED && out > 1;
    return at_axis(n, "shift", axis, 0) == 0 && at_axis(n, "start", axis, 0) == 0 &&
           at_axis(n, "stretch", axis, 1) == 1 &&
           at_axis(n, "span", axis, in) * (out - corner) ==
               at_axis(n, "steps", axis, out) * (in - corner);
}

static positions positions_of(const ln_nnvm_op *n, const tl_tensor *src, const tl_tensor *dst)
{
    for (positions at = PLAIN; at < OTHER; at++)
        if (has_positions(n, 2, src->dims[2], dst->dims[2], at) &&
            has_positions(n, 3, src->dims[3], dst->dims[3], at))
            return at;
    return OTHER;
}

/** The nearest element below, or one between two. */
static ln_nnvm_value write_resample(ln_nnvm_op *n)
{
    const tl_tensor *const src = ln_nnvm_op_tensor_of(n, "src");
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const char *const mode = ln_nnvm_op_text(n, "mode", "");
    const int is_linear = !strcmp(mode, "TL_RESAMPLE_LINEAR");
    const int rounds_down = !strcmp(ln_nnvm_op_text(n, "rounding", ""), "TL_ROUND_DOWN");
    const positions at = is_of_images(src, dst) ? positions_of(n, src, dst) : OTHER;
    if (at == OTHER)
        ln_nnvm_op_fail(n, "its parameters 'shift', 'span', 'steps', 'start' and 'stretch' are "
                           "not those of an image whose pixels, or whose corners, meet");
    else if (strcmp(mode, "TL_RESAMPLE_CUBIC") == 0)
        ln_nnvm_op_fail(n, "parameter 'mode' is %s, expected TL_RESAMPLE_LINEAR or _NEAREST", mode);
    else if (!is_linear && (!rounds_down || at != PLAIN))
        ln_nnvm_op_fail(n, "parameter 'rounding' is %s, expected TL_ROUND_DOWN of pixels that meet",
                        ln_nnvm_op_text(n, "rounding", "TL_ROUND_HALF_DOWN"));
    return put_resize(n, ln_nnvm_op_in(n, "src"), is_linear, at);
}

/* ---- resize and upsample ---- */

/** The middles of pixels meet, which core does only for whole multiples of the nearest ones. */
static ln_nnvm_value write_resize(ln_nnvm_op *n)
{
    const tl_tensor *const src = ln_nnvm_op_tensor_of(n, "src");
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    const char *const mode = ln_nnvm_op_text(n, "mode", "");
    if (strcmp(mode, "TL_NEAREST") != 0)
        ln_nnvm_op_fail(n,
                        "parameter 'mode' is %s, expected TL_NEAREST, as NNVM knows no middles "
                        "of pixels",
                        mode);
    else if (!is_of_images(src, dst) || dst->dims[2] % src->dims[2] || dst->dims[3] % src->dims[3])
        ln_nnvm_op_fail(n, "an image, or what it becomes, is not a whole multiple of the other");
    return put_resize(n, ln_nnvm_op_in(n, "src"), 0, PLAIN);
}

const ln_nnvm_op_row ln_nnvm_write_rows_resize[] = {
    {"resample", write_resample},
    {"resize", write_resize},
    {"upsample", write_resize},
    {NULL},
};
