// SPDX-License-Identifier: Apache-2.0
// Tolerances of numbers, and indices of tied elements.

#include "output/cli_compare.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_optypes.h"

double cli_element(const tl_tensor *t, int i)
{
    double value;
    tl_convert(&value, TL_DOUBLE, (const char *)t->data + (size_t)i * tl_size_of(t->dtype),
               t->dtype);
    return value;
}

tolerance cli_stored_tolerance(const cli_tolerances *given, tl_dtype dtype)
{
    // Floats of 8 bits and less must be equal; NaN equals NaN with any bits.
    const int is_small = tl_dtype_is_stored(dtype) && tl_dtype_has_fractions(dtype);
    const double rtol = given->rtol >= 0            ? given->rtol
                        : is_small                  ? 0
                        : !tl_dtype_is_float(dtype) ? given->rtol
                        : tl_size_of(dtype) == 2    ? 1e-2
                                                    : 1e-3;
    return (tolerance){.rtol = rtol, .atol = given->atol >= 0 ? given->atol : is_small ? 0 : 1e-5};
}

static double max_finite(const tl_tensor *t)
{
    double largest = 0;
    for (int i = 0; i < t->len; i++) {
        const double x = fabs(cli_element(t, i));
        largest = isfinite(x) ? fmax(largest, x) : largest;
    }
    return largest;
}

// Of another program (--reference, --against): rounding errors of sums are those of their largest
// terms, so they are relative to the max of the tensor.
tolerance cli_reference_tolerance(const cli_tolerances *given, const tl_tensor *expected,
                                  int is_coarse)
{
    const tl_dtype dtype =
        is_coarse && tl_dtype_is_float(expected->dtype) ? TL_FLOAT16 : expected->dtype;
    tolerance tol = cli_stored_tolerance(given, dtype);
    tol.scale = max_finite(expected);
    if (tl_dtype_is_float(dtype) && given->rtol < 0 && tl_size_of(dtype) > 2)
        tol.rtol = 1e-4;
    if (given->atol < 0 && tol.atol > 0)
        tol.atol = 1e-6;
    return tol;
}

static int are_finite(double got, double expected)
{
    return isfinite(got) && isfinite(expected);
}

// Of numbers that are not both finite, equal infinities agree, and NaN with NaN.
static int agree_beyond(double got, double expected)
{
    return got == expected || (isnan(got) && isnan(expected));
}

static int agree(double got, double expected, const tolerance *tol)
{
    const double scale = tol->scale > 0 ? tol->scale : fabs(expected);
    return are_finite(got, expected) ? fabs(got - expected) <= tol->atol + tol->rtol * scale
                                     : agree_beyond(got, expected);
}

static const char *print_element(char buf[CLI_ELEMENT_SIZE], const difference *diff, double number,
                                 const tl_string *text)
{
    const int size = tl_string_size(text) < INT_MAX ? (int)tl_string_size(text) : INT_MAX;
    if (diff->dtype == TL_STRING)
        snprintf(buf, CLI_ELEMENT_SIZE, "\"%.*s\"", size < 48 ? size : 48, tl_string_bytes(text));
    else
        snprintf(buf, CLI_ELEMENT_SIZE, "%.9g", number);
    return buf;
}

const char *cli_difference_got(char buf[CLI_ELEMENT_SIZE], const difference *diff)
{
    return print_element(buf, diff, diff->got, diff->got_text);
}

const char *cli_difference_expected(char buf[CLI_ELEMENT_SIZE], const difference *diff)
{
    return print_element(buf, diff, diff->expected, diff->expected_text);
}

// Strings agree if they are equal.
static void compare_strings(const tl_tensor *got, const tl_tensor *expected, difference *diff)
{
    for (int i = 0; i < expected->len && diff->index < 0; i++) {
        diff->got_text = tl_tensor_string(got, i);
        diff->expected_text = tl_tensor_string(expected, i);
        if (tl_string_cmp(diff->got_text, diff->expected_text))
            diff->index = i;
    }
}

void cli_compare(const tl_tensor *got, const tl_tensor *expected, const tolerance *tol,
                 difference *diff)
{
    const size_t size = tl_size_of(got->dtype);
    const char *const g_bytes = got->data, *const e_bytes = expected->data;
    *diff = (difference){.index = -1, .dtype = got->dtype};
    if (got->dtype == TL_STRING) {
        compare_strings(got, expected, diff);
        return;
    }
    for (int i = 0; i < expected->len; i++) {
        const double g = cli_element(got, i), e = cli_element(expected, i);
        diff->abs = fmax(diff->abs, fabs(g - e));
        // Without rtol, bytes are compared: doubles do not hold all integers.
        const size_t at = (size_t)i * size;
        if (diff->index < 0 &&
            (tol->rtol < 0 ? memcmp(g_bytes + at, e_bytes + at, size) != 0 : !agree(g, e, tol))) {
            diff->index = i;
            diff->got = g;
            diff->expected = e;
        }
    }
    diff->rel = tol->scale > 0 ? diff->abs / tol->scale : diff->abs;
}

double cli_relative_error(const tl_tensor *got, const tl_tensor *expected, int *n_beyond)
{
    const double scale = max_finite(expected);
    double max = 0;
    *n_beyond = 0;
    for (int i = 0; i < expected->len; i++) {
        const double g = cli_element(got, i), e = cli_element(expected, i);
        if (are_finite(g, e))
            max = fmax(max, fabs(g - e));
        else
            *n_beyond += !agree_beyond(g, e);
    }
    return scale > 0 ? max / scale : max;
}

// Ties

// One output of two programs, and its sort keys.
typedef struct sorted {
    const ln_op *op;
    const tl_tensor *got, *expected;
    const tl_tensor *keys, *expected_keys;
    tolerance tol; // of keys
} sorted;

// Values sorted by keys: the key of each value must agree.

typedef struct pair {
    double value, key;
} pair;

static int by_value(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

// Returns new (free), sorted; NULL: no memory.
static pair *list_pairs(const tl_tensor *values, const tl_tensor *keys)
{
    pair *pairs = malloc((size_t)values->len * sizeof(*pairs) + 1);
    for (int i = 0; pairs && i < values->len; i++)
        pairs[i] = (pair){cli_element(values, i), cli_element(keys, i)};
    if (pairs)
        qsort(pairs, (size_t)values->len, sizeof(*pairs), by_value);
    return pairs;
}

static int pairs_agree(const sorted *s)
{
    if (s->keys->len != s->got->len || s->expected_keys->len != s->got->len)
        return 0;
    pair *got = list_pairs(s->got, s->keys), *want = list_pairs(s->expected, s->expected_keys);
    int same = got && want;
    for (int i = 0; i < s->got->len && same; i++)
        same = got[i].value == want[i].value && agree(got[i].key, want[i].key, &s->tol);
    free(got);
    free(want);
    return same;
}

// Indices along an axis: each must refer to an element that agrees, and none may occur twice.

typedef struct axis {
    int inner;     // the product of the lengths after the axis
    int len;       // the source's length along the axis
    int n_indices; // the output's length along the axis
} axis;

static axis axis_of(const sorted *s)
{
    const ln_param_entry *param = ln_op_param(s->op, "axis");
    const tl_tensor *src = s->expected_keys;
    const int k = param && param->type == LN_PARAM_NUMBER ? param->value_int : -1;
    axis a = {1, 0, 0};
    if (k < 0 || k >= src->ndim)
        return a;
    for (int i = k + 1; i < src->ndim; i++)
        a.inner *= src->dims[i];
    a.len = src->dims[k];
    a.n_indices = src->len ? (int)((long long)s->got->len * a.len / src->len) : 0;
    return a;
}

static int occurs_before(const sorted *s, const axis *a, int i)
{
    const int k = i / a->inner % a->n_indices;
    for (int j = 1; j <= k; j++)
        if (cli_element(s->got, i - j * a->inner) == cli_element(s->got, i))
            return 1;
    return 0;
}

static int indices_agree(const sorted *s)
{
    const axis a = axis_of(s);
    for (int i = 0; i < s->got->len && a.n_indices; i++) {
        const double got = cli_element(s->got, i), want = cli_element(s->expected, i);
        const int row = i / (a.inner * a.n_indices) * a.len;
        if (got < 0 || got >= a.len || occurs_before(s, &a, i))
            return 0;
        const int at = (row + (int)got) * a.inner + i % a.inner;
        const int want_at = (row + (int)want) * a.inner + i % a.inner;
        if (!agree(cli_element(s->expected_keys, at), cli_element(s->expected_keys, want_at),
                   &s->tol))
            return 0;
    }
    return a.n_indices > 0;
}

// Operators with such outputs.
static const struct {
    const char *optype; // abstract
    const char *arg;    // the output
    const char *keys;   // the argument by which it is sorted
    int (*agree)(const sorted *s);
} rows[] = {
    {LN_OP_SORT1D_BY_KEY, "dst_val", "dst_key", pairs_agree},
    {LN_OP_TOPK, "indices", "src", indices_agree},
    {LN_OP_ARGREDUCE, "dst", "src", indices_agree},
    {LN_OP_MAXREDUCE_ARG, "arg", "src", indices_agree},
};

static const tl_tensor *find_tensor(const ln_context *ctx, const char *name)
{
    const ln_tensor_entry *te = name ? ln_tensor_table_find(ctx->tensor_table, name) : NULL;
    return te ? te->tensor : NULL;
}

int cli_ties_replace(ln_context *ctx, ln_context *reference, const cli_tolerances *given,
                     const ln_op *op, const char *name)
{
    sorted s = {.op = op, .got = find_tensor(ctx, name), .expected = find_tensor(reference, name)};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *out = ln_op_output_name(op, rows[i].arg);
        if (!ln_op_is_form_of(op, rows[i].optype) || !out || strcmp(out, name))
            continue;
        const ln_tensor_list_entry *keys = ln_op_find_tensor_list_entry(op, rows[i].keys);
        s.keys = keys ? find_tensor(ctx, keys->name) : NULL;
        s.expected_keys = keys ? find_tensor(reference, keys->name) : NULL;
        if (!s.keys || !s.expected_keys || !s.expected_keys->data)
            return 0;
        s.tol = cli_reference_tolerance(given, s.expected_keys, 0);
        if (!rows[i].agree(&s))
            return 0;
        memcpy(s.got->data, s.expected->data, tl_tensor_size(s.got));
        return 1;
    }
    return 0;
}
