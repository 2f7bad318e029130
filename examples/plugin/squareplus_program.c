// SPDX-License-Identifier: Apache-2.0
// A program that runs a model with an operator of the plug-in.

#include <lightnet/lightnet.h>
#include <stdio.h>

static int run(ln_context *ctx, float y[5])
{
    if (ln_context_init(ctx, "squareplus.json") || ln_context_compile(ctx, "cpu") ||
        ln_context_load(ctx, NULL) || ln_context_run(ctx))
        return -1;
    return ln_context_get_data(ctx, "y", y) ? 0 : -1;
}

int main(void)
{
    float y[5];
    // Before the first context is created.
    if (ln_plugin_load("./squareplus.so")) {
        fprintf(stderr, "%s\n", ln_last_error());
        return 1;
    }
    ln_context *ctx = ln_context_create();
    const int failed = !ctx || run(ctx, y);
    if (failed)
        fprintf(stderr, "%s\n", ln_context_error(ctx));
    for (int i = 0; i < 5 && !failed; i++)
        printf("%.4f\n", y[i]);
    ln_context_free(ctx);
    return failed;
}
