// SPDX-License-Identifier: Apache-2.0
// Which program's message some bytes are, by the numbers and types of its fields, in builds without
// a Protocol Buffers library, too.

#include "base/ln_protobuf.h"

// Source of the wire format: Protocol Buffers, "Encoding".
enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct field {
    uint64_t number;
    int type;
    const unsigned char *bytes; // of type BYTES: the value
    size_t size;
} field;

typedef struct cursor {
    const unsigned char *p, *end;
} cursor;

static int read_varint(cursor *c, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && c->p < c->end; shift += 7) {
        const unsigned char byte = *c->p++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return 0;
    }
    return -1;
}

static int skip(cursor *c, uint64_t size)
{
    if (size > (size_t)(c->end - c->p))
        return -1;
    c->p += size;
    return 0;
}

static int read_field(cursor *c, field *f)
{
    uint64_t tag, value = 0;
    if (read_varint(c, &tag) || !(tag >> 3))
        return -1;
    *f = (field){.number = tag >> 3, .type = (int)(tag & 7)};
    switch (f->type) {
    case VARINT:
        return read_varint(c, &value);
    case FIXED64:
        return skip(c, 8);
    case FIXED32:
        return skip(c, 4);
    case BYTES:
        if (read_varint(c, &value))
            return -1;
        f->bytes = c->p;
        f->size = (size_t)value;
        return skip(c, value);
    default:
        return -1;
    }
}

/* The fields that a message has, numbers below 64 as bits, those beyond as bit 0. */
typedef struct fields {
    uint64_t varints, bytes, others;
} fields;

// Messages with more fields are not looked at: the time stays short, whatever the file.
enum { MOST_FIELDS = 1 << 20 };

// -1: the bytes are not a whole message.
static int find_fields(const unsigned char *data, size_t size, fields *found)
{
    cursor c = {data, data + size};
    *found = (fields){0};
    for (int n = 0; c.p < c.end; n++) {
        field f;
        if (n == MOST_FIELDS || read_field(&c, &f))
            return -1;
        const uint64_t bit = f.number < 64 ? (uint64_t)1 << f.number : 1;
        *(f.type == VARINT  ? &found->varints
          : f.type == BYTES ? &found->bytes
                            : &found->others) |= bit;
    }
    return size ? 0 : -1;
}

#define FIELD(n) ((uint64_t)1 << (n))

// ModelProto: ir_version, texts, graph (7), opset_import (8).
int ln_protobuf_is_onnx(const unsigned char *data, size_t size)
{
    fields f;
    return !find_fields(data, size, &f) && !f.others && !((f.varints | f.bytes) & 1) &&
           !(f.varints & ~(FIELD(1) | FIELD(5))) && f.bytes & FIELD(7) &&
           (f.varints & FIELD(1) || f.bytes & FIELD(8));
}

// SavedModel: a version (1) and MetaGraphDefs (2), each beginning with MetaInfoDef (1).
static int is_saved_model(const unsigned char *data, size_t size)
{
    fields f;
    cursor c = {data, data + size};
    field first, second;
    return !find_fields(data, size, &f) && f.varints == FIELD(1) && f.bytes == FIELD(2) &&
           !f.others && !read_field(&c, &first) && !read_field(&c, &second) &&
           second.type == BYTES && second.size && second.bytes[0] == (1 << 3 | BYTES);
}

// GraphDef: NodeDefs (1), each beginning with name (1) and op (2); library (2), versions (4).
static int is_graph_def(const unsigned char *data, size_t size)
{
    fields f, node;
    cursor c = {data, data + size};
    field first;
    return !find_fields(data, size, &f) && f.bytes & FIELD(1) &&
           !(f.bytes & ~(FIELD(1) | FIELD(2) | FIELD(4))) && !(f.varints & ~FIELD(3)) &&
           !f.others && !read_field(&c, &first) && first.number == 1 &&
           !find_fields(first.bytes, first.size, &node) && node.bytes & FIELD(1) &&
           node.bytes & FIELD(2) && !(node.bytes & ~(uint64_t)0xfe) && !node.varints &&
           !node.others;
}

const char *ln_protobuf_foreign(const unsigned char *data, size_t size)
{
    return is_saved_model(data, size) ? "a TensorFlow SavedModel"
           : is_graph_def(data, size) ? "a TensorFlow graph"
                                      : NULL;
}

int ln_protobuf_is_message(const unsigned char *data, size_t size)
{
    fields f;
    return !find_fields(data, size, &f);
}
