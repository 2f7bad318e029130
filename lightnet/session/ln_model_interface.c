// SPDX-License-Identifier: Apache-2.0
// The interface of a model: its source, sizes that options bind, and the functions for
// callers.

#include "session/ln_model.h"

#include <stdio.h>

#include "front/ln_interface.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_fixed.h"
#include "lightnet/ln_tensor.h"
#include "session/ln_pool.h"

// The metadata "format" of models without a front end.
static const char ir_format[] = "JSON IR";

// The interface of a context, for formats that do not describe their models

static int copy_values(ln_model *model, const ln_context *ctx, int is_output)
{
    ln_value_walk walk = ln_context_walk_values(ctx, is_output);
    ln_value_info info;
    int n = 0;
    if (!ln_fixed_has_values(ctx->fixed, is_output))
        return 0;
    while (!ln_value_walk_next(&walk, &info))
        n++;
    walk = ln_context_walk_values(ctx, is_output);
    ln_value_info *values = ln_alloc_array((size_t)n + 1, sizeof(*values));
    model->values[is_output] = values;
    for (int k = 0; values && !ln_value_walk_next(&walk, &values[k]); k++) {
        values[k].name = ln_strdup(values[k].name);
        model->n_values[is_output]++;
        if (!values[k].name)
            return ln_fail_memory(ctx);
    }
    return values ? 0 : ln_fail_memory(ctx);
}

// Formats that ask for shapes bind the sizes of options while they are read.
int ln_model_describe(ln_model *model, const ln_context *ctx)
{
    if (ln_interface_fill(model->interface, ctx) || copy_values(model, ctx, 0) ||
        copy_values(model, ctx, 1))
        return -1;
    return ln_model_asks_shapes(model) ? 0 : ln_model_narrow(model, ctx);
}

int ln_model_add_outputs(const ln_model *model, const ln_context *ctx)
{
    LN_FOREACH (const char *, name, model->options->outputs) {
        if (model->front->is_compiled)
            return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                              "%s: the model is compiled already: '%s' cannot become an output",
                              model->name, name);
        if (!ln_interface_output(model->interface, name) &&
            !ln_interface_add(model->interface, LN_PORT_OUTPUT, name, TL_DTYPE_INVALID,
                              LN_PORT_OPEN))
            return ln_fail_memory(ctx);
    }
    return 0;
}

// Completes outputs of the file by inferred ones.
void ln_model_complete(const ln_model *model, const ln_context *ctx)
{
    const ln_interface *interface = model->interface;
    const ln_list *node = ctx->outputs;
    for (size_t i = 0; i < interface->n_outputs; i++, node = node->next) {
        ln_port *port = interface->outputs[i];
        const ln_tensor_entry *te = ln_tensor_table_find(ctx->tensor_table, node->data);
        port->info.dtype = te->tensor->dtype;
        if (port->info.ndim != te->tensor->ndim)
            ln_port_set_ndim(port, te->tensor->ndim);
        for (int k = 0; k < te->tensor->ndim && !te->isdynamic; k++)
            if (port->dims[k] < 0)
                port->dims[k] = te->tensor->dims[k];
    }
}

// Sizes that options bind

static int max_of(int a, int b)
{
    return a > b ? a : b;
}

static int min_of(int a, int b)
{
    return a < b ? a : b;
}

// Narrows the axis to [min, max]. -1: no size is left.
static int narrow(ln_port *port, int axis, int min, int max)
{
    int *dim = &port->dims[axis];
    const int is_open = *dim < 0;
    const int low = max_of(min, is_open ? port->min[axis] : *dim);
    const int high = min_of(max, is_open ? port->max[axis] : *dim);
    if (low > high)
        return -1;
    if (!is_open)
        return 0;
    port->min[axis] = low;
    port->max[axis] = high;
    if (low == high)
        *dim = low;
    return 0;
}

static const char *sprint_ranges(const ln_shape_option *shape, char text[LN_MAXLINE])
{
    size_t len = 0;
    *text = '\0';
    for (int i = 0; i < shape->ndim; i++) {
        len += (size_t)snprintf(text + len, LN_MAXLINE - len, "%s%d", i ? ", " : "", shape->min[i]);
        if (shape->min[i] < shape->max[i])
            len += (size_t)snprintf(text + len, LN_MAXLINE - len, "..%d", shape->max[i]);
    }
    return text;
}

static int fail_bound(const ln_context *ctx, const ln_port *port, const ln_shape_option *shape)
{
    char expected[LN_MAXLINE], given[LN_MAXLINE];
    const char *port_text = ln_port_sprint(port, expected, sizeof(expected));
    sprint_ranges(shape, given);
    if (!ln_streq(port->name, shape->name))
        return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                          "option 'shape' sets size '%s' to %s, expected input '%s' to be %s",
                          shape->name, given, port->name, port_text);
    return ln_fail_as(ctx, LN_BAD_ARGUMENT, "option 'shape' sets input '%s' to [%s], expected %s",
                      port->name, given, port_text);
}

// Narrows all axes of that name. Returns their number; -1: no size is left for one.
static int narrow_axes(ln_port *port, const char *name, int min, int max)
{
    int n = 0;
    for (int k = 0; k < port->info.ndim; k++) {
        if (!ln_streq(port->dim_names[k], name))
            continue;
        if (narrow(port, k, min, max))
            return -1;
        n++;
    }
    return n;
}

// Returns the number of axes of that name; -1 with a reason. Ignores outputs that disagree.
static int narrow_name(const ln_context *ctx, const ln_interface *interface, const char *name,
                       const ln_shape_option *shape, int axis)
{
    int n = 0;
    for (size_t i = 0; i < interface->n_inputs; i++) {
        const int more =
            narrow_axes(interface->inputs[i], name, shape->min[axis], shape->max[axis]);
        if (more < 0)
            return fail_bound(ctx, interface->inputs[i], shape);
        n += more;
    }
    for (size_t i = 0; i < interface->n_outputs; i++)
        n += narrow_axes(interface->outputs[i], name, shape->min[axis], shape->max[axis]) > 0;
    return n;
}

static int narrow_port(const ln_context *ctx, const ln_interface *interface, ln_port *port,
                       const ln_shape_option *shape)
{
    if (port->info.ndim < 0)
        ln_port_set_ndim(port, shape->ndim);
    if (port->info.ndim != shape->ndim)
        return fail_bound(ctx, port, shape);
    for (int i = 0; i < shape->ndim; i++) {
        const char *name = port->dim_names[i];
        if (narrow(port, i, shape->min[i], shape->max[i]))
            return fail_bound(ctx, port, shape);
        if (name && narrow_name(ctx, interface, name, shape, i) < 0)
            return -1;
    }
    return 0;
}

static int narrow_by(const ln_context *ctx, const ln_interface *interface,
                     const ln_shape_option *shape)
{
    ln_port *port = ln_interface_input(interface, shape->name);
    if (port)
        return narrow_port(ctx, interface, port, shape);
    const int n = shape->ndim == 1 ? narrow_name(ctx, interface, shape->name, shape, 0) : 0;
    if (n)
        return n < 0 ? -1 : 0;
    return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                      "option 'shape': the model has no input and no open size '%s'", shape->name);
}

int ln_model_narrow(const ln_model *model, const ln_context *ctx)
{
    LN_FOREACH (const ln_shape_option *, shape, model->options->shapes)
        if (narrow_by(ctx, model->interface, shape))
            return -1;
    return 0;
}

// Names of open sizes

static int number_symbols(ln_model *model, ln_hash *symbols, ln_port *port)
{
    for (int i = 0; i < port->info.ndim; i++) {
        if (port->dims[i] >= 0 || !port->dim_names[i])
            continue;
        size_t number = (size_t)ln_hash_find(symbols, port->dim_names[i]);
        if (!number) {
            number = (size_t)++model->n_symbols;
            if (ln_hash_insert(symbols, port->dim_names[i], (void *)number) < 0)
                return -1;
        }
        port->symbols[i] = (int)number;
    }
    return 0;
}

static int number_all_symbols(ln_model *model)
{
    ln_hash *symbols = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    int status = symbols ? 0 : -1;
    for (size_t i = 0; !status && i < model->interface->n_inputs; i++)
        status = number_symbols(model, symbols, model->interface->inputs[i]);
    ln_hash_free(symbols);
    return status;
}

static int list_required(ln_model *model)
{
    const ln_interface *interface = model->interface;
    model->required = ln_alloc_array(interface->n_inputs, sizeof(const ln_port *));
    model->required_numbers =
        ln_alloc_array(interface->n_inputs + 1, sizeof(*model->required_numbers));
    model->changes = ln_alloc_array(interface->n_inputs + 1, sizeof(*model->changes));
    model->is_shape_input = ln_alloc_array(interface->n_inputs + 1, sizeof(*model->is_shape_input));
    if (!model->required || !model->required_numbers || !model->changes || !model->is_shape_input)
        return -1;
    for (size_t i = 0; i < interface->n_inputs; i++) {
        const int is_required = interface->inputs[i]->kind == LN_PORT_INPUT;
        model->required_numbers[i] = is_required ? model->n_required : -1;
        if (is_required)
            model->required[model->n_required++] = interface->inputs[i];
    }
    return 0;
}

// name -> index + 1, of the first port of that name.
static ln_hash *index_ports(ln_port *const *ports, size_t n)
{
    ln_hash *numbers = ln_hash_create(ln_str_hash, ln_str_cmp, NULL, NULL);
    for (size_t i = n; numbers && i > 0; i--)
        if (ln_hash_insert(numbers, ports[i - 1]->name, (void *)i) < 0) {
            ln_hash_free(numbers);
            numbers = NULL;
        }
    return numbers;
}

static int index_all_ports(ln_model *model)
{
    const ln_interface *interface = model->interface;
    model->input_numbers = index_ports(interface->inputs, interface->n_inputs);
    model->output_numbers = index_ports(interface->outputs, interface->n_outputs);
    return model->input_numbers && model->output_numbers ? 0 : -1;
}

// Sets the number of elements of each port; -1: a size is open.
static void count_elements(ln_port *const *ports, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        tl_tensor *const info = &ports[i]->info;
        int is_open = info->ndim < 0;
        for (int k = 0; k < info->ndim; k++)
            is_open |= info->dims[k] < 0;
        info->len = is_open ? -1 : tl_compute_length(info->ndim, info->dims);
    }
}

int ln_model_index(ln_model *model, const ln_context *ctx)
{
    count_elements(model->interface->inputs, model->interface->n_inputs);
    count_elements(model->interface->outputs, model->interface->n_outputs);
    return list_required(model) || index_all_ports(model) || number_all_symbols(model) ||
                   ln_interface_add_metadata(model->interface, "format",
                                             model->front ? model->front->format : ir_format) ||
                   ln_interface_add_metadata(model->interface, "target", ctx->target)
               ? ln_fail_memory(ctx)
               : 0;
}

// Names

// -1 with a reason that lists `ports`.
static int fail_name(const ln_port *const *ports, size_t n, const char *what, const char *name,
                     ln_error *err)
{
    char known[LN_MAXLINE] = "none";
    size_t len = 0;
    for (size_t i = 0; i < n && len < sizeof(known); i++)
        len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "",
                                ports[i]->name);
    return ln_error_set_as(err, LN_NOT_FOUND, "the model has no %s '%s'; it has: %s", what, name,
                           known);
}

int ln_model_find_input(const ln_model *model, const char *name, ln_error *err)
{
    const size_t number = (size_t)ln_hash_find(model->input_numbers, name);
    return number ? (int)(number - 1)
                  : fail_name(model->required, (size_t)model->n_required, "input", name, err);
}

int ln_model_find_output(const ln_model *model, const char *name, ln_error *err)
{
    const ln_interface *const interface = model->interface;
    const size_t number = (size_t)ln_hash_find(model->output_numbers, name);
    return number ? (int)(number - 1)
                  : fail_name((const ln_port *const *)interface->outputs, interface->n_outputs,
                              "output", name, err);
}

// Queries

int ln_model_input_index(const ln_model *model, const char *name)
{
    const int i = model && name ? ln_model_find_input(model, name, NULL) : -1;
    return i < 0 ? -1 : model->required_numbers[i];
}

int ln_model_output_index(const ln_model *model, const char *name)
{
    return model && name ? ln_model_find_output(model, name, NULL) : -1;
}

static void *fail_index(const char *what, int i, int n)
{
    ln_error_set_as(NULL, LN_BAD_ARGUMENT, "the model has %d %ss, number %d is requested", n, what,
                    i);
    return NULL;
}

static const ln_port *input_at(const ln_model *model, int i)
{
    const int n = ln_model_num_inputs(model);
    return i >= 0 && i < n ? model->required[i] : fail_index("input", i, n);
}

static const ln_port *output_at(const ln_model *model, int i)
{
    const int n = ln_model_num_outputs(model);
    return i >= 0 && i < n ? model->interface->outputs[i] : fail_index("output", i, n);
}

static const char *dim_name(const ln_port *port, int axis)
{
    return port && axis >= 0 && axis < port->info.ndim && port->dims[axis] < 0
               ? port->dim_names[axis]
               : NULL;
}

int ln_model_num_programs(const ln_model *model)
{
    if (!model)
        return 0;
    ln_session_lock();
    const int n = model->n_programs;
    ln_session_unlock();
    return n;
}

int ln_model_num_inputs(const ln_model *model)
{
    return model ? model->n_required : 0;
}

int ln_model_num_outputs(const ln_model *model)
{
    return model ? (int)model->interface->n_outputs : 0;
}

const char *ln_model_input_name(const ln_model *model, int i)
{
    const ln_port *port = input_at(model, i);
    return port ? port->name : NULL;
}

const char *ln_model_output_name(const ln_model *model, int i)
{
    const ln_port *port = output_at(model, i);
    return port ? port->name : NULL;
}

const tl_tensor *ln_model_input_info(const ln_model *model, int i)
{
    const ln_port *port = input_at(model, i);
    return port ? &port->info : NULL;
}

const tl_tensor *ln_model_output_info(const ln_model *model, int i)
{
    const ln_port *port = output_at(model, i);
    return port ? &port->info : NULL;
}

const char *ln_model_input_dim_name(const ln_model *model, int i, int axis)
{
    return dim_name(input_at(model, i), axis);
}

const char *ln_model_output_dim_name(const ln_model *model, int i, int axis)
{
    return dim_name(output_at(model, i), axis);
}

// `port` may be NULL, after a failure.
static ln_status bounds_of(const ln_port *port, const char *what, int axis, int *min, int *max)
{
    if (!port)
        return LN_BAD_ARGUMENT;
    if (!min || !max) {
        ln_error_set_as(NULL, LN_BAD_ARGUMENT, "the pointer to a bound of %s '%s' is NULL", what,
                        port->name);
        return LN_BAD_ARGUMENT;
    }
    if (axis < 0 || axis >= port->info.ndim) {
        ln_error_set_as(NULL, LN_BAD_ARGUMENT, "%s '%s' has %d dimensions, axis %d is requested",
                        what, port->name, port->info.ndim < 0 ? 0 : port->info.ndim, axis);
        return LN_BAD_ARGUMENT;
    }
    const int is_open = port->dims[axis] < 0;
    *min = is_open ? port->min[axis] : port->dims[axis];
    *max = is_open ? port->max[axis] : port->dims[axis];
    return LN_OK;
}

ln_status ln_model_input_bounds(const ln_model *model, int i, int axis, int *min, int *max)
{
    return bounds_of(input_at(model, i), "input", axis, min, max);
}

ln_status ln_model_output_bounds(const ln_model *model, int i, int axis, int *min, int *max)
{
    return bounds_of(output_at(model, i), "output", axis, min, max);
}

static ln_status value_of(const ln_model *model, int k, int is_output, ln_value_info *info)
{
    const char *const what = is_output ? "output" : "input";
    if (!model || !info) {
        ln_error_set_as(NULL, LN_BAD_ARGUMENT, "the %s is NULL", model ? "info" : "model");
        return LN_BAD_ARGUMENT;
    }
    const ln_value_info *values = model->values[is_output];
    const int n_ports = is_output ? ln_model_num_outputs(model) : ln_model_num_inputs(model);
    const int n = values ? model->n_values[is_output] : n_ports;
    if (k < 0 || k >= n) {
        ln_error_set_as(NULL, LN_NOT_FOUND, "the file has %d %ss, number %d is requested", n, what,
                        k);
        return LN_NOT_FOUND;
    }
    *info = values ? values[k]
                   : (ln_value_info){is_output ? ln_model_output_name(model, k)
                                               : ln_model_input_name(model, k),
                                     LN_FORM_TENSOR, k, 1};
    return LN_OK;
}

ln_status ln_model_input_value(const ln_model *model, int k, ln_value_info *info)
{
    return value_of(model, k, 0, info);
}

ln_status ln_model_output_value(const ln_model *model, int k, ln_value_info *info)
{
    return value_of(model, k, 1, info);
}

const char *ln_model_metadata(const ln_model *model, const char *key)
{
    for (size_t i = 0; model && i < model->interface->n_metadata; i++)
        if (ln_streq(model->interface->metadata[i].key, key))
            return model->interface->metadata[i].value;
    return NULL;
}

const char *ln_model_metadata_key(const ln_model *model, int i)
{
    const size_t n = model ? model->interface->n_metadata : 0;
    return i >= 0 && (size_t)i < n ? model->interface->metadata[i].key : NULL;
}

// Also the lengths of sequences, which a front end that parses models cannot describe.
int ln_model_asks_shapes(const ln_model *model)
{
    const ln_front *front = model->front;
    return front && (front->asks_shapes ||
                     (model->parsed && !model->has_declared_interface && !front->is_compiled));
}

int ln_model_is_open(const ln_model *model)
{
    for (int i = 0; i < model->n_required; i++)
        if (!ln_port_is_closed(model->required[i]))
            return 1;
    return 0;
}
