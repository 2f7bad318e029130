// SPDX-License-Identifier: Apache-2.0
// Sockets that listen, for both front ends.
#pragma once

#include "srv_status.h"

enum { SRV_LISTEN_MAX = 16 }; // addresses of a host

/** Sockets that listen at one port of all addresses of a host. */
typedef struct srv_listener {
    int fds[SRV_LISTEN_MAX]; // [n]; -1: another has taken it over, or it is closed
    int n;
    int port;
} srv_listener;

/** Listens at `port` of all addresses of `host`, an address or a name; port 0: any that is free at
 *  all of them. IPv6's `::` includes IPv4. The sockets do not block. A port in use is an error. An
 *  address that this machine lacks is left out if it has another. -1 with a reason: `l` has none.
 */
int srv_listener_open(srv_listener *l, const char *host, int port, srv_error *err);

/** Closes those that are left. */
void srv_listener_close(srv_listener *l);

enum { SRV_URL_SIZE = 300 };

/** "SCHEME://HOST:PORT", with brackets around an address of IPv6. Returns `text`. */
const char *srv_listen_url(char text[SRV_URL_SIZE], const char *scheme, const char *host, int port);
