// SPDX-License-Identifier: Apache-2.0
// lightnet compile: write the compiled model.

#include <string.h>

#include "cli.h"
#include "cli_model.h"

// A compiled model is written as JSON, whatever the file is called: a name that says otherwise is a
// mistake better told now.
static int says_otherwise(const char *file)
{
    static const char other[] = ".safetensors";
    const size_t len = strlen(file), other_len = strlen(other);
    return len >= other_len && !strcmp(file + len - other_len, other);
}

int cli_compile(const cli_options *opt)
{
    if (!opt->outfile)
        return cli_usage("compile needs -o FILE");
    if (says_otherwise(opt->outfile))
        return cli_usage(
            "%s: a compiled model is JSON, with the weights apart; give the file a name in .json",
            opt->outfile);
    ln_context *ctx = cli_model_read(opt);
    if (!ctx)
        return CLI_FAILED;
    const int status = ln_context_compile(ctx, cli_target(opt)) ? cli_model_fail(ctx, opt)
                                                                : cli_model_write(ctx, opt);
    ln_context_free(ctx);
    return status;
}
