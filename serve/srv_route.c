// SPDX-License-Identifier: Apache-2.0
// A table of pages.

#include "srv_route.h"

#include <string.h>

// {m} and {v} match one part of a path each: the name of a model, and its version.
static const struct {
    const char *method, *path;
    srv_page page;
    int is_open;
} pages[] = {
    {"GET", "/", SRV_PAGE_STATUS, 1}, // it asks for the token, which its requests send
    {"GET", "/metrics", SRV_PAGE_METRICS, 0},
    {"GET", "/v2", SRV_PAGE_SERVER, 0},
    {"GET", "/v2/health/live", SRV_PAGE_LIVE, 1},
    {"GET", "/v2/health/ready", SRV_PAGE_READY, 1},
    {"GET", "/v2/models/{m}", SRV_PAGE_MODEL, 0},
    {"GET", "/v2/models/{m}/ready", SRV_PAGE_MODEL_READY, 0},
    {"POST", "/v2/models/{m}/infer", SRV_PAGE_INFER, 0},
    {"GET", "/v2/models/{m}/versions/{v}", SRV_PAGE_MODEL, 0},
    {"GET", "/v2/models/{m}/versions/{v}/ready", SRV_PAGE_MODEL_READY, 0},
    {"POST", "/v2/models/{m}/versions/{v}/infer", SRV_PAGE_INFER, 0},
    {"POST", "/v2/repository/index", SRV_PAGE_INDEX, 0},
    {"POST", "/v2/repository/models/{m}/load", SRV_PAGE_LOAD, 0},
    {"POST", "/v2/repository/models/{m}/unload", SRV_PAGE_UNLOAD, 0},
};

// Copies the part of `path` up to the next slash. Returns its size; 0: it is empty or too long.
static size_t copy_part(char part[SRV_NAME_SIZE], const char *path)
{
    const size_t size = strcspn(path, "/");
    if (size == 0 || size >= SRV_NAME_SIZE)
        return 0;
    memcpy(part, path, size);
    part[size] = '\0';
    return size;
}

static int matches(const char *pattern, const char *path, srv_route *route)
{
    route->model[0] = route->version[0] = '\0';
    while (*pattern) {
        if (*pattern != '{') {
            if (*pattern++ != *path++)
                return 0;
            continue;
        }
        const size_t size = copy_part(pattern[1] == 'm' ? route->model : route->version, path);
        if (!size)
            return 0;
        path += size;
        pattern += strlen("{m}");
    }
    return !*path ||
           (path[0] == '/' && !path[1] && path[-1] != '/'); // a slash at the end is ignored
}

int srv_route_find(const char *method, const char *path, srv_route *route, srv_error *err)
{
    const char *other = NULL;
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (!matches(pages[i].path, path, route))
            continue;
        route->page = pages[i].page;
        route->is_open = pages[i].is_open;
        route->methods = strcmp(pages[i].method, "GET") ? pages[i].method : "GET, HEAD";
        if (!strcmp(method, pages[i].method) ||
            (!strcmp(method, "HEAD") && !strcmp(pages[i].method, "GET")))
            return 0;
        other = pages[i].method;
        break; // no path has two pages
    }
    return other
               ? srv_fail(err, SRV_NOT_ALLOWED, "the method is %s; the page has %s", method, other)
               : srv_fail(err, SRV_NOT_FOUND, "no such page");
}
