// SPDX-License-Identifier: Apache-2.0
// A connection of HTTP/2 with its calls. libnghttp2 reads and writes frames; nothing blocks.
#pragma once

#include "srv_grpc_call.h"
#include "srv_grpc_socket.h"

typedef struct srv_grpc_connection srv_grpc_connection;

/** Takes `fd`, which does not block. Returns new (srv_grpc_connection_free); NULL: no memory, `fd`
 *  is still the caller's. */
srv_grpc_connection *srv_grpc_connection_create(srv_grpc_context *context, int fd,
                                                const char *client);

/** Closes it, and cancels its calls: those that wait lose their connection. */
void srv_grpc_connection_free(srv_grpc_connection *n);

int srv_grpc_connection_fd(const srv_grpc_connection *n);

/** Reads and writes what the socket has and takes, or writes alone. -1: the connection has ended.
 */
int srv_grpc_connection_read(srv_grpc_connection *n);
int srv_grpc_connection_write(srv_grpc_connection *n);

/** Events of epoll that it waits for. */
unsigned srv_grpc_connection_events(const srv_grpc_connection *n);

/** A call of the connection has been answered. -1: the connection has ended. */
int srv_grpc_connection_answer(srv_grpc_connection *n, srv_grpc_call *c);

/** Ends what is due at `now`, and lowers context->wake to the next time. -1: it has ended. */
int srv_grpc_connection_tick(srv_grpc_connection *n, uint64_t now);

/** Accepts no more calls, and ends after those that exist. */
void srv_grpc_connection_quiesce(srv_grpc_connection *n);
