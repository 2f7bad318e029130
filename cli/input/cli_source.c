// SPDX-License-Identifier: Apache-2.0
// Sources of a model or an input.

#include "input/cli_source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"

int cli_source_is_stdin(const char *source)
{
    return !strcmp(source, "-");
}

int cli_source_is_stream(const char *source)
{
    struct stat st;
    return cli_source_is_stdin(source) ||
           (!stat(source, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

const char *cli_source_name(const char *source)
{
    return cli_source_is_stdin(source) ? "standard input" : source;
}

char *cli_source_read(const char *source, size_t *len)
{
    FILE *stream = cli_source_is_stdin(source) ? stdin : fopen(source, "rbe");
    if (!stream)
        return ln_error_set(NULL, "%s: cannot read: %s", source, strerror(errno)), NULL;
    struct stat st;
    if (stream != stdin && !fstat(fileno(stream), &st) && S_ISCHR(st.st_mode) &&
        !isatty(fileno(stream)) && strcmp(source, "/dev/null")) {
        fclose(stream);
        return ln_error_set(NULL, "%s: this is a device, expected a file or a pipe", source), NULL;
    }
    char *text = ln_read_stream(stream, cli_source_name(source), len);
    if (stream != stdin)
        fclose(stream);
    // Standard input that is empty is an empty model.
    if (text && !*len && stream != stdin) {
        ln_error_set(NULL, "%s: the file is empty", source);
        ln_free(text);
        return NULL;
    }
    return text;
}
