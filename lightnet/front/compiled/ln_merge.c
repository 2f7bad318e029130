// SPDX-License-Identifier: Apache-2.0
// Merges the tensors of several frozen programs: the file stores equal contents once.

#include "front/compiled/ln_merge.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_array.h"
#include "base/ln_fnv.h"
#include "base/ln_list_end.h"
#include "data/ln_data_give.h"
#include "ir/ln_context_ops.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

static int make_room(ln_merge *m)
{
    if (!m->by_name) {
        m->by_name = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
        m->by_content = ln_hash_create(ln_direct_hash, ln_direct_cmp, NULL, NULL);
    }
    if (!m->by_name || !m->by_content)
        return -1;
    const size_t n = (size_t)m->n;
    return -(ln_array_grow(&m->names, n, sizeof(*m->names)) ||
             ln_array_grow(&m->tensors, n, sizeof(*m->tensors)) ||
             ln_array_grow(&m->weights, n, sizeof(*m->weights)));
}

// Contents

static int is_same(const ln_merge *m, int i, const tl_tensor *t, const void *data)
{
    const tl_tensor *stored = m->tensors[i];
    return stored->dtype == t->dtype && tl_tensor_issameshape(stored, t) &&
           !memcmp(m->weights[i]->tensor->data, data, tl_tensor_size(t));
}

// Names

// The tensor's name, with a number appended if it is in use; NULL: no memory.
static const char *unique_name(ln_merge *m, const char *name)
{
    char text[LN_MAXLINE];
    if (!ln_hash_find(m->by_name, name))
        return name;
    for (int i = 2;; i++) {
        snprintf(text, sizeof(text), "%.*s.%d", LN_MAX_NAME_LEN, name, i);
        if (!ln_hash_find(m->by_name, text))
            break;
    }
    char *copy = ln_strdup(text);
    return ln_list_push(&m->texts, copy, ln_free) ? NULL : copy;
}

// Adding

// Takes the shape. Returns the position, from 1; 0: no memory.
static size_t add_new(ln_merge *m, const ln_weight *weight, tl_tensor *shape, uint64_t hash)
{
    const char *name = make_room(m) ? NULL : unique_name(m, weight->name);
    const size_t position = (size_t)m->n + 1;
    if (!name || ln_hash_insert(m->by_name, name, (void *)position) < 0 ||
        ln_hash_insert(m->by_content, (void *)(uintptr_t)hash, (void *)position) < 0) {
        tl_tensor_free(shape);
        return 0;
    }
    m->names[m->n] = name;
    m->tensors[m->n] = shape;
    m->weights[m->n++] = weight;
    return position;
}

// Takes the shape. Returns the position, from 1; 0: no memory.
static size_t add(ln_merge *m, const ln_weight *weight, tl_tensor *shape)
{
    const void *const data = weight->tensor->data;
    uint64_t hash = ln_fnv64(&shape->dtype, sizeof(shape->dtype));
    hash = ln_fnv64_more(hash, shape->dims, (size_t)shape->ndim * sizeof(*shape->dims));
    hash = ln_fnv64_more(hash, data, tl_tensor_size(shape));
    const size_t known =
        m->by_content ? (size_t)ln_hash_find(m->by_content, (void *)(uintptr_t)hash) : 0;
    if (!known || !is_same(m, (int)known - 1, shape, data))
        return add_new(m, weight, shape, hash);
    tl_tensor_free(shape);
    return known;
}

static int add_tensor(ln_merge *m, const ln_context *ctx, const ln_op *op, const ln_hash *stored)
{
    tl_tensor *shape = NULL;
    const ln_weight *weight = ln_data_taken(ctx, op, &shape);
    if (!weight)
        return 0;
    if (!shape)
        return ln_fail(ctx, "%s", tl_last_error());
    const size_t position = add(m, weight, shape);
    return !position || ln_hash_insert((ln_hash *)stored, weight->name, (void *)position) < 0
               ? ln_fail_memory(ctx)
               : 0;
}

int ln_merge_add(ln_merge *m, const ln_context *ctx, ln_hash **stored)
{
    *stored = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    if (!*stored)
        return ln_fail_memory(ctx);
    LN_FOREACH (const ln_op *, op, ctx->ops)
        if (add_tensor(m, ctx, op, *stored))
            return -1;
    return 0;
}

void ln_merge_clear(ln_merge *m)
{
    for (int i = 0; i < m->n; i++)
        tl_tensor_free(m->tensors[i]);
    ln_free(m->names);
    ln_free(m->tensors);
    ln_free(m->weights);
    ln_hash_free(m->by_name);
    ln_hash_free(m->by_content);
    ln_list_free_deep(m->texts, ln_free);
    *m = (ln_merge){0};
}
