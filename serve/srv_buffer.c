// SPDX-License-Identifier: Apache-2.0
// Bytes that grow, text, and strings of JSON.

#include "srv_buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *srv_buffer_room(srv_buffer *b, size_t size)
{
    enum { MIN = 256 };
    if (size > SIZE_MAX / 2 - b->size) {
        b->has_failed = 1;
        return NULL;
    }
    if (b->size + size > b->capacity) {
        size_t capacity = b->capacity ? b->capacity : MIN;
        while (capacity < b->size + size)
            capacity *= 2;
        char *const data = realloc(b->data, capacity);
        if (!data) {
            b->has_failed = 1;
            return NULL;
        }
        b->data = data;
        b->capacity = capacity;
    }
    return b->data + b->size;
}

void srv_buffer_add(srv_buffer *b, const void *bytes, size_t size)
{
    void *const room = size ? srv_buffer_room(b, size) : NULL;
    if (!room)
        return;
    memcpy(room, bytes, size);
    b->size += size;
}

void srv_buffer_text(srv_buffer *b, const char *text)
{
    srv_buffer_add(b, text, strlen(text));
}

void srv_buffer_printf(srv_buffer *b, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    const int size = vsnprintf(NULL, 0, fmt, args);
    char *const room = size < 0 ? NULL : srv_buffer_room(b, (size_t)size + 1);
    if (room) {
        vsnprintf(room, (size_t)size + 1, fmt, again);
        b->size += (size_t)size;
    }
    va_end(again);
    va_end(args);
}

// The bytes of the UTF-8 character at `s`, 1 to 4; 0: it is none. RFC 3629, section 4.
static size_t character_size(const unsigned char *s, size_t size)
{
    static const struct {
        unsigned char first_min, first_max, second_min, second_max, n;
    } forms[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if (*s < forms[i].first_min || *s > forms[i].first_max)
            continue;
        if (forms[i].n > size ||
            (forms[i].n > 1 && (s[1] < forms[i].second_min || s[1] > forms[i].second_max)))
            return 0;
        for (size_t k = 2; k < forms[i].n; k++)
            if ((s[k] & 0xc0) != 0x80)
                return 0;
        return forms[i].n;
    }
    return 0;
}

int srv_is_utf8(const char *text, size_t size)
{
    const unsigned char *s = (const unsigned char *)text, *const end = s + size;
    while (s < end) {
        const size_t n = character_size(s, (size_t)(end - s));
        if (!n)
            return 0;
        s += n;
    }
    return 1;
}

void srv_buffer_json(srv_buffer *b, const char *text, size_t size)
{
    const unsigned char *s = (const unsigned char *)text, *const end = s + size;
    srv_buffer_text(b, "\"");
    while (s < end) {
        const size_t n = character_size(s, (size_t)(end - s));
        if (!n)
            srv_buffer_text(b, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            srv_buffer_printf(b, "\\%c", *s);
        else if (*s < 0x20)
            srv_buffer_printf(b, "\\u%04x", *s);
        else
            srv_buffer_add(b, s, n);
        s += n ? n : 1;
    }
    srv_buffer_text(b, "\"");
}

void srv_buffer_clear(srv_buffer *b)
{
    free(b->data);
    *b = (srv_buffer){.data = NULL};
}
