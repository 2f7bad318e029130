// SPDX-License-Identifier: Apache-2.0
// The wire format of Protocol Buffers, read field by field.

#include "base/ln_protobuf.h"

enum { LONGEST_VARINT = 10 };

static int read_varint(ln_protobuf *in, ln_protobuf_part *part, uint64_t *value)
{
    const size_t rest = part->end - part->at, size = rest < LONGEST_VARINT ? rest : LONGEST_VARINT;
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

static int take(ln_protobuf_part *part, uint64_t size, ln_protobuf_part *taken)
{
    if (size > part->end - part->at)
        return -1;
    *taken = (ln_protobuf_part){part->at, part->at + (size_t)size};
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
        return take(part, 8, &field->value);
    case LN_PROTOBUF_FIXED32:
        return take(part, 4, &field->value);
    case LN_PROTOBUF_BYTES:
        return read_varint(in, part, &number) ? -1 : take(part, number, &field->value);
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
