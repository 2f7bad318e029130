// SPDX-License-Identifier: Apache-2.0
// Scanning text: a place in it that knows its line and column, and what is read there.
//
// Functions that fail record "FILE:LINE:COLUMN: reason" for the place where they are, or what
// `fail` makes of it.

#ifndef LN_SCAN_H
#define LN_SCAN_H

#include <stdarg.h>
#include <stddef.h>

#include "lightnet/ln_msg.h"

/** A place in a text. */
typedef struct ln_scan {
    const char *file; /* borrowed, for messages */
    const char *p;    /* the next byte */
    const char *end;
    int line; /* the place of the next byte; columns count characters */
    int column;
    int depth; /* of nested arrays and objects */
    ln_error *err;

    /* Records a reason for this place in its own way, and returns -1; NULL: see above. */
    int (*fail)(const struct ln_scan *ps, const char *reason);
    const void *owner; /* what it needs for that */
} ln_scan;

/** Text that grows, with a NUL behind it. All zero: none; free `at` (ln_free). */
typedef struct ln_scan_text {
    char *at;
    size_t len, room;
} ln_scan_text;

/** Whether nothing comes any more. */
int ln_scan_is_end(const ln_scan *ps);

/** The byte `n` places ahead, '\0' behind the end; a NUL in the text is no valid byte anywhere
 * either. */
char ln_scan_peek(const ln_scan *ps, size_t n);

/** Whether `word` comes next. */
int ln_scan_at(const ln_scan *ps, const char *word);

/** Steps over `n` bytes that exist. */
void ln_scan_step(ln_scan *ps, size_t n);

/** Steps over white space and comments. */
void ln_scan_blanks(ln_scan *ps);

/** Appends bytes. -1 with a reason: no memory. */
int ln_scan_add(const ln_scan *ps, ln_scan_text *text, const char *bytes, size_t len);

/** Steps over the string at this place and appends its content. `is_c`: it may have escape
 * sequences of C and `\$`, and control characters, besides what JSON has. -1 with a reason. */
int ln_scan_string(ln_scan *ps, ln_scan_text *text, int is_c);

/** Steps over the string of JSON at this place. Returns new: its content (ln_free). NULL on
 * failure. */
char *ln_scan_quoted(ln_scan *ps);

/** ln_scan_quoted for a string between '''; *first_line becomes the line of its content. */
char *ln_scan_block(ln_scan *ps, int *first_line);

/** -1 when what follows is not UTF-8 up to the end. Leaves the place as it is. */
int ln_scan_check_utf8(ln_scan ps);

/** Returns new: the next `len` bytes, which exist, as a string (ln_free). NULL on failure. */
char *ln_scan_copy(const ln_scan *ps, size_t len);

/** Records a reason for this place; returns -1. */
int ln_scan_fail(const ln_scan *ps, const char *fmt, ...) LN_PRINTF(2, 3);
int ln_scan_vfail(const ln_scan *ps, const char *fmt, va_list args);

/** The same where there is no memory. */
int ln_scan_fail_memory(const ln_scan *ps);

/** Records what is here and what was expected; returns -1. */
int ln_scan_expected(const ln_scan *ps, const char *what);

#endif
