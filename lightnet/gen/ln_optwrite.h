// SPDX-License-Identifier: Apache-2.0
// Rules as C: what both halves of a rule are written with.

#ifndef LN_OPTWRITE_H
#define LN_OPTWRITE_H

#include "gen/ln_cgen.h"
#include "gen/ln_optdesc.h"

/** What is being written. */
typedef struct ln_optwriter {
    const ln_optdesc *desc;
    const ln_optrule *rule;
    ln_cgen *out;
} ln_optwriter;

/** The kinds of functions that rules become. */
typedef enum ln_optkind { LN_OPT_EXPANDER, LN_OPT_COMBINER, LN_OPT_SUBGRAPH } ln_optkind;

ln_optkind ln_optkind_of(const ln_optrule *rule);

/** A text as a C string literal. Returns borrowed (until the arena is freed), as all below. */
const char *ln_optwrite_quote(const ln_optwriter *w, const char *text);

/** Appends a comment of as many lines as it needs, the first behind `begin`, the others behind
 * `next`, then `end`. */
void ln_optwrite_words(const ln_optwriter *w, const char *begin, const char *next, const char *text,
                       const char *end);

/** Appends such a comment for statements of a function. */
void ln_optwrite_comment(const ln_optwriter *w, const char *text);

/** Declares the operators and tensors that C code of the description names. */
void ln_optwrite_locals(const ln_optwriter *w, const char *code);

/** The C arguments that give a parameter's literal value to a function, each behind ", ". */
const char *ln_optwrite_value(const ln_optwriter *w, const ln_optparam *param);

/** The functions of ln_rule.h for a kind of value; NULL: there is none. */
typedef struct ln_optvalue_function {
    const char *test; /* in patterns */
    const char *set;  /* in replacements */
} ln_optvalue_function;

/** One for each ln_optvalue. */
extern const ln_optvalue_function ln_optvalue_functions[];

#endif
