// SPDX-License-Identifier: Apache-2.0
// A sum in the context, which one thread changes.

#include "srv_grpc_hold.h"

void srv_grpc_hold(srv_grpc_call *c, size_t size)
{
    c->context->held += size - c->held;
    c->held = size;
}

int srv_grpc_try_hold(srv_grpc_call *c, size_t size)
{
    const size_t max = c->context->max_held;
    srv_grpc_hold(c, size);
    return c->context->held <= max
               ? 0
               : srv_fail(&c->error, SRV_UNAVAILABLE,
                          "the requests and answers of all clients have more than %zu bytes, "
                          "the max",
                          max);
}
