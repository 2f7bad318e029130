// SPDX-License-Identifier: Apache-2.0
// Inputs of a single request stay where they are, if they can be read there; others are joined.

#include "tri_batch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tensorlight/tl_util.h"

enum { ALIGNMENT = 64 };

// Requests that run together.
typedef struct group {
    tri_request **at; // [n]
    uint32_t n;
    int rows;
} group;

tri_instance *tri_instance_create(const tri_model *model, srv_error *err)
{
    tri_instance *const it = calloc(1, sizeof(*it));
    if (!it)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory"), NULL;
    it->model = model;
    it->joined = calloc((size_t)model->n_inputs + 1, sizeof(*it->joined));
    it->joined_size = calloc((size_t)model->n_inputs + 1, sizeof(*it->joined_size));
    const ln_status status = it->joined && it->joined_size
                                 ? ln_session_create(model->model, &it->session)
                                 : LN_OUT_OF_MEMORY;
    if (status == LN_OK)
        return it;
    srv_fail_ln(err, status, status == LN_OUT_OF_MEMORY ? "no memory" : ln_session_error(NULL));
    tri_instance_free(it);
    return NULL;
}

void tri_instance_free(tri_instance *it)
{
    if (!it)
        return;
    ln_session_free(it->session);
    for (int i = 0; it->joined && i < it->model->n_inputs; i++)
        free(it->joined[i]);
    free(it->joined);
    free(it->joined_size);
    free(it);
}

// Inputs

static int fail_session(const tri_instance *it, ln_status status, srv_error *err)
{
    return status ? srv_fail_ln(err, status, ln_session_error(it->session)) : 0;
}

static int set_strings(tri_instance *it, const group *g, int i, const int *dims, srv_error *err)
{
    const srv_tensor *const first = &g->at[0]->inputs[i].tensor;
    size_t len = 0, at = 0;
    for (uint32_t k = 0; k < g->n; k++)
        len += g->at[k]->inputs[i].tensor.len;
    const char **const strings = calloc(len + 1, sizeof(*strings));
    size_t *const sizes = calloc(len + 1, sizeof(*sizes));
    const int has_memory = strings && sizes;
    for (uint32_t k = 0; k < g->n && has_memory; k++) {
        const srv_tensor *const t = &g->at[k]->inputs[i].tensor;
        for (size_t e = 0; e < t->len; e++, at++) {
            strings[at] = t->strings[e];
            sizes[at] = t->sizes[e];
        }
    }
    const int failed = has_memory
                           ? fail_session(it,
                                          ln_session_set_strings(it->session, first->name,
                                                                 first->ndim, dims, strings, sizes),
                                          err)
                           : srv_fail(err, SRV_OUT_OF_MEMORY, "no memory for strings");
    free(strings);
    free(sizes);
    return failed;
}

// Memory for input `i`, which grows.
static char *joined_of(tri_instance *it, int i, size_t size)
{
    if (it->joined[i] && size <= it->joined_size[i])
        return it->joined[i];
    free(it->joined[i]);
    it->joined_size[i] = size;
    it->joined[i] = size <= SIZE_MAX - 2 * ALIGNMENT
                        ? aligned_alloc(ALIGNMENT, size / ALIGNMENT * ALIGNMENT + ALIGNMENT)
                        : NULL;
    return it->joined[i];
}

static const void *join(tri_instance *it, const group *g, int i, size_t size, srv_error *err)
{
    const size_t alignment = tl_size_of(g->at[0]->inputs[i].tensor.dtype);
    const void *const piece = g->n == 1 ? tri_request_piece(g->at[0], i, alignment) : NULL;
    if (piece)
        return piece;
    char *const joined = joined_of(it, i, size), *to = joined;
    if (!joined)
        return srv_fail(err, SRV_OUT_OF_MEMORY, "no memory for the inputs of a batch"), NULL;
    for (uint32_t k = 0; k < g->n; k++) {
        if (tri_request_copy(g->at[k], i, to))
            return srv_fail(err, g->at[k]->error.status, "%s", g->at[k]->error.text), NULL;
        to += g->at[k]->inputs[i].tensor.size;
    }
    return joined;
}

static int set_input(tri_instance *it, const group *g, int i, srv_error *err)
{
    const srv_tensor *const t = &g->at[0]->inputs[i].tensor;
    int dims[SRV_MAX_DIMS];
    size_t size = 0;
    memcpy(dims, t->dims, sizeof(dims));
    if (g->n > 1)
        dims[0] = g->rows;
    if (t->dtype == TL_STRING)
        return set_strings(it, g, i, dims, err);
    for (uint32_t k = 0; k < g->n; k++)
        size += g->at[k]->inputs[i].tensor.size; // as many as Triton has in memory: no overflow
    const void *const data = join(it, g, i, size, err);
    return data ? fail_session(it,
                               ln_session_bind_input(it->session, t->name, t->dtype, t->ndim, dims,
                                                     data, size),
                               err)
                : -1;
}

// Inputs that the session borrowed belong to requests that are about to end.
static void forget_inputs(tri_instance *it)
{
    const tri_model *const m = it->model;
    for (int i = 0; i < m->n_inputs; i++)
        if (m->inputs[i].datatype && srv_datatype_find(m->inputs[i].datatype) != TL_STRING)
            ln_session_bind_input(it->session, m->inputs[i].name,
                                  srv_datatype_find(m->inputs[i].datatype), 0, NULL, NULL, 0);
}

// Groups

static int run(tri_instance *it, const group *g, tri_times *times, srv_error *err)
{
    int failed = 0;
    for (int i = 0; i < it->model->n_inputs && !failed; i++)
        failed = set_input(it, g, i, err);
    const uint64_t begin = tl_clock();
    if (!failed)
        failed = fail_session(it, ln_session_run(it->session), err);
    times->run_begin = times->run_begin ? times->run_begin : begin;
    times->run_end = tl_clock();
    if (!failed)
        times->rows += (uint64_t)g->rows;
    return failed;
}

static void run_alone(tri_instance *it, tri_request *r, tri_times *times)
{
    const group one = {&r, 1, r->rows};
    if (!r->error.status && !run(it, &one, times, &r->error))
        tri_request_add_outputs(r, it->model, it->session, 0, 0);
}

static void run_group(tri_instance *it, const group *g, tri_times *times)
{
    srv_error together = {.status = SRV_OK};
    int begin = 0;
    if (g->n == 1 || run(it, g, times, &together)) {
        for (uint32_t k = 0; k < g->n; k++)
            run_alone(it, g->at[k], times);
        return;
    }
    for (uint32_t k = 0; k < g->n; begin += g->at[k]->rows, k++)
        tri_request_add_outputs(g->at[k], it->model, it->session, begin, g->rows);
}

// The requests from `first` on that fit it.
static void collect(const tri_instance *it, tri_request *first, tri_request *end, group *g)
{
    g->n = 0;
    g->rows = 0;
    for (tri_request *r = first; r < end; r++) {
        if (r->is_done || r->error.status)
            continue;
        if (g->n && (!it->model->max_batch || g->rows > it->model->max_batch - r->rows ||
                     !tri_request_fits(first, r)))
            continue;
        r->is_done = 1;
        g->at[g->n++] = r;
        g->rows += r->rows;
    }
}

void tri_batch_run(tri_instance *it, tri_request *requests, uint32_t n, tri_times *times)
{
    group g = {.at = calloc((size_t)n + 1, sizeof(tri_request *))};
    *times = (tri_times){.rows = 0};
    for (uint32_t i = 0; i < n; i++) {
        tri_request *const r = &requests[i];
        if (!g.at)
            srv_fail(&r->error, SRV_OUT_OF_MEMORY, "no memory");
        if (r->error.status || r->is_done)
            continue;
        collect(it, r, requests + n, &g);
        run_group(it, &g, times);
    }
    forget_inputs(it);
    free(g.at);
}
