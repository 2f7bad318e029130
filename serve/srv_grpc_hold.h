// SPDX-License-Identifier: Apache-2.0
// The bytes that calls of gRPC keep, of the limit for all of them.
#pragma once

#include "srv_grpc_call.h"

/** Counts the bytes that the call keeps of its request or answer from now on. */
void srv_grpc_hold(srv_grpc_call *c, size_t size);

/** The same. -1 with a reason in c->error: those of all calls exceed the limit. */
int srv_grpc_try_hold(srv_grpc_call *c, size_t size);
