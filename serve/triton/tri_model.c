// SPDX-License-Identifier: Apache-2.0
// Configurations are JSON, as Triton makes it from config.pbtxt: 64-bit integers may be strings.

#include "tri_model.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "srv_files.h"

// What the backend does not do, and would do wrong without a word.
static const char *const unsupported[] = {"sequence_batching", "ensemble_scheduling"};

typedef const char *(*name_func)(const ln_model *model, int i);
typedef const tl_tensor *(*info_func)(const ln_model *model, int i);
typedef ln_status (*bounds_func)(const ln_model *model, int i, int axis, int *min, int *max);

// The file

static int join(char *path, size_t size, const char *location, uint64_t version, const char *name,
                srv_error *err)
{
    const int n = snprintf(path, size, "%s/%" PRIu64 "/%s", location, version, name);
    if (strchr(name, '/') || !strcmp(name, ".."))
        return srv_fail(err, SRV_INVALID, "default_model_filename is '%s'; expected a name", name);
    return n >= 0 && (size_t)n < size ? 0 : srv_fail(err, SRV_INVALID, "%s: too long", location);
}

static int find_file(char *path, size_t size, const char *location, uint64_t version,
                     srv_error *err)
{
    srv_files files = {.at = NULL};
    int n = -1;
    if (!srv_files_find(&files, location, err))
        for (int i = 0; i < files.n; i++)
            if ((uint64_t)files.at[i].version == version)
                n = snprintf(path, size, "%s", files.at[i].path);
    srv_files_clear(&files);
    if (n >= 0 && (size_t)n < size)
        return 0;
    return srv_fail(err, SRV_NOT_FOUND, "%s/%" PRIu64 ": has no model", location, version);
}

// Options

static int set_option(ln_options *options, const char *key, const json_t *parameter, srv_error *err)
{
    static const char prefix[] = "lightnet.";
    const char *const value = json_string_value(json_object_get(parameter, "string_value"));
    if (strncmp(key, prefix, strlen(prefix)))
        return 0;
    if (!value)
        return srv_fail(err, SRV_INVALID, "parameter '%s' has no string_value", key);
    return ln_options_set(options, key + strlen(prefix), value)
               ? srv_fail(err, SRV_INVALID, "parameter '%s': %s", key, ln_model_error(NULL))
               : 0;
}

static int open_model(tri_model *m, const char *path, const json_t *config, srv_error *err)
{
    ln_options *const options = ln_options_create();
    const char *key;
    json_t *value;
    int failed = !options;
    json_object_foreach (json_object_get(config, "parameters"), key, value) {
        failed = failed || set_option(options, key, value, err);
    }
    const ln_status status = failed ? LN_OUT_OF_MEMORY : ln_model_open(path, options, &m->model);
    if (status)
        srv_fail_ln(err, status, failed ? "no memory" : ln_model_error(NULL));
    ln_options_free(options);
    return status ? -1 : 0;
}

// Inputs and outputs of the model

static int set_port(tri_port *port, const ln_model *model, int i, name_func name, info_func info,
                    bounds_func bounds, srv_error *err)
{
    const tl_tensor *const t = info(model, i);
    *port = (tri_port){.name = name(model, i), .datatype = srv_datatype_name(t->dtype)};
    port->ndim = t->ndim;
    if (t->ndim > SRV_MAX_DIMS)
        return srv_fail(err, SRV_UNSUPPORTED, "'%s' has %d dimensions; the max is %d", port->name,
                        t->ndim, SRV_MAX_DIMS);
    for (int k = 0; k < t->ndim; k++)
        bounds(model, i, k, &port->min[k], &port->max[k]);
    return 0;
}

static tri_port *ports_of(const ln_model *model, int n, name_func name, info_func info,
                          bounds_func bounds, srv_error *err)
{
    tri_port *const ports = calloc((size_t)n + 1, sizeof(*ports));
    if (!ports)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    for (int i = 0; i < n; i++)
        if (set_port(&ports[i], model, i, name, info, bounds, err)) {
            free(ports);
            return NULL;
        }
    return ports;
}

static int read_ports(tri_model *m, srv_error *err)
{
    m->n_inputs = ln_model_num_inputs(m->model);
    m->n_outputs = ln_model_num_outputs(m->model);
    m->inputs = ports_of(m->model, m->n_inputs, ln_model_input_name, ln_model_input_info,
                         ln_model_input_bounds, err);
    m->outputs = m->inputs ? ports_of(m->model, m->n_outputs, ln_model_output_name,
                                      ln_model_output_info, ln_model_output_bounds, err)
                           : NULL;
    return m->outputs ? 0 : -1;
}

static const tri_port *find_port(const tri_port *ports, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(ports[i].name, name))
            return &ports[i];
    return NULL;
}

// The configuration

// -2: no integer.
static long long integer_of(const json_t *json)
{
    char *end;
    if (json_is_integer(json))
        return json_integer_value(json);
    const char *const text = json_string_value(json);
    const long long value = text ? strtoll(text, &end, 10) : -2;
    return text && *text && !*end ? value : -2;
}

static int check_type(const tri_port *port, const json_t *entry, const char *what, srv_error *err)
{
    static const char prefix[] = "TYPE_";
    const char *const type = json_string_value(json_object_get(entry, "data_type"));
    const char *datatype = type && !strncmp(type, prefix, strlen(prefix)) ? type + 5 : "";
    if (!strcmp(datatype, "STRING"))
        datatype = "BYTES";
    if (!port->datatype || !strcmp(datatype, port->datatype))
        return 0;
    return srv_fail(err, SRV_INVALID, "%s '%s' has the data_type %s; the model's is TYPE_%s", what,
                    port->name, type ? type : "none",
                    strcmp(port->datatype, "BYTES") ? port->datatype : "STRING");
}

static int check_dims(const tri_model *m, const tri_port *port, const json_t *entry,
                      const char *what, srv_error *err)
{
    const json_t *const dims = json_object_get(entry, "dims");
    const int first = m->max_batch > 0, ndim = (int)json_array_size(dims) + first;
    if (json_object_get(entry, "reshape"))
        return srv_fail(err, SRV_UNSUPPORTED, "%s '%s' has a 'reshape', which is not supported",
                        what, port->name);
    if (port->ndim < 0)
        return 0;
    if (port->ndim != ndim)
        return srv_fail(err, SRV_INVALID,
                        "%s '%s' has %d dimensions%s; the model's has %d; change 'dims', or "
                        "max_batch_size",
                        what, port->name, ndim, first ? " with that of the batch" : "", port->ndim);
    for (int k = first; k < ndim; k++) {
        const long long size = integer_of(json_array_get(dims, (size_t)(k - first)));
        if (size < -1 || (size >= 0 && (size < port->min[k] || size > port->max[k])))
            return srv_fail(err, SRV_INVALID,
                            "%s '%s' has the size %lld in 'dims' for axis %d; the model's is %d to "
                            "%d",
                            what, port->name, size, k, port->min[k], port->max[k]);
    }
    return 0;
}

static int check_entries(const tri_model *m, const json_t *entries, const tri_port *ports, int n,
                         const char *what, srv_error *err)
{
    size_t i;
    json_t *entry;
    json_array_foreach (entries, i, entry) {
        const char *const name = json_string_value(json_object_get(entry, "name"));
        const tri_port *const port = name ? find_port(ports, n, name) : NULL;
        if (!port)
            return srv_fail(err, SRV_INVALID, "the model has no %s '%s'; expected '%s'%s", what,
                            name ? name : "", n ? ports[0].name : "", n > 1 ? " or others" : "");
        if (check_type(port, entry, what, err) || check_dims(m, port, entry, what, err))
            return -1;
    }
    return 0;
}

static int has_entry(const json_t *entries, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach (entries, i, entry) {
        const char *const other = json_string_value(json_object_get(entry, "name"));
        if (other && !strcmp(other, name))
            return 1;
    }
    return 0;
}

static int check_batch(const tri_model *m, srv_error *err)
{
    for (int i = 0; m->max_batch && i < m->n_inputs; i++) {
        const tri_port *const port = &m->inputs[i];
        if (port->ndim == 0 ||
            (port->ndim > 0 && (port->min[0] > 1 || port->max[0] < m->max_batch)))
            return srv_fail(err, SRV_INVALID,
                            "max_batch_size is %d, but axis 0 of input '%s' is %d to %d; expected "
                            "max_batch_size 0, or a model with an open size",
                            m->max_batch, port->name, port->ndim ? port->min[0] : 0,
                            port->ndim ? port->max[0] : 0);
    }
    return 0;
}

static int check_config(const tri_model *m, const json_t *config, srv_error *err)
{
    const json_t *const inputs = json_object_get(config, "input");
    if (check_batch(m, err) || check_entries(m, inputs, m->inputs, m->n_inputs, "input", err) ||
        check_entries(m, json_object_get(config, "output"), m->outputs, m->n_outputs, "output",
                      err))
        return -1;
    for (int i = 0; i < m->n_inputs; i++)
        if (!has_entry(inputs, m->inputs[i].name))
            return srv_fail(err, SRV_INVALID, "the configuration has no input '%s'",
                            m->inputs[i].name);
    return json_array_size(json_object_get(config, "output"))
               ? 0
               : srv_fail(err, SRV_INVALID, "the configuration has no output");
}

static int check_features(const json_t *config, srv_error *err)
{
    for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++)
        if (json_object_get(config, unsupported[i]))
            return srv_fail(err, SRV_UNSUPPORTED,
                            "the configuration has '%s', which is not "
                            "supported",
                            unsupported[i]);
    const json_t *const policy = json_object_get(config, "model_transaction_policy");
    return json_is_true(json_object_get(policy, "decoupled"))
               ? srv_fail(err, SRV_UNSUPPORTED, "decoupled responses are not supported")
               : 0;
}

// Completion

static json_t *dims_of(const tri_model *m, const tri_port *port)
{
    json_t *const dims = json_array();
    for (int k = m->max_batch > 0; k < port->ndim; k++)
        json_array_append_new(dims, json_integer(port->min[k] == port->max[k] ? port->min[k] : -1));
    return dims;
}

static int complete_entries(const tri_model *m, json_t *config, const char *what,
                            const tri_port *ports, int n, srv_error *err)
{
    json_t *const entries = json_array();
    for (int i = 0; i < n; i++) {
        char type[32];
        if (!ports[i].datatype || ports[i].ndim < 0) {
            json_decref(entries);
            return srv_fail(err, SRV_INVALID,
                            "the model does not specify type and shape of %s '%s': the "
                            "configuration has to",
                            what, ports[i].name);
        }
        snprintf(type, sizeof(type), "TYPE_%s",
                 strcmp(ports[i].datatype, "BYTES") ? ports[i].datatype : "STRING");
        json_array_append_new(entries, json_pack("{s:s, s:s, s:o}", "name", ports[i].name,
                                                 "data_type", type, "dims", dims_of(m, &ports[i])));
    }
    return json_object_set_new(config, what, entries)
               ? srv_fail(err, SRV_OUT_OF_MEMORY, "no memory")
               : 0;
}

static int complete_config(const tri_model *m, json_t *config, char **complete, srv_error *err)
{
    const int lacks_inputs = !json_array_size(json_object_get(config, "input"));
    const int lacks_outputs = !json_array_size(json_object_get(config, "output"));
    *complete = NULL;
    if (!lacks_inputs && !lacks_outputs)
        return 0;
    if ((lacks_inputs && complete_entries(m, config, "input", m->inputs, m->n_inputs, err)) ||
        (lacks_outputs && complete_entries(m, config, "output", m->outputs, m->n_outputs, err)))
        return -1;
    *complete = json_dumps(config, JSON_COMPACT);
    return *complete ? 0 : srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
}

// Models

static int read_batch(tri_model *m, const json_t *config, srv_error *err)
{
    const json_t *const json = json_object_get(config, "max_batch_size");
    const long long rows = json ? integer_of(json) : 0;
    m->max_batch = (int)rows;
    return rows >= 0 && rows <= INT_MAX
               ? 0
               : srv_fail(err, SRV_INVALID, "max_batch_size is no size: %lld", rows);
}

static int open_as(tri_model *m, const char *location, uint64_t version, json_t *config,
                   char **complete, srv_error *err)
{
    enum { PATH = 4096 };
    char path[PATH];
    const char *const name = json_string_value(json_object_get(config, "default_model_filename"));
    if (check_features(config, err) || read_batch(m, config, err) ||
        (name && *name ? join(path, PATH, location, version, name, err)
                       : find_file(path, PATH, location, version, err)) ||
        open_model(m, path, config, err) || read_ports(m, err))
        return -1;
    if (complete && complete_config(m, config, complete, err))
        return -1;
    return check_config(m, config, err);
}

tri_model *tri_model_open(const char *location, uint64_t version, const char *config, size_t size,
                          char **complete, srv_error *err)
{
    json_error_t why;
    json_t *const json = json_loadb(config, size, 0, &why);
    tri_model *const m = json ? calloc(1, sizeof(*m)) : NULL;
    if (complete)
        *complete = NULL;
    if (!json)
        return srv_fail(err, SRV_INVALID, "the configuration is no JSON: %s", why.text), NULL;
    const int failed = !m ? srv_fail(err, SRV_OUT_OF_MEMORY, "no memory")
                          : open_as(m, location, version, json, complete, err);
    json_decref(json);
    if (!failed)
        return m;
    if (complete) {
        free(*complete);
        *complete = NULL;
    }
    tri_model_free(m);
    return NULL;
}

void tri_model_free(tri_model *m)
{
    if (!m)
        return;
    ln_model_free(m->model);
    free(m->inputs);
    free(m->outputs);
    free(m);
}

const tri_port *tri_model_find_output(const tri_model *m, const char *name)
{
    return find_port(m->outputs, m->n_outputs, name);
}
