// SPDX-License-Identifier: Apache-2.0
// Values of gRPC's headers.
//
// Source: "gRPC over HTTP2" (grpc/grpc, doc/PROTOCOL-HTTP2.md).
#pragma once

#include <stdint.h>

#include "srv_buffer.h"

/** Reads the value of `grpc-timeout`, such as "100m": 1 to 8 digits and a unit. At most 100 years.
 *  -1: it is none. */
int srv_grpc_read_timeout(const char *text, uint64_t *ns);

/** Whether `content-type` is gRPC with Protocol Buffers. */
int srv_grpc_is_content_type(const char *text);

/** Appends the value of `grpc-message` and a 0: other bytes than printable ASCII, and '%', as %XX.
 */
void srv_grpc_write_message(srv_buffer *b, const char *text);
