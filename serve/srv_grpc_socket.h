// SPDX-License-Identifier: Apache-2.0
// A socket that does not block, with TLS or without it.
//
// TLS is GnuTLS, which libmicrohttpd brings into the process anyway: both front ends have one
// library, and read certificates in the same way.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "srv_status.h"

/** A certificate, its key, and the authority of clients. */
typedef struct srv_grpc_tls srv_grpc_tls;

/** Reads PEM files; `client_ca` NULL: clients need no certificate. Returns new (srv_grpc_tls_free);
 *  NULL with a reason. */
srv_grpc_tls *srv_grpc_tls_create(const char *certificate, const char *key, const char *client_ca,
                                  srv_error *err);
void srv_grpc_tls_free(srv_grpc_tls *tls);

typedef struct srv_grpc_socket {
    int fd;
    struct gnutls_session_int *session; // NULL: no TLS
    int is_open;                        // its handshake is complete
    int wants_write;                    // a read waits until it can write
} srv_grpc_socket;

/** Takes `fd`; tls NULL: none. -1: no memory, `fd` is still the caller's. */
int srv_grpc_socket_create(srv_grpc_socket *s, int fd, const srv_grpc_tls *tls);
void srv_grpc_socket_close(srv_grpc_socket *s);

/** Reads or writes some bytes. 0: it would block; -1: the socket has ended or failed. */
ssize_t srv_grpc_socket_read(srv_grpc_socket *s, void *bytes, size_t size);
ssize_t srv_grpc_socket_write(srv_grpc_socket *s, const void *bytes, size_t size);

/** Whether bytes wait that the kernel does not know of. */
int srv_grpc_socket_has_more(const srv_grpc_socket *s);
