// SPDX-License-Identifier: Apache-2.0
// Types, shapes, and elements, output by output.

#include "srv_compare.h"

#include <math.h>
#include <string.h>

#include "tensorlight/tl_type.h"

static double tolerance_of(tl_dtype dtype)
{
    static const struct {
        tl_dtype dtype;
        double tolerance;
    } all[] = {{TL_FLOAT, 1e-5}, {TL_DOUBLE, 1e-5}, {TL_FLOAT16, 1e-2}, {TL_BFLOAT16, 8e-2}};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i].dtype == dtype)
            return all[i].tolerance;
    return 0;
}

static double element_of(const srv_tensor *t, size_t i)
{
    double element;
    tl_convert(&element, TL_DOUBLE, (const char *)t->data + i * tl_size_of(t->dtype), t->dtype);
    return element;
}

size_t srv_compare_nans(const srv_tensor *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->len && tl_dtype_is_float(t->dtype); i++)
        n += isnan(element_of(t, i)) != 0;
    return n;
}

static double max_magnitude(const srv_tensor *t, double max)
{
    for (size_t i = 0; i < t->len; i++) {
        const double element = fabs(element_of(t, i));
        max = isfinite(element) && element > max ? element : max;
    }
    return max;
}

static int compare_floats(const srv_tensor *first, const srv_tensor *second,
                          const srv_compare_rule *rule, srv_error *why)
{
    const double max = tolerance_of(first->dtype) * max_magnitude(first, rule->least_magnitude);
    for (size_t i = 0; i < first->len; i++) {
        const double a = element_of(first, i), b = element_of(second, i);
        if (a != b && !(isnan(a) && isnan(b)) && !(fabs(a - b) <= max))
            return srv_fail(why, SRV_INTERNAL,
                            "output '%s' is %g %s and %g %s, expected a difference of at most %g",
                            first->name, a, rule->first, b, rule->second, max);
    }
    return 0;
}

static int compare_strings(const srv_tensor *first, const srv_tensor *second,
                           const srv_compare_rule *rule, srv_error *why)
{
    for (size_t i = 0; i < first->len; i++)
        if (first->sizes[i] != second->sizes[i] ||
            memcmp(first->strings[i], second->strings[i], first->sizes[i]))
            return srv_fail(why, SRV_INTERNAL, "output '%s' has other strings %s than %s",
                            first->name, rule->second, rule->first);
    return 0;
}

static int compare_shapes(const srv_tensor *first, const srv_tensor *second,
                          const srv_compare_rule *rule, srv_error *why)
{
    if (first->dtype != second->dtype || first->ndim != second->ndim)
        return srv_fail(why, SRV_INTERNAL,
                        "output '%s' has another type or number of dimensions %s than %s",
                        first->name, rule->second, rule->first);
    for (int k = 0; k < first->ndim; k++)
        if (first->dims[k] != second->dims[k])
            return srv_fail(why, SRV_INTERNAL,
                            "output '%s' has the size %d in axis %d %s, expected %d, as %s%s",
                            first->name, second->dims[k], k, rule->second, first->dims[k],
                            rule->first, rule->size_hint);
    return 0;
}

static int compare_output(const srv_tensor *first, const srv_tensor *second,
                          const srv_compare_rule *rule, srv_error *why)
{
    if (compare_shapes(first, second, rule, why))
        return -1;
    if (first->dtype == TL_STRING)
        return compare_strings(first, second, rule, why);
    if (tolerance_of(first->dtype) > 0)
        return compare_floats(first, second, rule, why);
    return !first->size || !memcmp(first->data, second->data, first->size)
               ? 0
               : srv_fail(why, SRV_INTERNAL, "output '%s' has other integers %s than %s",
                          first->name, rule->second, rule->first);
}

int srv_compare(const srv_request *first, const srv_request *second, const srv_compare_rule *rule,
                srv_error *why)
{
    for (int i = 0; i < first->n_outputs; i++)
        if (compare_output(&first->outputs[i], &second->outputs[i], rule, why))
            return -1;
    return 0;
}
