// SPDX-License-Identifier: Apache-2.0
// Writing the weights of a model that is written without them.

#include "data/ln_data_save.h"

#include <stdio.h>
#include <string.h>

#include "base/ln_suffix.h"
#include "data/ln_data_give.h"
#include "data/ln_safetensors.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_tensor.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_util.h"

int ln_data_num_own(const ln_context *ctx)
{
    int n = 0;
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->weights ? ctx->ops : NULL)
    {
        const char *name = ln_from_file_name(op);
        n += name && ln_weights_find(ctx->weights, name);
    }
    return n;
}

const ln_weight *ln_data_taken(const ln_context *ctx, const ln_op *op, tl_tensor **shape)
{
    const char *name = ln_from_file_name(op);
    const ln_weight *weight = name ? ln_weights_of(ctx, name) : NULL;
    const ln_tensor_entry *te = weight ? ln_tensor_table_find(ctx->tensor_table, name) : NULL;
    if (te)
        *shape = tl_tensor_create(weight->tensor->data, te->tensor->ndim, te->tensor->dims,
                                  weight->tensor->dtype);
    return te ? weight : NULL;
}

/* What goes into the file. */
typedef struct content {
    const char **names;
    tl_tensor **tensors;
    const ln_weight **weights;
    int n;
} content;

static int collect(const ln_context *ctx, content *c)
{
    const ln_op *op;
    const size_t most = (size_t)ln_list_length(ctx->ops) + 1;
    c->names = ln_alloc_array(most, sizeof(*c->names));
    c->tensors = ln_alloc_array(most, sizeof(*c->tensors));
    c->weights = ln_alloc_array(most, sizeof(*c->weights));
    if (!c->names || !c->tensors || !c->weights)
        return ln_fail_memory(ctx);
    LN_LIST_FOREACH(op, ctx->ops)
    {
        const ln_weight *weight = ln_data_taken(ctx, op, &c->tensors[c->n]);
        if (!weight)
            continue;
        if (!c->tensors[c->n])
            return ln_fail(ctx, "%s", tl_last_error());
        c->names[c->n] = weight->name;
        c->weights[c->n++] = weight;
    }
    return 0;
}

static void clear(content *c)
{
    for (int i = 0; i < c->n; i++)
        tl_tensor_free(c->tensors[i]);
    ln_free(c->names);
    ln_free(c->tensors);
    ln_free(c->weights);
}

int ln_data_save_with(const ln_context *ctx, const char *const *metadata, const char *file)
{
    content c = {0};
    const int status =
        collect(ctx, &c)
            ? ln_fail_at(ctx, "%s", file)
            : ln_safetensors_write_weights(file, c.n, c.names, (const tl_tensor *const *)c.tensors,
                                           c.weights, metadata, ctx->error);
    clear(&c);
    return status;
}

int ln_data_save(ln_context *ctx, const char *file)
{
    ln_context_clear_error(ctx);
    if (ctx->datafile && ln_data_give(ctx, ctx->datafile))
        return -1;
    return ln_data_save_with(ctx, NULL, file);
}

int ln_data_name_beside(char *buf, size_t size, const char *file, const char *ending)
{
    static const char *const endings[] = {".json", ".net", ".il"};
    size_t stem = strlen(file);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (ln_has_suffix(file, endings[i]))
            stem = strlen(file) - strlen(endings[i]);
    const int len = snprintf(buf, size, "%.*s%s", (int)stem, file, ending);
    return len >= 0 && (size_t)len < size
               ? 0
               : ln_error_set(NULL, "%.64s...: the file name is too long", file);
}
