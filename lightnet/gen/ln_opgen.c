// SPDX-License-Identifier: Apache-2.0
// ln-opgen: reads operator descriptions and writes the C that defines the operators, a list of
// them, tests or a page.

#include "gen/ln_opgen.h"

#include <dirent.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_name.h"
#include "lightnet/ln_util.h"

static const char usage[] =
    "usage: ln-opgen [options] FILE.op...\n"
    "Writes the C that defines the described operators.\n"
    "\n"
    "  -o, --output FILE   where to write (default: standard output)\n"
    "  -I, --include DIR   where inherited operators are described: all DIR/*.op\n"
    "      --with FILE.op  a file that describes inherited operators\n"
    "      --depfile FILE  also write a make rule of its dependencies\n"
    "      --no-docs       leave out the documentation that lightnet ops prints\n"
    "  -h, --help          print this\n"
    "\n"
    "Instead of definitions:\n"
    "      --list ARCH     a header with the array of ARCH's operators, ops_ARCH\n"
    "      --types         a header with the constant LN_OP_TYPE of each type of operators\n"
    "      --forms         a header with the operators in ONNX, forms\n"
    "      --tests         a program that runs the examples of the descriptions\n"
    "      --docs          a page in Markdown about the operators\n"
    "      --doc-table     a header with the array of their documentation, op_docs\n";

typedef enum mode {
    MODE_C,
    MODE_LIST,
    MODE_TYPES,
    MODE_TESTS,
    MODE_DOCS,
    MODE_DOC_TABLE,
    MODE_FORMS
} mode;

typedef struct options {
    mode mode;
    int no_docs; // of MODE_C
    const char *output;
    const char *depfile;
    const char *arch;      // of MODE_LIST
    const char **includes; // directories; as many as arguments fit
    size_t nincludes;
    const char **withs;
    size_t nwiths;
    char **files; // borrowed from main, NULL-terminated
} options;

// Values of the options without a letter.
enum {
    OPT_WITH = 256,
    OPT_DEPFILE,
    OPT_LIST,
    OPT_TYPES,
    OPT_TESTS,
    OPT_DOCS,
    OPT_DOC_TABLE,
    OPT_NO_DOCS,
    OPT_FORMS
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"include", required_argument, NULL, 'I'},
    {"with", required_argument, NULL, OPT_WITH},
    {"depfile", required_argument, NULL, OPT_DEPFILE},
    {"list", required_argument, NULL, OPT_LIST},
    {"types", no_argument, NULL, OPT_TYPES},
    {"tests", no_argument, NULL, OPT_TESTS},
    {"docs", no_argument, NULL, OPT_DOCS},
    {"doc-table", no_argument, NULL, OPT_DOC_TABLE},
    {"forms", no_argument, NULL, OPT_FORMS},
    {"no-docs", no_argument, NULL, OPT_NO_DOCS},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

// Reports a failure in one line, like all programs of LightNet.
static void print_error(const char *reason)
{
    fprintf(stderr, "ln-opgen: error: %s\n", reason);
}

static int wrong_usage(const char *fmt, ...) LN_PRINTF(1, 2);

// Reports wrong usage in one line. Returns -1.
static int wrong_usage(const char *fmt, ...)
{
    ln_error reason = {0}; // escaped
    va_list args;
    va_start(args, fmt);
    ln_error_vset(&reason, fmt, args);
    va_end(args);
    fprintf(stderr, "ln-opgen: error: %s; see ln-opgen --help\n", ln_error_text(&reason));
    return -1;
}

// Reports why getopt_long rejected its last word. Returns -1.
static int wrong_option(int reason, char **argv)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    const char *word = argv[optind - 1]; // with musl NULL after a letter without its value
    const int is_long = word && strncmp(word, "--", 2) == 0;
    const char *option = is_long ? word : letter;
    if (reason == ':')
        return wrong_usage("option '%s' needs a value", option);
    if (optopt && is_long)
        return wrong_usage("option '%s' takes no value", option);
    return wrong_usage("unknown option '%s'", option);
}

// 0; 1: help was requested; -1: wrong usage, with a message on standard error.
static int parse_options(options *opts, int argc, char **argv)
{
    opterr = 0; // getopt's messages lack the program's name
    for (int c; (c = getopt_long(argc, argv, ":o:I:h", long_options, NULL)) != -1;) {
        switch (c) {
        case 'o':
            opts->output = optarg;
            break;
        case 'I':
            opts->includes[opts->nincludes++] = optarg;
            break;
        case OPT_WITH:
            opts->withs[opts->nwiths++] = optarg;
            break;
        case OPT_DEPFILE:
            opts->depfile = optarg;
            break;
        case OPT_LIST:
            opts->mode = MODE_LIST;
            opts->arch = optarg;
            break;
        case OPT_TYPES:
            opts->mode = MODE_TYPES;
            break;
        case OPT_TESTS:
            opts->mode = MODE_TESTS;
            break;
        case OPT_DOCS:
            opts->mode = MODE_DOCS;
            break;
        case OPT_DOC_TABLE:
            opts->mode = MODE_DOC_TABLE;
            break;
        case OPT_FORMS:
            opts->mode = MODE_FORMS;
            break;
        case OPT_NO_DOCS:
            opts->no_docs = 1;
            break;
        case 'h':
            return 1;
        default:
            return wrong_option(c, argv);
        }
    }
    opts->files = argv + optind;
    return *opts->files ? 0 : wrong_usage("no description given, expected FILE.op");
}

// 1 when the descriptions of that file were read already, under this name or another one.
static int is_known(const ln_opdescs *descs, const char *file)
{
    for (size_t i = 0; i < descs->nfiles; i++) {
        if (ln_cgen_is_same_file(descs->files[i]->file, file))
            return 1;
    }
    return 0;
}

static int is_description(const struct dirent *entry)
{
    return ln_has_suffix(entry->d_name, ".op");
}

static int read_inherited(ln_opdescs *descs, const char *file, ln_error *err)
{
    return is_known(descs, file) ? 0 : ln_opdescs_read(descs, file, 0, err);
}

static int read_directory(ln_opdescs *descs, const char *dir, ln_error *err)
{
    struct dirent **entries;
    const int n = scandir(dir, &entries, is_description, alphasort);
    if (n < 0)
        return ln_error_set(err, "%s: cannot read the directory", dir);
    int result = 0;
    for (int i = 0; i < n; i++) {
        char *path = NULL;
        if (!result && asprintf(&path, "%s/%s", dir, entries[i]->d_name) < 0)
            result = ln_error_memory_at(err, dir);
        else if (!result)
            result = read_inherited(descs, path, err);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return result;
}

static int read_all(ln_opdescs *descs, const options *opts, ln_error *err)
{
    for (char **file = opts->files; *file; file++) {
        if (is_known(descs, *file))
            return ln_error_set(err, "%s: given twice", *file);
        if (ln_opdescs_read(descs, *file, 1, err))
            return -1;
    }
    for (size_t i = 0; i < opts->nwiths; i++) {
        if (read_inherited(descs, opts->withs[i], err))
            return -1;
    }
    for (size_t i = 0; i < opts->nincludes; i++) {
        if (read_directory(descs, opts->includes[i], err))
            return -1;
    }
    return ln_opdescs_check(descs, err);
}

static int write_depfile(const ln_opdescs *descs, const options *opts, ln_error *err)
{
    ln_cgen rule = {.file = opts->depfile};
    ln_cgen_print(&rule, "%s:", opts->output);
    for (size_t i = 0; i < descs->nfiles; i++)
        ln_cgen_print(&rule, " %s", descs->files[i]->file);
    ln_cgen_print(&rule, "\n");
    const int result = ln_cgen_save(&rule, err);
    ln_cgen_free(&rule);
    return result;
}

static int generate(ln_cgen *out, const ln_opdescs *descs, const options *opts, ln_error *err)
{
    switch (opts->mode) {
    case MODE_LIST:
        ln_opgen_list(out, descs, opts->arch);
        return 0;
    case MODE_TYPES:
        ln_opgen_types(out, descs);
        return 0;
    case MODE_TESTS:
        return ln_opgen_tests(out, descs, err);
    case MODE_DOCS:
        ln_opgen_docs(out, descs);
        return 0;
    case MODE_DOC_TABLE:
        ln_opgen_doc_table(out, descs);
        return 0;
    case MODE_FORMS:
        return ln_opgen_forms(out, descs, err);
    case MODE_C:
    default:
        return ln_opgen_c(out, descs, !opts->no_docs, err);
    }
}

// Reads, generates, saves. After a mistake the output is what it was.
static int run(const options *opts, ln_error *err)
{
    for (char **file = opts->files; *file; file++) {
        if (ln_cgen_is_same_file(*file, opts->output))
            return ln_error_set(err, "%s: is a description, not an output", opts->output);
    }
    ln_cgen out = {.file = opts->output};
    ln_opdescs *descs = ln_opdescs_create();
    int result = read_all(descs, opts, err);
    if (!result)
        result = generate(&out, descs, opts, err);
    if (!result && opts->depfile)
        result = write_depfile(descs, opts, err);
    if (!result)
        result = ln_cgen_save(&out, err);
    ln_cgen_free(&out);
    ln_opdescs_free(descs);
    return result;
}

int main(int argc, char **argv)
{
    ln_error err = {0};
    options opts = {.output = "-"};
    opts.includes = ln_alloc_array((size_t)argc, sizeof(*opts.includes));
    opts.withs = ln_alloc_array((size_t)argc, sizeof(*opts.withs));
    int status = EXIT_FAILURE;
    if (!opts.includes || !opts.withs) {
        print_error(ln_last_error());
    } else {
        const int usage_status = parse_options(&opts, argc, argv);
        if (usage_status) {
            if (usage_status > 0)
                fputs(usage, stdout);
            status = usage_status > 0 ? EXIT_SUCCESS : 2;
        } else if (run(&opts, &err)) {
            print_error(ln_error_text(&err));
        } else {
            status = EXIT_SUCCESS;
        }
    }
    ln_free(opts.includes);
    ln_free(opts.withs);
    return status;
}
