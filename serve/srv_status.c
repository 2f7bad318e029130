// SPDX-License-Identifier: Apache-2.0
// Codes of statuses: RFC 9110 (HTTP Semantics), and gRPC's list of status codes.

#include "srv_status.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

static const struct {
    const char *name;
    int http, grpc;
} statuses[SRV_STATUS_SIZE] = {
    [SRV_OK] = {"ok", 200, 0},
    [SRV_INVALID] = {"invalid", 400, 3},
    [SRV_UNAUTHORIZED] = {"unauthorized", 401, 16},
    [SRV_FORBIDDEN] = {"forbidden", 403, 7},
    [SRV_NOT_FOUND] = {"not_found", 404, 5},
    [SRV_NOT_ALLOWED] = {"not_allowed", 405, 12},
    [SRV_TOO_LARGE] = {"too_large", 413, 8},
    [SRV_ENCODING] = {"encoding", 415, 12},
    [SRV_UNSUPPORTED] = {"unsupported", 501, 12},
    [SRV_BUSY] = {"busy", 429, 8},
    [SRV_UNAVAILABLE] = {"unavailable", 503, 14},
    [SRV_TIMEOUT] = {"timeout", 504, 4},
    [SRV_CANCELLED] = {"cancelled", 499, 1}, // as other servers log clients that have gone
    [SRV_OUT_OF_MEMORY] = {"out_of_memory", 503, 8},
    [SRV_INTERNAL] = {"internal", 500, 13},
};

int srv_fail(srv_error *err, srv_status status, const char *fmt, ...)
{
    va_list args;
    if (err->status != SRV_OK)
        return -1;
    err->status = status;
    va_start(args, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, args);
    va_end(args);
    return -1;
}

int srv_fail_ln(srv_error *err, ln_status status, const char *reason)
{
    static const srv_status ours[LN_STATUS_SIZE] = {
        [LN_OK] = SRV_INTERNAL,
        [LN_BAD_ARGUMENT] = SRV_INVALID,
        [LN_NOT_FOUND] = SRV_NOT_FOUND,
        [LN_BAD_MODEL] = SRV_INTERNAL,
        [LN_UNSUPPORTED] = SRV_UNSUPPORTED,
        [LN_OUT_OF_MEMORY] = SRV_OUT_OF_MEMORY,
        [LN_LIMIT_REACHED] = SRV_TIMEOUT,
        [LN_CANCELLED] = SRV_CANCELLED,
        [LN_IO_ERROR] = SRV_INTERNAL,
        [LN_INTERNAL_ERROR] = SRV_INTERNAL,
    };
    return srv_fail(err, status < LN_STATUS_SIZE ? ours[status] : SRV_INTERNAL, "%s", reason);
}

const char *srv_status_name(srv_status status)
{
    assert(status < SRV_STATUS_SIZE);
    return statuses[status].name;
}

int srv_status_http(srv_status status)
{
    assert(status < SRV_STATUS_SIZE);
    return statuses[status].http;
}

int srv_status_grpc(srv_status status)
{
    assert(status < SRV_STATUS_SIZE);
    return statuses[status].grpc;
}
