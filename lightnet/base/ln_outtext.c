// SPDX-License-Identifier: Apache-2.0
// Text in memory, written as to a file.

#include "base/ln_outtext.h"

#include <stdlib.h>

#include "base/ln_error_memory.h"

char *ln_outtext(ln_outfile_func func, const void *arg, size_t *len, ln_error *err)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, len);
    const int status = stream ? func(stream, arg, err) : 0;
    // Without memory the C library leaves NULL, and may report no error.
    if (stream && !fclose(stream) && !status && text)
        return text;
    free(text);
    if (!status)
        ln_error_memory(err);
    return NULL;
}
