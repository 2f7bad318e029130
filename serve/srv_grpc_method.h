// SPDX-License-Identifier: Apache-2.0
// The methods of the services.
#pragma once

#include "srv_grpc_call.h"

typedef struct srv_grpc_method {
    const char *path;
    int is_open; // needs no token
    const ProtobufCMessageDescriptor *request;
    // 0: the answer is there; 1: the call waits, and ends by `finish`; -1: it failed.
    int (*start)(srv_grpc_call *c, const ProtobufCMessage *request);
    int (*finish)(srv_grpc_call *c); // NULL: it never waits
} srv_grpc_method;

/** NULL with a reason: no such service or method. */
const srv_grpc_method *srv_grpc_method_find(const char *path, srv_error *err);
