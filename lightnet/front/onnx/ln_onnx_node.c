// SPDX-License-Identifier: Apache-2.0
// Reading a node: its inputs, outputs and attributes.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/ln_raw.h"
#include "front/onnx/ln_onnx_compound.h"
#include "front/onnx/ln_onnx_model.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_op.h"

// Inputs and outputs

int ln_onnx_num_inputs(const ln_onnx_node *n)
{
    int len = (int)n->proto->n_input;
    while (len && !ln_onnx_has_input(n, len - 1))
        len--;
    return len;
}

int ln_onnx_num_outputs(const ln_onnx_node *n)
{
    int len = (int)n->proto->n_output;
    while (len && !ln_onnx_wants(n, len - 1))
        len--;
    return len;
}

int ln_onnx_has_input(const ln_onnx_node *n, int i)
{
    return i >= 0 && (size_t)i < n->proto->n_input && *n->proto->input[i] &&
           !ln_onnx_scope_is_absent(n->scope, n->proto->input[i]);
}

int ln_onnx_wants(const ln_onnx_node *n, int i)
{
    return i >= 0 && (size_t)i < n->proto->n_output && *n->proto->output[i];
}

int ln_onnx_is_read(const ln_onnx_node *n, int i)
{
    return ln_onnx_wants(n, i) && ln_onnx_scope_reads(n->scope, n->proto->output[i]);
}

const char *ln_onnx_optional(ln_onnx_node *n, int i)
{
    const char *value = ln_onnx_any_optional(n, i);
    if (value && ln_onnx_compound_of(n->model, value))
        ln_emit_fail(&n->emit, "input %d, '%s', is %s, expected a tensor", i, n->proto->input[i],
                     ln_onnx_value_text(n->model, value));
    return ln_onnx_failed(n) ? NULL : value;
}

const char *ln_onnx_in(ln_onnx_node *n, int i)
{
    if (!ln_onnx_has_input(n, i))
        ln_emit_fail_as(&n->emit, LN_BAD_MODEL, "input %d is missing", i);
    return ln_onnx_optional(n, i);
}

const char *ln_onnx_in_of(ln_onnx_node *n, int i, int ndim)
{
    const char *const src = ln_onnx_in(n, i);
    const int own = ln_onnx_tensor_of(n, src)->ndim;
    if (own != ndim)
        ln_emit_fail(&n->emit, "input %d has %d dimensions, expected %d", i, own, ndim);
    return src;
}

// Whether all bytes of the constant are 0.
static int is_all_zero(ln_onnx_node *n, const char *tensor)
{
    const tl_tensor *const value = ln_onnx_value(n, tensor);
    const unsigned char *const bytes = value ? value->data : NULL;
    const size_t size = value ? tl_tensor_size(value) : 0;
    size_t i = 0;
    while (i < size && bytes[i] == 0)
        i++;
    return value && i == size;
}

const char *ln_onnx_zero_point(ln_onnx_node *n, int i, const char *of, int axis)
{
    const char *const zero = ln_onnx_optional(n, i);
    if (!zero || !of || ln_onnx_failed(n))
        return zero;
    const tl_tensor *const z = ln_onnx_tensor_of(n, zero), *const t = ln_onnx_tensor_of(n, of);
    const int is_for_each = z->ndim == 1 && axis < t->ndim && z->len == t->dims[axis];
    const int may_be = z->dtype == t->dtype && (z->len == 1 || is_for_each);
    return may_be && is_all_zero(n, zero) ? NULL : zero;
}

void ln_onnx_alias(ln_onnx_node *n, int i, const char *tensor)
{
    if (ln_onnx_wants(n, i))
        ln_onnx_scope_set(n->scope, n->proto->output[i], tensor);
}

const tl_tensor *ln_onnx_tensor_of(const ln_onnx_node *n, const char *tensor)
{
    return ln_translation_tensor(&n->model->base, tensor);
}

const char *ln_onnx_bytes_of(ln_onnx_node *n, const char *tensor)
{
    const tl_dtype dtype = ln_onnx_tensor_of(n, tensor)->dtype;
    if (!tl_dtype_is_stored(dtype) || tl_dtype_has_fractions(dtype) || ln_onnx_failed(n))
        return tensor;
    const ln_op *const op = ln_context_creater(n->model->base.ctx, tensor);
    const char *const src =
        ln_op_is_form_of(op, LN_OP_BITCAST) ? ln_op_input_name(op, "src") : NULL;
    if (src && ln_onnx_tensor_of(n, src)->dtype == ln_raw_dtype(dtype))
        return src;
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_BITCAST, LN_ARG("src", tensor),
                   LN_DTYPE("dtype", ln_raw_dtype(dtype)));
}

int ln_onnx_is_dynamic(const ln_onnx_node *n, const char *tensor)
{
    const ln_tensor_entry *te = tensor && !n->model->base.failed
                                    ? ln_tensor_table_find(n->model->base.ctx->tensor_table, tensor)
                                    : NULL;
    return te && te->isdynamic;
}

void ln_onnx_want_fixed(ln_onnx_node *n, const char *src)
{
    if (ln_onnx_is_dynamic(n, src))
        ln_emit_fail(&n->emit,
                     "input 0 has a size that is known only at run time, expected a fixed one");
}

void ln_onnx_want_fixed_axis(ln_onnx_node *n, const char *src, int axis)
{
    const ln_dim size = ln_onnx_axis_size(n, src, axis);
    if (!ln_dim_is_constant(&size))
        ln_onnx_want_fixed(n, src);
}

void ln_onnx_axes(ln_onnx_node *n, const int64_t *given, int len, int ndim, int *axes)
{
    unsigned seen = 0;
    if (len > ndim)
        ln_emit_fail(&n->emit, "%d axes, expected at most %d", len, ndim);
    for (int i = 0; i < len && !ln_onnx_failed(n); i++) {
        axes[i] = ln_attr_to_axis(&n->emit, given[i], ndim);
        if (seen & 1u << axes[i])
            ln_emit_fail(&n->emit, "duplicate axis %d, expected different axes", axes[i]);
        seen |= 1u << axes[i];
    }
}

// Attributes: the rows of AttributeProto.AttributeType

enum { FLOAT = 1, INT, STRING, TENSOR, GRAPH, FLOATS, INTS, STRINGS, SPARSE = 11, TYPE = 13, END };

static const char *const type_names[END] = {
    "UNDEFINED", "FLOAT",   "INT",     "STRING", "TENSOR",        "GRAPH",          "FLOATS",
    "INTS",      "STRINGS", "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO"};

// The declared type, if the value has it; otherwise that of the value: IR version 1 has no declared
// types. 0: neither.
static int type_of(const LnOnnx__Attribute *a)
{
    const int values[END] = {[FLOAT] = a->has_f,
                             [INT] = a->has_i,
                             [STRING] = a->has_s,
                             [TENSOR] = a->t != NULL,
                             [GRAPH] = a->g != NULL,
                             [FLOATS] = a->n_floats > 0,
                             [INTS] = a->n_ints > 0,
                             [STRINGS] = a->n_strings > 0,
                             [SPARSE] = a->sparse_tensor != NULL,
                             [TYPE] = a->tp != NULL};
    int first = 0;
    if (a->type > 0 && a->type < END && values[a->type])
        return a->type;
    while (first < END && !values[first])
        first++;
    return first < END ? first : a->type;
}

int ln_onnx_want_type(ln_onnx_node *n, const LnOnnx__Attribute *a, int type)
{
    const int there = type_of(a);
    char buf[32];
    if (there == type || !there) // an empty list without a declared type
        return 0;
    snprintf(buf, sizeof(buf), "type %d", there);
    ln_emit_fail_as(&n->emit, LN_BAD_MODEL, "attribute '%s' is of type %s, expected %s", a->name,
                    there > 0 && there < END ? type_names[there] : buf, type_names[type]);
    return -1;
}

// NULL: the node does not have it, or something failed.
static const LnOnnx__Attribute *attr(ln_onnx_node *n, const char *name, int type)
{
    if (n->model->base.failed)
        return NULL;
    const LnOnnx__Attribute *a = ln_onnx_find_attr(n->scope, n->proto, name);
    return a && !ln_onnx_want_type(n, a, type) ? a : NULL;
}

// Strings are bytes: a copy ends with NUL.
static const char *text_of(ln_onnx_node *n, const ProtobufCBinaryData *s)
{
    char *text = ln_translation_alloc(&n->model->base, s->len + 1);
    if (!text)
        return "";
    if (s->len)
        memcpy(text, s->data, s->len);
    return text;
}

const float *ln_onnx_floats(ln_onnx_node *n, const char *name, int *len)
{
    const LnOnnx__Attribute *a = attr(n, name, FLOATS);
    *len = a ? (int)a->n_floats : 0;
    return a ? a->floats : NULL;
}

const char *ln_onnx_string_at(ln_onnx_node *n, const char *name, int i)
{
    const LnOnnx__Attribute *a = attr(n, name, STRINGS);
    return a && i >= 0 && (size_t)i < a->n_strings ? text_of(n, &a->strings[i]) : NULL;
}

const LnOnnx__Graph *ln_onnx_graph(ln_onnx_node *n, const char *name)
{
    const LnOnnx__Attribute *a = attr(n, name, GRAPH);
    return a ? a->g : NULL;
}

const LnOnnx__Type *ln_onnx_attr_type(ln_onnx_node *n, const char *name)
{
    const LnOnnx__Attribute *a = attr(n, name, TYPE);
    return a ? a->tp : NULL;
}

// The name of the output that a constant is, or one like that of the output; NULL: no memory.
static const char *constant_name(const ln_onnx_node *n, const char *name)
{
    const char *const output = n->proto->n_output ? n->proto->output[0] : name;
    if (ln_streq(ln_onnx_text(n->proto->op_type), "Constant"))
        return output;
    return ln_translation_print(&n->model->base, "%.*s_%s", ln_name_stem(output), output, name);
}

const char *ln_onnx_attr_tensor(ln_onnx_node *n, const char *name)
{
    const LnOnnx__Attribute *a = attr(n, name, TENSOR);
    if (!a || !a->t)
        return NULL;
    const char *const wanted = constant_name(n, name);
    return wanted ? ln_onnx_add_tensor(n->scope, a->t, wanted) : NULL;
}

const char *ln_onnx_text_constant(ln_onnx_node *n, const char *name)
{
    const LnOnnx__Attribute *const a = ln_onnx_find_attr(n->scope, n->proto, name);
    if (!a || n->model->base.failed)
        return NULL;
    const int is_list = type_of(a) == STRINGS;
    if (!attr(n, name, is_list ? STRINGS : STRING))
        return NULL;
    // Constants are known by the addresses of their messages.
    LnOnnx__Tensor *const proto = ln_translation_alloc(&n->model->base, sizeof(*proto));
    int64_t *const len = ln_translation_alloc(&n->model->base, sizeof(*len));
    const char *const wanted = constant_name(n, name);
    if (!proto || !len || !wanted)
        return NULL;
    *len = is_list ? (int64_t)a->n_strings : 1;
    *proto = (LnOnnx__Tensor)LN_ONNX__TENSOR__INIT;
    proto->name = (char *)name;
    proto->has_data_type = 1;
    proto->data_type = 8; // TensorProto.STRING
    proto->n_dims = (size_t)is_list;
    proto->dims = len;
    proto->n_string_data = (size_t)*len;
    proto->string_data = is_list ? a->strings : (ProtobufCBinaryData *)&a->s;
    return ln_onnx_add_tensor(n->scope, proto, wanted);
}

// The reader. The emitter is the node's first member.

static int has(const ln_emit *e, const char *key)
{
    const ln_onnx_node *const n = (const ln_onnx_node *)e;
    return ln_onnx_find_attr(n->scope, n->proto, key) != NULL;
}

static int64_t integer(ln_emit *e, const char *key, int64_t deflt)
{
    const LnOnnx__Attribute *const a = attr((ln_onnx_node *)e, key, INT);
    return a ? a->i : deflt;
}

static double number(ln_emit *e, const char *key, double deflt)
{
    const LnOnnx__Attribute *const a = attr((ln_onnx_node *)e, key, FLOAT);
    return a ? (double)a->f : deflt;
}

static int flag(ln_emit *e, const char *key, int deflt)
{
    return ln_attr_to_bool(e, key, integer(e, key, deflt));
}

static const char *text(ln_emit *e, const char *key, const char *deflt)
{
    ln_onnx_node *const n = (ln_onnx_node *)e;
    const LnOnnx__Attribute *const a = attr(n, key, STRING);
    return a ? text_of(n, &a->s) : deflt;
}

static tl_dtype dtype(ln_emit *e, const char *key, tl_dtype deflt)
{
    const LnOnnx__Attribute *const a = attr((ln_onnx_node *)e, key, INT);
    if (!a)
        return deflt;
    const int type = a->i > 0 && a->i <= INT32_MAX ? (int)a->i : 0;
    if (ln_onnx_dtype(type) == TL_DTYPE_INVALID) {
        char text[32];
        ln_emit_fail_as(e, LN_UNSUPPORTED, "attribute '%s' is %s, which LightNet does not support",
                        key, ln_onnx_dtype_name(type, text));
        return deflt;
    }
    return ln_onnx_dtype(type);
}

static const int64_t *integers(ln_emit *e, const char *key, int *len)
{
    const LnOnnx__Attribute *const a = attr((ln_onnx_node *)e, key, INTS);
    *len = a ? (int)a->n_ints : 0;
    return a ? a->ints : NULL;
}

const ln_attr_reader ln_onnx_attrs = {has, integer, number, flag, text, dtype, integers, NULL};
