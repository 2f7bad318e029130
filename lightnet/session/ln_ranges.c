// SPDX-License-Identifier: Apache-2.0
// Sizes of a model that change from run to run, the shapes of new programs, and rejected inputs.

#include "session/ln_ranges.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_fnv.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_optypes.h"

// Changes after which a size is open; the min capacity, for inputs of at most MAX_ELEMENTS then.
enum { MIN_CHANGES = 2, MIN_CAPACITY = 256, MAX_ELEMENTS = 1 << 21 };

// The least capacity for axis `k`. An axis that was empty or has grown a little, as a cache does,
// gets room for an eighth more. A batch gets none, since it seldom grows on.
static int min_capacity_for(const ln_value *value, int k, int step)
{
    const int dim = value->dims[k], room = dim / 8 + 1;
    const int is_growing = step > 0 && (step == dim || step <= room);
    return k > 0 && is_growing && dim <= INT_MAX - room ? dim + room : dim;
}

// For axis `k`: at least MIN_CAPACITY for small inputs, such as tokens, but not for images.
static int capacity_for(const ln_value *value, int k, int step, int max)
{
    const int dim = value->dims[k], min = min_capacity_for(value, k, step);
    double len = 1;
    for (int i = 0; i < value->ndim; i++)
        len *= i == k ? 1 : value->dims[i];
    int capacity = 1;
    while (capacity <= INT_MAX / 2 &&
           (capacity < min || (capacity < MIN_CAPACITY && 2 * capacity * len <= MAX_ELEMENTS)))
        capacity *= 2;
    return capacity < dim ? dim : capacity > max ? max : capacity;
}

// Whether an axis is open, and not by its sum.
static int is_free(const ln_range *range, int axis)
{
    return range->sums[axis].n == 0 && range->min[axis] < range->max[axis];
}

// The max number of different steps whose sizes grow together.
enum { MAX_STEPS = 16 };

// The min growth of all free sizes with the same step.
typedef struct growth {
    int step, room;
} growth;

// The growth for a step, a new one at first; NULL: too many.
static growth *find_growth(growth *all, int *n, int step)
{
    int i = 0;
    while (i < *n && all[i].step != step)
        i++;
    if (i == MAX_STEPS)
        return NULL;
    if (i == *n)
        all[(*n)++] = (growth){step, INT_MAX};
    return &all[i];
}

static void grow_together(ln_range *ranges, const ln_value *values, size_t n)
{
    growth all[MAX_STEPS];
    int n_steps = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++)
            for (int k = 0; k < values[i].ndim; k++) {
                const int room = ranges[i].max[k] - values[i].dims[k];
                growth *const g =
                    is_free(&ranges[i], k) ? find_growth(all, &n_steps, ranges[i].steps[k]) : NULL;
                if (g && pass == 0)
                    g->room = room < g->room ? room : g->room;
                else if (g)
                    ranges[i].max[k] = values[i].dims[k] + g->room;
            }
}

// Bounds of the sizes that are sums of others.
static void bound_sums(ln_range *ranges, const ln_value *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < values[i].ndim; k++) {
            const ln_sum *const sum = &ranges[i].sums[k];
            if (!sum->n)
                continue;
            int64_t min = sum->constant, max = sum->constant;
            for (int t = 0; t < sum->n; t++) {
                min += ranges[sum->terms[t].input].min[sum->terms[t].axis];
                max += ranges[sum->terms[t].input].max[sum->terms[t].axis];
            }
            ranges[i].min[k] = min < INT_MAX ? (int)min : INT_MAX;
            ranges[i].max[k] = max < INT_MAX ? (int)max : INT_MAX;
        }
}

// A size that has shrunk to 1 stays fixed there: kernels for one row, such as a decoder's step,
// differ from those for many.
static int wants_open(const ln_changes *changes, const ln_port *port, int dim, int axis)
{
    return port->dims[axis] == LN_PORT_OPEN && !changes->sums[axis].n &&
           changes->times[axis] >= MIN_CHANGES && !(dim == 1 && changes->steps[axis] < 0);
}

// The least size of an open axis: 2 for a batch of several rows, as one row has its own program.
static int least(const ln_port *port, int dim, int axis)
{
    const int is_batch = axis == 0 && dim > 1;
    return port->min[axis] > 1 ? port->min[axis] : is_batch ? 2 : dim > 0;
}

// The range of one axis, for sizes of at most `max` (0: any).
static void choose(ln_range *range, int axis, const ln_changes *changes, const ln_port *port,
                   const ln_value *value, int max)
{
    const int dim = value->dims[axis];
    range->min[axis] = range->max[axis] = dim;
    range->steps[axis] = changes->steps[axis];
    range->sums[axis] = changes->sums[axis];
    if (!wants_open(changes, port, dim, axis))
        return;
    range->min[axis] = least(port, dim, axis);
    range->max[axis] = capacity_for(value, axis, changes->steps[axis], port->max[axis]);
    if (max && range->max[axis] > max)
        range->max[axis] = dim > max ? dim : max;
}

int ln_ranges_choose(ln_range *ranges, ln_changes *changes, ln_port *const *ports,
                     const ln_value *values, size_t n, int max)
{
    int is_open = 0;
    ln_changes_find_sums(changes, ports, values, n);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < values[i].ndim; k++)
            choose(&ranges[i], k, &changes[i], ports[i], &values[i], max);
    grow_together(ranges, values, n);
    bound_sums(ranges, values, n);
    for (size_t i = 0; i < n; i++)
        is_open |= ln_range_is_open(&ranges[i], values[i].ndim);
    return is_open;
}

static int largest_capacity(const ln_range *ranges, const ln_value *values, size_t n)
{
    int largest = 1;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < values[i].ndim; k++)
            if (is_free(&ranges[i], k) && ranges[i].max[k] > largest)
                largest = ranges[i].max[k];
    return largest;
}

int ln_ranges_halve(ln_range *ranges, const ln_value *values, size_t n)
{
    int is_less = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < values[i].ndim; k++) {
            const int dim = values[i].dims[k], half = ranges[i].max[k] / 2;
            if (!is_free(&ranges[i], k))
                continue;
            is_less |= ranges[i].max[k] > dim;
            ranges[i].max[k] = half > dim ? half : dim;
        }
    grow_together(ranges, values, n);
    bound_sums(ranges, values, n);
    return is_less ? largest_capacity(ranges, values, n) : 0;
}

static int has_sum(const ln_range *range, int axis, const ln_value *values, int len)
{
    const ln_sum *const sum = &range->sums[axis];
    int64_t value = sum->constant;
    for (int i = 0; i < sum->n; i++)
        value += values[sum->terms[i].input].dims[sum->terms[i].axis];
    return !sum->n || value == len;
}

int ln_ranges_have(const ln_range *ranges, const ln_value *made_for, const ln_value *values,
                   size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const ln_value *const value = &values[i];
        int has = made_for[i].is_given == value->is_given && made_for[i].ndim == value->ndim;
        for (int k = 0; k < value->ndim && has && value->is_given; k++)
            has = value->dims[k] >= ranges[i].min[k] && value->dims[k] <= ranges[i].max[k] &&
                  has_sum(&ranges[i], k, values, value->dims[k]);
        if (!has)
            return 0;
    }
    return 1;
}

static size_t add_text(char *text, size_t len, const char *format, int a, int b)
{
    const int n = snprintf(text + len, LN_SUM_LEN - len, format, a, b);
    return len + (size_t)n;
}

// "s3.1" is axis 1 of input 3.
static void write_sum(const ln_range *ranges, const ln_sum *sum, char *text)
{
    int constant = sum->constant;
    size_t len = 0;
    for (int i = 0; i < sum->n; i++) {
        const ln_axis a = sum->terms[i];
        if (ranges[a.input].min[a.axis] == ranges[a.input].max[a.axis])
            constant += ranges[a.input].max[a.axis];
        else
            len = add_text(text, len, len ? "+s%d.%d" : "s%d.%d", a.input, a.axis);
    }
    if (constant)
        add_text(text, len, len ? "+%d" : "%d", constant, 0);
}

void ln_ranges_name(const ln_range *ranges, int i, int ndim, char text[LN_MAXDIM][LN_SUM_LEN],
                    const char *names[LN_MAXDIM])
{
    for (int k = 0; k < ndim; k++) {
        const ln_sum own = {.n = 1, .terms = {{i, k}}};
        const ln_sum *const sum = ranges[i].sums[k].n ? &ranges[i].sums[k] : &own;
        text[k][0] = '\0';
        if (ranges[i].min[k] < ranges[i].max[k])
            write_sum(ranges, sum, text[k]);
        names[k] = text[k];
    }
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

// Whether an operator computes in each run.
static int is_run(const ln_op *op)
{
    return op->run && !op->op_arg->at_load && !ln_is_placeholder(op);
}

ln_kernels ln_kernels_of(const ln_context *ctx)
{
    ln_kernels k = {0};
    ln_hash *sizes = find_sizes(ctx);
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const char *type = op->op_arg->optype;
        if (!is_run(op) || (sizes && reads_sizes(ctx, op, sizes)))
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

static int count_products(const ln_context *ctx, const char *optype)
{
    int n = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops)
        n += op->op_arg->macs > 0 && is_run(op) && ln_streq(op->op_arg->optype, optype);
    return n;
}

static int is_among(const char *const *types, int n, const char *optype)
{
    while (n > 0 && !ln_streq(types[n - 1], optype))
        n--;
    return n;
}

const ln_op *ln_kernels_find_other(const ln_context *ctx, const ln_context *other)
{
    enum { MAX_TYPES = 64 }; // each costs a walk over all operators
    const char *types[MAX_TYPES];
    int n = 0;
    LN_FOREACH (const ln_op *, op, ctx->ops) {
        const char *const type = op->op_arg->optype;
        if (op->op_arg->macs <= 0 || !is_run(op) || is_among(types, n, type))
            continue;
        if (n == MAX_TYPES)
            break;
        if (count_products(ctx, type) > count_products(other, type))
            return op;
        types[n++] = type;
    }
    return NULL;
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
        return add_without_numbers(key, err->text);
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
