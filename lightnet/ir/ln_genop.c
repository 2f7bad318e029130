// SPDX-License-Identifier: Apache-2.0
// Prototypes, names of parameters, and variadic tensors, for generated operators.

#define LN_GENOP_OWN
#include "lightnet/ln_genop.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_name.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_size_eval.h"

// Prototypes

void ln_genop_fill_own(const ln_genop *row)
{
    ln_genop_fill(row);
}

// Names

int ln_op_fail_name(ln_op_arg *op_arg, const char *arg_name, const char *value,
                    const char *(*name_at)(int i))
{
    char names[LN_MAXLINE] = "";
    const char *name;
    for (int i = 0; name_at && (name = name_at(i)) != NULL; i++) {
        const size_t len = strlen(names);
        snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "", name);
    }
    return ln_op_fail(op_arg, "parameter '%s' is \"%s\", %s%s", arg_name, value ? value : "",
                      *names ? "expected one of " : "which is not one of its values", names);
}

// Variadic tensors

static int is_variadic(const ln_tensor_list_entry *item, const char *arg_name)
{
    return ln_name_number(item->arg_name, arg_name) >= 0;
}

// The first variadic tensor from `*at` on; advances `*at` past it. NULL: none.
static const ln_tensor_list_entry *next_variadic(const ln_list **at, const char *arg_name)
{
    while (*at) {
        const ln_tensor_list_entry *item = (*at)->data;
        *at = (*at)->next;
        if (is_variadic(item, arg_name))
            return item;
    }
    return NULL;
}

// Counts the variadic tensors of a list and allocates room for them.
static int alloc_arrays(ln_op_arg *op_arg, const ln_list *list, const char *arg_name,
                        ln_tensor_entry ***entries, void **tensors)
{
    int n = 0;
    LN_FOREACH (ln_tensor_list_entry *, item, list)
        n += is_variadic(item, arg_name);
    *entries = ln_alloc_array((size_t)n, sizeof(**entries));
    *tensors = ln_alloc_array((size_t)n, sizeof(tl_tensor *));
    return *entries && *tensors ? n : ln_op_fail_last(op_arg);
}

int ln_op_find_variadic(ln_op_arg *op_arg, const char *arg_name, ln_tensor_entry ***entries,
                        const tl_tensor ***tensors)
{
    void *array;
    int i = 0;
    const int n = alloc_arrays(op_arg, op_arg->tensors_in, arg_name, entries, &array);
    *tensors = array;
    if (n < 0)
        return -1;
    LN_FOREACH (ln_tensor_list_entry *, item, op_arg->tensors_in) {
        if (!is_variadic(item, arg_name))
            continue;
        (*entries)[i] = ln_entry_of(item, op_arg->tensor_table);
        if (ln_opck_defined(op_arg, (*entries)[i], item->name, 1))
            return -1;
        (*tensors)[i] = (*entries)[i]->tensor;
        i++;
    }
    return n;
}

int ln_op_alloc_variadic(ln_op_arg *op_arg, const char *arg_name, ln_tensor_entry ***entries,
                         tl_tensor ***tensors)
{
    void *array;
    const int n = alloc_arrays(op_arg, op_arg->tensors_out, arg_name, entries, &array);
    *tensors = array;
    return n;
}

ln_tensor_entry *ln_op_define_variadic(ln_op_arg *op_arg, const ln_list **at, const char *arg_name,
                                       int ndim, const int *dims, tl_dtype dtype, ln_mem_type mtype)
{
    const ln_tensor_list_entry *item = next_variadic(at, arg_name);
    if (ln_opck_exist(op_arg, item, "output", arg_name))
        return NULL;
    return ln_op_define_listed(op_arg, item, ndim, dims, dtype, mtype);
}

// Outputs with the lengths of descriptions

static int check_length(ln_op_arg *op_arg, const char *arg_name, int i, const ln_dim *axis)
{
    if (!ln_dim_is_constant(axis))
        return ln_op_fail(op_arg, "the length of axis %d of '%s' cannot be inferred from inputs", i,
                          arg_name);
    if (axis->constant < 0 || axis->constant > INT_MAX)
        return ln_op_fail(op_arg, "axis %d of '%s' would have length %lld, expected 0 to %d", i,
                          arg_name, (long long)axis->constant, INT_MAX);
    return 0;
}

// Returns the number of dimensions; -1 after ln_op_fail. A length without expression is that of
// `kernel_dims` (negative: none).
static int infer_dims(ln_op_arg *op_arg, const char *arg_name, int index, const int *kernel_dims,
                      int dims[LN_MAXDIM])
{
    ln_dim axes[LN_MAXDIM];
    const int ndim = ln_size_axes(op_arg, arg_name, index, &(ln_size_source){0}, axes);
    if (ndim < 0)
        return ln_op_fail(op_arg, "the shape of '%s' cannot be inferred from inputs", arg_name);
    if (ndim > LN_MAXDIM)
        return ln_op_fail(op_arg, "'%s' would have %d dimensions, expected at most %d", arg_name,
                          ndim, LN_MAXDIM);
    for (int i = 0; i < ndim; i++) {
        const int by_kernel = kernel_dims ? kernel_dims[i] : -1;
        if (!ln_dim_is_known(&axes[i]) && by_kernel >= 0)
            axes[i] = ln_dim_constant(by_kernel);
        if (check_length(op_arg, arg_name, i, &axes[i]))
            return -1;
        dims[i] = (int)axes[i].constant;
        if (by_kernel >= 0 && dims[i] != by_kernel)
            return ln_op_fail(op_arg,
                              "axis %d of '%s' has length %d by the description, %d by the kernel",
                              i, arg_name, dims[i], by_kernel);
    }
    return ndim;
}

ln_tensor_entry *ln_op_define_sized(ln_op_arg *op_arg, const char *arg_name, tl_dtype dtype,
                                    ln_mem_type mtype, const int *kernel_dims)
{
    int dims[LN_MAXDIM];
    const int ndim = infer_dims(op_arg, arg_name, 0, kernel_dims, dims);
    return ndim < 0 ? NULL : ln_op_define_output(op_arg, arg_name, ndim, dims, dtype, mtype);
}

ln_tensor_entry *ln_op_define_variadic_sized(ln_op_arg *op_arg, const ln_list **at,
                                             const char *arg_name, int index, tl_dtype dtype,
                                             ln_mem_type mtype, const int *kernel_dims)
{
    int dims[LN_MAXDIM];
    const ln_tensor_list_entry *item = next_variadic(at, arg_name);
    if (ln_opck_exist(op_arg, item, "output", arg_name))
        return NULL;
    const int ndim = infer_dims(op_arg, item->arg_name, index, kernel_dims, dims);
    return ndim < 0 ? NULL : ln_op_define_listed(op_arg, item, ndim, dims, dtype, mtype);
}

// Inputs that become parts of an output

// Makes entry `k` a part of the output `dst_name`, unless it has an owner already.
static int take(ln_op_arg *op_arg, ln_tensor_entry *const *entries, int k, const char *dst_name)
{
    ln_tensor_entry *const te = entries[k];
    for (int i = 0; te->owner && i < k; i++)
        if (entries[i] == te)
            return ln_op_fail(op_arg, "tensor '%s' is an input twice, expected different tensors",
                              te->name);
    if (te->isstatic)
        return ln_op_fail(
            op_arg, "tensor '%s' is static, expected one whose memory can be part of another's",
            te->name);
    if (te->owner)
        return ln_op_fail(op_arg,
                          "tensor '%s' shares the memory of '%s', expected one with its own",
                          te->name, te->owner);
    return ln_tensor_entry_set_owner(te, op_arg->tensor_table, dst_name) ? ln_op_fail_last(op_arg)
                                                                         : 0;
}

int ln_op_take_inputs(ln_op_arg *op_arg, ln_tensor_entry *const *entries, int n,
                      const char *dst_name)
{
    size_t offset = 0;
    for (int k = 0; k < n; k++) {
        if (take(op_arg, entries, k, dst_name))
            return k;
        entries[k]->part_offset = offset;
        offset += tl_tensor_size(entries[k]->tensor);
    }
    return n;
}

void ln_op_give_inputs_back(const ln_op_arg *op_arg, const char *arg_name, int n)
{
    const ln_list *at = op_arg->tensors_in;
    for (int k = 0; k < n; k++) {
        const ln_tensor_list_entry *item = next_variadic(&at, arg_name);
        ln_tensor_entry *given = item ? ln_entry_of(item, op_arg->tensor_table) : NULL;
        // A tensor that was created again since it was taken is not part of an output.
        if (given && given->owner && ln_tensor_list_find_by_name(op_arg->tensors_out, given->owner))
            ln_tensor_entry_set_owner(given, op_arg->tensor_table, NULL);
    }
}

size_t ln_op_taken_offset(const ln_tensor_entry *te, size_t offset)
{
    return offset + te->part_offset;
}
