// SPDX-License-Identifier: Apache-2.0
// genwts: makes a weight file in the TensorRT text format from text files of numbers.

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "lightnet/ln_data.h"
#include "tool_options.h"

static const char tool[] = "genwts";

// Values of -t: the format's own numbers, and their names.
static const struct {
    const char *number, *name;
    tl_dtype dtype;
} types[] = {
    {"0", "float32", TL_FLOAT},
    {"1", "float16", TL_FLOAT16},
    {"2", "int8", TL_INT8},
};

static const char help[] =
    "Usage: genwts -t TYPE -o OUT FILE...\n"
    "\n"
    "Writes OUT, a weight file in the TensorRT text format, with one array for each FILE: the\n"
    "numbers in it, separated by white space or punctuation. An array is named after the leading\n"
    "identifier characters of its file's base name: conv1_bias of weights/conv1_bias.0.txt.\n"
    "\n"
    "  -t, --type TYPE    0 or float32, 1 or float16, 2 or int8\n"
    "  -o, --outfile OUT  the file to write\n"
    "  -h, --help         print this help\n"
    "\n"
    "Exit status: 0 success, 1 a file cannot be read or written, 2 wrong usage.\n";

static tl_dtype dtype_of(const char *type)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcmp(type, types[i].number) || !strcmp(type, types[i].name))
            return types[i].dtype;
    return TL_DTYPE_INVALID;
}

static int generate(const char *type, const char *outfile, int n, const char *const *files)
{
    ln_error err = {0};
    const tl_dtype dtype = type ? dtype_of(type) : TL_DTYPE_INVALID;
    if (!type)
        return tool_wrong_usage(tool, "no type, expected -t TYPE");
    if (dtype == TL_DTYPE_INVALID)
        return tool_wrong_usage(
            tool, "unknown type '%s', expected 0, 1, 2, float32, float16 or int8", type);
    if (!outfile)
        return tool_wrong_usage(tool, "no output file, expected -o OUT");
    if (!n)
        return tool_wrong_usage(tool, "no input files");
    if (tool_check_output(tool, outfile, n, files))
        return TOOL_WRONG_USAGE;
    return ln_wts_write_from_texts(outfile, dtype, n, files, &err)
               ? tool_fail(tool, ln_error_text(&err))
               : TOOL_OK;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"type", required_argument, NULL, 't'},
        {"outfile", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    const char *type = NULL, *outfile = NULL;
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":t:o:h", options, NULL)) != -1) {
        switch (option) {
        case 't':
            type = optarg;
            break;
        case 'o':
            outfile = optarg;
            break;
        case 'h':
            return tool_print_help(help);
        default:
            return tool_wrong_option(tool, option, argv[optind - 1]);
        }
    }
    return generate(type, outfile, argc - optind, (const char *const *)argv + optind);
}
