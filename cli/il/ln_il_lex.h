// SPDX-License-Identifier: Apache-2.0
// Reads the tokens of preprocessed IL, with the places where the user wrote them.
//
// ${eval EXPR} is replaced by the value of EXPR wherever it stands, also within names and strings.

#ifndef LN_IL_LEX_H
#define LN_IL_LEX_H

#include <stddef.h>

#include "il/ln_il_eval.h"
#include "il/ln_il_text.h"
#include "lightnet/ln_msg.h"

/* What a token is; anything else is the one character that it consists of. */
enum { LN_IL_END = 0, LN_IL_NAME = 'n', LN_IL_STRING = 's', LN_IL_NUMBER = '0' };

typedef struct ln_il_lexer {
    /* The token at hand. */
    int kind;
    ln_il_place place;
    char *text; /* of names, strings (UTF-8, nothing escaped) and numbers */
    size_t len;
    double number;

    /* What is to come. */
    const char *at, *end;
    const ln_il_text *source;
    size_t n_lines;               /* before `at` */
    ln_il_place next;             /* where `at` is */
    char value[LN_IL_VALUE_SIZE]; /* of a ${eval}, which is to be read before `at` */
    size_t value_at;

    size_t room;
    ln_error *err;
} ln_il_lexer;

/** Begins before the first token (ln_il_lex_end). `name` is the model's; source, name and err are
 * kept. -1 with a reason. */
int ln_il_lex_begin(ln_il_lexer *l, const char *name, const ln_il_text *source, ln_error *err);

void ln_il_lex_end(ln_il_lexer *l);

/** Reads the next token. -1 with a reason that names the place. */
int ln_il_lex_next(ln_il_lexer *l);

/** The token at hand for messages, as "'conv2d'" or "the end". Returns buf, of `size` bytes. */
const char *ln_il_lex_describe(const ln_il_lexer *l, char *buf, size_t size);

#endif
