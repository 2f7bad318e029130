// SPDX-License-Identifier: Apache-2.0
// The lock is held while a session is cancelled, so that it is not freed meanwhile.

#include "srv_opening.h"

void srv_opening_init(srv_opening *o)
{
    *o = (srv_opening){.session = NULL};
    pthread_mutex_init(&o->lock, NULL);
}

void srv_opening_clear(srv_opening *o)
{
    pthread_mutex_destroy(&o->lock);
}

void srv_opening_enter(srv_opening *o, ln_session *session)
{
    pthread_mutex_lock(&o->lock);
    o->session = session;
    if (o->is_cancelled)
        ln_session_cancel(session);
    pthread_mutex_unlock(&o->lock);
}

void srv_opening_leave(srv_opening *o)
{
    pthread_mutex_lock(&o->lock);
    o->session = NULL;
    pthread_mutex_unlock(&o->lock);
}

void srv_opening_cancel(srv_opening *o)
{
    pthread_mutex_lock(&o->lock);
    o->is_cancelled = 1;
    if (o->session)
        ln_session_cancel(o->session);
    pthread_mutex_unlock(&o->lock);
}

int srv_opening_check(srv_opening *o, srv_error *err)
{
    pthread_mutex_lock(&o->lock);
    const int is_cancelled = o->is_cancelled;
    pthread_mutex_unlock(&o->lock);
    return is_cancelled ? srv_fail(err, SRV_CANCELLED, "the server stops") : 0;
}
