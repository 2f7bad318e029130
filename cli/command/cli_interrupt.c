// SPDX-License-Identifier: Apache-2.0
// SIGINT (Ctrl-C) and SIGTERM: the command finishes the current files.
//
// The signals are blocked in all threads, and one thread waits for them: unlike a signal handler,
// it may lock, which cancelling a run does.

#include "command/cli_interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct cli_interrupt {
    void (*func)(void *data);
    void *data;
    sigset_t signals; // to wait for
    sigset_t before;  // the signal mask before
    int any;          // one of `signals`, which wakes the thread at the end
    pthread_t thread;
    pthread_mutex_t lock; // of what follows
    int is_over;
    int received; // the first signal; 0: none
};

void cli_interrupt_die(int signal)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(signal, &action, NULL);
    raise(signal); // pending, if it is blocked
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
}

static void *watch(void *arg)
{
    cli_interrupt *c = arg;
    int signal, is_over = 0;
    while (!is_over && !sigwait(&c->signals, &signal)) {
        pthread_mutex_lock(&c->lock);
        is_over = c->is_over;
        const int is_second = !is_over && c->received;
        if (!is_over && !is_second) {
            c->received = signal;
            c->func(c->data);
        }
        pthread_mutex_unlock(&c->lock);
        if (is_second)
            cli_interrupt_die(signal);
    }
    return NULL;
}

// The signals that the process does not ignore, as in the background of some shells.
static void collect(cli_interrupt *c)
{
    static const int signals[] = {SIGINT, SIGTERM};
    sigemptyset(&c->signals);
    for (int i = 0; i < 2; i++) {
        struct sigaction action;
        if (sigaction(signals[i], NULL, &action) || action.sa_handler == SIG_IGN)
            continue;
        sigaddset(&c->signals, signals[i]);
        c->any = signals[i];
    }
}

// The thread starts with all signals blocked; the caller keeps `signals` blocked.
static int start(cli_interrupt *c)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &c->before);
    const int error = pthread_create(&c->thread, NULL, watch, c);
    pthread_sigmask(SIG_SETMASK, &c->before, NULL);
    if (!error)
        pthread_sigmask(SIG_BLOCK, &c->signals, NULL);
    return error;
}

cli_interrupt *cli_interrupt_watch(void (*func)(void *data), void *data)
{
    cli_interrupt *c = calloc(1, sizeof(*c));
    if (!c)
        return NULL;
    c->func = func;
    c->data = data;
    pthread_mutex_init(&c->lock, NULL);
    collect(c);
    if (c->any && !start(c))
        return c;
    pthread_mutex_destroy(&c->lock);
    free(c);
    return NULL;
}

int cli_interrupt_end(cli_interrupt *c)
{
    if (!c)
        return 0;
    pthread_mutex_lock(&c->lock);
    c->is_over = 1;
    pthread_mutex_unlock(&c->lock);
    pthread_kill(c->thread, c->any);
    pthread_join(c->thread, NULL);
    const int received = c->received;
    pthread_sigmask(SIG_SETMASK, &c->before, NULL);
    pthread_mutex_destroy(&c->lock);
    free(c);
    return received;
}
