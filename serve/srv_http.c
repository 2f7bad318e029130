// SPDX-License-Identifier: Apache-2.0
// Connections are libmicrohttpd's, whose threads call us with parts of requests. A request that has
// to wait suspends its connection; who ends the request resumes it. `srv_watch` cancels requests of
// clients that go.

#include "srv_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <jansson.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "srv_infer.h"
#include "srv_listen.h"
#include "srv_pace.h"
#include "srv_page.h"
#include "srv_route.h"
#include "srv_watch.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_util.h"

enum { MAX_THREADS = 8 };

typedef enum phase { RECEIVING, WAITING, READY } phase;

// A request of HTTP, from its head to the end of the response.
typedef struct call {
    srv_http *http;
    struct MHD_Connection *connection;
    srv_peer *peer; // the connection
    char *method, *path;
    srv_route route;
    srv_buffer body;
    size_t body_size; // that was sent
    srv_pace pace;
    size_t charge; // of the memory for all requests and answers
    srv_error error;
    uint64_t start;
    // of a request to run a model
    srv_model *model; // kept
    srv_request request;
    srv_infer_form form;
    int is_rejected; // by the queue of the model
    srv_job job;     // to load or unload a model
    // the response
    srv_buffer answer;
    const char *type; // of its content
    size_t json_size; // of the part before binary data; 0: it has none
    phase phase;
} call;

struct srv_http {
    srv_server *server;
    srv_loader *loader;
    srv_listener listener;
    struct MHD_Daemon *daemons[SRV_LISTEN_MAX]; // [listener.n] one for each address; NULL: none
    int sockets[SRV_LISTEN_MAX];                // of the daemons, which close them
    int silence;                                // a descriptor that is never readable
    srv_watch *watch;
    atomic_size_t memory; // bytes of all requests and answers
    size_t max_memory;    // of these
    uint64_t idle_ns;     // 0: a body may last for ever
};

// Calls

static void free_call(call *c)
{
    if (c->model)
        srv_model_release(c->model);
    srv_request_clear(&c->request);
    srv_infer_form_clear(&c->form);
    srv_buffer_clear(&c->body);
    srv_buffer_clear(&c->answer);
    atomic_fetch_sub(&c->http->memory, c->charge);
    free(c->method);
    free(c->path);
    free(c);
}

// Counts the bytes that the call keeps of its request and its answer. Whether those of all calls
// are within the limit.
static int hold(call *c, size_t size)
{
    const size_t more = size - c->charge; // modulo the range: less is more, too
    const size_t now = atomic_fetch_add(&c->http->memory, more) + more;
    c->charge = size;
    return now <= c->http->max_memory;
}

static int fail_memory(const call *c, srv_error *err)
{
    return srv_fail(err, SRV_UNAVAILABLE,
                    "the requests and answers of all clients have more than %zu bytes, the max",
                    c->http->max_memory);
}

static const char *header(const call *c, const char *name)
{
    return MHD_lookup_connection_value(c->connection, MHD_HEADER_KIND, name);
}

// Waiting

// Before the request is submitted: it may end at once.
static void begin_wait(call *c)
{
    MHD_suspend_connection(c->connection);
    c->phase = WAITING;
    srv_peer_wait(c->peer, c);
}

static void end_wait(call *c)
{
    struct MHD_Connection *const connection = c->connection;
    c->phase = READY;
    srv_peer_answer(c->peer);
    MHD_resume_connection(connection);
}

static void cancel_call(void *request)
{
    call *const c = request;
    if (c->model)
        srv_model_cancel(c->model, &c->request);
}

static void release_call(void *request)
{
    free_call(request);
}

static void tick(void *data)
{
    const srv_http *const http = data;
    srv_repository_tick(http->server->repository, tl_clock());
}

// Answers

static void answer_json(call *c)
{
    c->type = "application/json";
}

static int answer_ready(call *c, int is_ready, const char *what)
{
    if (!is_ready)
        return srv_fail(&c->error, SRV_UNAVAILABLE, "%s is not ready", what);
    srv_buffer_text(&c->answer, "{\"live\":true,\"ready\":true}");
    return 0;
}

static int answer_model_ready(call *c)
{
    srv_model *const m = srv_repository_find(c->http->server->repository, c->route.model,
                                             c->route.version, &c->error);
    if (!m)
        return -1;
    srv_buffer_text(&c->answer, "{\"name\":");
    srv_buffer_json(&c->answer, srv_model_name(m), strlen(srv_model_name(m)));
    srv_buffer_text(&c->answer, ",\"ready\":true}");
    srv_model_release(m);
    return 0;
}

// The body of a request about models: an object; NULL without a body.
static int read_body(call *c, json_t **json)
{
    json_error_t why;
    *json = c->body.size ? json_loadb(c->body.data, c->body.size, 0, &why) : NULL;
    if (c->body.size && !*json)
        return srv_fail(&c->error, SRV_INVALID, "the request is no JSON: %s", why.text);
    if (*json && !json_is_object(*json)) {
        json_decref(*json);
        return srv_fail(&c->error, SRV_INVALID, "the request is no object of JSON");
    }
    return 0;
}

// {"ready": true} asks for models that are loaded.
static int answer_index(call *c)
{
    json_t *json;
    if (read_body(c, &json))
        return -1;
    srv_server_write_index(c->http->server, json_is_true(json_object_get(json, "ready")),
                           &c->answer);
    json_decref(json);
    return 0;
}

// In any thread: outputs count from here on.
static void request_done(srv_request *r)
{
    call *const c = r->owner;
    if (!hold(c, srv_request_size(r)) && !r->error.status) {
        fail_memory(c, &r->error);
        srv_request_drop_tensors(r);
    }
    end_wait(c);
}

// The size of the JSON before binary data; -1 with a reason: wrong.
static int find_json_size(call *c, size_t *size)
{
    const char *const text = header(c, "Inference-Header-Content-Length");
    char *end;
    *size = c->body.size;
    if (!text)
        return 0;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || number > c->body.size)
        return srv_fail(
            &c->error, SRV_INVALID,
            "the header Inference-Header-Content-Length is '%.32s'; expected a size up to %zu",
            text, c->body.size);
    *size = (size_t)number;
    return 0;
}

// The call belongs to who runs it, unless it is rejected.
static void submit(call *c)
{
    c->is_rejected = 0;
    begin_wait(c);
    if (srv_model_submit(c->model, &c->request)) {
        c->is_rejected = 1;
        end_wait(c);
    }
}

// 1: the call waits.
static int start_infer(call *c)
{
    size_t json_size;
    c->request.arrival = c->start;
    c->request.done = request_done;
    c->request.owner = c;
    c->model = srv_repository_find(c->http->server->repository, c->route.model, c->route.version,
                                   &c->error);
    if (!c->model || find_json_size(c, &json_size))
        return -1;
    if (srv_infer_read(c->body.data ? c->body.data : "", c->body.size, json_size, &c->request,
                       &c->form)) {
        c->error = c->request.error;
        srv_model_count(c->model, c->error.status);
        return -1;
    }
    srv_buffer_clear(&c->body);
    if (!hold(c, srv_request_size(&c->request))) {
        srv_model_count(c->model, SRV_UNAVAILABLE);
        return fail_memory(c, &c->error);
    }
    submit(c);
    return 1;
}

// A model that was replaced while the request was read rejects it.
static int restart_infer(call *c)
{
    if (!c->is_rejected || !srv_server_finds_newer(c->http->server, c->route.model,
                                                   c->route.version, &c->model, &c->request))
        return 0;
    submit(c);
    return 1;
}

static void job_done(srv_job *job)
{
    end_wait(job->owner);
}

// Configurations and files of models come from the repository alone.
static int check_parameters(call *c)
{
    json_t *json;
    if (read_body(c, &json))
        return -1;
    const size_t n = json_object_size(json_object_get(json, "parameters"));
    json_decref(json);
    return n && c->route.page == SRV_PAGE_LOAD
               ? srv_fail(&c->error, SRV_UNSUPPORTED, "the server supports no 'parameters' here")
               : 0;
}

static int start_job(call *c)
{
    if (!c->http->server->allows_control)
        return srv_fail(&c->error, SRV_FORBIDDEN, "the server was started without --allow-control");
    if (check_parameters(c))
        return -1;
    c->job = (srv_job){.is_unload = c->route.page == SRV_PAGE_UNLOAD,
                       .name = c->route.model,
                       .done = job_done,
                       .owner = c};
    begin_wait(c);
    srv_loader_add(c->http->loader, &c->job);
    return 1;
}

// 0: the answer is there; 1: the call waits; -1: it failed.
static int start_answer(call *c)
{
    srv_server *const server = c->http->server;
    answer_json(c);
    switch (c->route.page) {
    case SRV_PAGE_STATUS:
        srv_buffer_add(&c->answer, srv_page_html, srv_page_html_size);
        c->type = "text/html; charset=utf-8";
        return 0;
    case SRV_PAGE_METRICS:
        srv_server_write_metrics(server, &c->answer);
        c->type = "text/plain; version=0.0.4; charset=utf-8";
        return 0;
    case SRV_PAGE_LIVE:
        srv_buffer_text(&c->answer, "{\"live\":true}");
        return 0;
    case SRV_PAGE_READY:
        return answer_ready(c, srv_server_is_ready(server), "the server");
    case SRV_PAGE_SERVER:
        srv_server_write_metadata(&c->answer);
        return 0;
    case SRV_PAGE_MODEL:
        return srv_server_write_model(server, c->route.model, c->route.version, &c->answer,
                                      &c->error);
    case SRV_PAGE_MODEL_READY:
        return answer_model_ready(c);
    case SRV_PAGE_INFER:
        return start_infer(c);
    case SRV_PAGE_INDEX:
        return answer_index(c);
    case SRV_PAGE_LOAD:
    case SRV_PAGE_UNLOAD:
        return start_job(c);
    }
    return srv_fail(&c->error, SRV_NOT_FOUND, "no such page");
}

static void finish_infer(call *c)
{
    c->error = c->request.error;
    if (!c->error.status)
        srv_infer_write(&c->request, &c->form, srv_model_name(c->model),
                        srv_model_version(c->model), &c->answer, &c->json_size, &c->error);
    srv_request_drop_tensors(&c->request);
    if (!hold(c, c->answer.size))
        fail_memory(c, &c->error);
    if (c->json_size == c->answer.size)
        c->json_size = 0;
    if (c->json_size)
        c->type = "application/octet-stream";
}

static void finish_job(call *c)
{
    c->error = c->job.error;
    srv_buffer_text(&c->answer, "{}");
}

static void finish_wait(call *c)
{
    if (c->route.page == SRV_PAGE_INFER)
        finish_infer(c);
    else
        finish_job(c);
}

// Responses

static void write_error(call *c)
{
    srv_buffer_clear(&c->answer);
    srv_buffer_text(&c->answer, "{\"error\":");
    srv_buffer_json(&c->answer, c->error.text, strlen(c->error.text));
    srv_buffer_text(&c->answer, "}");
    c->type = "application/json";
    c->json_size = 0;
}

static void add_headers(const call *c, struct MHD_Response *response)
{
    const srv_status status = c->error.status;
    char text[32];
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, c->type);
    if (c->json_size) {
        snprintf(text, sizeof(text), "%zu", c->json_size);
        MHD_add_response_header(response, "Inference-Header-Content-Length", text);
    }
    if (status == SRV_BUSY || status == SRV_UNAVAILABLE || status == SRV_OUT_OF_MEMORY)
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    if (status == SRV_NOT_ALLOWED && c->route.methods)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, c->route.methods);
    if (status == SRV_ENCODING) // RFC 9110, section 15.5.16
        MHD_add_response_header(response, MHD_HTTP_HEADER_ACCEPT_ENCODING, "identity");
    if (status == SRV_UNAUTHORIZED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    if (atomic_load(&c->http->server->is_draining))
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

static void log_call(const call *c, size_t bytes_out)
{
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char client[INET6_ADDRSTRLEN + 8] = "";
    if (info && info->client_addr)
        getnameinfo(info->client_addr,
                    info->client_addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                             : sizeof(struct sockaddr_in),
                    client, sizeof(client), NULL, 0, NI_NUMERICHOST);
    srv_log_answer(c->http->server->log, &(srv_log_request){
                                             .protocol = "http",
                                             .method = c->method,
                                             .path = c->path,
                                             .client = client,
                                             .model = *c->route.model ? c->route.model : NULL,
                                             .id = c->form.id,
                                             .traceparent = header(c, "traceparent"),
                                             .error = &c->error,
                                             .bytes_in = c->body_size,
                                             .bytes_out = bytes_out,
                                             .total_ns = tl_clock() - c->start,
                                             .queue_ns = c->request.queue_ns,
                                             .run_ns = c->request.run_ns,
                                         });
}

static enum MHD_Result respond(call *c)
{
    if (!c->error.status && c->answer.has_failed)
        srv_fail(&c->error, SRV_OUT_OF_MEMORY, "the server has no memory for the response");
    if (c->error.status)
        write_error(c);
    const size_t size = c->answer.size;
    hold(c, size); // an answer that was made is sent
    struct MHD_Response *const response =
        MHD_create_response_from_buffer(size, size ? c->answer.data : (void *)"",
                                        size ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
    if (!response)
        return MHD_NO;
    c->answer = (srv_buffer){.data = NULL};
    add_headers(c, response);
    const enum MHD_Result result =
        MHD_queue_response(c->connection, (unsigned)srv_status_http(c->error.status), response);
    MHD_destroy_response(response);
    log_call(c, size);
    return result;
}

// Requests

static int check_token(call *c)
{
    if (c->route.is_open ||
        srv_access_accepts(c->http->server->access, header(c, MHD_HTTP_HEADER_AUTHORIZATION)))
        return 0;
    return srv_fail(&c->error, SRV_UNAUTHORIZED, "the header Authorization has no valid token");
}

static int fail_too_large(call *c)
{
    return srv_fail(&c->error, SRV_TOO_LARGE, "the request has more than %zu bytes, the max",
                    c->http->server->max_request);
}

// The handshake demands a certificate that the authority has signed (see `secure`); this makes
// sure.
static int check_certificate(call *c)
{
    unsigned n = 0;
    if (!srv_access_needs_client(c->http->server->access))
        return 0;
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(c->connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    const gnutls_session_t session = info ? info->tls_session : NULL;
    if (session && gnutls_certificate_get_peers(session, &n) && n &&
        !gnutls_session_get_verify_cert_status(session))
        return 0;
    return srv_fail(&c->error, SRV_UNAUTHORIZED, "the client has no valid certificate");
}

// Whether a body of a request that has failed is read, so that its client sees the answer.
static int is_dropped(const call *c, unsigned long long size)
{
    return size / 2 <= c->http->server->max_request;
}

static int check_head(call *c)
{
    const char *const length = header(c, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *const encoding = header(c, MHD_HTTP_HEADER_CONTENT_ENCODING);
    if (check_certificate(c) || srv_route_find(c->method, c->path, &c->route, &c->error) ||
        check_token(c))
        return -1;
    if (encoding && strcasecmp(encoding, "identity"))
        return srv_fail(&c->error, SRV_ENCODING,
                        "the content is encoded as '%.32s'; expected 'identity'", encoding);
    return length && strtoull(length, NULL, 10) > c->http->server->max_request ? fail_too_large(c)
                                                                               : 0;
}

// What a connection has from its start to its end.
typedef struct client {
    srv_peer *peer;
    srv_tls *tls; // kept; NULL: none
} client;

static srv_peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const client *const its = info ? info->socket_context : NULL;
    return its ? its->peer : NULL;
}

static call *create_call(srv_http *http, struct MHD_Connection *connection, const char *method,
                         const char *path)
{
    srv_peer *const peer = peer_of(connection);
    call *const c = peer ? calloc(1, sizeof(*c)) : NULL;
    if (!c)
        return NULL;
    c->http = http;
    c->connection = connection;
    c->peer = peer;
    c->start = c->pace.since = tl_clock();
    c->method = strdup(method);
    c->path = strdup(path);
    if (c->method && c->path)
        return c;
    free_call(c);
    return NULL;
}

static enum MHD_Result receive(call *c, const char *data, size_t *size)
{
    const size_t n = *size, max = c->http->server->max_request;
    *size = 0;
    c->body_size += n;
    if (srv_pace_is_slow(&c->pace, c->body_size, tl_clock(), c->http->idle_ns)) {
        srv_fail(&c->error, SRV_TIMEOUT, "the request arrives with less than %d bytes per second",
                 SRV_MIN_RATE);
        log_call(c, 0);
        return MHD_NO; // the connection is closed
    }
    if (c->error.status) // the rest of the body is dropped, up to a limit
        return is_dropped(c, c->body_size) ? MHD_YES : MHD_NO;
    if (c->body_size > max) {
        fail_too_large(c);
    } else if (!hold(c, c->charge + n)) {
        fail_memory(c, &c->error);
    } else {
        srv_buffer_add(&c->body, data, n);
        if (c->body.has_failed)
            srv_fail(&c->error, SRV_OUT_OF_MEMORY, "the server has no memory for the request");
    }
    if (c->error.status) {
        srv_buffer_clear(&c->body);
        hold(c, 0);
    }
    return MHD_YES;
}

// Whether a body follows that is read and dropped before the answer, so that the client, which
// still sends, receives it and keeps its connection.
static int has_small_body(const call *c)
{
    const char *const length = header(c, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (header(c, MHD_HTTP_HEADER_EXPECT))
        return 0; // it waits for the answer
    return length ? strcmp(length, "0") && is_dropped(c, strtoull(length, NULL, 10))
                  : header(c, MHD_HTTP_HEADER_TRANSFER_ENCODING) != NULL;
}

// The client sees the response even if it closes its sending half after the request.
static enum MHD_Result answer(call *c)
{
    srv_peer_answer(c->peer);
    if (c->error.status)
        return respond(c);
    return start_answer(c) > 0 ? MHD_YES : respond(c);
}

// libmicrohttpd calls it for the head of a request, for each part of its body, and at the end.
static enum MHD_Result handle(void *data, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **state)
{
    call *c = *state;
    (void)version;
    if (!c) {
        *state = c = create_call(data, connection, method, path);
        if (!c)
            return MHD_NO;
        atomic_fetch_add(&c->http->server->n_calls, 1);
        return check_head(c) && !has_small_body(c) ? answer(c) : MHD_YES;
    }
    if (*upload_size)
        return receive(c, upload, upload_size);
    if (c->phase == READY) {
        if (restart_infer(c))
            return MHD_YES;
        finish_wait(c);
        return respond(c);
    }
    return answer(c);
}

static void completed(void *data, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code)
{
    const srv_http *const http = data;
    call *const c = *state;
    (void)connection;
    (void)code;
    if (!c)
        return;
    *state = NULL;
    atomic_fetch_sub(&http->server->n_calls, 1);
    if (srv_peer_rest(c->peer, c))
        free_call(c);
}

// Beginning and end

static void quiet(void *data, const char *fmt, va_list args)
{
    (void)data;
    (void)fmt;
    (void)args; // what clients do wrong in HTTP and TLS is no event of ours
}

// The newest certificates. libmicrohttpd has none of its own: see `no_certificate`.
static int secure(client *its, srv_access *access, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    its->tls = srv_access_keep_tls(access);
    return its->tls && (!info || srv_tls_use(its->tls, info->tls_session)) ? -1 : 0;
}

static void end_client(client *its)
{
    if (its->peer)
        srv_watch_remove(its->peer);
    srv_tls_release(its->tls);
    free(its);
}

static client *begin_client(srv_http *http, struct MHD_Connection *connection, int fd)
{
    client *const its = calloc(1, sizeof(*its));
    if (!its)
        return NULL;
    if (!secure(its, http->server->access, connection) &&
        (its->peer = srv_watch_add(http->watch, fd)))
        return its;
    end_client(its);
    return NULL;
}

// Without memory, a connection is shut down, and its requests find no client.
static void connection_changes(void *data, struct MHD_Connection *connection, void **socket_data,
                               enum MHD_ConnectionNotificationCode code)
{
    client *const its = *socket_data;
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (its)
            end_client(its);
        *socket_data = NULL;
    } else if (info) {
        *socket_data = begin_client(data, connection, info->connect_fd);
        if (!*socket_data)
            shutdown(info->connect_fd, SHUT_RDWR);
    }
}

// libmicrohttpd wants a certificate, or who finds it. A session that `secure` has not seen has
// none, and its handshake fails.
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *authorities,
                          int n_authorities, const gnutls_pk_algorithm_t *algorithms,
                          int n_algorithms, gnutls_pcert_st **certificate, unsigned *n,
                          gnutls_privkey_t *key)
{
    (void)session;
    (void)authorities;
    (void)n_authorities;
    (void)algorithms;
    (void)n_algorithms;
    (void)certificate;
    (void)n;
    (void)key;
    return -1;
}

static unsigned threads_of(const srv_http_settings *settings)
{
    const int n = tl_cpu_count() < MAX_THREADS ? tl_cpu_count() : MAX_THREADS;
    const int wanted = n < 2 ? 2 : n; // one that reads large JSON delays the others of its thread
    return (unsigned)(wanted < settings->max_connections ? wanted : settings->max_connections);
}

// A daemon has one socket, which it closes at its end.
static struct MHD_Daemon *start_daemon(srv_http *http, const srv_http_settings *settings, int fd)
{
    const int has_tls = srv_access_has_tls(http->server->access);
    const struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)no_certificate},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                                MHD_USE_ERROR_LOG | (has_tls ? MHD_USE_TLS : 0),
                            0, NULL, NULL, handle, http, MHD_OPTION_EXTERNAL_LOGGER, quiet, NULL,
                            MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, completed,
                            http, MHD_OPTION_NOTIFY_CONNECTION, connection_changes, http,
                            MHD_OPTION_THREAD_POOL_SIZE, threads_of(settings),
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)settings->max_connections,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)settings->idle_s,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)64 * 1024, MHD_OPTION_ARRAY,
                            has_tls ? tls : none, MHD_OPTION_END);
}

static int listen_to(srv_http *http, const srv_http_settings *settings, srv_error *err)
{
    if (srv_listener_open(&http->listener, settings->host, settings->port, err))
        return -1;
    http->silence = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (http->silence < 0)
        return srv_fail(err, SRV_UNAVAILABLE, "cannot open a descriptor: %s", strerror(errno));
    for (int i = 0; i < http->listener.n; i++) {
        const int fd = http->sockets[i] = http->listener.fds[i];
        http->listener.fds[i] = -1; // also if it fails: who has closed it then is unspecified
        http->daemons[i] = start_daemon(http, settings, fd);
        if (!http->daemons[i])
            return srv_fail(err, SRV_UNAVAILABLE, "cannot start the threads of HTTP");
    }
    return 0;
}

srv_http *srv_http_create(srv_server *server, srv_loader *loader, const srv_http_settings *settings,
                          srv_error *err)
{
    srv_http *const http = calloc(1, sizeof(*http));
    if (!http)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    http->server = server;
    http->loader = loader;
    http->silence = -1;
    http->max_memory = settings->max_memory;
    http->idle_ns = (uint64_t)settings->idle_s * 1000000000;
    http->watch = srv_watch_create(&(srv_watch_events){cancel_call, release_call, tick, http});
    if (!http->watch)
        srv_fail(err, SRV_UNAVAILABLE, "cannot start a thread");
    else if (!listen_to(http, settings, err))
        return http;
    srv_http_free(http);
    return NULL;
}

int srv_http_port(const srv_http *http)
{
    return http->listener.port;
}

// MHD_quiesce_daemon takes the sockets out of epoll sets from which threads of the daemon take them
// at the same time, and ends the process if both do (libmicrohttpd 0.9.75). Here, the descriptor of
// each becomes another, which is never readable: the system closes the socket.
void srv_http_quiesce(srv_http *http)
{
    for (int i = 0; i < http->listener.n; i++)
        dup3(http->silence, http->sockets[i], O_CLOEXEC);
}

void srv_http_free(srv_http *http)
{
    if (!http)
        return;
    srv_watch_stop(http->watch); // no connection stays suspended
    for (int i = 0; i < http->listener.n; i++)
        if (http->daemons[i])
            MHD_stop_daemon(http->daemons[i]);
    srv_listener_close(&http->listener);
    if (http->silence >= 0)
        close(http->silence);
    srv_watch_free(http->watch);
    free(http);
}
