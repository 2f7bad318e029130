// SPDX-License-Identifier: Apache-2.0
// Lines on standard error, whole and never waited for.

#include "srv_log.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "srv_buffer.h"

struct srv_log {
    srv_log_format format;
    int with_requests;
    pthread_mutex_t lock; // lines stay whole
    int is_torn;          // the last line has no end
};

srv_log *srv_log_create(srv_log_format format, int with_requests)
{
    srv_log *const log = calloc(1, sizeof(*log));
    if (!log)
        return NULL;
    log->format = format;
    log->with_requests = with_requests;
    pthread_mutex_init(&log->lock, NULL);
    return log;
}

void srv_log_free(srv_log *log)
{
    if (!log)
        return;
    pthread_mutex_destroy(&log->lock);
    free(log);
}

// The time in UTC, as RFC 3339 has it.
static void add_time(srv_buffer *b)
{
    struct timespec now;
    struct tm tm;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    srv_buffer_printf(b, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

// A log that nobody reads must not stop the server, so what cannot be written is lost. A pipe that
// is ready takes PIPE_BUF bytes at once.
static size_t write_some(const char *bytes, size_t size)
{
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&ready, 1, 0) != 1)
        return 0;
    const ssize_t n = write(STDERR_FILENO, bytes, size < PIPE_BUF ? size : PIPE_BUF);
    return n > 0 ? (size_t)n : 0;
}

static void write_line(srv_log *log, srv_buffer *b)
{
    size_t at = 0, n = 1;
    srv_buffer_text(b, "\n");
    pthread_mutex_lock(&log->lock);
    if (log->is_torn)
        log->is_torn = !write_some("\n", 1);
    for (; !log->is_torn && n && at < b->size; at += n)
        n = write_some(b->data + at, b->size - at);
    log->is_torn |= at > 0 && at < b->size;
    pthread_mutex_unlock(&log->lock);
    srv_buffer_clear(b);
}

// In a line of text, what a client has sent cannot begin another line.
static void replace_controls(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = '?';
}

static void add_member(srv_buffer *b, const char *key, const char *value)
{
    if (!value)
        return;
    srv_buffer_printf(b, ",\"%s\":", key);
    srv_buffer_json(b, value, strlen(value));
}

void srv_log_event(srv_log *log, const char *level, const char *fmt, ...)
{
    srv_buffer b = {.data = NULL};
    char text[1024];
    va_list args;
    if (log->format == SRV_LOG_NONE)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (log->format == SRV_LOG_TEXT) {
        replace_controls(text);
        srv_buffer_printf(&b, "lightnet: %s: %s", level, text);
    } else {
        srv_buffer_text(&b, "{\"time\":\"");
        add_time(&b);
        srv_buffer_printf(&b, "\",\"level\":\"%s\"", level);
        add_member(&b, "message", text);
        srv_buffer_text(&b, "}");
    }
    write_line(log, &b);
}

static const char *level_of(const srv_error *err)
{
    return err->status == SRV_OK ? "info" : err->status == SRV_INTERNAL ? "error" : "warning";
}

static void add_answer_json(srv_buffer *b, const srv_log_request *r)
{
    srv_buffer_text(b, "{\"time\":\"");
    add_time(b);
    srv_buffer_printf(b, "\",\"level\":\"%s\",\"status\":\"%s\"", level_of(r->error),
                      srv_status_name(r->error->status));
    add_member(b, "protocol", r->protocol);
    add_member(b, "method", r->method);
    add_member(b, "path", r->path);
    add_member(b, "client", r->client);
    add_member(b, "model", r->model);
    add_member(b, "id", r->id);
    add_member(b, "traceparent", r->traceparent);
    add_member(b, "reason", r->error->status ? r->error->text : NULL);
    srv_buffer_printf(b, ",\"bytes_in\":%zu,\"bytes_out\":%zu,\"total_ms\":%.3f", r->bytes_in,
                      r->bytes_out, (double)r->total_ns * 1e-6);
    if (r->run_ns)
        srv_buffer_printf(b, ",\"queue_ms\":%.3f,\"run_ms\":%.3f", (double)r->queue_ns * 1e-6,
                          (double)r->run_ns * 1e-6);
    srv_buffer_text(b, "}");
}

// Text of clients in quotes and with escapes: it cannot forge lines.
static void add_quoted(srv_buffer *b, const char *text)
{
    srv_buffer_text(b, " ");
    srv_buffer_json(b, text, strlen(text));
}

static void add_answer_text(srv_buffer *b, const srv_log_request *r)
{
    srv_buffer_printf(b, "lightnet: %s: %s", level_of(r->error), srv_status_name(r->error->status));
    add_quoted(b, r->method);
    add_quoted(b, r->path);
    srv_buffer_printf(b, " %.1f ms", (double)r->total_ns * 1e-6);
    if (r->error->status)
        add_quoted(b, r->error->text);
}

void srv_log_answer(srv_log *log, const srv_log_request *r)
{
    srv_buffer b = {.data = NULL};
    if (log->format == SRV_LOG_NONE || (!log->with_requests && r->error->status != SRV_INTERNAL))
        return;
    (log->format == SRV_LOG_JSON ? add_answer_json : add_answer_text)(&b, r);
    write_line(log, &b);
}
