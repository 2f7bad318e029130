// SPDX-License-Identifier: Apache-2.0
// Writing reshapes, slices, concatenation, padding, and generated constants.

#include <limits.h>
#include <string.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/write/ln_onnx_write.h"
#include "tensorlight/tl_shape.h"

// The same elements in another shape

static int has_empty(int ndim, const int *dims)
{
    for (int i = 0; i < ndim; i++)
        if (dims[i] == 0)
            return 1;
    return 0;
}

static void put_reshape_as(ln_onnx_op *n, const char *shape, int zero_is_a_length)
{
    LN_ONNX_PUT_AS(n, "dst", "Reshape", LN_ONNX_IN(n, "src"), LN_ONNX_SRC(shape),
                   LN_ONLY_IF(zero_is_a_length, LN_INT("allowzero", 1)));
}

// To the shape of dst, which is fixed.
static void write_fixed(ln_onnx_op *n)
{
    const tl_tensor *const dst = ln_onnx_op_tensor(n, "dst");
    put_reshape_as(n, ln_onnx_put_ints(n, dst->ndim, dst->dims), has_empty(dst->ndim, dst->dims));
}

// Reshape copies the length of an axis for 0, and infers one for -1.
static void write_view(ln_onnx_op *n)
{
    int len, dims[LN_MAXDIM];
    const int *const given = ln_op_ints(n->op, "dims", &len);
    if (!ln_onnx_op_is_dynamic(n, "dst")) {
        write_fixed(n);
        return;
    }
    for (int i = 0; i < len && i < LN_MAXDIM; i++) {
        dims[i] = given[i] == -2 ? 0 : given[i];
        if (given[i] == 0)
            ln_onnx_op_reject(n, "parameter 'dims' has 0 for axis %d, expected a length", i);
    }
    put_reshape_as(n, ln_onnx_put_ints(n, len, dims), 0);
}

static void write_reshape(ln_onnx_op *n)
{
    if (ln_onnx_op_is_dynamic(n, "dst"))
        ln_onnx_op_reject(n, "the size of 'dst' is known only at run time");
    write_fixed(n);
}

static void write_reshape_to(ln_onnx_op *n)
{
    put_reshape_as(n, ln_onnx_op_in(n, "shape"), ln_op_bool(n->op, "zero_is_a_length"));
}

// Without axes, Squeeze would remove all of length 1.
static void write_squeeze(ln_onnx_op *n)
{
    int len;
    const int *const axes = ln_op_ints(n->op, "axes", &len);
    const char *const src = ln_onnx_op_in(n, "src");
    if (len)
        LN_ONNX_PUT_AS(n, "dst", "Squeeze", LN_ONNX_SRC(src),
                       LN_ONNX_SRC(ln_onnx_put_ints(n, len, axes)));
    else
        ln_onnx_put_as(n, "dst", src);
}

// The shape of `src` with axes start .. end - 1 as one, computed at run time.
static const char *flat_shape(ln_onnx_op *n, int start, int end)
{
    static const int first[] = {0};
    const int ndim = ln_onnx_op_tensor(n, "src")->ndim;
    const char *const shape = ln_onnx_put(n, "Shape", ln_onnx_op_in(n, "src"));
    const char *const before = ln_onnx_put_slice(n, shape, 0, 0, start);
    const char *const inside = ln_onnx_put_slice(n, shape, 0, start, end);
    const char *const product = ln_onnx_put_reduce(n, "ReduceProd", inside, 1, first, 1);
    const char *const after = ln_onnx_put_slice(n, shape, 0, end, ndim);
    return LN_ONNX_PUT(n, "Concat", LN_ONNX_SRC(before), LN_ONNX_SRC(product), LN_ONNX_SRC(after),
                       LN_INT("axis", 0));
}

static void write_flatten(ln_onnx_op *n)
{
    if (!ln_onnx_op_is_dynamic(n, "src")) {
        write_fixed(n);
        return;
    }
    const int start = ln_op_int(n->op, "start"), end = ln_op_int(n->op, "end");
    put_reshape_as(n, flat_shape(n, start, end), 1);
}

// Parts

// Optional input `arg`, or else parameter `param`, as dtype.
static const char *bounds(ln_onnx_op *n, const char *arg, const char *param, tl_dtype dtype)
{
    int len;
    const int *const given = ln_op_ints(n->op, param, &len);
    const char *const now = arg ? ln_onnx_op_optional(n, arg) : NULL;
    const char *const constant = now ? now : ln_onnx_put_ints(n, len, given);
    const tl_dtype own = now ? ln_onnx_op_tensor(n, arg)->dtype : TL_INT64;
    return own == dtype ? constant : ln_onnx_put_cast(n, constant, dtype);
}

static void write_stride_slice(ln_onnx_op *n)
{
    int len;
    ln_op_ints(n->op, "axes", &len);
    if (!len) {
        ln_onnx_put_as(n, "dst", ln_onnx_op_in(n, "src"));
        return;
    }
    const char *const starts = bounds(n, "starts_now", "starts", TL_INT64);
    const char *const ends = bounds(n, "ends_now", "ends", TL_INT64);
    const char *const axes = bounds(n, NULL, "axes", TL_INT64);
    LN_ONNX_PUT_AS(n, "dst", "Slice", LN_ONNX_IN(n, "src"), LN_ONNX_SRC(starts), LN_ONNX_SRC(ends),
                   LN_ONNX_SRC(axes), LN_ONNX_SRC(bounds(n, NULL, "steps", TL_INT64)));
}

static void write_slice_from(ln_onnx_op *n)
{
    const char *const start = ln_onnx_op_in(n, "start");
    const char *const end = ln_onnx_put_pair(n, "Add", start, bounds(n, NULL, "lens", TL_INT64));
    LN_ONNX_PUT_AS(n, "dst", "Slice", LN_ONNX_IN(n, "src"), LN_ONNX_SRC(start), LN_ONNX_SRC(end),
                   LN_ONNX_SRC(bounds(n, NULL, "axes", TL_INT64)));
}

static void write_slice(ln_onnx_op *n)
{
    const int start = ln_op_int(n->op, "start"), len = ln_op_int(n->op, "len");
    const int axis = ln_onnx_op_axis(n);
    LN_ONNX_PUT_AS(n, "dst", "Slice", LN_ONNX_IN(n, "src"), LN_ONNX_SRC(ln_onnx_put_int(n, start)),
                   LN_ONNX_SRC(ln_onnx_put_int(n, start + len)),
                   LN_ONNX_SRC(ln_onnx_put_int(n, axis)));
}

static void write_join(ln_onnx_op *n)
{
    const int len = ln_onnx_op_num_in(n, "src");
    const char **srcs = ln_translation_alloc(&n->writer->base, ((size_t)len + 1) * sizeof(*srcs));
    for (int i = 0; i < len && srcs; i++)
        srcs[i] = ln_onnx_op_in_at(n, "src", i);
    LN_ONNX_PUT_AS(n, "dst", "Concat", LN_ONNX_SRCS(srcs ? len : 0, srcs),
                   LN_INT("axis", ln_op_int(n->op, "axis")));
}

static void write_split(ln_onnx_op *n)
{
    const int len = ln_onnx_op_num_out(n, "dst");
    const char *const lens = bounds(n, "lens_now", "lens", TL_INT64);
    const char **outs = ln_translation_alloc(&n->writer->base, ((size_t)len + 1) * sizeof(*outs));
    for (int i = 0; i < len && outs; i++)
        outs[i] = ln_onnx_op_out_at(n, "dst", i);
    if (outs)
        LN_ONNX_PUT_OUTS(n, len, outs, "Split", LN_ONNX_IN(n, "src"), LN_ONNX_SRC(lens),
                         LN_INT("axis", ln_onnx_op_axis(n)));
}

// Repeating and padding

// Removes what negative padding crops, before anything is added; `pads` then has none.
static const char *crop(ln_onnx_op *n, const char *src, int ndim, int *pads)
{
    int starts[LN_MAXDIM] = {0}, ends[LN_MAXDIM], axes[LN_MAXDIM], crops = 0;
    for (int i = 0; i < ndim; i++) {
        int *const after = &pads[ndim + i];
        axes[i] = i;
        starts[i] = pads[i] < 0 ? -pads[i] : 0;
        ends[i] = *after < 0 ? *after : INT_MAX;
        crops |= pads[i] < 0 || *after < 0;
        pads[i] = pads[i] > 0 ? pads[i] : 0;
        *after = *after > 0 ? *after : 0;
    }
    if (!crops)
        return src;
    return LN_ONNX_PUT(n, "Slice", LN_ONNX_SRC(src), LN_ONNX_SRC(ln_onnx_put_ints(n, ndim, starts)),
                       LN_ONNX_SRC(ln_onnx_put_ints(n, ndim, ends)),
                       LN_ONNX_SRC(ln_onnx_put_ints(n, ndim, axes)));
}

// Input `pads` of amounts that are known only at run time.
static const char *open_pads(ln_onnx_op *n)
{
    const char *const before = bounds(n, "before_now", "before", TL_INT64);
    const char *const after = bounds(n, "after_now", "after", TL_INT64);
    return LN_ONNX_PUT(n, "Concat", LN_ONNX_SRC(before), LN_ONNX_SRC(after), LN_INT("axis", 0));
}

static void write_pad(ln_onnx_op *n)
{
    const ln_attr_word *const mode =
        ln_attr_word_for(ln_onnx_pad_modes, ln_op_string(n->op, "mode"));
    const int ndim = ln_onnx_op_tensor(n, "src")->ndim;
    const int is_open = ln_onnx_op_optional(n, "before_now") || ln_onnx_op_optional(n, "after_now");
    int len, n_after, pads[2 * LN_MAXDIM] = {0};
    const int *const before = ln_op_ints(n->op, "before", &len);
    const int *const after = ln_op_ints(n->op, "after", &n_after);
    for (int i = 0; i < ndim && i < len && i < n_after; i++) {
        pads[i] = before[i];
        pads[ndim + i] = after[i];
    }
    ln_onnx_op_since(n, mode->since);
    const char *src = ln_onnx_op_in(n, "src");
    const char *const value = mode != ln_onnx_pad_modes ? NULL : ln_onnx_op_optional(n, "value");
    const char *const scalar = value && ln_onnx_op_tensor(n, "value")->ndim
                                   ? ln_onnx_put_reshape(n, value, 0, NULL)
                                   : value;
    src = is_open ? src : crop(n, src, ndim, pads);
    const char *const all = is_open ? open_pads(n) : ln_onnx_put_ints(n, 2 * ndim, pads);
    LN_ONNX_PUT_AS(n, "dst", "Pad", LN_ONNX_SRC(src), LN_ONNX_SRC(all), LN_ONNX_SRC(scalar),
                   LN_TEXT("mode", mode->name));
}

// ONNX has the axes 0 and 1 only.
static int has_reverse_sequence(const ln_op *op)
{
    return ln_op_int(op, "time_axis") + ln_op_int(op, "batch_axis") == 1;
}

static void write_reverse_sequence(ln_onnx_op *n)
{
    ln_onnx_write_form(n, NULL);
}

// Constants and progressions

static void write_zeros(ln_onnx_op *n)
{
    const tl_tensor *const dst = ln_onnx_op_tensor(n, "dst");
    ln_onnx_put_filled_as(n, ln_onnx_op_out(n, "dst"), dst->dtype, dst->ndim, dst->dims, 0);
}

// Max elements of a progression that is written as a constant.
enum { MAX_ELEMENTS = 1 << 24 };

// Whether a progression is short enough for a constant.
static int is_short(ln_onnx_op *n, const tl_tensor *dst)
{
    if (dst->len > MAX_ELEMENTS)
        ln_onnx_op_reject(n, "%d elements, expected at most %d", dst->len, MAX_ELEMENTS);
    return dst->len <= MAX_ELEMENTS;
}

// start, start + step, .. of as many elements as dst, computed in double: a constant.
static void write_arange(ln_onnx_op *n)
{
    const tl_tensor *const dst = ln_onnx_op_tensor(n, "dst");
    if (!is_short(n, dst))
        return;
    const double start = ln_op_number(n->op, "start"), step = ln_op_number(n->op, "step");
    const size_t size = tl_size_of(dst->dtype);
    char *const elements = ln_translation_alloc(&n->writer->base, tl_tensor_size(dst) + 1);
    for (int i = 0; i < dst->len && elements; i++) {
        const double value = start + i * step;
        tl_convert(elements + (size_t)i * size, dst->dtype, &value, TL_DOUBLE);
    }
    if (elements)
        ln_onnx_put_as(n, "dst", ln_onnx_put_constant(n, dst->dtype, 1, dst->dims, elements));
}

static void write_rearange(ln_onnx_op *n)
{
    write_arange(n);
    ln_onnx_op_overwrites(n, "src", "dst");
}

// start + i * delta, for i = 0 .. len - 1.
static void write_range(ln_onnx_op *n)
{
    const tl_tensor *const dst = ln_onnx_op_tensor(n, "dst");
    if (!is_short(n, dst))
        return;
    int *const counts =
        ln_translation_alloc(&n->writer->base, ((size_t)dst->len + 1) * sizeof(*counts));
    const char *const start = ln_onnx_op_in(n, "start"), *const delta = ln_onnx_op_in(n, "delta");
    for (int i = 0; i < dst->len && counts; i++)
        counts[i] = i;
    if (!counts)
        return;
    const char *const index =
        ln_onnx_put_cast(n, ln_onnx_put_ints(n, dst->len, counts), dst->dtype);
    const char *const offset = ln_onnx_put_pair(n, "Mul", index, delta);
    LN_ONNX_PUT_AS(n, "dst", "Add", LN_ONNX_SRC(start), LN_ONNX_SRC(offset));
}

static void write_eye(ln_onnx_op *n)
{
    const tl_tensor *const dst = ln_onnx_op_tensor(n, "dst");
    const char *const like = ln_onnx_put_filled(n, TL_FLOAT, dst->ndim, dst->dims, 0);
    LN_ONNX_PUT_AS(n, "dst", "EyeLike", LN_ONNX_SRC(like), LN_DTYPE("dtype", dst->dtype),
                   LN_INT("k", ln_op_int(n->op, "k")));
}

const ln_onnx_op_row ln_onnx_write_rows_shape[] = {
    {LN_OP_VIEW, write_view},
    {LN_OP_RESHAPE, write_reshape},
    {LN_OP_RESHAPE_TO, write_reshape_to},
    {LN_OP_SQUEEZE, write_squeeze},
    {LN_OP_FLATTEN, write_flatten},
    {LN_OP_STRIDE_SLICE, write_stride_slice},
    {LN_OP_SLICE_FROM, write_slice_from},
    {LN_OP_SLICE, write_slice},
    {LN_OP_JOIN, write_join},
    {LN_OP_SPLIT, write_split},
    {LN_OP_PAD, write_pad},
    {LN_OP_REVERSE_SEQUENCE, write_reverse_sequence, has_reverse_sequence},
    {LN_OP_ZEROS, write_zeros},
    {LN_OP_ARANGE, write_arange},
    {LN_OP_REARANGE, write_rearange},
    {LN_OP_RANGE, write_range},
    {LN_OP_EYE, write_eye},
    {NULL},
};
