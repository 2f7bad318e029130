// SPDX-License-Identifier: Apache-2.0
// Writing the weights that a model's own file brought, for the model that is written without them.

#include "data/ln_data_save.h"

#include <stdio.h>
#include <string.h>

#include "ir/ln_from_file.h"
#include "ir/ln_weights.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_util.h"

// The weight that the operator makes and the model's own file brought, its name in `name`; NULL:
// none.
static const tl_tensor *own_weight(const ln_context *ctx, const ln_op *op, const char **name)
{
    *name = ln_from_file_name(op);
    return *name ? ln_weights_find(ctx->weights, *name) : NULL;
}

int ln_data_num_own(const ln_context *ctx)
{
    int n = 0;
    const char *name;
    const ln_op *op;
    LN_LIST_FOREACH(op, ctx->weights ? ctx->ops : NULL)
    {
        if (own_weight(ctx, op, &name))
            n++;
    }
    return n;
}

int ln_data_save_with(const ln_context *ctx, const char *const *metadata, const char *file)
{
    const int capacity = ln_data_num_own(ctx);
    const char **names = ln_alloc_array((size_t)capacity, sizeof(*names));
    const tl_tensor **tensors = ln_alloc_array((size_t)capacity, sizeof(*tensors));
    int status = -1;
    if (!names || !tensors) {
        ln_fail(ctx, "%s: out of memory", file);
    } else {
        int n = 0;
        const ln_op *op;
        LN_LIST_FOREACH(op, capacity ? ctx->ops : NULL)
        {
            tensors[n] = own_weight(ctx, op, &names[n]);
            if (tensors[n] && ++n == capacity)
                break;
        }
        status = ln_safetensors_write(file, n, names, tensors, metadata, ctx->error);
    }
    ln_free(names);
    ln_free(tensors);
    return status;
}

int ln_data_save(const ln_context *ctx, const char *file)
{
    ln_context_clear_error(ctx);
    return ln_data_save_with(ctx, NULL, file);
}

int ln_data_name_beside(char *buf, size_t size, const char *file, const char *ending)
{
    static const char *const endings[] = {".json", ".net", ".il"};
    size_t stem = strlen(file);
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const size_t len = strlen(endings[i]);
        if (strlen(file) > len && !strcmp(file + strlen(file) - len, endings[i]))
            stem = strlen(file) - len;
    }
    const int len = snprintf(buf, size, "%.*s%s", (int)stem, file, ending);
    return len >= 0 && (size_t)len < size
               ? 0
               : ln_error_set(NULL, "%.64s...: the file name is too long", file);
}
