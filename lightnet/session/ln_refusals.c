// SPDX-License-Identifier: Apache-2.0
// What a model has been found to refuse.

#include "session/ln_refusals.h"

#include <string.h>

#include "base/ln_fnv.h"

uint64_t ln_refusal_of_sizes(const ln_value *values, size_t n)
{
    uint64_t key = ln_fnv64("sizes", 5);
    for (size_t i = 0; i < n; i++) {
        const int ndim = values[i].is_given ? values[i].ndim : -1;
        key = ln_fnv64_more(key, &ndim, sizeof(ndim));
        if (ndim > 0)
            key = ln_fnv64_more(key, values[i].dims, sizeof(int) * (size_t)ndim);
    }
    return key;
}

static uint64_t add_without_numbers(uint64_t key, const char *text)
{
    for (; *text; text++)
        if (!strchr("-0123456789", *text))
            key = ln_fnv64_more(key, text, 1);
    return key;
}

// Names may differ in their numbers alone, and stand before the first "): ".
uint64_t ln_refusal_of_check(const ln_error *err)
{
    const char *reason = strstr(err->text, "): ");
    const uint64_t key = ln_fnv64("check", 5);
    if (!reason)
        return ln_fnv64_more(key, err->text, strlen(err->text));
    return add_without_numbers(ln_fnv64_more(key, err->text, (size_t)(reason - err->text)), reason);
}

static uint64_t key_of_reason(const ln_error *err)
{
    const char *reason = strstr(err->text, "): ");
    return add_without_numbers(ln_fnv64("reason", 6), reason ? reason : err->text);
}

int ln_refusal_is_same_check(const ln_error *a, const ln_error *b)
{
    return key_of_reason(a) == key_of_reason(b);
}

void ln_refusals_note(ln_refusals *refusals, uint64_t key)
{
    if (!ln_refusals_have(refusals, key))
        refusals->keys[refusals->n++ % LN_MOST_REFUSALS] = key;
}

int ln_refusals_have(const ln_refusals *refusals, uint64_t key)
{
    for (unsigned i = 0; i < refusals->n && i < LN_MOST_REFUSALS; i++)
        if (refusals->keys[i] == key)
            return 1;
    return 0;
}
