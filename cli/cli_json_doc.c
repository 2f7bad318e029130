// SPDX-License-Identifier: Apache-2.0
// Prints one JSON document to standard output, member by member.

#include "cli_json_doc.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli_json.h"

// Writes the text before a value: a comma, a line of its own in the document and in its members,
// the key.
static void begin(cli_json_doc *doc, const char *key)
{
    const int has_line = doc->depth == 1 || doc->depth == 2;
    if (doc->n[doc->depth]++)
        printf(has_line ? "," : ", ");
    if (has_line)
        printf("\n%*s", doc->depth, "");
    if (key) {
        cli_json_string(stdout, key);
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
        cli_json_string(stdout, text);
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
