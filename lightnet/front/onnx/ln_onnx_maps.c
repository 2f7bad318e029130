// SPDX-License-Identifier: Apache-2.0
// Maps from keys to values as tensors of the values: inputs of a graph that operators of the domain
// ai.onnx.ml read, and the keys as metadata.
//
// A map that DictVectorizer reads is [1, C] with the values in the order of its vocabulary, 0 for a
// key that the map lacks. For CastMap they are in ascending order of the keys, or in a sparse map,
// at the indices that are its keys.

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "data/ln_onnx_lean.h"
#include "front/onnx/ln_onnx_model.h"
#include "lightnet/ln_hash.h"

// Nodes

static int is_ml_node(const LnOnnx__Node *node, const char *op_type)
{
    return ln_streq(ln_onnx_text(node->domain), "ai.onnx.ml") &&
           ln_streq(ln_onnx_text(node->op_type), op_type);
}

// NULL: the node does not have it.
static const LnOnnx__Attribute *attr_of(const LnOnnx__Node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attribute; i++)
        if (ln_streq(ln_onnx_text(node->attribute[i]->name), name))
            return node->attribute[i];
    return NULL;
}

// The length of the map as a tensor; -1: unknown.
static int64_t length_of(const LnOnnx__Node *node)
{
    const LnOnnx__Attribute *const ints = attr_of(node, "int64_vocabulary");
    const LnOnnx__Attribute *const strings = attr_of(node, "string_vocabulary");
    const LnOnnx__Attribute *const form = attr_of(node, "map_form");
    const LnOnnx__Attribute *const max = attr_of(node, "max_map");
    const int is_sparse = form && form->s.len == 6 && memcmp(form->s.data, "SPARSE", 6) == 0;
    const size_t keys = (ints ? ints->n_ints : 0) + (strings ? strings->n_strings : 0);
    if (is_ml_node(node, "CastMap"))
        return !is_sparse ? -1 : max ? max->i : 1;
    return keys <= INT_MAX ? (int64_t)keys : -1;
}

// Types

static void *allocate(size_t size)
{
    ProtobufCAllocator *const allocator = ln_onnx_allocator();
    void *const data = allocator->alloc(allocator->allocator_data, size);
    if (data)
        memset(data, 0, size);
    return data;
}

// A dimension; below 0: unknown, named "keys". NULL: no memory.
static LnOnnx__Dimension *new_dim(int64_t size)
{
    LnOnnx__Dimension *const dim = allocate(sizeof(*dim));
    if (!dim)
        return NULL;
    ln_onnx__dimension__init(dim);
    dim->has_dim_value = size >= 0;
    dim->dim_value = size >= 0 ? size : 0;
    if (size < 0 && (dim->dim_param = allocate(sizeof("keys"))))
        memcpy(dim->dim_param, "keys", sizeof("keys"));
    return dim;
}

// [1, len]; NULL: no memory.
static LnOnnx__Shape *new_shape(int64_t len)
{
    LnOnnx__Shape *const shape = allocate(sizeof(*shape));
    if (!shape)
        return NULL;
    ln_onnx__shape__init(shape);
    shape->dim = allocate(2 * sizeof(*shape->dim));
    for (int i = 0; shape->dim && i < 2; i++) {
        shape->dim[i] = new_dim(i ? len : 1);
        shape->n_dim += shape->dim[i] != NULL;
    }
    if (shape->n_dim == 2 && (len >= 0 || shape->dim[1]->dim_param))
        return shape;
    protobuf_c_message_free_unpacked(&shape->base, ln_onnx_allocator());
    return NULL;
}

// The element type of the map's values; 0: they are not tensors.
static int value_type(const LnOnnx__MapType *map)
{
    ln_error err = {0};
    const ln_infile bytes = {.data = map->value_type.data, .size = map->value_type.len};
    LnOnnx__Type *const type =
        ln_onnx_unpack(&ln_onnx__type__descriptor, &bytes, "not a type", &err);
    const int elem_type = type && type->tensor_type ? type->tensor_type->elem_type : 0;
    if (type)
        ln_onnx__type__free_unpacked(type, ln_onnx_allocator());
    return elem_type;
}

static int replace_type(LnOnnx__Type *type, const LnOnnx__Node *node)
{
    LnOnnx__TensorType *const tensor = allocate(sizeof(*tensor));
    if (!tensor)
        return -1;
    ln_onnx__tensor_type__init(tensor);
    tensor->has_elem_type = 1;
    tensor->elem_type = value_type(type->map_type);
    tensor->shape = new_shape(length_of(node));
    type->tensor_type = tensor;
    return tensor->shape ? 0 : -1;
}

// Inputs

static int is_map(const LnOnnx__ValueInfo *value)
{
    return value->type && !value->type->tensor_type && value->type->map_type;
}

// The graph's inputs that are maps, by name; NULL: none, or no memory.
static ln_hash *find_maps(const LnOnnx__Graph *graph, int *n)
{
    *n = 0;
    for (size_t i = 0; i < graph->n_input; i++)
        *n += is_map(graph->input[i]);
    ln_hash *const maps = *n ? ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL) : NULL;
    for (size_t i = 0; maps && i < graph->n_input; i++)
        if (is_map(graph->input[i]) &&
            ln_hash_insert(maps, ln_onnx_text(graph->input[i]->name), graph->input[i]) < 0) {
            ln_hash_free(maps);
            return NULL;
        }
    return maps;
}

int ln_onnx_replace_maps(LnOnnx__Graph *graph)
{
    int n, status = 0;
    ln_hash *const maps = find_maps(graph, &n);
    if (n && !maps)
        return -1;
    for (size_t i = 0; maps && i < graph->n_node && !status; i++) {
        const LnOnnx__Node *const node = graph->node[i];
        const int reads = is_ml_node(node, "CastMap") || is_ml_node(node, "DictVectorizer");
        LnOnnx__ValueInfo *const map =
            reads && node->n_input ? ln_hash_find(maps, node->input[0]) : NULL;
        if (map && is_map(map))
            status = replace_type(map->type, node);
    }
    ln_hash_free(maps);
    return status;
}

// Keys

// NULL: no memory. Strings that are not UTF-8 become null.
static json_t *keys_of(const LnOnnx__Node *node, const char *ints_name, const char *strings_name)
{
    const LnOnnx__Attribute *const ints = attr_of(node, ints_name);
    const LnOnnx__Attribute *const strings = attr_of(node, strings_name);
    json_t *const keys = json_array();
    int status = keys ? 0 : -1;
    for (size_t i = 0; ints && i < ints->n_ints && !status; i++)
        status = json_array_append_new(keys, json_integer(ints->ints[i]));
    for (size_t i = 0; strings && i < strings->n_strings && !status; i++) {
        const ProtobufCBinaryData *const s = &strings->strings[i];
        json_t *const key = json_stringn(s->len ? (const char *)s->data : "", s->len);
        status = json_array_append_new(keys, key ? key : json_null());
    }
    if (!status)
        return keys;
    json_decref(keys);
    return NULL;
}

// Adds the keys (taken; NULL: no memory) of an input or output.
static int add_keys(ln_interface *interface, const char *name, json_t *keys)
{
    const size_t len = keys ? json_dumpb(keys, NULL, 0, 0) : 0;
    char *const text = len ? ln_alloc(len + 1) : NULL;
    const size_t size = sizeof("keys of ") + strlen(name);
    char *const key = ln_alloc(size);
    int status = -1;
    if (text && key) {
        text[json_dumpb(keys, text, len, 0)] = '\0';
        snprintf(key, size, "keys of %s", name);
        status = ln_interface_add_metadata(interface, key, text);
    }
    json_decref(keys);
    ln_free(text);
    ln_free(key);
    return status;
}

int ln_onnx_describe_maps(const LnOnnx__Graph *graph, ln_interface *interface)
{
    int status = 0;
    for (size_t i = 0; i < graph->n_node && !status; i++) {
        const LnOnnx__Node *const node = graph->node[i];
        if (is_ml_node(node, "ZipMap") && node->n_output)
            status = add_keys(interface, node->output[0],
                              keys_of(node, "classlabels_int64s", "classlabels_strings"));
        else if (is_ml_node(node, "DictVectorizer") && node->n_input)
            status = add_keys(interface, node->input[0],
                              keys_of(node, "int64_vocabulary", "string_vocabulary"));
    }
    return status;
}
