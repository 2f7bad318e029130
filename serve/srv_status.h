// SPDX-License-Identifier: Apache-2.0
// The outcome of a request, with its codes in HTTP and gRPC, and the reason of a failure.
#pragma once

#include "lightnet/ln_api.h"

typedef enum srv_status {
    SRV_OK,
    SRV_INVALID,       // the request is wrong
    SRV_UNAUTHORIZED,  // no token, or a wrong one
    SRV_FORBIDDEN,     // an option of the server does not permit it
    SRV_NOT_FOUND,     // no such model, version or page
    SRV_NOT_ALLOWED,   // the page has no such method
    SRV_TOO_LARGE,     // the request exceeds a limit of the server
    SRV_ENCODING,      // the content is encoded, as by gzip
    SRV_UNSUPPORTED,   // a type or an extension that the server lacks
    SRV_BUSY,          // the model's queue is full
    SRV_UNAVAILABLE,   // the model is being loaded, has failed to load, or the server stops
    SRV_TIMEOUT,       // the request's deadline has passed
    SRV_CANCELLED,     // its client has gone
    SRV_OUT_OF_MEMORY, // of the server
    SRV_INTERNAL,      // the run failed
    SRV_STATUS_SIZE
} srv_status;

/** A status, and one line that explains it. */
typedef struct srv_error {
    srv_status status;
    char text[512];
} srv_error;

/** Sets an error, unless it has one: the first reason wins. Returns -1. */
int srv_fail(srv_error *err, srv_status status, const char *fmt, ...) LN_PRINTF(3, 4);

/** The same with the reason of a call of LightNet. Returns -1. */
int srv_fail_ln(srv_error *err, ln_status status, const char *reason);

/** The name of the status in metrics and logs, such as "busy". */
const char *srv_status_name(srv_status status);

/** Its code in HTTP, such as 429, and in gRPC, such as 8 (RESOURCE_EXHAUSTED). */
int srv_status_http(srv_status status);
int srv_status_grpc(srv_status status);
