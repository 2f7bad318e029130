// SPDX-License-Identifier: Apache-2.0
// Tests of messages in limited memory.

#include "srv_proto.h"

#include <stdint.h>
#include <string.h>

#include "ln_check.h"
#include "srv_proto.pb-c.h"

START_TEST(arena_gives_zeroed_memory_up_to_its_limit)
{
    srv_arena arena = {.left = 100000};
    const char *const small = srv_arena_alloc(&arena, 100);
    const char *const large = srv_arena_alloc(&arena, 60000);
    ck_assert_ptr_nonnull(small);
    ck_assert_ptr_nonnull(large);
    ck_assert_uint_eq((uintptr_t)small % 16, 0);
    ck_assert_uint_eq((uintptr_t)large % 16, 0);
    for (int i = 0; i < 60000; i++)
        ck_assert_int_eq(large[i], 0);
    ck_assert_str_eq(srv_arena_text(&arena, "text"), "text");
    ck_assert_int_eq(arena.has_failed, 0);
    ck_assert_ptr_null(srv_arena_alloc(&arena, 60000));
    ck_assert_int_eq(arena.has_failed, 1);
    ck_assert_ptr_null(srv_arena_alloc(&arena, SIZE_MAX));
    srv_arena_clear(&arena);
}
END_TEST

START_TEST(message_returns_as_it_was_packed)
{
    char *extensions[] = {"a", ""};
    Inference__ServerMetadataResponse message = INFERENCE__SERVER_METADATA_RESPONSE__INIT;
    srv_buffer b = {.data = NULL};
    srv_arena arena = {.left = 4096};
    srv_error err = {.status = SRV_OK};
    message.name = "n";
    message.n_extensions = 2;
    message.extensions = extensions;
    ck_assert_int_eq(srv_proto_pack(&message.base, &b, &err), 0);
    ck_assert_uint_eq(b.size, 5 + 8);
    ck_assert_mem_eq(b.data,
                     "\0\0\0\0\x08\x0a\x01n\x1a\x01"
                     "a\x1a\0",
                     b.size);
    const Inference__ServerMetadataResponse *const got =
        (const void *)srv_proto_unpack(&arena, &inference__server_metadata_response__descriptor,
                                       b.data + SRV_PROTO_PREFIX, b.size - SRV_PROTO_PREFIX, &err);
    ck_assert_ptr_nonnull(got);
    ck_assert_str_eq(got->name, "n");
    ck_assert_str_eq(got->version, "");
    ck_assert_uint_eq(got->n_extensions, 2);
    ck_assert_str_eq(got->extensions[0], "a");
    srv_arena_clear(&arena);
    srv_buffer_clear(&b);
}
END_TEST

START_TEST(what_is_no_message_or_too_large_is_told_apart)
{
    static const unsigned char bad[] = {0x0a, 5, 'x'};
    unsigned char many[4096];
    srv_arena arena = {.left = 4096};
    srv_error err = {.status = SRV_OK};
    ck_assert_ptr_null(srv_proto_unpack(&arena, &inference__model_ready_request__descriptor, bad,
                                        sizeof(bad), &err));
    ck_assert_int_eq((int)err.status, SRV_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "inference.ModelReadyRequest"));
    srv_arena_clear(&arena);
    for (size_t i = 0; i < sizeof(many); i += 2) { // inputs without any field
        many[i] = 0x2a;
        many[i + 1] = 0;
    }
    arena.left = 4096;
    err.status = SRV_OK;
    ck_assert_ptr_null(srv_proto_unpack(&arena, &inference__model_infer_request__descriptor, many,
                                        sizeof(many), &err));
    ck_assert_int_eq((int)err.status, SRV_TOO_LARGE);
    srv_arena_clear(&arena);
}
END_TEST

LN_TEST_MAIN("messages of Protocol Buffers", arena_gives_zeroed_memory_up_to_its_limit,
             message_returns_as_it_was_packed, what_is_no_message_or_too_large_is_told_apart)
