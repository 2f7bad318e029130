// SPDX-License-Identifier: Apache-2.0
// Tests of routes: paths and methods of pages.

#include "srv_route.h"

#include <string.h>

#include "ln_check.h"

START_TEST(paths_lead_to_pages)
{
    static const struct {
        const char *method, *path;
        srv_page page;
        const char *model, *version;
        int is_open;
    } rows[] = {
        {"GET", "/", SRV_PAGE_STATUS, "", "", 1},
        {"HEAD", "/metrics", SRV_PAGE_METRICS, "", "", 0},
        {"GET", "/v2", SRV_PAGE_SERVER, "", "", 0},
        {"GET", "/v2/", SRV_PAGE_SERVER, "", "", 0},
        {"GET", "/v2/health/live", SRV_PAGE_LIVE, "", "", 1},
        {"GET", "/v2/health/ready", SRV_PAGE_READY, "", "", 1},
        {"GET", "/v2/models/a.b", SRV_PAGE_MODEL, "a.b", "", 0},
        {"GET", "/v2/models/a/ready", SRV_PAGE_MODEL_READY, "a", "", 0},
        {"POST", "/v2/models/a/infer", SRV_PAGE_INFER, "a", "", 0},
        {"GET", "/v2/models/a/versions/3", SRV_PAGE_MODEL, "a", "3", 0},
        {"GET", "/v2/models/a/versions/3/ready", SRV_PAGE_MODEL_READY, "a", "3", 0},
        {"POST", "/v2/models/infer/versions/3/infer", SRV_PAGE_INFER, "infer", "3", 0},
        {"POST", "/v2/repository/index", SRV_PAGE_INDEX, "", "", 0},
        {"POST", "/v2/repository/models/a/load", SRV_PAGE_LOAD, "a", "", 0},
        {"POST", "/v2/repository/models/a/unload/", SRV_PAGE_UNLOAD, "a", "", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        srv_route route = {.methods = NULL};
        srv_error err = {.status = SRV_OK};
        ck_assert_msg(!srv_route_find(rows[i].method, rows[i].path, &route, &err), "%s: %s",
                      rows[i].path, err.text);
        ck_assert_int_eq((int)route.page, (int)rows[i].page);
        ck_assert_str_eq(route.model, rows[i].model);
        ck_assert_str_eq(route.version, rows[i].version);
        ck_assert_int_eq(route.is_open, rows[i].is_open);
    }
}
END_TEST

START_TEST(other_paths_are_not_found)
{
    static const char *const paths[] = {
        "",       "v2",          "//",           "/v2//",      "/v3",
        "/v2/xy", "/v2/models/", "/v2/models//", "/V2",        "/v2/models//infer",
        "/v2 ",   "/metrics/x",  "/v2/models",   "/v2/health", "/v2/models/a/versions//ready",
    };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        srv_route route = {.methods = NULL};
        srv_error err = {.status = SRV_OK};
        ck_assert_msg(srv_route_find("GET", paths[i], &route, &err) < 0, "'%s'", paths[i]);
        ck_assert_int_eq((int)err.status, SRV_NOT_FOUND);
        ck_assert_ptr_null(route.methods);
    }
}
END_TEST

START_TEST(name_has_a_max_length)
{
    char path[600] = "/v2/models/";
    srv_route route = {.methods = NULL};
    srv_error err = {.status = SRV_OK};
    const size_t begin = strlen(path);
    memset(path + begin, 'x', SRV_NAME_SIZE - 1);
    ck_assert_int_eq(srv_route_find("GET", path, &route, &err), 0);
    ck_assert_uint_eq(strlen(route.model), SRV_NAME_SIZE - 1);
    path[begin + SRV_NAME_SIZE - 1] = 'x';
    ck_assert_int_eq(srv_route_find("GET", path, &route, &err), -1);
    ck_assert_int_eq((int)err.status, SRV_NOT_FOUND);
}
END_TEST

START_TEST(wrong_method_names_the_right_ones)
{
    srv_route route = {.methods = NULL};
    srv_error err = {.status = SRV_OK};
    ck_assert_int_eq(srv_route_find("POST", "/v2", &route, &err), -1);
    ck_assert_int_eq((int)err.status, SRV_NOT_ALLOWED);
    ck_assert_str_eq(route.methods, "GET, HEAD");
    err.status = SRV_OK;
    ck_assert_int_eq(srv_route_find("HEAD", "/v2/models/a/infer", &route, &err), -1);
    ck_assert_str_eq(route.methods, "POST");
}
END_TEST

LN_TEST_MAIN("routes", paths_lead_to_pages, other_paths_are_not_found, name_has_a_max_length,
             wrong_method_names_the_right_ones)
