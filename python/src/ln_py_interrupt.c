// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: a SIGINT during a run of the main thread, which is the one that receives signals, cancels
// the run; Python's own handler is called as well, and raises afterwards.
//
// The handler may interrupt any code of the run, so it only wakes a thread, which cancels the run.

#include "ln_py.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static ln_session *interruptible; // of the run in the main thread; NULL: none
static int was_interrupted;       // that run

static sem_t wakeup;
static pid_t watched; // the process that has a watcher
static struct sigaction python_action;
static volatile sig_atomic_t run_number, interrupted_run;

static int is_installed; // on_sigint is the handler of SIGINT

static void on_sigint(int number, siginfo_t *info, void *context)
{
    interrupted_run = run_number;
    sem_post(&wakeup);
    if (python_action.sa_flags & SA_SIGINFO)
        python_action.sa_sigaction(number, info, context);
    else
        python_action.sa_handler(number);
}

static void *watch(void *arg)
{
    for (;;) {
        if (sem_wait(&wakeup) < 0)
            continue;
        pthread_mutex_lock(&mutex);
        if (interruptible && interrupted_run == run_number) {
            was_interrupted = 1;
            ln_session_cancel(interruptible);
        }
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}

/** Starts the watcher of this process, which receives no signals itself; a child has none of its
 *  parent's threads. */
static int start_watcher(pid_t process)
{
    pthread_t thread;
    sigset_t all, before;
    pthread_mutex_init(&mutex, NULL);
    if (sem_init(&wakeup, 0, 0) < 0)
        return -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return -1;
    pthread_detach(thread);
    watched = process;
    return 0;
}

/** A fork during a run of another thread: the child has neither the run nor the watcher. */
static void reset_in_child(void)
{
    if (is_installed)
        sigaction(SIGINT, &python_action, NULL);
    is_installed = 0;
    interruptible = NULL;
    watched = 0;
}

/** Whether forks are noticed from now on. */
static int watch_forks(void)
{
    static int is_watching;
    if (!is_watching)
        is_watching = pthread_atfork(NULL, NULL, reset_in_child) == 0;
    return is_watching;
}

/** Whether Python, or the program, handles SIGINT by a function. */
static int has_handler(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

int ln_py_interrupt_begin(ln_session *session)
{
    const pid_t process = getpid();
    if (syscall(SYS_gettid) != process) // not the main thread
        return 0;
    if (watched == process && interruptible) // a run within a callback of a run
        return 0;
    if (sigaction(SIGINT, NULL, &python_action) < 0 || !has_handler(&python_action) ||
        !watch_forks() || (watched != process && start_watcher(process) < 0))
        return 0;
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = on_sigint;
    action.sa_mask = python_action.sa_mask;
    pthread_mutex_lock(&mutex);
    run_number++;
    was_interrupted = 0;
    interruptible = session;
    pthread_mutex_unlock(&mutex);
    is_installed = 1;
    if (sigaction(SIGINT, &action, NULL) == 0)
        return 1;
    ln_py_interrupt_end();
    return 0;
}

int ln_py_interrupt_end(void)
{
    sigaction(SIGINT, &python_action, NULL);
    is_installed = 0;
    pthread_mutex_lock(&mutex);
    interruptible = NULL;
    const int result = was_interrupted;
    pthread_mutex_unlock(&mutex);
    return result;
}
