// SPDX-License-Identifier: Apache-2.0
// npz files as outputs.

#include "output/cli_npz_write.h"

#include <stdlib.h>
#include <string.h>

#include "input/cli_model.h"
#include "input/cli_model_fail.h"
#include "input/cli_source.h"
#include "lightnet/ln_data.h"
#include "output/cli_guard.h"
#include "output/cli_msg.h"

int cli_npz_is_output(const cli_run_options *opt)
{
    return opt->outdir && !strcmp(cli_guard_suffix(opt->outdir), ".npz");
}

int cli_npz_check(const cli_run_options *opt)
{
    return cli_guard_output(&opt->shared, opt->outdir, "an npz archive");
}

// Outputs by name.
typedef struct arrays {
    const char **names;
    const tl_tensor **tensors;
} arrays;

// For `n` outputs. Free with free_arrays. Returns 0, or CLI_FAILED after a message.
static int create_arrays(arrays *a, int n)
{
    a->names = calloc((size_t)n + 1, sizeof(*a->names));
    a->tensors = calloc((size_t)n + 1, sizeof(*a->tensors));
    return a->names && a->tensors ? 0 : cli_fail_memory();
}

static void free_arrays(arrays *a)
{
    free(a->names);
    free(a->tensors);
}

static int write_arrays(const arrays *a, int n, const char *file)
{
    ln_error err = {0};
    return ln_npz_write(file, n, a->names, a->tensors, &err) ? cli_fail("%s", ln_error_text(&err))
                                                             : 0;
}

int cli_npz_write_session(const cli_run_options *opt, const ln_model *model, ln_session *session)
{
    arrays a;
    const int n = ln_model_num_outputs(model);
    int status = create_arrays(&a, n);
    for (int k = 0; k < n && !status; k++) {
        a.names[k] = ln_model_output_name(model, k);
        a.tensors[k] = ln_session_output(session, a.names[k]);
        if (!a.tensors[k])
            status = cli_model_fail_for(cli_source_name(opt->shared.args[0]), &opt->shared,
                                        ln_session_error(session));
    }
    if (!status)
        status = write_arrays(&a, n, opt->outdir);
    free_arrays(&a);
    return status;
}

int cli_npz_write_context(const cli_run_options *opt, ln_context *ctx)
{
    arrays a;
    const char *name;
    int k = 0, status = create_arrays(&a, ln_list_length(ctx->outputs));
    LN_LIST_FOREACH (name, status ? NULL : ctx->outputs) {
        a.names[k] = name;
        a.tensors[k] = status ? NULL : cli_model_tensor(ctx, &opt->shared, name);
        if (!a.tensors[k++])
            status = CLI_FAILED;
    }
    if (!status)
        status = write_arrays(&a, k, opt->outdir);
    free_arrays(&a);
    return status;
}
