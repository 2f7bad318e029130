// SPDX-License-Identifier: Apache-2.0
// Two secrets, each from a group of files that are read together. Who replaces a certificate and
// its key does so in two steps: a pair that does not fit is an error, and the second step is a
// change.

#include "srv_access.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "srv_files.h"

enum { MAX_TOKEN = 1 << 16 };

// When files were seen and read.
typedef struct stamps {
    uint64_t seen; // by the last poll
    uint64_t read; // those that were read, or have failed
} stamps;

struct srv_access {
    srv_access_files files;
    stamps of_token, of_tls;
    pthread_mutex_t lock; // protects the token and the pointer to certificates
    char *token;
    srv_tls *tls;
};

static uint64_t stamp_of(const char *const *paths, int n)
{
    uint64_t stamp = 1;
    for (int i = 0; i < n; i++)
        if (paths[i])
            stamp = srv_files_stamp(paths[i], stamp);
    return stamp;
}

static uint64_t stamp_of_token(const srv_access *a)
{
    return stamp_of(&a->files.token, 1);
}

static uint64_t stamp_of_tls(const srv_access *a)
{
    return stamp_of((const char *const[]){a->files.certificate, a->files.key, a->files.client_ca},
                    3);
}

// Whether they have changed, and were the same in the last call.
static int is_due(stamps *s, uint64_t now)
{
    const int is_settled = s->seen == now;
    s->seen = now;
    if (!is_settled || s->read == now)
        return 0;
    s->read = now;
    return 1;
}

static int read_token(srv_access *a, srv_error *err)
{
    char *const text = srv_files_read(a->files.token, MAX_TOKEN, err);
    if (!text)
        return -1;
    text[strcspn(text, "\r\n")] = '\0';
    if (!*text) {
        free(text);
        return srv_fail(err, SRV_INVALID, "%s: has no token in its first line", a->files.token);
    }
    pthread_mutex_lock(&a->lock);
    char *const old = a->token;
    a->token = text;
    pthread_mutex_unlock(&a->lock);
    free(old);
    return 0;
}

static int read_tls(srv_access *a, srv_error *err)
{
    srv_tls *const tls = srv_tls_read(a->files.certificate, a->files.key, a->files.client_ca, err);
    if (!tls)
        return -1;
    pthread_mutex_lock(&a->lock);
    srv_tls *const old = a->tls;
    a->tls = tls;
    pthread_mutex_unlock(&a->lock);
    srv_tls_release(old);
    return 0;
}

srv_access *srv_access_create(const srv_access_files *files, srv_error *err)
{
    srv_access *const a = calloc(1, sizeof(*a));
    if (!a)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    a->files = *files;
    pthread_mutex_init(&a->lock, NULL);
    a->of_token.read = a->of_token.seen = stamp_of_token(a); // before they are read
    a->of_tls.read = a->of_tls.seen = stamp_of_tls(a);
    if ((!files->token || !read_token(a, err)) && (!files->certificate || !read_tls(a, err)))
        return a;
    srv_access_free(a);
    return NULL;
}

void srv_access_free(srv_access *a)
{
    if (!a)
        return;
    srv_tls_release(a->tls);
    free(a->token);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

void srv_access_poll(srv_access *a,
                     void (*note)(void *data, const char *what, const srv_error *err), void *data)
{
    srv_error of_token = {.status = SRV_OK}, of_tls = {.status = SRV_OK};
    if (a->files.token && is_due(&a->of_token, stamp_of_token(a))) {
        read_token(a, &of_token);
        note(data, "token", &of_token);
    }
    if (a->files.certificate && is_due(&a->of_tls, stamp_of_tls(a))) {
        read_tls(a, &of_tls);
        note(data, "certificate", &of_tls);
    }
}

// Compares all bytes, so that the time does not tell how many are right.
static int is_equal(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    unsigned char diff = n != m;
    for (size_t i = 0; i < n; i++)
        diff |= (unsigned char)(a[i] ^ b[m ? i % m : 0]);
    return m && !diff;
}

int srv_access_accepts(srv_access *a, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    const size_t size = strlen(scheme);
    if (!a->files.token)
        return 1;
    if (!authorization || strncasecmp(authorization, scheme, size))
        return 0;
    pthread_mutex_lock(&a->lock);
    const int is_right = is_equal(authorization + size, a->token);
    pthread_mutex_unlock(&a->lock);
    return is_right;
}

srv_tls *srv_access_keep_tls(srv_access *a)
{
    pthread_mutex_lock(&a->lock);
    srv_tls *const tls = srv_tls_keep(a->tls);
    pthread_mutex_unlock(&a->lock);
    return tls;
}

int srv_access_has_tls(const srv_access *a)
{
    return a->files.certificate != NULL;
}

int srv_access_needs_client(const srv_access *a)
{
    return a->files.client_ca != NULL;
}
