// SPDX-License-Identifier: Apache-2.0
// Looks at the beginning of a file, which is hostile.

#include "srv_foreign.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 64 * 1024 };

typedef struct head {
    char *bytes; // [size], owned
    size_t size;
    int is_whole; // the file has no more
} head;

// JSON

static size_t skip_space(const head *h, size_t i)
{
    while (i < h->size && strchr(" \t\r\n", h->bytes[i]) && h->bytes[i])
        i++;
    return i;
}

// Behind the string that begins at `i`; the size: it does not end.
static size_t skip_string(const head *h, size_t i)
{
    for (i++; i < h->size && h->bytes[i] != '"'; i++)
        i += h->bytes[i] == '\\';
    return i < h->size ? i + 1 : h->size;
}

static int is_text(const head *h, size_t begin, size_t end, const char *text)
{
    const size_t size = strlen(text);
    return end - begin == size && !memcmp(h->bytes + begin, text, size);
}

// Whether the string from `begin` to `end` is a key of models.
static int is_key(const head *h, size_t begin, size_t end)
{
    static const char *const keys[] = {"\"ops\"", "\"mem_sizes\"", "\"nodes\""}; // IR, NNVM
    const size_t colon = skip_space(h, end);
    int is_key = 0;
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
        is_key |= is_text(h, begin, end, keys[k]);
    return is_key && colon < h->size && h->bytes[colon] == ':';
}

static int is_foreign_json(const head *h)
{
    size_t i = skip_space(h, 0);
    if (i == h->size || h->bytes[i] != '{')
        return i < h->size && (h->bytes[i] == '[' || h->bytes[i] == '"');
    for (size_t depth = 0; i < h->size;) {
        const char c = h->bytes[i];
        if (c == '"') {
            const size_t end = skip_string(h, i);
            if (depth == 1 && is_key(h, i, end))
                return 0;
            i = end;
            continue;
        }
        depth += c == '{' || c == '[';
        if ((c == '}' || c == ']') && !--depth)
            return 1;
        i++;
    }
    return !h->is_whole;
}

// Tensors: 8 bytes of a size, an object of JSON; that of a compiled model has metadata "lightnet".

static int is_foreign_tensors(const head *h)
{
    enum { SIZE = 8 };
    static const char key[] = "\"lightnet\":";
    return h->size > SIZE && h->bytes[SIZE] == '{' &&
           !memmem(h->bytes, h->size, key, sizeof(key) - 1);
}

// Files

// -1: it cannot be read.
static int read_head(const char *path, head *h)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); // no pipe holds it up
    h->bytes = fd < 0 ? NULL : malloc(HEAD);
    ssize_t n = 0;
    if (h->bytes && !fstat(fd, &st) && S_ISREG(st.st_mode))
        while ((n = read(fd, h->bytes + h->size, HEAD - h->size)) > 0)
            h->size += (size_t)n;
    h->is_whole = h->size < HEAD;
    if (fd >= 0)
        close(fd);
    return h->bytes && n >= 0 ? 0 : -1;
}

int srv_foreign_is(const char *path)
{
    static const struct {
        const char *ending;
        int (*is_foreign)(const head *h);
    } kinds[] = {{".json", is_foreign_json}, {".safetensors", is_foreign_tensors}};
    const char *const dot = strrchr(path, '.');
    head h = {.bytes = NULL};
    int is_foreign = 0;
    for (size_t i = 0; dot && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(dot, kinds[i].ending))
            is_foreign = !read_head(path, &h) && kinds[i].is_foreign(&h);
    free(h.bytes);
    return is_foreign;
}
