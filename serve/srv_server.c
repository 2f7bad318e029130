// SPDX-License-Identifier: Apache-2.0
// What pages of models and metrics contain.

#include "srv_server.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tensorlight/tl_util.h"

int srv_server_is_ready(srv_server *server)
{
    return !atomic_load(&server->is_draining) && srv_repository_is_ready(server->repository);
}

int srv_server_finds_newer(srv_server *server, const char *name, const char *version,
                           srv_model **model, srv_request *r)
{
    srv_error ignored = {.status = SRV_OK};
    srv_model *const before = *model;
    if (r->error.status != SRV_UNAVAILABLE)
        return 0;
    srv_model *const now = srv_repository_find(server->repository, name, version, &ignored);
    if (!now)
        return 0;
    const int is_newer = now != before;
    srv_model_release(is_newer ? before : now);
    if (is_newer) {
        *model = now;
        r->error = (srv_error){.status = SRV_OK};
    }
    return is_newer;
}

static void add_json(srv_buffer *b, const char *text)
{
    srv_buffer_json(b, text, strlen(text));
}

void srv_server_write_metadata(srv_buffer *b)
{
    srv_buffer_text(b, "{\"name\":\"lightnet\",\"version\":");
    add_json(b, ln_version());
    srv_buffer_text(b, ",\"extensions\":[\"binary_tensor_data\",\"model_repository\"]}");
}

// No shape if the number of dimensions is unknown: [] is that of a scalar.
static void write_shape(srv_buffer *b, const srv_port *port)
{
    if (port->ndim < 0)
        return;
    srv_buffer_text(b, ",\"shape\":[");
    for (int k = 0; k < port->ndim; k++)
        srv_buffer_printf(b, k ? ",%d" : "%d", port->dims[k]);
    srv_buffer_text(b, "]");
}

static void write_ports(srv_buffer *b, const srv_port *ports, int n)
{
    srv_buffer_text(b, "[");
    for (int i = 0; i < n; i++) {
        srv_buffer_text(b, i ? ",{\"name\":" : "{\"name\":");
        add_json(b, ports[i].name);
        srv_buffer_text(b, ",\"datatype\":");
        add_json(b, ports[i].datatype ? ports[i].datatype : tl_dtype_name(ports[i].dtype));
        write_shape(b, &ports[i]);
        srv_buffer_text(b, "}");
    }
    srv_buffer_text(b, "]");
}

// The versions of a model.
typedef struct versions {
    const char *name;
    srv_buffer *b;
    int n;
} versions;

static int add_version(void *data, const srv_version *version)
{
    versions *const v = data;
    if (strcmp(version->name, v->name) || !version->model)
        return 0;
    srv_buffer_printf(v->b, "%s\"%s\"", v->n++ ? "," : "", version->version);
    return 0;
}

int srv_server_write_model(srv_server *server, const char *name, const char *version, srv_buffer *b,
                           srv_error *err)
{
    int n;
    srv_model *const m = srv_repository_find(server->repository, name, version, err);
    if (!m)
        return -1;
    srv_buffer_text(b, "{\"name\":");
    add_json(b, name);
    srv_buffer_text(b, ",\"versions\":[");
    srv_repository_each(server->repository, add_version, &(versions){name, b, 0});
    srv_buffer_text(b, "],\"platform\":");
    add_json(b, srv_model_format(m));
    srv_buffer_text(b, ",\"inputs\":");
    const srv_port *const inputs = srv_model_inputs(m, &n);
    write_ports(b, inputs, n);
    srv_buffer_text(b, ",\"outputs\":");
    const srv_port *const outputs = srv_model_outputs(m, &n);
    write_ports(b, outputs, n);
    srv_buffer_text(b, "}");
    srv_model_release(m);
    return 0;
}

typedef struct index {
    srv_buffer *b;
    int only_ready, n;
} index_list;

static int add_to_index(void *data, const srv_version *version)
{
    index_list *const list = data;
    if (list->only_ready && !version->model)
        return 0;
    srv_buffer_text(list->b, list->n++ ? ",{\"name\":" : "{\"name\":");
    add_json(list->b, version->name);
    srv_buffer_printf(list->b, ",\"version\":\"%s\",\"state\":\"%s\",\"reason\":", version->version,
                      version->state);
    add_json(list->b, version->reason);
    srv_buffer_text(list->b, "}");
    return 0;
}

void srv_server_write_index(srv_server *server, int only_ready, srv_buffer *b)
{
    srv_buffer_text(b, "[");
    srv_repository_each(server->repository, add_to_index, &(index_list){b, only_ready, 0});
    srv_buffer_text(b, "]");
}

// Metrics: Prometheus' text format, version 0.0.4. A family of metrics has its lines together.

typedef void (*write_func)(srv_buffer *b, const char *name, const char *labels, srv_model *m,
                           const srv_model_figures *f);

typedef struct family {
    const char *name, *type, *help;
    write_func write;
} family;

static void write_requests(srv_buffer *b, const char *name, const char *labels, srv_model *m,
                           const srv_model_figures *f)
{
    (void)m;
    for (srv_status s = SRV_OK; s < SRV_STATUS_SIZE; s++)
        if (f->requests[s] || s == SRV_OK)
            srv_buffer_printf(b, "%s{%s,status=\"%s\"} %llu\n", name, labels, srv_status_name(s),
                              (unsigned long long)f->requests[s]);
}

static void write_histogram(srv_buffer *b, const char *name, const char *labels,
                            const srv_histogram *h)
{
    uint64_t count = 0;
    for (int i = 0; i < h->n; i++) {
        count += h->counts[i];
        srv_buffer_printf(b, "%s_bucket{%s,le=\"%g\"} %llu\n", name, labels, h->bounds[i],
                          (unsigned long long)count);
    }
    count += h->counts[h->n];
    srv_buffer_printf(b, "%s_bucket{%s,le=\"+Inf\"} %llu\n%s_sum{%s} %.9g\n%s_count{%s} %llu\n",
                      name, labels, (unsigned long long)count, name, labels, h->sum, name, labels,
                      (unsigned long long)count);
}

static void write_request_s(srv_buffer *b, const char *name, const char *labels, srv_model *m,
                            const srv_model_figures *f)
{
    (void)m;
    write_histogram(b, name, labels, &f->request_s);
}

static void write_receive_s(srv_buffer *b, const char *name, const char *labels, srv_model *m,
                            const srv_model_figures *f)
{
    (void)m;
    write_histogram(b, name, labels, &f->receive_s);
}

static void write_queue_s(srv_buffer *b, const char *name, const char *labels, srv_model *m,
                          const srv_model_figures *f)
{
    (void)m;
    write_histogram(b, name, labels, &f->queue_s);
}

static void write_run_s(srv_buffer *b, const char *name, const char *labels, srv_model *m,
                        const srv_model_figures *f)
{
    (void)m;
    write_histogram(b, name, labels, &f->run_s);
}

static void write_batch_rows(srv_buffer *b, const char *name, const char *labels, srv_model *m,
                             const srv_model_figures *f)
{
    (void)m;
    write_histogram(b, name, labels, &f->batch_rows);
}

static void write_waiting(srv_buffer *b, const char *name, const char *labels, srv_model *m,
                          const srv_model_figures *f)
{
    (void)f;
    srv_buffer_printf(b, "%s{%s} %d\n", name, labels, srv_model_queue_length(m));
}

static void write_max_rows(srv_buffer *b, const char *name, const char *labels, srv_model *m,
                           const srv_model_figures *f)
{
    (void)f;
    srv_buffer_printf(b, "%s{%s} %d\n", name, labels, srv_model_max_batch(m));
}

static const family families[] = {
    {"lightnet_requests_total", "counter", "Requests to run the model, by their outcome.",
     write_requests},
    {"lightnet_request_seconds", "histogram", "From the arrival of a request to its outputs.",
     write_request_s},
    {"lightnet_receive_seconds", "histogram", "From the arrival of a request until it is read.",
     write_receive_s},
    {"lightnet_queue_seconds", "histogram", "How long requests waited.", write_queue_s},
    {"lightnet_run_seconds", "histogram", "The runs that computed requests.", write_run_s},
    {"lightnet_batch_rows", "histogram", "Rows of each run.", write_batch_rows},
    {"lightnet_batch_rows_max", "gauge", "The max rows of a run of several requests.",
     write_max_rows},
    {"lightnet_queue_length", "gauge", "Requests that wait.", write_waiting},
};

// A label's value with its escapes.
static void add_label(srv_buffer *b, const char *key, const char *value)
{
    srv_buffer_printf(b, "%s=\"", key);
    for (; *value; value++) {
        if (*value == '"' || *value == '\\')
            srv_buffer_text(b, "\\");
        if (*value == '\n')
            srv_buffer_text(b, "\\n");
        else
            srv_buffer_add(b, value, 1);
    }
    srv_buffer_text(b, "\"");
}

typedef struct metrics {
    srv_buffer *b;
    const family *family;
} metrics;

static int add_metrics(void *data, const srv_version *version)
{
    const metrics *const all = data;
    srv_buffer labels = {.data = NULL};
    srv_model_figures figures;
    if (!version->model)
        return 0;
    srv_model_get_figures(version->model, &figures);
    add_label(&labels, "model", version->name);
    add_label(&labels, ",version", version->version);
    srv_buffer_add(&labels, "", 1);
    if (labels.data)
        all->family->write(all->b, all->family->name, labels.data, version->model, &figures);
    srv_buffer_clear(&labels);
    return 0;
}

// Of the process, in bytes; 0: unknown.
static unsigned long long resident_bytes(void)
{
    unsigned long long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(file);
    return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

static void add_head(srv_buffer *b, const char *name, const char *type, const char *help)
{
    srv_buffer_printf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void srv_server_write_metrics(srv_server *server, srv_buffer *b)
{
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        add_head(b, families[i].name, families[i].type, families[i].help);
        srv_repository_each(server->repository, add_metrics, &(metrics){b, &families[i]});
    }
    add_head(b, "lightnet_ready", "gauge",
             "1 if all models are loaded and the server does not stop.");
    srv_buffer_printf(b, "lightnet_ready %d\n", srv_server_is_ready(server));
    add_head(b, "lightnet_calls", "gauge", "Requests of any kind that are being answered.");
    srv_buffer_printf(b, "lightnet_calls %d\n", atomic_load(&server->n_calls));
    add_head(b, "lightnet_uptime_seconds", "gauge", "Since the start of the server.");
    srv_buffer_printf(b, "lightnet_uptime_seconds %.3f\n",
                      (double)(tl_clock() - server->start) * 1e-9);
    add_head(b, "process_resident_memory_bytes", "gauge", "Memory of the process.");
    srv_buffer_printf(b, "process_resident_memory_bytes %llu\n", resident_bytes());
}
