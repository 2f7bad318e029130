// SPDX-License-Identifier: Apache-2.0
// Values of inputs.

#include "session/ln_value.h"

#include <limits.h>
#include <string.h>

#include "base/ln_fnv.h"
#include "base/ln_utf8.h"
#include "lightnet/ln_mem.h"
#include "tensorlight/tl_util.h"

// Keeps strings that the last run has read: its outputs may point to them.
static void retire_strings(ln_value *value)
{
    if (value->is_read)
        value->last_strings = value->strings;
    else
        tl_free(value->strings);
    value->strings = NULL;
    value->is_read = 0;
}

void ln_value_clear(ln_value *value)
{
    ln_mem_type_info(LN_MEM_CPU).free_func(value->own);
    retire_strings(value);
    *value = (ln_value){.last_strings = value->last_strings};
}

void ln_value_free(ln_value *value)
{
    ln_value_clear(value);
    tl_free(value->last_strings);
}

void ln_value_begin_run(ln_value *value)
{
    tl_free(value->last_strings);
    value->last_strings = NULL;
    value->is_read = value->strings != NULL;
}

int ln_value_is_like(const ln_value *value, const ln_value *other)
{
    if (!value->is_given || !other->is_given)
        return value->is_given == other->is_given;
    return value->ndim == other->ndim &&
           !memcmp(value->dims, other->dims, sizeof(int) * (size_t)value->ndim);
}

// Shapes

static int allows(const ln_port *port, tl_dtype dtype, int ndim, const int *dims)
{
    if (dtype != port->info.dtype || (port->info.ndim >= 0 && ndim != port->info.ndim))
        return 0;
    for (int i = 0; i < port->info.ndim; i++) {
        const int is_open = port->dims[i] < 0;
        if (is_open ? dims[i] < port->min[i] || dims[i] > port->max[i] : dims[i] != port->dims[i])
            return 0;
    }
    return 1;
}

static int check_call(const ln_port *port, tl_dtype dtype, int ndim, const int *dims, ln_error *err)
{
    if (!tl_dtype_is_valid(dtype))
        return ln_error_set_as(err, LN_BAD_ARGUMENT, "input '%s' is given as type %d, expected %s",
                               port->name, (int)dtype, ln_port_dtype_name(port));
    if (ndim < 0 || ndim > LN_MAXDIM)
        return ln_error_set_as(err, LN_BAD_ARGUMENT,
                               "input '%s' is given with %d dimensions, expected 0 to %d",
                               port->name, ndim, LN_MAXDIM);
    if (ndim && !dims)
        return ln_error_set_as(err, LN_BAD_ARGUMENT,
                               "input '%s' is given with %d dimensions, and dims is NULL",
                               port->name, ndim);
    for (int i = 0; i < ndim; i++)
        if (dims[i] < 0)
            return ln_error_set_as(err, LN_BAD_ARGUMENT,
                                   "input '%s' is given with size %d of axis %d, expected 0 or "
                                   "more",
                                   port->name, dims[i], i);
    return 0;
}

// Sets *size to the bytes; -1: too many elements.
static int count_bytes(tl_dtype dtype, int ndim, const int *dims, size_t *size)
{
    size_t len = 1;
    for (int i = 0; i < ndim; i++)
        if (ln_size_mul(len, (size_t)dims[i], &len))
            return -1;
    return -(len > INT_MAX || ln_size_mul(len, tl_size_of(dtype), size));
}

int ln_value_set_shape(ln_value *value, const ln_port *port, tl_dtype dtype, int ndim,
                       const int *dims, ln_error *err)
{
    size_t size;
    char given[LN_MAX_SHAPE], expected[LN_MAXLINE];
    if (check_call(port, dtype, ndim, dims, err))
        return -1;
    if (!allows(port, dtype, ndim, dims))
        return ln_error_set_as(
            err, LN_BAD_ARGUMENT, "input '%s' is given as %s %s, expected %s %s", port->name,
            tl_dtype_name(dtype), ln_sprint_shape(given, sizeof(given), ndim, dims),
            ln_port_dtype_name(port), ln_port_sprint(port, expected, sizeof(expected)));
    if (count_bytes(dtype, ndim, dims, &size))
        return ln_error_set_as(err, LN_BAD_ARGUMENT,
                               "input '%s' is given with more than %d elements", port->name,
                               INT_MAX);
    value->is_given = 1;
    value->ndim = ndim;
    if (ndim)
        memcpy(value->dims, dims, sizeof(int) * (size_t)ndim);
    value->size = size;
    value->data = NULL;
    return 0;
}

// Data

int ln_value_copy(ln_value *value, const void *data)
{
    if (!value->own || value->room < value->size) {
        const ln_mem_info cpu = ln_mem_type_info(LN_MEM_CPU);
        void *own = cpu.alloc_func(value->size);
        if (!own)
            return -1;
        cpu.free_func(value->own);
        value->own = own;
        value->room = value->size;
    }
    if (value->size)
        memcpy(value->own, data, value->size);
    value->data = value->own;
    return 0;
}

int ln_value_check_strings(const ln_value *value, const ln_port *port, const tl_string *const *data,
                           ln_error *err)
{
    const size_t len = value->size / sizeof(*data);
    for (size_t i = 0; i < len; i++) {
        const size_t size = tl_string_size(data[i]);
        const size_t valid = ln_utf8_prefix(tl_string_bytes(data[i]), size);
        if (valid < size)
            return ln_error_set_as(
                err, LN_BAD_ARGUMENT, "input '%s': string %zu is not UTF-8: byte %zu is %d",
                port->name, i, valid, (unsigned char)tl_string_bytes(data[i])[valid]);
    }
    return 0;
}

int ln_value_copy_strings(ln_value *value, const ln_port *port, const tl_string *const *data,
                          ln_error *err)
{
    if (ln_value_check_strings(value, port, data, err))
        return -1;
    void *const block = tl_strings_clone(data, value->size / sizeof(*data));
    if (!block)
        return ln_error_set_as(err, LN_OUT_OF_MEMORY, "input '%s': %s", port->name,
                               tl_last_error());
    retire_strings(value);
    value->data = value->strings = block;
    return 0;
}

uint64_t ln_value_hash(const ln_value *value)
{
    return ln_fnv64(value->data, value->size);
}
