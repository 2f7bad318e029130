// SPDX-License-Identifier: Apache-2.0
// One message for all operators that a front end lacks.

#include "front/ln_missing.h"

#include <stdio.h>

#include "ir/ln_bind.h"
#include "lightnet/ln_hash.h"

typedef struct ln_missing_kind {
    const char *name;
    ln_missing_op op;
    struct ln_missing_kind *next;
} kind;

static const char *shorten(ln_missing *m, const char *text)
{
    return text ? ln_translation_print(m->translation, "%.256s", text) : "";
}

static void add_kind(ln_missing *m, const char *name, const ln_missing_op *op)
{
    kind *k = ln_translation_alloc(m->translation, sizeof(*k));
    const kind own = {.name = name,
                      .op = {.domain = shorten(m, op->domain),
                             .optype = shorten(m, op->optype),
                             .version = op->version,
                             .count = 1,
                             .first = shorten(m, op->first),
                             .reason = shorten(m, op->reason)}};
    if (!k || !own.op.domain || !own.op.optype || !own.op.first || !own.op.reason)
        return;
    *k = own;
    if (ln_hash_insert(m->kinds, k->name, k) < 0)
        ln_translation_fail_memory(m->translation);
    *(m->last ? &m->last->next : &m->first) = k;
    m->last = k;
}

void ln_missing_note(ln_missing *m, const char *name, const ln_missing_op *op)
{
    if (!m->kinds)
        m->kinds = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    const char *const key = shorten(m, name);
    kind *known = m->kinds && key ? ln_hash_find(m->kinds, key) : NULL;
    if (!m->kinds || !key)
        ln_translation_fail_memory(m->translation);
    else if (known)
        known->op.count++;
    else
        add_kind(m, key, op);
}

static void report_kinds(const ln_missing *m)
{
    for (const kind *k = m->first; k; k = k->next) {
        ln_missing_op op = k->op;
        if (!*op.reason)
            op.reason = "unknown operator";
        ln_bind_report_missing(m->translation->ctx, &op);
    }
}

void ln_missing_report(ln_missing *m, const char *what)
{
    char text[LN_MAXLINE] = "";
    size_t len = 0;
    for (const kind *k = m->first; k && len < sizeof(text); k = k->next) {
        const ln_missing_op *const op = &k->op;
        const char *const first = m->shows_first ? op->first : "";
        len +=
            (size_t)snprintf(text + len, sizeof(text) - len, "%s%s (%d node%s%s%s%s%s)",
                             len ? ", " : "", k->name, op->count, op->count == 1 ? "" : "s",
                             *first ? ", first " : "", first, *op->reason ? "; " : "", op->reason);
    }
    if (!m->is_writer && !m->translation->failed)
        report_kinds(m);
    if (len)
        ln_translation_fail_as(m->translation, LN_UNSUPPORTED, "%s: %s", what, text);
    ln_hash_free(m->kinds);
}
