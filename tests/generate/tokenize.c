// SPDX-License-Identifier: Apache-2.0
// usage: tokenize tokenizer.json <RECORDS. Prints the ids of each record, one line each. A record
// is its number of bytes, a newline, and the bytes.

#include "tokenizer.h"

#include <stdio.h>
#include <stdlib.h>

static int print_ids(const tokenizer *tokens, const char *bytes, size_t len)
{
    int64_t *ids;
    const long n = tokenizer_encode(tokens, bytes, len, &ids);
    for (long i = 0; i < n; i++)
        printf("%lld ", (long long)ids[i]);
    printf("\n");
    free(ids);
    return n < 0 ? -1 : 0;
}

// 1: the end.
static int read_record(const tokenizer *tokens)
{
    unsigned len;
    if (scanf("%u", &len) != 1)
        return 1;
    char *const bytes = malloc(len + 1u);
    const int is_read = bytes && getchar() == '\n' && fread(bytes, 1, len, stdin) == len;
    const int status = is_read ? print_ids(tokens, bytes, len) : -1;
    free(bytes);
    return status;
}

int main(int argc, char **argv)
{
    char why[200];
    tokenizer *const tokens = argc == 2 ? tokenizer_read(argv[1], why, sizeof(why)) : NULL;
    int status = -1;
    if (!tokens)
        fprintf(stderr, "%s\n", argc == 2 ? why : "usage: tokenize tokenizer.json");
    while (tokens && !(status = read_record(tokens)))
        continue;
    tokenizer_free(tokens);
    return status == 1 ? 0 : 1;
}
