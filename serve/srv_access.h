// SPDX-License-Identifier: Apache-2.0
// Who may use the server: a token and certificates, from files that may change while it runs.
#pragma once

#include "srv_tls.h"

typedef struct srv_access srv_access;

/** Paths; NULL: none. A certificate has its key. */
typedef struct srv_access_files {
    const char *token;                         // its first line
    const char *certificate, *key, *client_ca; // PEM
} srv_access_files;

/** Reads the files; the paths stay the caller's, and remain. Returns new (srv_access_free); NULL
 *  with a reason. */
srv_access *srv_access_create(const srv_access_files *files, srv_error *err);
void srv_access_free(srv_access *a);

/** Reads files again that have changed, but not since the last call. `note` learns what was read,
 *  or has failed, once: then all stays as it is. One thread calls it. */
void srv_access_poll(srv_access *a,
                     void (*note)(void *data, const char *what, const srv_error *err), void *data);

/** Whether no token is needed, or `authorization` (NULL: none), the header of a request, has it:
 *  "Bearer TOKEN". */
int srv_access_accepts(srv_access *a, const char *authorization);

/** The newest certificates, kept (srv_tls_release); NULL: no TLS. */
srv_tls *srv_access_keep_tls(srv_access *a);

/** Whether connections have TLS, and clients need certificates; both never change. */
int srv_access_has_tls(const srv_access *a);
int srv_access_needs_client(const srv_access *a);
