// SPDX-License-Identifier: Apache-2.0
// Preprocessed IL: text that grows, line by line.

#include "il/ln_il_text.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "lightnet/ln_util.h"

int ln_il_fail(ln_error *err, ln_il_place place, const char *fmt, ...)
{
    char reason[LN_MAXLINE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    return ln_error_set(err, "%s:%d: %s", place.file, place.line, reason);
}

int ln_il_fail_memory(ln_error *err, ln_il_place place)
{
    return ln_il_fail(err, place, LN_MEMORY_REASON);
}

int ln_il_text_append(ln_il_text *t, const char *bytes, size_t len)
{
    if (len >= t->room - t->len) {
        const size_t room = 2 * t->room + len + 256;
        char *text = ln_realloc(t->text, room);
        if (!text)
            return -1;
        t->text = text;
        t->room = room;
    }
    memcpy(t->text + t->len, bytes, len);
    t->len += len;
    t->text[t->len] = '\0';
    return 0;
}

int ln_il_text_begin_line(ln_il_text *t, ln_il_place place)
{
    if (t->n_lines == t->lines_room) {
        const size_t room = 2 * t->lines_room + 64;
        ln_il_place *lines = ln_realloc(t->lines, room * sizeof(*lines));
        if (!lines)
            return -1;
        t->lines = lines;
        t->lines_room = room;
    }
    t->lines[t->n_lines++] = place;
    return t->n_lines > 1 ? ln_il_text_append(t, "\n", 1) : 0;
}

void ln_il_text_free(ln_il_text *t)
{
    ln_free(t->text);
    ln_free(t->lines);
    *t = (ln_il_text){0};
}
