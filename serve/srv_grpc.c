// SPDX-License-Identifier: Apache-2.0
// One thread has all connections and their calls, so they need no locks. Threads that run models
// hand back calls in a list, and wake it.

#include "srv_grpc.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "srv_grpc_connection.h"
#include "srv_listen.h"
#include "tensorlight/tl_util.h"

enum { N_EVENTS = 64, N_ACCEPT = 64, PAUSE_MS = 20 };

// A connection in its place.
typedef struct link {
    srv_grpc_connection *connection; // NULL: it has ended
    unsigned events;                 // that epoll watches
    struct link *next;
} connection_link;

struct srv_grpc {
    srv_grpc_context context; // first: calls find the front end by it
    int max_connections, n_connections;
    int was_full; // the log has it
    srv_listener listener;
    int epoll, waker;   // -1: none
    int is_quiet;       // the listener is closed
    uint64_t accept_at; // tl_clock: the listener is watched again; 0: it is
    connection_link *connections;
    pthread_t thread;
    int has_thread;
    atomic_int is_draining, is_ending;
    pthread_mutex_t lock; // protects `ready`
    srv_grpc_call *ready;
};

static void wake(srv_grpc *grpc)
{
    const uint64_t one = 1;
    while (write(grpc->waker, &one, sizeof(one)) < 0 && errno == EINTR)
        continue;
}

static void add_ready(srv_grpc_call *c)
{
    srv_grpc *const grpc = (srv_grpc *)c->context;
    pthread_mutex_lock(&grpc->lock);
    c->next_ready = grpc->ready;
    grpc->ready = c;
    pthread_mutex_unlock(&grpc->lock);
    wake(grpc);
}

// Connections

static void close_link(srv_grpc *grpc, connection_link *l)
{
    if (!l->connection)
        return;
    epoll_ctl(grpc->epoll, EPOLL_CTL_DEL, srv_grpc_connection_fd(l->connection), NULL);
    srv_grpc_connection_free(l->connection);
    l->connection = NULL;
    grpc->n_connections--;
}

// After each event: -1 closes the connection, and else epoll watches what it waits for.
static void settle(srv_grpc *grpc, connection_link *l, int status)
{
    if (status) {
        close_link(grpc, l);
        return;
    }
    const unsigned events = srv_grpc_connection_events(l->connection);
    struct epoll_event event = {.events = events, .data = {.ptr = l}};
    if (events == l->events)
        return;
    l->events = events;
    epoll_ctl(grpc->epoll, EPOLL_CTL_MOD, srv_grpc_connection_fd(l->connection), &event);
}

static void sweep(srv_grpc *grpc)
{
    for (connection_link **at = &grpc->connections; *at;) {
        connection_link *const l = *at;
        if (l->connection) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        free(l);
    }
}

static connection_link *find_link(srv_grpc *grpc, const void *connection)
{
    connection_link *l = grpc->connections;
    while (l && l->connection != connection)
        l = l->next;
    return l;
}

static int add_connection(srv_grpc *grpc, int fd, const char *client)
{
    const int on = 1;
    connection_link *const l = calloc(1, sizeof(*l));
    if (!l)
        return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    l->connection = srv_grpc_connection_create(&grpc->context, fd, client);
    if (!l->connection) {
        free(l);
        return -1;
    }
    l->events = EPOLLIN;
    l->next = grpc->connections;
    grpc->connections = l;
    grpc->n_connections++;
    struct epoll_event event = {.events = l->events, .data = {.ptr = l}};
    if (epoll_ctl(grpc->epoll, EPOLL_CTL_ADD, fd, &event))
        close_link(grpc, l);
    return 0;
}

static void watch_listener(const srv_grpc *grpc, unsigned events)
{
    for (int i = 0; i < grpc->listener.n; i++) {
        struct epoll_event event = {.events = events,
                                    .data = {.ptr = (void *)&grpc->listener.fds[i]}};
        if (grpc->listener.fds[i] >= 0)
            epoll_ctl(grpc->epoll, EPOLL_CTL_MOD, grpc->listener.fds[i], &event);
    }
}

// No descriptors, or no memory: the listener stays readable, and others go on.
static void pause_accept(srv_grpc *grpc)
{
    watch_listener(grpc, 0);
    grpc->accept_at = tl_clock() + PAUSE_MS * 1000000ull;
}

static void resume_accept(srv_grpc *grpc)
{
    if (!grpc->accept_at || grpc->is_quiet || tl_clock() < grpc->accept_at)
        return;
    grpc->accept_at = 0;
    watch_listener(grpc, EPOLLIN);
}

static int is_full(srv_grpc *grpc)
{
    if (grpc->n_connections < grpc->max_connections)
        return 0;
    if (!grpc->was_full)
        srv_log_event(grpc->context.server->log, "warning",
                      "gRPC has %d connections, the max: others are closed", grpc->n_connections);
    grpc->was_full = 1;
    return 1;
}

static void accept_some(srv_grpc *grpc, int listener)
{
    for (int i = 0; i < N_ACCEPT; i++) {
        struct sockaddr_storage address;
        socklen_t size = sizeof(address);
        char client[64] = "";
        const int fd =
            accept4(listener, (struct sockaddr *)&address, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                pause_accept(grpc);
            return;
        }
        getnameinfo((struct sockaddr *)&address, size, client, sizeof(client), NULL, 0,
                    NI_NUMERICHOST);
        if (is_full(grpc) || add_connection(grpc, fd, client))
            close(fd);
    }
}

// Calls that come back

static void finish_calls(srv_grpc *grpc)
{
    uint64_t count;
    if (read(grpc->waker, &count, sizeof(count)) < 0 && errno != EAGAIN)
        return;
    pthread_mutex_lock(&grpc->lock);
    srv_grpc_call *c = grpc->ready;
    grpc->ready = NULL;
    pthread_mutex_unlock(&grpc->lock);
    while (c) {
        srv_grpc_call *const next = c->next_ready;
        const int was_waiting = c->phase == SRV_GRPC_WAITING;
        connection_link *const l = c->connection ? find_link(grpc, c->connection) : NULL;
        srv_grpc_call_finish(c);
        if (!l)
            srv_grpc_call_free(c);
        else if (was_waiting)
            settle(grpc, l, srv_grpc_connection_answer(l->connection, c));
        c = next;
    }
}

// The thread

static void tick(srv_grpc *grpc)
{
    const uint64_t now = tl_clock();
    if (now < grpc->context.wake)
        return;
    grpc->context.wake = UINT64_MAX;
    for (connection_link *l = grpc->connections; l; l = l->next)
        if (l->connection)
            settle(grpc, l, srv_grpc_connection_tick(l->connection, now));
}

static int wait_ms(const srv_grpc *grpc)
{
    enum { MAX_MS = 60000 };
    const uint64_t now = tl_clock(), accept_at = grpc->is_quiet ? 0 : grpc->accept_at;
    const uint64_t wake =
        accept_at && accept_at < grpc->context.wake ? accept_at : grpc->context.wake;
    if (wake <= now)
        return 0;
    const uint64_t ms = (wake - now) / 1000000 + 1;
    return ms < MAX_MS ? (int)ms : MAX_MS;
}

static void quiesce(srv_grpc *grpc)
{
    if (grpc->is_quiet || !atomic_load(&grpc->is_draining))
        return;
    grpc->is_quiet = 1;
    srv_listener_close(&grpc->listener); // which epoll forgets then
    for (connection_link *l = grpc->connections; l; l = l->next) {
        if (!l->connection)
            continue;
        srv_grpc_connection_quiesce(l->connection);
        settle(grpc, l, srv_grpc_connection_write(l->connection));
    }
}

static const int *find_listener(const srv_grpc *grpc, const void *which)
{
    for (int i = 0; i < grpc->listener.n; i++)
        if (which == &grpc->listener.fds[i])
            return &grpc->listener.fds[i];
    return NULL;
}

static void handle(srv_grpc *grpc, const struct epoll_event *event)
{
    connection_link *const l = event->data.ptr;
    const int *const listener = find_listener(grpc, event->data.ptr);
    if (listener)
        accept_some(grpc, *listener);
    else if ((void *)l != &grpc->waker && l->connection)
        settle(grpc, l, srv_grpc_connection_read(l->connection));
}

static void *work(void *data)
{
    srv_grpc *const grpc = data;
    struct epoll_event events[N_EVENTS];
    while (!atomic_load(&grpc->is_ending)) {
        const int n = epoll_wait(grpc->epoll, events, N_EVENTS, wait_ms(grpc));
        for (int i = 0; i < n; i++)
            handle(grpc, &events[i]);
        finish_calls(grpc);
        tick(grpc);
        resume_accept(grpc);
        quiesce(grpc);
        sweep(grpc);
    }
    for (connection_link *l = grpc->connections; l; l = l->next)
        close_link(grpc, l);
    sweep(grpc);
    while (grpc->context.n_waiting) {
        epoll_wait(grpc->epoll, events, N_EVENTS, PAUSE_MS);
        finish_calls(grpc);
    }
    return NULL;
}

// Beginning and end

static int watch(const srv_grpc *grpc, int fd, const int *which)
{
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = (void *)which}};
    return epoll_ctl(grpc->epoll, EPOLL_CTL_ADD, fd, &event);
}

static int watch_all(const srv_grpc *grpc)
{
    int status = watch(grpc, grpc->waker, &grpc->waker);
    for (int i = 0; i < grpc->listener.n; i++)
        status |= watch(grpc, grpc->listener.fds[i], &grpc->listener.fds[i]);
    return status;
}

static int start(srv_grpc *grpc, const srv_http_settings *settings, srv_error *err)
{
    if (srv_listener_open(&grpc->listener, settings->host, settings->port, err))
        return -1;
    grpc->epoll = epoll_create1(EPOLL_CLOEXEC);
    grpc->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (grpc->epoll < 0 || grpc->waker < 0 || watch_all(grpc) ||
        pthread_create(&grpc->thread, NULL, work, grpc))
        return srv_fail(err, SRV_UNAVAILABLE, "cannot start a thread");
    grpc->has_thread = 1;
    return 0;
}

srv_grpc *srv_grpc_create(srv_server *server, srv_loader *loader, const srv_http_settings *settings,
                          srv_error *err)
{
    srv_grpc *const grpc = calloc(1, sizeof(*grpc));
    if (!grpc)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    grpc->context = (srv_grpc_context){.server = server,
                                       .loader = loader,
                                       .ready = add_ready,
                                       .max_held = settings->max_memory,
                                       .idle_ns = (uint64_t)settings->idle_s * 1000000000,
                                       .wake = UINT64_MAX};
    grpc->max_connections = settings->max_connections;
    grpc->epoll = grpc->waker = -1;
    pthread_mutex_init(&grpc->lock, NULL);
    if (!start(grpc, settings, err))
        return grpc;
    srv_grpc_free(grpc);
    return NULL;
}

int srv_grpc_port(const srv_grpc *grpc)
{
    return grpc->listener.port;
}

void srv_grpc_quiesce(srv_grpc *grpc)
{
    if (!grpc)
        return;
    atomic_store(&grpc->is_draining, 1);
    wake(grpc);
}

void srv_grpc_free(srv_grpc *grpc)
{
    if (!grpc)
        return;
    atomic_store(&grpc->is_ending, 1);
    if (grpc->has_thread) {
        wake(grpc);
        pthread_join(grpc->thread, NULL);
    }
    srv_listener_close(&grpc->listener);
    const int fds[] = {grpc->epoll, grpc->waker};
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    pthread_mutex_destroy(&grpc->lock);
    free(grpc);
}
