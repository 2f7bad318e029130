// SPDX-License-Identifier: Apache-2.0
// The log of a server: an object of JSON for each event, or a line of text, on standard error.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "srv_status.h"

typedef enum srv_log_format { SRV_LOG_TEXT, SRV_LOG_JSON, SRV_LOG_NONE } srv_log_format;

typedef struct srv_log srv_log;

/** A request that was answered. */
typedef struct srv_log_request {
    const char *protocol, *method, *path, *client;
    const char *model, *id;  // NULL: none
    const char *traceparent; // NULL: none
    const srv_error *error;
    size_t bytes_in, bytes_out;
    uint64_t total_ns, queue_ns, run_ns;
} srv_log_request;

/** Returns new (srv_log_free); NULL: no memory. `with_requests` 0: only events and failures. */
srv_log *srv_log_create(srv_log_format format, int with_requests);
void srv_log_free(srv_log *log);

/** An event: `level` is "info", "warning" or "error". */
void srv_log_event(srv_log *log, const char *level, const char *fmt, ...) LN_PRINTF(3, 4);

void srv_log_answer(srv_log *log, const srv_log_request *request);
