// SPDX-License-Identifier: Apache-2.0
// Nodes of NNVM's core operators, with the types and shapes of their outputs.

#include "front/nnvm/ln_nnvm_put.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_name.h"
#include "base/ln_number.h"
#include "lightnet/ln_hash.h"
#include "tensorlight/tl_shape.h"
#include "tensorlight/tl_util.h"

int ln_nnvm_same_shape(ln_nnvm_value a, ln_nnvm_value b)
{
    return a.ndim == b.ndim && !memcmp(a.dims, b.dims, (size_t)a.ndim * sizeof(int));
}

int ln_nnvm_value_len(ln_nnvm_value v)
{
    return tl_compute_length(v.ndim, v.dims);
}

ln_nnvm_value ln_nnvm_shaped(ln_nnvm_value v, int ndim, const int *dims)
{
    v.ndim = ndim;
    memcpy(v.dims, dims, (size_t)ndim * sizeof(int));
    return v;
}

ln_nnvm_value ln_nnvm_typed(ln_nnvm_value v, tl_dtype dtype)
{
    v.dtype = dtype;
    return v;
}

// Nodes

int ln_nnvm_op_failed(const ln_nnvm_op *n)
{
    return n->draft->base.failed;
}

void ln_put_begin(ln_nnvm_op *n, const char *op)
{
    const char *const name = ln_nnvm_draft_step(n->draft, n->label, op);
    if (name)
        ln_nnvm_draft_begin(n->draft, op, name);
}

void ln_put_set(ln_nnvm_op *n, ln_part part)
{
    ln_nnvm_draft_set(n->draft, part);
}

// Checks intermediate results, too, as they may be larger than the output.
ln_nnvm_value ln_put_end(ln_nnvm_op *n, ln_nnvm_value like, uint32_t n_outs)
{
    if (!ln_nnvm_op_failed(n) && tl_compute_length(like.ndim, like.dims) < 0)
        ln_nnvm_op_fail(n, "intermediate result: %s", tl_last_error());
    like.entry = ln_nnvm_draft_end(n->draft, n_outs);
    like.is_number = 0;
    return like;
}

ln_nnvm_value ln_put_parts(ln_nnvm_op *n, const char *op, ln_nnvm_value like, const ln_part *parts)
{
    ln_put_begin(n, op);
    for (; parts->kind != LN_PART_END; parts++)
        ln_put_set(n, *parts);
    return ln_put_end(n, like, 1);
}

ln_nnvm_value ln_put(ln_nnvm_op *n, const char *op, ln_nnvm_value src)
{
    return LN_PUT(n, op, src, LN_SRC(src));
}

ln_nnvm_value ln_put_pair(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b)
{
    return LN_PUT(n, op, a, LN_SRC(a), LN_SRC(b));
}

// The number with the fewest digits that the type rounds to the same value, as operators do with
// their attributes.
static double shortest(tl_dtype dtype, double number)
{
    char wanted[TL_DTYPE_MAX_SIZE], there[TL_DTYPE_MAX_SIZE], text[LN_NUMBER_SIZE];
    if (dtype == TL_DTYPE_INVALID || (!isfinite(number) && tl_dtype_is_float(dtype)))
        return number;
    tl_convert(wanted, dtype, &number, TL_DOUBLE);
    tl_convert(&number, TL_DOUBLE, wanted, dtype);
    for (int digits = 1; digits < 17 && isfinite(number); digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, number);
        const double few = strtod(text, NULL); // of the same locale
        tl_convert(there, dtype, &few, TL_DOUBLE);
        const int fits = tl_dtype_min_double(dtype) <= few && few <= tl_dtype_max_double(dtype);
        if (fits && !memcmp(wanted, there, tl_size_of(dtype)))
            return few; // a number beyond the limits would be read as infinite
    }
    return number;
}

ln_nnvm_value ln_put_scalar(ln_nnvm_op *n, const char *op, ln_nnvm_value src, double number)
{
    char name[64];
    snprintf(name, sizeof(name), "__%s_scalar__", op);
    return LN_PUT(n, name, src, LN_SRC(src), LN_NUMBER("scalar", shortest(src.dtype, number)));
}

// The operations that core has, besides `broadcast_op`, with a scalar on the right or the left, or
// for equal shapes.
static const struct operation {
    const char *op, *right, *left; // "sub", and in __sub_scalar__ and __rsub_scalar__
    int has_elemwise;
} operations[] = {
    {"add", "add", "add", 1},          {"sub", "sub", "rsub", 1},          {"mul", "mul", "mul", 1},
    {"div", "div", "rdiv", 1},         {"pow", "pow", "rpow", 1},          {"mod", NULL, NULL, 1},
    {"left_shift", "lshift", NULL, 0}, {"right_shift", "rshift", NULL, 0},
};

int ln_nnvm_is_operation(const char *op)
{
    return LN_ROW_NAMED(operations, op) != NULL;
}

// Whether `b` is a number that broadcasts to the shape of `a`.
static int is_number_for(ln_nnvm_value b, ln_nnvm_value a)
{
    return b.is_number && b.ndim <= (a.ndim ? a.ndim : 1);
}

ln_nnvm_value ln_put_binary(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b)
{
    const struct operation *const o = LN_ROW_NAMED(operations, op);
    const int is_plain = o && o->has_elemwise && ln_nnvm_same_shape(a, b);
    char name[64];
    if (o && o->right && is_number_for(b, a))
        return ln_put_scalar(n, o->right, a, b.number);
    if (o && o->left && is_number_for(a, b))
        return ln_put_scalar(n, o->left, b, a.number);
    ln_nnvm_value dst = a;
    dst.ndim = a.ndim > b.ndim ? a.ndim : b.ndim;
    for (int i = 0; i < dst.ndim; i++) {
        const int of_a = i < dst.ndim - a.ndim ? 1 : a.dims[i - (dst.ndim - a.ndim)];
        const int of_b = i < dst.ndim - b.ndim ? 1 : b.dims[i - (dst.ndim - b.ndim)];
        dst.dims[i] = of_a == 1 ? of_b : of_a;
    }
    snprintf(name, sizeof(name), "%s_%s", is_plain ? "elemwise" : "broadcast", op);
    return LN_PUT(n, name, dst, LN_SRC(a), LN_SRC(b));
}

ln_nnvm_value ln_put_bound(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b)
{
    const int is_min = !strcmp(op, "min");
    if (is_number_for(a, b) && !is_number_for(b, a))
        return ln_put_bound(n, op, b, a);
    if (!is_number_for(b, a) || isnan(b.number) || !tl_dtype_is_float(a.dtype))
        return ln_put_binary(n, op, a, b);
    return is_min ? ln_put_clip(n, a, -INFINITY, b.number) : ln_put_clip(n, a, b.number, INFINITY);
}

ln_nnvm_value ln_put_clip(ln_nnvm_op *n, ln_nnvm_value src, double min, double max)
{
    return LN_PUT(n, "clip", src, LN_SRC(src), LN_NUMBER("a_min", shortest(src.dtype, min)),
                  LN_NUMBER("a_max", shortest(src.dtype, max)));
}

ln_nnvm_value ln_put_cast(ln_nnvm_op *n, ln_nnvm_value src, tl_dtype dtype)
{
    if (src.dtype == dtype)
        return src;
    return LN_PUT(n, "cast", ln_nnvm_typed(src, dtype), LN_SRC(src), LN_DTYPE("dtype", dtype));
}

// Shapes

ln_nnvm_value ln_put_reshape(ln_nnvm_op *n, ln_nnvm_value src, int ndim, const int *dims)
{
    if (ndim == src.ndim && !memcmp(dims, src.dims, (size_t)ndim * sizeof(int)))
        return src;
    return LN_PUT(n, "reshape", ln_nnvm_shaped(src, ndim, dims), LN_SRC(src),
                  LN_INTS("shape", ndim, dims));
}

ln_nnvm_value ln_put_as_image(ln_nnvm_op *n, ln_nnvm_value src)
{
    const int dims[] = {src.dims[0], src.dims[1], 1, src.dims[2]};
    return src.ndim == 3 ? ln_put_reshape(n, src, 4, dims) : src;
}

ln_nnvm_value ln_put_transpose(ln_nnvm_op *n, ln_nnvm_value src, const int *axes)
{
    int dims[LN_MAXDIM];
    for (int i = 0; i < src.ndim; i++)
        dims[i] = src.dims[axes[i]];
    return LN_PUT(n, "transpose", ln_nnvm_shaped(src, src.ndim, dims), LN_SRC(src),
                  LN_INTS("axes", src.ndim, axes));
}

ln_nnvm_value ln_put_slice(ln_nnvm_op *n, ln_nnvm_value src, const int *begin, const int *end,
                           const int *step)
{
    int dims[LN_MAXDIM], ends[LN_MAXDIM], is_all = 1;
    for (int i = 0; i < src.ndim; i++) {
        const int way = step[i] > 0 ? end[i] - begin[i] : begin[i] - end[i];
        const int64_t size = step[i] > 0 ? step[i] : -(int64_t)step[i];
        dims[i] = way > 0 ? (int)((way - 1) / size) + 1 : 0;
        // Negative values count from the end.
        ends[i] = end[i] < 0 ? end[i] - src.dims[i] : end[i];
        is_all &= step[i] == 1 && dims[i] == src.dims[i];
        if (!dims[i])
            ln_nnvm_op_fail(n, "the slice of axis %d is empty, expected at least one element", i);
    }
    if (is_all)
        return src;
    return LN_PUT(n, "strided_slice", ln_nnvm_shaped(src, src.ndim, dims), LN_SRC(src),
                  LN_INTS("begin", src.ndim, begin), LN_INTS("end", src.ndim, ends),
                  LN_INTS("stride", src.ndim, step));
}

ln_nnvm_value ln_put_join(ln_nnvm_op *n, int len, const ln_nnvm_value *srcs, int axis)
{
    ln_nnvm_value dst = srcs[0];
    if (len == 1)
        return dst;
    dst.dims[axis] = 0;
    ln_put_begin(n, "concatenate");
    for (int i = 0; i < len; i++) {
        ln_put_set(n, LN_SRC(srcs[i]));
        dst.dims[axis] += srcs[i].dims[axis];
    }
    ln_put_set(n, LN_INT("axis", axis));
    return ln_put_end(n, dst, 1);
}

ln_nnvm_value ln_put_pad(ln_nnvm_op *n, ln_nnvm_value src, const int *before, const int *after,
                         double value)
{
    ln_nnvm_value dst = src;
    int pads = 0;
    for (int i = 0; i < src.ndim; i++) {
        const int64_t len = (int64_t)src.dims[i] + before[i] + after[i];
        pads |= before[i] || after[i];
        dst.dims[i] = len > INT_MAX ? INT_MAX : (int)len;
        if (len > INT_MAX)
            ln_nnvm_op_fail(n, "padding makes axis %d longer than %d elements", i, INT_MAX);
    }
    if (!pads)
        return src;
    return LN_PUT(n, "pad", dst, LN_SRC(src), LN_PAIRS("pad_width", src.ndim, before, after),
                  LN_ONLY_IF(value != 0, LN_NUMBER("pad_value", value)));
}

ln_nnvm_value ln_put_expand(ln_nnvm_op *n, ln_nnvm_value src, int ndim, const int *dims)
{
    int own[LN_MAXDIM];
    for (int i = 0; i < ndim; i++)
        own[i] = i < ndim - src.ndim ? 1 : src.dims[i - (ndim - src.ndim)];
    src = ln_put_reshape(n, src, ndim, own);
    if (!memcmp(own, dims, (size_t)ndim * sizeof(int)))
        return src;
    return LN_PUT(n, "broadcast_to", ln_nnvm_shaped(src, ndim, dims), LN_SRC(src),
                  LN_INTS("shape", ndim, dims));
}

// Reductions

ln_nnvm_value ln_put_reduce(ln_nnvm_op *n, const char *op, ln_nnvm_value src,
                            const ln_put_axes *axes)
{
    int is_reduced[LN_MAXDIM] = {0}, dims[LN_MAXDIM] = {1}, reduced[LN_MAXDIM], ndim = 0, len = 0;
    for (int i = 0; i < axes->len && src.ndim; i++)
        is_reduced[axes->axes[i]] = 1;
    for (int i = 0; i < src.ndim; i++) {
        if (is_reduced[i])
            reduced[len++] = i;
        if (axes->keeps || !is_reduced[i])
            dims[ndim++] = is_reduced[i] ? 1 : src.dims[i];
    }
    const ln_nnvm_value dst = src.ndim ? ln_nnvm_shaped(src, ndim ? ndim : 1, dims) : src;
    return LN_PUT(n, op, dst, LN_SRC(src),
                  src.ndim ? LN_INTS("axis", len, reduced) : LN_INTS("axis", axes->len, axes->axes),
                  LN_ONLY_IF(axes->keeps, LN_BOOL("keepdims", 1)));
}

// Constants and compositions

ln_nnvm_value ln_put_constant(ln_nnvm_op *n, tl_dtype dtype, int ndim, const int *dims,
                              const void *data)
{
    ln_nnvm_value v = ln_nnvm_shaped((ln_nnvm_value){.dtype = dtype}, ndim, dims);
    const char *const name = ln_nnvm_draft_step(n->draft, n->label, "constant");
    if (name)
        v.entry = ln_nnvm_draft_constant(n->draft, name, dtype, ndim, dims, data);
    return v;
}

ln_nnvm_value ln_put_full(ln_nnvm_op *n, const char *tensor, tl_dtype dtype, int ndim,
                          const int *dims, double value)
{
    const ln_nnvm_value like = ln_nnvm_shaped((ln_nnvm_value){.dtype = dtype}, ndim, dims);
    if (tensor)
        ln_nnvm_draft_begin(n->draft, "full", tensor);
    else
        ln_put_begin(n, "full");
    ln_put_set(n, LN_INTS("shape", ndim, dims));
    ln_put_set(n, LN_DTYPE("dtype", dtype));
    ln_put_set(n, LN_NUMBER("fill_value", shortest(dtype, value)));
    ln_nnvm_value v = ln_put_end(n, like, 1);
    v.number = value;
    v.is_number = ln_nnvm_value_len(v) == 1;
    return v;
}

ln_nnvm_value ln_put_truth(ln_nnvm_op *n, ln_nnvm_value src)
{
    return ln_put(n, "logical_not", ln_put(n, "logical_not", src));
}

ln_nnvm_value ln_put_numbers(ln_nnvm_op *n, ln_nnvm_value src)
{
    return src.dtype == TL_BOOL ? ln_put_cast(n, src, TL_UINT8) : src;
}

ln_nnvm_value ln_put_where(ln_nnvm_op *n, ln_nnvm_value cond, ln_nnvm_value a, ln_nnvm_value b)
{
    return LN_PUT(n, "where", a, LN_SRC(cond), LN_SRC(a), LN_SRC(b));
}

ln_nnvm_value ln_put_leaky(ln_nnvm_op *n, ln_nnvm_value x, double slope)
{
    return slope >= 0 ? LN_PUT(n, "leaky_relu", x, LN_SRC(x), LN_NUMBER("alpha", slope))
                      : ln_put_formula(n, "x < 0 ? x * a : x", x, slope, 0, NULL);
}
