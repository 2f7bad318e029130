// SPDX-License-Identifier: Apache-2.0
// Messages, and the bounded record of an error.
//
// A record keeps the reason of a failure as one line of text. There are two kinds:
// - An object's own (a context has one): the first reason wins, since later failures are mostly
//   consequences. It stays until ln_error_clear.
// - The calling thread's, meant wherever an `ln_error *` is NULL, for functions without an object:
//   the newest failing call wins. Like errno, it is meaningful only after a failed call.
//
//     if (weight->ndim != 4)
//         return ln_error_set(NULL, "'weight' has %d dimensions, expected 4", weight->ndim);
//     ...
//     fprintf(stderr, "error: %s\n", ln_last_error());

#ifndef LN_MSG_H
#define LN_MSG_H

#include <stdarg.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_util.h"

LN_BEGIN_DECLS

typedef enum ln_msg_level {
    LN_MSG_DEBUG,
    LN_MSG_INFO,
    LN_MSG_WARN,
    LN_MSG_ERROR,
    LN_MSG_INTER_ERROR, // an error that no input should cause: a bug of the program
} ln_msg_level;

/** Receives one message: a line without its newline,
 * borrowed. `data` was registered with the function. */
typedef void (*ln_msg_func)(void *data, ln_msg_level level, const char *text);

/** "debug", "info", "warning", "error" or "internal error", as printed in front of a message. */
LN_API const char *ln_msg_level_name(ln_msg_level level);
/** Passes a formatted message to `func`, as one line, escaped and truncated like the text of a
 * record; func NULL: does nothing. */
LN_API void ln_msg_send(ln_msg_func func, void *data, ln_msg_level level, const char *fmt, ...)
    LN_PRINTF(4, 5);

// Text for a terminal. Names in models and of files are untrusted: unescaped, they could move the
// cursor, erase or forge lines, or reverse the text direction.

/** The character at `text`, of at most `left` (> 0) bytes, as it can be printed on a terminal:
 * control characters, and bytes that are not UTF-8, become \x1b, line separators and marks of
 * direction \u202e, and others stay. Writes it to `buf`, without a NUL, and the bytes of `text` to
 * *used. Returns its length. */
LN_API size_t ln_escape_char(char buf[8], const char *text, size_t left, size_t *used);
/** Writes `text` to `buf` of `size` bytes as ln_escape_char does, with a NUL, truncated between
 * characters. Escaped text stays unchanged. Returns the length without truncation. */
LN_API size_t ln_escape(char *buf, size_t size, const char *text);

/** The record. All zero: no reason. A reason is never empty, and escaped
 * (ln_escape); a long one is truncated between characters and ends in "...". */
typedef struct ln_error {
    char text[LN_MAXLINE];
    ln_status status; // of the reason; LN_OK: not specified
} ln_error;

/** Records a reason by the rule of its kind of record.
 * Arguments may point into the record. Returns -1. */
LN_API int ln_error_set(ln_error *err, const char *fmt, ...) LN_PRINTF(2, 3);
/** ln_error_set with a va_list. */
LN_API int ln_error_vset(ln_error *err, const char *fmt, va_list args) LN_PRINTF(2, 0);
/** As ln_error_set, with a status, which the record keeps. Returns -1. */
LN_API int ln_error_set_as(ln_error *err, ln_status status, const char *fmt, ...) LN_PRINTF(3, 4);
/** ln_error_set_as with a va_list. */
LN_API int ln_error_vset_as(ln_error *err, ln_status status, const char *fmt, va_list args)
    LN_PRINTF(3, 0);
/** As ln_error_set, with the calling thread's reason and its status; err NULL: changes nothing.
 * Returns -1. */
LN_API int ln_error_set_last(ln_error *err);
/** Puts "TEXT: " before the recorded reason, to add its location (file, operator). Without
 * a reason, TEXT becomes the reason. Arguments may point into the record. Returns -1. */
LN_API int ln_error_prefix(ln_error *err, const char *fmt, ...) LN_PRINTF(2, 3);
/** Clears the reason. */
LN_API void ln_error_clear(ln_error *err);
/** The reason, or "". Returns borrowed, until the record changes. */
LN_API const char *ln_error_text(const ln_error *err);
/** The status of the reason; LN_OK: no reason, or it has none. NULL: the calling thread's. */
LN_API ln_status ln_error_status(const ln_error *err);
/** The reason of the calling thread's latest failed call, or "": ln_error_text(NULL). */
LN_API const char *ln_last_error(void);

LN_END_DECLS

#endif
