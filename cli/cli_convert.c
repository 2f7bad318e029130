// SPDX-License-Identifier: Apache-2.0
// lightnet convert: write a model as it was read in another format.

#include <strings.h>

#include "cli.h"
#include "cli_model.h"

typedef struct ending {
    const char *ending, *format;
} ending;

// What a name says of the format; other formats share an ending with one of these.
static const ending endings[] = {
    {".json", "ir"},
    {".net", "il"},
    {".il", "il"},
};

// Formats with files of their own for the weights.
static const char *const with_weights[] = {"nnvm"};

static const char *format_of_name(const char *file)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (cli_ends_with(file, endings[i].ending))
            return endings[i].format;
    return NULL;
}

static int has_weights(const char *format)
{
    for (size_t i = 0; i < sizeof(with_weights) / sizeof(with_weights[0]); i++)
        if (!strcasecmp(format, with_weights[i]))
            return 1;
    return 0;
}

static int convert(ln_context *ctx, const cli_options *opt, const char *format)
{
    if (ln_context_write(ctx, opt->datafile, format, opt->outfile))
        return cli_model_fail(ctx, opt);
    return has_weights(format) ? CLI_OK : cli_model_write_weights(ctx, opt);
}

int cli_convert(const cli_options *opt)
{
    if (!opt->outfile)
        return cli_usage("convert needs -o FILE");
    const char *format = opt->format ? opt->format : format_of_name(opt->outfile);
    if (!format)
        return cli_usage("%s: the name says no format; give one with --to ir, il or nnvm",
                         opt->outfile);
    ln_context *ctx = cli_model_read(opt);
    if (!ctx)
        return CLI_FAILED;
    const int status = convert(ctx, opt, format);
    ln_context_free(ctx);
    return status;
}
