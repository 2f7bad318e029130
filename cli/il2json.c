// SPDX-License-Identifier: Apache-2.0
// il2json: translates models in the intermediate language to JSON.

#include <getopt.h>
#include <stdio.h>

#include "lightnet/ln_context.h"
#include "tool_options.h"

static const char tool[] = "il2json";

static const char help[] =
    "Usage: il2json [-o OUT] FILE\n"
    "\n"
    "Writes the model in FILE, in the intermediate language, as the JSON that it stands for.\n"
    "\n"
    "  -o, --outfile OUT  the file to write; without it, or with -, standard output\n"
    "  -h, --help         print this help\n"
    "\n"
    "Exit status: 0 success, 1 the model is wrong or cannot be written, 2 wrong usage.\n";

static void print_warning(void *data, ln_msg_level level, const char *text)
{
    (void)data;
    if (level != LN_MSG_DEBUG)
        fprintf(stderr, "il2json: %s: %s\n", ln_msg_level_name(level), text);
}

static int translate(const char *file, const char *outfile)
{
    ln_context *ctx = ln_context_create();
    if (ctx)
        ctx->msg_func = print_warning;
    const int failed = !ctx || ln_context_init(ctx, file) || ln_context_print(ctx, outfile);
    if (failed)
        fprintf(stderr, "il2json: error: %s\n", ln_context_error(ctx));
    ln_context_free(ctx);
    return failed ? TOOL_FAILED : TOOL_OK;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"outfile", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *outfile = "-";
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
        switch (option) {
        case 'o':
            outfile = optarg;
            break;
        case 'h':
            return tool_print_help(help);
        default:
            return tool_wrong_option(tool, option, argv[optind - 1]);
        }
    }
    if (argc - optind != 1)
        return tool_wrong_usage(tool, "%d models given, expected one", argc - optind);
    if (tool_check_output(tool, outfile, 1, (const char *const *)argv + optind))
        return TOOL_WRONG_USAGE;
    return translate(argv[optind], outfile);
}
