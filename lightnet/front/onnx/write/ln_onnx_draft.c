// SPDX-License-Identifier: Apache-2.0
// Nodes, attributes, constants and names of an ONNX graph under construction.

#include "front/onnx/write/ln_onnx_write.h"

#include <stdio.h>
#include <string.h>

#include "data/ln_onnx_tensor.h"
#include "front/ln_element.h"
#include "lightnet/ln_hash.h"
#include "tensorlight/tl_shape.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

// Types of attributes (AttributeProto.AttributeType).
enum { A_FLOAT = 1, A_INT, A_STRING, A_TENSOR, A_GRAPH, A_FLOATS, A_INTS, A_STRINGS };

// Constants of up to MAX_SHARED bytes are shared.
enum { MAX_SHARED = 64 };

static void *allocate(ln_onnx_writer *w, size_t size)
{
    void *const memory = ln_translation_alloc(&w->base, size);
    if (memory)
        memset(memory, 0, size);
    return memory;
}

// Copies a string, as those of protobuf are not const.
static char *text(ln_onnx_writer *w, const char *str)
{
    char *const copy = ln_translation_print(&w->base, "%s", str ? str : "");
    return copy ? copy : (char *)"";
}

void ln_onnx_list_add(ln_onnx_writer *w, ln_onnx_list *list, void *item)
{
    if (!item || w->base.failed)
        return;
    void **const grown = ln_translation_grow(&w->base, list->items, list->len, sizeof(*grown));
    if (!grown)
        return;
    list->items = grown;
    list->items[list->len++] = item;
}

int ln_onnx_put_dtype(tl_dtype dtype)
{
    enum { N_TYPES = 32 };
    for (int type = 1; type < N_TYPES; type++)
        if (ln_onnx_dtype(type) == dtype)
            return type;
    return 0;
}

// Names

static void reserve_name(ln_onnx_writer *w, const char *name)
{
    if (!w->base.failed && ln_hash_insert(w->names, name, (void *)name) < 0)
        ln_translation_fail_memory(&w->base);
}

// Appends a counter until the name is unused.
static const char *unique(ln_onnx_writer *w, const char *wanted)
{
    const char *name = text(w, wanted);
    while (!w->base.failed && (!*name || ln_hash_find(w->names, name)))
        name =
            ln_translation_print(&w->base, "%.*s_%zu", ln_name_stem(wanted), wanted, w->n_names++);
    reserve_name(w, name);
    return name ? name : "";
}

const char *ln_onnx_put_name(ln_onnx_op *n, const char *what)
{
    char name[LN_MAX_NAME_LEN];
    snprintf(name, sizeof(name), "%.*s/%.64s", ln_name_stem(n->label), n->label, what);
    return ln_onnx_op_failed(n) ? "" : unique(n->writer, name);
}

// Nodes

// Domains, and the oldest of their operator sets that is written.
static const struct {
    const char *name;
    int opset;
} domains[LN_ONNX_DOMAINS] = {
    [LN_ONNX_ML] = {"ai.onnx.ml", 3},
    [LN_ONNX_CONTRIB] = {"com.microsoft", 1},
};

const char *ln_onnx_domain_name(ln_onnx_domain domain)
{
    return domains[domain].name;
}

// The name without its domain.
static const char *without_domain(const char *op_type)
{
    const char *const colon = strchr(op_type, ':');
    return colon ? colon + 1 : op_type;
}

static void set_domain(ln_onnx_op *n, LnOnnx__Node *node, const char *op_type)
{
    for (ln_onnx_domain d = LN_ONNX_ML; d < LN_ONNX_DOMAINS; d++) {
        const size_t len = strlen(domains[d].name);
        if (!strncmp(op_type, domains[d].name, len) && op_type[len] == ':') {
            node->domain = (char *)domains[d].name;
            ln_onnx_op_domain_since(n, d, domains[d].opset);
        }
    }
}

void ln_onnx_put_begin(ln_onnx_op *n, const char *op_type)
{
    LnOnnx__Node *const node = allocate(n->writer, sizeof(*node));
    n->node = node;
    if (!node)
        return;
    ln_onnx__node__init(node);
    node->op_type = (char *)without_domain(op_type);
    set_domain(n, node, op_type);
}

static LnOnnx__Attribute *add_attr(ln_onnx_op *n, const char *name, int type)
{
    LnOnnx__Attribute *const attr = allocate(n->writer, sizeof(*attr));
    LnOnnx__Node *const node = n->node;
    if (!attr || !node)
        return NULL;
    ln_onnx_list list = {(void **)node->attribute, node->n_attribute};
    ln_onnx__attribute__init(attr);
    attr->name = (char *)name;
    attr->has_type = 1;
    attr->type = type;
    ln_onnx_list_add(n->writer, &list, attr);
    node->attribute = (LnOnnx__Attribute **)list.items;
    node->n_attribute = list.len;
    return attr;
}

static void add_input(ln_onnx_op *n, const char *value)
{
    if (!n->node)
        return;
    ln_onnx_list list = {(void **)n->node->input, n->node->n_input};
    ln_onnx_list_add(n->writer, &list, (void *)(value ? value : ""));
    n->node->input = (char **)list.items;
    n->node->n_input = list.len;
}

static ProtobufCBinaryData bytes_of(ln_onnx_op *n, const char *str)
{
    char *const copy = text(n->writer, str);
    return (ProtobufCBinaryData){.len = strlen(copy), .data = (uint8_t *)copy};
}

// Allocates an attribute's list.
static void *alloc_list(ln_onnx_op *n, const ln_part *part, size_t size)
{
    return allocate(n->writer, ((size_t)part->len + 1) * size);
}

static void set_list(ln_onnx_op *n, LnOnnx__Attribute *attr, const ln_part *part)
{
    if (attr->type == A_INTS && (attr->ints = alloc_list(n, part, sizeof(*attr->ints))))
        for (int i = 0; i < part->len; i++)
            attr->ints[attr->n_ints++] = part->ints[i];
    if (attr->type == A_FLOATS && (attr->floats = alloc_list(n, part, sizeof(*attr->floats))))
        for (int i = 0; i < part->len; i++)
            attr->floats[attr->n_floats++] = (float)part->numbers[i];
    if (attr->type == A_STRINGS && (attr->strings = alloc_list(n, part, sizeof(*attr->strings))))
        for (int i = 0; i < part->len; i++)
            attr->strings[attr->n_strings++] = bytes_of(n, part->texts[i]);
}

// The AttributeType of each kind of part; 0: not an attribute.
static const int attr_types[] = {
    [LN_PART_INT] = A_INT,        [LN_PART_NUMBER] = A_FLOAT,  [LN_PART_BOOL] = A_INT,
    [LN_PART_TEXT] = A_STRING,    [LN_PART_DTYPE] = A_INT,     [LN_PART_INTS] = A_INTS,
    [LN_PART_NUMBERS] = A_FLOATS, [LN_PART_TEXTS] = A_STRINGS, [LN_PART_ARGS] = 0,
    [LN_PART_NONE] = 0,
};

void ln_onnx_put_set(ln_onnx_op *n, ln_part part)
{
    if (part.kind == LN_PART_ARG)
        add_input(n, part.text);
    for (int i = 0; part.kind == LN_PART_ARGS && i < part.len; i++)
        add_input(n, part.texts[i]);
    const int type = attr_types[part.kind];
    LnOnnx__Attribute *const attr = type ? add_attr(n, part.name, type) : NULL;
    if (!attr)
        return;
    attr->has_i = type == A_INT;
    attr->i = part.kind == LN_PART_DTYPE ? ln_onnx_put_dtype((tl_dtype)part.integer) : part.integer;
    attr->has_f = type == A_FLOAT;
    attr->f = (float)part.number;
    attr->has_s = type == A_STRING;
    if (attr->has_s)
        attr->s = bytes_of(n, part.text);
    set_list(n, attr, &part);
}

void ln_onnx_put_int64s(ln_onnx_op *n, const char *name, int len, const int64_t *values)
{
    LnOnnx__Attribute *const attr = values ? add_attr(n, name, A_INTS) : NULL;
    if (!attr || !(attr->ints = allocate(n->writer, ((size_t)len + 1) * sizeof(*attr->ints))))
        return;
    memcpy(attr->ints, values, (size_t)len * sizeof(*attr->ints));
    attr->n_ints = (size_t)len;
}

// Borrows the bytes of strings; NULL: no memory.
static ProtobufCBinaryData *borrow(ln_onnx_writer *w, int len, const tl_string *const *strings)
{
    ProtobufCBinaryData *const all = allocate(w, ((size_t)len + 1) * sizeof(*all));
    for (int i = 0; i < len && all; i++)
        all[i] = (ProtobufCBinaryData){.len = tl_string_size(strings[i]),
                                       .data = (uint8_t *)tl_string_bytes(strings[i])};
    return all;
}

void ln_onnx_put_texts(ln_onnx_op *n, const char *name, int len, const tl_string *const *strings)
{
    LnOnnx__Attribute *const attr = add_attr(n, name, A_STRINGS);
    if (attr && (attr->strings = borrow(n->writer, len, strings)))
        attr->n_strings = (size_t)len;
}

void ln_onnx_put_text(ln_onnx_op *n, const char *name, const tl_string *string)
{
    LnOnnx__Attribute *const attr = add_attr(n, name, A_STRING);
    ProtobufCBinaryData *const bytes = attr ? borrow(n->writer, 1, &string) : NULL;
    if (!bytes)
        return;
    attr->has_s = 1;
    attr->s = *bytes;
}

void ln_onnx_put_words(ln_onnx_op *n, const char *name, int len, const char *const *words)
{
    LnOnnx__Attribute *const attr = add_attr(n, name, A_STRINGS);
    if (!attr || !(attr->strings = allocate(n->writer, ((size_t)len + 1) * sizeof(*attr->strings))))
        return;
    for (int i = 0; i < len; i++)
        attr->strings[i] =
            (ProtobufCBinaryData){.len = strlen(words[i]), .data = (uint8_t *)words[i]};
    attr->n_strings = (size_t)len;
}

void ln_onnx_put_graph(ln_onnx_op *n, const char *name, LnOnnx__Graph *graph)
{
    LnOnnx__Attribute *const attr = add_attr(n, name, A_GRAPH);
    if (attr)
        attr->g = graph;
}

void ln_onnx_put_tensor(ln_onnx_op *n, const char *name, LnOnnx__Tensor *tensor)
{
    LnOnnx__Attribute *const attr = add_attr(n, name, A_TENSOR);
    if (attr)
        attr->t = tensor;
}

// The last node of an operator has its name, others those of their outputs.
static void name_node(ln_onnx_op *n, LnOnnx__Node *node)
{
    const char *const out = node->output[0];
    node->name = text(n->writer, !strcmp(out, n->label) ? n->op->op_arg->name : out);
}

// Casts inputs of types that the operator cannot move to wider ones. Returns their type;
// TL_DTYPE_INVALID: none was cast.
static tl_dtype cast_inputs(ln_onnx_op *n, LnOnnx__Node *node)
{
    tl_dtype small = TL_DTYPE_INVALID;
    for (size_t i = 0; i < node->n_input; i++) {
        const tl_dtype dtype = ln_onnx_type_of(n->writer, node->input[i]);
        const tl_dtype as = ln_onnx_carrier_type(node->op_type, dtype);
        if (as == dtype)
            continue;
        small = dtype;
        node->input[i] = (char *)ln_onnx_put_cast(n, node->input[i], as);
    }
    return small;
}

static void add_node(ln_onnx_op *n, LnOnnx__Node *node)
{
    name_node(n, node);
    ln_onnx_check_type(n, node);
    ln_onnx_note_output_type(n->writer, node);
    ln_onnx_list_add(n->writer, &n->level->nodes, node);
}

// Casts outputs back to the type of the inputs, without saturation: infinities stay.
static void cast_outputs(ln_onnx_op *n, LnOnnx__Node *node, tl_dtype dtype)
{
    const char *outs[LN_MAXDIM];
    const size_t len = node->n_output;
    if (len > LN_MAXDIM) {
        ln_onnx_op_reject(n, "ONNX's %s does not support %s", node->op_type, tl_dtype_name(dtype));
        return;
    }
    for (size_t i = 0; i < len; i++) {
        outs[i] = node->output[i];
        node->output[i] = (char *)ln_onnx_put_name(n, node->op_type);
    }
    add_node(n, node);
    for (size_t i = 0; i < len; i++) {
        const char *const moved = node->output[i];
        ln_onnx_put_begin(n, "Cast");
        ln_onnx_put_set(n, LN_ONNX_SRC(moved));
        ln_onnx_put_set(n, LN_DTYPE("to", dtype));
        if (tl_dtype_has_fractions(dtype))
            ln_onnx_put_set(n, LN_INT("saturate", 0));
        ln_onnx_put_end(n, 1, &outs[i]);
        ln_onnx_note_type(n->writer, outs[i], dtype);
    }
}

void ln_onnx_put_end(ln_onnx_op *n, int n_outs, const char *const *outs)
{
    LnOnnx__Node *const node = n->node;
    n->node = NULL;
    if (!node || ln_onnx_op_failed(n) || n_outs < 1)
        return;
    while (node->n_input && !*node->input[node->n_input - 1])
        node->n_input--;
    while (n_outs > 1 && !*outs[n_outs - 1])
        n_outs--;
    node->output = allocate(n->writer, ((size_t)n_outs + 1) * sizeof(*node->output));
    for (int i = 0; i < n_outs && node->output; i++)
        node->output[node->n_output++] = (char *)outs[i];
    if (!node->output)
        return;
    const tl_dtype small = cast_inputs(n, node);
    if (small == TL_DTYPE_INVALID)
        add_node(n, node);
    else
        cast_outputs(n, node, small);
}

void ln_onnx_put_parts_outs(ln_onnx_op *n, int n_outs, const char *const *outs, const char *op_type,
                            const ln_part *parts)
{
    ln_onnx_put_begin(n, op_type);
    for (; parts->kind != LN_PART_END; parts++)
        ln_onnx_put_set(n, *parts);
    ln_onnx_put_end(n, n_outs, outs);
}

const char *ln_onnx_put_parts(ln_onnx_op *n, const char *op_type, const ln_part *parts)
{
    const char *const out = ln_onnx_put_name(n, without_domain(op_type));
    ln_onnx_put_parts_outs(n, 1, &out, op_type, parts);
    return out;
}

void ln_onnx_put_parts_as(ln_onnx_op *n, const char *arg, const char *op_type, const ln_part *parts)
{
    const char *const out = ln_onnx_op_out(n, arg);
    ln_onnx_put_parts_outs(n, 1, &out, op_type, parts);
}

void ln_onnx_put_as(ln_onnx_op *n, const char *arg, const char *value)
{
    LN_ONNX_PUT_AS(n, arg, "Identity", LN_ONNX_SRC(value));
}

void ln_onnx_op_ends_with(ln_onnx_op *n, const char *arg, const char *value)
{
    const char *const out = ln_onnx_op_out(n, arg);
    const ln_onnx_list *const nodes = &n->level->nodes;
    LnOnnx__Node *const last = nodes->len ? nodes->items[nodes->len - 1] : NULL;
    if (ln_onnx_op_failed(n))
        return;
    if (!last || !last->n_output || last->output[0] != value) {
        ln_onnx_put_as(n, arg, value);
        return;
    }
    last->output[0] = (char *)out;
    name_node(n, last);
}

// Constants

static LnOnnx__Tensor *tensor_like(ln_onnx_writer *w, int type, int ndim, const int *dims)
{
    LnOnnx__Tensor *const t = allocate(w, sizeof(*t));
    if (!t)
        return NULL;
    ln_onnx__tensor__init(t);
    t->has_data_type = 1;
    t->data_type = type;
    t->dims = allocate(w, ((size_t)ndim + 1) * sizeof(*t->dims));
    for (int i = 0; i < ndim && t->dims; i++)
        t->dims[t->n_dims++] = dims[i];
    return t->dims ? t : NULL;
}

// The address of the record represents the data, which the packer writes.
static void set_data(LnOnnx__Tensor *t, ln_onnx_data *data)
{
    t->has_raw_data = 1;
    t->raw_data = (ProtobufCBinaryData){.len = data->size, .data = (uint8_t *)data};
}

static void add_initializer(ln_onnx_writer *w, LnOnnx__Tensor *t, const char *name,
                            const ln_onnx_data *data)
{
    ln_onnx_data *const own = allocate(w, sizeof(*own));
    if (!t || !own)
        return;
    *own = *data;
    t->name = (char *)name;
    set_data(t, own);
    ln_onnx_list_add(w, &w->initializers, t);
    ln_onnx_list_add(w, &w->data, own);
}

ln_onnx_data ln_onnx_data_for(tl_dtype dtype, int len)
{
    return (ln_onnx_data){.size = tl_packed_size(dtype, (size_t)len),
                          .n_unpacked = tl_dtype_bits(dtype) < 8 ? (size_t)len : 0,
                          .dtype = dtype};
}

const char *ln_onnx_put_weight(ln_onnx_writer *w, const char *name, int type, int ndim,
                               const int *dims, const ln_onnx_data *data)
{
    add_initializer(w, tensor_like(w, type, ndim, dims), name, data);
    return name;
}

const char *ln_onnx_put_strings(ln_onnx_writer *w, const char *name, int ndim, const int *dims,
                                const tl_string *const *strings)
{
    const int len = tl_compute_length(ndim, dims);
    LnOnnx__Tensor *const t = tensor_like(w, ln_onnx_put_dtype(TL_STRING), ndim, dims);
    if (t && (t->string_data = borrow(w, len, strings))) {
        t->n_string_data = (size_t)len;
        t->name = (char *)name;
        ln_onnx_list_add(w, &w->initializers, t);
    }
    return name;
}

// The key of a small constant: type, shape, and elements in hexadecimal.
static const char *key_of(ln_onnx_op *n, tl_dtype dtype, int ndim, const int *dims,
                          const void *data, size_t size)
{
    char buf[32 + 12 * LN_MAXDIM + 2 * MAX_SHARED];
    size_t len = (size_t)snprintf(buf, sizeof(buf), "%d:", (int)dtype);
    for (int i = 0; i < ndim; i++)
        len += (size_t)snprintf(buf + len, sizeof(buf) - len, "%d,", dims[i]);
    len += (size_t)snprintf(buf + len, sizeof(buf) - len, ":");
    for (size_t i = 0; i < size; i++)
        len += (size_t)snprintf(buf + len, sizeof(buf) - len, "%02x",
                                ((const unsigned char *)data)[i]);
    return ln_translation_print(&n->writer->base, "%s", buf);
}

const char *ln_onnx_put_constant(ln_onnx_op *n, tl_dtype dtype, int ndim, const int *dims,
                                 const void *data)
{
    ln_onnx_writer *const w = n->writer;
    const int len = tl_compute_length(ndim, dims);
    if (len < 0)
        ln_onnx_op_reject(n, "cannot write a constant: %s", tl_last_error());
    if (ln_onnx_op_failed(n) || len < 0)
        return "";
    const size_t size = (size_t)len * tl_size_of(dtype);
    const char *const key = size <= MAX_SHARED ? key_of(n, dtype, ndim, dims, data, size) : NULL;
    const char *const known = key ? ln_hash_find(w->constants, key) : NULL;
    if (known)
        return known;
    void *const own = ln_translation_alloc(&w->base, size + 1);
    if (!own)
        return "";
    memcpy(own, data, size);
    ln_onnx_data record = ln_onnx_data_for(dtype, len);
    record.bytes = own;
    const char *const name = ln_onnx_put_weight(w, ln_onnx_put_name(n, "const"),
                                                ln_onnx_put_dtype(dtype), ndim, dims, &record);
    if (tl_dtype_is_stored(dtype))
        ln_onnx_note_type(w, name, dtype);
    if (key && ln_hash_insert(w->constants, key, (void *)name) < 0)
        ln_translation_fail_memory(&w->base);
    return name;
}

const char *ln_onnx_put_ints(ln_onnx_op *n, int len, const int *values)
{
    int64_t *const elements =
        ln_translation_alloc(&n->writer->base, ((size_t)len + 1) * sizeof(*elements));
    for (int i = 0; i < len && elements; i++)
        elements[i] = values[i];
    return elements ? ln_onnx_put_constant(n, TL_INT64, 1, &len, elements) : "";
}

const char *ln_onnx_put_int(ln_onnx_op *n, int value)
{
    return ln_onnx_put_ints(n, 1, &value);
}

const char *ln_onnx_put_scalar(ln_onnx_op *n, tl_dtype dtype, double value)
{
    char element[TL_DTYPE_MAX_SIZE];
    ln_element_write(element, dtype, value);
    return ln_onnx_put_constant(n, dtype, 0, NULL, element);
}

LnOnnx__Tensor *ln_onnx_put_elements(ln_onnx_op *n, tl_dtype dtype, int len, const void *elements)
{
    ln_onnx_writer *const w = n->writer;
    LnOnnx__Tensor *const t = tensor_like(w, ln_onnx_put_dtype(dtype), 1, &len);
    ln_onnx_data *const data = allocate(w, sizeof(*data));
    if (!t || !elements || !data)
        return NULL;
    *data = ln_onnx_data_for(dtype, len);
    data->bytes = elements;
    set_data(t, data);
    ln_onnx_list_add(w, &w->data, data);
    return t;
}

// A tensor [1] for an attribute.
static LnOnnx__Tensor *element_tensor(ln_onnx_op *n, tl_dtype dtype, double value)
{
    void *const element = allocate(n->writer, TL_DTYPE_MAX_SIZE);
    if (element)
        ln_element_write(element, dtype, value);
    return ln_onnx_put_elements(n, dtype, 1, element);
}

const char *ln_onnx_put_filled_as(ln_onnx_op *n, const char *out, tl_dtype dtype, int ndim,
                                  const int *dims, double value)
{
    const char *const shape = ln_onnx_put_ints(n, ndim, dims);
    LnOnnx__Tensor *const t = element_tensor(n, dtype, value);
    ln_onnx_put_begin(n, "ConstantOfShape");
    ln_onnx_put_set(n, LN_ONNX_SRC(shape));
    ln_onnx_put_tensor(n, "value", t);
    ln_onnx_put_end(n, 1, &out);
    return out;
}

const char *ln_onnx_put_filled(ln_onnx_op *n, tl_dtype dtype, int ndim, const int *dims,
                               double value)
{
    return ln_onnx_put_filled_as(n, ln_onnx_put_name(n, "const"), dtype, ndim, dims, value);
}

// Common steps

const char *ln_onnx_put(ln_onnx_op *n, const char *op_type, const char *src)
{
    return LN_ONNX_PUT(n, op_type, LN_ONNX_SRC(src));
}

const char *ln_onnx_put_pair(ln_onnx_op *n, const char *op_type, const char *a, const char *b)
{
    return LN_ONNX_PUT(n, op_type, LN_ONNX_SRC(a), LN_ONNX_SRC(b));
}

const char *ln_onnx_put_cast(ln_onnx_op *n, const char *src, tl_dtype dtype)
{
    if (dtype == TL_BFLOAT16)
        ln_onnx_op_since(n, 19); // older ones truncate
    const char *const v = LN_ONNX_PUT(n, "Cast", LN_ONNX_SRC(src), LN_DTYPE("to", dtype));
    ln_onnx_note_type(n->writer, v, dtype);
    return v;
}

// Without allowzero, 0 copies the length of the source's axis.
const char *ln_onnx_put_reshape(ln_onnx_op *n, const char *src, int ndim, const int *dims)
{
    int has_empty = 0;
    for (int i = 0; i < ndim; i++)
        has_empty |= dims[i] == 0;
    return LN_ONNX_PUT(n, "Reshape", LN_ONNX_SRC(src), LN_ONNX_SRC(ln_onnx_put_ints(n, ndim, dims)),
                       LN_ONLY_IF(has_empty, LN_INT("allowzero", 1)));
}

const char *ln_onnx_put_view(ln_onnx_op *n, const char *src, int ndim, const int *dims)
{
    return ln_onnx_put_pair(n, "Reshape", src, ln_onnx_put_ints(n, ndim, dims));
}

const char *ln_onnx_put_transpose(ln_onnx_op *n, const char *src, int ndim, const int *axes)
{
    return LN_ONNX_PUT(n, "Transpose", LN_ONNX_SRC(src), LN_INTS("perm", ndim, axes));
}

const char *ln_onnx_put_like(ln_onnx_op *n, const char *value, const char *src)
{
    const char *const shape = ln_onnx_put(n, "Shape", src);
    return LN_ONNX_PUT(n, "Reshape", LN_ONNX_SRC(value), LN_ONNX_SRC(shape),
                       LN_INT("allowzero", 1));
}

const char *ln_onnx_put_slice(ln_onnx_op *n, const char *src, int axis, int begin, int end)
{
    return LN_ONNX_PUT(n, "Slice", LN_ONNX_SRC(src), LN_ONNX_SRC(ln_onnx_put_int(n, begin)),
                       LN_ONNX_SRC(ln_onnx_put_int(n, end)), LN_ONNX_SRC(ln_onnx_put_int(n, axis)));
}

const char *ln_onnx_put_reduce(ln_onnx_op *n, const char *op_type, const char *src, int n_axes,
                               const int *axes, int keeps)
{
    const int as_input = !strcmp(op_type, "ReduceSum") || ln_onnx_op_opset(n) >= 18;
    const char *const list = as_input ? ln_onnx_put_ints(n, n_axes, axes) : NULL;
    return LN_ONNX_PUT(n, op_type, LN_ONNX_SRC(src), LN_ONNX_SRC(list),
                       LN_ONLY_IF(!as_input, LN_INTS("axes", n_axes, axes)),
                       LN_INT("keepdims", keeps));
}

// Inputs and outputs

static LnOnnx__Dimension *dimension(ln_onnx_writer *w, int value, const char *name)
{
    LnOnnx__Dimension *const d = allocate(w, sizeof(*d));
    if (!d)
        return NULL;
    ln_onnx__dimension__init(d);
    d->has_dim_value = !name;
    d->dim_value = name ? 0 : value;
    d->dim_param = name && *name ? text(w, name) : NULL;
    return d;
}

static LnOnnx__ValueInfo *new_info(ln_onnx_writer *w, const char *name, tl_dtype dtype)
{
    LnOnnx__ValueInfo *const info = allocate(w, sizeof(*info));
    LnOnnx__Type *const type = allocate(w, sizeof(*type));
    LnOnnx__TensorType *const tensor = allocate(w, sizeof(*tensor));
    if (!info || !type || !tensor)
        return NULL;
    ln_onnx__value_info__init(info);
    ln_onnx__type__init(type);
    ln_onnx__tensor_type__init(tensor);
    tensor->has_elem_type = 1;
    tensor->elem_type = ln_onnx_put_dtype(dtype);
    type->tensor_type = tensor;
    info->type = type;
    info->name = (char *)name;
    return info;
}

ln_onnx_list ln_onnx_level_infos(ln_onnx_writer *w, const ln_onnx_level *level)
{
    ln_onnx_list infos = {NULL};
    for (size_t i = 0; i < level->nodes.len; i++) {
        const LnOnnx__Node *const node = level->nodes.items[i];
        for (size_t k = 0; k < node->n_output && node->domain; k++) {
            const tl_dtype dtype = ln_onnx_type_of(w, node->output[k]);
            if (dtype != TL_DTYPE_INVALID)
                ln_onnx_list_add(w, &infos, new_info(w, node->output[k], dtype));
        }
    }
    return infos;
}

LnOnnx__ValueInfo *ln_onnx_put_info(ln_onnx_writer *w, const char *name, const tl_tensor *like,
                                    const char *const *names)
{
    LnOnnx__ValueInfo *const info = new_info(w, name, like->dtype);
    LnOnnx__Shape *const shape = allocate(w, sizeof(*shape));
    ln_onnx_list dims = {NULL};
    if (!info || !shape)
        return NULL;
    ln_onnx__shape__init(shape);
    for (int i = 0; i < like->ndim; i++)
        ln_onnx_list_add(w, &dims, dimension(w, like->dims[i], names ? names[i] : NULL));
    shape->dim = (LnOnnx__Dimension **)dims.items;
    shape->n_dim = dims.len;
    info->type->tensor_type->shape = shape;
    return info;
}
