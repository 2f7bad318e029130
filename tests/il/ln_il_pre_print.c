// SPDX-License-Identifier: Apache-2.0
// For tests: prints preprocessed IL. usage: ln_il_pre_print FILE

#include <stdio.h>

#include "il/ln_il.h"
#include "lightnet/ln_util.h"

static int preprocess(const char *file, const char *text, size_t len)
{
    static ln_error err;
    const ln_il_host host = {.model = ""};
    ln_il_text out = {0};
    ln_list *names = NULL;
    const int failed = ln_il_preprocess(file, text, len, &host, &out, &names, &err);
    if (failed)
        printf("error: %s\n", err.text);
    else if (out.text)
        puts(out.text);
    ln_il_text_free(&out);
    ln_il_names_free(names);
    return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    size_t len;
    FILE *stream = argc == 2 ? fopen(argv[1], "rbe") : NULL;
    char *text = stream ? ln_read_stream(stream, argv[1], &len) : NULL;
    const int status = text ? preprocess(argv[1], text, len) : 2;
    ln_free(text);
    if (stream)
        fclose(stream);
    return status;
}
