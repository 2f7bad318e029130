// SPDX-License-Identifier: Apache-2.0
// Sizes of a model's tensors as symbols: records of what descriptions say.
//
// Each operator is noted once, producers first, so that nothing is followed back through the model.
// An open length that does not follow from lengths becomes a new symbol.

#include "ir/ln_sizes.h"

#include <stdlib.h>
#include <string.h>

#include "ir/ln_dynamic.h"
#include "ir/ln_from_file.h"
#include "ir/ln_size_eval.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_util.h"

// The sizes of a tensor, or of its elements.
typedef struct record {
    ln_dim axes[LN_MAXDIM];     // of one whose sizes are open
    ln_dim elements[LN_MAXDIM]; // of integers that are computed from sizes
    int has_axes, n_elements;
} record;

// The first axis of the length that a symbol stands for.
typedef struct origin {
    char *tensor;
    int symbol, axis;
} origin;

struct ln_sizes {
    const ln_context *ctx;
    origin *origins; // in the order of symbols
    int n_origins, capacity;
    ln_hash *records; // tensor name -> record
    ln_symbols *symbols;
};

// An operator that is noted.
typedef struct noted {
    ln_sizes *sizes;
    const ln_op *op;
    ln_sizes_value value;
    void *data;
    int has_failed; // no memory
} noted;

ln_sizes *ln_sizes_create(const ln_context *ctx)
{
    ln_sizes *sizes = ln_alloc(sizeof(*sizes));
    if (!sizes)
        return NULL;
    *sizes = (ln_sizes){.ctx = ctx,
                        .records = ln_hash_create(ln_str_hash, ln_str_cmp, ln_free, ln_free),
                        .symbols = ln_symbols_create()};
    if (sizes->records && sizes->symbols)
        return sizes;
    ln_sizes_free(sizes);
    return NULL;
}

void ln_sizes_free(ln_sizes *sizes)
{
    if (!sizes)
        return;
    ln_hash_free(sizes->records);
    ln_symbols_free(sizes->symbols);
    for (int i = 0; i < sizes->n_origins; i++)
        ln_free(sizes->origins[i].tensor);
    ln_free(sizes->origins);
    ln_free(sizes);
}

ln_symbols *ln_sizes_symbols(const ln_sizes *sizes)
{
    return sizes->symbols;
}

static ln_dim axis_of(void *data, const ln_tensor_entry *te, int i)
{
    const ln_sizes *sizes = data;
    const record *r = ln_hash_find(sizes->records, te->name);
    if (r && r->has_axes)
        return r->axes[i];
    return ln_dynamic_is_open(te, i) ? ln_dim_unknown() : ln_dim_number(te->tensor->dims[i]);
}

ln_dim ln_sizes_axis(const ln_sizes *sizes, const char *tensor, int i)
{
    return axis_of((void *)sizes, ln_tensor_table_find(sizes->ctx->tensor_table, tensor), i);
}

int ln_sizes_has_elements(const ln_sizes *sizes, const char *tensor)
{
    const record *r = ln_hash_find(sizes->records, tensor);
    return r && r->n_elements;
}

static ln_dim constant_element(const tl_tensor *t, int i)
{
    if (!t || i >= t->len)
        return ln_dim_unknown();
    switch (t->dtype) {
    case TL_INT64:
        return ln_dim_number(((const int64_t *)t->data)[i]);
    case TL_INT32:
        return ln_dim_number(((const int32_t *)t->data)[i]);
    case TL_BOOL:
        return ln_dim_number(((const tl_bool_t *)t->data)[i] != 0);
    default:
        return ln_dim_unknown();
    }
}

ln_dim ln_sizes_element(const ln_sizes *sizes, const char *tensor, int i, ln_sizes_value value,
                        void *data)
{
    const record *r = ln_hash_find(sizes->records, tensor);
    if (r && r->n_elements)
        return i < r->n_elements ? r->elements[i] : ln_dim_unknown();
    return value ? constant_element(value(data, tensor), i) : ln_dim_unknown();
}

// Noting

static ln_dim noted_axis(void *data, const ln_tensor_entry *te, int i)
{
    return axis_of(((const noted *)data)->sizes, te, i);
}

static ln_dim noted_element(void *data, const ln_tensor_entry *te, int i)
{
    const noted *n = data;
    return ln_sizes_element(n->sizes, te->name, i, n->value, n->data);
}

static ln_size_source source_of(noted *n)
{
    return (ln_size_source){n->sizes->symbols, noted_axis, noted_element, n};
}

// -1: no memory.
static int note_origin(ln_sizes *sizes, int symbol, const char *tensor, int axis)
{
    if (sizes->n_origins == sizes->capacity) {
        const int more = sizes->capacity ? 2 * sizes->capacity : 8;
        origin *grown = ln_realloc(sizes->origins, (size_t)more * sizeof(*grown));
        if (!grown)
            return -1;
        sizes->origins = grown;
        sizes->capacity = more;
    }
    char *name = ln_strdup(tensor);
    if (!name)
        return -1;
    sizes->origins[sizes->n_origins++] = (origin){name, symbol, axis};
    return 0;
}

static int compare_origins(const void *a, const void *b)
{
    return ((const origin *)a)->symbol - ((const origin *)b)->symbol;
}

const char *ln_sizes_origin(const ln_sizes *sizes, int symbol, int *axis)
{
    const origin key = {.symbol = symbol}, *found = NULL;
    if (sizes->n_origins)
        found =
            bsearch(&key, sizes->origins, (size_t)sizes->n_origins, sizeof(key), compare_origins);
    if (!found)
        return NULL;
    *axis = found->axis;
    return found->tensor;
}

// A symbol for an open axis: of a placeholder, or of a result whose length is not derived.
static ln_dim new_axis(noted *n, const ln_tensor_entry *te, int i)
{
    const int *min = ln_is_placeholder(n->op) ? ln_placeholder_min(n->op) : NULL;
    const ln_dim axis = ln_symbols_add(n->sizes->symbols, min ? min[i] : 0, te->tensor->dims[i]);
    if (ln_dim_is_known(&axis) && note_origin(n->sizes, axis.terms[0].symbol, te->name, i))
        n->has_failed = 1;
    return axis;
}

static void note_axes(noted *n, const ln_tensor_list_entry *tle, int index,
                      const ln_tensor_entry *te, record *r)
{
    const ln_size_source source = source_of(n);
    const int is_described =
        !ln_is_placeholder(n->op) &&
        ln_size_axes(n->op->op_arg, tle->arg_name, index, &source, r->axes) == te->tensor->ndim;
    for (int i = 0; i < te->tensor->ndim; i++) {
        if (!ln_dynamic_is_open(te, i))
            r->axes[i] = ln_dim_number(te->tensor->dims[i]);
        else if (!is_described || !ln_dim_is_known(&r->axes[i]))
            r->axes[i] = new_axis(n, te, i);
    }
    r->has_axes = 1;
}

static int has_elements(const ln_op *op, const ln_tensor_list_entry *tle, const tl_tensor *t)
{
    const int is_integer = t->dtype == TL_INT64 || t->dtype == TL_INT32 || t->dtype == TL_BOOL;
    return is_integer && t->ndim <= 1 && t->len <= LN_MAXDIM &&
           ln_size_has_values(op->op_arg, tle->arg_name);
}

// Integers of 32 bits wrap, dimensions do not.
static int fits(const ln_symbols *symbols, const ln_dim *dim, tl_dtype dtype)
{
    return ln_dim_is_known(dim) && (dtype == TL_INT64 || (ln_dim_min(symbols, dim) >= INT32_MIN &&
                                                          ln_dim_max(symbols, dim) <= INT32_MAX));
}

static void note_elements(noted *n, const ln_tensor_list_entry *tle, int index, const tl_tensor *t,
                          record *r)
{
    const ln_size_source source = source_of(n);
    r->n_elements = t->len;
    for (int i = 0; i < t->len; i++) {
        const ln_dim element = ln_size_value(n->op->op_arg, tle->arg_name, index, i, &source);
        r->elements[i] = fits(source.symbols, &element, t->dtype) ? element : ln_dim_unknown();
    }
}

// Keeps a copy of the name: what was tried, such as a body, is removed, and names then occur again.
static int insert(ln_sizes *sizes, const char *name, record *r)
{
    char *key = ln_strdup(name);
    if (key && ln_hash_insert(sizes->records, key, r) >= 0)
        return 0;
    ln_free(key);
    return -1;
}

// `index`: of variadic outputs, its position.
static int note_output(noted *n, const ln_tensor_list_entry *tle, int index)
{
    const ln_tensor_entry *te = ln_tensor_table_find(n->sizes->ctx->tensor_table, tle->name);
    const int is_vector = !te->isdynamic && has_elements(n->op, tle, te->tensor);
    if (!te->isdynamic && !is_vector) {
        ln_hash_remove(n->sizes->records, te->name);
        return 0;
    }
    record *r = ln_alloc(sizeof(*r));
    if (!r)
        return -1;
    memset(r, 0, sizeof(*r));
    if (te->isdynamic)
        note_axes(n, tle, index, te, r);
    else
        note_elements(n, tle, index, te->tensor, r);
    if (!n->has_failed && !ln_symbols_failed(n->sizes->symbols) && !insert(n->sizes, te->name, r))
        return 0;
    ln_free(r);
    return -1;
}

int ln_sizes_note(ln_sizes *sizes, const ln_op *op, ln_sizes_value value, void *data)
{
    const ln_tensor_list_entry *tle;
    noted n = {.sizes = sizes, .op = op, .value = value, .data = data};
    int index = 0;
    LN_LIST_FOREACH(tle, op->op_arg->tensors_out)
    {
        if (note_output(&n, tle, index++))
            return -1;
    }
    return 0;
}

// The max number of operators between a tensor and known ones; a longer chain is run instead.
enum { MAX_STEPS = 32 };

static int find_elements(noted *n, const char *tensor, int steps)
{
    const ln_tensor_list_entry *tle, *out;
    const ln_op *producer = ln_context_creater(n->sizes->ctx, tensor);
    const ln_tensor_entry *te = ln_tensor_table_find(n->sizes->ctx->tensor_table, tensor);
    out = producer ? ln_tensor_list_find_by_name(producer->op_arg->tensors_out, tensor) : NULL;
    if (!steps || !out || !has_elements(producer, out, te->tensor) ||
        ln_hash_find(n->sizes->records, tensor))
        return 0;
    LN_LIST_FOREACH(tle, producer->op_arg->tensors_in)
    {
        if (find_elements(n, tle->name, steps - 1))
            return -1;
    }
    return ln_sizes_note(n->sizes, producer, n->value, n->data);
}

int ln_sizes_find_elements(ln_sizes *sizes, const char *tensor, ln_sizes_value value, void *data)
{
    noted n = {.sizes = sizes, .value = value, .data = data};
    return find_elements(&n, tensor, MAX_STEPS);
}
