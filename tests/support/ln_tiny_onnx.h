// SPDX-License-Identifier: Apache-2.0
// Small ONNX models for tests, written as Protocol Buffers by hand.
//
//     tiny_model m = {0};
//     tiny_input(&m, "a", TINY_FLOAT, "batch,3");
//     tiny_node(&m, "Relu", "a", NULL, "y");
//     tiny_output(&m, "y", TINY_FLOAT, "batch,3");
//     tiny_bytes bytes = tiny_end(&m);

#pragma once

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** ONNX's numbers of types. */
enum { TINY_FLOAT = 1, TINY_INT64 = 7, TINY_STRING = 8, TINY_BOOL = 9, TINY_DOUBLE = 11 };

typedef struct tiny_bytes {
    unsigned char data[4096];
    size_t size;
} tiny_bytes;

typedef struct tiny_model {
    tiny_bytes graph, metadata;
    int opset; // 0: 17
} tiny_model;

static inline void tiny_put(tiny_bytes *b, const void *data, size_t size)
{
    assert(size <= sizeof(b->data) - b->size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void tiny_varint(tiny_bytes *b, uint64_t n)
{
    unsigned char byte;
    do {
        byte = (unsigned char)((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
        tiny_put(b, &byte, 1);
    } while (n >>= 7);
}

static inline void tiny_number(tiny_bytes *b, unsigned field, uint64_t n)
{
    tiny_varint(b, field << 3);
    tiny_varint(b, n);
}

static inline void tiny_data(tiny_bytes *b, unsigned field, const void *data, size_t size)
{
    tiny_varint(b, field << 3 | 2);
    tiny_varint(b, size);
    tiny_put(b, data, size);
}

static inline void tiny_text(tiny_bytes *b, unsigned field, const char *text)
{
    tiny_data(b, field, text, strlen(text));
}

static inline void tiny_message(tiny_bytes *b, unsigned field, const tiny_bytes *message)
{
    tiny_data(b, field, message->data, message->size);
}

/** A size: a number, a name, or "?". */
static inline void tiny_dim(tiny_bytes *shape, const char *text)
{
    tiny_bytes dim = {.size = 0};
    if (isdigit((unsigned char)*text))
        tiny_number(&dim, 1, strtoull(text, NULL, 10));
    else if (*text != '?')
        tiny_text(&dim, 2, text);
    tiny_message(shape, 1, &dim);
}

/** Sizes with commas between them; "": a scalar, NULL: no shape. */
static inline void tiny_value(tiny_bytes *graph, unsigned field, const char *name, int type,
                              const char *sizes)
{
    tiny_bytes shape = {.size = 0}, tensor = {.size = 0}, kind = {.size = 0}, value = {.size = 0};
    char text[256];
    if (sizes) {
        strcpy(text, sizes);
        for (char *dim = strtok(text, ","); dim; dim = strtok(NULL, ","))
            tiny_dim(&shape, dim);
    }
    tiny_number(&tensor, 1, (uint64_t)type);
    if (sizes)
        tiny_message(&tensor, 2, &shape);
    tiny_message(&kind, 1, &tensor);
    tiny_text(&value, 1, name);
    tiny_message(&value, 2, &kind);
    tiny_message(graph, field, &value);
}

static inline void tiny_input(tiny_model *m, const char *name, int type, const char *sizes)
{
    tiny_value(&m->graph, 11, name, type, sizes);
}

static inline void tiny_output(tiny_model *m, const char *name, int type, const char *sizes)
{
    tiny_value(&m->graph, 12, name, type, sizes);
}

/** An input (field 11) or output (12) that is a sequence of tensors of unknown shapes. */
static inline void tiny_sequence(tiny_model *m, unsigned field, const char *name, int type)
{
    tiny_bytes tensor = {.size = 0}, element = {.size = 0}, sequence = {.size = 0};
    tiny_bytes kind = {.size = 0}, value = {.size = 0};
    tiny_number(&tensor, 1, (uint64_t)type);
    tiny_message(&element, 1, &tensor);
    tiny_message(&sequence, 1, &element);
    tiny_message(&kind, 4, &sequence);
    tiny_text(&value, 1, name);
    tiny_message(&value, 2, &kind);
    tiny_message(&m->graph, field, &value);
}

/** src2 may be NULL. */
static inline void tiny_node(tiny_model *m, const char *type, const char *src1, const char *src2,
                             const char *dst)
{
    tiny_bytes node = {.size = 0};
    tiny_text(&node, 1, src1);
    if (src2)
        tiny_text(&node, 1, src2);
    tiny_text(&node, 2, dst);
    tiny_text(&node, 4, type);
    tiny_message(&m->graph, 1, &node);
}

/** A constant of `len` elements, which have `size` bytes in all. */
static inline void tiny_constant(tiny_model *m, const char *name, int type, int len,
                                 const void *data, size_t size)
{
    tiny_bytes tensor = {.size = 0};
    tiny_number(&tensor, 1, (uint64_t)len);
    tiny_number(&tensor, 2, (uint64_t)type);
    tiny_text(&tensor, 8, name);
    tiny_data(&tensor, 9, data, size);
    tiny_message(&m->graph, 5, &tensor);
}

static inline void tiny_note(tiny_model *m, const char *key, const char *value)
{
    tiny_bytes entry = {.size = 0};
    tiny_text(&entry, 1, key);
    tiny_text(&entry, 2, value);
    tiny_message(&m->metadata, 14, &entry);
}

static inline tiny_bytes tiny_end(const tiny_model *m)
{
    tiny_bytes model = {.size = 0}, opset = {.size = 0};
    tiny_number(&opset, 2, m->opset ? (uint64_t)m->opset : 17);
    tiny_number(&model, 1, 8);
    tiny_message(&model, 7, &m->graph);
    tiny_message(&model, 8, &opset);
    tiny_put(&model, m->metadata.data, m->metadata.size);
    return model;
}

/** y = the sum of x, of this shape, over the axes that an input names: the number of dimensions
 * depends on them, so a program is for one value of `axes`. */
static inline tiny_bytes tiny_sum_over_axes(const char *shape)
{
    tiny_model m = {.graph.size = 0};
    tiny_input(&m, "x", TINY_FLOAT, shape);
    tiny_input(&m, "axes", TINY_INT64, "1");
    tiny_node(&m, "ReduceSum", "x", "axes", "y");
    tiny_output(&m, "y", TINY_FLOAT, NULL);
    return tiny_end(&m);
}
