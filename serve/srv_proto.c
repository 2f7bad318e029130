// SPDX-License-Identifier: Apache-2.0
// An arena in which protobuf-c reads messages that clients have made.

#include "srv_proto.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 16, CHUNK = 16 << 10 };

struct srv_chunk {
    struct srv_chunk *next;
    size_t used, size; // of the bytes that follow
    _Alignas(ALIGNMENT) char bytes[];
};

static struct srv_chunk *add_chunk(srv_arena *arena, size_t size)
{
    struct srv_chunk *const chunk = calloc(1, sizeof(*chunk) + size);
    if (!chunk)
        return NULL;
    chunk->size = size;
    chunk->next = arena->first;
    arena->first = chunk;
    return chunk;
}

void *srv_arena_alloc(srv_arena *arena, size_t size)
{
    const size_t need = size / ALIGNMENT * ALIGNMENT + ALIGNMENT;
    struct srv_chunk *chunk = arena->first;
    if (size > arena->left || need > arena->left) {
        arena->has_failed = 1;
        return NULL;
    }
    if (!chunk || chunk->size - chunk->used < need)
        chunk = add_chunk(arena, need > CHUNK ? need : CHUNK);
    if (!chunk) {
        arena->has_failed = 1;
        return NULL;
    }
    void *const at = chunk->bytes + chunk->used;
    chunk->used += need;
    arena->left -= need;
    return at;
}

char *srv_arena_text(srv_arena *arena, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *const copy = srv_arena_alloc(arena, size);
    return copy ? memcpy(copy, text, size) : NULL;
}

void srv_arena_clear(srv_arena *arena)
{
    while (arena->first) {
        struct srv_chunk *const chunk = arena->first;
        arena->first = chunk->next;
        free(chunk);
    }
    *arena = (srv_arena){.first = NULL};
}

static void *alloc(void *data, size_t size)
{
    return srv_arena_alloc(data, size);
}

static void keep(void *data, void *pointer)
{
    (void)data;
    (void)pointer; // the arena frees all at once
}

const ProtobufCMessage *srv_proto_unpack(srv_arena *arena, const ProtobufCMessageDescriptor *type,
                                         const void *bytes, size_t size, srv_error *err)
{
    ProtobufCAllocator allocator = {alloc, keep, arena};
    const ProtobufCMessage *const message =
        protobuf_c_message_unpack(type, &allocator, size, size ? bytes : (const void *)"");
    if (message)
        return message;
    if (arena->has_failed)
        srv_fail(err, SRV_TOO_LARGE, "the message is too large when it is decoded");
    else
        srv_fail(err, SRV_INVALID, "the message is no %s", type->name);
    return NULL;
}

int srv_proto_pack(const ProtobufCMessage *message, srv_buffer *b, srv_error *err)
{
    const size_t size = protobuf_c_message_get_packed_size(message);
    if (size > UINT32_MAX)
        return srv_fail(err, SRV_TOO_LARGE, "the response has %zu bytes; the max of gRPC is %u",
                        size, UINT32_MAX);
    unsigned char *const to = srv_buffer_room(b, SRV_PROTO_PREFIX + size);
    if (!to)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "the server has no memory for the response");
    to[0] = 0;
    for (int i = 0; i < 4; i++)
        to[1 + i] = (unsigned char)(size >> (24 - 8 * i));
    protobuf_c_message_pack(message, to + SRV_PROTO_PREFIX);
    b->size += SRV_PROTO_PREFIX + size;
    return 0;
}
