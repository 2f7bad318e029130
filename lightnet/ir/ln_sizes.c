// SPDX-License-Identifier: Apache-2.0
// Symbolic sizes of a context's tensors, evaluated from operator descriptions and stored with
// values.
//
// Visits each operator once, producers first. An open length that no expression determines keeps
// the symbol of the operator that this one replaced, or gets a new symbol.

#include "ir/ln_sizes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_dfg_value.h"
#include "ir/ln_from_file.h"
#include "ir/ln_size_eval.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_util.h"

static const ln_value_sizes *sizes_of(const ln_tensor_entry *te)
{
    return te->value ? te->value->sizes : NULL;
}

ln_dim ln_sizes_axis(const ln_tensor_entry *te, int i)
{
    const ln_value_sizes *const sizes = sizes_of(te);
    if (!te->isdynamic)
        return ln_dim_constant(te->tensor->dims[i]);
    return sizes && i < sizes->n_axes ? sizes->axes[i] : ln_dim_unknown();
}

int ln_sizes_is_open(const ln_tensor_entry *te, int i)
{
    const ln_dim axis = ln_sizes_axis(te, i);
    return !ln_dim_is_constant(&axis);
}

int ln_sizes_is_same_shape(const ln_tensor_entry *a, const ln_tensor_entry *b)
{
    if (!tl_tensor_issameshape(a->tensor, b->tensor))
        return 0;
    for (int i = 0; i < a->tensor->ndim; i++) {
        const ln_dim of_a = ln_sizes_axis(a, i), of_b = ln_sizes_axis(b, i);
        if (!ln_dim_equals(&of_a, &of_b))
            return 0;
    }
    return 1;
}

int ln_sizes_has_elements(const ln_tensor_entry *te)
{
    return sizes_of(te) && sizes_of(te)->n_elements;
}

static ln_dim constant_element(const tl_tensor *t, int i)
{
    if (!t || i >= t->len)
        return ln_dim_unknown();
    switch (t->dtype) {
    case TL_INT64:
        return ln_dim_constant(((const int64_t *)t->data)[i]);
    case TL_INT32:
        return ln_dim_constant(((const int32_t *)t->data)[i]);
    case TL_BOOL:
        return ln_dim_constant(((const tl_bool_t *)t->data)[i] != 0);
    default:
        return ln_dim_unknown();
    }
}

ln_dim ln_sizes_element(const ln_tensor_entry *te, int i, ln_sizes_value value, void *data)
{
    if (ln_sizes_has_elements(te))
        return i < sizes_of(te)->n_elements ? sizes_of(te)->elements[i] : ln_dim_unknown();
    return value ? constant_element(value(data, te->name), i) : ln_dim_unknown();
}

// Inference

typedef struct inference {
    const ln_op *op;
    ln_sizes_value value;
    void *data;
} inference;

static ln_dim inferred_axis(void *data, const ln_tensor_entry *te, int i)
{
    (void)data;
    return ln_sizes_axis(te, i);
}

static ln_dim inferred_element(void *data, const ln_tensor_entry *te, int i)
{
    const inference *n = data;
    return ln_sizes_element(te, i, n->value, n->data);
}

static ln_symbols *symbols_of(const inference *n)
{
    return n->op->op_arg->ctx->symbols;
}

static ln_size_source source_of(inference *n)
{
    return (ln_size_source){symbols_of(n), inferred_axis, inferred_element, n};
}

// The sizes of an output's value; NULL: no memory.
static ln_value_sizes *own_sizes(const ln_tensor_entry *te)
{
    ln_value_sizes **const sizes = &te->value->sizes;
    if (!*sizes && (*sizes = ln_alloc(sizeof(**sizes))))
        (*sizes)->n_axes = (*sizes)->n_elements = 0;
    return *sizes;
}

// The min length of an axis of a placeholder, or of a vector whose operator has parameter "least".
static int min_length(const ln_op *op, const ln_tensor_entry *te, int i)
{
    const int *const min = ln_is_placeholder(op) ? ln_placeholder_min(op) : NULL;
    const ln_param_entry *const least = ln_op_param(op, "least");
    if (min)
        return min[i];
    return te->tensor->ndim == 1 && least && least->type == LN_PARAM_NUMBER ? least->value_int : 0;
}

static int is_symbol(const ln_dim *dim)
{
    return dim->n == 1 && dim->constant == 0 && dim->terms[0].coefficient == 1;
}

int ln_size_term(const char **text, const char **term, size_t *len)
{
    if (!*text)
        return 0;
    *term = *text + strspn(*text, " ");
    *len = strcspn(*term, "+");
    *text = (*term)[*len] ? *term + *len + 1 : NULL;
    while (*len && (*term)[*len - 1] == ' ')
        --*len;
    return 1;
}

int ln_size_is_number(const char *term, size_t len, int64_t *number)
{
    enum { MAX_DIGITS = 9 };
    *number = 0;
    if (!len || len > MAX_DIGITS || strspn(term, "0123456789") < len)
        return 0;
    for (size_t i = 0; i < len; i++)
        *number = *number * 10 + (term[i] - '0');
    return 1;
}

// The dimension of a text such as "past + new + 1". Unknown: it has more than LN_DIM_TERMS terms.
static ln_dim dim_of_text(ln_symbols *symbols, const char *text)
{
    ln_dim sum = ln_dim_constant(0);
    const char *term;
    size_t len;
    for (int n = 0; ln_size_term(&text, &term, &len); n++) {
        int64_t number;
        const ln_dim part = n == LN_DIM_TERMS ? ln_dim_unknown()
                            : ln_size_is_number(term, len, &number)
                                ? ln_dim_constant(number)
                                : ln_symbols_named(symbols, term, len);
        if (!ln_dim_is_known(&part))
            return part;
        sum = ln_dim_add(symbols, &sum, &part);
    }
    return sum;
}

// A length that is not inferred: a constant if its min and max are equal, that of its name, or a
// new symbol.
static ln_dim new_axis(const inference *n, const ln_tensor_entry *te, int i)
{
    const int min = min_length(n->op, te, i), max = te->tensor->dims[i];
    const char *const text = ln_placeholder_size(n->op, i);
    const ln_dim named = text ? dim_of_text(symbols_of(n), text) : ln_dim_unknown();
    if (is_symbol(&named))
        ln_symbols_bound(symbols_of(n), &named, min, max, te->name, i);
    return min == max                ? ln_dim_constant(max)
           : ln_dim_is_known(&named) ? named
                                     : ln_symbols_add_axis(symbols_of(n), min, max, te->name, i);
}

static int is_fixed(const ln_symbols *symbols, const ln_dim *dim)
{
    return ln_dim_is_known(dim) && ln_dim_lower(symbols, dim) == ln_dim_upper(symbols, dim);
}

static int infer_axes(inference *n, const ln_tensor_list_entry *tle, int index,
                      const ln_tensor_entry *te)
{
    const ln_size_source source = source_of(n);
    const int ndim = te->tensor->ndim;
    ln_value_sizes *const sizes = own_sizes(te);
    ln_dim axes[LN_MAXDIM];
    if (!sizes)
        return -1;
    const int is_described =
        !ln_is_placeholder(n->op) &&
        ln_size_axes(n->op->op_arg, tle->arg_name, index, &source, axes) == ndim;
    for (int i = 0; i < ndim; i++) {
        const int is_former = sizes->n_axes == ndim && ln_dim_is_known(&sizes->axes[i]);
        if (!is_described || !ln_dim_is_known(&axes[i]))
            axes[i] = is_former ? sizes->axes[i] : new_axis(n, te, i);
        if (is_fixed(source.symbols, &axes[i]))
            axes[i] = ln_dim_constant(ln_dim_upper(source.symbols, &axes[i]));
    }
    memcpy(sizes->axes, axes, sizeof(axes[0]) * (size_t)ndim);
    sizes->n_axes = ndim;
    return 0;
}

static int has_elements(const ln_op *op, const ln_tensor_list_entry *tle, const tl_tensor *t)
{
    const int is_integer = t->dtype == TL_INT64 || t->dtype == TL_INT32 || t->dtype == TL_BOOL;
    return is_integer && t->ndim <= 1 && t->len <= LN_MAXDIM &&
           ln_size_has_values(op->op_arg, tle->arg_name);
}

// Whether the dimension fits the dtype: 32-bit integers wrap, dimensions do not.
static int fits(const ln_symbols *symbols, const ln_dim *dim, tl_dtype dtype)
{
    return ln_dim_is_known(dim) && (dtype == TL_INT64 || (ln_dim_lower(symbols, dim) >= INT32_MIN &&
                                                          ln_dim_upper(symbols, dim) <= INT32_MAX));
}

static int infer_elements(inference *n, const ln_tensor_list_entry *tle, int index,
                          const ln_tensor_entry *te)
{
    const ln_size_source source = source_of(n);
    const tl_tensor *const t = te->tensor;
    ln_value_sizes *const sizes = own_sizes(te);
    if (!sizes)
        return -1;
    sizes->n_elements = t->len;
    for (int i = 0; i < t->len; i++) {
        const ln_dim element = ln_size_value(n->op->op_arg, tle->arg_name, index, i, &source);
        sizes->elements[i] = fits(source.symbols, &element, t->dtype) ? element : ln_dim_unknown();
    }
    return 0;
}

// `index`: of variadic outputs, its position.
static int infer_output(inference *n, const ln_tensor_list_entry *tle, int index)
{
    const ln_tensor_entry *te = ln_entry_of(tle, n->op->op_arg->tensor_table);
    if (te->isdynamic)
        return infer_axes(n, tle, index, te);
    if (has_elements(n->op, tle, te->tensor))
        return infer_elements(n, tle, index, te);
    if (te->value->sizes)
        te->value->sizes->n_axes = te->value->sizes->n_elements = 0;
    return 0;
}

static int has_symbols(ln_context *ctx)
{
    if (!ctx->symbols)
        ctx->symbols = ln_symbols_create();
    return ctx->symbols != NULL;
}

int ln_sizes_infer(const ln_op *op, ln_sizes_value value, void *data)
{
    inference n = {.op = op, .value = value, .data = data};
    int index = 0;
    if (!has_symbols(op->op_arg->ctx))
        return -1;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (infer_output(&n, tle, index++))
            return -1;
    return ln_symbols_failed(symbols_of(&n)) ? -1 : 0;
}

// Inputs with named sizes

// An axis of an input whose length is a symbol or a sum of symbols, by its text.
typedef struct ln_named_axis {
    const ln_tensor_entry *te; // NULL after the last one
    const char *text;
    int axis;
    ln_dim dim;
} ln_named_axis;

static int count_axes(const ln_context *ctx)
{
    int n = 0;
    LN_FOREACH (const char *, name, ctx->inputs) {
        const ln_tensor_entry *const te = ln_tensor_table_find(ctx->tensor_table, name);
        n += te ? te->tensor->ndim : 0;
    }
    return n;
}

// Appends the named axes of an input; returns the end.
static ln_named_axis *add_axes(const ln_context *ctx, const ln_tensor_entry *te, ln_named_axis *to)
{
    const ln_op *const producer = te ? ln_entry_creater(te) : NULL;
    for (int i = 0; producer && i < te->tensor->ndim; i++) {
        const char *const text = ln_placeholder_size(producer, i);
        *to = (ln_named_axis){te, text, i, {0}};
        to->dim = text ? dim_of_text(ctx->symbols, text) : ln_dim_unknown();
        to += ln_dim_is_known(&to->dim);
    }
    return to;
}

int ln_sizes_find_named(ln_context *ctx)
{
    ln_sizes_forget_named(ctx);
    if (!ctx->symbols)
        return 0;
    ctx->named_axes = ln_alloc_array((size_t)count_axes(ctx) + 1, sizeof(*ctx->named_axes));
    ln_named_axis *end = ctx->named_axes;
    LN_FOREACH (const char *, name, end ? ctx->inputs : NULL)
        end = add_axes(ctx, ln_tensor_table_find(ctx->tensor_table, name), end);
    if (!end || ln_symbols_failed(ctx->symbols))
        return ln_fail_memory(ctx);
    end->te = NULL;
    return 0;
}

void ln_sizes_forget_named(ln_context *ctx)
{
    ln_free(ctx->named_axes);
    ctx->named_axes = NULL;
}

static int check_axis(const ln_context *ctx, const ln_named_axis *a)
{
    const int len = a->te->tensor->dims[a->axis];
    const int64_t expected = ln_symbols_assign(ctx->symbols, &a->dim, len);
    if (expected < 0)
        return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                          "axis %d of input '%s' is '%s', a name that no axis has", a->axis,
                          a->te->name, a->text);
    if (expected != len)
        return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                          "axis %d of input '%s' has length %d, but '%s' is %" PRId64
                          " by other inputs",
                          a->axis, a->te->name, len, a->text, expected);
    return 0;
}

// Sums come after all symbols.
int ln_sizes_check_inputs(const ln_context *ctx)
{
    if (!ctx->named_axes)
        return 0;
    ln_symbols_forget_values(ctx->symbols);
    for (int sums = 0; sums < 2; sums++)
        for (const ln_named_axis *a = ctx->named_axes; a->te; a++)
            if (is_symbol(&a->dim) != sums && check_axis(ctx, a))
                return -1;
    return 0;
}

int ln_sizes_infer_axes(const ln_op *op)
{
    inference n = {.op = op};
    int index = 0, failed = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle,
                op->op_arg->isdynamic ? op->op_arg->tensors_out : NULL) {
        const ln_tensor_entry *te = ln_entry_of(tle, op->op_arg->tensor_table);
        failed |=
            te->isdynamic && (!has_symbols(op->op_arg->ctx) || infer_axes(&n, tle, index, te));
        index++;
    }
    return failed || (op->op_arg->ctx->symbols && ln_symbols_failed(op->op_arg->ctx->symbols))
               ? ln_op_fail_last(op->op_arg)
               : 0;
}

// The max number of operators from known tensors to a tensor; a longer chain is run instead.
enum { MAX_STEPS = 32 };

static int find_elements(const ln_tensor_entry *te, ln_sizes_value value, void *data, int steps)
{
    const ln_tensor_list_entry *tle, *out;
    const ln_op *const producer = ln_entry_creater(te);
    out = producer ? ln_tensor_list_find_by_name(producer->op_arg->tensors_out, te->name) : NULL;
    if (!steps || !out || !has_elements(producer, out, te->tensor) || ln_sizes_has_elements(te))
        return 0;
    LN_LIST_FOREACH (tle, producer->op_arg->tensors_in)
        if (find_elements(ln_entry_of(tle, producer->op_arg->tensor_table), value, data, steps - 1))
            return -1;
    return ln_sizes_infer(producer, value, data);
}

int ln_sizes_find_elements(const ln_tensor_entry *te, ln_sizes_value value, void *data)
{
    return find_elements(te, value, data, MAX_STEPS);
}
