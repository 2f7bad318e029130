// SPDX-License-Identifier: Apache-2.0
// Shapes with lengths that are known only at run time, for translators. Operators compute those
// that no view expresses from the lengths of other tensors.

#include "front/ln_emit.h"

#include <limits.h>

void ln_emit_dims(const ln_emit *e, const char *tensor, ln_dim *dims)
{
    const ln_translation *t = e->translation;
    const tl_tensor *const known = ln_translation_tensor(t, tensor);
    const ln_tensor_entry *const te = ln_tensor_table_find(t->ctx->tensor_table, tensor);
    for (int i = 0; i < known->ndim; i++)
        dims[i] = te ? ln_sizes_axis(te, i) : ln_dim_constant(known->dims[i]);
}

ln_symbols *ln_emit_symbols(const ln_emit *e)
{
    return e->translation->ctx->symbols;
}

ln_dim ln_emit_product(const ln_emit *e, const ln_dim *dims, int n)
{
    ln_dim product = ln_dim_constant(1);
    for (int i = 0; i < n; i++)
        product = ln_dim_mul(ln_emit_symbols(e), &product, &dims[i]);
    return product;
}

// Lengths as tensors, TL_INT64 [1]

static const char *emit_number(ln_emit *e, int64_t number)
{
    static const int one = 1;
    return ln_emit_constant(e, TL_INT64, 1, &one, &number);
}

static const char *emit_axis(ln_emit *e, const char *tensor, int axis)
{
    return LN_EMIT(e, LN_EMIT_TEMP, LN_OP_SHAPE, LN_ARG("src", tensor), LN_INT("start", axis),
                   LN_INT("end", axis + 1));
}

// Rounds down to a multiple of `by`, as the division of operators rounds toward 0.
static const char *rounded_down(ln_emit *e, const char *number, const char *by)
{
    const char *const rest = ln_emit_binary(e, "TL_BINARY_MOD", number, by, LN_EMIT_TEMP);
    return ln_emit_binary(e, "TL_BINARY_SUB", number, rest, LN_EMIT_TEMP);
}

// The length of the symbol's axis, or the result of its operation.
static const char *emit_symbol(ln_emit *e, int symbol)
{
    static const char *const ops[] = {
        [LN_DIM_SUM] = "TL_BINARY_ADD",      [LN_DIM_PRODUCT] = "TL_BINARY_MUL",
        [LN_DIM_QUOTIENT] = "TL_BINARY_DIV", [LN_DIM_MIN] = "TL_BINARY_MIN",
        [LN_DIM_MAX] = "TL_BINARY_MAX",      [LN_DIM_BROADCAST] = "TL_BINARY_MAX"};
    int axis;
    ln_dim a, b;
    const char *const origin = ln_symbols_origin(ln_emit_symbols(e), symbol, &axis);
    if (origin)
        return emit_axis(e, origin, axis);
    const ln_dim_operation operation = ln_symbols_operation(ln_emit_symbols(e), symbol, &a, &b);
    const char *first = ln_emit_length(e, &a), *const second = ln_emit_length(e, &b);
    if (operation == LN_DIM_QUOTIENT && ln_dim_lower(ln_emit_symbols(e), &a) < 0)
        first = rounded_down(e, first, second);
    return ln_emit_binary(e, ops[operation], first, second, LN_EMIT_TEMP);
}

const char *ln_emit_length(ln_emit *e, const ln_dim *dim)
{
    const char *sum = dim->constant || dim->n == 0 ? emit_number(e, dim->constant) : NULL;
    for (int i = 0; i < dim->n && !e->translation->failed; i++) {
        const char *term = emit_symbol(e, dim->terms[i].symbol);
        if (dim->terms[i].coefficient != 1)
            term = ln_emit_binary(e, "TL_BINARY_MUL", term,
                                  emit_number(e, dim->terms[i].coefficient), LN_EMIT_TEMP);
        sum = sum ? ln_emit_binary(e, "TL_BINARY_ADD", sum, term, LN_EMIT_TEMP) : term;
    }
    return sum;
}

const char *ln_emit_shape(ln_emit *e, int ndim, const ln_dim *dims)
{
    const char *parts[LN_MAXDIM];
    for (int i = 0; i < ndim; i++)
        parts[i] = ln_emit_length(e, &dims[i]);
    LN_EMIT_BEGIN(e, LN_OP_JOIN, LN_INT("axis", 0));
    for (int i = 0; i < ndim; i++)
        ln_emit_arg_at(e, "src", i, parts[i]);
    return ln_emit_end(e, "dst", LN_EMIT_TEMP);
}

// Operators with a shape

int ln_emit_max_dims(ln_emit *e, int ndim, const ln_dim *dims, int *max)
{
    int n_open = 0;
    for (int i = 0; i < ndim && !e->translation->failed; i++) {
        if (!ln_dim_is_known(&dims[i]))
            ln_emit_fail(e, "the length of axis %d of a tensor is known only at run time", i);
        const int64_t limit = ln_dim_is_constant(&dims[i]) ? dims[i].constant
                              : ln_dim_is_known(&dims[i])
                                  ? ln_dim_upper(ln_emit_symbols(e), &dims[i])
                                  : 0;
        max[i] = limit < 0 ? 0 : limit > INT_MAX ? INT_MAX : (int)limit;
        n_open += !ln_dim_is_constant(&dims[i]);
    }
    return e->translation->failed ? -1 : n_open;
}

// The `dims` of a view: constants, -2 for an axis of src, -1 for one other length. 0: several other
// lengths.
static int view_dims(const ln_dim *of_src, int src_ndim, const ln_dim *dims, int ndim, int *view)
{
    int n_rest = 0;
    for (int i = 0; i < ndim; i++) {
        const int is_own = i < src_ndim && ln_dim_equals(&of_src[i], &dims[i]);
        view[i] = ln_dim_is_constant(&dims[i]) ? (int)dims[i].constant : is_own ? -2 : -1;
        n_rest += view[i] == -1;
    }
    return n_rest <= 1;
}

const char *ln_emit_reshape_dims(ln_emit *e, const char *src, int ndim, const ln_dim *dims, int i)
{
    int max[LN_MAXDIM], view[LN_MAXDIM];
    ln_dim of_src[LN_MAXDIM];
    const int n_open = ln_emit_max_dims(e, ndim, dims, max);
    if (n_open < 0)
        return NULL;
    ln_emit_dims(e, src, of_src);
    if (n_open == 0 && !ln_emit_is_dynamic(e, src))
        return ln_emit_reshape(e, src, ndim, max, i);
    if (view_dims(of_src, ln_translation_tensor(e->translation, src)->ndim, dims, ndim, view))
        return ln_emit_view(e, src, ndim, view, i);
    return LN_EMIT(e, i, LN_OP_RESHAPE_TO, LN_ARG("src", src),
                   LN_ARG("shape", ln_emit_shape(e, ndim, dims)), LN_INTS("dims", ndim, max));
}

const char *ln_emit_expand_dims(ln_emit *e, const char *src, int ndim, const ln_dim *dims, int i)
{
    int max[LN_MAXDIM];
    const int n_open = ln_emit_max_dims(e, ndim, dims, max);
    if (n_open < 0)
        return NULL;
    return LN_EMIT(e, i, LN_OP_EXPAND, LN_ARG("src", src),
                   LN_ARG("dims_now", n_open ? ln_emit_shape(e, ndim, dims) : NULL),
                   LN_INTS("dims", ndim, max));
}

const char *ln_emit_filled_dims(ln_emit *e, tl_dtype dtype, int ndim, const ln_dim *dims,
                                double value)
{
    int max[LN_MAXDIM];
    const int n_open = ln_emit_max_dims(e, ndim, dims, max);
    if (n_open < 0)
        return NULL;
    return n_open
               ? ln_emit_expand_dims(e, ln_emit_scalar(e, dtype, value), ndim, dims, LN_EMIT_TEMP)
               : ln_emit_filled(e, dtype, ndim, max, value);
}

static int to_int(int64_t number)
{
    return number < INT_MIN ? INT_MIN : number > INT_MAX ? INT_MAX : (int)number;
}

// The parameters of a pad, for the max sizes of the padded tensor. Returns whether some padding is
// known only at run time.
static int max_pads(const ln_emit *e, int ndim, const ln_dim *own, const ln_dim *before,
                    const ln_dim *after, int *max_before, int *max_after)
{
    ln_symbols *const symbols = ln_emit_symbols(e);
    int is_open = 0;
    for (int k = 0; k < ndim; k++) {
        const ln_dim some = ln_dim_add(symbols, &own[k], &before[k]);
        const ln_dim all = ln_dim_add(symbols, &some, &after[k]);
        const int is_number = ln_dim_is_constant(&before[k]) && ln_dim_is_constant(&after[k]);
        max_before[k] = ln_dim_is_constant(&before[k]) ? to_int(before[k].constant) : 0;
        max_after[k] = is_number ? to_int(after[k].constant)
                                 : to_int(ln_dim_upper(symbols, &all) -
                                          ln_dim_upper(symbols, &own[k]) - max_before[k]);
        is_open |= !is_number;
    }
    return is_open;
}

const char *ln_emit_pad(ln_emit *e, const char *src, const ln_dim *before, const ln_dim *after,
                        const char *mode, const char *value, int i)
{
    const int ndim = ln_translation_tensor(e->translation, src)->ndim;
    int max_before[LN_MAXDIM] = {0}, max_after[LN_MAXDIM] = {0};
    ln_dim own[LN_MAXDIM];
    if (e->translation->failed)
        return NULL;
    ln_emit_dims(e, src, own);
    const int is_open = max_pads(e, ndim, own, before, after, max_before, max_after);
    return LN_EMIT(e, i, LN_OP_PAD, LN_ARG("src", src), LN_ARG("value", value),
                   LN_ARG("before_now", is_open ? ln_emit_shape(e, ndim, before) : NULL),
                   LN_ARG("after_now", is_open ? ln_emit_shape(e, ndim, after) : NULL),
                   LN_INTS("before", ndim, max_before), LN_INTS("after", ndim, max_after),
                   LN_TEXT("mode", mode));
}
