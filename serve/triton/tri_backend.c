// SPDX-License-Identifier: Apache-2.0
// LightNet as a backend of Triton: the functions that Triton calls.
//
// A call that fails before a request is read leaves all requests to Triton. Later each request has
// a response of its own, with outputs or an error, and is released.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorlight/tl_util.h"
#include "tri_batch.h"

// The backend

static int check_version(srv_error *err)
{
    uint32_t major, minor;
    if (tri_take_error(TRITONBACKEND_ApiVersion(&major, &minor), err))
        return -1;
    if (major == TRITONBACKEND_API_VERSION_MAJOR && minor >= TRITONBACKEND_API_VERSION_MINOR)
        return 0;
    return srv_fail(err, SRV_UNSUPPORTED,
                    "Triton's interface for backends has version %u.%u; the backend was built for "
                    "%d.%d",
                    major, minor, TRITONBACKEND_API_VERSION_MAJOR, TRITONBACKEND_API_VERSION_MINOR);
}

LN_API TRITONSERVER_Error *TRITONBACKEND_Initialize(TRITONBACKEND_Backend *backend)
{
    srv_error err = {.status = SRV_OK};
    (void)backend;
    check_version(&err);
    return tri_error(&err);
}

// Models that do not ask for instances get them on the processor.
LN_API TRITONSERVER_Error *TRITONBACKEND_GetBackendAttribute(
    TRITONBACKEND_Backend *backend, TRITONBACKEND_BackendAttribute *attributes)
{
    (void)backend;
    return TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
        attributes, TRITONSERVER_INSTANCEGROUPKIND_CPU, 0, NULL, 0);
}

// Models

static tri_model *open_with(TRITONBACKEND_Model *model, TRITONSERVER_Message *config,
                            char **complete, srv_error *err)
{
    TRITONBACKEND_ArtifactType type;
    const char *location, *json;
    size_t size;
    uint64_t version;
    bool completes;
    if (tri_take_error(TRITONBACKEND_ModelRepository(model, &type, &location), err) ||
        tri_take_error(TRITONBACKEND_ModelVersion(model, &version), err) ||
        tri_take_error(TRITONBACKEND_ModelAutoCompleteConfig(model, &completes), err) ||
        tri_take_error(TRITONSERVER_MessageSerializeToJson(config, &json, &size), err))
        return NULL;
    if (type == TRITONBACKEND_ARTIFACT_FILESYSTEM)
        return tri_model_open(location, version, json, size, completes ? complete : NULL, err);
    return srv_fail(err, SRV_UNSUPPORTED, "the model is in no file system"), NULL;
}

static int set_config(TRITONBACKEND_Model *model, const char *json, srv_error *err)
{
    TRITONSERVER_Message *message;
    if (tri_take_error(TRITONSERVER_MessageNewFromSerializedJson(&message, json, strlen(json)),
                       err))
        return -1;
    const int failed = tri_take_error(TRITONBACKEND_ModelSetConfig(model, 1, message), err);
    tri_log_error(TRITONSERVER_MessageDelete(message));
    return failed;
}

static tri_model *open_model(TRITONBACKEND_Model *model, srv_error *err)
{
    TRITONSERVER_Message *config;
    char *complete = NULL;
    if (tri_take_error(TRITONBACKEND_ModelConfig(model, 1, &config), err))
        return NULL;
    tri_model *m = open_with(model, config, &complete, err);
    tri_log_error(TRITONSERVER_MessageDelete(config));
    if (m && complete && set_config(model, complete, err)) {
        tri_model_free(m);
        m = NULL;
    }
    free(complete);
    return m;
}

LN_API TRITONSERVER_Error *TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model *model)
{
    srv_error err = {.status = SRV_OK};
    tri_model *const m = open_model(model, &err);
    if (m && tri_take_error(TRITONBACKEND_ModelSetState(model, m), &err))
        tri_model_free(m);
    return tri_error(&err);
}

LN_API TRITONSERVER_Error *TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model *model)
{
    void *state = NULL;
    TRITONSERVER_Error *const error = TRITONBACKEND_ModelState(model, &state);
    if (!error)
        tri_model_free(state);
    return error;
}

// Instances

static int check_kind(TRITONBACKEND_ModelInstance *instance, srv_error *err)
{
    TRITONSERVER_InstanceGroupKind kind;
    if (tri_take_error(TRITONBACKEND_ModelInstanceKind(instance, &kind), err))
        return -1;
    return kind == TRITONSERVER_INSTANCEGROUPKIND_GPU
               ? srv_fail(err, SRV_UNSUPPORTED,
                          "the instance has KIND_GPU; expected KIND_CPU (the parameter "
                          "lightnet.target selects another target)")
               : 0;
}

LN_API TRITONSERVER_Error *TRITONBACKEND_ModelInstanceInitialize(
    TRITONBACKEND_ModelInstance *instance)
{
    srv_error err = {.status = SRV_OK};
    TRITONBACKEND_Model *model;
    void *state = NULL;
    if (check_kind(instance, &err) ||
        tri_take_error(TRITONBACKEND_ModelInstanceModel(instance, &model), &err) ||
        tri_take_error(TRITONBACKEND_ModelState(model, &state), &err))
        return tri_error(&err);
    tri_instance *const it = tri_instance_create(state, &err);
    if (it && tri_take_error(TRITONBACKEND_ModelInstanceSetState(instance, it), &err))
        tri_instance_free(it);
    return tri_error(&err);
}

LN_API TRITONSERVER_Error *TRITONBACKEND_ModelInstanceFinalize(
    TRITONBACKEND_ModelInstance *instance)
{
    void *state = NULL;
    TRITONSERVER_Error *const error = TRITONBACKEND_ModelInstanceState(instance, &state);
    if (!error)
        tri_instance_free(state);
    return error;
}

// Requests

static void send_response(tri_request *r)
{
    if (!r->response)
        return;
    TRITONSERVER_Error *const error = tri_error(&r->error);
    tri_log_error(
        TRITONBACKEND_ResponseSend(r->response, TRITONSERVER_RESPONSE_COMPLETE_FINAL, error));
    if (error)
        TRITONSERVER_ErrorDelete(error);
}

// The times of the call, from its begin to its end.
static void report(TRITONBACKEND_ModelInstance *instance, const tri_request *r,
                   const tri_times *times, uint64_t begin, uint64_t end)
{
    const int has_run = times->run_begin > 0;
    tri_log_error(TRITONBACKEND_ModelInstanceReportStatistics(
        instance, r->request, r->error.status == SRV_OK, begin, has_run ? times->run_begin : begin,
        has_run ? times->run_end : end, end));
}

static void finish(TRITONBACKEND_ModelInstance *instance, tri_request *requests, uint32_t n,
                   const tri_times *times, uint64_t begin)
{
    for (uint32_t i = 0; i < n; i++)
        send_response(&requests[i]);
    const uint64_t end = tl_clock();
    for (uint32_t i = 0; i < n; i++) {
        report(instance, &requests[i], times, begin, end);
        tri_request_clear(&requests[i]);
        tri_log_error(
            TRITONBACKEND_RequestRelease(requests[i].request, TRITONSERVER_REQUEST_RELEASE_ALL));
    }
    if (times->rows)
        tri_log_error(TRITONBACKEND_ModelInstanceReportBatchStatistics(
            instance, times->rows, begin, times->run_begin, times->run_end, end));
}

LN_API TRITONSERVER_Error *TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance *instance,
                                                              TRITONBACKEND_Request **requests,
                                                              const uint32_t n)
{
    const uint64_t begin = tl_clock();
    void *state = NULL;
    tri_times times;
    TRITONSERVER_Error *const error = TRITONBACKEND_ModelInstanceState(instance, &state);
    if (error)
        return error;
    tri_instance *const it = state;
    tri_request *const read = calloc((size_t)n + 1, sizeof(*read));
    if (!read)
        return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "no memory for requests");
    for (uint32_t i = 0; i < n; i++)
        tri_request_read(&read[i], it->model, requests[i]);
    tri_batch_run(it, read, n, &times);
    finish(instance, read, n, &times, begin);
    free(read);
    return NULL;
}
