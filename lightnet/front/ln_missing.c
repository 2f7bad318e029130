// SPDX-License-Identifier: Apache-2.0
// One message for all operators that a front end lacks.

#include "front/ln_missing.h"

#include <stdio.h>

#include "lightnet/ln_hash.h"

typedef struct ln_missing_kind {
    const char *name, *place, *why;
    int count;
    struct ln_missing_kind *next;
} kind;

static const char *shorten(ln_missing *m, const char *text)
{
    return text ? ln_translation_print(m->translation, "%.256s", text) : "";
}

static void add_kind(ln_missing *m, const char *name, const char *place, const char *why)
{
    kind *k = ln_translation_alloc(m->translation, sizeof(*k));
    const kind own = {name, shorten(m, place), shorten(m, why), 1, NULL};
    if (!k || !own.place || !own.why)
        return;
    *k = own;
    if (ln_hash_insert(m->kinds, k->name, k) < 0)
        ln_translation_fail_memory(m->translation);
    *(m->last ? &m->last->next : &m->first) = k;
    m->last = k;
}

void ln_missing_note(ln_missing *m, const char *name, const char *place, const char *why)
{
    if (!m->kinds)
        m->kinds = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    const char *const key = shorten(m, name);
    kind *known = m->kinds && key ? ln_hash_find(m->kinds, key) : NULL;
    if (!m->kinds || !key)
        ln_translation_fail_memory(m->translation);
    else if (known)
        known->count++;
    else
        add_kind(m, key, place, why);
}

void ln_missing_report(ln_missing *m, const char *what)
{
    char text[LN_MAXLINE] = "";
    size_t len = 0;
    for (const kind *k = m->first; k && len < sizeof(text); k = k->next)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s (%d node%s%s%s%s%s)",
                                len ? ", " : "", k->name, k->count, k->count == 1 ? "" : "s",
                                *k->place ? ", first " : "", k->place, *k->why ? "; " : "", k->why);
    if (len)
        ln_translation_fail_as(m->translation, LN_UNSUPPORTED, "%s: %s", what, text);
    ln_hash_free(m->kinds);
}
