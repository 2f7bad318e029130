// SPDX-License-Identifier: Apache-2.0
// The view of an operator for its writer: tensors, constants, parameters.

#include "front/nnvm/write/ln_nnvm_write.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"

// Failing

void ln_nnvm_op_fail(ln_nnvm_op *n, const char *fmt, ...)
{
    char reason[LN_MAXLINE - 512];
    va_list ap;
    if (ln_nnvm_op_failed(n))
        return;
    va_start(ap, fmt);
    vsnprintf(reason, sizeof(reason), fmt, ap);
    va_end(ap);
    ln_translation_fail(&n->draft->base, "operator '%.256s' (%.64s): %s", n->op->op_arg->name,
                        n->op->op_arg->optype, reason);
}

// Values

static const tl_tensor *record_of(const ln_nnvm_writer *w, const char *tensor)
{
    return ln_translation_tensor(&w->draft.base, tensor);
}

static ln_nnvm_value value_like(ln_nnvm_entry entry, const tl_tensor *t)
{
    return ln_nnvm_shaped((ln_nnvm_value){.entry = entry, .dtype = t->dtype}, t->ndim, t->dims);
}

static void keep_value(ln_nnvm_writer *w, const char *tensor, ln_nnvm_value v)
{
    ln_nnvm_value *own = ln_translation_alloc(&w->draft.base, sizeof(*own));
    if (!own)
        return;
    *own = v;
    if (ln_hash_insert(w->values, tensor, own) < 0)
        ln_translation_fail_memory(&w->draft.base);
}

// The value with the type and shape that the tensor has.
static ln_nnvm_value as_tensor(ln_nnvm_op *n, ln_nnvm_value v, const char *tensor)
{
    const tl_tensor *const t = record_of(n->writer, tensor);
    return ln_put_reshape(n, ln_put_cast(n, v, t->dtype), t->ndim, t->dims);
}

// Names a node after its output. A producer of an operator without nodes keeps its name, unless
// that operator is its only reader.
static void name_node(ln_nnvm_op *n, const char *tensor, ln_nnvm_value v)
{
    ln_nnvm_draft *const d = n->draft;
    const char *const old = ln_nnvm_draft_name(d, v.entry);
    const int is_own = v.entry.node >= n->first_node;
    const char *const op = ln_nnvm_draft_op(d, v.entry);
    if (v.entry.index || !strcmp(op, "null") || !strcmp(op, "full") || ln_nnvm_op_failed(n))
        return; // constants keep their names
    if (n->keeps_name)
        return;
    if (is_own || (ln_tensor_table_find(d->base.ctx->tensor_table, old) &&
                   ln_context_num_uses(d->base.ctx, old) == 1))
        ln_nnvm_draft_rename(d, v.entry, tensor);
}

void ln_nnvm_op_set_out(ln_nnvm_op *n, const char *tensor, ln_nnvm_value value)
{
    if (ln_nnvm_op_failed(n))
        return;
    if (ln_context_is_output(n->draft->base.ctx, tensor))
        value = as_tensor(n, value, tensor);
    name_node(n, tensor, value);
    keep_value(n->writer, tensor, value);
}

// Variables and constants

// Whether a source or a create fills all elements with one number, without a file.
static int fills_with_one(const ln_op *op, double *number)
{
    const ln_param_entry *data = ln_op_param(op, "data");
    const int len = data ? data->array_len : 0;
    *number = len ? data->value_array_double[0] : 0;
    return len <= 1;
}

// The elements that a source or a create fills without a file; NULL after a failure.
static const tl_tensor *filled(ln_nnvm_writer *w, const ln_op *op, const char *tensor)
{
    const tl_tensor *const like = record_of(w, tensor);
    tl_tensor *const t = ln_translation_alloc(&w->draft.base, sizeof(*t));
    if (!t)
        return NULL;
    *t = *like;
    t->data = ln_translation_fill(&w->draft.base, op, like);
    return t->data ? t : NULL;
}

// NULL: missing, or after a failure.
static const tl_tensor *data_of(ln_nnvm_writer *w, const ln_weight *weight)
{
    const ln_context *const ctx = w->draft.base.ctx;
    const tl_tensor *const t = weight ? ln_weight_tensor(weight, ctx->error) : NULL;
    if (weight && !t)
        w->draft.base.failed = 1;
    return t;
}

const tl_tensor *ln_nnvm_own_constant(ln_nnvm_op *n, const char *tensor)
{
    ln_context *const ctx = n->draft->base.ctx;
    const ln_op *const producer = tensor ? ln_context_creater(ctx, tensor) : NULL;
    if (ln_nnvm_op_failed(n) || !producer || !ln_produces_inputs(producer->op_arg->optype) ||
        ln_hash_find(ctx->input_names, tensor) || ln_produces_random(producer))
        return NULL;
    if (ln_from_file_name(producer))
        return ln_weights_find(ctx->given, tensor)
                   ? NULL
                   : data_of(n->writer, ln_weights_find(ctx->weights, tensor));
    return filled(n->writer, producer, tensor);
}

// Whether all elements are the same number, which a double represents exactly.
static int is_uniform(const tl_tensor *t, double *value)
{
    char own[TL_DTYPE_MAX_SIZE], back[TL_DTYPE_MAX_SIZE];
    const size_t size = tl_size_of(t->dtype), all = tl_tensor_size(t);
    memcpy(own, t->data, size); // it may be unaligned
    tl_convert(value, TL_DOUBLE, own, t->dtype);
    tl_convert(back, t->dtype, value, TL_DOUBLE);
    return !memcmp(back, own, size) && !memcmp(t->data, (const char *)t->data + size, all - size);
}

int ln_nnvm_own_scalar(ln_nnvm_op *n, const char *tensor, double *value)
{
    const int len = record_of(n->writer, tensor)->len;
    const tl_tensor *const t = len == 1 ? ln_nnvm_own_constant(n, tensor) : NULL;
    return t && t->data && is_uniform(t, value);
}

static void fail_variable(ln_nnvm_writer *w, const char *tensor, const char *why)
{
    ln_translation_fail(&w->draft.base, "tensor '%.256s': %s", tensor, why);
}

// Whether a constant of the model itself has equal elements, `number`.
static int has_number(ln_nnvm_op *n, const ln_op *op, const char *tensor, double *number)
{
    if (!ln_from_file_name(op))
        return fills_with_one(op, number);
    const tl_tensor *const own = ln_nnvm_own_constant(n, tensor);
    return own && own->data && is_uniform(own, number);
}

// The parameter for a constant: scalars are vectors of one element, since NNVM's shape () is
// unknown; bools are bytes, as its files have no bools. NULL after a failure.
static tl_tensor *parameter_like(ln_nnvm_writer *w, const tl_tensor *like)
{
    static const int one = 1;
    tl_tensor *t = ln_translation_alloc(&w->draft.base, sizeof(*t));
    if (!t)
        return NULL;
    *t = *like;
    t->dtype = like->dtype == TL_BOOL ? TL_UINT8 : like->dtype;
    t->ndim = like->ndim ? like->ndim : 1;
    t->dims = like->ndim ? like->dims : (int *)&one;
    t->data = NULL;
    return t;
}

// Adds a parameter; `full` for a constant of equal elements, which needs no parameter file.
static ln_nnvm_value add_parameter(ln_nnvm_op *n, const ln_op *op, const char *tensor)
{
    ln_nnvm_writer *const w = n->writer;
    const tl_tensor *const like = record_of(w, tensor);
    const ln_nnvm_value none = {.dtype = like->dtype};
    double number;
    if (ln_produces_random(op))
        fail_variable(w, tensor, "random numbers, for which NNVM has no operator");
    if (!like->len)
        fail_variable(w, tensor, "0 elements, expected at least 1 in NNVM");
    tl_tensor *const t = parameter_like(w, like);
    if (!t)
        return none;
    if (has_number(n, op, tensor, &number))
        return ln_put_full(n, tensor, t->dtype, t->ndim, t->dims, number);
    const tl_tensor *const data = ln_from_file_name(op)
                                      ? data_of(w, ln_weights_of(w->draft.base.ctx, tensor))
                                      : filled(w, op, tensor);
    if (data)
        t->data = data->data;
    return value_like(
        ln_nnvm_draft_variable(&w->draft, LN_NNVM_PARAMETER, tensor, t, data ? t : NULL), t);
}

void ln_nnvm_writer_input(ln_nnvm_writer *w, const char *name)
{
    const tl_tensor *const t = record_of(w, name);
    if (!t->ndim || !t->len)
        fail_variable(w, name, "an input without dimensions or elements, expected at least 1 each");
    if (!w->draft.base.failed)
        keep_value(w, name,
                   value_like(ln_nnvm_draft_variable(&w->draft, LN_NNVM_INPUT, name, t, NULL), t));
}

// The operator's tensors

ln_nnvm_value ln_nnvm_op_tensor(ln_nnvm_op *n, const char *tensor)
{
    ln_nnvm_writer *const w = n->writer;
    const ln_nnvm_value none = {.dtype = TL_FLOAT};
    if (ln_nnvm_op_failed(n))
        return none;
    const ln_nnvm_value *known = ln_hash_find(w->values, tensor);
    if (known)
        return *known;
    const ln_op *const producer = ln_context_creater(w->draft.base.ctx, tensor);
    if (!producer || !ln_produces_inputs(producer->op_arg->optype)) {
        ln_nnvm_op_fail(n, "NNVM's operator lacks the output that is tensor '%.256s'", tensor);
        return none;
    }
    const ln_nnvm_value v = add_parameter(n, producer, tensor);
    keep_value(w, tensor, v);
    return v;
}

ln_nnvm_value ln_nnvm_op_whole(ln_nnvm_op *n, const char *tensor)
{
    const ln_nnvm_value v = ln_nnvm_op_tensor(n, tensor);
    return ln_nnvm_op_failed(n) ? v : as_tensor(n, v, tensor);
}

ln_nnvm_value ln_nnvm_op_raw(ln_nnvm_op *n, const char *arg)
{
    const char *const tensor = ln_op_input_name(n->op, arg);
    if (!tensor)
        ln_nnvm_op_fail(n, "input '%s' is missing", arg);
    const ln_nnvm_value v = ln_nnvm_op_tensor(n, tensor);
    const tl_dtype dtype = record_of(n->writer, tensor)->dtype;
    return dtype == TL_BOOL ? v : ln_put_cast(n, v, dtype);
}

ln_nnvm_value ln_nnvm_op_in(ln_nnvm_op *n, const char *arg)
{
    const char *const tensor = ln_op_input_name(n->op, arg);
    return tensor ? ln_nnvm_op_whole(n, tensor) : ln_nnvm_op_raw(n, arg);
}

const tl_tensor *ln_nnvm_op_tensor_of(const ln_nnvm_op *n, const char *arg)
{
    const char *tensor = ln_op_input_name(n->op, arg);
    if (!tensor)
        tensor = ln_op_output_name(n->op, arg);
    return record_of(n->writer, tensor);
}

const ln_op *ln_nnvm_producer(const ln_nnvm_op *n, const char *tensor, const char *optype,
                              const char *param, const char *with)
{
    const ln_op *const op = tensor ? ln_context_creater(n->draft->base.ctx, tensor) : NULL;
    return ln_op_is(op, optype) && (!with || ln_op_has_string(op, param, with)) ? op : NULL;
}

ln_nnvm_value ln_put_from_image(ln_nnvm_op *n, ln_nnvm_value src)
{
    const tl_tensor *const dst = ln_nnvm_op_tensor_of(n, "dst");
    return ln_nnvm_op_failed(n) ? src : ln_put_reshape(n, src, dst->ndim, dst->dims);
}

// Windows

// Reads one number for each axis from index `at`; `deflt` for the rows that 1-D data lack.
static void read_axes(const ln_nnvm_op *n, const char *param, int at, int deflt, int axes,
                      int values[2])
{
    int len;
    const int *given = ln_op_ints(n->op, param, &len);
    for (int i = 0; i < 2; i++) {
        const int k = at + i - (2 - axes);
        values[i] = i < 2 - axes || k >= len ? deflt : given[k];
    }
}

// Only operators of images have parameter `autopad`; they have checked it.
static void read_padding(ln_nnvm_op *n, ln_nnvm_windows *w, int is_transposed)
{
    const int *const in = ln_nnvm_op_tensor_of(n, "src")->dims + 2;
    const int *const out = ln_nnvm_op_tensor_of(n, "dst")->dims + 2;
    const char *const mode = ln_op_string(n->op, "autopad");
    read_axes(n, "padding", 0, 0, w->axes, w->padding);
    read_axes(n, "padding", w->axes, 0, w->axes, w->padding + 2);
    if (*mode && is_transposed)
        ln_autopadding_deconv(w->padding, in, w->size, w->stride, w->output_padding, w->dilation,
                              out, 2, mode);
    else if (*mode)
        ln_autopadding_conv(w->padding, in, w->size, w->stride, w->dilation, 2, mode);
}

ln_nnvm_windows ln_nnvm_op_windows(ln_nnvm_op *n, int is_transposed)
{
    ln_nnvm_windows w = {.axes = ln_nnvm_op_tensor_of(n, "src")->ndim - 2};
    if (w.axes < 1 || w.axes > 2) {
        ln_nnvm_op_fail(n, "'src' has %d spatial axes, expected 1 or 2 for windows of NNVM's core",
                        w.axes);
        w.axes = 2;
    }
    read_axes(n, "size", 0, 1, w.axes, w.size);
    read_axes(n, "stride", 0, 1, w.axes, w.stride);
    read_axes(n, "dilation", 0, 1, w.axes, w.dilation);
    read_axes(n, "output_padding", 0, 0, w.axes, w.output_padding);
    if (!ln_nnvm_op_failed(n))
        read_padding(n, &w, is_transposed);
    return w;
}
