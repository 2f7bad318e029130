// SPDX-License-Identifier: Apache-2.0
// A call of gRPC, from its headers to its answer. It knows nothing of HTTP/2: a connection brings
// headers and bytes, and fetches the answer.
//
// A call that runs a model, or loads one, waits. It belongs to who ends it until `ready`, also when
// its client has gone: then its connection is NULL.
#pragma once

#include "srv_grpc_text.h"
#include "srv_loader.h"
#include "srv_pace.h"
#include "srv_proto_infer.h"
#include "srv_server.h"

struct srv_grpc_call;

/** What the calls of a front end share; its thread alone changes it. */
typedef struct srv_grpc_context {
    srv_server *server;
    srv_loader *loader;
    void (*ready)(struct srv_grpc_call *call); // in any thread: call srv_grpc_call_finish
    size_t held, max_held;                     // bytes of requests and answers of all calls
    uint64_t idle_ns;                          // 0: never
    uint64_t wake;                             // tl_clock: when something is due
    int n_waiting;                             // calls
} srv_grpc_context;

typedef enum srv_grpc_phase {
    SRV_GRPC_RECEIVING,
    SRV_GRPC_WAITING,
    SRV_GRPC_ANSWERED
} srv_grpc_phase;

typedef enum srv_grpc_header {
    SRV_GRPC_METHOD,
    SRV_GRPC_PATH,
    SRV_GRPC_CONTENT_TYPE,
    SRV_GRPC_TIMEOUT,
    SRV_GRPC_ENCODING,
    SRV_GRPC_AUTHORIZATION,
    SRV_GRPC_TRACEPARENT,
    SRV_GRPC_N_HEADERS
} srv_grpc_header;

typedef struct srv_grpc_call {
    srv_grpc_context *context;
    void *connection;   // NULL: its client has gone
    const char *client; // its address, of the connection
    int stream;
    srv_grpc_phase phase;
    int is_out;               // who ends what the call waits for still has it
    uint64_t start, deadline; // tl_clock; 0: none
    uint64_t progress;        // of bytes that arrive or leave
    srv_pace pace;            // of the message
    // the request
    char *headers[SRV_GRPC_N_HEADERS]; // NULL: none
    size_t head_size;
    const struct srv_grpc_method *method;
    unsigned char prefix[SRV_PROTO_PREFIX];
    size_t prefix_size, message_size, received; // bytes; `received` of the message
    size_t held;                                // that it keeps
    srv_buffer message;
    // what it waits for
    char *name; // of the model
    srv_model *model;
    srv_request request;
    srv_proto_form form;
    srv_job job;
    // the answer
    srv_error error;
    int http_status;
    srv_buffer answer; // the message with its prefix
    size_t sent;
    // of its connection; of those that are ready
    struct srv_grpc_call *next, **link, *next_ready;
} srv_grpc_call;

enum { SRV_GRPC_MAX_HEAD = 16 << 10 }; // bytes of headers

/** Returns new (srv_grpc_call_free); NULL: no memory. */
srv_grpc_call *srv_grpc_call_create(srv_grpc_context *context, int stream);

/** It does not wait. Ignores NULL. */
void srv_grpc_call_free(srv_grpc_call *c);

/** A header; unknown ones are ignored. */
void srv_grpc_call_header(srv_grpc_call *c, const void *name, size_t name_size, const void *value,
                          size_t value_size);

/** The headers are complete. */
void srv_grpc_call_head(srv_grpc_call *c);

/** Bytes of the request, and its end. After each, and after srv_grpc_call_head, the phase may be
 *  SRV_GRPC_ANSWERED, perhaps by an error. */
void srv_grpc_call_data(srv_grpc_call *c, const void *bytes, size_t size);
void srv_grpc_call_end(srv_grpc_call *c);

/** What the call waited for has ended: it is answered, unless it was before. */
void srv_grpc_call_finish(srv_grpc_call *c);

/** Answers with DEADLINE_EXCEEDED; a run is stopped. */
void srv_grpc_call_expire(srv_grpc_call *c);

/** Stops the run that the call waits for. */
void srv_grpc_call_cancel(srv_grpc_call *c);
