// SPDX-License-Identifier: Apache-2.0
// Comparing outputs of quantized programs with those in float32.

#include "quantize/ln_quantize_error.h"

#include <math.h>
#include <string.h>

#include "lightnet/ln_util.h"
#include "tensorlight/tl_string.h"
#include "tensorlight/tl_type.h"

// Outputs of float32

static const tl_tensor *output_of(const ln_context *ctx, const char *name)
{
    return ln_tensor_table_find(ctx->tensor_table, name)->tensor;
}

static int keep_outputs(ln_quantize_outputs *outputs, const ln_context *ctx, int sample,
                        ln_error *err)
{
    tl_tensor **at = outputs->items + (size_t)sample * (size_t)outputs->n;
    LN_FOREACH (const char *, name, ctx->outputs) {
        *at = tl_tensor_clone(output_of(ctx, name));
        if (!*at++)
            return ln_error_set_as(err, LN_OUT_OF_MEMORY, "%s", tl_last_error());
    }
    return 0;
}

int ln_quantize_outputs_find(ln_quantize_outputs *outputs, const ln_quantize_program *p,
                             const ln_quantize_samples *samples, ln_error *err)
{
    *outputs =
        (ln_quantize_outputs){.n = ln_list_length(p->ctx->outputs), .n_samples = samples->n_alike};
    outputs->items = ln_alloc_array((size_t)outputs->n * (size_t)outputs->n_samples + 1,
                                    sizeof(*outputs->items));
    if (!outputs->items)
        return ln_error_set_last(err);
    for (int i = 0; i < outputs->n_samples; i++)
        if (ln_quantize_program_run(p, samples, i, err) || keep_outputs(outputs, p->ctx, i, err))
            return -1;
    return 0;
}

void ln_quantize_outputs_free(ln_quantize_outputs *outputs)
{
    const size_t n = (size_t)outputs->n * (size_t)outputs->n_samples;
    for (size_t i = 0; i < n && outputs->items; i++)
        tl_tensor_free_data_too(outputs->items[i]);
    ln_free(outputs->items);
    *outputs = (ln_quantize_outputs){0};
}

// Comparing

// Sums over the samples, for one output.
typedef struct sums {
    double difference, norm; // sums of (got - expected)^2 and expected^2
    int is_float;            // else difference: elements that differ, norm: all elements
    int is_infinite;         // the error
    double same, rows;       // rows with equal argmax, or equal classes; all rows
} sums;

static double element(const tl_tensor *t, size_t i)
{
    double value;
    tl_convert(&value, TL_DOUBLE, (const char *)t->data + i * tl_size_of(t->dtype), t->dtype);
    return value;
}

// Ignores elements that are not finite in float32.
static void add_floats(sums *s, const tl_tensor *got, const tl_tensor *expected)
{
    for (size_t i = 0; i < (size_t)expected->len; i++) {
        const double g = element(got, i), e = element(expected, i);
        if (!isfinite(e))
            continue;
        s->is_infinite |= !isfinite(g);
        s->difference += (g - e) * (g - e);
        s->norm += e * e;
    }
}

static int is_equal(const tl_tensor *a, const tl_tensor *b, size_t i)
{
    const size_t size = tl_size_of(a->dtype);
    if (a->dtype == TL_STRING)
        return !tl_string_cmp(((const tl_string *const *)a->data)[i],
                              ((const tl_string *const *)b->data)[i]);
    return !memcmp((const char *)a->data + i * size, (const char *)b->data + i * size, size);
}

// Integers and strings, each of which is a class: a row of its own.
static void add_classes(sums *s, const tl_tensor *got, const tl_tensor *expected)
{
    int n_same = 0;
    for (size_t i = 0; i < (size_t)expected->len; i++)
        n_same += is_equal(got, expected, i);
    s->difference += expected->len - n_same;
    s->norm += expected->len;
    s->same += n_same;
    s->rows += expected->len;
}

// The first of equal maxima.
static int argmax(const tl_tensor *t, size_t first, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (element(t, first + (size_t)i) > element(t, first + (size_t)best))
            best = i;
    return best;
}

// The length of the last axis; of [N, C, 1, 1] it is C.
static int row_length(const tl_tensor *t)
{
    int axis = t->ndim - 1;
    while (axis > 1 && t->dims[axis] == 1)
        axis--;
    return t->ndim ? t->dims[axis] : 1;
}

// Whether the rows have their maxima at the same index, and none is NaN or infinite alone.
static int is_best_equal(const tl_tensor *got, const tl_tensor *expected, size_t first, int n)
{
    const int best = argmax(expected, first, n);
    return argmax(got, first, n) == best && !isfinite(element(got, first + (size_t)best)) ==
                                                !isfinite(element(expected, first + (size_t)best));
}

static void add_rows(sums *s, const tl_tensor *got, const tl_tensor *expected)
{
    const int n = row_length(expected);
    for (size_t i = 0; n > 0 && i < (size_t)expected->len; i += (size_t)n) {
        s->same += is_best_equal(got, expected, i, n);
        s->rows++;
    }
}

// The length may differ if the size of an output depends on data.
static void add(sums *s, const tl_tensor *got, const tl_tensor *expected)
{
    s->is_float = tl_dtype_is_float(expected->dtype);
    if (got->len != expected->len) {
        s->is_infinite = 1;
        s->rows++;
        return;
    }
    if (!s->is_float) {
        add_classes(s, got, expected);
        return;
    }
    add_floats(s, got, expected);
    add_rows(s, got, expected);
}

static double relative_error(const sums *s)
{
    if (s->is_infinite)
        return INFINITY;
    if (!(s->norm > 0))
        return s->difference > 0 ? INFINITY : 0;
    return s->is_float ? sqrt(s->difference / s->norm) : s->difference / s->norm;
}

// The sums of each output over `n` samples.
static int add_samples(sums *of, const ln_quantize_outputs *outputs, const ln_quantize_program *p,
                       const ln_quantize_samples *samples, int n, ln_error *err)
{
    tl_tensor *const *expected = outputs->items;
    for (int i = 0; i < n; i++) {
        sums *s = of;
        if (ln_quantize_program_run(p, samples, i, err))
            return -1;
        LN_FOREACH (const char *, name, p->ctx->outputs)
            add(s++, output_of(p->ctx, name), *expected++);
    }
    return 0;
}

static ln_quantize_error error_of(const sums *of, int n)
{
    ln_quantize_error error = {.top1 = n && of->rows > 0 ? of->same / of->rows : 1};
    for (const sums *s = of; s < of + n; s++)
        if (relative_error(s) > error.relative)
            error.relative = relative_error(s);
    return error;
}

int ln_quantize_error_find(ln_quantize_error *error, const ln_quantize_outputs *outputs,
                           const ln_quantize_program *p, const ln_quantize_samples *samples, int n,
                           ln_error *err)
{
    sums *const s = ln_alloc_array((size_t)outputs->n + 1, sizeof(*s));
    if (!s)
        return ln_error_set_last(err);
    const int status = add_samples(s, outputs, p, samples, n, err);
    if (!status)
        *error = error_of(s, outputs->n);
    ln_free(s);
    return status;
}
