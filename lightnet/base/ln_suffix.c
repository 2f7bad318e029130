// SPDX-License-Identifier: Apache-2.0
// Suffixes of texts and file names.

#include "base/ln_suffix.h"

#include <string.h>

int ln_ends_with(const char *text, size_t len, const char *end)
{
    const size_t end_len = strlen(end);
    return len >= end_len && !memcmp(text + len - end_len, end, end_len);
}

int ln_has_suffix(const char *file, const char *suffix)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    const size_t len = strlen(name);
    return len > strlen(suffix) && ln_ends_with(name, len, suffix);
}
