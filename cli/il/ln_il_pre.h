// SPDX-License-Identifier: Apache-2.0
// The parts of the preprocessor (C11, 6.4 and 6.10): tokens, conditions, macros and included files.

#ifndef LN_IL_PRE_H
#define LN_IL_PRE_H

#include <stdint.h>

#include "il/ln_il.h"

// Tokens: names, numbers, strings, and single characters

/** Types of tokens. */
enum {
    LN_IL_TOKEN_END, // of the text, or where only a line is read, of that
    LN_IL_TOKEN_NAME,
    LN_IL_TOKEN_NUMBER,
    LN_IL_TOKEN_STRING,
    LN_IL_TOKEN_CHAR,  // 'c'
    LN_IL_TOKEN_OTHER, // a character, or several that are one in C, such as ##
};

/** Flags of tokens. */
enum {
    LN_IL_AFTER_BLANK = 1,
    LN_IL_FIRST_OF_LINE = 2,
    LN_IL_NOT_EXPANDED = 4, // a macro's name within that macro: it is never expanded
};

/** Its text is borrowed. */
typedef struct ln_il_token {
    const char *text;
    uint32_t len;
    uint8_t kind;
    uint8_t flags;
} ln_il_token;

/** Tokens in a row; all zero: none. */
typedef struct ln_il_tokens {
    ln_il_token *at;
    size_t n, capacity;
} ln_il_tokens;

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

/** Whether the token is this text. */
int ln_il_token_is(const ln_il_token *t, const char *text);

/** Whether two tokens without a blank in between would read as other tokens. */
int ln_il_tokens_stick(const ln_il_token *left, const ln_il_token *right);

/** -1: no memory, without a reason. */
int ln_il_tokens_push(ln_il_tokens *list, ln_il_token t);

/** The `i`-th token, or the end after the last one. */
const ln_il_token *ln_il_tokens_from(const ln_il_tokens *list, size_t i);

void ln_il_tokens_free(ln_il_tokens *list);

// Conditions

/** Evaluates an expression after expansion of macros and `defined`: integers of 64 bits,
 * characters, names, which are 0, and all operators of C on them. *is_true: whether it is not 0. -1
 * with a reason at `place`. */
int ln_il_if(const ln_il_tokens *tokens, ln_il_place place, int *is_true, ln_error *err);

// Macros

// Tokens come from a stack: the source at the bottom, above it expansions of macros, which are
// rescanned. A macro's name in its own replacement stays. Arguments are fully expanded before they
// become part of the replacement, unless next to # or ##.

/** Reads the next token of the source and its location. -1 with a reason. */
typedef int (*ln_il_source_func)(void *data, ln_il_token *t, ln_il_place *place);

typedef struct ln_il_macros {
    ln_hash *table;
    struct replacement *top; // expansions, read before the source; NULL: none
    ln_il_source_func read;
    void *data;
    const ln_il_host *host;
    ln_il_token back; // of the source, to be read again; LN_IL_TOKEN_END: none
    ln_il_place back_place;
    ln_il_place place;   // of the latest token of the source, or of the call around it
    int calls;           // calls whose arguments are being read
    int peeks;           // the reader looks ahead for arguments: it does not pass directives
    int depth;           // arguments within arguments
    size_t tokens;       // that were read with macros replaced
    size_t steps;        // tokens that replacing has moved
    int was_blank;       // a blank preceded an empty expansion
    struct piece *texts; // of tokens that ## and # made
    size_t texts_size;
    ln_error *err;
} ln_il_macros;

/** Begins before the source, at `place`, with the predefined macros of C (ln_il_macros_end). -1
 * with a reason. */
int ln_il_macros_begin(ln_il_macros *m, ln_il_place place, ln_il_source_func read, void *data,
                       const ln_il_host *host, ln_error *err);

/** Accepts one that was not begun: all zero. */
void ln_il_macros_end(ln_il_macros *m);

/** Defines a macro from the `n` tokens after #define. The tokens' text is kept. -1 with a
 * reason. */
int ln_il_macros_define(ln_il_macros *m, const ln_il_token *tokens, size_t n);

/** -1 with a reason: the name is reserved. */
int ln_il_macros_undefine(ln_il_macros *m, const ln_il_token *name);

int ln_il_macros_has(const ln_il_macros *m, const ln_il_token *name);

/** The next token of the source with macros replaced. -1 with a reason. */
int ln_il_macros_next(ln_il_macros *m, ln_il_token *t);

/** Replaces the macros of a directive's tokens. `condition`: those after #if, where `defined NAME`
 * becomes 1 or 0. Appends to `out`. -1 with a reason. */
int ln_il_macros_replace(ln_il_macros *m, const ln_il_token *tokens, size_t n, int condition,
                         ln_il_tokens *out);

// Included files

/** A file that was read. */
typedef struct ln_il_included {
    char *text; // for the caller to free (ln_free)
    size_t len;
    const char *name;   // for messages
    const char *folder; // its folder, relative to the search folder: "parts/"
} ln_il_included;

/** All zero but for the first two: nothing is included yet. */
typedef struct ln_il_includer {
    const ln_il_host *host;
    ln_list **names; // keeps the names of files
    ln_list *open;   // files that are being read, the innermost first
    ln_list *once;   // files with `#pragma once`
    int n;           // files that were read
} ln_il_includer;

/** Reads the file that ` *  first. Returns 0; 1: it was read before, and is to be read once only;
 * -1 with a reason, and *file is as before. */
int ln_il_include(ln_il_includer *in, const char *folder, const char *path, ln_il_place place,
                  ln_il_included *file, ln_error *err);

/** The innermost file ends. */
void ln_il_include_ends(ln_il_includer *in);

/** Includes the innermost file once only; no effect for the model itself. -1: no memory. */
int ln_il_include_once(ln_il_includer *in, ln_error *err);

void ln_il_includer_end(ln_il_includer *in);

#endif
