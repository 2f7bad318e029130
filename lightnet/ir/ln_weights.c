// SPDX-License-Identifier: Apache-2.0
// The data that a model's own file brings.

#include "ir/ln_weights.h"

#include "lightnet/ln_hash.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_util.h"

struct ln_weights {
    ln_hash *tensors; /* name -> weight */
    ln_list *maps;    /* ln_filemap */
    ln_list *things;  /* adopted */
};

typedef struct adopted {
    void *thing;
    void (*close)(void *thing);
    const ln_filemap *map; /* of the thing, or NULL */
} adopted;

typedef struct weight {
    char *name;
    tl_tensor *tensor;
    int owned;
} weight;

static void free_weight(void *data)
{
    weight *w = data;
    if (w->owned)
        ln_free(w->tensor->data);
    tl_tensor_free(w->tensor);
    ln_free(w->name);
    ln_free(w);
}

static void free_map(void *data)
{
    ln_filemap_close(data);
    ln_free(data);
}

static void free_adopted(void *data)
{
    adopted *a = data;
    a->close(a->thing);
    ln_free(a);
}

ln_weights *ln_weights_create(void)
{
    ln_weights *weights = ln_alloc(sizeof(*weights));
    if (!weights)
        return NULL;
    weights->tensors = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, free_weight);
    if (weights->tensors)
        return weights;
    ln_free(weights);
    return NULL;
}

void ln_weights_free(ln_weights *weights)
{
    if (!weights)
        return;
    ln_hash_free(weights->tensors);
    ln_list_free_deep(weights->maps, free_map);
    ln_list_free_deep(weights->things, free_adopted);
    ln_free(weights);
}

int ln_weights_add(ln_weights *weights, const char *name, tl_tensor *tensor, int owned)
{
    weight *w = ln_alloc(sizeof(*w));
    if (w)
        *w = (weight){.name = ln_strdup(name), .tensor = tensor, .owned = owned};
    if (!w || !w->name || ln_hash_insert(weights->tensors, w->name, w) < 0) {
        if (w)
            ln_free(w->name);
        ln_free(w);
        return -1;
    }
    return 0;
}

int ln_weights_copy(ln_weights *weights, const char *name, const tl_tensor *tensor,
                    const void *data)
{
    void *copy = ln_clone(data, tl_tensor_size(tensor));
    tl_tensor *record =
        copy ? tl_tensor_create(copy, tensor->ndim, tensor->dims, tensor->dtype) : NULL;
    if (record && !ln_weights_add(weights, name, record, 1))
        return 0;
    tl_tensor_free(record);
    ln_free(copy);
    return -1;
}

const tl_tensor *ln_weights_of(const ln_context *ctx, const char *name)
{
    const tl_tensor *given = ln_weights_find(ctx->given, name);
    return given ? given : ln_weights_find(ctx->weights, name);
}

const tl_tensor *ln_weights_find(const ln_weights *weights, const char *name)
{
    const weight *w = weights ? ln_hash_find(weights->tensors, name) : NULL;
    return w ? w->tensor : NULL;
}

const ln_filemap *ln_weights_keep(ln_weights *weights, const ln_filemap *map)
{
    ln_filemap *kept = ln_clone(map, sizeof(*map));
    ln_list *longer = kept ? ln_list_prepend(weights->maps, kept) : NULL;
    if (!longer) {
        ln_free(kept);
        return NULL;
    }
    weights->maps = longer;
    return kept;
}

int ln_weights_adopt(ln_weights *weights, void *thing, void (*close)(void *thing),
                     const ln_filemap *map)
{
    adopted *a = ln_alloc(sizeof(*a));
    ln_list *longer = a ? ln_list_prepend(weights->things, a) : NULL;
    if (!longer) {
        ln_free(a);
        return -1;
    }
    *a = (adopted){thing, close, map};
    weights->things = longer;
    return 0;
}

void ln_weights_rest(const ln_weights *weights)
{
    const ln_filemap *map;
    LN_LIST_FOREACH(map, weights ? weights->maps : NULL)
    {
        ln_filemap_rest(map);
    }
    const adopted *a;
    LN_LIST_FOREACH(a, weights ? weights->things : NULL)
    {
        if (a->map)
            ln_filemap_rest(a->map);
    }
}
