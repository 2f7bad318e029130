// SPDX-License-Identifier: Apache-2.0
// Headers, the message as the client's windows allow, and trailers; an error has all headers at
// once.

#include "srv_grpc_answer.h"

#include <stdio.h>
#include <string.h>

#include "tensorlight/tl_util.h"

// Headers

static nghttp2_nv header(const char *name, const char *value)
{
    return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value),
                        NGHTTP2_NV_FLAG_NONE};
}

// Of the end of a call: the status, and why it failed.
typedef struct trailers {
    char code[16];
    srv_buffer message;
    nghttp2_nv at[4];
    size_t n;
} trailers;

static int may_retry(srv_status status)
{
    return status == SRV_BUSY || status == SRV_UNAVAILABLE || status == SRV_OUT_OF_MEMORY;
}

static void set_trailers(trailers *t, const srv_grpc_call *c)
{
    const srv_status status = c->error.status;
    *t = (trailers){.n = 0};
    snprintf(t->code, sizeof(t->code), "%d", srv_status_grpc(status));
    t->at[t->n++] = header("grpc-status", t->code);
    if (status)
        srv_grpc_write_message(&t->message, c->error.text);
    if (t->message.data && !t->message.has_failed)
        t->at[t->n++] = header("grpc-message", t->message.data);
    if (may_retry(status))
        t->at[t->n++] = header("grpc-retry-pushback-ms", "1000");
}

// Answers

static ssize_t read_answer(nghttp2_session *session, int32_t stream, uint8_t *to, size_t size,
                           uint32_t *flags, nghttp2_data_source *source, void *data)
{
    srv_grpc_call *const c = source->ptr;
    const size_t left = c->answer.size - c->sent, n = size < left ? size : left;
    (void)data;
    memcpy(to, c->answer.data + c->sent, n);
    c->sent += n;
    c->progress = tl_clock();
    if (n < left)
        return (ssize_t)n;
    trailers end;
    set_trailers(&end, c);
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const int status = nghttp2_submit_trailer(session, stream, end.at, end.n);
    srv_buffer_clear(&end.message);
    return status ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : (ssize_t)n;
}

static int submit_message(nghttp2_session *session, srv_grpc_call *c)
{
    const nghttp2_nv head[] = {header(":status", "200"), header("content-type", "application/grpc"),
                               header("grpc-accept-encoding", "identity")};
    const nghttp2_data_provider provider = {{.ptr = c}, read_answer};
    return nghttp2_submit_response(session, c->stream, head, sizeof(head) / sizeof(head[0]),
                                   &provider);
}

// Headers and trailers at once.
static int submit_error(nghttp2_session *session, srv_grpc_call *c)
{
    enum { HEAD = 3, ALL = HEAD + 5 };
    char http_status[16];
    nghttp2_nv all[ALL];
    trailers end;
    size_t count = HEAD;
    snprintf(http_status, sizeof(http_status), "%d", c->http_status);
    all[0] = header(":status", http_status);
    all[1] = header("content-type", "application/grpc");
    all[2] = header("grpc-accept-encoding", "identity");
    if (c->http_status == 405)
        all[count++] = header("allow", "POST");
    set_trailers(&end, c);
    for (size_t i = 0; i < end.n; i++)
        all[count++] = end.at[i];
    const int status = nghttp2_submit_response(session, c->stream, all, count, NULL);
    srv_buffer_clear(&end.message);
    return status;
}

int srv_grpc_answer_submit(nghttp2_session *session, srv_grpc_call *c)
{
    const int status = c->error.status ? submit_error(session, c) : submit_message(session, c);
    return status ? nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, c->stream,
                                              NGHTTP2_INTERNAL_ERROR)
                  : 0;
}
