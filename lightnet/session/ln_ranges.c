// SPDX-License-Identifier: Apache-2.0
// Sizes of a model that change from run to run, the shapes of new programs, and rejected inputs.

#include "session/ln_ranges.h"

#include <limits.h>
#include <string.h>

#include "base/ln_fnv.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_optypes.h"

// Changes after which a size is open; the min capacity, for inputs of at most MAX_ELEMENTS then.
enum { MIN_CHANGES = 2, MIN_CAPACITY = 256, MAX_ELEMENTS = 1 << 21 };

void ln_changes_note(ln_changes *changes, const ln_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ln_changes *c = &changes[i];
        for (int k = 0; k < values[i].ndim && values[i].is_given; k++) {
            const int step = c->is_known ? values[i].dims[k] - c->dims[k] : 0;
            c->times[k] += step != 0;
            c->steps[k] = step ? step : c->steps[k];
            c->dims[k] = values[i].dims[k];
        }
        c->is_known = c->is_known || values[i].is_given;
    }
}

// For axis `k`: at least MIN_CAPACITY for small inputs, such as tokens, but not for images.
static int capacity_for(const ln_value *value, int k, int max)
{
    const int dim = value->dims[k];
    double len = 1;
    for (int i = 0; i < value->ndim; i++)
        len *= i == k ? 1 : value->dims[i];
    int capacity = 1;
    while (capacity <= INT_MAX / 2 &&
           (capacity < dim || (capacity < MIN_CAPACITY && 2 * capacity * len <= MAX_ELEMENTS)))
        capacity *= 2;
    return capacity < dim ? dim : capacity > max ? max : capacity;
}

// The min growth of all open sizes with this step.
static int common_growth(const ln_range *ranges, const ln_value *values, size_t n, int step)
{
    int growth = INT_MAX;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < values[i].ndim; k++) {
            const int room = ranges[i].max[k] - values[i].dims[k];
            if (ranges[i].min[k] < ranges[i].max[k] && ranges[i].steps[k] == step)
                growth = room < growth ? room : growth;
        }
    return growth;
}

static void grow_together(ln_range *ranges, const ln_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < values[i].ndim; k++)
            if (ranges[i].min[k] < ranges[i].max[k])
                ranges[i].max[k] =
                    values[i].dims[k] + common_growth(ranges, values, n, ranges[i].steps[k]);
}

int ln_ranges_choose(ln_range *ranges, const ln_changes *changes, ln_port *const *ports,
                     const ln_value *values, size_t n, int max)
{
    int is_open = 0;
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < values[i].ndim; k++) {
            const int dim = values[i].dims[k], min = ports[i]->min[k];
            ranges[i].min[k] = ranges[i].max[k] = dim;
            ranges[i].steps[k] = changes[i].steps[k];
            if (ports[i]->dims[k] != LN_PORT_OPEN || changes[i].times[k] < MIN_CHANGES)
                continue;
            ranges[i].min[k] = min > 1 ? min : dim > 0;
            ranges[i].max[k] = capacity_for(&values[i], k, ports[i]->max[k]);
            if (max && ranges[i].max[k] > max)
                ranges[i].max[k] = dim > max ? dim : max;
        }
    }
    grow_together(ranges, values, n);
    for (size_t i = 0; i < n; i++)
        is_open |= ln_range_is_open(&ranges[i], values[i].ndim);
    return is_open;
}

static int largest_capacity(const ln_range *ranges, const ln_value *values, size_t n)
{
    int largest = 1;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < values[i].ndim; k++)
            if (ranges[i].min[k] < ranges[i].max[k] && ranges[i].max[k] > largest)
                largest = ranges[i].max[k];
    return largest;
}

int ln_ranges_halve(ln_range *ranges, const ln_value *values, size_t n)
{
    int is_less = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < values[i].ndim; k++) {
            const int dim = values[i].dims[k], half = ranges[i].max[k] / 2;
            if (ranges[i].min[k] == ranges[i].max[k])
                continue;
            is_less |= ranges[i].max[k] > dim;
            ranges[i].max[k] = half > dim ? half : dim;
        }
    grow_together(ranges, values, n);
    return is_less ? largest_capacity(ranges, values, n) : 0;
}

int ln_range_has(const ln_range *range, const ln_value *made_for, const ln_value *value)
{
    int has = made_for->is_given == value->is_given && made_for->ndim == value->ndim;
    for (int k = 0; k < value->ndim && has && value->is_given; k++)
        has = value->dims[k] >= range->min[k] && value->dims[k] <= range->max[k];
    return has;
}

int ln_range_is_open(const ln_range *range, int ndim)
{
    return ndim && memcmp(range->min, range->max, (size_t)ndim * sizeof(range->min[0])) != 0;
}

// Kernels

// Whether an operator reads only constants and sizes, so that a program for fixed sizes runs it at
// load. `sizes`: the tensors that operators before it compute from sizes.
static int reads_sizes(const ln_context *ctx, const ln_op *op, const ln_hash *sizes)
{
    if (ln_op_is(op, LN_OP_SHAPE_CPU))
        return 1;
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_in)
        if (!ln_hash_find(sizes, tle->name) &&
            !ln_tensor_table_find(ctx->tensor_table, tle->name)->isconst)
            return 0;
    return op->op_arg->tensors_in != NULL;
}

// The tensors that are computed from sizes; NULL: no memory.
static ln_hash *find_sizes(const ln_context *ctx)
{
    ln_hash *sizes = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    LN_FOREACH (const ln_op *, op, sizes ? ctx->ops : NULL) {
        if (!reads_sizes(ctx, op, sizes))
            continue;
        LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out) {
            if (ln_hash_insert(sizes, tle->name, tle->name) < 0) {
                ln_hash_free(sizes);
                return NULL;
            }
        }
    }
    return sizes;
}

static int writes_only_vectors(const ln_context *ctx, const ln_op *op)
{
    LN_FOREACH (const ln_tensor_list_entry *, tle, op->op_arg->tensors_out)
        if (ln_tensor_table_find(ctx->tensor_table, tle->name)->tensor->ndim > 1)
            return 0;
    return 1;
}

ln_kernels ln_kernels_of(const ln_context *ctx)
{
    ln_kernels k = {0};
    ln_hash *sizes = find_sizes(ctx);
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const char *type = op->op_arg->optype;
        if (op->op_arg->at_load || !op->run || ln_is_placeholder(op) ||
            (sizes && reads_sizes(ctx, op, sizes)))
            continue;
        if (op->op_arg->macs > 0)
            k.products += ln_fnv64(type, strlen(type));
        else
            k.n += !writes_only_vectors(ctx, op);
    }
    ln_hash_free(sizes);
    return k;
}

int ln_kernels_suffice(const ln_kernels *open, const ln_kernels *fixed)
{
    // Open sizes may need operators that compute offsets, or copy where fixed shapes do not.
    return open->products == fixed->products && open->n <= fixed->n + fixed->n / 4 + 2;
}

// Rejections

uint64_t ln_rejection_of_sizes(const ln_value *values, size_t n)
{
    uint64_t key = ln_fnv64("sizes", 5);
    for (size_t i = 0; i < n; i++) {
        const int ndim = values[i].is_given ? values[i].ndim : -1;
        key = ln_fnv64_more(key, &ndim, sizeof(ndim));
        if (ndim > 0)
            key = ln_fnv64_more(key, values[i].dims, sizeof(int) * (size_t)ndim);
    }
    return key;
}

static uint64_t add_without_numbers(uint64_t key, const char *text)
{
    for (; *text; text++)
        if (!strchr("-0123456789", *text))
            key = ln_fnv64_more(key, text, 1);
    return key;
}

// The text before the first "): " has the names of the file and the operator.
uint64_t ln_rejection_of_check(const ln_error *err)
{
    const char *reason = strstr(err->text, "): ");
    const uint64_t key = ln_fnv64("check", 5);
    if (!reason)
        return ln_fnv64_more(key, err->text, strlen(err->text));
    return add_without_numbers(ln_fnv64_more(key, err->text, (size_t)(reason - err->text)), reason);
}

static uint64_t key_of_reason(const ln_error *err)
{
    const char *reason = strstr(err->text, "): ");
    return add_without_numbers(ln_fnv64("reason", 6), reason ? reason : err->text);
}

int ln_rejection_is_same_check(const ln_error *a, const ln_error *b)
{
    return key_of_reason(a) == key_of_reason(b);
}

void ln_rejections_note(ln_rejections *rejections, uint64_t key)
{
    if (!ln_rejections_have(rejections, key))
        rejections->keys[rejections->n++ % LN_MAX_REJECTIONS] = key;
}

int ln_rejections_have(const ln_rejections *rejections, uint64_t key)
{
    for (unsigned i = 0; i < rejections->n && i < LN_MAX_REJECTIONS; i++)
        if (rejections->keys[i] == key)
            return 1;
    return 0;
}
