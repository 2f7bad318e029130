// SPDX-License-Identifier: Apache-2.0
// The front end for HTTP/1.1: the Open Inference Protocol, metrics, and a page for people.
#pragma once

#include "srv_loader.h"
#include "srv_server.h"

typedef struct srv_http srv_http;

typedef struct srv_http_settings {
    const char *host;    // an address, or a name with one or several
    int port;            // 0: any that is free
    int max_connections; // at each address of the host
    size_t max_memory;   // bytes of all requests together
    int idle_s;          // closes connections that are idle for so long
} srv_http_settings;

/** Listens. Returns new (srv_http_free); NULL with a reason. */
srv_http *srv_http_create(srv_server *server, srv_loader *loader, const srv_http_settings *settings,
                          srv_error *err);

/** The port that it listens to. */
int srv_http_port(const srv_http *http);

/** Accepts no more connections; those that exist go on. */
void srv_http_quiesce(srv_http *http);

/** Cancels requests, and closes all connections. The loader has stopped, models are closed. Ignores
 *  NULL. */
void srv_http_free(srv_http *http);
