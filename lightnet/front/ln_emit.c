// SPDX-License-Identifier: Apache-2.0
// Emitting LightNet operators.

#include "front/ln_emit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_list_end.h"
#include "front/ln_element.h"
#include "ir/ln_bind.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "ir/ln_limits.h"
#include "ir/ln_origin.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_arch.h"
#include "tensorlight/tl_type.h"

// Longer names are truncated, to leave room for a number.
enum { LONGEST_NAME = LN_MAX_NAME_LEN - 32 };

// The translation

void ln_translation_fail_as(ln_translation *t, ln_status status, const char *fmt, ...)
{
    va_list args;
    if (t->failed)
        return;
    t->failed = 1;
    va_start(args, fmt);
    ln_error_vset_as(t->ctx->error, status, fmt, args); // unless the context has one
    va_end(args);
    ln_fail_at(t->ctx, "%s", t->file);
}

void ln_translation_fail_memory(ln_translation *t)
{
    ln_translation_fail_as(t, LN_OUT_OF_MEMORY, LN_MEMORY_REASON);
}

void ln_translation_check(ln_translation *t)
{
    if (t->failed || !ln_limits_check(t->ctx))
        return;
    t->failed = 1;
    ln_fail_at(t->ctx, "%s", t->file);
}

void ln_translation_try_again(ln_translation *t)
{
    t->failed = 0;
    t->culprit = (ln_missing_op){0};
    ln_context_clear_error(t->ctx);
    ln_bind_drop_wish(t->ctx);
}

void ln_translation_clear(ln_translation *t)
{
    if (t->failed && t->culprit.reason)
        ln_bind_report_missing(t->ctx, &t->culprit);
    ln_list_free_deep(t->memory, ln_free);
    t->memory = NULL;
}

void *ln_translation_alloc(ln_translation *t, size_t size)
{
    void *data = t->failed ? NULL : ln_alloc(size);
    if (!ln_list_push(&t->memory, data, ln_free))
        return data;
    return ln_translation_fail_memory(t), NULL;
}

void *ln_translation_grow(ln_translation *t, void *array, size_t len, size_t size)
{
    if (len & (len - 1))
        return t->failed ? NULL : array;
    void *larger = ln_translation_alloc(t, (len ? 2 * len : 1) * size);
    return larger && len ? memcpy(larger, array, len * size) : larger;
}

char *ln_translation_print(ln_translation *t, const char *fmt, ...)
{
    char text[LN_MAXLINE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    char *copy = ln_translation_alloc(t, strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

int ln_name_stem(const char *name)
{
    size_t len = strnlen(name, LN_NAME_STEM + 1);
    if (len <= LN_NAME_STEM)
        return (int)len;
    for (len = LN_NAME_STEM; len && ((unsigned char)name[len] & 0xc0) == 0x80;)
        len--; // to the first byte of a character
    return (int)len;
}

const char *ln_translation_name(ln_translation *t, const char *wanted)
{
    char name[LN_MAX_NAME_LEN];
    if (t->failed)
        return NULL;
    if (!*wanted || strlen(wanted) > LONGEST_NAME ||
        ln_tensor_table_find(t->ctx->tensor_table, wanted)) {
        char base[LN_NAME_STEM + 1];
        snprintf(base, sizeof(base), "%.*s", ln_name_stem(wanted), wanted);
        if (!*base)
            strcpy(base, "tensor");
        if (ln_context_unique_name(t->ctx, name, base)) {
            t->failed = 1;
            return NULL;
        }
        wanted = name;
    }
    return ln_translation_print(t, "%s", wanted);
}

// Sources

// An operator is named after its tensor, where that is free. NULL after a failure.
static const char *name_of_source(ln_translation *t, const char *tname, char *buf)
{
    if (t->failed || !ln_op_table_find(t->ctx->op_table, tname))
        return t->failed ? NULL : tname;
    return ln_context_unique_name(t->ctx, buf, "source") ? NULL : buf;
}

// Takes the operator; NULL: a failure.
static const char *add_source(ln_translation *t, const char *tname, ln_op *op)
{
    ln_list *end = NULL;
    if (!op || ln_context_add_op(t->ctx, &end, op))
        ln_translation_fail(t, "tensor '%s' cannot be created", tname);
    return t->failed ? NULL : tname;
}

const char *ln_translation_source(ln_translation *t, const char *name, const tl_tensor *like,
                                  int from_file)
{
    char buf[LN_MAX_NAME_LEN];
    const char *own = name_of_source(t, name, buf);
    return add_source(
        t, name, own ? ln_source_create(t->ctx, LN_OP_SOURCE, own, name, like, from_file) : NULL);
}

const char *ln_translation_placeholder(ln_translation *t, const char *name, const tl_tensor *like,
                                       const int *min, const char *const *sizes)
{
    char buf[LN_MAX_NAME_LEN];
    const char *own = name_of_source(t, name, buf);
    return add_source(t, name,
                      own ? ln_placeholder_create(t->ctx, own, name, like, min, sizes) : NULL);
}

const char *ln_translation_weight(ln_translation *t, tl_tensor *tensor, const ln_infile *file,
                                  size_t offset, const char *wanted)
{
    const char *name = ln_translation_name(t, wanted);
    if (name && !ln_weights_add_from(t->ctx->weights, name, tensor, file, offset))
        return ln_translation_source(t, name, tensor, 1);
    tl_tensor_free_data_too(tensor);
    ln_translation_fail_as(t, LN_OUT_OF_MEMORY, "out of memory for tensor '%s'", wanted);
    return NULL;
}

void *ln_translation_fill(ln_translation *t, const ln_op *op, const tl_tensor *like)
{
    const ln_param_entry *const data = ln_op_param(op, "data");
    const size_t size = tl_size_of(like->dtype);
    char *const elements = ln_translation_alloc(t, tl_tensor_size(like) + 1);
    const int len = data ? data->array_len : 0;
    const double zero = 0;
    for (int i = 0; i < like->len && elements; i++)
        tl_convert(elements + (size_t)i * size, like->dtype,
                   len ? data->value_array_double + (len > 1 ? i : 0) : &zero, TL_DOUBLE);
    return elements;
}

// Inputs and outputs of the model

void ln_translation_input(ln_translation *t, const char *name)
{
    if (!t->failed && ln_context_push_input(t->ctx, name))
        ln_translation_fail_memory(t);
}

void ln_translation_output(ln_translation *t, const char *name)
{
    if (!t->failed && ln_context_push_output(t->ctx, name))
        ln_translation_fail_memory(t);
}

int ln_translation_can_output(const ln_translation *t, const char *tensor, const char *name)
{
    const ln_op *producer = ln_context_creater(t->ctx, tensor);
    return ln_streq(tensor, name) && producer->op_arg->tensors_in;
}

const tl_tensor *ln_translation_tensor(const ln_translation *t, const char *tensor)
{
    static int ones[LN_MAXDIM] = {1, 1, 1, 1, 1, 1, 1, 1};
    static const tl_tensor harmless = {.ndim = 0, .dims = ones, .len = 1, .dtype = TL_FLOAT};
    const ln_tensor_entry *te =
        tensor && !t->failed ? ln_tensor_table_find(t->ctx->tensor_table, tensor) : NULL;
    return te ? te->tensor : &harmless;
}

// Failing

// Whether the node itself failed, not for lack of memory, a limit, or, unless the caller offers
// another way to read the model, a missing input value.
static int is_of_node(const ln_context *ctx)
{
    const ln_status status = ln_error_status(ctx->error);
    const int has_offer =
        ln_bind_has_offer(ctx, LN_OFFERS_VALUES) || ln_bind_has_offer(ctx, LN_OFFERS_SIZES);
    return (status == LN_OK || status == LN_BAD_MODEL || status == LN_UNSUPPORTED) &&
           (has_offer || !ln_bind_wants_values(ctx));
}

static void note_culprit(const ln_emit *e)
{
    ln_translation *const t = e->translation;
    const char *const own = e->front->name(e), *const output = e->front->output(e, 0);
    ln_missing_op op = {.domain = "",
                        .optype = e->front->type(e),
                        .count = 1,
                        .first = *own || !output ? own : output};
    if (!is_of_node(t->ctx))
        return;
    if (e->front->describe)
        e->front->describe(e, &op);
    op.reason = ln_translation_print(t, "%s", ln_error_text(t->ctx->error));
    t->culprit = op;
}

// Prepends the location to the reason in the context.
static void add_place(ln_emit *e)
{
    char place[LN_MAXLINE];
    note_culprit(e);
    e->translation->failed = 1;
    e->front->place(e, place, sizeof(place));
    ln_fail_at(e->translation->ctx, "%s: %s", e->translation->file, place);
}

void ln_emit_fail_as(ln_emit *e, ln_status status, const char *fmt, ...)
{
    va_list args;
    if (e->translation->failed)
        return;
    va_start(args, fmt);
    ln_error_vset_as(e->translation->ctx->error, status, fmt, args);
    va_end(args);
    add_place(e);
}

void ln_emit_fail_memory(ln_emit *e)
{
    ln_emit_fail_as(e, LN_OUT_OF_MEMORY, LN_MEMORY_REASON);
}

void ln_emit_warn(ln_emit *e, const char *fmt, ...)
{
    char place[LN_MAXLINE], text[LN_MAXLINE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    e->front->place(e, place, sizeof(place));
    ln_warn(e->translation->ctx, "%s: %s: %s", e->translation->file, place, text);
}

// The parts of an operator

static void drop_parts(ln_emit *e)
{
    ln_tensor_list_free(e->ins);
    ln_tensor_list_free(e->outs);
    ln_param_list_free(e->params);
    e->ins = e->outs = e->params = NULL;
    e->last_in = e->last_out = NULL;
    e->optype = NULL;
}

void ln_emit_begin(ln_emit *e, const char *optype)
{
    drop_parts(e);
    e->optype = optype;
    if (!optype) {
        ln_origin_free(e->origin);
        e->origin = NULL;
    }
}

// Appends a tensor to the operator's inputs, or outputs.
static void add_tensor(ln_emit *e, ln_list **list, ln_list **end, const char *arg, const char *name)
{
    ln_list *more = ln_tensor_list_append(NULL, arg, name);
    if (more)
        ln_list_extend(list, end, more);
    else
        ln_emit_fail_memory(e);
}

void ln_emit_arg(ln_emit *e, const char *arg, const char *tensor)
{
    if (tensor && !e->translation->failed)
        add_tensor(e, &e->ins, &e->last_in, arg, tensor);
}

void ln_emit_arg_at(ln_emit *e, const char *arg, int i, const char *tensor)
{
    char name[LN_MAX_NAME_LEN];
    snprintf(name, sizeof(name), "%s%d", arg, i);
    ln_emit_arg(e, name, tensor);
}

// Its parameters: `params` with one more at the end, NULL: no memory

static ln_list *with_bools(ln_emit *e, const ln_part *p)
{
    ln_bool *bools = ln_translation_alloc(e->translation, ((size_t)p->len + 1) * sizeof(*bools));
    for (int i = 0; bools && i < p->len; i++)
        bools[i] = p->ints[i] ? LN_TRUE : LN_FALSE;
    return bools ? ln_param_list_append_array_bool(e->params, p->name, p->len, bools) : NULL;
}

static ln_list *with_param(ln_emit *e, const ln_part *p)
{
    ln_list *const all = e->params;
    switch (p->kind) {
    case LN_PART_INT:
        return ln_param_list_append_number(all, p->name, (double)p->integer);
    case LN_PART_NUMBER:
        return ln_param_list_append_number(all, p->name, p->number);
    case LN_PART_BOOL:
        return ln_param_list_append_bool(all, p->name, p->integer ? LN_TRUE : LN_FALSE);
    case LN_PART_TEXT:
        return ln_param_list_append_string(all, p->name, p->text);
    case LN_PART_DTYPE:
        return ln_param_list_append_string(all, p->name, tl_dtype_name((tl_dtype)p->integer));
    case LN_PART_INTS:
        return ln_param_list_append_array_int(all, p->name, p->len, p->ints);
    case LN_PART_NUMBERS:
        return ln_param_list_append_array_double(all, p->name, p->len, p->numbers);
    case LN_PART_TEXTS:
        return ln_param_list_append_array_string(all, p->name, p->len, p->texts);
    default:
        return with_bools(e, p);
    }
}

void ln_emit_set(ln_emit *e, ln_part part)
{
    if (part.kind == LN_PART_NONE || e->translation->failed)
        return;
    if (part.kind == LN_PART_ARG && part.len) {
        ln_emit_arg_at(e, part.name, part.len - 1, part.text);
    } else if (part.kind == LN_PART_ARG) {
        ln_emit_arg(e, part.name, part.text);
    } else if (part.kind == LN_PART_ARGS) {
        for (int i = 0; i < part.len; i++)
            ln_emit_arg_at(e, part.name, i, part.texts[i]);
    } else {
        ln_list *const longer = with_param(e, &part);
        if (!longer)
            ln_emit_fail_memory(e);
        e->params = longer ? longer : e->params;
    }
}

// Outputs and names

static const char *wanted_output(const ln_emit *e, int i)
{
    return i >= 0 ? e->front->output(e, i) : NULL;
}

static void report_output(ln_emit *e, int i, const char *tensor)
{
    if (wanted_output(e, i))
        e->front->made(e, i, tensor);
}

static int op_name(ln_emit *e, char name[LN_MAX_NAME_LEN])
{
    const ln_context *ctx = e->translation->ctx;
    const char *own = e->front->name(e), *like = *own ? own : e->front->type(e);
    char base[LN_NAME_STEM + 1];
    if (*own && strlen(own) <= LONGEST_NAME && !ln_op_table_find(ctx->op_table, own)) {
        strcpy(name, own);
        return 0;
    }
    snprintf(base, sizeof(base), "%.*s", ln_name_stem(like), like);
    return ln_context_unique_name(ctx, name, base);
}

// The base of names of tensors that are no outputs of the node.
static const char *label(const ln_emit *e)
{
    const char *own = e->front->name(e), *first = e->front->output(e, 0);
    return *own || !first ? own : first;
}

// A name like `wanted` for a step, which is not reserved.
static const char *step_name(ln_translation *t, const char *wanted)
{
    char longer[LN_MAX_NAME_LEN];
    const char *name = ln_translation_name(t, wanted);
    while (name && t->reserved && ln_hash_find(t->reserved, name)) {
        snprintf(longer, sizeof(longer), "%.*s_", LN_MAX_NAME_LEN - 2, name);
        name = ln_translation_name(t, longer);
    }
    return name;
}

const char *ln_emit_out(ln_emit *e, const char *arg, int i)
{
    if (e->translation->failed)
        return NULL;
    const char *wanted = wanted_output(e, i);
    char temp[LN_MAX_NAME_LEN];
    snprintf(temp, sizeof(temp), "%.*s_%s", ln_name_stem(label(e)), label(e), arg);
    const char *name =
        wanted ? ln_translation_name(e->translation, wanted) : step_name(e->translation, temp);
    if (!name)
        return NULL;
    add_tensor(e, &e->outs, &e->last_out, arg, name);
    report_output(e, i, name);
    return name;
}

// Operators

// The model's node, which all operators of this translation come from; NULL after a failure.
static ln_origin *origin_of(ln_emit *e)
{
    if (!e->origin)
        e->origin = ln_origin_create(e->translation->ctx, label(e), e->front->type(e));
    return e->origin;
}

static void add_op(ln_emit *e)
{
    char name[LN_MAX_NAME_LEN];
    ln_context *ctx = e->translation->ctx;
    const ln_op *proto = ln_hash_find(LN_ARCH.op_proto_table, e->optype);
    if (!proto) {
        ln_emit_fail(e, "unknown operator '%s'", e->optype);
        return;
    }
    ln_op *op = op_name(e, name) ? NULL
                                 : ln_op_create_from_proto(proto, name, e->ins, e->outs, e->params,
                                                           ctx->tensor_table);
    if (!op || !origin_of(e)) {
        ln_op_free(op);
        ln_emit_fail_memory(e);
        return;
    }
    ln_origin_give(op, e->origin);
    e->ins = e->outs = e->params = NULL;
    e->last_in = e->last_out = NULL;
    ln_list *end = NULL;
    if (!ln_context_add_op(ctx, &end, op)) {
        if (e->front->added)
            e->front->added(e, op);
        return;
    }
    add_place(e);
    if (end) // the translation may be retried
        ln_context_remove_op(ctx, &end);
}

const char *ln_emit_end(ln_emit *e, const char *arg, int i)
{
    const char *name = ln_emit_out(e, arg, i);
    if (!e->translation->failed)
        add_op(e);
    drop_parts(e);
    return e->translation->failed ? NULL : name;
}

void ln_emit_begin_parts(ln_emit *e, const char *optype, const ln_part *parts)
{
    ln_emit_begin(e, optype);
    for (; parts->kind != LN_PART_END; parts++)
        ln_emit_set(e, *parts);
}

const char *ln_emit_parts(ln_emit *e, int i, const char *optype, const ln_part *parts)
{
    ln_emit_begin_parts(e, optype, parts);
    return ln_emit_end(e, "dst", i);
}

// Constants

static const char *add_constant(ln_emit *e, tl_tensor *tensor, int i)
{
    const char *own = wanted_output(e, i), *first = e->front->output(e, 0);
    char step[LN_MAX_NAME_LEN];
    snprintf(step, sizeof(step), "%.*s_const", first ? ln_name_stem(first) : 0, first);
    const char *name = own ? own : step_name(e->translation, step);
    if (!tensor || !name) {
        tl_tensor_free_data_too(tensor);
        return ln_emit_fail_memory(e), NULL;
    }
    ln_limits_take(e->translation->ctx, tl_tensor_size(tensor));
    name = ln_translation_weight(e->translation, tensor, NULL, 0, name);
    if (name)
        report_output(e, i, name);
    return name;
}

static int is_too_large(const ln_emit *e, size_t len, size_t size)
{
    const uint64_t max = ln_limits_max(e->translation->ctx, LN_LIMIT_FOLD_MEMORY);
    return max && len > max / size;
}

int ln_emit_allows(ln_emit *e, size_t len, size_t size)
{
    if (e->translation->failed)
        return 0;
    if (is_too_large(e, len, size))
        ln_emit_fail_as(e, LN_LIMIT_REACHED,
                        "%zu elements of %zu bytes exceed the limit of %" PRIu64
                        " bytes for a constant",
                        len, size, ln_limits_max(e->translation->ctx, LN_LIMIT_FOLD_MEMORY));
    else if (ln_limits_forbid(e->translation->ctx, len * size))
        ln_emit_fail_as(e, LN_LIMIT_REACHED,
                        "%zu elements of %zu bytes exceed the limit of %zu bytes of memory", len,
                        size, ln_limits_memory(e->translation->ctx));
    return !e->translation->failed;
}

// Calls ln_emit_allows for such a tensor; -1 after a failure, also of its shape.
static int check_constant(ln_emit *e, tl_dtype dtype, int ndim, const int *dims)
{
    const int len = tl_compute_length(ndim, dims);
    if (len < 0)
        ln_emit_fail(e, "%s", tl_last_error());
    return len >= 0 && ln_emit_allows(e, (size_t)len, tl_size_of(dtype)) ? 0 : -1;
}

const char *ln_emit_constant(ln_emit *e, tl_dtype dtype, int ndim, const int *dims,
                             const void *data)
{
    if (e->translation->failed || check_constant(e, dtype, ndim, dims))
        return NULL;
    tl_tensor *tensor = tl_tensor_zeros(ndim, dims, dtype);
    if (tensor && tensor->len)
        memcpy(tensor->data, data, tl_tensor_size(tensor));
    return add_constant(e, tensor, LN_EMIT_TEMP);
}

const char *ln_emit_text(ln_emit *e, const char *text)
{
    if (e->translation->failed)
        return NULL;
    tl_tensor *tensor = tl_tensor_create(NULL, 0, NULL, TL_STRING);
    if (tensor)
        tensor->data = tl_strings_from_text(&text, 1);
    if (tensor && !tensor->data) {
        tl_tensor_free(tensor);
        tensor = NULL;
    }
    return add_constant(e, tensor, LN_EMIT_TEMP);
}

const char *ln_emit_scalar(ln_emit *e, tl_dtype dtype, double value)
{
    char data[TL_DTYPE_MAX_SIZE];
    ln_element_write(data, dtype, value);
    return ln_emit_constant(e, dtype, 0, NULL, data);
}

const char *ln_emit_int64s(ln_emit *e, int len, const int64_t *values)
{
    return ln_emit_constant(e, TL_INT64, 1, &len, values);
}

const char *ln_emit_full(ln_emit *e, tl_dtype dtype, int ndim, const int *dims, double value, int i)
{
    const int len = e->translation->failed ? 0 : tl_compute_length(ndim, dims);
    // Expands a scalar when the model is loaded.
    if (len > 0 && is_too_large(e, (size_t)len, tl_size_of(dtype)))
        return ln_emit_expand(e, ln_emit_scalar(e, dtype, value), ndim, dims, i);
    if (e->translation->failed || check_constant(e, dtype, ndim, dims))
        return NULL;
    tl_tensor *tensor = tl_tensor_zeros(ndim, dims, dtype);
    const size_t size = tl_size_of(dtype);
    for (int k = 0; tensor && k < tensor->len; k++)
        ln_element_write((char *)tensor->data + (size_t)k * size, dtype, value);
    return add_constant(e, tensor, i);
}

const char *ln_emit_filled(ln_emit *e, tl_dtype dtype, int ndim, const int *dims, double value)
{
    return ln_emit_full(e, dtype, ndim, dims, value, LN_EMIT_TEMP);
}

// Compositions

const char *ln_emit_simple(ln_emit *e, const char *optype, const char *src, int i)
{
    return LN_EMIT(e, i, optype, LN_ARG("src", src));
}

static const char *emit_view(ln_emit *e, const char *optype, const char *src, int ndim,
                             const int *dims, int i)
{
    return LN_EMIT(e, i, optype, LN_ARG("src", src), LN_INTS("dims", ndim, dims));
}

const char *ln_emit_view(ln_emit *e, const char *src, int ndim, const int *dims, int i)
{
    return emit_view(e, LN_OP_VIEW, src, ndim, dims, i);
}

const char *ln_emit_expand(ln_emit *e, const char *src, int ndim, const int *dims, int i)
{
    return emit_view(e, LN_OP_EXPAND, src, ndim, dims, i);
}

int ln_emit_is_dynamic(const ln_emit *e, const char *tensor)
{
    const ln_tensor_entry *te =
        tensor ? ln_tensor_table_find(e->translation->ctx->tensor_table, tensor) : NULL;
    return te && te->isdynamic;
}

const char *ln_emit_reshape(ln_emit *e, const char *src, int ndim, const int *dims, int i)
{
    int is_plain = ndim > 0; // reshape supports it
    if (e->translation->failed)
        return NULL;
    for (int k = 0; k < ndim; k++)
        is_plain &= dims[k] > 0;
    if (is_plain && ln_emit_is_dynamic(e, src) && tl_compute_length(ndim, dims) != 1)
        ln_emit_fail(
            e, "tensor '%s' has a size that is known only at run time, expected a fixed one", src);
    return emit_view(e, is_plain ? LN_OP_RESHAPE : LN_OP_VIEW, src, ndim, dims, i);
}

const char *ln_emit_cast(ln_emit *e, const char *src, tl_dtype dtype, int i)
{
    if (ln_translation_tensor(e->translation, src)->dtype == dtype) {
        report_output(e, i, src);
        return src;
    }
    return LN_EMIT(e, i, LN_OP_CAST, LN_ARG("src", src), LN_DTYPE("dtype", dtype));
}

const char *ln_emit_unary(ln_emit *e, const char *func, const char *src, int i)
{
    return LN_EMIT(e, i, LN_OP_UNARY, LN_ARG("src", src), LN_TEXT("func", func));
}

const char *ln_emit_unary_with(ln_emit *e, const char *func, const char *src, double alpha,
                               double beta, int i)
{
    return LN_EMIT(e, i, LN_OP_UNARY, LN_ARG("src", src), LN_TEXT("func", func),
                   LN_NUMBER("alpha", alpha), LN_NUMBER("beta", beta));
}

const char *ln_emit_binary(ln_emit *e, const char *op, const char *src1, const char *src2, int i)
{
    return LN_EMIT(e, i, LN_OP_BINARY, LN_ARG("src1", src1), LN_ARG("src2", src2),
                   LN_TEXT("op", op));
}

const char *ln_emit_compare(ln_emit *e, const char *op, const char *src1, const char *src2)
{
    return LN_EMIT(e, LN_EMIT_TEMP, LN_OP_COMPARE, LN_ARG("src1", src1), LN_ARG("src2", src2),
                   LN_TEXT("op", op));
}

const char *ln_emit_where(ln_emit *e, const char *cond, const char *src1, const char *src2, int i)
{
    return LN_EMIT(e, i, LN_OP_WHERE, LN_ARG("cond", cond), LN_ARG("src1", src1),
                   LN_ARG("src2", src2));
}

const char *ln_emit_reduce(ln_emit *e, const char *op, const char *src, int n_axes, const int *axes,
                           int keeps, int i)
{
    return LN_EMIT(e, i, LN_OP_REDUCE, LN_ARG("src", src), LN_TEXT("op", op),
                   LN_INTS("axes", n_axes, axes), LN_BOOL("keepdims", keeps));
}

const char *ln_emit_transpose(ln_emit *e, const char *src, const int *axes, int i)
{
    return LN_EMIT(e, i, LN_OP_TRANSPOSE, LN_ARG("src", src),
                   LN_INTS("axes", ln_translation_tensor(e->translation, src)->ndim, axes));
}
