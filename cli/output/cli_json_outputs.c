// SPDX-License-Identifier: Apache-2.0
// Outputs of a run as JSON.

#include "output/cli_json_outputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "output/cli_labels.h"
#include "output/cli_msg.h"
#include "output/cli_output.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

// Elements

// Significant digits: `min` first, then more until the text reads back as the element; `max` always
// suffice. Small floats begin with 3, and have the max of TL_FLOAT, through which they convert.
static const struct {
    int min, max;
} digits[TL_DTYPE_SIZE] = {
    [TL_DOUBLE] = {15, 17},   [TL_FLOAT] = {6, 9},          [TL_FLOAT16] = {3, 5},
    [TL_BFLOAT16] = {2, 4},   [TL_FLOAT8E4M3FN] = {3, 9},   [TL_FLOAT8E4M3FNUZ] = {3, 9},
    [TL_FLOAT8E5M2] = {3, 9}, [TL_FLOAT8E5M2FNUZ] = {3, 9}, [TL_FLOAT8E8M0] = {3, 9},
    [TL_FLOAT4E2M1] = {3, 9}};

// Whether the text reads back as the element.
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
    int n = digits[dtype].min;
    do
        snprintf(text, sizeof(text), "%.*g", n, value);
    while (!reads_as(text, element, dtype) && n++ < digits[dtype].max);
    // Readers of JSON may parse -0 as the integer 0.
    fputs(strcmp(text, "-0") ? text : "-0.0", fp);
}

static void add_element(cli_json *json, const char *key, const tl_tensor *t, int i)
{
    const void *element = tl_pointer_add(t->data, i, t->dtype);
    int64_t value;
    if (t->dtype == TL_STRING) {
        const tl_string *const s = tl_tensor_string(t, i);
        cli_json_bytes(json, key, tl_string_bytes(s), tl_string_size(s));
        return;
    }
    if (tl_dtype_has_fractions(t->dtype)) {
        print_float(cli_json_value(json, key), element, t->dtype);
        return;
    }
    if (t->dtype == TL_UINT64) {
        cli_json_count(json, key, *(const uint64_t *)element);
        return;
    }
    tl_convert(&value, TL_INT64, element, t->dtype);
    if (t->dtype == TL_BOOL)
        cli_json_flag(json, key, value != 0);
    else
        fprintf(cli_json_value(json, key), "%" PRId64, value);
}

static void add_data(cli_json *json, const tl_tensor *t)
{
    cli_json_open(json, "data", '[');
    for (int i = 0; i < t->len; i++)
        add_element(json, NULL, t, i);
    cli_json_close(json);
}

static int add_top(cli_json *json, const tl_tensor *t, int top, const cli_labels *labels)
{
    const int len = cli_output_classes(t), n_rows = len ? t->len / len : 0;
    cli_ranked *ranks = malloc((size_t)len * sizeof(*ranks) + 1);
    if (!ranks)
        return cli_fail_memory();
    cli_json_open(json, "top", '[');
    for (int row = 0; row < n_rows; row++) {
        cli_output_rank(ranks, t, row, len);
        cli_json_open(json, NULL, '[');
        for (int i = 0; i < len && i < top; i++) {
            const int class = ranks[i].index;
            cli_json_open(json, NULL, '{');
            cli_json_count(json, "index", (uint64_t) class);
            add_element(json, "value", t, row * len + class);
            const char *const label = cli_labels_name(labels, len, class);
            if (label)
                cli_json_text(json, "label", label);
            cli_json_close(json);
        }
        cli_json_close(json);
    }
    cli_json_close(json);
    free(ranks);
    return 0;
}

// Objects

void cli_json_outputs_begin(cli_json *json, FILE *fp, const char *file)
{
    *json = (cli_json){.fp = fp, .is_line = 1};
    cli_json_open(json, NULL, '{');
    if (file)
        cli_json_text(json, "file", file);
    cli_json_open(json, "outputs", '[');
}

int cli_json_output(cli_json *json, const cli_run_options *opt, const char *name,
                    const tl_tensor *t, const cli_labels *labels, const char *path)
{
    int status = 0;
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", name);
    cli_json_text(json, "dtype", tl_dtype_name(t->dtype));
    cli_json_shape(json, "shape", t->ndim, t->dims);
    if (opt->top)
        status = add_top(json, t, opt->top, labels);
    else if (!path && !opt->task && !opt->draw)
        add_data(json, t);
    if (path)
        cli_json_text(json, "path", path);
    cli_json_close(json);
    return status;
}

void cli_json_error(FILE *fp, const char *file, const char *reason)
{
    cli_json json = {.fp = fp, .is_line = 1};
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "file", file);
    cli_json_text(&json, "error", reason);
    cli_json_close(&json);
}
