// SPDX-License-Identifier: Apache-2.0
// The tokens of the preprocessor (C11, 6.4): names, numbers, strings, and single characters.

#ifndef LN_IL_SCAN_H
#define LN_IL_SCAN_H

#include <stdint.h>

#include "il/ln_il_text.h"

/* What a token is. */
enum {
    LN_IL_TOKEN_END, /* of the text, or where only a line is read, of that */
    LN_IL_TOKEN_NAME,
    LN_IL_TOKEN_NUMBER,
    LN_IL_TOKEN_STRING,
    LN_IL_TOKEN_CHAR,  /* 'c' */
    LN_IL_TOKEN_OTHER, /* a character, or several that are one in C, such as ## */
};

/* What else is known of it. */
enum {
    LN_IL_AFTER_BLANK = 1,
    LN_IL_FIRST_OF_LINE = 2,
    LN_IL_NOT_EXPANDED = 4, /* a macro's name within that macro: it stays for ever */
};

/* Its text is borrowed. */
typedef struct ln_il_token {
    const char *text;
    uint32_t len;
    uint8_t kind;
    uint8_t flags;
} ln_il_token;

/* Tokens in a row; all zero: none. */
typedef struct ln_il_tokens {
    ln_il_token *at;
    size_t n, room;
} ln_il_tokens;

/* Reads a text from its beginning to its end. */
typedef struct ln_il_scanner {
    const char *at, *end;
    ln_il_place place; /* of `at` */
    int begins_line;
    int skips; /* text that nobody looks at: a quote without its other half is no error */
    ln_error *err;
} ln_il_scanner;

/** Prepares a text in place: without a byte order mark at its beginning, with lines that end in
 *  '\n', and where '\' continues one on the next, both as one, followed by an empty one. Returns
 * its length. */
size_t ln_il_join_lines(char *text, size_t len);

/** Reads the next token, in the present line only if `within_line`: its newline is left. Comments
 * are blanks. -1 with a reason: a comment or a string without its end. */
int ln_il_scan(ln_il_scanner *s, int within_line, ln_il_token *t);

/** Whether the token is this text. */
int ln_il_token_is(const ln_il_token *t, const char *text);

/** Whether two tokens written side by side without a blank would read as others. */
int ln_il_tokens_stick(const ln_il_token *left, const ln_il_token *right);

/** -1: no memory, without a reason. */
int ln_il_tokens_push(ln_il_tokens *list, ln_il_token t);

/** The `i`-th token, or the end behind the last one. */
const ln_il_token *ln_il_tokens_from(const ln_il_tokens *list, size_t i);

void ln_il_tokens_free(ln_il_tokens *list);

#endif
