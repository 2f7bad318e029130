// SPDX-License-Identifier: Apache-2.0
// Both front ends have GnuTLS, so certificates are read in one way.

#include "srv_tls.h"

#include <gnutls/gnutls.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "srv_files.h"

enum { MAX_PEM = 1 << 20 };

struct srv_tls {
    gnutls_certificate_credentials_t credentials;
    int needs_client; // certificates of clients
    atomic_int n_users;
};

static gnutls_datum_t datum_of(char *text)
{
    return (gnutls_datum_t){(unsigned char *)text, (unsigned)strlen(text)};
}

static void free_secret(char *text)
{
    if (text)
        explicit_bzero(text, strlen(text));
    free(text);
}

static int read_pair(srv_tls *tls, const char *certificate, const char *key, srv_error *err)
{
    char *const first = srv_files_read(certificate, MAX_PEM, err);
    char *const second = first ? srv_files_read(key, MAX_PEM, err) : NULL;
    int status = 0;
    if (second) {
        const gnutls_datum_t pem = datum_of(first), key_pem = datum_of(second);
        status = gnutls_certificate_set_x509_key_mem(tls->credentials, &pem, &key_pem,
                                                     GNUTLS_X509_FMT_PEM);
    }
    if (status < 0)
        srv_fail(err, SRV_INVALID, "%s, %s: no certificate with its key: %s", certificate, key,
                 gnutls_strerror(status));
    free(first);
    free_secret(second);
    return second && status >= 0 ? 0 : -1;
}

static int read_authority(srv_tls *tls, const char *client_ca, srv_error *err)
{
    char *const text = srv_files_read(client_ca, MAX_PEM, err);
    if (!text)
        return -1;
    const gnutls_datum_t pem = datum_of(text);
    const int status =
        gnutls_certificate_set_x509_trust_mem(tls->credentials, &pem, GNUTLS_X509_FMT_PEM);
    free(text);
    tls->needs_client = 1;
    return status > 0 ? 0
                      : srv_fail(err, SRV_INVALID, "%s: has no certificate%s%s", client_ca,
                                 status < 0 ? ": " : "", status < 0 ? gnutls_strerror(status) : "");
}

srv_tls *srv_tls_read(const char *certificate, const char *key, const char *client_ca,
                      srv_error *err)
{
    srv_tls *const tls = calloc(1, sizeof(*tls));
    if (!tls || gnutls_certificate_allocate_credentials(&tls->credentials) < 0) {
        free(tls);
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    }
    atomic_init(&tls->n_users, 1);
    if (!read_pair(tls, certificate, key, err) &&
        (!client_ca || !read_authority(tls, client_ca, err)))
        return tls;
    srv_tls_release(tls);
    return NULL;
}

srv_tls *srv_tls_keep(srv_tls *tls)
{
    if (tls)
        atomic_fetch_add(&tls->n_users, 1);
    return tls;
}

void srv_tls_release(srv_tls *tls)
{
    if (!tls || atomic_fetch_sub(&tls->n_users, 1) > 1)
        return;
    gnutls_certificate_free_credentials(tls->credentials);
    free(tls);
}

int srv_tls_use(const srv_tls *tls, struct gnutls_session_int *session)
{
    if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, tls->credentials) < 0)
        return -1;
    if (tls->needs_client) {
        gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
        gnutls_session_set_verify_cert(session, NULL, 0);
    }
    return 0;
}
