// SPDX-License-Identifier: Apache-2.0
// Scanning relaxed JSON: a place in a text that knows its line and column, and what is read there.
//
// Functions that fail record "FILE:LINE:COLUMN: reason" for the place where they are.

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
} ln_scan;

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

/** Steps over the string at this place. Returns new: its content (ln_free). NULL on failure. */
char *ln_scan_quoted(ln_scan *ps);

/** ln_scan_quoted for a string between '''; *first_line becomes the line of its content. */
char *ln_scan_block(ln_scan *ps, int *first_line);

/** -1 when what follows is not UTF-8 up to the end. Leaves the place as it is. */
int ln_scan_check_utf8(ln_scan ps);

/** Returns new: the next `len` bytes, which exist, as a string (ln_free). NULL on failure. */
char *ln_scan_copy(const ln_scan *ps, size_t len);

/** Records a reason for a place in a file; returns -1. */
int ln_scan_fail_at(const char *file, int line, int column, ln_error *err, const char *fmt,
                    va_list args);

/** Records a reason for this place; returns -1. */
int ln_scan_fail(const ln_scan *ps, const char *fmt, ...) LN_PRINTF(2, 3);

/** The same where there is no memory. */
int ln_scan_fail_memory(const ln_scan *ps);

/** Records what is here and what was expected; returns -1. */
int ln_scan_expected(const ln_scan *ps, const char *what);

#endif
