// SPDX-License-Identifier: Apache-2.0
// What was said of a model's inputs before it is read: shapes and values.

#include "ir/ln_bind.h"

#include "ir/ln_weights.h"
#include "lightnet/ln_util.h"

typedef struct binding {
    char *name; /* NULL: of the next input in order */
    tl_tensor *tensor;
    int is_used;
} binding;

static void free_binding(void *data)
{
    binding *b = data;
    tl_tensor_free_data_too(b->tensor);
    ln_free(b->name);
    ln_free(b);
}

// Takes the tensor.
static int bind(ln_context *ctx, const char *name, tl_tensor *tensor)
{
    binding *b = ln_alloc(sizeof(*b));
    if (!b) {
        tl_tensor_free_data_too(tensor);
        return ln_fail_last(ctx);
    }
    *b = (binding){.name = ln_strdup(name), .tensor = tensor};
    ln_list *longer = name && !b->name ? NULL : ln_list_append(ctx->bound, b);
    if (!longer) {
        free_binding(b);
        return ln_fail_last(ctx);
    }
    ctx->bound = longer;
    return 0;
}

int ln_context_bind_shape(ln_context *ctx, const char *name, int ndim, const int *dims)
{
    ln_context_clear_error(ctx);
    tl_tensor *tensor = tl_tensor_create(NULL, ndim, dims, TL_FLOAT);
    return tensor ? bind(ctx, name, tensor) : ln_fail_tl(ctx);
}

int ln_context_bind_input(ln_context *ctx, const char *name, const tl_tensor *value)
{
    ln_context_clear_error(ctx);
    tl_tensor *copy = value ? tl_tensor_clone(value) : NULL;
    return value && !copy ? ln_fail_tl(ctx) : bind(ctx, name, copy);
}

static const tl_tensor *find_named(const ln_context *ctx, const char *name)
{
    binding *b;
    const tl_tensor *found = NULL;
    LN_LIST_FOREACH(b, ctx->bound)
    {
        if (!b->name || !ln_streq(b->name, name))
            continue;
        b->is_used = 1;
        found = b->tensor;
    }
    return found;
}

int ln_bind_has(const ln_context *ctx, const char *name)
{
    return find_named(ctx, name) != NULL;
}

const tl_tensor *ln_bind_find(const ln_context *ctx, const char *name, int index)
{
    const binding *b;
    const tl_tensor *named = find_named(ctx, name);
    if (named)
        return named;
    LN_LIST_FOREACH(b, ctx->bound)
    {
        if (!b->name && index-- == 0)
            return b->tensor;
    }
    return NULL;
}

void ln_bind_warn(const ln_context *ctx)
{
    const binding *b;
    LN_LIST_FOREACH(b, ctx->bound)
    {
        if (b->name && b->tensor && !b->tensor->data && !b->is_used)
            ln_warn(ctx,
                    "%s: the shape given for '%s' does nothing: no input and no size of that name "
                    "is open",
                    ctx->source, b->name);
    }
}

int ln_context_bind_file(ln_context *ctx, const char *datafile)
{
    ln_context_clear_error(ctx);
    char *copy = ln_strdup(datafile);
    if (!copy)
        return ln_fail(ctx, "out of memory");
    ln_free(ctx->datafile);
    ctx->datafile = copy;
    return 0;
}

int ln_bind_add_param(ln_context *ctx, const char *name, const tl_tensor *like)
{
    if (!ctx->params)
        ctx->params = ln_weights_create();
    tl_tensor *record =
        ctx->params ? tl_tensor_create(NULL, like->ndim, like->dims, like->dtype) : NULL;
    if (record && !ln_weights_add(ctx->params, name, record, 0))
        return 0;
    tl_tensor_free(record);
    return ln_fail(ctx, "out of memory");
}

const tl_tensor *ln_bind_param(const ln_context *ctx, const char *name)
{
    return ln_weights_find(ctx->params, name);
}

void ln_bind_free(ln_context *ctx)
{
    ln_list_free_deep(ctx->bound, free_binding);
    ctx->bound = NULL;
    ln_free(ctx->datafile);
    ctx->datafile = NULL;
    ln_weights_free(ctx->params);
    ctx->params = NULL;
}
