// SPDX-License-Identifier: Apache-2.0
// lightnet compile: write the compiled model.

#include "cli.h"
#include "cli_model.h"

int cli_compile(const cli_options *opt)
{
    if (!opt->outfile)
        return cli_usage("compile needs -o FILE");
    int status = cli_model_check_outfile(opt);
    if (status)
        return status;
    ln_context *ctx = cli_model_read(opt);
    if (!ctx)
        return CLI_FAILED;
    status = ln_context_compile(ctx, cli_target(opt)) ? cli_model_fail(ctx, opt)
                                                      : cli_model_write(ctx, opt);
    ln_context_free(ctx);
    return status;
}
