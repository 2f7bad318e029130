// SPDX-License-Identifier: Apache-2.0
// Notices clients that have gone: closed their connection, or its sending half.
//
// libmicrohttpd reads no connection that it has suspended, and may miss an end that arrives with
// the last bytes, since epoll reports it once. So a thread of ours watches all connections:
//
//     srv_peer *peer = srv_watch_add(watch, fd); // the connection begins
//     srv_peer_wait(peer, request);              // events.cancel(request), if its client goes
//     srv_peer_answer(peer);                     // nothing happens to the connection
//     if (srv_peer_rest(peer, request))          // while it receives: it is shut down, so that
//         free(request);                         // libmicrohttpd closes it
//     srv_watch_remove(peer);                    // it ends
#pragma once

#include <stdint.h>

typedef struct srv_watch srv_watch;

/** A connection. */
typedef struct srv_peer srv_peer;

/** What the thread calls, without a lock. */
typedef struct srv_watch_events {
    void (*cancel)(void *request);  // its client has gone, or the watch stops; repeated
    void (*release)(void *request); // it was over before `cancel` returned
    void (*tick)(void *data);       // every few milliseconds; NULL: nothing
    void *data;
} srv_watch_events;

/** Starts the thread. Returns new (srv_watch_free); NULL: no memory, thread or descriptor. */
srv_watch *srv_watch_create(const srv_watch_events *events);

/** Cancels all requests that wait, and ends the thread when none does. Ignores NULL, and a watch
 *  that has stopped. */
void srv_watch_stop(srv_watch *w);

/** Stops, and frees the watch, which has no connections. Ignores NULL. */
void srv_watch_free(srv_watch *w);

/** Begins to watch a connection, which receives. Returns new (srv_watch_remove); NULL: no memory.
 */
srv_peer *srv_watch_add(srv_watch *w, int fd);

/** Before `fd` is closed. */
void srv_watch_remove(srv_peer *p);

/** The connection is suspended until `request` ends. */
void srv_peer_wait(srv_peer *p, void *request);

/** The connection has a whole request, and sends the response, however the client half closes. */
void srv_peer_answer(srv_peer *p);

/** The connection is done with `request`, and receives. 0: the thread is about to release it. */
int srv_peer_rest(srv_peer *p, const void *request);
