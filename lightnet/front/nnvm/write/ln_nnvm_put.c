// SPDX-License-Identifier: Apache-2.0
// Nodes of NNVM's core operators, with the types and shapes of their outputs.

#include "front/nnvm/write/ln_nnvm_write.h"

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

static ln_nnvm_draft *draft_of(ln_nnvm_op *n)
{
    return &n->writer->draft;
}

int ln_nnvm_same_shape(ln_nnvm_value a, ln_nnvm_value b)
{
    return a.ndim == b.ndim && !memcmp(a.dims, b.dims, (size_t)a.ndim * sizeof(int));
}

int ln_nnvm_value_len(ln_nnvm_value v)
{
    return tl_compute_length(v.ndim, v.dims);
}

// Counts how often a step has been called so.
static int next_number(ln_nnvm_op *n, const char *prefix)
{
    ln_nnvm_writer *const w = n->writer;
    int *count = ln_hash_find(w->steps, prefix);
    if (count)
        return ++*count;
    count = ln_translation_alloc(&w->draft.base, sizeof(*count));
    const char *const key = count ? ln_translation_print(&w->draft.base, "%s", prefix) : NULL;
    if (!key)
        return 0;
    *count = 0;
    if (ln_hash_insert(w->steps, key, count) < 0)
        ln_translation_fail_memory(&w->draft.base);
    return 0;
}

// A unique name: that of the operator and `what`, the purpose of the node.
static const char *step_name(ln_nnvm_op *n, const char *what)
{
    char prefix[LN_MAX_NAME_LEN], name[LN_MAX_NAME_LEN + 16];
    snprintf(prefix, sizeof(prefix), "%.*s_%.64s", ln_name_stem(n->label), n->label, what);
    do {
        const int number = next_number(n, prefix);
        snprintf(name, sizeof(name), number ? "%s_%d" : "%s", prefix, number);
    } while (!ln_nnvm_op_failed(n) && ln_hash_find(n->writer->names, name));
    const char *const own = ln_translation_print(&draft_of(n)->base, "%s", name);
    if (own && ln_hash_insert(n->writer->names, own, (void *)own) < 0)
        ln_translation_fail_memory(&draft_of(n)->base);
    return own;
}

// Nodes

void ln_put_begin(ln_nnvm_op *n, const char *op)
{
    const char *const name = ln_nnvm_op_failed(n) ? NULL : step_name(n, op);
    if (name)
        ln_nnvm_draft_begin(draft_of(n), op, name);
}

void ln_put_arg(ln_nnvm_op *n, ln_nnvm_value src)
{
    ln_nnvm_draft_arg(draft_of(n), src.entry);
}

// Intermediate results are checked, too: they may be larger than the output.
ln_nnvm_value ln_put_end(ln_nnvm_op *n, tl_dtype dtype, int ndim, const int *dims, uint32_t n_outs)
{
    if (!ln_nnvm_op_failed(n) && tl_compute_length(ndim, dims) < 0)
        ln_nnvm_op_fail(n, "a step towards it: %s", tl_last_error());
    ln_nnvm_value v = {
        .entry = ln_nnvm_draft_end(draft_of(n), n_outs), .dtype = dtype, .ndim = ndim};
    memcpy(v.dims, dims, (size_t)ndim * sizeof(int));
    return v;
}

ln_nnvm_value ln_put_parts(ln_nnvm_op *n, const char *op, tl_dtype dtype, int ndim, const int *dims,
                           const ln_part *parts)
{
    ln_put_begin(n, op);
    ln_nnvm_draft_parts(draft_of(n), parts);
    return ln_put_end(n, dtype, ndim, dims, 1);
}

ln_nnvm_value ln_put(ln_nnvm_op *n, const char *op, ln_nnvm_value src)
{
    return LN_PUT(n, op, src.dtype, src.ndim, src.dims, LN_SRC(src));
}

// An operator of one input, which keeps the shape, with a number.
static ln_nnvm_value put_number(ln_nnvm_op *n, const char *op, ln_nnvm_value src, const char *key,
                                double value)
{
    return LN_PUT(n, op, src.dtype, src.ndim, src.dims, LN_SRC(src), LN_NUMBER(key, value));
}

// The number with the fewest digits that becomes the same one in the type, as it does when the
// operator computes.
static double shortest(tl_dtype dtype, double number)
{
    char wanted[TL_DTYPE_MAX_SIZE], there[TL_DTYPE_MAX_SIZE], text[LN_NUMBER_SIZE];
    if (!isfinite(number) && tl_dtype_is_float(dtype))
        return number;
    tl_convert(wanted, dtype, &number, TL_DOUBLE);
    tl_convert(&number, TL_DOUBLE, wanted, dtype);
    for (int digits = 1; digits < 17 && isfinite(number); digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, number);
        const double few = strtod(text, NULL); // of the same locale
        tl_convert(there, dtype, &few, TL_DOUBLE);
        const int fits = tl_dtype_min_double(dtype) <= few && few <= tl_dtype_max_double(dtype);
        if (fits && !memcmp(wanted, there, tl_size_of(dtype)))
            return few; // a larger one is read as infinite
    }
    return number;
}

ln_nnvm_value ln_put_scalar(ln_nnvm_op *n, const char *op, ln_nnvm_value src, double number)
{
    char name[64];
    snprintf(name, sizeof(name), "__%s_scalar__", op);
    return put_number(n, name, src, "scalar", shortest(src.dtype, number));
}

// Whether `b` is a number that leaves the shape of `a` as it is.
static int is_number_for(ln_nnvm_value b, ln_nnvm_value a)
{
    return b.is_number && b.ndim <= (a.ndim ? a.ndim : 1);
}

ln_nnvm_value ln_put_binary(ln_nnvm_op *n, const char *op, ln_nnvm_value a, ln_nnvm_value b)
{
    const ln_nnvm_operation *const o = ln_nnvm_find_operation(op);
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
    return LN_PUT(n, name, dst.dtype, dst.ndim, dst.dims, LN_SRC(a), LN_SRC(b));
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
    return LN_PUT(n, "clip", src.dtype, src.ndim, src.dims, LN_SRC(src),
                  LN_NUMBER("a_min", shortest(src.dtype, min)),
                  LN_NUMBER("a_max", shortest(src.dtype, max)));
}

ln_nnvm_value ln_put_cast(ln_nnvm_op *n, ln_nnvm_value src, tl_dtype dtype)
{
    if (src.dtype == dtype)
        return src;
    return LN_PUT(n, "cast", dtype, src.ndim, src.dims, LN_SRC(src), LN_DTYPE("dtype", dtype));
}

// Shapes

ln_nnvm_value ln_put_reshape(ln_nnvm_op *n, ln_nnvm_value src, int ndim, const int *dims)
{
    if (ndim == src.ndim && !memcmp(dims, src.dims, (size_t)ndim * sizeof(int)))
        return src;
    return LN_PUT(n, "reshape", src.dtype, ndim, dims, LN_SRC(src), LN_INTS("shape", ndim, dims));
}

ln_nnvm_value ln_put_as_image(ln_nnvm_op *n, ln_nnvm_value src)
{
    const int dims[] = {src.dims[0], src.dims[1], 1, src.dims[2]};
    return src.ndim == 3 ? ln_put_reshape(n, src, 4, dims) : src;
}

ln_nnvm_value ln_put_from_image(ln_nnvm_op *n, ln_nnvm_value src)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    return ln_nnvm_op_failed(n) ? src : ln_put_reshape(n, src, dst->ndim, dst->dims);
}

ln_nnvm_value ln_put_transpose(ln_nnvm_op *n, ln_nnvm_value src, const int *axes)
{
    int dims[LN_MAXDIM];
    for (int i = 0; i < src.ndim; i++)
        dims[i] = src.dims[axes[i]];
    return LN_PUT(n, "transpose", src.dtype, src.ndim, dims, LN_SRC(src),
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
            ln_nnvm_op_fail(n, "axis %d has no elements left", i);
    }
    if (is_all)
        return src;
    return LN_PUT(n, "strided_slice", src.dtype, src.ndim, dims, LN_SRC(src),
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
        ln_put_arg(n, srcs[i]);
        dst.dims[axis] += srcs[i].dims[axis];
    }
    ln_nnvm_draft_set(draft_of(n), LN_INT("axis", axis));
    return ln_put_end(n, dst.dtype, dst.ndim, dst.dims, 1);
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
            ln_nnvm_op_fail(n, "axis %d becomes longer than %d with its padding", i, INT_MAX);
    }
    if (!pads)
        return src;
    return LN_PUT(n, "pad", dst.dtype, dst.ndim, dst.dims, LN_SRC(src),
                  LN_PAIRS("pad_width", src.ndim, before, after),
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
    return LN_PUT(n, "broadcast_to", src.dtype, ndim, dims, LN_SRC(src),
                  LN_INTS("shape", ndim, dims));
}

// Fewer elements

ln_nnvm_value ln_put_reduce(ln_nnvm_op *n, const char *op, ln_nnvm_value src, int n_axes,
                            const int *axes, int keeps)
{
    int goes[LN_MAXDIM] = {0}, dims[LN_MAXDIM] = {1}, named[LN_MAXDIM], ndim = 0, n_named = 0;
    for (int i = 0; i < n_axes; i++)
        goes[axes[i]] = 1;
    for (int i = 0; i < src.ndim; i++) {
        if (goes[i])
            named[n_named++] = i;
        if (keeps || !goes[i])
            dims[ndim++] = goes[i] ? 1 : src.dims[i];
    }
    return LN_PUT(n, op, src.dtype, ndim ? ndim : 1, dims, LN_SRC(src),
                  LN_INTS("axis", n_named, named), LN_ONLY_IF(keeps, LN_BOOL("keepdims", 1)));
}

// Constants and compositions

ln_nnvm_value ln_put_constant(ln_nnvm_op *n, tl_dtype dtype, int ndim, const int *dims,
                              const void *data)
{
    ln_nnvm_value v = {.dtype = dtype, .ndim = ndim};
    const char *const name = ln_nnvm_op_failed(n) ? NULL : step_name(n, "constant");
    memcpy(v.dims, dims, (size_t)ndim * sizeof(int));
    if (name)
        v.entry = ln_nnvm_draft_constant(draft_of(n), name, dtype, ndim, dims, data);
    return v;
}

ln_nnvm_value ln_put_full(ln_nnvm_op *n, const char *tensor, tl_dtype dtype, int ndim,
                          const int *dims, double value)
{
    if (tensor)
        ln_nnvm_draft_begin(draft_of(n), "full", tensor);
    else
        ln_put_begin(n, "full");
    ln_nnvm_draft_set(draft_of(n), LN_INTS("shape", ndim, dims));
    ln_nnvm_draft_set(draft_of(n), LN_DTYPE("dtype", dtype));
    ln_nnvm_draft_set(draft_of(n), LN_NUMBER("fill_value", shortest(dtype, value)));
    ln_nnvm_value v = ln_put_end(n, dtype, ndim, dims, 1);
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
    return LN_PUT(n, "where", a.dtype, a.ndim, a.dims, LN_SRC(cond), LN_SRC(a), LN_SRC(b));
}

// The operator and the axes of a formula.
typedef struct maker {
    ln_nnvm_op *op;
    ln_nnvm_axes axes;
} maker;

static ln_nnvm_value write_word(void *to, const char *word, int len, const ln_nnvm_value *v)
{
    const char *const line = strchr(word, '_'); // in broadcast_sub
    const maker *const m = to;
    if (len == 2)
        return ln_put_binary(m->op, line ? line + 1 : word, v[0], v[1]);
    if (len == 3)
        return *word == 'c' ? ln_put_clip(m->op, v[0], v[1].number, v[2].number)
                            : ln_put_where(m->op, v[0], v[1], v[2]);
    return ln_nnvm_formula_reduces(word)
               ? ln_put_reduce(m->op, word, v[0], m->axes.len, m->axes.axes, m->axes.keeps)
               : ln_put(m->op, word, v[0]);
}

ln_nnvm_value ln_put_formula(ln_nnvm_op *n, const char *words, ln_nnvm_value x, double alpha,
                             double beta, ln_nnvm_axes axes)
{
    maker to = {n, axes};
    const ln_nnvm_formula_maker m = {&draft_of(n)->base, write_word, &to};
    return ln_nnvm_formula_make(&m, words, x, alpha, beta);
}

ln_nnvm_value ln_put_leaky(ln_nnvm_op *n, ln_nnvm_value x, double slope)
{
    if (slope >= 0)
        return put_number(n, "leaky_relu", x, "alpha", slope);
    return ln_put_formula(n, "x < 0 ? x * a : x", x, slope, 0, (ln_nnvm_axes){0});
}
