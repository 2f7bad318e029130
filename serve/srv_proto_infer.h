// SPDX-License-Identifier: Apache-2.0
// Requests and responses of the Open Inference Protocol as messages of Protocol Buffers.
//
// Source: the Open Inference Protocol, version 2 (KServe), package `inference`; the parameter
// "timeout" is Triton's.
#pragma once

#include "srv_proto.h"
#include "srv_proto.pb-c.h"
#include "srv_request.h"

/** How a request wants its response. */
typedef struct srv_proto_form {
    char *id;     // owned; NULL: none
    int is_typed; // contents in fields of their types, as in the request; else raw bytes
} srv_proto_form;

/** Reads a request. -1 with a reason in r->error. */
int srv_proto_read_infer(const Inference__ModelInferRequest *message, srv_request *r,
                         srv_proto_form *form);

/** Appends the response with its prefix. -1 with a reason. */
int srv_proto_write_infer(const srv_request *r, const srv_proto_form *form, const char *model,
                          const char *version, srv_buffer *b, srv_error *err);

/** Frees what the form owns. */
void srv_proto_form_clear(srv_proto_form *form);
