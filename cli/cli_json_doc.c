// SPDX-License-Identifier: Apache-2.0
// Prints one JSON document to standard output, member by member.

#include "cli_json_doc.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// The bytes of the UTF-8 sequence at `text`, 0: it is none.
static int sequence(const unsigned char *text)
{
    const int n = *text < 0x80             ? 1
                  : (*text & 0xe0) == 0xc0 ? 2
                  : (*text & 0xf0) == 0xe0 ? 3
                  : (*text & 0xf8) == 0xf0 ? 4
                                           : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t c = n > 1 ? *text & (0x7fu >> n) : *text;
    for (int i = 1; i < n; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (text[i] & 0x3f);
    }
    return n && c >= least[n] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? n : 0;
}

static void print_string(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    putchar('"');
    while (*at) {
        const int n = sequence(at);
        if (!n)
            printf("\\ufffd");
        else if (*at < 0x20)
            printf("\\u%04x", *at);
        else
            printf("%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", n, (const char *)at);
        at += n ? n : 1;
    }
    putchar('"');
}

// What precedes a value: a comma, a line of its own in the document and in its members, the key.
static void begin(cli_json_doc *doc, const char *key)
{
    const int has_line = doc->depth == 1 || doc->depth == 2;
    if (doc->n[doc->depth]++)
        printf(has_line ? "," : ", ");
    if (has_line)
        printf("\n%*s", doc->depth, "");
    if (key) {
        print_string(key);
        printf(": ");
    }
}

void cli_json_open(cli_json_doc *doc, const char *key, char what)
{
    begin(doc, key);
    assert(doc->depth < CLI_JSON_DEPTH);
    putchar(what);
    doc->ends[doc->depth++] = what == '{' ? '}' : ']';
    doc->n[doc->depth] = 0;
}

void cli_json_close(cli_json_doc *doc)
{
    const int is_empty = !doc->n[doc->depth];
    const char end = doc->ends[--doc->depth];
    if (!doc->depth && !is_empty)
        putchar('\n');
    putchar(end);
    if (!doc->depth)
        putchar('\n');
}

void cli_json_text(cli_json_doc *doc, const char *key, const char *text)
{
    begin(doc, key);
    if (text)
        print_string(text);
    else
        printf("null");
}

void cli_json_count(cli_json_doc *doc, const char *key, uint64_t value)
{
    begin(doc, key);
    printf("%" PRIu64, value);
}

void cli_json_number(cli_json_doc *doc, const char *key, double value)
{
    begin(doc, key);
    if (isfinite(value))
        printf("%.9g", value);
    else
        printf("null");
}

void cli_json_flag(cli_json_doc *doc, const char *key, int value)
{
    begin(doc, key);
    printf(value ? "true" : "false");
}

void cli_json_null(cli_json_doc *doc, const char *key)
{
    cli_json_text(doc, key, NULL);
}

void cli_json_shape(cli_json_doc *doc, const char *key, int ndim, const int *dims)
{
    begin(doc, key);
    if (ndim < 0)
        printf("null");
    for (int i = 0; i < ndim; i++) {
        printf(i ? ", " : "[");
        if (dims[i] < 0)
            printf("null");
        else
            printf("%d", dims[i]);
    }
    if (ndim >= 0)
        printf(ndim ? "]" : "[]");
}
