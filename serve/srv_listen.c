// SPDX-License-Identifier: Apache-2.0
// A port is never shared: SO_REUSEADDR permits only ports of connections that have ended, and
// SO_REUSEPORT, with which a forgotten server would answer a part of the requests, is not set.

#include "srv_listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 512, ATTEMPTS = 16 };

static in_port_t *port_of(struct sockaddr *address)
{
    return address->sa_family == AF_INET6 ? &((struct sockaddr_in6 *)(void *)address)->sin6_port
                                          : &((struct sockaddr_in *)(void *)address)->sin_port;
}

// The socket; -1 with errno.
static int open_socket(const struct addrinfo *address)
{
    const int on = 1, off = 0;
    const int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (!bind(fd, address->ai_addr, address->ai_addrlen) && !listen(fd, BACKLOG))
        return fd;
    const int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

static int bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof(address);
    return getsockname(fd, (struct sockaddr *)&address, &size)
               ? 0
               : ntohs(*port_of((struct sockaddr *)&address));
}

static int is_same(const struct addrinfo *a, const struct addrinfo *b)
{
    return a->ai_addrlen == b->ai_addrlen && !memcmp(a->ai_addr, b->ai_addr, a->ai_addrlen);
}

// Resolvers may return an address twice.
static int is_repeated(const struct addrinfo *found, const struct addrinfo *address)
{
    while (found != address && !is_same(found, address))
        found = found->ai_next;
    return found != address;
}

// Whether this machine has no such address.
static int is_foreign(int reason)
{
    return reason == EADDRNOTAVAIL || reason == EAFNOSUPPORT || reason == ENETUNREACH;
}

static void set_ports(struct addrinfo *found, int port)
{
    for (struct addrinfo *a = found; a; a = a->ai_next)
        *port_of(a->ai_addr) = htons((uint16_t)port);
}

// 0, or the reason in errno.
static int open_all(srv_listener *l, struct addrinfo *found, int port)
{
    int reason = EADDRNOTAVAIL;
    *l = (srv_listener){.port = port};
    for (struct addrinfo *a = found; a && l->n < SRV_LISTEN_MAX; a = a->ai_next) {
        set_ports(found, l->port);
        if (is_repeated(found, a))
            continue;
        const int fd = open_socket(a);
        if (fd < 0) {
            reason = errno;
            if (is_foreign(reason))
                continue;
            srv_listener_close(l);
            break;
        }
        l->fds[l->n++] = fd;
        if (!l->port) // the others have the port that is free at the first
            l->port = bound_port(fd);
    }
    errno = reason;
    return l->n ? 0 : -1;
}

int srv_listener_open(srv_listener *l, const char *host, int port, srv_error *err)
{
    const struct addrinfo hints = {
        .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found;
    char url[SRV_URL_SIZE];
    *l = (srv_listener){.n = 0};
    const int unknown = getaddrinfo(host, NULL, &hints, &found);
    if (unknown)
        return srv_fail(err, SRV_INVALID, "cannot listen to '%s': %s", host, gai_strerror(unknown));
    int status = open_all(l, found, port);
    for (int i = 1; i < ATTEMPTS && status && !port && errno == EADDRINUSE; i++)
        status = open_all(l, found, port); // another address had the port
    const int reason = errno;
    freeaddrinfo(found);
    return status ? srv_fail(err, SRV_UNAVAILABLE, "cannot listen to %s: %s",
                             srv_listen_url(url, NULL, host, port), strerror(reason))
                  : 0;
}

void srv_listener_close(srv_listener *l)
{
    for (int i = 0; i < l->n; i++)
        if (l->fds[i] >= 0)
            close(l->fds[i]);
    l->n = 0;
}

const char *srv_listen_url(char text[SRV_URL_SIZE], const char *scheme, const char *host, int port)
{
    const int is_v6 = strchr(host, ':') != NULL;
    snprintf(text, SRV_URL_SIZE, "%s%s%s%.255s%s:%d", scheme ? scheme : "", scheme ? "://" : "",
             is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
    return text;
}
