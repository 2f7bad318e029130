// SPDX-License-Identifier: Apache-2.0
// The lock over what threads share.

#include "session/ln_session_lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void take(void)
{
    pthread_mutex_lock(&lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&lock);
}

// Without memory for that a fork is as safe as it is for most libraries: while no other thread is
// inside.
static void watch_forks(void)
{
    pthread_atfork(take, leave, leave);
}

void ln_session_lock(void)
{
    pthread_once(&once, watch_forks);
    take();
}

void ln_session_unlock(void)
{
    leave();
}
