// SPDX-License-Identifier: Apache-2.0
// lightnet-serve: serves models over HTTP and gRPC. `lightnet serve` starts it.

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "srv_grpc.h"
#include "srv_listen.h"
#include "srv_options.h"
#include "srv_schedule.h"
#include "tensorlight/tl_util.h"

// All threads inherit the mask, so that only `sigtimedwait` receives them.
static void block_signals(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGTERM);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGHUP);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
    signal(SIGPIPE, SIG_IGN);
}

// Later, SIGHUP stays pending.
static void wait_for_end(sigset_t *signals, srv_loader *loader)
{
    int which = SIGHUP;
    while (sigwait(signals, &which) == EINTR || which == SIGHUP)
        if (which == SIGHUP)
            srv_loader_look(loader);
    sigdelset(signals, SIGHUP);
}

// Whether a signal came within `ms`.
static int pause_for(const sigset_t *signals, uint64_t ms)
{
    const struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    return sigtimedwait(signals, NULL, &t) >= 0;
}

// Answers what was accepted: 0 unless some was left after `seconds`, or at a second signal.
static int drain(srv_server *server, srv_http *http, srv_grpc *grpc, const sigset_t *signals,
                 double seconds)
{
    const uint64_t end = tl_clock() + (uint64_t)(seconds * 1e9);
    srv_http_quiesce(http);
    srv_grpc_quiesce(grpc);
    while (atomic_load(&server->n_calls) && tl_clock() < end)
        if (pause_for(signals, 10))
            break;
    return atomic_load(&server->n_calls);
}

static void note_listening(const srv_server *server, const srv_http_settings *settings,
                           const char *scheme, int port)
{
    char url[SRV_URL_SIZE];
    srv_log_event(server->log, "info", "listening on %s",
                  srv_listen_url(url, scheme, settings->host, port));
}

// Nothing without --grpc-port.
static srv_grpc *start_grpc(const srv_options *o, srv_server *server, srv_loader *loader,
                            srv_error *err)
{
    srv_http_settings settings = o->http;
    settings.port = o->grpc_port;
    srv_grpc *const grpc =
        o->grpc_port < 0 ? NULL : srv_grpc_create(server, loader, &settings, err);
    if (grpc)
        note_listening(server, &settings, srv_access_has_tls(server->access) ? "grpcs" : "grpc",
                       srv_grpc_port(grpc));
    return grpc;
}

// From the signal on: answers what was accepted.
static void end(const srv_options *o, srv_server *server, srv_loader *loader, srv_http *http,
                srv_grpc *grpc, const sigset_t *signals)
{
    atomic_store(&server->is_draining, 1);
    srv_log_event(server->log, "info", "stopping");
    srv_loader_end(loader);
    // Balancers learn that it is not ready.
    const int is_hurried =
        o->drain_delay_s > 0 && pause_for(signals, (uint64_t)(o->drain_delay_s * 1e3));
    const int left = drain(server, http, grpc, signals, is_hurried ? 0 : o->drain_s);
    if (left)
        srv_log_event(server->log, "warning", "%d requests were not answered", left);
}

// Loads that cannot be cancelled use memory of the server, so the process ends as it is.
static void leave(srv_server *server, int n_loads)
{
    srv_log_event(server->log, "warning", "%d loads of models were not complete", n_loads);
    _exit(0);
}

static void serve_until_end(srv_options *o, srv_server *server, srv_loader *loader, srv_http *http,
                            srv_grpc *grpc, sigset_t *signals, srv_error *err)
{
    note_listening(server, &o->http, srv_access_has_tls(server->access) ? "https" : "http",
                   srv_http_port(http));
    if (srv_loader_start(loader, err))
        return;
    wait_for_end(signals, loader);
    end(o, server, loader, http, grpc, signals);
}

// Models are loaded when it listens: an address that is in use is found at once.
static int serve(srv_options *o, srv_server *server, sigset_t *signals, srv_error *err)
{
    srv_loader *const loader = srv_loader_create(server, o->poll_s);
    srv_http *const http = loader ? srv_http_create(server, loader, &o->http, err) : NULL;
    if (!loader)
        srv_fail(err, SRV_OUT_OF_MEMORY, "no memory");
    srv_grpc *const grpc = http ? start_grpc(o, server, loader, err) : NULL;
    if (http && !err->status)
        serve_until_end(o, server, loader, http, grpc, signals, err);
    const int n_loads = loader ? srv_loader_stop(loader) : 0;
    srv_repository_close(server->repository);
    srv_repository_cancel_all(server->repository); // batches may have calls of both front ends
    srv_http_free(http);
    srv_grpc_free(grpc);
    if (n_loads)
        leave(server, n_loads);
    srv_loader_free(loader);
    return err->status ? -1 : 0;
}

static int start(srv_options *o, sigset_t *signals)
{
    srv_error err = {.status = SRV_OK};
    srv_server server = {.max_request = o->max_request,
                         .allows_control = o->allows_control,
                         .start = tl_clock(),
                         .log = srv_log_create(o->log_format, o->logs_requests)};
    o->model.log = server.log;
    if (!server.log)
        srv_fail(&err, SRV_OUT_OF_MEMORY, "no memory");
    else if ((server.access = srv_access_create(&o->access, &err)))
        server.repository =
            srv_repository_create(o->paths, o->n_paths, o->max_versions, &o->model, &err);
    const int status = server.repository ? serve(o, &server, signals, &err) : -1;
    srv_repository_free(server.repository);
    srv_access_free(server.access);
    srv_log_free(server.log);
    if (status)
        fprintf(stderr, "lightnet serve: error: %s\n", err.text);
    return status;
}

int main(int argc, char **argv)
{
    sigset_t signals;
    srv_options o;
    int status = srv_options_read(&o, argc, argv);
    block_signals(&signals);
    srv_schedule_answers();
    if (!status)
        status = start(&o, &signals) ? 1 : 0;
    else
        status = status > 0 ? 0 : 2;
    srv_options_clear(&o);
    return status;
}
