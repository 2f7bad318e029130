// SPDX-License-Identifier: Apache-2.0
// Prints a JSON document, member by member.

#include "output/cli_json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_msg.h"

static FILE *stream_of(const cli_json *json)
{
    return json->fp ? json->fp : stdout;
}

static void print_chars(FILE *fp, const char *text, size_t len)
{
    for (const char *const end = text + len; text < end;) {
        char shown[8];
        size_t size;
        const size_t n_shown = ln_escape_char(shown, text, (size_t)(end - text), &size);
        if (n_shown != size) { // "\\x1b", of a byte, or "\\u202e"
            const unsigned code = (unsigned)strtoul(shown + 2, NULL, 16);
            fprintf(fp, "\\u%04x", shown[1] == 'x' && code >= 0x80 ? 0xdc00u + code : code);
        } else if (*text == '"' || *text == '\\')
            fprintf(fp, "\\%c", *text);
        else
            fwrite(text, 1, size, fp);
        text += size;
    }
}

static void print_string(FILE *fp, const char *text, size_t len)
{
    fputc('"', fp);
    print_chars(fp, text, len);
    fputc('"', fp);
}

// First the text before it: a comma, a new line, the key.
FILE *cli_json_value(cli_json *json, const char *key)
{
    FILE *fp = stream_of(json);
    const int has_line = !json->is_line && (json->depth == 1 || json->depth == 2);
    if (json->n[json->depth]++)
        fputs(has_line ? "," : ", ", fp);
    if (has_line)
        fprintf(fp, "\n%*s", json->depth, "");
    if (key) {
        print_string(fp, key, strlen(key));
        fputs(": ", fp);
    }
    return fp;
}

void cli_json_open(cli_json *json, const char *key, char what)
{
    fputc(what, cli_json_value(json, key));
    assert(json->depth < CLI_JSON_DEPTH);
    json->ends[json->depth++] = what == '{' ? '}' : ']';
    json->n[json->depth] = 0;
}

void cli_json_close(cli_json *json)
{
    FILE *fp = stream_of(json);
    const int has_line = !json->is_line && json->depth == 1 && json->n[1];
    fputs(has_line ? "\n" : "", fp);
    fputc(json->ends[--json->depth], fp);
    fputs(json->depth ? "" : "\n", fp);
}

void cli_json_bytes(cli_json *json, const char *key, const char *text, size_t len)
{
    print_string(cli_json_value(json, key), text, len);
}

void cli_json_text(cli_json *json, const char *key, const char *text)
{
    if (text)
        cli_json_bytes(json, key, text, strlen(text));
    else
        cli_json_null(json, key);
}

// The bytes of as many characters as `max` bytes hold.
static size_t fitting(const char *text, size_t len, size_t max)
{
    char shown[8];
    size_t n = 0, size = 0;
    for (; n < len; n += size) {
        ln_escape_char(shown, text + n, len - n, &size);
        if (n + size > max)
            break;
    }
    return n;
}

void cli_json_start(cli_json *json, const char *key, const char *text, size_t max)
{
    const size_t len = text ? strlen(text) : 0, n = text ? fitting(text, len, max) : 0;
    if (n == len) {
        cli_json_text(json, key, text);
        return;
    }
    FILE *const fp = cli_json_value(json, key);
    fputc('"', fp);
    print_chars(fp, text, n);
    fputs("...\"", fp);
}

void cli_json_count(cli_json *json, const char *key, uint64_t value)
{
    fprintf(cli_json_value(json, key), "%" PRIu64, value);
}

void cli_json_number(cli_json *json, const char *key, double value)
{
    const int is_whole = fabs(value) < 0x1p53 && value == floor(value);
    if (isfinite(value))
        fprintf(cli_json_value(json, key), is_whole ? "%.0f" : "%.9g", value);
    else
        cli_json_null(json, key);
}

void cli_json_fixed(cli_json *json, const char *key, double value, int decimals)
{
    fprintf(cli_json_value(json, key), "%.*f", decimals, value);
}

void cli_json_flag(cli_json *json, const char *key, int value)
{
    fputs(value ? "true" : "false", cli_json_value(json, key));
}

void cli_json_null(cli_json *json, const char *key)
{
    fputs("null", cli_json_value(json, key));
}

void cli_json_shape(cli_json *json, const char *key, int ndim, const int *dims)
{
    FILE *fp = cli_json_value(json, key);
    fputs(ndim < 0 ? "null" : "[", fp);
    for (int i = 0; i < ndim; i++) {
        fputs(i ? ", " : "", fp);
        if (dims[i] < 0)
            fputs("null", fp);
        else
            fprintf(fp, "%d", dims[i]);
    }
    fputs(ndim < 0 ? "" : "]", fp);
}
