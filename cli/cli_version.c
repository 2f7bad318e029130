// SPDX-License-Identifier: Apache-2.0
// lightnet version: the version, and what this build and this machine support.

#include <stdio.h>

#include "cli.h"
#include "lightnet/lightnet.h"
#include "tensorlight/tl_exec.h"

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
