// SPDX-License-Identifier: Apache-2.0
// A connection is in one list: `present`; `gone`, once epoll has reported its end; `removed`, until
// the thread, which alone has events that point to it, frees it.

#include "srv_watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tensorlight/tl_util.h"

enum { TICK_MS = 5, N_EVENTS = 64, GRACE_NS = 100000000 };

typedef enum phase { RECEIVING, WAITING, ANSWERING } phase;

struct srv_peer {
    srv_watch *watch;
    int fd;
    phase phase;
    uint64_t since; // of the phase, or of the last bytes that it had not read
    int is_shut;    // in this phase
    void *request;  // that waits
    struct srv_peer *next, **link;
};

struct srv_watch {
    srv_watch_events events;
    pthread_t thread;
    int epoll;
    atomic_int is_ending;
    int has_stopped;
    pthread_mutex_t lock; // protects all below, and connections
    srv_peer *present, *gone, *removed;
    srv_peer *todo; // those of `gone` that the thread has still to look at
    int n_waiting;
    const void *held; // the request that is being cancelled; NULL: none
    int is_held_over; // its connection is done with it
};

// Lists

static void push(srv_peer **list, srv_peer *p)
{
    p->next = *list;
    p->link = list;
    if (p->next)
        p->next->link = &p->next;
    *list = p;
}

static void take_out(srv_peer *p)
{
    *p->link = p->next;
    if (p->next)
        p->next->link = p->link;
}

static void move_to(srv_peer **list, srv_peer *p)
{
    take_out(p);
    push(list, p);
}

static void move_all(srv_peer **to, srv_peer **from)
{
    while (*from)
        move_to(to, *from);
}

static void free_removed(srv_watch *w)
{
    while (w->removed) {
        srv_peer *const p = w->removed;
        take_out(p);
        free(p);
    }
}

// Connections of clients that have gone

// Repeated until the request ends, as it may be on its way to the queue. The lock is not held
// during the calls.
static void cancel(srv_watch *w, srv_peer *p)
{
    void *const request = p->request;
    w->held = request;
    w->is_held_over = 0;
    pthread_mutex_unlock(&w->lock);
    w->events.cancel(request);
    pthread_mutex_lock(&w->lock);
    w->held = NULL;
    if (!w->is_held_over)
        return;
    pthread_mutex_unlock(&w->lock);
    w->events.release(request);
    pthread_mutex_lock(&w->lock);
}

// A whole request may still be unread, or on its way to `srv_peer_answer`: some time passes.
static void shut_down(srv_peer *p, uint64_t now)
{
    int n_unread = 0;
    if (!ioctl(p->fd, FIONREAD, &n_unread) && n_unread > 0) {
        p->since = now;
    } else if (now - p->since > GRACE_NS) {
        p->is_shut = 1;
        shutdown(p->fd, SHUT_RDWR);
    }
}

static void look_at_gone(srv_watch *w)
{
    const uint64_t now = tl_clock();
    move_all(&w->todo, &w->gone);
    while (w->todo) {
        srv_peer *const p = w->todo;
        move_to(&w->gone, p);
        if (p->phase == WAITING)
            cancel(w, p);
        else if (p->phase == RECEIVING && !p->is_shut && now > p->since)
            shut_down(p, now);
    }
}

// The thread

static void note_gone(srv_watch *w, const struct epoll_event *events, int n)
{
    for (int i = 0; i < n; i++) {
        srv_peer *const p = events[i].data.ptr;
        if (p->fd < 0)
            continue; // it was removed meanwhile
        p->since = tl_clock();
        move_to(&w->gone, p);
    }
}

// Whether the thread goes on: at the end, until no request waits.
static int is_needed(srv_watch *w)
{
    if (!atomic_load(&w->is_ending))
        return 1;
    move_all(&w->gone, &w->present);
    return w->n_waiting > 0;
}

static void *work(void *data)
{
    srv_watch *const w = data;
    struct epoll_event events[N_EVENTS];
    pthread_mutex_lock(&w->lock);
    while (is_needed(w)) {
        pthread_mutex_unlock(&w->lock);
        const int n = epoll_wait(w->epoll, events, N_EVENTS, TICK_MS);
        pthread_mutex_lock(&w->lock);
        note_gone(w, events, n);
        look_at_gone(w);
        free_removed(w);
        pthread_mutex_unlock(&w->lock);
        if (w->events.tick)
            w->events.tick(w->events.data);
        pthread_mutex_lock(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

// Beginning and end

srv_watch *srv_watch_create(const srv_watch_events *events)
{
    srv_watch *const w = calloc(1, sizeof(*w));
    if (!w)
        return NULL;
    w->events = *events;
    pthread_mutex_init(&w->lock, NULL);
    w->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (w->epoll >= 0 && !pthread_create(&w->thread, NULL, work, w))
        return w;
    w->has_stopped = 1;
    srv_watch_free(w);
    return NULL;
}

void srv_watch_stop(srv_watch *w)
{
    if (!w || w->has_stopped)
        return;
    w->has_stopped = 1;
    atomic_store(&w->is_ending, 1);
    pthread_join(w->thread, NULL);
}

void srv_watch_free(srv_watch *w)
{
    if (!w)
        return;
    srv_watch_stop(w);
    free_removed(w);
    if (w->epoll >= 0)
        close(w->epoll);
    pthread_mutex_destroy(&w->lock);
    free(w);
}

// Connections

srv_peer *srv_watch_add(srv_watch *w, int fd)
{
    srv_peer *const p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    *p = (srv_peer){.watch = w, .fd = fd, .since = tl_clock()};
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data = {.ptr = p}};
    pthread_mutex_lock(&w->lock);
    const int status = epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &event);
    if (!status)
        push(&w->present, p);
    pthread_mutex_unlock(&w->lock);
    if (!status)
        return p;
    free(p);
    return NULL;
}

void srv_watch_remove(srv_peer *p)
{
    srv_watch *const w = p->watch;
    pthread_mutex_lock(&w->lock);
    epoll_ctl(w->epoll, EPOLL_CTL_DEL, p->fd, NULL);
    p->fd = -1;
    move_to(&w->removed, p);
    pthread_mutex_unlock(&w->lock);
}

static void set_phase(srv_peer *p, phase to, void *request)
{
    srv_watch *const w = p->watch;
    const uint64_t now = tl_clock();
    pthread_mutex_lock(&w->lock);
    w->n_waiting += (to == WAITING) - (p->phase == WAITING);
    p->phase = to;
    p->since = now;
    p->is_shut = 0;
    p->request = request;
    pthread_mutex_unlock(&w->lock);
}

void srv_peer_wait(srv_peer *p, void *request)
{
    set_phase(p, WAITING, request);
}

void srv_peer_answer(srv_peer *p)
{
    set_phase(p, ANSWERING, NULL);
}

int srv_peer_rest(srv_peer *p, const void *request)
{
    srv_watch *const w = p->watch;
    set_phase(p, RECEIVING, NULL);
    pthread_mutex_lock(&w->lock);
    const int is_held = w->held == request;
    w->is_held_over |= is_held;
    pthread_mutex_unlock(&w->lock);
    return !is_held;
}
