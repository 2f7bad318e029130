// SPDX-License-Identifier: Apache-2.0
// Reads the tokens of preprocessed IL, with the places where the user wrote them.
//
// The preprocessor's line marks (`#line 7 "net.net"`) say where a line comes from. ${eval EXPR} is
// replaced by the value of EXPR wherever it stands, also within names and strings.

#ifndef LN_IL_LEX_H
#define LN_IL_LEX_H

#include <stddef.h>

#include "front/il/ln_il_eval.h"
#include "front/il/ln_il_files.h"
#include "lightnet/ln_msg.h"

/* Where something stands. */
typedef struct ln_il_place {
    const char *file;
    int line;
} ln_il_place;

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
    ln_il_place next;             /* where `at` is */
    int begins_line;              /* it is at the beginning of a line */
    char value[LN_IL_VALUE_SIZE]; /* of a ${eval}, which is to be read before `at` */
    size_t value_at;

    size_t room;
    ln_il_files files;
    ln_error *err;
} ln_il_lexer;

/** Begins before the first token (ln_il_lex_end). `name` is the model's; text, name and err are
 * kept. -1 with a reason. */
int ln_il_lex_begin(ln_il_lexer *l, const char *name, const char *text, size_t len, ln_error *err);

void ln_il_lex_end(ln_il_lexer *l);

/** Reads the next token. -1 with a reason that names the place. */
int ln_il_lex_next(ln_il_lexer *l);

/** Records "FILE:LINE: reason". Returns -1. */
int ln_il_fail(ln_error *err, ln_il_place place, const char *fmt, ...) LN_PRINTF(3, 4);

/** The token at hand for messages, as "'conv2d'" or "the end". Returns buf, of `size` bytes. */
const char *ln_il_lex_describe(const ln_il_lexer *l, char *buf, size_t size);

#endif
