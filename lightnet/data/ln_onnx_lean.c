// SPDX-License-Identifier: Apache-2.0
// ONNX messages without their large data.

#include "data/ln_onnx_lean.h"

#include <stdint.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_error_memory.h"
#include "base/ln_protobuf.h"
#include "lightnet/ln_util.h"

static void *allocate(void *data, size_t size)
{
    (void)data;
    return ln_alloc(size);
}

static void release(void *data, void *ptr)
{
    (void)data;
    ln_free(ptr);
}

ProtobufCAllocator *ln_onnx_allocator(void)
{
    static ProtobufCAllocator allocator = {allocate, release, NULL};
    return &allocator;
}

int ln_onnx_unpack_fail(ln_error *err, unsigned long failures, const char *what)
{
    return ln_alloc_failures() > failures ? ln_error_memory(err) : ln_error_set(err, "%s", what);
}

// The numbers of lean_offset and lean_size in ln_onnx.proto.
enum { LEAN_OFFSET = 1000, LEAN_SIZE = 1001 };

// Graphs in attributes of nodes of graphs ...; each level is a message in three.
enum { MAX_DEPTH = 200 };

// Data below this many bytes stays: a replacement would not be shorter.
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

/* Writing */

typedef struct writer {
    ln_protobuf *in;
    unsigned char *data;
    size_t size, capacity;
    ln_error *err;
} writer;

static int grow(writer *w, size_t size)
{
    size_t needed;
    if (ln_size_add(w->size, size, &needed) || needed > SIZE_MAX / 2)
        return ln_error_memory(w->err);
    if (needed <= w->capacity)
        return 0;
    unsigned char *larger = ln_realloc(w->data, needed * 2);
    if (!larger)
        return ln_error_memory(w->err);
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
        const unsigned char *bytes = ln_view_at(&w->in->view, begin, end - begin, w->err);
        return bytes ? put(w, bytes, end - begin) : -1;
    }
    if (grow(w, end - begin) ||
        ln_infile_read(w->in->view.file, begin, w->data + w->size, end - begin, w->err))
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
    return put_varint(w, (uint64_t)number << 3 | LN_PROTOBUF_VARINT) || put_varint(w, value) ? -1
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

static int put_message(writer *w, message kind, ln_protobuf_part c, int depth);

static int put_nested(writer *w, const ln_protobuf_field *f, message kind, int depth)
{
    static const unsigned char no_length[LENGTH_SIZE];
    if (put_varint(w, (uint64_t)f->number << 3 | LN_PROTOBUF_BYTES) ||
        put(w, no_length, LENGTH_SIZE))
        return -1;
    const size_t begin = w->size;
    return put_message(w, kind, f->value, depth + 1) ||
                   set_length(w, begin - LENGTH_SIZE, w->size - begin)
               ? -1
               : 0;
}

static int put_field(writer *w, message within, const ln_protobuf_field *f, int depth)
{
    const size_t size = f->value.end - f->value.at;
    const message kind = f->type == LN_PROTOBUF_BYTES ? nested_kind(within, f->number) : NO_MESSAGE;
    if (within == TENSOR && (f->number == LEAN_OFFSET || f->number == LEAN_SIZE))
        return 0; // a file cannot express this
    if (kind != NO_MESSAGE)
        return put_nested(w, f, kind, depth);
    // float_data, raw_data, double_data: little-endian elements one after the other.
    const int is_data = within == TENSOR && (f->number == 4 || f->number == 9 || f->number == 10);
    if (f->type == LN_PROTOBUF_BYTES && size > SMALL && is_data)
        return put_number(w, LEAN_OFFSET, f->value.at) || put_number(w, LEAN_SIZE, size) ? -1 : 0;
    return put_copy(w, f->begin, f->value.end);
}

static int put_message(writer *w, message kind, ln_protobuf_part c, int depth)
{
    if (depth > MAX_DEPTH)
        return ln_error_set(w->err, "graphs are nested more than %d deep", MAX_DEPTH / 3);
    while (c.at < c.end) {
        ln_protobuf_field f;
        const size_t at = c.at;
        if (ln_protobuf_read(w->in, &c, &f))
            return w->in->is_broken
                       ? -1
                       : ln_error_set(w->err, "the message is truncated or damaged at byte %zu",
                                      at);
        if (put_field(w, kind, &f, depth))
            return -1;
    }
    return 0;
}

unsigned char *ln_onnx_lean(ln_onnx_kind kind, const ln_infile *file, size_t *lean_size,
                            ln_error *err)
{
    ln_protobuf in = {.view.file = file, .err = err};
    writer w = {.in = &in, .err = err};
    if (grow(&w, 1) || put_message(&w, kind == LN_ONNX_MODEL ? MODEL : TENSOR,
                                   (ln_protobuf_part){0, file->size}, 0)) {
        ln_free(w.data);
        return NULL;
    }
    *lean_size = w.size;
    return w.data;
}
