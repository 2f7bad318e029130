// SPDX-License-Identifier: Apache-2.0
// Strings that a caller passes to a context: copied, and kept as long as tensors may refer to them.
//
// A replaced copy is kept until the next run, since outputs of the last run may refer to it.

#include "ir/ln_context_ops.h"
#include "lightnet/ln_util.h"
#include "run/ln_load.h"

// The strings of one tensor.
typedef struct text {
    char *name;  // of the tensor
    void *block; // tl_free
    int is_replaced;
} text;

static void free_text(void *data)
{
    text *const t = data;
    ln_free(t->name);
    tl_free(t->block);
    ln_free(t);
}

static text *create_text(const char *name, const void *data, size_t len)
{
    text *const t = ln_alloc(sizeof(*t));
    if (!t)
        return NULL;
    *t = (text){.name = ln_strdup(name), .block = tl_strings_clone(data, len)};
    if (t->name && t->block)
        return t;
    free_text(t);
    return NULL;
}

const void *ln_texts_keep(ln_context *ctx, const char *name, const void *data, size_t len)
{
    text *const t = create_text(name, data, len);
    ln_list *const longer = t ? ln_list_prepend(ctx->texts, t) : NULL;
    if (!longer) {
        if (t)
            free_text(t);
        return ln_fail_memory(ctx), NULL;
    }
    LN_FOREACH (text *, before, ctx->texts)
        before->is_replaced |= ln_streq(before->name, name);
    ctx->texts = longer;
    return t->block;
}

void ln_texts_forget_replaced(ln_context *ctx)
{
    for (ln_list **at = &ctx->texts; *at;) {
        text *const t = (*at)->data;
        if (!t->is_replaced) {
            at = &(*at)->next;
            continue;
        }
        *at = ln_list_remove_nth(*at, 0);
        free_text(t);
    }
}

void ln_texts_free(ln_context *ctx)
{
    ln_list_free_deep(ctx->texts, free_text);
    ctx->texts = NULL;
}
