// SPDX-License-Identifier: Apache-2.0
// What a model's file says of its inputs and outputs, before sizes are bound.

#include "front/ln_interface.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- ports ---- */

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
        port->least[i] = 0;
        port->most[i] = INT_MAX;
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
    if (port->most[i] == INT_MAX)
        return snprintf(buf, size, "%.64s", name);
    return snprintf(buf, size, "%.64s of %d..%d", name, port->least[i], port->most[i]);
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

/* ---- interfaces ---- */

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

// Room for one more of `size` bytes behind the `n` that are there; room is a power of two. NULL: no
// memory, `items` is as before.
static void *grow(void *items, size_t n, size_t size)
{
    return n & (n - 1) ? items : ln_realloc(items, (n ? 2 * n : 1) * size);
}

ln_port *ln_interface_add(ln_interface *interface, ln_port_kind kind, const char *name,
                          tl_dtype dtype, int ndim)
{
    const int is_output = kind == LN_PORT_OUTPUT;
    ln_port ***ports = is_output ? &interface->outputs : &interface->inputs;
    size_t *n = is_output ? &interface->n_outputs : &interface->n_inputs;
    ln_port **grown = grow(*ports, *n, sizeof(**ports));
    if (!grown)
        return NULL;
    *ports = grown;
    ln_port *port = create_port(kind, name, dtype, ndim);
    if (port)
        grown[(*n)++] = port;
    return port;
}

int ln_interface_add_metadata(ln_interface *interface, const char *key, const char *value)
{
    if (!value)
        return 0;
    ln_metadata *grown = grow(interface->metadata, interface->n_metadata, sizeof(*grown));
    if (!grown)
        return -1;
    interface->metadata = grown;
    const ln_metadata made = {ln_strdup(key), ln_strdup(value)};
    if (made.key && made.value) {
        grown[interface->n_metadata++] = made;
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
