// SPDX-License-Identifier: Apache-2.0
// Bytes that grow. Where memory runs out, a buffer keeps what it has and notes the failure.
#pragma once

#include <stddef.h>

#include "lightnet/ln_api.h"

typedef struct srv_buffer {
    char *data; // NULL before the first byte
    size_t size, capacity;
    int has_failed;
} srv_buffer;

/** Appends bytes, a string, or formatted text. */
void srv_buffer_add(srv_buffer *b, const void *bytes, size_t size);
void srv_buffer_text(srv_buffer *b, const char *text);
void srv_buffer_printf(srv_buffer *b, const char *fmt, ...) LN_PRINTF(2, 3);

/** Appends a JSON string with its quotes; `text` is UTF-8, other bytes become U+FFFD. */
void srv_buffer_json(srv_buffer *b, const char *text, size_t size);

/** Whether the bytes are UTF-8. Source: RFC 3629, section 4. */
int srv_is_utf8(const char *text, size_t size);

/** Room for `size` more bytes, whose number the caller adds to b->size. NULL: no memory. */
void *srv_buffer_room(srv_buffer *b, size_t size);

/** Frees the bytes; the buffer is empty again. */
void srv_buffer_clear(srv_buffer *b);
