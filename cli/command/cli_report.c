// SPDX-License-Identifier: Apache-2.0
// lightnet report: a page that shows a model, or two, from the inside.

#include <stdio.h>
#include <stdlib.h>

#include "input/cli_source.h"
#include "lightnet/ln_version.h"
#include "output/cli_guard.h"
#include "report/cli_report_accuracy.h"
#include "report/cli_report_model.h"
#include "report/cli_report_page.h"

static int add_models(cli_json *json, const cli_report_options *opt)
{
    int status = 0;
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "version", LN_VERSION);
    cli_json_open(json, "models", '[');
    for (int i = 0; i < opt->shared.n_args && !status; i++)
        status = cli_report_add_model(json, opt, i);
    cli_json_close(json);
    cli_json_close(json);
    return status;
}

static const cli_format formats[] = {
    {".html", "html", NULL}, {".htm", "html", NULL}, {NULL, NULL, NULL}};

static int check_options(const cli_report_options *opt)
{
    if (!opt->shared.outfile)
        return cli_usage("-o FILE is missing: the page to write");
    if (!cli_guard_format(opt->shared.outfile, formats, ""))
        return CLI_WRONG_USAGE;
    if (opt->links.n && !opt->decode)
        return cli_usage("--link needs --decode PROMPT,NEW");
    for (int i = 0; (opt->decode || opt->against) && i < opt->shared.n_args; i++)
        if (cli_source_is_stream(opt->shared.args[i]))
            return cli_usage("--%s reads the model again: expected a file, not a stream",
                             opt->decode ? "decode" : "against");
    if (opt->against && cli_report_check_precision(&opt->shared, opt->against))
        return CLI_FAILED;
    return cli_guard_output(&opt->shared, opt->shared.outfile, "an HTML page");
}

static int run_report(const cli_options *shared)
{
    const cli_report_options *opt = (const cli_report_options *)shared;
    char *text = NULL;
    size_t len;
    int status = check_options(opt);
    if (status)
        return status;
    FILE *const fp = open_memstream(&text, &len);
    if (!fp)
        return cli_fail_memory();
    cli_json json = {.fp = fp, .is_line = 1};
    status = add_models(&json, opt);
    const int is_whole = !ferror(fp);
    if (fclose(fp) || !is_whole)
        status = cli_fail_memory();
    if (!status)
        status = cli_report_write(opt->shared.outfile, text, len);
    free(text);
    return status;
}

static cli_report_options given = {.shared = {CLI_DEFAULTS, .may_write = "-"}, .seconds = 1};

#define OWN(name) offsetof(cli_report_options, name)

static const cli_option options[] = {
    {"outfile", 'o', CLI_TEXT, CLI_FIELD(outfile), "FILE",
     "write the page to FILE, .html (- standard output)"},
    CLI_SHARED("target", "allow-output"),
    CLI_SHARED("input", "input"),
    CLI_SHARED("shape", "shape"),
    CLI_SHARED("preprocess", "max-constant"),
    {"decode", 0, CLI_TEXT, OWN(decode), "PROMPT,NEW",
     "a model with a cache: also tokens per second after a prompt, in NEW steps of one token"},
    {"link", 0, CLI_TEXTS, OWN(links), "OUT=IN",
     "with --decode: output OUT is input IN of the next run (default: by the names of exporters)"},
    {"against", 0, CLI_TEXT, OWN(against), "PRECISION",
     "also the error of each operator, relative to the program of this --precision",
     "float32 bf16 tf32 fp16"},
    {"seconds", 0, CLI_NOT_NEGATIVE, OWN(seconds), "S", "measure for S seconds (default 1)"},
    CLI_SHARED("force", "no-warnings"),
};

const cli_command cli_report_command = {
    {"report", "MODEL [MODEL] -o FILE", 1, 2, "write a page that shows a model, or compares two"},
    CLI_ROWS(options),
    &given.shared,
    run_report};
