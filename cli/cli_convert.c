// SPDX-License-Identifier: Apache-2.0
// lightnet convert: write a model as it was read in another format.

#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

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

static const char *format_of_name(const char *file)
{
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (cli_ends_with(file, endings[i].ending))
            return endings[i].format;
    return NULL;
}

// NNVM's parameters are in a file beside the graph, which the library writes.
static int find_params(const cli_options *opt, char file[LN_MAXLINE], struct stat *st)
{
    return ln_data_name_beside(file, LN_MAXLINE, opt->outfile, ".params") ? -1 : stat(file, st);
}

// Files are written anew, so a file that was there before is another one.
static void tell_params(const cli_options *opt, int was_there, const struct stat *before)
{
    char file[LN_MAXLINE];
    struct stat now;
    if (!find_params(opt, file, &now) && !(was_there && now.st_ino == before->st_ino))
        fprintf(stderr, "info: parameters written to %s; run %s with -f %s\n", file, opt->outfile,
                file);
}

static int convert(ln_context *ctx, const cli_options *opt, const char *format)
{
    char file[LN_MAXLINE];
    struct stat before;
    const int is_nnvm = !strcasecmp(format, "nnvm");
    const int was_there = is_nnvm && !find_params(opt, file, &before);
    if (cli_model_convert(ctx, opt, format))
        return CLI_FAILED;
    if (is_nnvm)
        tell_params(opt, was_there, &before);
    return is_nnvm ? CLI_OK : cli_model_write_weights(ctx, opt);
}

int cli_convert(const cli_options *opt)
{
    if (!opt->outfile)
        return cli_usage("convert needs -o FILE");
    const char *format = opt->format ? opt->format : format_of_name(opt->outfile);
    if (!format)
        return cli_usage("%s: the name says no format; give one with --to ir, il or nnvm",
                         opt->outfile);
    ln_context *ctx = cli_model_create(opt);
    if (!ctx)
        return CLI_FAILED;
    const int status = convert(ctx, opt, format);
    ln_context_free(ctx);
    return status;
}
