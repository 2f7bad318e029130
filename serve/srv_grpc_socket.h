// SPDX-License-Identifier: Apache-2.0
// A socket that does not block, with TLS or without it.
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "srv_tls.h"

typedef struct srv_grpc_socket {
    int fd;
    struct gnutls_session_int *session; // NULL: no TLS
    srv_tls *tls;                       // kept
    int is_open;                        // its handshake is complete
    int wants_write;                    // a read waits until it can write
} srv_grpc_socket;

/** Takes `fd` and `tls`; NULL: none. -1: no memory, both are still the caller's. */
int srv_grpc_socket_create(srv_grpc_socket *s, int fd, srv_tls *tls);
void srv_grpc_socket_close(srv_grpc_socket *s);

/** Reads or writes some bytes. 0: it would block; -1: the socket has ended or failed. */
ssize_t srv_grpc_socket_read(srv_grpc_socket *s, void *bytes, size_t size);
ssize_t srv_grpc_socket_write(srv_grpc_socket *s, const void *bytes, size_t size);

/** Whether bytes wait that the kernel does not know of. */
int srv_grpc_socket_has_more(const srv_grpc_socket *s);
