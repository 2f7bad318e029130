// SPDX-License-Identifier: Apache-2.0
// Statuses of errors that gRPC's own code finds: grpc/grpc, doc/statuscodes.md.

#include "srv_grpc_call.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "srv_grpc_hold.h"
#include "srv_grpc_method.h"
#include "tensorlight/tl_util.h"

enum { DECODED = 8 }; // bytes of a decoded message for each of the largest: one at a time

static const char *const header_names[SRV_GRPC_N_HEADERS] = {
    [SRV_GRPC_METHOD] = ":method",
    [SRV_GRPC_PATH] = ":path",
    [SRV_GRPC_CONTENT_TYPE] = "content-type",
    [SRV_GRPC_TIMEOUT] = "grpc-timeout",
    [SRV_GRPC_ENCODING] = "grpc-encoding",
    [SRV_GRPC_AUTHORIZATION] = "authorization",
    [SRV_GRPC_TRACEPARENT] = "traceparent",
};

srv_grpc_call *srv_grpc_call_create(srv_grpc_context *context, int stream)
{
    srv_grpc_call *const c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->context = context;
    c->stream = stream;
    c->start = c->progress = c->pace.since = tl_clock();
    c->http_status = 200;
    return c;
}

void srv_grpc_call_free(srv_grpc_call *c)
{
    if (!c)
        return;
    if (c->model)
        srv_model_release(c->model);
    srv_grpc_hold(c, 0);
    srv_request_clear(&c->request);
    srv_proto_form_clear(&c->form);
    srv_buffer_clear(&c->message);
    srv_buffer_clear(&c->answer);
    for (int i = 0; i < SRV_GRPC_N_HEADERS; i++)
        free(c->headers[i]);
    free(c->name);
    free(c);
}

// Answers

static void log_call(const srv_grpc_call *c)
{
    srv_log_answer(c->context->server->log,
                   &(srv_log_request){
                       .protocol = "grpc",
                       .method = c->headers[SRV_GRPC_METHOD] ? c->headers[SRV_GRPC_METHOD] : "",
                       .path = c->headers[SRV_GRPC_PATH] ? c->headers[SRV_GRPC_PATH] : "",
                       .client = c->client,
                       .model = c->name,
                       .id = c->form.id,
                       .traceparent = c->headers[SRV_GRPC_TRACEPARENT],
                       .error = &c->error,
                       .bytes_in = c->received,
                       .bytes_out = c->answer.size,
                       .total_ns = tl_clock() - c->start,
                       .queue_ns = c->is_out ? 0 : c->request.queue_ns,
                       .run_ns = c->is_out ? 0 : c->request.run_ns,
                   });
}

static void answer(srv_grpc_call *c)
{
    if (c->phase == SRV_GRPC_ANSWERED)
        return;
    if (c->error.status)
        srv_buffer_clear(&c->answer);
    c->phase = SRV_GRPC_ANSWERED;
    c->progress = tl_clock();
    log_call(c);
    srv_buffer_clear(&c->message);
    if (!c->is_out)
        srv_request_clear(&c->request);
    srv_grpc_hold(c, (c->is_out ? c->held : 0) + c->answer.size);
}

// Requests

void srv_grpc_call_header(srv_grpc_call *c, const void *name, size_t name_size, const void *value,
                          size_t value_size)
{
    c->head_size += name_size + value_size;
    if (c->head_size > SRV_GRPC_MAX_HEAD) {
        srv_fail(&c->error, SRV_TOO_LARGE, "the headers have more than %d bytes, the max",
                 SRV_GRPC_MAX_HEAD);
        return;
    }
    for (int i = 0; i < SRV_GRPC_N_HEADERS; i++) {
        if (strlen(header_names[i]) != name_size || memcmp(header_names[i], name, name_size) != 0)
            continue;
        free(c->headers[i]);
        c->headers[i] = strndup(value, value_size);
        if (!c->headers[i])
            srv_fail(&c->error, SRV_OUT_OF_MEMORY, "no memory");
    }
}

static int check_token(srv_grpc_call *c)
{
    if (c->method->is_open ||
        srv_access_accepts(c->context->server->access, c->headers[SRV_GRPC_AUTHORIZATION]))
        return 0;
    return srv_fail(&c->error, SRV_UNAUTHORIZED,
                    "the metadata 'authorization' have no valid token");
}

static int check_http(srv_grpc_call *c)
{
    const char *const type = c->headers[SRV_GRPC_CONTENT_TYPE];
    const char *const method = c->headers[SRV_GRPC_METHOD];
    if (!method || strcmp(method, "POST") != 0) {
        c->http_status = 405;
        return srv_fail(&c->error, SRV_NOT_ALLOWED, "the method of HTTP is %.16s; gRPC has POST",
                        method ? method : "missing");
    }
    if (!type || !srv_grpc_is_content_type(type)) {
        c->http_status = 415;
        return srv_fail(&c->error, SRV_UNSUPPORTED,
                        "the content-type is %.64s; expected application/grpc",
                        type ? type : "missing");
    }
    return 0;
}

static int check_timeout(srv_grpc_call *c)
{
    const char *const text = c->headers[SRV_GRPC_TIMEOUT];
    uint64_t ns;
    if (!text)
        return 0;
    if (srv_grpc_read_timeout(text, &ns))
        return srv_fail(&c->error, SRV_INVALID,
                        "grpc-timeout is '%.32s'; expected up to 8 digits and a unit, as 100m",
                        text);
    c->deadline = c->start + ns;
    return 0;
}

void srv_grpc_call_head(srv_grpc_call *c)
{
    const char *const path = c->headers[SRV_GRPC_PATH];
    int status = c->error.status || check_http(c) ? -1 : 0;
    if (!status)
        c->method = srv_grpc_method_find(path ? path : "", &c->error);
    if (status || !c->method || check_token(c) || check_timeout(c))
        answer(c);
}

static int check_prefix(srv_grpc_call *c)
{
    const size_t max = c->context->server->max_request;
    const char *const encoding = c->headers[SRV_GRPC_ENCODING];
    if (c->prefix[0])
        return srv_fail(&c->error, SRV_UNSUPPORTED,
                        "the message is compressed (%.32s), which the server does not support",
                        encoding ? encoding : "without a grpc-encoding");
    for (int i = 1; i < SRV_PROTO_PREFIX; i++)
        c->message_size = c->message_size << 8 | c->prefix[i];
    if (c->message_size > max)
        return srv_fail(&c->error, SRV_TOO_LARGE,
                        "the message has %zu bytes; the max of the server is %zu", c->message_size,
                        max);
    return 0;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t take_prefix(srv_grpc_call *c, const void *bytes, size_t size)
{
    const size_t n = min_size(size, SRV_PROTO_PREFIX - c->prefix_size);
    memcpy(c->prefix + c->prefix_size, bytes, n);
    c->prefix_size += n;
    if (c->prefix_size == SRV_PROTO_PREFIX)
        check_prefix(c);
    return n;
}

static size_t take_message(srv_grpc_call *c, const void *bytes, size_t size)
{
    const size_t n = min_size(size, c->message_size - c->message.size);
    if (!n) {
        srv_fail(&c->error, SRV_UNSUPPORTED, "the method has one message; the request has more");
        return 0;
    }
    if (srv_grpc_try_hold(c, c->held + n))
        return 0;
    srv_buffer_add(&c->message, bytes, n);
    if (c->message.has_failed)
        srv_fail(&c->error, SRV_OUT_OF_MEMORY, "the server has no memory for the request");
    c->received += n;
    return n;
}

void srv_grpc_call_data(srv_grpc_call *c, const void *bytes, size_t size)
{
    const char *at = bytes, *const end = at + size;
    if (c->phase != SRV_GRPC_RECEIVING)
        return; // what follows an answer is dropped
    c->progress = tl_clock();
    while (at < end && !c->error.status)
        at += c->prefix_size < SRV_PROTO_PREFIX ? take_prefix(c, at, (size_t)(end - at))
                                                : take_message(c, at, (size_t)(end - at));
    if (srv_pace_is_slow(&c->pace, c->received, c->progress, c->context->idle_ns))
        srv_fail(&c->error, SRV_TIMEOUT, "the request arrives with less than %d bytes per second",
                 SRV_MIN_RATE);
    if (c->error.status)
        answer(c);
}

static int check_end(srv_grpc_call *c)
{
    if (!c->prefix_size)
        return srv_fail(&c->error, SRV_UNSUPPORTED, "the method has one message; there is none");
    if (c->prefix_size < SRV_PROTO_PREFIX || c->message.size < c->message_size)
        return srv_fail(&c->error, SRV_INVALID, "the request ends within its message");
    return 0;
}

// Before the method starts: it may end at once, in another thread.
static int start(srv_grpc_call *c)
{
    srv_arena arena = {.left = c->context->server->max_request * DECODED + (1 << 20)};
    const ProtobufCMessage *const request =
        srv_proto_unpack(&arena, c->method->request, c->message.data, c->message.size, &c->error);
    const int status = request ? c->method->start(c, request) : -1;
    srv_arena_clear(&arena);
    return status;
}

void srv_grpc_call_end(srv_grpc_call *c)
{
    if (c->phase != SRV_GRPC_RECEIVING)
        return;
    c->progress = tl_clock();
    const int status = check_end(c) ? -1 : start(c);
    if (status > 0) {
        c->phase = SRV_GRPC_WAITING;
        c->is_out = 1;
        c->context->n_waiting++;
        srv_buffer_clear(&c->message);
    } else {
        answer(c);
    }
}

void srv_grpc_call_finish(srv_grpc_call *c)
{
    c->context->n_waiting--;
    c->is_out = 0;
    if (c->phase != SRV_GRPC_WAITING) { // its deadline has passed
        srv_request_clear(&c->request);
        srv_grpc_hold(c, c->answer.size);
        return;
    }
    if (c->connection)
        c->method->finish(c);
    else
        srv_fail(&c->error, SRV_CANCELLED, "the client has gone");
    answer(c);
}

void srv_grpc_call_cancel(srv_grpc_call *c)
{
    if (c->is_out && c->model)
        srv_model_cancel(c->model, &c->request);
}

void srv_grpc_call_expire(srv_grpc_call *c)
{
    srv_fail(&c->error, SRV_TIMEOUT, "the deadline has passed");
    answer(c);
    srv_grpc_call_cancel(c);
}
