// SPDX-License-Identifier: Apache-2.0
// Writing operators that make boxes of the outputs of networks that find objects.

#include "front/onnx/write/ln_onnx_write.h"

static const char *times(ln_onnx_op *n, const char *x, float factor)
{
    return ln_onnx_put_pair(n, "Mul", x, ln_onnx_put_scalar(n, TL_FLOAT, factor));
}

static const char *plus(ln_onnx_op *n, const char *x, float summand)
{
    return ln_onnx_put_pair(n, "Add", x, ln_onnx_put_scalar(n, TL_FLOAT, summand));
}

static const char *clip(ln_onnx_op *n, const char *x, float min, float max)
{
    return LN_ONNX_PUT(n, "Clip", LN_ONNX_SRC(x), LN_ONNX_SRC(ln_onnx_put_scalar(n, TL_FLOAT, min)),
                       LN_ONNX_SRC(ln_onnx_put_scalar(n, TL_FLOAT, max)));
}

// Parts of these lengths along an axis.
static void split(ln_onnx_op *n, const char *src, int axis, int len, const int *lens,
                  const char **parts)
{
    const char *const list = ln_onnx_put_ints(n, len, lens);
    for (int i = 0; i < len; i++)
        parts[i] = ln_onnx_put_name(n, "Split");
    LN_ONNX_PUT_OUTS(n, len, parts, "Split", LN_ONNX_SRC(src), LN_ONNX_SRC(list),
                     LN_INT("axis", axis));
}

static void join_as(ln_onnx_op *n, const char *arg, int axis, int len, const char *const *parts)
{
    LN_ONNX_PUT_AS(n, arg, "Concat", LN_ONNX_SRCS(len, parts), LN_INT("axis", axis));
}

// A box along one axis of an image.
typedef struct extent {
    const char *center, *size;
} extent;

// Half of the size before the center, or after it.
static const char *border(ln_onnx_op *n, const extent *e, const char *op_type)
{
    return ln_onnx_put_pair(n, op_type, e->center, times(n, e->size, 0.5F));
}

// SqueezeDet

// exp, continued as a straight line from 1 on.
static const char *safe_exp(ln_onnx_op *n, const char *x)
{
    const char *const is_low = ln_onnx_put_pair(n, "Less", x, ln_onnx_put_scalar(n, TL_FLOAT, 1));
    return LN_ONNX_PUT(n, "Where", LN_ONNX_SRC(is_low), LN_ONNX_SRC(ln_onnx_put(n, "Exp", x)),
                       LN_ONNX_SRC(times(n, x, 2.718281828F)));
}

static extent move(ln_onnx_op *n, const char *const *delta, const char *const *anchor, float scale,
                   float shift)
{
    const char *const center =
        ln_onnx_put_pair(n, "Add", anchor[0], ln_onnx_put_pair(n, "Mul", delta[0], anchor[2]));
    const char *const size = ln_onnx_put_pair(n, "Mul", anchor[2], safe_exp(n, delta[2]));
    return (extent){plus(n, times(n, center, scale), shift), times(n, size, scale)};
}

static void write_transform_bbox(ln_onnx_op *n)
{
    static const int ones[] = {1, 1, 1, 1};
    static const char *const sides[] = {"Sub", "Add"};
    const float img_w = (float)ln_op_int(n->op, "img_width");
    const float img_h = (float)ln_op_int(n->op, "img_height");
    const char *delta[4], *anchor[4], *parts[4];
    split(n, ln_onnx_op_in(n, "src_delta"), -1, 4, ones, delta);
    split(n, ln_onnx_op_in(n, "src_anchor"), -1, 4, ones, anchor);
    const extent x = move(n, delta, anchor, img_w / (float)ln_op_int(n->op, "width"),
                          (float)ln_op_int(n->op, "x_shift"));
    const extent y = move(n, delta + 1, anchor + 1, img_h / (float)ln_op_int(n->op, "height"),
                          (float)ln_op_int(n->op, "y_shift"));
    for (int i = 0; i < 2; i++) {
        parts[2 * i] = clip(n, border(n, &x, sides[i]), 0, img_w - 1);
        parts[2 * i + 1] = clip(n, border(n, &y, sides[i]), 0, img_h - 1);
    }
    join_as(n, "dst", -1, 4, parts);
}

// YOLOv3

// 0, 1, .. as floats, along the last axis, or the last but one.
static const char *counts(ln_onnx_op *n, int len, int is_row)
{
    float *const values =
        ln_translation_alloc(&n->writer->base, ((size_t)len + 1) * sizeof(*values));
    const int dims[] = {len, 1};
    for (int i = 0; i < len && values; i++)
        values[i] = (float)i;
    return values ? ln_onnx_put_constant(n, TL_FLOAT, is_row ? 2 : 1, dims, values) : "";
}

// Cells along one axis of the image: how many, and all of its pixels.
typedef struct cells {
    int len, is_row;
    float pixels;
} cells;

static extent decode(ln_onnx_op *n, const char *position, const char *length, const char *anchor,
                     const cells *c)
{
    const int dims[] = {-1, 1, 1, 1};
    const char *const at = ln_onnx_put_pair(n, "Add", ln_onnx_put(n, "Sigmoid", position),
                                            counts(n, c->len, c->is_row));
    const char *const ratio = clip(n, ln_onnx_put(n, "Exp", length), 1e-9F, 50);
    return (extent){times(n, at, c->pixels / (float)c->len),
                    ln_onnx_put_pair(n, "Mul", ln_onnx_put_reshape(n, anchor, 4, dims), ratio)};
}

static void write_detect_yolov3(ln_onnx_op *n)
{
    static const int ones[] = {1, 1};
    const int *const dims = ln_onnx_op_tensor(n, "feature")->dims;
    const int anchors = ln_onnx_op_tensor(n, "anchors")->dims[0], channels = dims[1] / anchors;
    const int lens[] = {1, 1, 1, 1, 1, channels - 5};
    const cells columns = {dims[3], 0, (float)ln_op_int(n->op, "img_width")};
    const cells rows = {dims[2], 1, (float)ln_op_int(n->op, "img_height")};
    const char *in[6], *anchor[2];
    const char *const feature = ln_onnx_put_reshape(
        n, ln_onnx_op_in(n, "feature"), 5, (int[]){1, anchors, channels, dims[2], dims[3]});
    split(n, feature, 2, 6, lens, in);
    split(n, ln_onnx_op_in(n, "anchors"), 1, 2, ones, anchor);
    const extent x = decode(n, in[0], in[2], anchor[0], &columns);
    const extent y = decode(n, in[1], in[3], anchor[1], &rows);
    join_as(n, "box_centers", 2, 2, (const char *[]){x.center, y.center});
    join_as(n, "box_sizes", 2, 2, (const char *[]){x.size, y.size});
    join_as(n, "boxes", 2, 4,
            (const char *[]){border(n, &x, "Sub"), border(n, &y, "Sub"), border(n, &x, "Add"),
                             border(n, &y, "Add")});
    LN_ONNX_PUT_AS(n, "confs", "Sigmoid", LN_ONNX_SRC(in[4]));
    LN_ONNX_PUT_AS(n, "probs", "Sigmoid", LN_ONNX_SRC(in[5]));
}

const ln_onnx_op_row ln_onnx_write_rows_detect[] = {
    {LN_OP_TRANSFORM_BBOXSQD, write_transform_bbox},
    {LN_OP_DETECT_YOLOV3, write_detect_yolov3},
    {NULL},
};
