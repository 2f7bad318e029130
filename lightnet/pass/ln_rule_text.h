// SPDX-License-Identifier: Apache-2.0
// Reading the texts of a generated rule (ln_rule): its pattern and its replacement.
//
// ln-optgen writes the texts: with a blank after each ',', before each '|' between groups and, in
// replacements, after it, and around "<->"; they are not checked. Patterns are read on each trial,
// so readers need few steps for a word, and copy none.

#pragma once

#include <stddef.h>

#include "lightnet/ln_rule.h"

/** Whether a word outside of "{A|B}" continues with `c`: it ends at "=?" and all before '0'. */
static inline int ln_rule_is_letter(char c)
{
    return c >= '0' && c != '=' && c != '?';
}

/** The text after its first word. */
static inline const char *ln_rule_behind_word(const char *p)
{
    while (ln_rule_is_letter(*p))
        p++;
    return p;
}

/** Whether `text` is at `*p`; then advances `*p` past it. */
int ln_rule_accept(const char **p, const char *text);

/** Copies the word at `*p` to `buf`, and advances `*p` past it. Returns buf. */
const char *ln_rule_read_word(const char **p, char buf[LN_MAX_NAME_LEN]);

/** The index in the match of the operator or tensor with the name at the beginning of the text; -1:
 * none. */
int ln_rule_op_index(const ln_rule_match *m, const char *name);
int ln_rule_tensor_index(const ln_rule_match *m, const char *name);

/** Adds a copy of `op` that computes in TL_FLOAT instead of 16-bit floats, between casts. */
void ln_rule_make_float32(ln_rule_made *made, const ln_op *op);

/** The types of values in a text. */
typedef enum ln_rule_value_type {
    LN_RULE_NUMBER,
    LN_RULE_NUMBERS,
    LN_RULE_BOOL,
    LN_RULE_NULL,
    LN_RULE_STRING,
    LN_RULE_PARAM, // another operator's
    LN_RULE_VALUE_TYPES,
} ln_rule_value_type;

/** A parameter's value. */
typedef struct ln_rule_value {
    ln_rule_value_type type;
    double numbers[LN_MAXDIM];  // only the first: of LN_RULE_NUMBER and LN_RULE_BOOL
    int len;                    // of LN_RULE_NUMBERS
    char word[LN_MAX_NAME_LEN]; // the string, or the other operator's parameter
    const ln_op *op;            // the other operator
} ln_rule_value;

/** Reads the value at `*p`, and advances `*p` past it. */
void ln_rule_read_value(const ln_rule_match *m, const char **p, ln_rule_value *value);
