// SPDX-License-Identifier: Apache-2.0
// The front end for gRPC: the Open Inference Protocol, and gRPC's health checks, over HTTP/2.
#pragma once

#include "srv_http.h"

typedef struct srv_grpc srv_grpc;

/** Listens as the settings of the front end for HTTP say, at their port. Returns new
 *  (srv_grpc_free); NULL with a reason. */
srv_grpc *srv_grpc_create(srv_server *server, srv_loader *loader, const srv_http_settings *settings,
                          srv_error *err);

/** The port that it listens to. */
int srv_grpc_port(const srv_grpc *grpc);

/** Accepts no more connections and calls; those that exist go on. Ignores NULL. */
void srv_grpc_quiesce(srv_grpc *grpc);

/** Closes all connections, cancels requests that wait, and waits for them. The loader has ended.
 *  Ignores NULL. */
void srv_grpc_free(srv_grpc *grpc);
