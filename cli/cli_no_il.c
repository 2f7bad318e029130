// SPDX-License-Identifier: Apache-2.0
// Models in the intermediate language, in a build without them.

#include <strings.h>

#include "cli_il.h"

int cli_il_read_file(ln_context *ctx, const char *source)
{
    (void)ctx;
    (void)source;
    return 1;
}

int cli_il_read_text(ln_context *ctx, const char *name, const char *text, size_t len)
{
    (void)ctx;
    (void)name;
    (void)text;
    (void)len;
    return 1;
}

int cli_il_is_file(const char *source)
{
    (void)source;
    return 0;
}

int cli_il_is_format(const char *format)
{
    return !strcasecmp(format, "il");
}

int cli_il_can_write(void)
{
    return 0;
}

int cli_il_write(ln_context *ctx, const char *file)
{
    return ln_fail(ctx, "%s: this build cannot write the intermediate language", file);
}
