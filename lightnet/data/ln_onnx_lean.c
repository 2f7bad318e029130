// SPDX-License-Identifier: Apache-2.0
// ONNX messages without their large data.

#include "data/ln_onnx_lean.h"

#include <inttypes.h>
#include <string.h>

#include "base/ln_alloc_fail.h"
#include "base/ln_budget.h"
#include "base/ln_error_memory.h"
#include "base/ln_protobuf.h"
#include "lightnet/ln_util.h"
#include "ln_onnx.pb-c.h"

// A request to stop ends the unpacking of a message like a lack of memory.
static void *allocate(void *data, size_t size)
{
    (void)data;
    return ln_budget_is_over() ? NULL : ln_alloc(size);
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

// The numbers of lean_offset and lean_size in ln_onnx.proto.
enum { LEAN_OFFSET = 1000, LEAN_SIZE = 1001 };

// The max nesting of messages. A graph within a node adds three: node, attribute, graph.
enum { MAX_DEPTH = 200 };

// Data of up to this many bytes stays: a replacement would not be shorter.
enum { SMALL = 32 };

// Writing

typedef struct writer {
    ln_protobuf *in;
    unsigned char *data;
    size_t size, capacity;
    size_t n_fields; // that were read
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

// Unchanged bytes of the file.
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
    return -(put_varint(w, (uint64_t)number << 3 | LN_PROTOBUF_VARINT) || put_varint(w, value));
}

// The length of a message is written after it: over a varint of the max width, or as one byte.
enum { LENGTH_SIZE = 5, MAX_SHORT = 0x7f };

static int set_length(writer *w, size_t at, size_t length)
{
    if (length >> (7 * LENGTH_SIZE))
        return ln_error_set(
            w->err, "a message without its data has %zu bytes, more than ONNX allows", length);
    for (size_t i = 0; i < LENGTH_SIZE; i++, length >>= 7)
        w->data[at + i] = (unsigned char)((length & 0x7f) | (i + 1 < LENGTH_SIZE ? 0x80 : 0));
    return 0;
}

static void shorten_length(writer *w, size_t at, size_t length)
{
    w->data[at] = (unsigned char)length;
    memmove(w->data + at + 1, w->data + at + LENGTH_SIZE, length);
    w->size -= LENGTH_SIZE - 1;
}

static int end_length(writer *w, size_t at)
{
    const size_t length = w->size - at - LENGTH_SIZE;
    if (length > MAX_SHORT)
        return set_length(w, at, length);
    shorten_length(w, at, length);
    return 0;
}

static int put_message(writer *w, const ProtobufCMessageDescriptor *kind, ln_protobuf_part c,
                       int depth);

static int put_nested(writer *w, const ln_protobuf_field *f, const ProtobufCMessageDescriptor *kind,
                      int depth)
{
    static const unsigned char no_length[LENGTH_SIZE];
    if (put_varint(w, (uint64_t)f->number << 3 | LN_PROTOBUF_BYTES))
        return -1;
    const size_t at = w->size;
    return -(put(w, no_length, LENGTH_SIZE) || put_message(w, kind, f->value, depth + 1) ||
             end_length(w, at));
}

// protobuf-c would merge a repeated singular message with the first, copying all elements each
// time; writers produce none. `met` has a bit for each field.
static int check_single(writer *w, const ProtobufCMessageDescriptor *within,
                        const ProtobufCFieldDescriptor *field, uint64_t *met)
{
    const uint64_t bit = field->id < 64 ? (uint64_t)1 << field->id : 0;
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return 0;
    if (*met & bit)
        return ln_error_set(w->err, "field '%s' of a message '%s' occurs twice, expected once",
                            field->name, within->short_name);
    *met |= bit;
    return 0;
}

// The field, if its value is again a message, or NULL.
static const ProtobufCFieldDescriptor *nested_field(const ProtobufCMessageDescriptor *within,
                                                    const ln_protobuf_field *f)
{
    const ProtobufCFieldDescriptor *const field =
        f->type == LN_PROTOBUF_BYTES ? protobuf_c_message_descriptor_get_field(within, f->number)
                                     : NULL;
    return field && field->type == PROTOBUF_C_TYPE_MESSAGE ? field : NULL;
}

static int put_field(writer *w, const ProtobufCMessageDescriptor *within,
                     const ln_protobuf_field *f, uint64_t *met, int depth)
{
    const size_t size = f->value.end - f->value.at;
    const int is_tensor = within == &ln_onnx__tensor__descriptor;
    const ProtobufCFieldDescriptor *const nested = nested_field(within, f);
    if (is_tensor && (f->number == LEAN_OFFSET || f->number == LEAN_SIZE))
        return 0; // files cannot set the fields of lean messages
    if (nested)
        return -(check_single(w, within, nested, met) ||
                 put_nested(w, f, nested->descriptor, depth));
    // float_data, raw_data, double_data: little-endian elements one after the other.
    const int is_data = is_tensor && (f->number == 4 || f->number == 9 || f->number == 10);
    if (f->type == LN_PROTOBUF_BYTES && size > SMALL && is_data)
        return -(put_number(w, LEAN_OFFSET, f->value.at) || put_number(w, LEAN_SIZE, size));
    return put_copy(w, f->begin, f->value.end);
}

// A field of the file that cannot be read, or of a message within it.
static int fail_field(const writer *w, const ln_protobuf_field *f, int depth)
{
    const size_t size = w->in->view.file->size;
    if (w->in->is_broken)
        return -1;
    if (depth == 0 && f->missing && f->missing <= UINT64_MAX - size)
        return ln_error_set(w->err,
                            "the file is incomplete: it has %zu bytes, expected at least %" PRIu64,
                            size, f->missing + size);
    return ln_error_set(w->err, "the message is truncated or damaged at byte %zu", f->begin);
}

// Polls for a stop every FIELDS_PER_CHECK fields.
enum { FIELDS_PER_CHECK = 64 };

static int put_message(writer *w, const ProtobufCMessageDescriptor *kind, ln_protobuf_part c,
                       int depth)
{
    uint64_t met = 0;
    if (depth > MAX_DEPTH)
        return ln_error_set(w->err, "graphs are nested more than %d deep", MAX_DEPTH / 3);
    while (c.at < c.end) {
        ln_protobuf_field f;
        if (w->n_fields++ % FIELDS_PER_CHECK == 0 && ln_budget_check(w->err))
            return -1;
        if (ln_protobuf_read(w->in, &c, &f))
            return fail_field(w, &f, depth);
        if (put_field(w, kind, &f, &met, depth))
            return -1;
    }
    return 0;
}

unsigned char *ln_onnx_lean(const ProtobufCMessageDescriptor *kind, const ln_infile *file,
                            size_t *lean_size, ln_error *err)
{
    ln_protobuf in = {.view.file = file, .err = err};
    writer w = {.in = &in, .err = err};
    if (grow(&w, 1) || put_message(&w, kind, (ln_protobuf_part){0, file->size}, 0)) {
        ln_free(w.data);
        return NULL;
    }
    *lean_size = w.size;
    return w.data;
}

static int unpack_fail(ln_error *err, unsigned long failures, const char *what)
{
    if (ln_budget_check(err))
        return -1;
    return ln_alloc_failures() > failures ? ln_error_memory(err) : ln_error_set(err, "%s", what);
}

void *ln_onnx_unpack(const ProtobufCMessageDescriptor *kind, const ln_infile *file,
                     const char *what, ln_error *err)
{
    size_t size;
    unsigned char *lean = ln_onnx_lean(kind, file, &size, err);
    if (!lean)
        return NULL;
    const unsigned long failures = ln_alloc_failures();
    ProtobufCMessage *const message =
        protobuf_c_message_unpack(kind, ln_onnx_allocator(), size, lean);
    ln_free(lean);
    if (!message)
        unpack_fail(err, failures, what);
    return message;
}
