// SPDX-License-Identifier: Apache-2.0
// The texts of a generated rule: words, names and values. ln-optgen has checked them.

#include "pass/ln_rule_text.h"

#include <stdlib.h>
#include <string.h>

// Words

int ln_rule_accept(const char **p, const char *text)
{
    const char *at = *p;
    while (*text) {
        if (*at++ != *text++)
            return 0;
    }
    *p = at;
    return 1;
}

// Whether the texts begin with the same word.
static int is_same_word(const char *a, const char *b)
{
    while (*a == *b && ln_rule_is_letter(*a)) {
        a++;
        b++;
    }
    return !ln_rule_is_letter(*a) && !ln_rule_is_letter(*b);
}

const char *ln_rule_read_word(const char **p, char buf[LN_MAX_NAME_LEN])
{
    size_t len = 0;
    for (; ln_rule_is_letter(**p); ++*p) {
        if (len < LN_MAX_NAME_LEN - 1)
            buf[len++] = **p;
    }
    buf[len] = '\0';
    return buf;
}

// The index of a name among others.
static int index_of(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (*names[i] == *name && is_same_word(names[i], name))
            return i;
    }
    return -1;
}

int ln_rule_op_index(const ln_rule_match *m, const char *name)
{
    return index_of(m->op_names, m->n_ops, name);
}

int ln_rule_tensor_index(const ln_rule_match *m, const char *name)
{
    return index_of(m->tensor_names, m->n_tensors, name);
}

// Values

static double read_integer(const char **p)
{
    char *end;
    const long number = strtol(*p, &end, 10);
    *p = end;
    return (double)number;
}

// A word: a name of the notation, a string, or `OPERATOR.PARAM`.
static void read_name(const ln_rule_match *m, const char **p, ln_rule_value *value)
{
    static const struct {
        const char *text;
        ln_rule_value_type type;
        double number;
    } names[] = {{"true", LN_RULE_BOOL, LN_TRUE},
                 {"false", LN_RULE_BOOL, LN_FALSE},
                 {"null", LN_RULE_NULL, 0}};
    const char *const op = *p;
    value->type = LN_RULE_STRING;
    ln_rule_read_word(p, value->word);
    if (ln_rule_accept(p, ".")) {
        value->type = LN_RULE_PARAM;
        value->op = m->ops[ln_rule_op_index(m, op)];
        ln_rule_read_word(p, value->word);
        return;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (strcmp(names[i].text, value->word) == 0) {
            value->type = names[i].type;
            value->numbers[0] = names[i].number;
        }
    }
}

void ln_rule_read_value(const ln_rule_match *m, const char **p, ln_rule_value *value)
{
    value->len = 0;
    if (ln_rule_accept(p, "[")) {
        value->type = LN_RULE_NUMBERS;
        do
            value->numbers[value->len++] = read_integer(p);
        while (ln_rule_accept(p, ", "));
        ++*p; // ']'
    } else if (**p == '-' || (**p >= '0' && **p <= '9')) {
        value->type = LN_RULE_NUMBER;
        value->numbers[0] = read_integer(p);
    } else {
        read_name(m, p, value);
    }
}
