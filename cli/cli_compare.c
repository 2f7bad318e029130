// SPDX-License-Identifier: Apache-2.0
// How far numbers may differ.

#include "cli_compare.h"

#include <math.h>
#include <string.h>

double cli_element(const tl_tensor *t, int i)
{
    double value;
    tl_convert(&value, TL_DOUBLE, (const char *)t->data + (size_t)i * tl_size_of(t->dtype),
               t->dtype);
    return value;
}

static int is_floating(tl_dtype dtype)
{
    return dtype == TL_DOUBLE || dtype == TL_FLOAT || dtype == TL_FLOAT16 || dtype == TL_BFLOAT16;
}

tolerance cli_stored_tolerance(const cli_options *opt, tl_dtype dtype)
{
    const double rtol = !is_floating(dtype) || opt->rtol >= 0 ? opt->rtol
                        : tl_size_of(dtype) == 2              ? 1e-2
                                                              : 1e-3;
    return (tolerance){.rtol = rtol, .atol = opt->atol >= 0 ? opt->atol : 1e-5};
}

static double largest_finite(const tl_tensor *t)
{
    double largest = 0;
    for (int i = 0; i < t->len; i++) {
        const double x = fabs(cli_element(t, i));
        largest = isfinite(x) ? fmax(largest, x) : largest;
    }
    return largest;
}

// Of the reference program: rounding errors of sums are those of their largest terms, so the
// largest number of the tensor is what they are compared with.
tolerance cli_reference_tolerance(const cli_options *opt, const tl_tensor *expected, int is_coarse)
{
    const tl_dtype dtype = is_coarse && is_floating(expected->dtype) ? TL_FLOAT16 : expected->dtype;
    tolerance tol = cli_stored_tolerance(opt, dtype);
    tol.scale = largest_finite(expected);
    if (is_floating(dtype) && opt->rtol < 0 && tl_size_of(dtype) > 2)
        tol.rtol = 1e-4;
    if (opt->atol < 0)
        tol.atol = 1e-6;
    return tol;
}

int cli_agree(double got, double expected, const tolerance *tol)
{
    const double scale = tol->scale > 0 ? tol->scale : fabs(expected);
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    return got == expected || fabs(got - expected) <= tol->atol + tol->rtol * scale;
}

// Integers agree if they are equal, unless a tolerance is set: doubles do not hold all.
static int elements_agree(const tl_tensor *got, const tl_tensor *expected, int i,
                          const tolerance *tol)
{
    const size_t size = tl_size_of(got->dtype), at = (size_t)i * size;
    if (tol->rtol < 0)
        return !memcmp((const char *)got->data + at, (const char *)expected->data + at, size);
    return cli_agree(cli_element(got, i), cli_element(expected, i), tol);
}

void cli_compare(const tl_tensor *got, const tl_tensor *expected, const tolerance *tol,
                 difference *diff)
{
    *diff = (difference){.index = -1};
    for (int i = 0; i < expected->len; i++) {
        const double g = cli_element(got, i), e = cli_element(expected, i);
        diff->abs = fmax(diff->abs, fabs(g - e));
        if (diff->index < 0 && !elements_agree(got, expected, i, tol)) {
            diff->index = i;
            diff->got = g;
            diff->expected = e;
        }
    }
    diff->rel = tol->scale > 0 ? diff->abs / tol->scale : diff->abs;
}
