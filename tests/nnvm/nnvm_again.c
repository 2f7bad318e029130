// SPDX-License-Identifier: Apache-2.0
// usage: nnvm_again {SOURCE PARAMS DEST}..  Reads models into contexts and writes these as NNVM
// graphs; PARAMS "-": none. `lightnet convert` would rewrite graphs without reading them into one.

#include <stdio.h>
#include <string.h>

#include "lightnet/ln_context.h"

static int read_and_write(ln_context *ctx, const char *source, const char *params, const char *dest)
{
    return (params && ln_context_bind_file(ctx, params)) || ln_context_init(ctx, source) ||
           ln_context_write(ctx, params, "nnvm", dest);
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i + 2 < argc; i += 3) {
        ln_context *ctx = ln_context_create();
        const char *params = strcmp(argv[i + 1], "-") ? argv[i + 1] : NULL;
        if (!ctx || read_and_write(ctx, argv[i], params, argv[i + 2])) {
            fprintf(stderr, "%s: %s\n", argv[i], ctx ? ln_context_error(ctx) : "out of memory");
            failed = 1;
        }
        ln_context_free(ctx);
    }
    return failed;
}
