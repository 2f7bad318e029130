// SPDX-License-Identifier: Apache-2.0
// Pages of the server: which path and method lead where.
#pragma once

#include "srv_status.h"

typedef enum srv_page {
    SRV_PAGE_STATUS, // for people
    SRV_PAGE_METRICS,
    SRV_PAGE_LIVE,
    SRV_PAGE_READY,
    SRV_PAGE_SERVER,
    SRV_PAGE_MODEL,
    SRV_PAGE_MODEL_READY,
    SRV_PAGE_INFER,
    SRV_PAGE_INDEX,
    SRV_PAGE_LOAD,
    SRV_PAGE_UNLOAD,
} srv_page;

enum { SRV_NAME_SIZE = 256 };

/** A page, and what its path names. */
typedef struct srv_route {
    srv_page page;
    int is_open;                                       // needs no token
    const char *methods;                               // of the page, as the header Allow has them
    char model[SRV_NAME_SIZE], version[SRV_NAME_SIZE]; // "": none
} srv_route;

/** -1 with a reason: no such page, or it has no such method. */
int srv_route_find(const char *method, const char *path, srv_route *route, srv_error *err);
