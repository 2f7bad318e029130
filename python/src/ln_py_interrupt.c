// SPDX-License-Identifier: Apache-2.0
// Ctrl-C: a SIGINT during a run of the main thread, which is the one that receives signals, cancels
// the run; Python's own handler is called as well, and raises afterwards.
//
// The handler may interrupt any code of the run, so it only wakes a thread, which cancels the run.
// The first run installs it over Python's, and it stays. A run asks sigaction whether Python has
// installed its own again. As this costs more than a short run, it is skipped while
// signal.getsignal returns the same function and the coarse clock, which ticks some hundred times
// a second, is unchanged.

#include "ln_py.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static ln_session *interruptible; // of the run in the main thread; NULL: none
static int was_interrupted;       // that run

static sem_t wakeup;
static int is_watched;                 // this process has a watcher
static struct sigaction replaced;      // by the last installation of on_sigint
static struct sigaction python_action; // by the first one
static volatile sig_atomic_t run_number, interrupted_run;
static volatile sig_atomic_t is_handling;
static _Thread_local int is_main; // 1: this is the main thread, -1: it is not, 0: unknown

static void call_action(const struct sigaction *action, int number, siginfo_t *info, void *context)
{
    if (action->sa_flags & SA_SIGINFO)
        action->sa_sigaction(number, info, context);
    else
        action->sa_handler(number);
}

static void on_sigint(int number, siginfo_t *info, void *context)
{
    interrupted_run = run_number;
    sem_post(&wakeup);
    // A handler that replaced this one may call it, and be called by it in turn.
    const int is_nested = is_handling;
    is_handling = 1;
    call_action(is_nested ? &python_action : &replaced, number, info, context);
    is_handling = is_nested;
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

// A child has no watcher, and no run of the main thread of its parent; its only thread is the main
// one. The mutex and the semaphore may be in use.
static void reset_in_child(void)
{
    interruptible = NULL;
    is_watched = 0;
    is_main = 0;
    pthread_mutex_init(&mutex, NULL);
    sem_init(&wakeup, 0, 0);
}

// Starts the watcher of this process, which receives no signals itself.
static int start_watcher(void)
{
    static int has_fork_handler;
    pthread_t thread;
    sigset_t all, before;
    if (!has_fork_handler) {
        if (pthread_atfork(NULL, NULL, reset_in_child) || sem_init(&wakeup, 0, 0) < 0)
            return -1;
        has_fork_handler = 1;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, NULL, watch, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return -1;
    pthread_detach(thread);
    is_watched = 1;
    return 0;
}

// Whether Python, or the program, handles SIGINT by a function.
static int has_handler(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

static int is_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_sigint;
}

// Lets on_sigint handle SIGINT, if a function does. Returns whether it does.
static int install(void)
{
    static int has_python_action;
    struct sigaction now;
    if (sigaction(SIGINT, NULL, &now) < 0)
        return 0;
    if (is_ours(&now))
        return 1;
    if (!has_handler(&now))
        return 0;
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK, .sa_mask = now.sa_mask};
    ours.sa_sigaction = on_sigint;
    if (!has_python_action)
        python_action = now;
    has_python_action = 1;
    replaced = now;
    return sigaction(SIGINT, &ours, NULL) == 0;
}

// Returns new: what signal.signal has set for SIGINT; NULL: unknown.
static PyObject *find_python_handler(void)
{
    static PyObject *getsignal, *number;
    if (!getsignal) {
        PyObject *const module = PyImport_ImportModule("_signal");
        number = PyLong_FromLong(SIGINT);
        getsignal = module && number ? PyObject_GetAttrString(module, "getsignal") : NULL;
        Py_XDECREF(module);
    }
    PyObject *const handler =
        getsignal ? PyObject_CallFunctionObjArgs(getsignal, number, NULL) : NULL;
    if (!handler)
        PyErr_Clear();
    return handler;
}

// Whether the action of SIGINT is certainly the same as at the last call.
static int is_unchanged(void)
{
    static PyObject *last_handler;
    static struct timespec last_time;
    struct timespec now = {0};
    PyObject *const handler = find_python_handler();
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    const int result = handler && handler == last_handler && now.tv_sec == last_time.tv_sec &&
                       now.tv_nsec == last_time.tv_nsec;
    Py_XDECREF(last_handler);
    last_handler = handler;
    last_time = now;
    return result;
}

static int is_main_thread(void)
{
    if (!is_main)
        is_main = syscall(SYS_gettid) == getpid() ? 1 : -1;
    return is_main > 0;
}

int ln_py_interrupt_begin(ln_session *session)
{
    if (!is_main_thread() || interruptible) // or a run within a callback of a run
        return 0;
    static int is_installed;
    if (!is_watched && start_watcher() < 0)
        return 0;
    if (!is_unchanged())
        is_installed = install();
    if (!is_installed)
        return 0;
    pthread_mutex_lock(&mutex);
    run_number++;
    was_interrupted = 0;
    interruptible = session;
    pthread_mutex_unlock(&mutex);
    return 1;
}

int ln_py_interrupt_end(void)
{
    pthread_mutex_lock(&mutex);
    interruptible = NULL;
    const int result = was_interrupted;
    pthread_mutex_unlock(&mutex);
    return result;
}
