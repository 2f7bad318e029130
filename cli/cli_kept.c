// SPDX-License-Identifier: Apache-2.0
// Data of inputs for several runs: a run may reuse the memory of an input whose sizes are open.

#include "cli_kept.h"

#include <stdlib.h>

#include "cli_msg.h"

struct cli_kept_input {
    const char *name;
    tl_tensor *data;
};

int cli_kept_take(cli_kept *kept, const ln_context *ctx)
{
    const char *name;
    *kept = (cli_kept){calloc((size_t)ln_list_length(ctx->inputs) + 1, sizeof(*kept->inputs)), 0};
    if (!kept->inputs)
        return cli_fail_memory();
    LN_LIST_FOREACH(name, ctx->inputs)
    {
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, name);
        if (!te->isdynamic)
            continue;
        tl_tensor *data = tl_tensor_clone(te->tensor);
        if (!data)
            return cli_fail("input '%s': %s", name, tl_last_error());
        kept->inputs[kept->n++] = (struct cli_kept_input){name, data};
    }
    return 0;
}

int cli_kept_restore(const cli_kept *kept, ln_context *ctx)
{
    int status = 0;
    for (int i = 0; i < kept->n && !status; i++)
        status = ln_context_set_data(ctx, kept->inputs[i].name, kept->inputs[i].data->data);
    return status;
}

void cli_kept_free(cli_kept *kept)
{
    for (int i = 0; i < kept->n; i++)
        tl_tensor_free_data_too(kept->inputs[i].data);
    free(kept->inputs);
}
