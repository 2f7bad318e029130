// SPDX-License-Identifier: Apache-2.0
// The command line of `lightnet serve`.
#pragma once

#include "srv_http.h"

typedef struct srv_options {
    const char *const *paths; // [n_paths] models and folders
    int n_paths, max_versions;
    srv_model_settings model; // without its ln_options
    srv_http_settings http;
    srv_access_files access;
    int grpc_port;       // -1: no gRPC; 0: any that is free
    ln_options *opening; // owned
    size_t max_request;
    int allows_control;
    double poll_s, drain_delay_s, drain_s;
    srv_log_format log_format;
    int logs_requests;
} srv_options;

/** Reads the arguments. 0; 1: help or the version was printed; -1: wrong usage, which was printed.
 */
int srv_options_read(srv_options *o, int argc, char **argv);

void srv_options_clear(srv_options *o);
