// SPDX-License-Identifier: Apache-2.0
// Checks of attributes.

#include "front/ln_attr.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char *name_of(ln_emit *e, const char *key)
{
    return e->front->attrs->name ? e->front->attrs->name(e, key) : key;
}

int ln_attr_to_bool(ln_emit *e, const char *key, int64_t value)
{
    if (value != 0 && value != 1)
        ln_emit_fail(e, "attribute '%s' is %" PRId64 ", expected 0 or 1", name_of(e, key), value);
    return value != 0;
}

void ln_attr_require(ln_emit *e, const char *key)
{
    if (!ln_attr_has(e, key))
        ln_emit_fail(e, "attribute '%s' is missing", name_of(e, key));
}

static int check(ln_emit *e, const char *key, const char *verb, int64_t value, int min, int max)
{
    if (value >= min && value <= max)
        return (int)value;
    ln_emit_fail(e, "attribute '%s' %s %" PRId64 ", expected %d to %d", name_of(e, key), verb,
                 value, min, max);
    return min;
}

int ln_attr_int_in(ln_emit *e, const char *key, int64_t deflt, int min, int max)
{
    return check(e, key, "is", ln_attr_int(e, key, deflt), min, max);
}

int ln_attr_element(ln_emit *e, const char *key, int64_t value, int min, int max)
{
    return check(e, key, "has", value, min, max);
}

void ln_attr_ints_of(ln_emit *e, const char *key, int len, int deflt, int min, int *values)
{
    int n_given;
    const int64_t *const given = ln_attr_ints(e, key, &n_given);
    if (n_given > 0 && n_given != len)
        ln_emit_fail(e, "attribute '%s' has %d numbers, expected %d", name_of(e, key), n_given,
                     len);
    for (int i = 0; i < len; i++)
        values[i] = n_given == len ? ln_attr_element(e, key, given[i], min, INT_MAX) : deflt;
}

int ln_attr_to_axis(ln_emit *e, int64_t axis, int ndim)
{
    if (axis >= -(int64_t)ndim && axis < ndim)
        return (int)(axis < 0 ? axis + ndim : axis);
    ln_emit_fail(e, "axis %" PRId64 " of a tensor with %d dimensions, expected %d to %d", axis,
                 ndim, -ndim, ndim - 1);
    return 0;
}

int ln_attr_axis(ln_emit *e, const char *key, int64_t deflt, int ndim)
{
    return ln_attr_to_axis(e, ln_attr_int(e, key, deflt), ndim);
}

double ln_attr_epsilon(ln_emit *e, const char *key, double deflt)
{
    const double value = ln_attr_number(e, key, deflt);
    if (!(value >= 0))
        ln_emit_fail(e, "attribute '%s' is %g, expected at least 0", name_of(e, key), value);
    return value > 0 ? value : 1e-37;
}

static const char *ours(const ln_attr_word *word)
{
    return word->ours ? word->ours : word->name;
}

const char *ln_attr_choose(ln_emit *e, const char *key, const char *deflt,
                           const ln_attr_word *words)
{
    const char *const text = ln_attr_text(e, key, deflt);
    char known[256] = "";
    size_t len = 0;
    for (const ln_attr_word *word = words; word->name; word++) {
        if (e->version < word->since)
            continue;
        if (!strcmp(word->name, text))
            return ours(word);
        if (*word->name && len < sizeof(known))
            len += (size_t)snprintf(known + len, sizeof(known) - len, "%s\"%s\"", len ? ", " : "",
                                    word->name);
    }
    ln_emit_fail_as(e, LN_UNSUPPORTED, "attribute '%s' is \"%.64s\", expected one of %s",
                    name_of(e, key), text, known);
    return ours(words);
}

const ln_attr_word *ln_attr_word_for(const ln_attr_word *words, const char *text)
{
    const ln_attr_word *word = words;
    while (word && word->name && strcmp(ours(word), text) != 0)
        word++;
    return word && word->name ? word : NULL;
}
