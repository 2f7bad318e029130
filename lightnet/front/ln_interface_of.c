// SPDX-License-Identifier: Apache-2.0
// The interface of a context: what its inputs and outputs are, with the sizes that are open.

#include "front/ln_interface_of.h"

#include <stdio.h>
#include <string.h>

#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_tensor.h"

/* Names of sizes -> the inputs that have them. */
typedef struct describing {
    const ln_context *ctx;
    ln_interface *interface;
    ln_hash *inputs; /* name of a size -> the first input (ln_port) that has it */
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

static void bound(ln_port *port, int axis, int least, int most)
{
    if (least == most) {
        port->dims[axis] = most;
        return;
    }
    port->least[axis] = least;
    port->most[axis] = most;
}

static int note_input(const describing *d, ln_port *port)
{
    for (int i = 0; i < port->info.ndim; i++)
        if (port->dim_names[i] && !ln_hash_find(d->inputs, port->dim_names[i]) &&
            ln_hash_insert(d->inputs, port->dim_names[i], port) < 0)
            return -1;
    return 0;
}

static int add_input(const describing *d, const char *name)
{
    const ln_tensor_entry *te = entry_of(d->ctx, name);
    const ln_op *maker = ln_entry_creater(te);
    const int *least = maker ? ln_placeholder_least(maker) : NULL;
    const int *most = least ? ln_placeholder_most(maker) : te->tensor->dims;
    ln_port *port =
        ln_interface_add(d->interface, LN_PORT_INPUT, name, te->tensor->dtype, te->tensor->ndim);
    if (!port || set_names(d, port))
        return -1;
    for (int i = 0; i < te->tensor->ndim; i++)
        bound(port, i, least ? least[i] : most[i], most[i]);
    return note_input(d, port);
}

// A size of an output is what inputs have by its name.
static void take_size(const describing *d, ln_port *port, int axis, int dim)
{
    const char *name = port->dim_names[axis];
    const ln_port *input = name ? ln_hash_find(d->inputs, name) : NULL;
    for (int i = 0; input && i < input->info.ndim; i++) {
        if (!input->dim_names[i] || strcmp(input->dim_names[i], name) != 0)
            continue;
        if (input->dims[i] < 0)
            bound(port, axis, input->least[i], input->most[i]);
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
            take_size(d, port, i, te->tensor->dims[i]);
    }
    return 0;
}

static int add_all(const describing *d)
{
    const char *name;
    LN_LIST_FOREACH(name, d->ctx->inputs)
    {
        if (add_input(d, name))
            return -1;
    }
    LN_LIST_FOREACH(name, d->ctx->outputs)
    {
        if (add_output(d, name))
            return -1;
    }
    return 0;
}

int ln_interface_fill(ln_interface *interface, const ln_context *ctx)
{
    const describing d = {ctx, interface, ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL)};
    const int status = d.inputs ? add_all(&d) : -1;
    ln_hash_free(d.inputs);
    return status ? ln_fail_memory(ctx) : 0;
}

/* ---- for readers ---- */

// Sizes that depend on data have a largest value only.
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

static void tell(const ln_context *ctx, ln_port *const *ports, size_t n, ln_port_func func,
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
        tell(ctx, interface->inputs, interface->n_inputs, inputs, data);
    if (!status && outputs)
        tell(ctx, interface->outputs, interface->n_outputs, outputs, data);
    ln_interface_free(interface);
    return status;
}
