// SPDX-License-Identifier: Apache-2.0
// Certificates: that of the server with its key, and the authority of clients. Connections share
// them, and keep them when others are read.
#pragma once

#include "srv_status.h"

typedef struct srv_tls srv_tls;

struct gnutls_session_int;

/** Reads PEM files; `client_ca` NULL: clients need no certificate. Returns new (srv_tls_release);
 *  NULL with a reason: a file cannot be read, has no certificate, the key is another's. */
srv_tls *srv_tls_read(const char *certificate, const char *key, const char *client_ca,
                      srv_error *err);

/** Counts its users. */
srv_tls *srv_tls_keep(srv_tls *tls);
void srv_tls_release(srv_tls *tls);

/** Before the handshake of a session, which must end before `tls` is released. -1: no memory. */
int srv_tls_use(const srv_tls *tls, struct gnutls_session_int *session);
