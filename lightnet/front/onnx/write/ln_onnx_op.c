// SPDX-License-Identifier: Apache-2.0
// Access to an operator for its ONNX writer: tensors, constants, parameters; and the writer of
// operators whose description has their ONNX form.

#include "front/onnx/write/ln_onnx_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "front/onnx/ln_onnx.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_hash.h"
#include "tensorlight/tl_type.h"

// Constants of equal elements that are larger, in bytes, are written as ConstantOfShape.
enum { MAX_FILLED = 1 << 14 };

// Failing

int ln_onnx_op_failed(const ln_onnx_op *n)
{
    return n->writer->base.failed;
}

void ln_onnx_op_reject(ln_onnx_op *n, const char *fmt, ...)
{
    char reason[LN_MAXLINE - 512], place[256];
    va_list ap;
    if (ln_onnx_op_failed(n) || n->is_rejected)
        return;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof(reason), fmt, ap);
    va_end(ap);
    snprintf(place, sizeof(place), "'%.128s'", n->op->op_arg->name);
    const char *const optype = n->op->op_arg->optype;
    ln_missing_note(
        &n->writer->missing, optype,
        &(ln_missing_op){.optype = optype, .first = place, .reason = *reason ? reason : NULL});
    n->writer->n_missing++;
    n->is_rejected = 1;
}

// Operator sets

int ln_onnx_op_opset(const ln_onnx_op *n)
{
    return n->writer->opset;
}

void ln_onnx_op_since(ln_onnx_op *n, int opset)
{
    if (opset > n->writer->needed)
        n->writer->needed = opset;
}

void ln_onnx_op_domain_since(ln_onnx_op *n, ln_onnx_domain domain, int opset)
{
    int *const needed = &n->writer->domains[domain];
    *needed = opset > *needed ? opset : *needed;
}

// Constants of the model

static const char *add_data(ln_onnx_op *n, const char *name, const tl_tensor *like,
                            const ln_onnx_data *data)
{
    if (like->dtype == TL_STRING)
        return ln_onnx_put_strings(n->writer, name, like->ndim, like->dims,
                                   data->weight ? data->weight->tensor->data : data->bytes);
    return ln_onnx_put_weight(n->writer, name, ln_onnx_put_dtype(like->dtype), like->ndim,
                              like->dims, data);
}

static const char *add_from_file(ln_onnx_op *n, const char *tensor, const tl_tensor *like,
                                 const char *name)
{
    const ln_weight *const weight = ln_weights_of(n->level->ctx, tensor);
    ln_onnx_data data = ln_onnx_data_for(like->dtype, like->len);
    data.weight = weight;
    if (!weight)
        return ln_translation_fail(
                   &n->writer->base,
                   "tensor '%.256s': the model has no data for it; name its weight file", tensor),
               "";
    if (weight->tensor->dtype != like->dtype || weight->tensor->len != like->len)
        ln_translation_fail(&n->writer->base,
                            "tensor '%.256s': its data has %d elements of %s, expected %d of %s",
                            tensor, weight->tensor->len, tl_dtype_name(weight->tensor->dtype),
                            like->len, tl_dtype_name(like->dtype));
    return add_data(n, name, like, &data);
}

static const char *add_random(ln_onnx_op *n, const ln_op *op, const tl_tensor *like,
                              const char *name)
{
    const ln_onnx_data data = {.random = op, .size = tl_tensor_size(like)};
    if (tl_dtype_bits(like->dtype) < 8) {
        ln_onnx_op_reject(n, "a random constant of type %s", tl_dtype_name(like->dtype));
        return "";
    }
    return add_data(n, name, like, &data);
}

// Adds a tensor that a source or a create produces; returns its value. `name`: the preferred name.
static const char *add_constant(ln_onnx_op *n, const ln_op *op, const char *tensor,
                                const char *name)
{
    const tl_tensor *const like = ln_tensor_table_find(n->level->ctx->tensor_table, tensor)->tensor;
    const ln_param_entry *const elements = ln_op_param(op, "data");
    if (ln_produces_random(op) && like->dtype != TL_STRING) // strings become empty
        return add_random(n, op, like, name);
    if (ln_from_file_name(op))
        return add_from_file(n, tensor, like, name);
    const int len = elements ? elements->array_len : 0;
    if (len <= 1 && tl_tensor_size(like) > MAX_FILLED && like->dtype != TL_STRING) {
        const double number = len ? elements->value_array_double[0] : 0;
        ln_onnx_op source = {.writer = n->writer, .level = n->level, .op = op, .label = name};
        return ln_onnx_put_filled_as(&source, name, like->dtype, like->ndim, like->dims, number);
    }
    ln_onnx_data data = ln_onnx_data_for(like->dtype, like->len);
    data.bytes = ln_translation_fill(&n->writer->base, op, like);
    return data.bytes ? add_data(n, name, like, &data) : "";
}

int ln_onnx_op_constant(ln_onnx_op *n, const char *arg, ln_onnx_data *data)
{
    const char *const tensor = ln_op_input_name(n->op, arg);
    const ln_context *const ctx = n->level->ctx;
    const ln_op *const op = tensor ? ln_context_creater(ctx, tensor) : NULL;
    if (!op || !ln_produces_inputs(op->op_arg->optype) || ln_produces_random(op) ||
        ln_hash_find(ctx->input_names, tensor))
        return 0;
    const tl_tensor *const like = ln_tensor_table_find(ctx->tensor_table, tensor)->tensor;
    *data = (ln_onnx_data){.size = tl_tensor_size(like)};
    if (ln_from_file_name(op))
        data->weight = ln_weights_of(ctx, tensor);
    else
        data->bytes = ln_translation_fill(&n->writer->base, op, like);
    return data->weight || data->bytes;
}

const void *ln_onnx_op_elements(ln_onnx_op *n, const char *arg)
{
    ln_onnx_data data;
    const tl_tensor *const like = ln_onnx_op_tensor(n, arg);
    if (!ln_onnx_op_constant(n, arg, &data)) {
        ln_onnx_op_reject(n, "input '%s' is not a constant", arg);
        return NULL;
    }
    const tl_tensor *const from = data.weight ? data.weight->tensor : like;
    if (from->dtype != like->dtype || from->len != like->len) {
        ln_onnx_op_reject(n, "the data of input '%s' has %d elements of %s, expected %d of %s", arg,
                          from->len, tl_dtype_name(from->dtype), like->len,
                          tl_dtype_name(like->dtype));
        return NULL;
    }
    if (!data.weight || from->dtype == TL_STRING)
        return data.weight ? from->data : data.bytes;
    ln_translation *const base = &n->writer->base;
    void *const elements = ln_translation_alloc(base, data.size + 1);
    if (elements && ln_weight_read(data.weight, 0, elements, data.size, base->ctx->error))
        base->failed = 1;
    return base->failed ? NULL : elements;
}

// Values

// Tensors of the model keep their names; those of bodies get unique ones, as ONNX requires.
static const char *name_value(ln_onnx_op *n, const char *tensor)
{
    ln_onnx_op named = *n;
    named.label = tensor;
    return n->level->outer ? ln_onnx_put_name(&named, ln_translation_print(&n->writer->base, "%zu",
                                                                           n->writer->n_names++))
                           : tensor;
}

const char *ln_onnx_op_value(ln_onnx_op *n, const char *tensor)
{
    const char *const known = ln_onnx_op_failed(n) ? "" : ln_hash_find(n->level->values, tensor);
    if (known)
        return known;
    const ln_op *const producer = ln_context_creater(n->level->ctx, tensor);
    if (!producer || !ln_produces_inputs(producer->op_arg->optype)) {
        ln_onnx_op_reject(n, "the ONNX node has no output for tensor '%.256s'", tensor);
        return "";
    }
    ln_onnx_op named = *n;
    named.label = tensor;
    const int is_output = ln_context_is_output(n->level->ctx, tensor);
    const char *const name = is_output ? ln_onnx_put_name(&named, "const") : name_value(n, tensor);
    const char *const value = add_constant(n, producer, tensor, name);
    ln_onnx_level_set(n->writer, n->level, tensor, value);
    return value;
}

const char *ln_onnx_op_optional(ln_onnx_op *n, const char *arg)
{
    const char *const tensor = ln_op_input_name(n->op, arg);
    return tensor ? ln_onnx_op_value(n, tensor) : NULL;
}

const char *ln_onnx_op_in(ln_onnx_op *n, const char *arg)
{
    const char *const value = ln_onnx_op_optional(n, arg);
    if (!value)
        ln_onnx_op_reject(n, "input '%s' is missing", arg);
    return value ? value : "";
}

// Whether `name` is that of a variadic argument `arg`: "src0", "src1", .. for "src".
static int is_variadic(const char *name, const char *arg)
{
    const size_t len = strlen(arg);
    return !strncmp(name, arg, len) && name[len] && !name[len + strspn(name + len, "0123456789")];
}

const char *ln_onnx_op_arg_at(const ln_list *tensors, const char *arg, int i)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, tensors)
        if (is_variadic(tle->arg_name, arg) && i-- == 0)
            return tle->arg_name;
    return "";
}

const char *ln_onnx_op_in_at(ln_onnx_op *n, const char *arg, int i)
{
    return ln_onnx_op_in(n, ln_onnx_op_arg_at(n->op->op_arg->tensors_in, arg, i));
}

static int count(const ln_list *list, const char *arg)
{
    int n = 0;
    LN_FOREACH (const ln_tensor_list_entry *, tle, list)
        n += is_variadic(tle->arg_name, arg);
    return n;
}

int ln_onnx_op_axis(const ln_onnx_op *n)
{
    return ln_op_axis(n->op, ln_onnx_op_tensor(n, "src")->ndim);
}

int ln_onnx_op_num_in(const ln_onnx_op *n, const char *arg)
{
    return count(n->op->op_arg->tensors_in, arg);
}

int ln_onnx_op_num_out(const ln_onnx_op *n, const char *arg)
{
    return count(n->op->op_arg->tensors_out, arg);
}

const char *ln_onnx_op_out(ln_onnx_op *n, const char *arg)
{
    const char *const tensor = ln_op_output_name(n->op, arg);
    if (!tensor || ln_onnx_op_failed(n))
        return "";
    const char *const known = ln_hash_find(n->level->values, tensor);
    if (known)
        return known;
    const char *const name = name_value(n, tensor);
    ln_onnx_level_set(n->writer, n->level, tensor, name);
    return name;
}

const char *ln_onnx_op_out_at(ln_onnx_op *n, const char *arg, int i)
{
    return ln_onnx_op_out(n, ln_onnx_op_arg_at(n->op->op_arg->tensors_out, arg, i));
}

const tl_tensor *ln_onnx_op_tensor(const ln_onnx_op *n, const char *arg)
{
    static const tl_tensor none = {.dtype = TL_FLOAT, .len = 1};
    const ln_tensor_entry *const te = ln_op_find_tensor_entry(n->op, arg);
    return te ? te->tensor : &none;
}

int ln_onnx_op_is_dynamic(const ln_onnx_op *n, const char *arg)
{
    const ln_tensor_entry *const te = ln_op_find_tensor_entry(n->op, arg);
    return te && te->isdynamic;
}

// The tensor whose memory a tensor of the context shares; itself if it has its own.
static const ln_tensor_entry *root_of(const ln_context *ctx, const char *tensor)
{
    const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, tensor);
    while (te && te->owner)
        te = ln_tensor_table_find(ctx->tensor_table, te->owner);
    return te;
}

// Whether `op` reads an alias of `te` that was written before operator n->op.
static int reads_alias(const ln_onnx_op *n, const ln_op *op, const ln_tensor_entry *te)
{
    const ln_context *const ctx = n->level->ctx;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in) {
        const char *const value = ln_hash_find(n->level->values, tle->name);
        if (strcmp(tle->name, te->name) != 0 && value &&
            root_of(ctx, tle->name) == root_of(ctx, te->name) &&
            ln_context_creater(ctx, tle->name) != n->op)
            return 1;
    }
    return 0;
}

void ln_onnx_op_overwrites(ln_onnx_op *n, const char *arg, const char *dst)
{
    const ln_tensor_entry *const te = ln_op_find_tensor_entry(n->op, arg);
    const ln_context *const ctx = n->level->ctx;
    const ln_list *later = ctx->ops;
    while (later && later->data != n->op)
        later = later->next;
    for (later = later ? later->next : NULL; te && later; later = later->next)
        if (reads_alias(n, later->data, te))
            ln_onnx_op_reject(n, "it overwrites '%.256s', which is read by another name", te->name);
    LN_FOREACH (const char *, name, ctx->outputs)
        if (te && ln_context_creater(ctx, name) != n->op && ln_hash_find(n->level->values, name) &&
            root_of(ctx, name) == root_of(ctx, te->name))
            ln_onnx_op_reject(n, "it overwrites output '%.256s'", name);
    if (te)
        ln_onnx_level_set(n->writer, n->level, te->name, ln_onnx_op_out(n, dst));
}

const char *ln_onnx_op_indices(ln_onnx_op *n, const char *arg)
{
    const char *const value = ln_onnx_op_in(n, arg);
    return ln_onnx_op_tensor(n, arg)->dtype == TL_INT64 ? value
                                                        : ln_onnx_put_cast(n, value, TL_INT64);
}

// Forms

// The value of a node's input that is an input of the operator, cast if the form requires it.
static const char *form_input(ln_onnx_op *n, const ln_form_item *item)
{
    const char *const value =
        item->is_required ? ln_onnx_op_in(n, item->arg) : ln_onnx_op_optional(n, item->arg);
    if (!value || !item->is_cast || ln_onnx_op_tensor(n, item->arg)->dtype == item->dtype)
        return value;
    return ln_onnx_put_cast(n, value, item->dtype);
}

// The value of a node's input that is a parameter of the operator; or the input that replaces it.
static const char *form_param(ln_onnx_op *n, const ln_form_item *item)
{
    int len;
    const char *const run_time = item->text ? ln_onnx_op_optional(n, item->text) : NULL;
    if (run_time)
        return ln_onnx_op_indices(n, item->text);
    if (item->kind == LN_ITEM_INTS) {
        const int *const ints = ln_op_ints(n->op, item->arg, &len);
        return ln_onnx_put_ints(n, len, ints);
    }
    return ln_onnx_put_scalar(n, TL_INT64, ln_op_int(n->op, item->arg));
}

// NULL: the operator has no form in ONNX.
static const ln_form *find_form(const ln_op *op)
{
    const ln_form *form = ln_onnx_forms;
    while (form->optype && !ln_form_is_of(form, op))
        form++;
    return form->optype ? form : NULL;
}

// Whether the form has an item of that name.
static int has_item(const ln_form *form, const char *name)
{
    const ln_form_item *item = form->items;
    while (item->kind && strcmp(item->name ? item->name : item->arg, name) != 0)
        item++;
    return item->kind != LN_ITEM_END;
}

int ln_onnx_has_form(const ln_op *op)
{
    return find_form(op) != NULL;
}

void ln_onnx_write_form(ln_onnx_op *n, const ln_part *own)
{
    enum { MAX_PARTS = 24, MAX_OUTS = 4 };
    const ln_form *const form = find_form(n->op);
    const char *outs[MAX_OUTS] = {""};
    ln_part parts[MAX_PARTS] = {{LN_PART_END}};
    int len = 0, n_outs = 0, since = 0;
    if (!form) {
        ln_onnx_op_reject(n, "%s", "");
        return;
    }
    for (const ln_form_item *item = form->items; item->kind; item++) {
        const ln_part *const replaced = ln_form_find_part(own, item->name ? item->name : item->arg);
        if (item->kind == LN_ITEM_OUT)
            outs[n_outs++] = ln_onnx_op_out(n, item->arg);
        else if (replaced)
            parts[len++] = *replaced;
        else if (item->kind == LN_ITEM_IN)
            parts[len++] = LN_ONNX_SRC(form_input(n, item));
        else if (ln_form_is_input(item))
            parts[len++] = LN_ONNX_SRC(form_param(n, item));
        else
            parts[len++] = ln_form_write(n->op, item, &since);
    }
    ln_onnx_op_since(n, form->since > since ? form->since : since);
    for (; own && own->kind != LN_PART_END; own++)
        if (own->name && !has_item(form, own->name))
            parts[len++] = *own;
    ln_onnx_put_parts_outs(n, n_outs, outs, form->type, parts);
}
