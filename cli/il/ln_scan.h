// SPDX-License-Identifier: Apache-2.0
// Scans text at a location with line and column.
//
// Functions that fail record "FILE:LINE:COLUMN: reason" for the current location, or call `fail`.

#pragma once

#include <stdarg.h>
#include <stddef.h>

#include "lightnet/ln_msg.h"

/** A position in a text. */
typedef struct ln_scan {
    const char *file; // borrowed, for messages
    const char *p;    // the next byte
    const char *end;
    int line; // the location of the next byte; columns count characters
    int column;
    ln_error *err;

    // Records a reason for this location, and returns -1; NULL: see above.
    int (*fail)(const struct ln_scan *ps, const char *reason);
    const void *owner; // its argument
} ln_scan;

/** Text that grows, with a NUL at the end. All zero: none; free `at` (ln_free). */
typedef struct ln_scan_text {
    char *at;
    size_t len, room;
} ln_scan_text;

/** Whether the text ends here. */
int ln_scan_is_end(const ln_scan *ps);

/** The byte `n` positions ahead, '\0' after the end; a NUL in the text is invalid everywhere,
 * too. */
char ln_scan_peek(const ln_scan *ps, size_t n);

/** Skips `n` bytes, which exist. */
void ln_scan_step(ln_scan *ps, size_t n);

/** Skips white space and comments. */
void ln_scan_blanks(ln_scan *ps);

/** Appends bytes. -1 with a reason: no memory. */
int ln_scan_add(const ln_scan *ps, ln_scan_text *text, const char *bytes, size_t len);

/** Skips the string at this location and appends its content. It may have escape sequences of JSON
 * and C, `\$`, and control characters. -1 with a reason. */
int ln_scan_string(ln_scan *ps, ln_scan_text *text);

/** Records a reason for this location; returns -1. */
int ln_scan_fail(const ln_scan *ps, const char *fmt, ...) LN_PRINTF(2, 3);
int ln_scan_vfail(const ln_scan *ps, const char *fmt, va_list args);
