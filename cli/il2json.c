// SPDX-License-Identifier: Apache-2.0
// il2json: translates models in the intermediate language to JSON.

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "il/ln_il.h"
#include "lightnet/ln_util.h"
#include "lightnet/ln_version.h"
#include "tool_options.h"

static const char tool[] = "il2json";

static const char help[] =
    "Usage: il2json [OPTION...] [FILE]\n"
    "\n"
    "Translates the model in FILE from the intermediate language to JSON.\n"
    "Without FILE, or if it is -, reads standard input. It does not check operators;\n"
    "lightnet show does.\n"
    "\n"
    "  -o, --outfile OUT  the file to write; without it, or with -, standard output\n"
    "      --include DIR  allow the model to include files in and below DIR\n"
    "  -h, --help         print this help\n"
    "  -v, --version      print the version\n"
    "\n"
    "Exit status: 0 success, 1 the model is invalid or cannot be written, 2 wrong usage.\n";

typedef struct options {
    const char *outfile;
    ln_list *allowed;
    int is_done; // help or version was printed
} options;

// Returns new (ln_free), NULL with the thread's reason.
static char *read_file(const char *file, const char *name, size_t *len)
{
    FILE *stream = ln_streq(file, "-") ? stdin : fopen(file, "rbe");
    if (!stream)
        return ln_error_set(NULL, "%s: cannot read: %s", name, strerror(errno)), NULL;
    char *text = ln_read_stream(stream, name, len);
    if (stream != stdin)
        fclose(stream);
    return text;
}

static int translate_text(const char *name, const char *text, size_t len, const ln_il_host *host,
                          const char *outfile)
{
    static ln_error err;
    ln_il_model m = {0};
    int failed;
    if (!ln_il_is(name, text, len))
        failed = ln_error_set(&err,
                              "%s: not LightNet IL; lightnet convert "
                              "translates other formats",
                              name);
    else
        failed = ln_il_read(&m, name, text, len, host, &err) || ln_il_print(&m, outfile, &err);
    ln_il_model_free(&m);
    return failed ? tool_fail(tool, err.text) : TOOL_OK;
}

static int translate(const char *file, const options *opt)
{
    size_t len;
    const int is_stdin = ln_streq(file, "-");
    const char *name = is_stdin ? "standard input" : file;
    char *text = read_file(file, name, &len);
    if (!text)
        return tool_fail(tool, ln_last_error());
    char *folder = ln_il_folder_of(name);
    const ln_il_host host = {.model = is_stdin ? NULL : folder, .allowed = opt->allowed};
    const int status = folder ? translate_text(name, text, len, &host, opt->outfile)
                              : tool_fail(tool, ln_last_error());
    ln_free(folder);
    ln_free(text);
    return status;
}

static int set_option(options *opt, int option, char **argv)
{
    ln_list *longer;
    switch (option) {
    case 'o':
        opt->outfile = optarg;
        return TOOL_OK;
    case 'I':
        longer = ln_list_append(opt->allowed, optarg);
        if (!longer)
            return tool_fail(tool, ln_last_error());
        opt->allowed = longer;
        return TOOL_OK;
    case 'h':
        opt->is_done = 1;
        return tool_print_help(help);
    case 'v':
        opt->is_done = 1;
        return tool_print_help("il2json " LN_VERSION "\n");
    default:
        return tool_wrong_option(tool, option, argv[optind - 1]);
    }
}

static int run(options *opt, int argc, char **argv)
{
    static const struct option longs[] = {
        {"outfile", required_argument, NULL, 'o'},
        {"include", required_argument, NULL, 'I'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'v'},
        {0},
    };
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:hv", longs, NULL)) != -1) {
        const int status = set_option(opt, option, argv);
        if (status || opt->is_done)
            return status;
    }
    if (argc - optind > 1)
        return tool_wrong_usage(tool, "%d models, expected at most one", argc - optind);
    const char *const file = optind < argc ? argv[optind] : "-";
    if (tool_check_output(tool, opt->outfile, 1, &file))
        return TOOL_WRONG_USAGE;
    return translate(file, opt);
}

int main(int argc, char **argv)
{
    options opt = {.outfile = "-"};
    const int status = run(&opt, argc, argv);
    ln_list_free(opt.allowed);
    return status;
}
