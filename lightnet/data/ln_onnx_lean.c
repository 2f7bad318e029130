// SPDX-License-Identifier: Apache-2.0
// ONNX messages without their large data.
//
// Source of the wire format: Protocol Buffers, "Encoding". A message is a sequence of fields: a tag
// (number * 8 + type) as a varint, and a value as the type says: a varint, 4 or 8 bytes, or a
// length as a varint with as many bytes behind it.

#include "data/ln_onnx_lean.h"

#include <stdint.h>
#include <string.h>

#include "lightnet/ln_util.h"

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

// The numbers of lean_offset and lean_size in ln_onnx.proto.
enum { LEAN_OFFSET = 1000, LEAN_SIZE = 1001 };

// Graphs in attributes of nodes of graphs ...; each level is a message in three.
enum { MAX_DEPTH = 200 };

// Data below this many bytes stays: it is as short as what would replace it.
enum { SMALL = 32 };

typedef enum message {
    MODEL,
    GRAPH,
    NODE,
    ATTRIBUTE,
    TENSOR,
    FUNCTION,
    N_MESSAGES,
    NO_MESSAGE = N_MESSAGES
} message;

/* A field whose value is again a message with tensors somewhere within. */
typedef struct nested {
    message within;
    uint32_t number;
    message kind;
} nested;

static const nested all_nested[] = {
    {MODEL, 7, GRAPH},      {MODEL, 25, FUNCTION},  {GRAPH, 1, NODE},      {GRAPH, 5, TENSOR},
    {NODE, 5, ATTRIBUTE},   {ATTRIBUTE, 5, TENSOR}, {ATTRIBUTE, 6, GRAPH}, {ATTRIBUTE, 10, TENSOR},
    {ATTRIBUTE, 11, GRAPH}, {FUNCTION, 7, NODE},
};

static message nested_kind(message within, uint32_t number)
{
    for (size_t i = 0; i < sizeof(all_nested) / sizeof(all_nested[0]); i++)
        if (all_nested[i].within == within && all_nested[i].number == number)
            return all_nested[i].kind;
    return NO_MESSAGE;
}

// float_data, raw_data, double_data: little-endian elements one behind the other.
static int is_data(message within, uint32_t number)
{
    return within == TENSOR && (number == 4 || number == 9 || number == 10);
}

/* Reading */

/* A part of the file that is read from front to back, by offsets. */
typedef struct cursor {
    size_t at, end;
} cursor;

/* What is read: only the bytes around structure, so data costs nothing. */
typedef struct reader {
    ln_view view;
    ln_error *err; /* a failing file is told here, a damaged message by who reads */
    int is_broken;
} reader;

/* A field: its tag, and for BYTES its value. */
typedef struct field {
    size_t begin; /* of the tag */
    uint32_t number;
    int type;
    cursor value; /* BYTES: the value; other types: the value's own bytes */
} field;

enum { LONGEST_VARINT = 10 };

static int read_varint(reader *r, cursor *c, uint64_t *value)
{
    const size_t rest = c->end - c->at, size = rest < LONGEST_VARINT ? rest : LONGEST_VARINT;
    const unsigned char *bytes = ln_view_at(&r->view, c->at, size, r->err);
    r->is_broken |= !bytes;
    *value = 0;
    for (size_t i = 0; bytes && i < size; i++) {
        c->at++;
        *value |= (uint64_t)(bytes[i] & 0x7f) << 7 * i;
        if (!(bytes[i] & 0x80))
            return 0;
    }
    return -1;
}

static int take(cursor *c, uint64_t size, cursor *taken)
{
    if (size > c->end - c->at)
        return -1;
    *taken = (cursor){c->at, c->at + (size_t)size};
    c->at += (size_t)size;
    return 0;
}

static int read_value(reader *r, cursor *c, field *f)
{
    uint64_t number;
    const size_t begin = c->at;
    switch (f->type) {
    case VARINT:
        if (read_varint(r, c, &number))
            return -1;
        f->value = (cursor){begin, c->at};
        return 0;
    case FIXED64:
        return take(c, 8, &f->value);
    case FIXED32:
        return take(c, 4, &f->value);
    case BYTES:
        return read_varint(r, c, &number) ? -1 : take(c, number, &f->value);
    default:
        return -1;
    }
}

static int read_tag(reader *r, cursor *c, field *f)
{
    uint64_t tag;
    f->begin = c->at;
    if (read_varint(r, c, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
        return -1;
    f->number = (uint32_t)(tag >> 3);
    f->type = (int)(tag & 7);
    return 0;
}

/* Recognition */

/* The fields of a model and of a tensor, as strings of number and type. */
typedef struct known_field {
    uint32_t number;
    int type;
} known_field;

static const known_field model_fields[] = {
    {1, VARINT}, {2, BYTES},  {3, BYTES},  {4, BYTES},  {5, VARINT}, {6, BYTES}, {7, BYTES},
    {8, BYTES},  {14, BYTES}, {20, BYTES}, {25, BYTES}, {26, BYTES}, {0, 0},
};
static const known_field tensor_fields[] = {
    {1, VARINT}, {1, BYTES},   {2, VARINT},   {3, BYTES},   {4, BYTES},  {4, FIXED32},
    {5, VARINT}, {5, BYTES},   {6, BYTES},    {7, VARINT},  {7, BYTES},  {8, BYTES},
    {9, BYTES},  {10, BYTES},  {10, FIXED64}, {11, VARINT}, {11, BYTES}, {12, BYTES},
    {13, BYTES}, {14, VARINT}, {16, BYTES},   {0, 0},
};

static int is_known(const known_field *known, const field *f)
{
    for (; known->number; known++)
        if (known->number == f->number && known->type == f->type)
            return 1;
    return 0;
}

int ln_onnx_is(ln_onnx_kind kind, const unsigned char *data, size_t size)
{
    const known_field *known = kind == LN_ONNX_MODEL ? model_fields : tensor_fields;
    const ln_infile bytes = {.data = data, .size = size};
    reader r = {.view.file = &bytes};
    cursor c = {0, size};
    int n = 0;
    for (; c.at < c.end; n++) {
        field f;
        if (read_tag(&r, &c, &f) || !is_known(known, &f))
            return 0;
        if (read_value(&r, &c, &f)) // cut off: still what it began as
            return n > 0;
    }
    return n > 0;
}

/* Writing */

typedef struct writer {
    reader *reader;
    unsigned char *data;
    size_t size, capacity;
    ln_error *err;
} writer;

static int grow(writer *w, size_t size)
{
    size_t needed;
    if (ln_size_add(w->size, size, &needed) || needed > SIZE_MAX / 2)
        return ln_error_set(w->err, "out of memory");
    if (needed <= w->capacity)
        return 0;
    unsigned char *larger = ln_realloc(w->data, needed * 2);
    if (!larger)
        return ln_error_set(w->err, "out of memory");
    w->data = larger;
    w->capacity = needed * 2;
    return 0;
}

static int put(writer *w, const void *data, size_t size)
{
    if (grow(w, size))
        return -1;
    memcpy(w->data + w->size, data, size);
    w->size += size;
    return 0;
}

// Bytes of the file as they are.
static int put_copy(writer *w, size_t begin, size_t end)
{
    if (end - begin <= LN_VIEW_SIZE) {
        const unsigned char *bytes = ln_view_at(&w->reader->view, begin, end - begin, w->err);
        return bytes ? put(w, bytes, end - begin) : -1;
    }
    if (grow(w, end - begin) ||
        ln_infile_read(w->reader->view.file, begin, w->data + w->size, end - begin, w->err))
        return -1;
    w->size += end - begin;
    return 0;
}

static int put_varint(writer *w, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (unsigned char)(value | 0x80);
    bytes[n++] = (unsigned char)value;
    return put(w, bytes, n);
}

static int put_number(writer *w, uint32_t number, uint64_t value)
{
    return put_varint(w, (uint64_t)number << 3 | VARINT) || put_varint(w, value) ? -1 : 0;
}

static int put_place(writer *w, const field *f)
{
    return put_number(w, LEAN_OFFSET, f->value.at) ||
                   put_number(w, LEAN_SIZE, f->value.end - f->value.at)
               ? -1
               : 0;
}

// The length of a message that is written later has the width of any length.
enum { LENGTH_SIZE = 5 };

static int set_length(writer *w, size_t at, size_t length)
{
    if (length >> (7 * LENGTH_SIZE))
        return ln_error_set(
            w->err, "a message without its data has %zu bytes, more than ONNX allows", length);
    for (size_t i = 0; i < LENGTH_SIZE; i++, length >>= 7)
        w->data[at + i] = (unsigned char)((length & 0x7f) | (i + 1 < LENGTH_SIZE ? 0x80 : 0));
    return 0;
}

static int put_message(writer *w, message kind, cursor c, int depth);

static int put_nested(writer *w, const field *f, message kind, int depth)
{
    static const unsigned char no_length[LENGTH_SIZE];
    if (put_varint(w, (uint64_t)f->number << 3 | BYTES) || put(w, no_length, LENGTH_SIZE))
        return -1;
    const size_t begin = w->size;
    return put_message(w, kind, f->value, depth + 1) ||
                   set_length(w, begin - LENGTH_SIZE, w->size - begin)
               ? -1
               : 0;
}

static int put_field(writer *w, message within, const field *f, int depth)
{
    const size_t size = f->value.end - f->value.at;
    const message kind = f->type == BYTES ? nested_kind(within, f->number) : NO_MESSAGE;
    if (within == TENSOR && (f->number == LEAN_OFFSET || f->number == LEAN_SIZE))
        return 0; // a file cannot say this
    if (kind != NO_MESSAGE)
        return put_nested(w, f, kind, depth);
    if (f->type == BYTES && size > SMALL && is_data(within, f->number))
        return put_place(w, f);
    return put_copy(w, f->begin, f->value.end);
}

static int put_message(writer *w, message kind, cursor c, int depth)
{
    if (depth > MAX_DEPTH)
        return ln_error_set(w->err, "graphs are nested more than %d deep", MAX_DEPTH / 3);
    while (c.at < c.end) {
        field f;
        const size_t at = c.at;
        if (read_tag(w->reader, &c, &f) || read_value(w->reader, &c, &f))
            return w->reader->is_broken
                       ? -1
                       : ln_error_set(w->err, "the message is broken off or damaged at byte %zu",
                                      at);
        if (put_field(w, kind, &f, depth))
            return -1;
    }
    return 0;
}

unsigned char *ln_onnx_lean(ln_onnx_kind kind, const ln_infile *file, size_t *lean_size,
                            ln_error *err)
{
    reader r = {.view.file = file, .err = err};
    writer w = {.reader = &r, .err = err};
    if (grow(&w, 1) ||
        put_message(&w, kind == LN_ONNX_MODEL ? MODEL : TENSOR, (cursor){0, file->size}, 0)) {
        ln_free(w.data);
        return NULL;
    }
    *lean_size = w.size;
    return w.data;
}
