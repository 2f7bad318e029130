// SPDX-License-Identifier: Apache-2.0
// Messages of Protocol Buffers, in memory that is freed at once and has a limit.
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "srv_buffer.h"
#include "srv_status.h"

/** Memory of messages. Zero: no limit is reached, since none is allowed: set `left`. */
typedef struct srv_arena {
    struct srv_chunk *first;
    size_t left;    // bytes that may still be allocated
    int has_failed; // the limit was reached, or there was no memory
} srv_arena;

/** Bytes at a multiple of 16, zeroed; NULL: no memory, or above the limit. */
void *srv_arena_alloc(srv_arena *arena, size_t size);

/** A copy of `text`, or NULL. */
char *srv_arena_text(srv_arena *arena, const char *text);

/** Frees all of it. */
void srv_arena_clear(srv_arena *arena);

/** Reads a message into the arena, which owns it. NULL with a reason: it is none, or too large. */
const ProtobufCMessage *srv_proto_unpack(srv_arena *arena, const ProtobufCMessageDescriptor *type,
                                         const void *bytes, size_t size, srv_error *err);

enum { SRV_PROTO_PREFIX = 5 }; // bytes before a message in gRPC: 0 (not compressed), its size

/** Appends the prefix and the message. -1 with a reason: no memory, more than 4 GB. */
int srv_proto_pack(const ProtobufCMessage *message, srv_buffer *b, srv_error *err);
