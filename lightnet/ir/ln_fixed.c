// SPDX-License-Identifier: Apache-2.0
// Values that a program depends on.

#include "ir/ln_fixed.h"

#include <string.h>

#include "base/ln_fnv.h"
#include "base/ln_list_end.h"
#include "ir/ln_from_file.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"

struct ln_fixed {
    ln_hash *of_tensor; // name -> ln_fixed_value
    ln_list *values, *last;
    ln_hash *sizes_of; // name -> ln_open_sizes
    ln_list *sizes, *last_sizes;
    ln_list *forms[2], *last_forms[2]; // ln_value_info, of inputs and of outputs
};

ln_fixed_value *ln_fixed_value_create(const char *tensor, const char *rule, uint64_t hash)
{
    ln_fixed_value *value = ln_alloc(sizeof(*value));
    if (!value)
        return NULL;
    *value = (ln_fixed_value){
        .tensor = ln_strdup(tensor), .rule = rule ? ln_strdup(rule) : NULL, .hash = hash};
    if (value->tensor && (value->rule || !rule))
        return value;
    ln_fixed_value_free(value);
    return NULL;
}

void ln_fixed_value_free(void *value)
{
    ln_fixed_value *const v = value;
    if (!v)
        return;
    ln_free(v->tensor);
    ln_free(v->rule);
    ln_free(v);
}

ln_fixed *ln_fixed_create(void)
{
    ln_fixed *fixed = ln_alloc(sizeof(*fixed));
    if (!fixed)
        return NULL;
    *fixed = (ln_fixed){.of_tensor = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL),
                        .sizes_of = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL)};
    if (fixed->of_tensor && fixed->sizes_of)
        return fixed;
    ln_hash_free(fixed->of_tensor);
    ln_hash_free(fixed->sizes_of);
    ln_free(fixed);
    return NULL;
}

static void free_sizes(void *data)
{
    ln_open_sizes *sizes = data;
    for (int i = 0; i < sizes->ndim; i++)
        ln_free(sizes->names[i]);
    ln_free(sizes->tensor);
    ln_free(sizes);
}

void ln_fixed_free(ln_fixed *fixed)
{
    if (!fixed)
        return;
    ln_fixed_clear(fixed);
    ln_hash_free(fixed->of_tensor);
    ln_hash_free(fixed->sizes_of);
    ln_free(fixed);
}

static void free_form(void *data)
{
    ln_value_info *info = data;
    ln_free((char *)info->name);
    ln_free(info);
}

void ln_fixed_clear(ln_fixed *fixed)
{
    for (int i = 0; i < 2; i++) {
        ln_list_free_deep(fixed->forms[i], free_form);
        fixed->forms[i] = fixed->last_forms[i] = NULL;
    }
    ln_hash_clear(fixed->of_tensor);
    ln_hash_clear(fixed->sizes_of);
    ln_list_free_deep(fixed->values, ln_fixed_value_free);
    ln_list_free_deep(fixed->sizes, free_sizes);
    fixed->values = fixed->last = fixed->sizes = fixed->last_sizes = NULL;
}

int ln_fixed_add(ln_fixed *fixed, ln_fixed_value *value)
{
    if (!value)
        return -1;
    if (ln_hash_find(fixed->of_tensor, value->tensor)) {
        ln_fixed_value_free(value);
        return 0;
    }
    ln_list *const node = ln_list_prepend(NULL, value);
    if (!node || ln_hash_insert(fixed->of_tensor, value->tensor, value) < 0) {
        ln_list_free(node);
        return -1;
    }
    *(fixed->last ? &fixed->last->next : &fixed->values) = node;
    fixed->last = node;
    return 0;
}

int ln_fixed_note(ln_fixed *fixed, const char *tensor, const char *rule, uint64_t hash)
{
    ln_fixed_value *const value = ln_fixed_value_create(tensor, rule, hash);
    if (!ln_fixed_add(fixed, value))
        return 0;
    ln_fixed_value_free(value);
    return -1;
}

const ln_list *ln_fixed_values(const ln_fixed *fixed)
{
    return fixed->values;
}

const ln_fixed_value *ln_fixed_find(const ln_fixed *fixed, const char *tname)
{
    return ln_hash_find(fixed->of_tensor, tname);
}

// Sizes

// NULL: no memory.
static ln_open_sizes *create_sizes(const char *tname, int ndim, const char *const *names)
{
    ln_open_sizes *made = ln_alloc(sizeof(*made));
    if (!made)
        return NULL;
    *made = (ln_open_sizes){.tensor = ln_strdup(tname), .ndim = ndim};
    int is_whole = made->tensor != NULL;
    for (int i = 0; i < ndim && is_whole; i++) {
        made->names[i] = names[i] ? ln_strdup(names[i]) : NULL;
        is_whole = made->names[i] || !names[i];
    }
    if (is_whole)
        return made;
    free_sizes(made);
    return NULL;
}

int ln_fixed_note_sizes(ln_fixed *fixed, const char *tname, int ndim, const char *const *names)
{
    int n_open = 0;
    for (int i = 0; i < ndim; i++)
        n_open += names[i] != NULL;
    if (!n_open || ln_hash_find(fixed->sizes_of, tname))
        return 0;
    ln_open_sizes *sizes = create_sizes(tname, ndim, names);
    if (!sizes)
        return -1;
    ln_list *const node = ln_list_prepend(NULL, sizes);
    if (!node || ln_hash_insert(fixed->sizes_of, sizes->tensor, sizes) < 0) {
        ln_list_free(node);
        free_sizes(sizes);
        return -1;
    }
    ln_list_extend(&fixed->sizes, &fixed->last_sizes, node);
    return 0;
}

const ln_open_sizes *ln_fixed_sizes_of(const ln_fixed *fixed, const char *tname, int ndim)
{
    const ln_open_sizes *sizes = ln_hash_find(fixed->sizes_of, tname);
    return sizes && sizes->ndim == ndim ? sizes : NULL;
}

const ln_list *ln_fixed_sizes(const ln_fixed *fixed)
{
    return fixed->sizes;
}

// Checks

int ln_fixed_check(const ln_context *ctx, const char *tname, const void *data, size_t size)
{
    return ln_fixed_find(ctx->fixed, tname) ? ln_fixed_check_hash(ctx, tname, ln_fnv64(data, size))
                                            : 0;
}

int ln_fixed_check_hash(const ln_context *ctx, const char *tname, uint64_t hash)
{
    const ln_fixed_value *const value = ln_fixed_find(ctx->fixed, tname);
    if (!value || hash == value->hash)
        return 0;
    if (value->rule)
        return ln_fail(ctx,
                       "rule '%s' has made the value of '%s' part of an operator; to set another "
                       "one, compile with the rule disabled",
                       value->rule, tname);
    if (value->frozen)
        return ln_fail(ctx,
                       "the model contains values computed from '%s' instead of it; to change it, "
                       "compile the model again",
                       tname);
    return ln_fail(ctx,
                   "shapes of the model depend on the value of '%s', which differs from the one "
                   "given; read the original model with it (-i %s=FILE, ln_context_bind_input)",
                   tname, tname);
}

int ln_fixed_check_params(const ln_context *ctx)
{
    LN_FOREACH (const ln_fixed_value *, value, ctx->fixed->values) {
        char element[TL_DTYPE_MAX_SIZE];
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, value->tensor);
        if (te && !ln_constant_element(ctx, te, element) &&
            ln_fixed_check(ctx, te->name, element, tl_size_of(te->tensor->dtype)))
            return -1;
    }
    return 0;
}

// The scalar in the operator's `data` parameter; NULL: it produces other data.
static const double *scalar_data(const ln_op *op)
{
    const ln_param_entry *data = ln_op_param(op, "data");
    return data && data->type == LN_PARAM_ARRAY_NUMBER && data->array_len == 1 &&
                   !op->op_arg->tensors_in && !ln_produces_random(op) && !ln_from_file_name(op)
               ? data->value_array_double
               : NULL;
}

int ln_constant_element(const ln_context *ctx, const ln_tensor_entry *te,
                        char element[TL_DTYPE_MAX_SIZE])
{
    const tl_tensor *const t = te->tensor;
    const ln_weight *const weight = ln_weights_find(ctx->weights, te->name);
    if (!te->isconst || t->len != 1 || t->dtype == TL_STRING)
        return -1;
    if (weight) {
        ln_error err = {0}; // unreadable data is unknown
        return weight->tensor->len == 1 && weight->tensor->dtype == t->dtype
                   ? ln_weight_read(weight, 0, element, tl_size_of(t->dtype), &err)
                   : -1;
    }
    const ln_op *const producer = ln_entry_creater(te);
    const double *const number = producer ? scalar_data(producer) : NULL;
    if (!number)
        return -1;
    tl_convert(element, t->dtype, number, TL_DOUBLE);
    return 0;
}

// Inputs and outputs that are not tensors

int ln_fixed_note_value(ln_fixed *fixed, int is_output, const char *name, ln_value_form form,
                        int first, int len)
{
    ln_value_info *info = ln_alloc(sizeof(*info));
    if (!info)
        return -1;
    *info = (ln_value_info){ln_strdup(name), form, first, len};
    ln_list *node = info->name ? ln_list_prepend(NULL, info) : NULL;
    if (!node) {
        free_form(info);
        return -1;
    }
    ln_list_extend(&fixed->forms[is_output], &fixed->last_forms[is_output], node);
    return 0;
}

int ln_fixed_has_values(const ln_fixed *fixed, int is_output)
{
    return fixed->forms[is_output] != NULL;
}

ln_value_walk ln_context_walk_values(const ln_context *ctx, int is_output)
{
    return (ln_value_walk){ctx->fixed->forms[is_output], is_output ? ctx->outputs : ctx->inputs, 0};
}

int ln_value_walk_next(ln_value_walk *walk, ln_value_info *info)
{
    // Sequences and optional values, by their first tensor; other tensors are values themselves.
    const ln_value_info *const compound = walk->compounds ? walk->compounds->data : NULL;
    const int is_compound = compound && compound->first == walk->first;
    if (!is_compound && !walk->tensors)
        return -1;
    *info = is_compound ? *compound
                        : (ln_value_info){walk->tensors->data, LN_FORM_TENSOR, walk->first, 1};
    if (is_compound)
        walk->compounds = walk->compounds->next;
    for (int i = 0; i < info->len; i++, walk->first++)
        walk->tensors = walk->tensors ? walk->tensors->next : NULL;
    return 0;
}
