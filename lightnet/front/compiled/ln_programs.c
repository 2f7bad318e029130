// SPDX-License-Identifier: Apache-2.0
// The programs of a compiled model, and the selection of one for given shapes.

#include "front/compiled/ln_programs.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "base/ln_json_load.h"
#include "data/ln_compiled_file.h"
#include "data/ln_json.h"
#include "ir/ln_bind.h"
#include "ir/ln_context_ops.h"
#include "tensorlight/tl_util.h"

// Reading

// The location of an error.
typedef struct place {
    const char *file;
    size_t program;
    ln_error *err;
} place;

static int fail(const place *at, const char *what)
{
    return ln_error_set(at->err, "%s: metadata '%s': program %zu: %s", at->file,
                        LN_COMPILED_KEY_PROGRAMS, at->program + 1, what);
}

static int fail_memory(const place *at)
{
    return ln_error_memory_at(at->err, at->file);
}

static int is_size(const json_t *json)
{
    return json_is_integer(json) && json_integer_value(json) >= 0 &&
           json_integer_value(json) <= INT_MAX;
}

static int read_size(const place *at, const json_t *json, ln_port *port, int axis)
{
    const json_t *min = json_array_get(json, 0), *max = json_array_get(json, 1);
    const json_t *name = json_array_get(json, 2);
    if (json_array_size(json) != 3 || !is_size(min) || !is_size(max) ||
        json_integer_value(min) > json_integer_value(max) ||
        (!json_is_string(name) && !json_is_null(name)))
        return fail(at, "a size is not [MIN, MAX, NAME]");
    const int is_fixed = json_integer_value(min) == json_integer_value(max);
    port->min[axis] = (int)json_integer_value(min);
    port->max[axis] = (int)json_integer_value(max);
    return ln_port_set_dim(port, axis, is_fixed ? port->max[axis] : LN_PORT_OPEN,
                           json_string_value(name))
               ? fail_memory(at)
               : 0;
}

static int read_port(const place *at, const json_t *json, ln_port_kind kind,
                     ln_interface *interface)
{
    const char *name = json_string_value(json_object_get(json, "name"));
    const char *dtype = json_string_value(json_object_get(json, "dtype"));
    const json_t *sizes = json_object_get(json, "sizes");
    const size_t ndim = json_array_size(sizes);
    if (!name || !dtype || tl_dtype_from_str(dtype) == TL_DTYPE_INVALID || !json_is_array(sizes) ||
        ndim > LN_MAXDIM)
        return fail(at, "an input or output lacks a name, a type or sizes");
    ln_port *port = ln_interface_add(interface, kind, name, tl_dtype_from_str(dtype), (int)ndim);
    if (!port)
        return fail_memory(at);
    for (size_t i = 0; i < ndim; i++)
        if (read_size(at, json_array_get(sizes, i), port, (int)i))
            return -1;
    return 0;
}

static int read_ports(const place *at, const json_t *json, const char *key, ln_port_kind kind,
                      ln_interface *interface)
{
    const json_t *ports = json_object_get(json, key);
    if (!json_is_array(ports))
        return fail(at, "'inputs' or 'outputs' is missing");
    for (size_t i = 0; i < json_array_size(ports); i++)
        if (read_port(at, json_array_get(ports, i), kind, interface))
            return -1;
    return 0;
}

static int read_tensors(const place *at, const json_t *json, const ln_bundle *all, ln_bundle *own)
{
    const json_t *tensors = json_object_get(json, "tensors");
    const char *name;
    json_t *value;
    own->shaped = all->shaped;
    own->file = all->file;
    if (!json_is_object(tensors))
        return fail(at, "'tensors' is missing");
    json_object_foreach ((json_t *)tensors, name, value) {
        const char *stored = json_string_value(value);
        const ln_bundle_entry *entry = stored ? ln_bundle_entry_of(all, stored) : NULL;
        if (!entry)
            return fail(at, "a tensor of 'tensors' is not in the file");
        const tl_tensor *const t = entry->tensor;
        tl_tensor *record = tl_tensor_create(NULL, t->ndim, t->dims, t->dtype);
        if (!record || ln_bundle_add(own, name, record, entry->offset)) {
            tl_tensor_free(record);
            return fail_memory(at);
        }
    }
    return 0;
}

static int read_program(const place *at, const json_t *json, const ln_bundle *all,
                        ln_compiled_program *program)
{
    const char *ir = json_string_value(json_object_get(json, "ir"));
    if (!ir)
        return fail(at, "'ir' is missing");
    program->ir = ln_strdup(ir);
    program->interface = ln_interface_create();
    program->tensors = &program->own;
    if (!program->ir || !program->interface)
        return fail_memory(at);
    return -(read_ports(at, json, "inputs", LN_PORT_INPUT, program->interface) ||
             read_ports(at, json, "outputs", LN_PORT_OUTPUT, program->interface) ||
             read_tensors(at, json, all, &program->own));
}

// Whether inputs or outputs have the same names and types.
static int is_alike(ln_port *const *a, ln_port *const *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(a[i]->name, b[i]->name) != 0 || a[i]->info.dtype != b[i]->info.dtype)
            return 0;
    return 1;
}

static int check_alike(const ln_programs *programs, place *at)
{
    const ln_interface *first = programs->of[0].interface;
    for (at->program = 1; at->program < programs->n; at->program++) {
        const ln_interface *other = programs->of[at->program].interface;
        if (first->n_inputs != other->n_inputs || first->n_outputs != other->n_outputs ||
            !is_alike(first->inputs, other->inputs, first->n_inputs) ||
            !is_alike(first->outputs, other->outputs, first->n_outputs))
            return fail(at, "its inputs and outputs differ from those of the first");
    }
    return 0;
}

static int allocate(ln_programs *programs, size_t n, const char *file, ln_error *err)
{
    programs->of = ln_alloc_array(n, sizeof(*programs->of));
    if (!programs->of)
        return ln_error_memory_at(err, file);
    programs->n = n;
    return 0;
}

static int read_all(ln_programs *programs, const json_t *json, const ln_safetensors *st,
                    const char *file, ln_error *err)
{
    place at = {file, 0, err};
    if (!json_array_size(json))
        return ln_error_set(err, "%s: metadata '%s' is %s, expected an array of programs", file,
                            LN_COMPILED_KEY_PROGRAMS,
                            json_is_array(json) ? "empty" : ln_json_describe(json));
    if (allocate(programs, json_array_size(json), file, err))
        return -1;
    for (; at.program < programs->n; at.program++)
        if (read_program(&at, json_array_get(json, at.program), ln_safetensors_bundle(st),
                         &programs->of[at.program]))
            return -1;
    return check_alike(programs, &at);
}

int ln_programs_read(ln_programs *programs, const ln_safetensors *st, const char *file,
                     ln_error *err)
{
    const char *text = ln_safetensors_metadata(st, LN_COMPILED_KEY_PROGRAMS);
    if (!text) {
        if (allocate(programs, 1, file, err))
            return -1;
        programs->of[0].ir = ln_strdup(LN_COMPILED_KEY_IR);
        programs->of[0].tensors = ln_safetensors_bundle(st);
        return programs->of[0].ir ? 0 : ln_error_memory_at(err, file);
    }
    json_t *json = ln_json_load(text, strlen(text), JSON_REJECT_DUPLICATES, file,
                                LN_COMPILED_KEY_PROGRAMS, err);
    if (!json)
        return -1;
    const int status = read_all(programs, json, st, file, err);
    json_decref(json);
    return status;
}

void ln_programs_clear(ln_programs *programs)
{
    for (size_t i = 0; i < programs->n; i++) {
        ln_free(programs->of[i].ir);
        ln_interface_free(programs->of[i].interface);
        ln_bundle_clear(&programs->of[i].own);
    }
    ln_free(programs->of);
    *programs = (ln_programs){0};
}

// Texts

static size_t add_text(char *text, size_t len, const char *more)
{
    if (len < LN_MAXLINE)
        len += (size_t)snprintf(text + len, LN_MAXLINE - len, "%s", more);
    return len;
}

// "ids [1, sequence of 1..512], mask [1, 512]"
static size_t add_shapes(char *text, size_t len, const ln_interface *interface)
{
    char shape[LN_MAXLINE];
    for (size_t i = 0; i < interface->n_inputs; i++) {
        len = add_text(text, len, i ? ", " : "");
        len = add_text(text, len, interface->inputs[i]->name);
        len = add_text(text, len, " ");
        len = add_text(text, len, ln_port_sprint(interface->inputs[i], shape, sizeof(shape)));
    }
    return len;
}

static void list_programs(const ln_programs *programs, char text[LN_MAXLINE])
{
    size_t len = 0;
    for (size_t i = 0; i < programs->n; i++) {
        len = add_text(text, len, i ? "; " : "");
        len = add_shapes(text, len, programs->of[i].interface);
    }
}

// The interface of all programs

static const ln_port *port_of(const ln_programs *programs, size_t k, int is_input, size_t i)
{
    const ln_interface *interface = programs->of[k].interface;
    return is_input ? interface->inputs[i] : interface->outputs[i];
}

// The min and max over all programs.
static int merge_size(const ln_programs *programs, int is_input, size_t i, int axis, ln_port *port)
{
    const ln_port *first = port_of(programs, 0, is_input, i);
    int is_same = 1, min = first->min[axis], max = first->max[axis];
    for (size_t k = 1; k < programs->n; k++) {
        const ln_port *other = port_of(programs, k, is_input, i);
        is_same &= first->min[axis] == other->min[axis] && first->max[axis] == other->max[axis];
        min = other->min[axis] < min ? other->min[axis] : min;
        max = other->max[axis] > max ? other->max[axis] : max;
    }
    port->min[axis] = min;
    port->max[axis] = max;
    return ln_port_set_dim(port, axis, is_same ? first->dims[axis] : LN_PORT_OPEN,
                           first->dim_names[axis]);
}

static int has_same_ndim(const ln_programs *programs, int is_input, size_t i, int ndim)
{
    for (size_t k = 1; k < programs->n; k++)
        if (port_of(programs, k, is_input, i)->info.ndim != ndim)
            return 0;
    return 1;
}

static int merge_port(const ln_programs *programs, int is_input, size_t i, ln_interface *interface)
{
    const ln_port *like = port_of(programs, 0, is_input, i);
    const int ndim =
        has_same_ndim(programs, is_input, i, like->info.ndim) ? like->info.ndim : LN_PORT_OPEN;
    ln_port *port = ln_interface_add(interface, like->kind, like->name, like->info.dtype, ndim);
    if (!port)
        return -1;
    for (int axis = 0; axis < ndim; axis++)
        if (merge_size(programs, is_input, i, axis, port))
            return -1;
    return 0;
}

static int add_lists(const ln_programs *programs, ln_interface *interface)
{
    char key[32], text[LN_MAXLINE];
    for (size_t i = 0; i < programs->n; i++) {
        snprintf(key, sizeof(key), "program.%zu", i + 1);
        *text = '\0';
        add_shapes(text, 0, programs->of[i].interface);
        if (ln_interface_add_metadata(interface, key, text))
            return -1;
    }
    return 0;
}

int ln_programs_describe(const ln_programs *programs, ln_interface *interface)
{
    for (size_t i = 0; i < programs->of[0].interface->n_inputs; i++)
        if (merge_port(programs, 1, i, interface))
            return -1;
    for (size_t i = 0; i < programs->of[0].interface->n_outputs; i++)
        if (merge_port(programs, 0, i, interface))
            return -1;
    return add_lists(programs, interface);
}

// Choosing

// Whether some size of `port` is allowed, per axis.
static int meets(const ln_port *port, const ln_port *allowed)
{
    int meets = allowed->info.ndim < 0 || port->info.ndim == allowed->info.ndim;
    for (int i = 0; i < allowed->info.ndim && meets; i++) {
        const int is_open = allowed->dims[i] < 0;
        const int min = is_open ? allowed->min[i] : allowed->dims[i];
        const int max = is_open ? allowed->max[i] : allowed->dims[i];
        meets = port->min[i] <= max && port->max[i] >= min;
    }
    return meets;
}

int ln_programs_check(const ln_programs *programs, const ln_interface *allowed,
                      const ln_context *ctx, const char *file)
{
    char there[LN_MAXLINE] = "";
    for (size_t k = 0; k < programs->n; k++) {
        size_t i = 0;
        while (i < allowed->n_inputs && meets(port_of(programs, k, 1, i), allowed->inputs[i]))
            i++;
        if (i == allowed->n_inputs)
            return 0;
    }
    list_programs(programs, there);
    return ln_fail_as(ctx, LN_BAD_ARGUMENT,
                      "%s: no program supports the sizes of option 'shape'; it has programs for %s",
                      file, there);
}

// Whether `port` supports every size of a range.
static int has(const ln_port *port, int axis, int min, int max)
{
    return port->dims[axis] < 0 ? min >= port->min[axis] && max <= port->max[axis]
                                : min == port->dims[axis] && max == port->dims[axis];
}

// Whether the port supports the range bound by the name of its size, if any.
static int accepts_named(const ln_context *ctx, const ln_port *port, int axis, int *n_bound)
{
    const char *name = port->dim_names[axis];
    const tl_tensor *bound = name && ln_bind_has(ctx, name) ? ln_bind_find(ctx, name, -1) : NULL;
    const int *min = bound ? ln_bind_min(ctx, name, -1) : NULL;
    if (!bound || bound->ndim != 1)
        return 1;
    ++*n_bound;
    return has(port, axis, min ? *min : bound->dims[0], bound->dims[0]);
}

static int accepts_input(const ln_context *ctx, const ln_port *port, int index, int *n_bound)
{
    const tl_tensor *bound = ln_bind_find(ctx, port->name, index);
    const int *min = ln_bind_min(ctx, port->name, index);
    int is_accepted = !bound || bound->ndim == port->info.ndim;
    *n_bound += bound != NULL;
    for (int i = 0; i < port->info.ndim && is_accepted; i++)
        is_accepted = (!bound || has(port, i, min ? min[i] : bound->dims[i], bound->dims[i])) &&
                      accepts_named(ctx, port, i, n_bound);
    return is_accepted;
}

static int count_open(const ln_interface *interface)
{
    int n = 0;
    for (size_t i = 0; i < interface->n_inputs; i++)
        for (int k = 0; k < interface->inputs[i]->info.ndim; k++)
            n += interface->inputs[i]->dims[k] < 0;
    return n;
}

static void list_bound(const ln_context *ctx, const ln_interface *interface, char text[LN_MAXLINE])
{
    char shape[LN_MAX_SHAPE];
    size_t len = 0;
    *text = '\0';
    for (size_t i = 0; i < interface->n_inputs; i++) {
        const char *name = interface->inputs[i]->name;
        const tl_tensor *bound = ln_bind_find(ctx, name, (int)i);
        if (!bound)
            continue;
        len = add_text(text, len, len ? ", " : "");
        len = add_text(text, len, name);
        len = add_text(text, len, " ");
        len = add_text(text, len, ln_sprint_shape(shape, sizeof(shape), bound->ndim, bound->dims));
    }
    if (!len)
        add_text(text, 0, "these sizes");
}

static const ln_compiled_program *fail_choice(const ln_programs *programs, const ln_context *ctx,
                                              const char *file, int n_bound)
{
    char there[LN_MAXLINE] = "", given[LN_MAXLINE];
    list_programs(programs, there);
    list_bound(ctx, programs->of[0].interface, given);
    if (n_bound)
        ln_fail_as(ctx, LN_BAD_ARGUMENT, "%s: no program supports %s; it has programs for %s", file,
                   given, there);
    else
        ln_fail_as(ctx, LN_BAD_ARGUMENT,
                   "%s: the model has several programs; give the shapes of one of them: %s", file,
                   there);
    return NULL;
}

const ln_compiled_program *ln_programs_choose(const ln_programs *programs, const ln_context *ctx,
                                              const char *file)
{
    const ln_compiled_program *best = NULL;
    int n_bound = 0;
    if (!programs->of[0].interface)
        return &programs->of[0];
    for (size_t i = 0; i < programs->n; i++) {
        const ln_interface *interface = programs->of[i].interface;
        int index = 0, is_accepted = 1; // `index` counts inputs that are not bound by name
        n_bound = 0;
        for (size_t k = 0; k < interface->n_inputs; k++) {
            is_accepted &= accepts_input(ctx, interface->inputs[k], index, &n_bound);
            index += !ln_bind_has(ctx, interface->inputs[k]->name);
        }
        if (is_accepted && (!best || count_open(interface) < count_open(best->interface)))
            best = &programs->of[i];
    }
    return best && (n_bound || programs->n == 1) ? best : fail_choice(programs, ctx, file, n_bound);
}
