// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a model file, before sizes are bound.

#include "front/ln_interface.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_array.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_tensor.h"

// Ports

static void free_port(ln_port *port)
{
    if (!port)
        return;
    for (int i = 0; i < LN_MAXDIM; i++)
        ln_free(port->dim_names[i]);
    ln_free(port->name);
    ln_free(port);
}

void ln_port_set_ndim(ln_port *port, int ndim)
{
    port->info.ndim = ndim;
    port->info.dims = ndim < 0 ? NULL : port->dims;
    for (int i = 0; i < LN_MAXDIM; i++) {
        port->dims[i] = i < ndim ? LN_PORT_OPEN : 0;
        port->min[i] = 0;
        port->max[i] = INT_MAX;
    }
}

int ln_port_set_dim(ln_port *port, int axis, int dim, const char *name)
{
    char *copy = name ? ln_strdup(name) : NULL;
    if (name && !copy)
        return -1;
    ln_free(port->dim_names[axis]);
    port->dim_names[axis] = copy;
    port->dims[axis] = dim;
    return 0;
}

int ln_port_is_closed(const ln_port *port)
{
    for (int i = 0; i < port->info.ndim; i++)
        if (port->dims[i] < 0)
            return 0;
    return port->info.ndim >= 0;
}

const char *ln_port_dtype_name(const ln_port *port)
{
    return tl_dtype_is_valid(port->info.dtype) ? tl_dtype_name(port->info.dtype)
                                               : "a type that LightNet lacks";
}

static int print_dim(const ln_port *port, int i, char *buf, size_t size)
{
    if (port->dims[i] >= 0)
        return snprintf(buf, size, "%d", port->dims[i]);
    const char *name = port->dim_names[i] ? port->dim_names[i] : "?";
    if (port->max[i] == INT_MAX)
        return snprintf(buf, size, "%.64s", name);
    return snprintf(buf, size, "%.64s of %d..%d", name, port->min[i], port->max[i]);
}

char *ln_port_sprint(const ln_port *port, char *buf, size_t size)
{
    size_t len = (size_t)snprintf(buf, size, port->info.ndim < 0 ? "of any shape" : "[");
    for (int i = 0; i < port->info.ndim && len < size; i++) {
        len += (size_t)snprintf(buf + len, size - len, "%s", i ? ", " : "");
        len += len < size ? (size_t)print_dim(port, i, buf + len, size - len) : 0;
    }
    if (port->info.ndim >= 0 && len < size)
        snprintf(buf + len, size - len, "]");
    return buf;
}

static ln_port *create_port(ln_port_kind kind, const char *name, tl_dtype dtype, int ndim)
{
    ln_port *port = ln_alloc(sizeof(*port));
    if (!port)
        return NULL;
    port->name = ln_strdup(name);
    if (!port->name) {
        free_port(port);
        return NULL;
    }
    port->kind = kind;
    port->info.dtype = dtype;
    ln_port_set_ndim(port, ndim);
    return port;
}

// Interfaces

ln_interface *ln_interface_create(void)
{
    return ln_alloc(sizeof(ln_interface));
}

static void free_ports(ln_port **ports, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free_port(ports[i]);
    ln_free(ports);
}

void ln_interface_free(ln_interface *interface)
{
    if (!interface)
        return;
    free_ports(interface->inputs, interface->n_inputs);
    free_ports(interface->outputs, interface->n_outputs);
    for (size_t i = 0; i < interface->n_metadata; i++) {
        ln_free(interface->metadata[i].key);
        ln_free(interface->metadata[i].value);
    }
    ln_free(interface->metadata);
    ln_free(interface);
}

ln_port *ln_interface_add(ln_interface *interface, ln_port_kind kind, const char *name,
                          tl_dtype dtype, int ndim)
{
    const int is_output = kind == LN_PORT_OUTPUT;
    ln_port ***ports = is_output ? &interface->outputs : &interface->inputs;
    size_t *n = is_output ? &interface->n_outputs : &interface->n_inputs;
    if (ln_array_grow(ports, *n, sizeof(**ports)))
        return NULL;
    ln_port *port = create_port(kind, name, dtype, ndim);
    if (port)
        (*ports)[(*n)++] = port;
    return port;
}

int ln_interface_add_metadata(ln_interface *interface, const char *key, const char *value)
{
    if (!value)
        return 0;
    if (ln_array_grow(&interface->metadata, interface->n_metadata, sizeof(*interface->metadata)))
        return -1;
    const ln_metadata made = {ln_strdup(key), ln_strdup(value)};
    if (made.key && made.value) {
        interface->metadata[interface->n_metadata++] = made;
        return 0;
    }
    ln_free(made.key);
    ln_free(made.value);
    return -1;
}

static ln_port *find(ln_port *const *ports, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (ln_streq(ports[i]->name, name))
            return ports[i];
    return NULL;
}

ln_port *ln_interface_input(const ln_interface *interface, const char *name)
{
    return find(interface->inputs, interface->n_inputs, name);
}

ln_port *ln_interface_output(const ln_interface *interface, const char *name)
{
    return find(interface->outputs, interface->n_outputs, name);
}

// Interface of a context

// A description under construction.
typedef struct describing {
    const ln_context *ctx;
    ln_interface *interface;
    ln_hash *inputs; // name of a size -> the first input (ln_port) that has it
} describing;

static const ln_tensor_entry *entry_of(const ln_context *ctx, const char *name)
{
    return ln_tensor_table_find(ctx->tensor_table, name);
}

static int set_names(const describing *d, ln_port *port)
{
    const ln_open_sizes *sizes =
        ln_fixed_sizes_of(d->ctx->fixed, port->name, entry_of(d->ctx, port->name)->tensor->ndim);
    for (int i = 0; sizes && i < port->info.ndim; i++)
        if (sizes->names[i] && *sizes->names[i] &&
            ln_port_set_dim(port, i, port->dims[i], sizes->names[i]))
            return -1;
    return 0;
}

static void set_bounds(ln_port *port, int axis, int min, int max)
{
    if (min == max) {
        port->dims[axis] = max;
        return;
    }
    port->min[axis] = min;
    port->max[axis] = max;
}

static int add_input(const describing *d, const char *name)
{
    const ln_tensor_entry *te = entry_of(d->ctx, name);
    const ln_op *producer = ln_entry_creater(te);
    const int *min = producer ? ln_placeholder_min(producer) : NULL;
    const int *max = min ? ln_placeholder_max(producer) : te->tensor->dims;
    ln_port *port =
        ln_interface_add(d->interface, LN_PORT_INPUT, name, te->tensor->dtype, te->tensor->ndim);
    if (!port || set_names(d, port))
        return -1;
    for (int i = 0; i < te->tensor->ndim; i++) {
        const char *dim = port->dim_names[i];
        set_bounds(port, i, min ? min[i] : max[i], max[i]);
        if (dim && !ln_hash_find(d->inputs, dim) && ln_hash_insert(d->inputs, dim, port) < 0)
            return -1;
    }
    return 0;
}

// Sets an output's named size from the input of that name.
static void copy_size(const describing *d, ln_port *port, int axis, int dim)
{
    const char *name = port->dim_names[axis];
    const ln_port *input = name ? ln_hash_find(d->inputs, name) : NULL;
    for (int i = 0; input && i < input->info.ndim; i++) {
        if (!input->dim_names[i] || strcmp(input->dim_names[i], name) != 0)
            continue;
        if (input->dims[i] < 0)
            set_bounds(port, axis, input->min[i], input->max[i]);
        else
            port->dims[axis] = dim;
        return;
    }
}

static int add_output(const describing *d, const char *name)
{
    const ln_tensor_entry *te = entry_of(d->ctx, name);
    const ln_open_sizes *sizes = ln_fixed_sizes_of(d->ctx->fixed, name, te->tensor->ndim);
    ln_port *port =
        ln_interface_add(d->interface, LN_PORT_OUTPUT, name, te->tensor->dtype, te->tensor->ndim);
    if (!port || set_names(d, port))
        return -1;
    for (int i = 0; i < te->tensor->ndim; i++) {
        if (!te->isdynamic || (sizes && !sizes->names[i]))
            port->dims[i] = te->tensor->dims[i];
        else
            copy_size(d, port, i, te->tensor->dims[i]);
    }
    return 0;
}

static int add_all(const describing *d)
{
    LN_FOREACH (const char *, name, d->ctx->inputs)
        if (add_input(d, name))
            return -1;
    LN_FOREACH (const char *, name, d->ctx->outputs)
        if (add_output(d, name))
            return -1;
    return 0;
}

int ln_interface_fill(ln_interface *interface, const ln_context *ctx)
{
    const describing d = {ctx, interface, ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL)};
    const int status = d.inputs ? add_all(&d) : -1;
    ln_hash_free(d.inputs);
    return status ? ln_fail_memory(ctx) : 0;
}

// For readers

// Sizes that depend on data have only a max.
static const char *print_shape(const ln_context *ctx, const ln_port *port, char text[LN_MAXLINE])
{
    char shape[LN_MAX_SHAPE];
    const ln_tensor_entry *te = entry_of(ctx, port->name);
    if (port->kind != LN_PORT_OUTPUT || !te->isdynamic ||
        ln_fixed_sizes_of(ctx->fixed, port->name, te->tensor->ndim))
        return ln_port_sprint(port, text, LN_MAXLINE);
    snprintf(text, LN_MAXLINE, "%s at most",
             ln_sprint_shape(shape, sizeof(shape), te->tensor->ndim, te->tensor->dims));
    return text;
}

static void report_ports(const ln_context *ctx, ln_port *const *ports, size_t n, ln_port_func func,
                         void *data)
{
    char text[LN_MAXLINE];
    for (size_t i = 0; i < n; i++)
        func(data, ports[i]->name, &ports[i]->info, print_shape(ctx, ports[i], text));
}

int ln_context_describe(const ln_context *ctx, ln_port_func inputs, ln_port_func outputs,
                        void *data)
{
    ln_interface *interface = ln_interface_create();
    const int status = interface ? ln_interface_fill(interface, ctx) : ln_fail_memory(ctx);
    if (!status && inputs)
        report_ports(ctx, interface->inputs, interface->n_inputs, inputs, data);
    if (!status && outputs)
        report_ports(ctx, interface->outputs, interface->n_outputs, outputs, data);
    ln_interface_free(interface);
    return status;
}
