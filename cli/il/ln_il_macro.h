// SPDX-License-Identifier: Apache-2.0
// Macros: what names stand for, and tokens with macros replaced (C11, 6.10.3).
//
// Tokens come from a stack: the source at the bottom, above it what macros were replaced by, which
// is read again. A macro's name in its own replacement stays. Arguments are replaced completely
// before they become part of the replacement, unless # or ## stands beside them.

#ifndef LN_IL_MACRO_H
#define LN_IL_MACRO_H

#include "il/ln_il_host.h"
#include "il/ln_il_scan.h"
#include "lightnet/ln_hash.h"

/* Reads the next token of the source and its place. -1 with a reason. */
typedef int (*ln_il_source_func)(void *data, ln_il_token *t, ln_il_place *place);

typedef struct ln_il_macros {
    ln_hash *table;
    struct replacement *top; /* what is read before the source; NULL: nothing */
    ln_il_source_func read;
    void *data;
    const ln_il_host *host;
    ln_il_token back; /* of the source, to be read again; LN_IL_TOKEN_END: none */
    ln_il_place back_place;
    ln_il_place place;   /* of the latest token of the source, or of the call around it */
    int calls;           /* calls whose arguments are being read */
    int peeks;           /* a name is looked behind for its arguments: no directive is passed */
    int depth;           /* arguments within arguments */
    size_t tokens;       /* that were read with macros replaced */
    size_t steps;        /* tokens that replacing has moved */
    int was_blank;       /* a blank stood before what became nothing */
    struct piece *texts; /* of tokens that ## and # made */
    size_t texts_size;
    ln_error *err;
} ln_il_macros;

/** Begins before the source, at `place`, with what C predefines (ln_il_macros_end). -1 with a
 * reason. */
int ln_il_macros_begin(ln_il_macros *m, ln_il_place place, ln_il_source_func read, void *data,
                       const ln_il_host *host, ln_error *err);

/** Takes what was not begun, too: all zero. */
void ln_il_macros_end(ln_il_macros *m);

/** Defines a macro as the `n` tokens behind #define say. The tokens' text is kept. -1 with a
 * reason. */
int ln_il_macros_define(ln_il_macros *m, const ln_il_token *tokens, size_t n);

/** -1 with a reason: the name belongs to the language. */
int ln_il_macros_undefine(ln_il_macros *m, const ln_il_token *name);

int ln_il_macros_has(const ln_il_macros *m, const ln_il_token *name);

/** The next token of the source with macros replaced. -1 with a reason. */
int ln_il_macros_next(ln_il_macros *m, ln_il_token *t);

/** Replaces the macros of a directive's tokens. `condition`: they stand behind #if, where
 *  `defined NAME` becomes 1 or 0. Appends to `out`. -1 with a reason. */
int ln_il_macros_replace(ln_il_macros *m, const ln_il_token *tokens, size_t n, int condition,
                         ln_il_tokens *out);

#endif
