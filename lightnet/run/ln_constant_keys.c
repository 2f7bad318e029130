// SPDX-License-Identifier: Apache-2.0
// Keys of the computations of constants: a hash of the producer, its parameters, and the keys of
// its inputs, starting with the weights.

#include "run/ln_store.h"

#include <string.h>

#include "ir/ln_bodies.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_util.h"

struct ln_constant_keys {
    ln_hash *by_name; // tensor name -> ln_store_key
};

static ln_store_key more_text(ln_store_key key, const char *text)
{
    return ln_store_key_more(key, text ? text : "", text ? strlen(text) + 1 : 0);
}

static ln_store_key more_int(ln_store_key key, int64_t number)
{
    return ln_store_key_more(key, &number, sizeof(number));
}

static ln_store_key more_tensor(ln_store_key key, const tl_tensor *t)
{
    key = more_int(more_int(key, t->dtype), t->ndim);
    return ln_store_key_more(key, t->dims, (size_t)t->ndim * sizeof(*t->dims));
}

static ln_store_key more_texts(ln_store_key key, const ln_param_entry *pe)
{
    for (int i = 0; i < pe->array_len; i++)
        key = more_text(key, pe->value_array_string[i]);
    return key;
}

static ln_store_key more_param(ln_store_key key, const ln_param_entry *pe)
{
    const size_t len = (size_t)pe->array_len;
    key = more_int(more_text(key, pe->arg_name), pe->type);
    switch (pe->type) {
    case LN_PARAM_STRING:
        return more_text(key, pe->value_string);
    case LN_PARAM_NUMBER:
        return ln_store_key_more(key, &pe->value_double, sizeof(pe->value_double));
    case LN_PARAM_BOOL:
        return more_int(key, pe->value_bool);
    case LN_PARAM_ARRAY_STRING:
        return more_texts(more_int(key, pe->array_len), pe);
    case LN_PARAM_ARRAY_NUMBER:
        return ln_store_key_more(key, pe->value_array_double,
                                 len * sizeof(*pe->value_array_double));
    case LN_PARAM_ARRAY_BOOL:
        return ln_store_key_more(key, pe->value_array_bool, len * sizeof(*pe->value_array_bool));
    default:
        return key;
    }
}

// The operator without its inputs.
static ln_store_key key_of_op(const ln_context *ctx, const ln_op *op)
{
    ln_store_key key = more_text(ln_store_key_begin(), op->op_arg->optype);
    key = more_int(key, ctx->isa);
    LN_FOREACH (const ln_param_entry *, pe, ln_op_params(op->op_arg))
        key = more_param(key, pe);
    if (ln_produces_random(op))
        key = more_int(key, (int64_t)ln_op_seed(op->op_arg));
    return key;
}

// The offset identifies data of a file. Other data is identified by its bytes: front ends compute
// some, which under one name have another value for other shapes.
static int more_weight(const ln_context *ctx, const char *name, ln_store_key *key)
{
    const ln_weight *weight = ln_weights_of(ctx, name);
    if (!weight || weight->tensor->dtype == TL_STRING) // strings live as long as the context
        return 0;
    *key = more_tensor(*key, weight->tensor);
    if (weight->tensor->data) {
        *key = ln_store_key_more(*key, weight->tensor->data, tl_tensor_size(weight->tensor));
        return 1;
    }
    *key = more_text(*key, weight->file->name);
    *key = more_int(*key, (int64_t)weight->offset);
    return 1;
}

static int more_inputs(const ln_constant_keys *keys, const ln_op *op, ln_store_key *key)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        ln_store_key input;
        if (!ln_constant_key(keys, tle->name, &input))
            return 0;
        *key = ln_store_key_more(more_text(*key, tle->arg_name), &input, sizeof(input));
    }
    return 1;
}

static int enter(ln_constant_keys *keys, const char *tname, ln_store_key key)
{
    ln_store_key *kept = ln_clone(&key, sizeof(key));
    if (kept && ln_hash_insert(keys->by_name, tname, kept) >= 0)
        return 0;
    ln_free(kept);
    return -1;
}

static int enter_outputs(ln_constant_keys *keys, const ln_context *ctx, const ln_op *op,
                         ln_store_key key)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
        const ln_tensor_entry *te = ln_entry_of(tle, ctx->tensor_table);
        if (te->isconst && te->tensor->dtype != TL_STRING &&
            enter(keys, tle->name, more_tensor(more_text(key, tle->arg_name), te->tensor)))
            return -1;
    }
    return 0;
}

// The name of a body does not identify its computation.
static int runs_body(const ln_context *ctx, const ln_op *op)
{
    LN_FOREACH (const ln_param_entry *, pe, ctx->bodies ? op->op_arg->params : NULL)
        if (pe->type == LN_PARAM_STRING && pe->value_string && ln_body_named(ctx, pe->value_string))
            return 1;
    return 0;
}

static int find_keys_of(ln_constant_keys *keys, const ln_context *ctx, const ln_op *op)
{
    const char *from_file = ln_from_file_name(op);
    ln_store_key key = key_of_op(ctx, op);
    const int is_known = op->op_arg->tensors_in ? more_inputs(keys, op, &key)
                         : from_file            ? more_weight(ctx, from_file, &key)
                                                : 1;
    return is_known ? enter_outputs(keys, ctx, op, key) : 0;
}

ln_constant_keys *ln_constant_keys_find(const ln_context *ctx)
{
    ln_constant_keys *keys = ln_alloc(sizeof(*keys));
    if (!keys || !(keys->by_name = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, ln_free))) {
        ln_free(keys);
        return ln_fail_memory(ctx), NULL;
    }
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const int is_produced_at_load = (op->op_arg->at_load || !op->op_arg->tensors_in) &&
                                        !op->op_arg->isdynamic && !runs_body(ctx, op);
        if (is_produced_at_load && find_keys_of(keys, ctx, op)) {
            ln_constant_keys_free(keys);
            return ln_fail_memory(ctx), NULL;
        }
    }
    return keys;
}

void ln_constant_keys_free(ln_constant_keys *keys)
{
    ln_hash_free(keys->by_name);
    ln_free(keys);
}

int ln_constant_key(const ln_constant_keys *keys, const char *tname, ln_store_key *key)
{
    const ln_store_key *found = ln_hash_find(keys->by_name, tname);
    if (found)
        *key = *found;
    return found != NULL;
}
