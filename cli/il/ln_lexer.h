// SPDX-License-Identifier: Apache-2.0
// The syntax of operators: its tokens, and the lists that they form. Optimizer descriptions share
// it.
//
//     NAME: OPTYPE(ARG=TENSOR, .. | ARG=TENSOR, .. | PARAM=VALUE, ..);
//
// A reader examines the current token and advances to the next one. After a failure all tokens are
// the end, so a reader need not check each token: ln_lexer_end reports the failure.

#pragma once

#include "il/ln_scan.h"

/** Types of tokens; any other token is a single character, its own type. */
enum { LN_TOKEN_END = 0, LN_TOKEN_NAME = 'n', LN_TOKEN_STRING = 's', LN_TOKEN_NUMBER = '0' };

typedef struct ln_lexer {
    // The current token.
    int kind;
    ln_scan token;     // where it begins
    ln_scan_text text; // of names, strings (nothing escaped) and numbers, which have no sign
    double number;

    ln_scan at; // after it
    int failed;
} ln_lexer;

/** Begins with the first token at a location (ln_lexer_end). */
void ln_lexer_begin(ln_lexer *l, const ln_scan *at);

/** Frees the lexer's memory. -1 after a failure, whose reason was recorded. */
int ln_lexer_end(ln_lexer *l);

/** Advances to the next token. */
void ln_lexer_next(ln_lexer *l);

/** Whether the current token has this kind. */
static inline int ln_lexer_is(const ln_lexer *l, int kind)
{
    return l->kind == kind;
}

/** Whether it is this name. */
int ln_lexer_is_word(const ln_lexer *l, const char *word);

/** The same, then advances to the next one. */
int ln_lexer_accept(ln_lexer *l, int kind);

/** Skips a character; -1 with a reason if the current token is another one. */
int ln_lexer_expect(ln_lexer *l, int kind);

/** Records the first reason, for the current token, and ends the text. Returns -1. */
int ln_lexer_fail(ln_lexer *l, const char *fmt, ...) LN_PRINTF(2, 3);

/** The same for another location in the text. */
int ln_lexer_fail_at(ln_lexer *l, const ln_scan *place, const char *fmt, ...) LN_PRINTF(3, 4);

/** The same for an unexpected current token. */
int ln_lexer_unexpected(ln_lexer *l, const char *expected);

/** Reads one element of a list. -1 with a reason. */
typedef int ln_lexer_func(ln_lexer *l, void *to);

/** Reads elements up to the character `close`, and skips it: ',' between two, and optionally after
 * the last one. -1 with a reason. */
int ln_lexer_list(ln_lexer *l, int close, ln_lexer_func *read, void *to);

/** Reads the groups of an operator: `n` lists at most, '|' between two; the last ones may be
 * absent. Ends at ')', or an extra '|'. -1 with a reason. */
int ln_lexer_groups(ln_lexer *l, ln_lexer_func *const *read, int n, void *to);
