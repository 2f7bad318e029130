// SPDX-License-Identifier: Apache-2.0
// Outputs of a run as JSON.

#include "cli_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli_msg.h"
#include "cli_output.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

/* Text */

/* Well-formed UTF-8: Unicode 15, table 3-7. */
static const struct {
    unsigned char first, last; /* the range of the first byte */
    unsigned char least, most; /* of the second one; of others: 0x80 .. 0xbf */
    int size;
} forms[] = {
    {0x20, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
};

enum { N_FORMS = sizeof(forms) / sizeof(forms[0]) };

// The bytes of the character at `text`; 0: a control character, or not UTF-8.
static int size_of_char(const unsigned char *text)
{
    for (int i = 0; i < N_FORMS; i++) {
        if (*text < forms[i].first || *text > forms[i].last)
            continue;
        int size = 1;
        while (size < forms[i].size && text[size] >= (size == 1 ? forms[i].least : 0x80) &&
               text[size] <= (size == 1 ? forms[i].most : 0xbf))
            size++;
        return size == forms[i].size ? size : 0;
    }
    return 0;
}

void cli_json_string(FILE *fp, const char *text)
{
    cli_json_bytes(fp, text, strlen(text));
}

void cli_json_bytes(FILE *fp, const char *text, size_t len)
{
    const unsigned char *at = (const unsigned char *)text, *const end = at + len;
    fputc('"', fp);
    while (at < end) {
        const int size = size_of_char(at);
        if (!size)
            fprintf(fp, "\\u%04x", *at < 0x80 ? *at : 0xdc00u + *at);
        else if (*at == '"' || *at == '\\')
            fprintf(fp, "\\%c", *at);
        else
            fwrite(at, 1, (size_t)size, fp);
        at += size ? size : 1;
    }
    fputc('"', fp);
}

/* Elements */

/* Digits that any element of the type keeps, and digits that distinguish all elements. */
static const struct {
    int least, most;
} digits[TL_DTYPE_SIZE] = {
    [TL_DOUBLE] = {15, 17},   [TL_FLOAT] = {6, 9},          [TL_FLOAT16] = {3, 5},
    [TL_BFLOAT16] = {2, 4},   [TL_FLOAT8E4M3FN] = {3, 9},   [TL_FLOAT8E4M3FNUZ] = {3, 9},
    [TL_FLOAT8E5M2] = {3, 9}, [TL_FLOAT8E5M2FNUZ] = {3, 9}, [TL_FLOAT8E8M0] = {3, 9},
    [TL_FLOAT4E2M1] = {3, 9}};

// Whether the text is read as the element.
static int reads_as(const char *text, const void *element, tl_dtype dtype)
{
    unsigned char back[TL_DTYPE_MAX_SIZE];
    const double value = strtod(text, NULL);
    tl_convert(back, dtype, &value, TL_DOUBLE);
    return !memcmp(back, element, tl_size_of(dtype));
}

static void print_float(FILE *fp, const void *element, tl_dtype dtype)
{
    char text[32];
    double value;
    tl_convert(&value, TL_DOUBLE, element, dtype);
    if (!isfinite(value)) {
        fputs(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"", fp);
        return;
    }
    int n = digits[dtype].least;
    do
        snprintf(text, sizeof(text), "%.*g", n, value);
    while (!reads_as(text, element, dtype) && n++ < digits[dtype].most);
    // As an integer, -0 would lose its sign.
    fputs(strcmp(text, "-0") ? text : "-0.0", fp);
}

static void print_element(FILE *fp, const tl_tensor *t, int i)
{
    const void *element = tl_pointer_add(t->data, i, t->dtype);
    int64_t value;
    if (t->dtype == TL_STRING) {
        const tl_string *const s = tl_tensor_string(t, i);
        cli_json_bytes(fp, tl_string_bytes(s), tl_string_size(s));
        return;
    }
    if (tl_dtype_has_fractions(t->dtype)) {
        print_float(fp, element, t->dtype);
        return;
    }
    if (t->dtype == TL_UINT64) {
        fprintf(fp, "%" PRIu64, *(const uint64_t *)element);
        return;
    }
    tl_convert(&value, TL_INT64, element, t->dtype);
    if (t->dtype == TL_BOOL)
        fputs(value ? "true" : "false", fp);
    else
        fprintf(fp, "%" PRId64, value);
}

static void print_data(FILE *fp, const tl_tensor *t)
{
    fputs("\"data\": [", fp);
    for (int i = 0; i < t->len; i++) {
        fputs(i ? ", " : "", fp);
        print_element(fp, t, i);
    }
    fputc(']', fp);
}

static int print_top(FILE *fp, const tl_tensor *t, int top, const cli_labels *labels)
{
    const int len = t->ndim ? t->dims[t->ndim - 1] : 1, n_rows = len ? t->len / len : 0;
    cli_ranked *ranks = malloc((size_t)len * sizeof(*ranks) + 1);
    if (!ranks)
        return cli_fail_memory();
    fputs("\"top\": [", fp);
    for (int row = 0; row < n_rows; row++) {
        cli_output_rank(ranks, t, row, len);
        fputs(row ? ", [" : "[", fp);
        for (int i = 0; i < len && i < top; i++) {
            const int class = ranks[i].index;
            fprintf(fp, "%s{\"index\": %d, \"value\": ", i ? ", " : "", class);
            print_element(fp, t, row * len + class);
            if (class < labels->n) {
                fputs(", \"label\": ", fp);
                cli_json_string(fp, labels->lines[class]);
            }
            fputc('}', fp);
        }
        fputc(']', fp);
    }
    fputc(']', fp);
    free(ranks);
    return 0;
}

/* Objects */

void cli_json_begin(FILE *fp, const char *file)
{
    fputc('{', fp);
    if (file) {
        fputs("\"file\": ", fp);
        cli_json_string(fp, file);
        fputs(", ", fp);
    }
    fputs("\"outputs\": [", fp);
}

int cli_json_output(FILE *fp, const cli_options *opt, const char *name, int k, const tl_tensor *t,
                    const cli_labels *labels, const char *path)
{
    int status = 0;
    fputs(k ? ", {\"name\": " : "{\"name\": ", fp);
    cli_json_string(fp, name);
    fprintf(fp, ", \"dtype\": \"%s\", \"shape\": [", tl_dtype_name(t->dtype));
    for (int i = 0; i < t->ndim; i++)
        fprintf(fp, "%s%d", i ? ", " : "", t->dims[i]);
    fputs("], ", fp);
    if (opt->top)
        status = print_top(fp, t, opt->top, labels);
    else if (!path)
        print_data(fp, t);
    if (path) {
        fputs(opt->top ? ", \"path\": " : "\"path\": ", fp);
        cli_json_string(fp, path);
    }
    fputc('}', fp);
    return status;
}

void cli_json_end(FILE *fp)
{
    fputs("]}\n", fp);
}

void cli_json_error(FILE *fp, const char *file, const char *reason)
{
    fputs("{\"file\": ", fp);
    cli_json_string(fp, file);
    fputs(", \"error\": ", fp);
    cli_json_string(fp, reason);
    fputs("}\n", fp);
}
