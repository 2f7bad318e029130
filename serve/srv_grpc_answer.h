// SPDX-License-Identifier: Apache-2.0
// The answer of a call as frames of HTTP/2.
//
// Source: "gRPC over HTTP2" (grpc/grpc, doc/PROTOCOL-HTTP2.md); `grpc-retry-pushback-ms` is of
// gRPC's proposal A6.
#pragma once

#include <nghttp2/nghttp2.h>

#include "srv_grpc_call.h"

/** Lets the session send what the call answered, which stays until its stream closes. Not 0: no
 *  memory. */
int srv_grpc_answer_submit(nghttp2_session *session, srv_grpc_call *c);
