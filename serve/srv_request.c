// SPDX-License-Identifier: Apache-2.0
// Memory of requests.

#include "srv_request.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int srv_request_inputs(srv_request *r, size_t n)
{
    r->inputs = n < INT_MAX ? calloc(n + 1, sizeof(*r->inputs)) : NULL;
    if (!r->inputs)
        return srv_fail(&r->error, SRV_OUT_OF_MEMORY, "the server has no memory for %zu inputs", n);
    r->n_inputs = (int)n;
    return 0;
}

int srv_request_want(srv_request *r, const char *name)
{
    char **const wanted = realloc(r->wanted, sizeof(*wanted) * ((size_t)r->n_wanted + 1));
    char *const copy = strdup(name);
    if (wanted)
        r->wanted = wanted;
    if (!wanted || !copy) {
        free(copy);
        return srv_fail(&r->error, SRV_OUT_OF_MEMORY,
                        "the server has no memory for names of outputs");
    }
    r->wanted[r->n_wanted++] = copy;
    return 0;
}

static void free_tensors(srv_tensor *tensors, int n)
{
    for (int i = 0; i < n; i++)
        srv_tensor_clear(&tensors[i]);
    free(tensors);
}

size_t srv_request_size(const srv_request *r)
{
    size_t size = 0;
    for (int i = 0; i < r->n_inputs; i++)
        size += srv_tensor_memory(&r->inputs[i]);
    for (int i = 0; i < r->n_outputs; i++)
        size += srv_tensor_memory(&r->outputs[i]);
    for (int i = 0; i < r->n_wanted; i++)
        size += sizeof(*r->wanted) + strlen(r->wanted[i]) + 1;
    return size; // all of it is in memory: no overflow
}

void srv_request_drop_tensors(srv_request *r)
{
    free_tensors(r->inputs, r->n_inputs);
    free_tensors(r->outputs, r->n_outputs);
    r->inputs = r->outputs = NULL;
    r->n_inputs = r->n_outputs = 0;
}

void srv_request_clear(srv_request *r)
{
    srv_request_drop_tensors(r);
    for (int i = 0; i < r->n_wanted; i++)
        free(r->wanted[i]);
    free(r->wanted);
    *r = (srv_request){.inputs = NULL};
}
