// SPDX-License-Identifier: Apache-2.0
// lightnet version: the version, and what this build and this machine support. lightnet env: the
// environment variables, what they mean, and their values.

#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "lightnet/lightnet.h"
#include "tensorlight/tl_exec.h"

static const struct variable {
    const char *name;
    const char *help;
} variables[] = {
    {"LIGHTNET_NUM_THREADS", "threads for runs without --threads, 0 for all cores (default 0)"},
    {"LIGHTNET_MAX_ISA", "richest instruction set: " TL_ISA_NAMES},
    {"LIGHTNET_PLUGIN_PATH",
     "folders of plug-ins, *.so, which ':' separates; --plugin adds others"},
};

int cli_env(const cli_options *opt)
{
    (void)opt;
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        const char *value = getenv(variables[i].name);
        printf("%-22s %-10s %s\n", variables[i].name, value ? value : "(not set)",
               variables[i].help);
    }
    return CLI_OK;
}

int cli_version(const cli_options *opt)
{
    char text[LN_MAXLINE];
    (void)opt;
    printf("lightnet %s\n", LN_VERSION);
    printf("models:   %s\n", ln_sprint_formats(text, sizeof(text)));
    printf("images:   %s\n", ln_sprint_image_formats(text, sizeof(text)));
    printf("targets:  %s\n", ln_sprint_targets(text, sizeof(text)));
    printf("kernels:  %s\n", tl_isa_name(tl_isa_best()));
    return CLI_OK;
}
