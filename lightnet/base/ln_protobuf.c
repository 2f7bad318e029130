// SPDX-License-Identifier: Apache-2.0
// The wire format of Protocol Buffers, read field by field.

#include "base/ln_protobuf.h"

enum { MAX_VARINT_SIZE = 10 };

static int read_varint(ln_protobuf *in, ln_protobuf_part *part, uint64_t *value)
{
    const size_t rest = part->end - part->at,
                 size = rest < MAX_VARINT_SIZE ? rest : MAX_VARINT_SIZE;
    const unsigned char *bytes = ln_view_at(&in->view, part->at, size, in->err);
    in->is_broken |= !bytes;
    *value = 0;
    for (size_t i = 0; bytes && i < size; i++) {
        part->at++;
        *value |= (uint64_t)(bytes[i] & 0x7f) << 7 * i;
        if (!(bytes[i] & 0x80))
            return 0;
    }
    return -1;
}

// Splits off the first `size` bytes of the part.
static int split_off(ln_protobuf_part *part, uint64_t size, ln_protobuf_part *first)
{
    if (size > part->end - part->at)
        return -1;
    *first = (ln_protobuf_part){part->at, part->at + (size_t)size};
    part->at += (size_t)size;
    return 0;
}

static int read_value(ln_protobuf *in, ln_protobuf_part *part, ln_protobuf_field *field)
{
    uint64_t number;
    const size_t begin = part->at;
    switch (field->type) {
    case LN_PROTOBUF_VARINT:
        if (read_varint(in, part, &number))
            return -1;
        field->value = (ln_protobuf_part){begin, part->at};
        return 0;
    case LN_PROTOBUF_FIXED64:
        return split_off(part, 8, &field->value);
    case LN_PROTOBUF_FIXED32:
        return split_off(part, 4, &field->value);
    case LN_PROTOBUF_BYTES:
        if (read_varint(in, part, &number))
            return -1;
        field->missing = number > part->end - part->at ? number - (part->end - part->at) : 0;
        return split_off(part, number, &field->value);
    default:
        return -1;
    }
}

int ln_protobuf_read(ln_protobuf *in, ln_protobuf_part *part, ln_protobuf_field *field)
{
    uint64_t tag;
    *field = (ln_protobuf_field){.begin = part->at};
    if (read_varint(in, part, &tag) || tag >> 3 > UINT32_MAX >> 3)
        return -1;
    field->number = (uint32_t)(tag >> 3);
    field->type = (int)(tag & 7);
    return field->number ? read_value(in, part, field) : -1;
}

// Recognition of messages, also in builds without a Protocol Buffers library

// The fields of a message by type: bit n for field number n, bit 0 for numbers from 64.
typedef struct fields {
    uint64_t varints, bytes, others;
} fields;

// Messages with more fields are not recognized, which bounds the time.
enum { MAX_FIELDS = 1 << 20 };

// Collects the fields of the part. -1: it is empty, or not a complete message.
static int collect_fields(ln_protobuf *in, ln_protobuf_part part, fields *found)
{
    *found = (fields){0};
    if (part.at == part.end)
        return -1;
    for (int n = 0; part.at < part.end; n++) {
        ln_protobuf_field f;
        if (n == MAX_FIELDS || ln_protobuf_read(in, &part, &f))
            return -1;
        const uint64_t bit = f.number < 64 ? (uint64_t)1 << f.number : 1;
        *(f.type == LN_PROTOBUF_VARINT  ? &found->varints
          : f.type == LN_PROTOBUF_BYTES ? &found->bytes
                                        : &found->others) |= bit;
    }
    return 0;
}

int ln_protobuf_is_message(const unsigned char *data, size_t size)
{
    fields f;
    ln_protobuf in = {.view.file = &(const ln_infile){.data = data, .size = size}};
    return !collect_fields(&in, (ln_protobuf_part){0, size}, &f);
}

// TensorFlow

#define FIELD(n) ((uint64_t)1 << (n))

// SavedModel: a version (1) and MetaGraphDefs (2), each beginning with MetaInfoDef (1).
static int is_saved_model(ln_protobuf *in, ln_protobuf_part part)
{
    fields f;
    ln_protobuf_field first, second;
    return !collect_fields(in, part, &f) && f.varints == FIELD(1) && f.bytes == FIELD(2) &&
           !f.others && !ln_protobuf_read(in, &part, &first) &&
           !ln_protobuf_read(in, &part, &second) && second.type == LN_PROTOBUF_BYTES &&
           !ln_protobuf_read(in, &second.value, &first) && first.number == 1 &&
           first.type == LN_PROTOBUF_BYTES;
}

// GraphDef: NodeDefs (1) with name (1), op (2) and further bytes up to 7; library (2), version (3),
// versions (4).
static int is_graph_def(ln_protobuf *in, ln_protobuf_part part)
{
    fields f, node;
    ln_protobuf_field first;
    return !collect_fields(in, part, &f) && f.bytes & FIELD(1) &&
           !(f.bytes & ~(FIELD(1) | FIELD(2) | FIELD(4))) && !(f.varints & ~FIELD(3)) &&
           !f.others && !ln_protobuf_read(in, &part, &first) && first.number == 1 &&
           !collect_fields(in, first.value, &node) && node.bytes & FIELD(1) &&
           node.bytes & FIELD(2) && !(node.bytes & ~(uint64_t)0xfe) && !node.varints &&
           !node.others;
}

const char *ln_protobuf_foreign(const unsigned char *data, size_t size)
{
    ln_protobuf in = {.view.file = &(const ln_infile){.data = data, .size = size}};
    const ln_protobuf_part all = {0, size};
    return is_saved_model(&in, all) ? "a TensorFlow SavedModel"
           : is_graph_def(&in, all) ? "a TensorFlow graph"
                                    : NULL;
}

// ONNX

typedef struct field_row {
    uint32_t number;
    int type;
} field_row;

enum {
    VARINT = LN_PROTOBUF_VARINT,
    FIXED64 = LN_PROTOBUF_FIXED64,
    BYTES = LN_PROTOBUF_BYTES,
    FIXED32 = LN_PROTOBUF_FIXED32
};

static const field_row model_fields[] = {
    {1, VARINT}, {2, BYTES},  {3, BYTES},  {4, BYTES},  {5, VARINT}, {6, BYTES}, {7, BYTES},
    {8, BYTES},  {14, BYTES}, {20, BYTES}, {25, BYTES}, {26, BYTES}, {0, 0},
};
static const field_row tensor_fields[] = {
    {1, VARINT}, {1, BYTES},   {2, VARINT},   {3, BYTES},   {4, BYTES},  {4, FIXED32},
    {5, VARINT}, {5, BYTES},   {6, BYTES},    {7, VARINT},  {7, BYTES},  {8, BYTES},
    {9, BYTES},  {10, BYTES},  {10, FIXED64}, {11, VARINT}, {11, BYTES}, {12, BYTES},
    {13, BYTES}, {14, VARINT}, {16, BYTES},   {0, 0},
};

static int is_known(const field_row *known, const ln_protobuf_field *f)
{
    for (; known->number; known++)
        if (known->number == f->number && known->type == f->type)
            return 1;
    return 0;
}

// Whether the bytes, which may be truncated, have only known fields, at least one.
static int has_known_fields(const field_row *known, const unsigned char *data, size_t size)
{
    ln_protobuf in = {.view.file = &(const ln_infile){.data = data, .size = size}};
    ln_protobuf_part part = {0, size};
    int n = 0;
    for (; part.at < part.end; n++) {
        ln_protobuf_field f;
        const int status = ln_protobuf_read(&in, &part, &f);
        if (!is_known(known, &f))
            return 0;
        if (status) // truncated: the fields so far decide
            return n > 0;
    }
    return n > 0;
}

int ln_protobuf_is_onnx_model(const unsigned char *data, size_t size)
{
    return has_known_fields(model_fields, data, size);
}

int ln_protobuf_is_onnx_tensor(const unsigned char *data, size_t size)
{
    return has_known_fields(tensor_fields, data, size);
}

// SequenceProto and OptionalProto: name (1), elem_type (2), tensors (3), sequences (5). In an empty
// TensorProto, dims (1) has a 0 and is not text; others have their data in other fields, of which
// only 5 (int32_data) can resemble a sequence.

// Values of elem_type.
enum { UNDEFINED, TENSOR, SEQUENCE = 3 };

// The byte of a part of size 1, else -1.
static int single_byte(ln_protobuf *in, const ln_protobuf_part *part)
{
    const unsigned char *byte =
        part->end - part->at == 1 ? ln_view_at(&in->view, part->at, 1, in->err) : NULL;
    return byte ? *byte : -1;
}

static int is_text(ln_protobuf *in, ln_protobuf_part part)
{
    for (; part.at < part.end; part.at++) {
        const unsigned char *byte = ln_view_at(&in->view, part.at, 1, in->err);
        if (!byte || *byte < ' ')
            return 0;
    }
    return 1;
}

// `depth` 1: a sequence in another message. Without elem_type, there is no value, and an empty file
// is no sequence.
static int is_sequence(ln_protobuf *in, ln_protobuf_part part, int depth)
{
    int elem_type = UNDEFINED, n_fields = 0, n_tensors = 0, n_sequences = 0;
    for (; part.at < part.end; n_fields++) {
        ln_protobuf_field f;
        if (n_fields == MAX_FIELDS || ln_protobuf_read(in, &part, &f))
            return 0;
        if (f.number == 2 && f.type == VARINT)
            elem_type = single_byte(in, &f.value);
        else if (f.number == 3 && f.type == BYTES)
            n_tensors++;
        else if (f.number == 5 && f.type == BYTES && !depth && is_sequence(in, f.value, 1))
            n_sequences++;
        else if (f.number != 1 || f.type != BYTES || !is_text(in, f.value))
            return 0;
    }
    return elem_type == TENSOR      ? !n_sequences
           : elem_type == SEQUENCE  ? !n_tensors && !depth
           : elem_type == UNDEFINED ? !n_tensors && !n_sequences && (depth || n_fields)
                                    : 0;
}

int ln_protobuf_is_onnx_sequence(const ln_infile *file)
{
    ln_protobuf in = {.view.file = file};
    return is_sequence(&in, (ln_protobuf_part){0, file->size}, 0);
}
