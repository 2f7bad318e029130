// SPDX-License-Identifier: Apache-2.0
// Sources: RFC 9113 (HTTP/2); "gRPC over HTTP2" (grpc/grpc, doc/PROTOCOL-HTTP2.md).
//
// What a client can make the server keep is limited: streams, headers and messages by us; resets,
// settings, pings and continuations by libnghttp2; frames that wait because the client does not
// read, since then we do not read either.

#include "srv_grpc_connection.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "srv_grpc_answer.h"
#include "tensorlight/tl_util.h"

enum {
    MAX_STREAMS = 128,
    STREAM_WINDOW = 1 << 20, // bytes that a client may send ahead
    CONNECTION_WINDOW = 4 << 20,
    OUT = 64 << 10,    // bytes that are written at once
    ROUNDS = 16,       // writes, or reads, before other connections have their turn
    MAX_OUTBOUND = 256 // frames that wait
};

struct srv_grpc_connection {
    srv_grpc_context *context;
    srv_grpc_socket socket;
    nghttp2_session *session;
    srv_grpc_call *calls;
    srv_buffer out;
    size_t written;  // of `out`
    uint64_t active; // tl_clock: bytes came or left
    int n_unsent;    // calls that have ended, but not all bytes of their answers have left
    int is_blocked;  // the socket has no room
    int has_more;    // there was no time to write all
    char client[64];
};

// Calls

static void note_time(srv_grpc_context *context, uint64_t time)
{
    if (time && time < context->wake)
        context->wake = time;
}

static void add_call(srv_grpc_connection *n, srv_grpc_call *c)
{
    c->connection = n;
    c->client = n->client;
    c->next = n->calls;
    c->link = &n->calls;
    if (c->next)
        c->next->link = &c->next;
    n->calls = c;
    atomic_fetch_add(&n->context->server->n_calls, 1);
}

// One that waits goes on without the connection until its run has ended.
static void remove_call(srv_grpc_connection *n, srv_grpc_call *c)
{
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    c->connection = NULL;
    c->client = "";
    n->n_unsent++;
    if (c->is_out)
        srv_grpc_call_cancel(c);
    else
        srv_grpc_call_free(c);
}

// After each event of a call.
static int check_call(srv_grpc_connection *n, srv_grpc_call *c)
{
    note_time(n->context, c->deadline);
    return c->phase == SRV_GRPC_ANSWERED ? srv_grpc_answer_submit(n->session, c) : 0;
}

// The server may stop once no call is left.
static void forget_sent(srv_grpc_connection *n)
{
    atomic_fetch_sub(&n->context->server->n_calls, n->n_unsent);
    n->n_unsent = 0;
}

// Callbacks of libnghttp2

static srv_grpc_call *call_of(nghttp2_session *session, int32_t stream)
{
    return nghttp2_session_get_stream_user_data(session, stream);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    srv_grpc_connection *const n = data;
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    srv_grpc_call *const c = srv_grpc_call_create(n->context, frame->hd.stream_id);
    if (!c)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; // resets the stream
    add_call(n, c);
    return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, c);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_size, const uint8_t *value, size_t value_size, uint8_t flags,
                     void *data)
{
    srv_grpc_call *const c = call_of(session, frame->hd.stream_id);
    (void)flags;
    (void)data;
    if (c && frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST)
        srv_grpc_call_header(c, name, name_size, value, value_size);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    srv_grpc_connection *const n = data;
    const int is_head =
        frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    srv_grpc_call *const c = call_of(session, frame->hd.stream_id);
    if (!c || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
        c->phase != SRV_GRPC_RECEIVING)
        return 0;
    if (is_head)
        srv_grpc_call_head(c);
    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        srv_grpc_call_end(c);
    return check_call(n, c) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t size, void *data)
{
    srv_grpc_connection *const n = data;
    srv_grpc_call *const c = call_of(session, stream);
    (void)flags;
    if (!c || c->phase != SRV_GRPC_RECEIVING)
        return 0;
    srv_grpc_call_data(c, bytes, size);
    return check_call(n, c) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

// An answer may be complete before its request is: the client need not send the rest.
static int on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *data)
{
    (void)data;
    if (frame->hd.type != NGHTTP2_HEADERS || !(frame->hd.flags & NGHTTP2_FLAG_END_STREAM) ||
        nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id) != 0)
        return 0;
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                     NGHTTP2_NO_ERROR);
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t code, void *data)
{
    srv_grpc_call *const c = call_of(session, stream);
    (void)code;
    nghttp2_session_set_stream_user_data(session, stream, NULL);
    if (c)
        remove_call(data, c);
    return 0;
}

static int create_session(srv_grpc_connection *n)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    int status = nghttp2_session_callbacks_new(&callbacks) || nghttp2_option_new(&option);
    if (!status) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
        nghttp2_option_set_no_closed_streams(option, 1);
        status = nghttp2_session_server_new2(&n->session, callbacks, n, option);
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return status;
}

static int submit_settings(srv_grpc_connection *n)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, MAX_STREAMS},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, SRV_GRPC_MAX_HEAD}};
    return nghttp2_submit_settings(n->session, NGHTTP2_FLAG_NONE, settings,
                                   sizeof(settings) / sizeof(settings[0])) ||
           nghttp2_session_set_local_window_size(n->session, NGHTTP2_FLAG_NONE, 0,
                                                 CONNECTION_WINDOW);
}

srv_grpc_connection *srv_grpc_connection_create(srv_grpc_context *context, int fd,
                                                const char *client)
{
    srv_grpc_connection *const n = calloc(1, sizeof(*n));
    if (!n)
        return NULL;
    n->context = context;
    n->active = tl_clock();
    snprintf(n->client, sizeof(n->client), "%s", client);
    if (context->idle_ns)
        note_time(context, n->active + context->idle_ns);
    srv_tls *const tls = srv_access_keep_tls(context->server->access);
    if (!create_session(n) && !submit_settings(n) && !srv_grpc_socket_create(&n->socket, fd, tls))
        return n;
    srv_tls_release(tls);
    nghttp2_session_del(n->session);
    free(n);
    return NULL;
}

void srv_grpc_connection_free(srv_grpc_connection *n)
{
    if (!n)
        return;
    while (n->calls)
        remove_call(n, n->calls);
    forget_sent(n);
    nghttp2_session_del(n->session);
    srv_grpc_socket_close(&n->socket);
    srv_buffer_clear(&n->out);
    free(n);
}

int srv_grpc_connection_fd(const srv_grpc_connection *n)
{
    return n->socket.fd;
}

// Reading and writing

// Frames of libnghttp2 to `out`, which is empty.
static int fill_out(srv_grpc_connection *n)
{
    n->out.size = n->written = 0;
    while (n->out.size < OUT) {
        const uint8_t *bytes;
        const ssize_t size = nghttp2_session_mem_send(n->session, &bytes);
        if (size < 0)
            return -1;
        if (size == 0)
            break;
        srv_buffer_add(&n->out, bytes, (size_t)size);
    }
    return n->out.has_failed ? -1 : 0;
}

// Until the socket has no room. -1: it has ended.
static int write_out(srv_grpc_connection *n)
{
    while (n->written < n->out.size) {
        const ssize_t size =
            srv_grpc_socket_write(&n->socket, n->out.data + n->written, n->out.size - n->written);
        if (size < 0)
            return -1;
        n->is_blocked = size == 0;
        if (n->is_blocked)
            return 0;
        n->written += (size_t)size;
        n->active = tl_clock();
    }
    return 0;
}

// All bytes have left. -1: no more will come.
static int end_write(srv_grpc_connection *n)
{
    srv_buffer_clear(&n->out);
    forget_sent(n);
    return nghttp2_session_want_read(n->session) || nghttp2_session_want_write(n->session) ? 0 : -1;
}

int srv_grpc_connection_write(srv_grpc_connection *n)
{
    n->is_blocked = n->has_more = 0;
    if (!n->socket.is_open)
        return 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (write_out(n))
            return -1;
        if (n->is_blocked)
            return 0;
        if (fill_out(n))
            return -1;
        if (!n->out.size)
            return end_write(n);
    }
    n->has_more = 1;
    return 0;
}

// A client that does not read what it asked for.
static int is_stuck(const srv_grpc_connection *n)
{
    return n->is_blocked && nghttp2_session_get_outbound_queue_size(n->session) > MAX_OUTBOUND;
}

int srv_grpc_connection_read(srv_grpc_connection *n)
{
    uint8_t bytes[OUT];
    for (int i = 0; i < ROUNDS || srv_grpc_socket_has_more(&n->socket); i++) {
        if (is_stuck(n))
            break;
        const ssize_t size = srv_grpc_socket_read(&n->socket, bytes, sizeof(bytes));
        if (size < 0)
            return -1;
        if (size == 0)
            break;
        n->active = tl_clock();
        if (nghttp2_session_mem_recv(n->session, bytes, (size_t)size) < 0) {
            srv_grpc_connection_write(n); // perhaps it says why
            return -1;
        }
        if (srv_grpc_connection_write(n))
            return -1;
    }
    return srv_grpc_connection_write(n);
}

unsigned srv_grpc_connection_events(const srv_grpc_connection *n)
{
    const int wants_write =
        n->socket.is_open ? n->is_blocked || n->has_more : n->socket.wants_write;
    return (is_stuck(n) ? 0 : (unsigned)EPOLLIN) | (wants_write ? (unsigned)EPOLLOUT : 0);
}

int srv_grpc_connection_answer(srv_grpc_connection *n, srv_grpc_call *c)
{
    return check_call(n, c) || srv_grpc_connection_write(n) ? -1 : 0;
}

// Time

static int is_idle(const srv_grpc_context *context, uint64_t since, uint64_t now)
{
    return context->idle_ns && now - since >= context->idle_ns && now > since;
}

static int tick_call(srv_grpc_connection *n, srv_grpc_call *c, uint64_t now)
{
    const int is_due = c->deadline && c->deadline <= now;
    if (is_due && c->phase != SRV_GRPC_ANSWERED) {
        srv_grpc_call_expire(c);
        return srv_grpc_answer_submit(n->session, c);
    }
    if (is_due || (c->phase != SRV_GRPC_WAITING && is_idle(n->context, c->progress, now))) {
        c->deadline = 0;
        c->progress = now;
        return nghttp2_submit_rst_stream(n->session, NGHTTP2_FLAG_NONE, c->stream, NGHTTP2_CANCEL);
    }
    note_time(n->context, c->deadline);
    if (n->context->idle_ns && c->phase != SRV_GRPC_WAITING)
        note_time(n->context, c->progress + n->context->idle_ns);
    return 0;
}

static int waits(const srv_grpc_connection *n)
{
    for (const srv_grpc_call *c = n->calls; c; c = c->next)
        if (c->phase == SRV_GRPC_WAITING)
            return 1;
    return 0;
}

int srv_grpc_connection_tick(srv_grpc_connection *n, uint64_t now)
{
    for (srv_grpc_call *c = n->calls; c; c = c->next)
        if (tick_call(n, c, now))
            return -1;
    if (is_idle(n->context, n->active, now) && !waits(n)) {
        srv_grpc_connection_quiesce(n);
        srv_grpc_connection_write(n);
        return -1;
    }
    if (n->context->idle_ns)
        note_time(n->context,
                  waits(n) ? now + n->context->idle_ns : n->active + n->context->idle_ns);
    return srv_grpc_connection_write(n);
}

void srv_grpc_connection_quiesce(srv_grpc_connection *n)
{
    nghttp2_submit_goaway(n->session, NGHTTP2_FLAG_NONE,
                          nghttp2_session_get_last_proc_stream_id(n->session), NGHTTP2_NO_ERROR,
                          NULL, 0);
}
