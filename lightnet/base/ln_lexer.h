// SPDX-License-Identifier: Apache-2.0
// The syntax of operators, which IL and optimizer descriptions share: its tokens, and the lists
// that they form.
//
//     NAME: OPTYPE(ARG=TENSOR, .. | ARG=TENSOR, .. | PARAM=VALUE, ..);
//
// A reader looks at the token at hand, and goes on to the next one. After a failure there is only
// the end, so that what reads need not ask after each token: ln_lexer_end tells.

#ifndef LN_LEXER_H
#define LN_LEXER_H

#include "base/ln_scan.h"

/* What a token is; anything else is the one character that it consists of. */
enum { LN_TOKEN_END = 0, LN_TOKEN_NAME = 'n', LN_TOKEN_STRING = 's', LN_TOKEN_NUMBER = '0' };

typedef struct ln_lexer {
    /* The token at hand. */
    int kind;
    ln_scan token;     /* where it begins */
    ln_scan_text text; /* of names, strings (nothing escaped) and numbers, which have no sign */
    double number;

    ln_scan at; /* behind it */
    int failed;
} ln_lexer;

/** Begins with the first token at a place (ln_lexer_end). */
void ln_lexer_begin(ln_lexer *l, const ln_scan *at);

/** Frees what the lexer has. -1 after a failure, whose reason was recorded. */
int ln_lexer_end(ln_lexer *l);

/** Goes on to the next token. */
void ln_lexer_next(ln_lexer *l);

/** Whether the token at hand is of this kind. */
static inline int ln_lexer_is(const ln_lexer *l, int kind)
{
    return l->kind == kind;
}

/** Whether it is this name. */
int ln_lexer_is_word(const ln_lexer *l, const char *word);

/** Whether it is of this kind, or this name; the lexer is then at the next one. */
int ln_lexer_accept(ln_lexer *l, int kind);
int ln_lexer_accept_word(ln_lexer *l, const char *word);

/** Goes on behind a character; -1 with a reason if that is not at hand. */
int ln_lexer_expect(ln_lexer *l, int kind);

/** Records a reason for the token at hand, unless there is one, and ends the text. Returns -1. */
int ln_lexer_fail(ln_lexer *l, const char *fmt, ...) LN_PRINTF(2, 3);

/** The same for another place of the text. */
int ln_lexer_fail_at(ln_lexer *l, const ln_scan *place, const char *fmt, ...) LN_PRINTF(3, 4);

/** The same for the token at hand, which is unexpected. */
int ln_lexer_unexpected(ln_lexer *l, const char *expected);

/** Reads one element of a list. -1 with a reason. */
typedef int ln_lexer_func(ln_lexer *l, void *to);

/** Reads elements up to the character `close`, and goes on behind it: ',' between two, and if
 * wanted behind the last one. -1 with a reason. */
int ln_lexer_list(ln_lexer *l, int close, ln_lexer_func *read, void *to);

/** Reads the groups of an operator: `n` lists at most, '|' between two; those at the end may be
 * left out. Ends at ')', or a '|' too many. -1 with a reason. */
int ln_lexer_groups(ln_lexer *l, ln_lexer_func *const *read, int n, void *to);

#endif
