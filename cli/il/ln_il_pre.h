// SPDX-License-Identifier: Apache-2.0
// The parts of the preprocessor: tokens, macros and included files.

#pragma once

#include <stdint.h>

#include "il/ln_il.h"

// Tokens

/** Types of tokens. */
enum {
    LN_IL_TOKEN_END, // of the text, or where only a line is read, of that
    LN_IL_TOKEN_NAME,
    LN_IL_TOKEN_NUMBER,
    LN_IL_TOKEN_STRING,
    LN_IL_TOKEN_OTHER, // a character, "##" or "..."
};

/** Flags of tokens. */
enum {
    LN_IL_AFTER_BLANK = 1,
    LN_IL_FIRST_OF_LINE = 2,
    LN_IL_NOT_EXPANDED = 4, // a name after a NUL: a macro within itself, it is never expanded
};

/** Its text is borrowed. */
typedef struct ln_il_token {
    const char *text;
    uint32_t len;
    uint8_t kind;
    uint8_t flags;
} ln_il_token;

/** Reads a text from its beginning to its end. */
typedef struct ln_il_scanner {
    const char *at, *end;
    ln_il_place place; // of `at`
    int begins_line;
    int skips; // skipped text: an unterminated quote is not an error
    ln_error *err;
} ln_il_scanner;

/** Prepares a text in place: removes a byte order mark, ends lines with '\n', and joins lines
 * continued by '\', followed by an empty line. Returns its length. */
size_t ln_il_join_lines(char *text, size_t len);

/** Reads the next token; `within_line`: stops at the newline. Comments count as blanks. -1 with a
 * reason: a comment or a string without its end. */
int ln_il_scan(ln_il_scanner *s, int within_line, ln_il_token *t);

/** Whether names and numbers have the character. */
int ln_il_is_name_char(char c);

/** Whether the token is this text. */
int ln_il_token_is(const ln_il_token *t, const char *text);

/** Whether the token begins a directive. */
int ln_il_token_is_directive(const ln_il_token *t);

/** Appends to the last line, after a blank if `after_blank`, or if bytes would otherwise become
 * part of the last token. -1: no memory. */
int ln_il_text_append_apart(ln_il_text *t, const char *bytes, size_t len, int after_blank);

// Macros

// Tokens come from a stack of texts: the source at the bottom, above it expansions of macros, which
// are scanned again. Arguments are expanded before they become part of an expansion, unless next to
// # or ##.

typedef struct ln_il_macros {
    ln_hash *table;
    struct ln_il_expansion *top; // read before the source; NULL: none
    ln_il_scanner *source;       // the caller's
    const ln_il_host *host;
    ln_il_place place;   // of the latest token of the source, or of the call around it
    int depth;           // arguments within arguments
    size_t steps, bytes; // that expansions have made
    ln_error *err;
} ln_il_macros;

/** Begins with an empty table; the caller sets `source` (ln_il_macros_end). -1 with a reason. */
int ln_il_macros_begin(ln_il_macros *m, const ln_il_host *host, ln_error *err);

/** Accepts one that was not begun: all zero. */
void ln_il_macros_end(ln_il_macros *m);

/** Defines a macro: its name, and the rest of the line, which are kept. -1 with a reason. */
int ln_il_macros_define(ln_il_macros *m, const ln_il_token *name, const ln_il_scanner *line);

void ln_il_macros_undefine(ln_il_macros *m, const ln_il_token *name);

int ln_il_macros_has(const ln_il_macros *m, const ln_il_token *name);

/** The next token of the source with macros expanded, or the # of a directive. -1 with a reason. */
int ln_il_macros_next(ln_il_macros *m, ln_il_token *t);

/** Evaluates a condition (ln_il_eval), with macros expanded and `defined NAME` as 1 or 0. -1 with a
 * reason. */
int ln_il_macros_evaluate(ln_il_macros *m, const char *text, const char *end, int *is_true);

// Included files

/** A file that was read; its strings are new (ln_free). */
typedef struct ln_il_included {
    char *text;
    size_t len;
    char *name;   // for messages
    char *folder; // its folder, relative to the search folder: "parts/"
} ln_il_included;

/** Reads the file that a file in `folder`, below a search folder, includes as `path`: searched in
 * that folder first. -1 with a reason that begins with the path. */
int ln_il_include(const ln_il_host *host, const char *folder, const char *path,
                  ln_il_included *file, ln_error *err);
