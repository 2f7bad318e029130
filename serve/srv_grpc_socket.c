// SPDX-License-Identifier: Apache-2.0
// TLS as HTTP/2 needs it (RFC 9113, section 9.2): at least 1.2, and "h2" agreed on by ALPN.

#include "srv_grpc_socket.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
static const char protocol[] = "h2";

static int set_session(srv_grpc_socket *s)
{
    const gnutls_datum_t protocols = {(unsigned char *)protocol, sizeof(protocol) - 1};
    if (gnutls_priority_set_direct(s->session, priorities, NULL) < 0 ||
        srv_tls_use(s->tls, s->session) ||
        gnutls_alpn_set_protocols(s->session, &protocols, 1, GNUTLS_ALPN_MANDATORY) < 0)
        return -1;
    gnutls_transport_set_int(s->session, s->fd);
    return 0;
}

int srv_grpc_socket_create(srv_grpc_socket *s, int fd, srv_tls *tls)
{
    *s = (srv_grpc_socket){.fd = fd, .tls = tls, .is_open = !tls};
    if (!tls)
        return 0;
    if (gnutls_init(&s->session, GNUTLS_SERVER | GNUTLS_NONBLOCK) < 0)
        return -1;
    if (!set_session(s))
        return 0;
    gnutls_deinit(s->session);
    return -1;
}

// Bytes that nobody has read would make the kernel drop those that have not left.
static void read_rest(int fd)
{
    enum { ROUNDS = 16 };
    char bytes[4096];
    shutdown(fd, SHUT_WR);
    for (int i = 0; i < ROUNDS && recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0; i++)
        continue;
}

void srv_grpc_socket_close(srv_grpc_socket *s)
{
    if (s->session) {
        if (s->is_open)
            gnutls_bye(s->session, GNUTLS_SHUT_WR); // it does not block, and may be lost
        gnutls_deinit(s->session);
    }
    srv_tls_release(s->tls);
    read_rest(s->fd);
    close(s->fd);
}

static ssize_t outcome(srv_grpc_socket *s, ssize_t n)
{
    if (n != GNUTLS_E_AGAIN && n != GNUTLS_E_INTERRUPTED)
        return -1;
    s->wants_write = gnutls_record_get_direction(s->session) == 1;
    return 0;
}

// 1: the handshake is complete; 0: it would block; -1: it failed.
static ssize_t shake_hands(srv_grpc_socket *s)
{
    gnutls_datum_t agreed;
    s->wants_write = 0;
    const int status = gnutls_handshake(s->session);
    if (status < 0)
        return gnutls_error_is_fatal(status) ? -1 : outcome(s, GNUTLS_E_AGAIN);
    if (gnutls_alpn_get_selected_protocol(s->session, &agreed) < 0)
        return -1;
    s->is_open = 1;
    return 1;
}

static ssize_t plain_outcome(ssize_t n)
{
    if (n > 0)
        return n;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

ssize_t srv_grpc_socket_read(srv_grpc_socket *s, void *bytes, size_t size)
{
    if (!s->session)
        return plain_outcome(recv(s->fd, bytes, size, 0));
    const ssize_t status = s->is_open ? 1 : shake_hands(s);
    if (status <= 0)
        return status;
    s->wants_write = 0;
    const ssize_t n = gnutls_record_recv(s->session, bytes, size);
    return n > 0 ? n : n == 0 ? -1 : outcome(s, n);
}

ssize_t srv_grpc_socket_write(srv_grpc_socket *s, const void *bytes, size_t size)
{
    if (!s->session)
        return plain_outcome(send(s->fd, bytes, size, MSG_NOSIGNAL));
    if (!s->is_open)
        return 0;
    const ssize_t n = gnutls_record_send(s->session, bytes, size);
    return n > 0 ? n : n == 0 ? -1 : outcome(s, n);
}

int srv_grpc_socket_has_more(const srv_grpc_socket *s)
{
    return s->session && s->is_open && gnutls_record_check_pending(s->session) > 0;
}
