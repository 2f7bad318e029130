// SPDX-License-Identifier: Apache-2.0
// Messages about a model.

#include "input/cli_model_fail.h"

#include <stdio.h>
#include <string.h>

#include "input/cli_source.h"
#include "lightnet/ln_content.h"
#include "output/cli_msg.h"

static int begins_with(const char *text, const char *file)
{
    const size_t len = file ? strlen(file) : 0;
    return len && !strncmp(text, file, len) && text[len] == ':';
}

int cli_model_fail_for(const char *source, const cli_options *opt, const char *reason)
{
    // Without a source, reading it failed, which the reason names.
    if (!source || begins_with(reason, source) || begins_with(reason, opt->datafile) ||
        begins_with(reason, opt->outfile) || begins_with(reason, "standard output"))
        return cli_fail("%s", reason);
    return cli_fail("%s: %s", source, reason);
}

int cli_model_fail(const ln_context *ctx, const cli_options *opt)
{
    return cli_model_fail_for(ctx->source, opt, ln_context_error(ctx));
}

void cli_model_print_message(void *data, ln_msg_level level, const char *text)
{
    const cli_options *opt = data;
    if (level == LN_MSG_DEBUG ? opt->debug : !opt->quiet)
        cli_msg_print(level == LN_MSG_DEBUG ? "debug" : "warning", text);
}

// A frequent error is an input or weight file in place of the model.
int cli_model_fail_reading(const char *source, const cli_options *opt, const char *reason)
{
    char begin[512];
    const char *file = opt->args[0], *name;
    FILE *stream = cli_source_is_stdin(file) ? NULL : fopen(file, "rb");
    const size_t size = stream ? fread(begin, 1, sizeof(begin), stream) : 0;
    if (stream)
        fclose(stream);
    switch (ln_content_of(begin, size, &name)) {
    case LN_CONTENT_INPUT:
        return cli_fail("%s; did you mean 'lightnet run MODEL -i %s'?", reason, file);
    case LN_CONTENT_WEIGHTS:
        return cli_fail("%s; did you mean 'lightnet run MODEL -f %s'?", reason, file);
    default:
        return cli_model_fail_for(source, opt, reason);
    }
}

int cli_model_fail_read(const ln_context *ctx, const cli_options *opt)
{
    return cli_model_fail_reading(ctx->source, opt, ln_context_error(ctx));
}
