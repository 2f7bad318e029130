// SPDX-License-Identifier: Apache-2.0
// ln-optgen: turns optimizer descriptions into C.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/ln_optwrite.h"

static const char usage[] =
    "usage: ln-optgen [-o FILE.c] [--header FILE.h] [--tests FILE.c] DESCRIPTION.opt...\n"
    "Writes C for the rewrite rules of one architecture:\n"
    "  -o FILE.c        the rules' functions and the arrays that ln_arch has of them\n"
    "  --header FILE.h  the declarations of these arrays\n"
    "  --tests FILE.c   the program that tests each rule\n"
    "Without an output the descriptions are only checked.\n";

typedef struct options {
    const char *source;
    const char *header;
    const char *tests;
    char **files;
    int nfiles;
} options;

// Takes the options from the command line and leaves the files. -1: wrong usage.
static int parse(int argc, char **argv, options *opts)
{
    int i = 1;
    for (; i + 1 < argc && argv[i][0] == '-'; i += 2) {
        if (strcmp(argv[i], "-o") == 0)
            opts->source = argv[i + 1];
        else if (strcmp(argv[i], "--header") == 0)
            opts->header = argv[i + 1];
        else if (strcmp(argv[i], "--tests") == 0)
            opts->tests = argv[i + 1];
        else
            return -1;
    }
    opts->files = argv + i;
    opts->nfiles = argc - i;
    if (opts->nfiles < 1 || argv[i][0] == '-' || (opts->source && !opts->header))
        return -1;
    return 0;
}

// Reads all files; the roots go into `roots`, to be freed by the caller.
static int read_files(const options *opts, ln_optdesc *desc, ln_rjson **roots)
{
    for (int i = 0; i < opts->nfiles; i++) {
        roots[i] = ln_rjson_read(opts->files[i], NULL);
        if (!roots[i] || ln_optdesc_read(desc, roots[i], NULL))
            return -1;
    }
    return ln_optdesc_check(desc, NULL);
}

// Writing over a description would destroy it.
static int check_outputs(const options *opts)
{
    const char *const outputs[] = {opts->source, opts->header, opts->tests};
    for (size_t k = 0; k < sizeof(outputs) / sizeof(outputs[0]); k++) {
        for (int i = 0; i < opts->nfiles; i++) {
            if (outputs[k] && ln_cgen_is_same_file(outputs[k], opts->files[i]))
                return ln_error_set(NULL, "%s is a description, it cannot also be the output",
                                    opts->files[i]);
        }
    }
    return 0;
}

static int make_source(const options *opts, const ln_optdesc *desc, ln_cgen *out)
{
    ln_optcode_source(desc, opts->header, out);
    return 0;
}

static int make_header(const options *opts, const ln_optdesc *desc, ln_cgen *out)
{
    (void)opts;
    ln_optcode_header(desc, out);
    return 0;
}

static int make_tests(const options *opts, const ln_optdesc *desc, ln_cgen *out)
{
    (void)opts;
    return ln_optcode_tests(desc, out, NULL);
}

// Makes the texts of all outputs before it writes the first one: after a mistake in a description
// all files are what they were.
static int write_outputs(const options *opts, const ln_optdesc *desc)
{
    const struct {
        const char *file;
        int (*make)(const options *, const ln_optdesc *, ln_cgen *);
    } outputs[] = {
        {opts->source, make_source}, {opts->header, make_header}, {opts->tests, make_tests}};
    enum { N = sizeof(outputs) / sizeof(outputs[0]) };
    ln_cgen texts[N] = {0};
    int failed = 0;
    for (int k = 0; k < N && !failed; k++) {
        texts[k].file = outputs[k].file;
        failed = outputs[k].file && outputs[k].make(opts, desc, &texts[k]);
    }
    for (int k = 0; k < N && !failed; k++)
        failed = outputs[k].file && ln_cgen_save(&texts[k], NULL);
    for (int k = 0; k < N; k++)
        ln_cgen_free(&texts[k]);
    return failed ? -1 : 0;
}

// From the descriptions to the files; `roots` as read_files has it.
static int generate(const options *opts, ln_optdesc *desc, ln_rjson **roots)
{
    const int failed =
        check_outputs(opts) || read_files(opts, desc, roots) || write_outputs(opts, desc);
    return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
    options opts = {0};
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        fputs(usage, stdout);
        return EXIT_SUCCESS;
    }
    if (parse(argc, argv, &opts)) {
        fputs(usage, stderr);
        return 2;
    }
    ln_arena arena = {0};
    ln_optdesc desc = {.arena = &arena};
    ln_rjson **roots = ln_arena_alloc(&arena, (size_t)opts.nfiles * sizeof(*roots));
    const int failed = generate(&opts, &desc, roots);
    if (failed)
        fprintf(stderr, "%s\n", ln_last_error());
    for (int i = 0; i < opts.nfiles; i++)
        ln_rjson_free(roots[i]);
    ln_arena_free(&arena);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
