// SPDX-License-Identifier: Apache-2.0
// Preprocessed IL: text, and the source location of each line.

#ifndef LN_IL_TEXT_H
#define LN_IL_TEXT_H

#include <stddef.h>

#include "lightnet/ln_msg.h"

/* A line of a file. */
typedef struct ln_il_place {
    const char *file;
    int line;
} ln_il_place;

/* All zero: empty. */
typedef struct ln_il_text {
    char *text;
    size_t len, room;
    ln_il_place *lines; /* the location of each line */
    size_t n_lines, lines_room;
} ln_il_text;

/** Records "FILE:LINE: reason". Returns -1. */
int ln_il_fail(ln_error *err, ln_il_place place, const char *fmt, ...) LN_PRINTF(3, 4);

/** The same where there is no memory. */
int ln_il_fail_memory(ln_error *err, ln_il_place place);

/** Appends `len` bytes without newlines to the last line, which must exist. -1: no memory. */
int ln_il_text_append(ln_il_text *t, const char *bytes, size_t len);

/** Begins another line. `place` borrows its file. -1: no memory. */
int ln_il_text_begin_line(ln_il_text *t, ln_il_place place);

void ln_il_text_free(ln_il_text *t);

#endif
