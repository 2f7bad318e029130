// SPDX-License-Identifier: Apache-2.0
// The interface for functions of operators: execution resources, arguments, outputs.

#include "lightnet/ln_op.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_dfg_value.h"
#include "ir/ln_sizes.h"
#include "ir/ln_limits.h"
#include "base/ln_name.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_util.h"

// Execution resources

// The arena for strings that the operator creates: of load, or of the current run.
static tl_strings *strings_of(const ln_context *ctx)
{
    while (ctx->outer)
        ctx = ctx->outer;
    return (tl_strings *)&ctx->strings[ctx->is_running];
}

tl_exec ln_op_exec(const ln_op_arg *op_arg)
{
    const ln_context *ctx = op_arg->ctx;
    if (!ctx)
        return (tl_exec){.isa = tl_isa_best()};
    tl_exec exec = {.pool = ctx->pool,
                    .isa = ctx->isa,
                    .stop = ln_limits_stop(ctx),
                    .strings = strings_of(ctx)};
    char *memory = ctx->mem_starts[ln_op_scratch_type(op_arg)];
    if (memory && op_arg->scratch_size) {
        exec.scratch = memory + op_arg->scratch_offset;
        exec.scratch_size = op_arg->scratch_size;
    }
    return exec;
}

ln_mem_type ln_op_scratch_type(const ln_op_arg *op_arg)
{
    return op_arg->mtype == LN_MEM_NONE ? LN_MEM_CPU : op_arg->mtype;
}

int ln_op_threads(const ln_op_arg *op_arg)
{
    const ln_context *ctx = op_arg->ctx;
    while (ctx && ctx->outer)
        ctx = ctx->outer;
    return ctx ? ctx->planned_threads : 1;
}

int ln_op_allows_bfloat16(const ln_op_arg *op_arg)
{
    const ln_context *ctx = op_arg->ctx;
    return ctx && ctx->precision == TL_BFLOAT16 && ctx->optimize;
}

uint64_t ln_op_seed(const ln_op_arg *op_arg)
{
    const ln_tensor_list_entry *first = op_arg->tensors_out ? op_arg->tensors_out->data : NULL;
    const uint64_t seed = op_arg->ctx ? op_arg->ctx->seed : 0;
    return seed * 0x9e3779b97f4a7c15u + (first ? ln_str_hash(first->name) : 0);
}

// Arguments

// One declared argument.
struct spec {
    const char *arg_name;
    int optional, variadic;
};

// All arguments of a kind: the list of an operator, and the declared ones, by a description or else
// by names alone.
struct args {
    const char *kind;
    const ln_list *list;
    const char *(*arg_name_of)(const void *);
    const ln_arg_info *infos;
    const char **names;
};

static const char *tensor_arg_name(const void *entry)
{
    return ((const ln_tensor_list_entry *)entry)->arg_name;
}

static const char *param_arg_name(const void *entry)
{
    return ((const ln_param_entry *)entry)->arg_name;
}

// The ith declared argument; its arg_name is NULL after the last.
static struct spec spec_at(const struct args *args, int i)
{
    if (!args->infos)
        return (struct spec){.arg_name = args->names ? args->names[i] : NULL};
    if (i > 0 && args->infos[i - 1].islast)
        return (struct spec){.arg_name = NULL};
    const ln_arg_info *info = &args->infos[i];
    return (struct spec){info->arg_name, info->optional || info->has_default, info->variadic};
}

static int is_declared_as(const char *arg_name, const struct spec *spec)
{
    return spec->variadic ? ln_name_number(arg_name, spec->arg_name) >= 0
                          : (int)ln_streq(arg_name, spec->arg_name);
}

static int is_declared(const char *arg_name, const struct args *args)
{
    for (int i = 0; spec_at(args, i).arg_name; i++) {
        const struct spec spec = spec_at(args, i);
        if (is_declared_as(arg_name, &spec))
            return 1;
    }
    return 0;
}

// "'src', 'weight'", truncated to the size.
static const char *declared_text(char *buf, size_t size, const struct args *args)
{
    size_t used = 0;
    snprintf(buf, size, "none");
    for (int i = 0; spec_at(args, i).arg_name && used < size; i++) {
        const struct spec spec = spec_at(args, i);
        used += (size_t)snprintf(buf + used, size - used, "%s'%s%s", i ? ", " : "", spec.arg_name,
                                 spec.variadic ? "0', .." : "'");
    }
    return buf;
}

static int check_undeclared(ln_op_arg *op_arg, const struct args *args)
{
    for (const ln_list *l = args->list; l; l = l->next) {
        const char *arg_name = args->arg_name_of(l->data);
        char expected[LN_MAX_NAME_LEN];
        if (!is_declared(arg_name, args))
            return ln_op_fail(op_arg, "unknown %s '%s', expected %s", args->kind,
                              arg_name ? arg_name : "",
                              declared_text(expected, sizeof expected, args));
    }
    return 0;
}

static int compare_ints(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

// Checks that the `n` arguments have different numbers, in O(n log n).
static int check_numbers(ln_op_arg *op_arg, const struct args *args, const struct spec *spec, int n)
{
    int *numbers = ln_alloc_array((size_t)n, sizeof(*numbers));
    if (!numbers)
        return ln_op_fail_last(op_arg);
    int rc = 0, len = 0;
    for (const ln_list *l = args->list; l; l = l->next) {
        const int number = ln_name_number(args->arg_name_of(l->data), spec->arg_name);
        if (number >= 0)
            numbers[len++] = number;
    }
    qsort(numbers, (size_t)len, sizeof(*numbers), compare_ints);
    for (int i = 1; i < len && !rc; i++) {
        if (numbers[i - 1] == numbers[i])
            rc = ln_op_fail(op_arg, "duplicate %s '%s%d'", args->kind, spec->arg_name, numbers[i]);
    }
    ln_free(numbers);
    return rc;
}

static int check_declared(ln_op_arg *op_arg, const struct args *args, const struct spec *spec)
{
    int n = 0;
    for (const ln_list *l = args->list; l; l = l->next)
        n += is_declared_as(args->arg_name_of(l->data), spec);
    if (n == 0 && !spec->optional)
        return ln_op_fail(op_arg, "%s '%s%s' is missing", args->kind, spec->arg_name,
                          spec->variadic ? "0" : "");
    if (spec->variadic)
        return check_numbers(op_arg, args, spec, n);
    if (n > 1)
        return ln_op_fail(op_arg, "%s '%s' occurs %d times, expected once", args->kind,
                          spec->arg_name, n);
    return 0;
}

static int check_args(ln_op_arg *op_arg, const struct args *args)
{
    for (int i = 0; spec_at(args, i).arg_name; i++) {
        const struct spec spec = spec_at(args, i);
        if (check_declared(op_arg, args, &spec))
            return -1;
    }
    return check_undeclared(op_arg, args);
}

int ln_op_check_args(ln_op_arg *op_arg)
{
    const ln_op_info *info = op_arg->info;
    const struct args inputs = {"input", op_arg->tensors_in, tensor_arg_name,
                                info ? info->tensors_in : NULL, op_arg->in_arg_names};
    const struct args outputs = {"output", op_arg->tensors_out, tensor_arg_name,
                                 info ? info->tensors_out : NULL, op_arg->out_arg_names};
    const struct args params = {"parameter", op_arg->params, param_arg_name,
                                info ? info->params : NULL, op_arg->param_arg_names};
    return -(check_args(op_arg, &inputs) || check_args(op_arg, &outputs) ||
             check_args(op_arg, &params));
}

// Outputs

static int check_output(ln_op_arg *op_arg, const char *arg_name, int ndim, const int *dims,
                        tl_dtype dtype, ln_mem_type mtype)
{
    if (!tl_dtype_is_valid(dtype) || !ln_mem_type_is_valid(mtype))
        return ln_op_fail(op_arg,
                          "'%s' would have dtype %d and memory type %d, expected valid ones",
                          arg_name, (int)dtype, (int)mtype);
    if (dtype == TL_STRING && !(op_arg->info && op_arg->info->strings))
        return ln_op_fail(op_arg,
                          "'%s' would have type TL_STRING, which the operator does not "
                          "support",
                          arg_name);
    if (ndim < 0 || ndim > LN_MAXDIM)
        return ln_op_fail(op_arg, "'%s' would have %d dimensions, expected at most %d", arg_name,
                          ndim, LN_MAXDIM);
    char shape[LN_MAX_SHAPE];
    for (int i = 0; i < ndim; i++)
        if (dims[i] < 0)
            return ln_op_fail(op_arg, "'%s' would have shape %s, expected every dimension >= 0",
                              arg_name, ln_sprint_shape(shape, sizeof shape, ndim, dims));
    const int len = tl_compute_length(ndim, dims);
    if (len < 0)
        return ln_op_fail(op_arg, "'%s' would have shape %s, expected at most %d elements",
                          arg_name, ln_sprint_shape(shape, sizeof shape, ndim, dims), INT_MAX);
    const size_t max_size = ln_mem_type_info(mtype).max_size;
    size_t size;
    if (ln_size_mul((size_t)len, tl_size_of(dtype), &size) ||
        (mtype != LN_MEM_NONE && size > max_size))
        return ln_op_fail(
            op_arg, "'%s' would have shape %s and type %s, expected at most %zu bytes", arg_name,
            ln_sprint_shape(shape, sizeof shape, ndim, dims), tl_dtype_name(dtype), max_size);
    return 0;
}

// Whether the description declares the output as dynamic, > 0, or fixed, < 0; 0: neither.
static int declared_dynamic(const ln_op_arg *op_arg, const char *arg_name)
{
    const ln_arg_info *info = op_arg->info ? op_arg->info->tensors_out : NULL;
    for (; info; info = ln_arg_info_next(info)) {
        const struct spec spec = {.arg_name = info->arg_name, .variadic = info->variadic};
        if (is_declared_as(arg_name, &spec))
            return info->dynamic;
    }
    return 0;
}

static void copy_dims(int *to, const int *from, int ndim)
{
    for (int i = 0; i < ndim; i++)
        to[i] = from[i];
}

static void mark_dynamic(const ln_op_arg *op_arg, const char *arg_name, ln_tensor_entry *entry)
{
    const int declared = declared_dynamic(op_arg, arg_name);
    entry->isdynamic = declared ? declared > 0 : (op_arg->isdynamic & LN_DYNAMIC_IN) != 0;
    if (!entry->isdynamic)
        return;
    entry->capacity = tl_tensor_size(entry->tensor);
    copy_dims(entry->bound, entry->tensor->dims, entry->tensor->ndim);
}

// Returns new entry with a new tl_tensor, and this operator as its producer.
static ln_tensor_entry *create_output(ln_op_arg *op_arg, const char *arg_name, const char *name,
                                      int ndim, const int *dims, tl_dtype dtype, ln_mem_type mtype)
{
    tl_tensor *tensor = tl_tensor_create(NULL, ndim, dims, dtype);
    if (!tensor)
        return ln_op_fail_tl(op_arg), NULL;
    ln_tensor_entry *entry = ln_tensor_entry_create(name, tensor);
    if (!entry) {
        tl_tensor_free(tensor);
        return ln_op_fail_last(op_arg), NULL;
    }
    entry->mtype = mtype;
    mark_dynamic(op_arg, arg_name, entry);
    if (ln_tensor_entry_set_creater(entry, op_arg->name)) {
        ln_tensor_entry_free_tensor_too(entry);
        return ln_op_fail_last(op_arg), NULL;
    }
    return entry;
}

// A dynamic tensor keeps its memory, so its new shape must fit.
static int check_size(ln_op_arg *op_arg, const char *arg_name, const ln_tensor_entry *entry,
                      int ndim, const int *dims)
{
    const tl_tensor *tensor = entry->tensor;
    if (ndim != tensor->ndim)
        return ln_op_fail(op_arg, "'%s' would have %d dimensions at run time, expected %d",
                          arg_name, ndim, tensor->ndim);
    if (check_output(op_arg, arg_name, ndim, dims, tensor->dtype, entry->mtype))
        return -1;
    const size_t size = (size_t)tl_compute_length(ndim, dims) * tl_size_of(tensor->dtype);
    char is[LN_MAX_SHAPE];
    for (int i = 0; i < ndim; i++)
        if (!ln_sizes_is_open(entry, i) && tensor->dims[i] != dims[i])
            return ln_op_fail(
                op_arg, "'%s' would have shape %s at run time, expected length %d of axis %d",
                arg_name, ln_sprint_shape(is, sizeof is, ndim, dims), tensor->dims[i], i);
    if (size > ln_tensor_entry_capacity(entry))
        return ln_op_fail(op_arg,
                          "'%s' would have shape %s of %zu bytes at run time, expected at most the "
                          "%zu that are planned",
                          arg_name, ln_sprint_shape(is, sizeof is, ndim, dims), size,
                          ln_tensor_entry_capacity(entry));
    return 0;
}

static int resize(ln_op_arg *op_arg, const char *arg_name, ln_tensor_entry *entry, int ndim,
                  const int *dims)
{
    if (check_size(op_arg, arg_name, entry, ndim, dims))
        return -1;
    copy_dims(entry->tensor->dims, dims, ndim);
    entry->tensor->len = tl_compute_length(ndim, dims);
    return 0;
}

int ln_op_set_dims(ln_op_arg *op_arg, ln_tensor_entry *entry, int ndim, const int *dims)
{
    const ln_tensor_list_entry *tle = ln_tensor_list_find_by_name(op_arg->tensors_out, entry->name);
    return resize(op_arg, tle ? tle->arg_name : entry->name, entry, ndim, dims);
}

// Updates an existing output when shapes are inferred again.
static ln_tensor_entry *redefine_output(ln_op_arg *op_arg, const char *arg_name,
                                        ln_tensor_entry *entry, int ndim, const int *dims,
                                        tl_dtype dtype)
{
    if (entry->tensor->dtype != dtype) {
        ln_op_fail(op_arg, "'%s' would have type %s at run time, expected %s", arg_name,
                   tl_dtype_name(dtype), tl_dtype_name(entry->tensor->dtype));
        return NULL;
    }
    if (resize(op_arg, arg_name, entry, ndim, dims))
        return NULL;
    copy_dims(entry->bound, dims, ndim);
    return entry;
}

// Adds the entry to the table (takes it).
static int enter_output(ln_op_arg *op_arg, const ln_tensor_list_entry *tle, ln_tensor_entry *entry)
{
    const int added = ln_hash_add(op_arg->tensor_table, entry->name, entry);
    if (added < 0)
        return ln_op_fail_last(op_arg);
    if (!added)
        return ln_opck_defined(op_arg, ln_tensor_table_find(op_arg->tensor_table, tle->name),
                               tle->name, 0);
    if (tle->value)
        ln_dfg_value_tie(tle->value, entry, op_arg->tensor_table, NULL);
    return 0;
}

ln_tensor_entry *ln_op_define_listed(ln_op_arg *op_arg, const ln_tensor_list_entry *tle, int ndim,
                                     const int *dims, tl_dtype dtype, ln_mem_type mtype)
{
    const char *arg_name = tle->arg_name;
    // Repeated inference needs the entry that exists. A first definition in a context expects none:
    // ln_entry_of would search the table in vain, and enter_output() searches it anyway.
    ln_tensor_entry *before =
        tle->value && !op_arg->infers ? tle->value->entry : ln_entry_of(tle, op_arg->tensor_table);
    if (ln_opck_defined(op_arg, before, tle->name, op_arg->infers))
        return NULL;
    if (op_arg->infers)
        return redefine_output(op_arg, arg_name, before, ndim, dims, dtype);
    if (check_output(op_arg, arg_name, ndim, dims, dtype, mtype))
        return NULL;
    ln_tensor_entry *entry = create_output(op_arg, arg_name, tle->name, ndim, dims, dtype, mtype);
    if (entry && enter_output(op_arg, tle, entry)) {
        ln_tensor_entry_free_tensor_too(entry);
        return NULL;
    }
    return entry;
}

ln_tensor_entry *ln_op_define_output(ln_op_arg *op_arg, const char *arg_name, int ndim,
                                     const int *dims, tl_dtype dtype, ln_mem_type mtype)
{
    const ln_tensor_list_entry *tle =
        ln_tensor_list_find_by_arg_name(op_arg->tensors_out, arg_name);
    if (ln_opck_exist(op_arg, tle, "output", arg_name))
        return NULL;
    return ln_op_define_listed(op_arg, tle, ndim, dims, dtype, mtype);
}

ln_list *ln_op_params(const ln_op_arg *op_arg)
{
    return op_arg->planned ? op_arg->planned : op_arg->params;
}

void ln_op_undefine_outputs(ln_op_arg *op_arg)
{
    if (op_arg->infers)
        return;
    for (const ln_list *l = op_arg->tensors_out; l; l = l->next) {
        const ln_tensor_list_entry *tle = l->data;
        const ln_tensor_entry *entry = ln_entry_of(tle, op_arg->tensor_table);
        if (entry && ln_streq(entry->creater, op_arg->name))
            ln_tensor_table_remove(op_arg->tensor_table, tle->name);
    }
}
