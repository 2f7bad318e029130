// SPDX-License-Identifier: Apache-2.0
// usage: triton_host BACKEND <PLAN >RESULTS. A small host in place of Triton: loads the backend,
// and does what a plan in JSON says: a model's folder, version and configuration, and batches of
// requests.
//
// It is strict where Triton is: a request is released once, after its response was sent; an error,
// a message and a response have one owner. It counts what exists, which must be nothing in the end.

#include <assert.h>
#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tri_types.h"

#include <triton/core/tritonbackend.h>

static const char *const type_names[] = {"<invalid>", "BOOL", "UINT8", "UINT16", "UINT32",
                                         "UINT64",    "INT8", "INT16", "INT32",  "INT64",
                                         "FP16",      "FP32", "FP64",  "BYTES",  "BF16"};
enum { N_TYPES = sizeof(type_names) / sizeof(type_names[0]), MAX = 16 };

struct TRITONSERVER_Error {
    TRITONSERVER_Error_Code code;
    char *text;
};
struct TRITONSERVER_Message {
    char *text;
};
struct TRITONBACKEND_Model {
    const json_t *plan;
    json_t *new_config; // NULL: none was set
    void *state;
};
struct TRITONBACKEND_ModelInstance {
    TRITONBACKEND_Model *model;
    void *state;
    json_t *batches; // statistics
};
struct TRITONBACKEND_Input {
    const json_t *plan;
    int64_t shape[MAX];
    unsigned char *bytes; // a 0 more in front if the plan wants them unaligned
    size_t size, piece;   // bytes of each piece but the last
};
struct TRITONBACKEND_Request {
    const json_t *plan;
    TRITONBACKEND_Input inputs[MAX];
    uint32_t n_inputs;
    json_t *result;
    int is_sent;
};
struct TRITONBACKEND_Output {
    json_t *result;
    void *bytes;
    size_t size;
};
struct TRITONBACKEND_Response {
    TRITONBACKEND_Request *request;
    TRITONBACKEND_Output outputs[MAX];
    uint32_t n_outputs;
};

static int n_errors, n_messages, n_responses, n_requests; // that exist
static const char *failing = "";                          // the function that fails, for tests
static json_t *logged;

static TRITONSERVER_Error *fails(const char *function)
{
    return strcmp(failing, function) ? NULL
                                     : TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, function);
}
#define FAIL_IF_PLANNED                                      \
    do {                                                     \
        TRITONSERVER_Error *const planned = fails(__func__); \
        if (planned)                                         \
            return planned;                                  \
    } while (0)

// Errors, messages, types

TRITONSERVER_Error *TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char *msg)
{
    TRITONSERVER_Error *const error = malloc(sizeof(*error));
    *error = (TRITONSERVER_Error){code, strdup(msg)};
    n_errors++;
    return error;
}

void TRITONSERVER_ErrorDelete(TRITONSERVER_Error *error)
{
    free(error->text);
    free(error);
    n_errors--;
}

const char *TRITONSERVER_ErrorMessage(TRITONSERVER_Error *error)
{
    return error->text;
}

const char *TRITONSERVER_DataTypeString(TRITONSERVER_DataType datatype)
{
    return (unsigned)datatype < N_TYPES ? type_names[datatype] : type_names[0];
}

TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char *dtype)
{
    for (int i = 1; i < N_TYPES; i++)
        if (!strcmp(dtype, type_names[i]))
            return (TRITONSERVER_DataType)i;
    return TRITONSERVER_TYPE_INVALID;
}

TRITONSERVER_Error *TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level, const char *filename,
                                            const int line, const char *msg)
{
    (void)level;
    (void)filename;
    (void)line;
    json_array_append_new(logged, json_string(msg));
    return NULL;
}

TRITONSERVER_Error *TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message **message,
                                                              const char *base, size_t byte_size)
{
    FAIL_IF_PLANNED;
    *message = malloc(sizeof(**message));
    (*message)->text = strndup(base, byte_size);
    n_messages++;
    return NULL;
}

TRITONSERVER_Error *TRITONSERVER_MessageDelete(TRITONSERVER_Message *message)
{
    free(message->text);
    free(message);
    n_messages--;
    return NULL;
}

TRITONSERVER_Error *TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message *message,
                                                        const char **base, size_t *byte_size)
{
    FAIL_IF_PLANNED;
    *base = message->text;
    *byte_size = strlen(message->text);
    return NULL;
}

// Backends and models

TRITONSERVER_Error *TRITONBACKEND_ApiVersion(uint32_t *major, uint32_t *minor)
{
    *major = TRITONBACKEND_API_VERSION_MAJOR;
    *minor = TRITONBACKEND_API_VERSION_MINOR - !strcmp(failing, __func__);
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute *attributes, const TRITONSERVER_InstanceGroupKind kind,
    const uint64_t count, const uint64_t *device_ids, const uint64_t id_count)
{
    (void)count;
    (void)device_ids;
    (void)id_count;
    *(int *)attributes = kind;
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ModelRepository(TRITONBACKEND_Model *model,
                                                  TRITONBACKEND_ArtifactType *artifact_type,
                                                  const char **location)
{
    FAIL_IF_PLANNED;
    *artifact_type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
    *location = json_string_value(json_object_get(model->plan, "folder"));
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ModelVersion(TRITONBACKEND_Model *model, uint64_t *version)
{
    *version = (uint64_t)json_integer_value(json_object_get(model->plan, "version"));
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ModelConfig(TRITONBACKEND_Model *model,
                                              const uint32_t config_version,
                                              TRITONSERVER_Message **model_config)
{
    FAIL_IF_PLANNED;
    const json_t *const config = json_object_get(model->plan, "config");
    char *const text =
        json_is_string(config) ? strdup(json_string_value(config)) : json_dumps(config, 0);
    assert(config_version == 1);
    TRITONSERVER_Error *const error =
        TRITONSERVER_MessageNewFromSerializedJson(model_config, text, strlen(text));
    free(text);
    return error;
}

TRITONSERVER_Error *TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model *model,
                                                          bool *auto_complete_config)
{
    *auto_complete_config = json_is_true(json_object_get(model->plan, "auto_complete"));
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model *model,
                                                 const uint32_t config_version,
                                                 TRITONSERVER_Message *model_config)
{
    FAIL_IF_PLANNED;
    assert(config_version == 1);
    model->new_config = json_loads(model_config->text, 0, NULL);
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ModelState(TRITONBACKEND_Model *model, void **state)
{
    *state = model->state;
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ModelSetState(TRITONBACKEND_Model *model, void *state)
{
    FAIL_IF_PLANNED;
    model->state = state;
    return NULL;
}

// Instances

TRITONSERVER_Error *TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance *instance,
                                                    TRITONSERVER_InstanceGroupKind *kind)
{
    *kind = json_is_true(json_object_get(instance->model->plan, "gpu"))
                ? TRITONSERVER_INSTANCEGROUPKIND_GPU
                : TRITONSERVER_INSTANCEGROUPKIND_CPU;
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance *instance,
                                                     TRITONBACKEND_Model **model)
{
    *model = instance->model;
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance *instance,
                                                     void **state)
{
    *state = instance->state;
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance *instance,
                                                        void *state)
{
    FAIL_IF_PLANNED;
    instance->state = state;
    return NULL;
}

static bool are_times(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    return a && a <= b && b <= c && c <= d;
}

TRITONSERVER_Error *TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance *instance, TRITONBACKEND_Request *request, const bool success,
    const uint64_t exec_start_ns, const uint64_t compute_start_ns, const uint64_t compute_end_ns,
    const uint64_t exec_end_ns)
{
    FAIL_IF_PLANNED;
    (void)instance;
    json_object_set_new(request->result, "success", json_boolean(success));
    json_object_set_new(
        request->result, "times",
        json_boolean(are_times(exec_start_ns, compute_start_ns, compute_end_ns, exec_end_ns)));
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance *instance, const uint64_t batch_size, const uint64_t exec_start_ns,
    const uint64_t compute_start_ns, const uint64_t compute_end_ns, const uint64_t exec_end_ns)
{
    assert(are_times(exec_start_ns, compute_start_ns, compute_end_ns, exec_end_ns));
    json_array_append_new(instance->batches, json_integer((json_int_t)batch_size));
    return NULL;
}

// Requests

TRITONSERVER_Error *TRITONBACKEND_RequestInput(TRITONBACKEND_Request *request, const char *name,
                                               TRITONBACKEND_Input **input)
{
    for (uint32_t i = 0; i < request->n_inputs; i++)
        if (!strcmp(json_string_value(json_object_get(request->inputs[i].plan, "name")), name)) {
            *input = &request->inputs[i];
            return NULL;
        }
    return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, "unknown request input name");
}

TRITONSERVER_Error *TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request *request,
                                                     uint32_t *count)
{
    *count = (uint32_t)json_array_size(json_object_get(request->plan, "outputs"));
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request *request,
                                                    const uint32_t index, const char **output_name)
{
    *output_name =
        json_string_value(json_array_get(json_object_get(request->plan, "outputs"), index));
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_RequestRelease(TRITONBACKEND_Request *request,
                                                 uint32_t release_flags)
{
    assert(release_flags == TRITONSERVER_REQUEST_RELEASE_ALL);
    assert(json_object_get(request->result, "success") ||
           !strcmp(failing, "TRITONBACKEND_ModelInstanceReportStatistics"));
    assert(request->is_sent || !strcmp(failing, "TRITONBACKEND_ResponseNew"));
    for (uint32_t i = 0; i < request->n_inputs; i++)
        free(request->inputs[i].bytes);
    free(request);
    n_requests--;
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_InputProperties(TRITONBACKEND_Input *input, const char **name,
                                                  TRITONSERVER_DataType *datatype,
                                                  const int64_t **shape, uint32_t *dims_count,
                                                  uint64_t *byte_size, uint32_t *buffer_count)
{
    FAIL_IF_PLANNED;
    const json_t *const dims = json_object_get(input->plan, "shape");
    assert(!name);
    for (size_t i = 0; i < json_array_size(dims) && i < MAX; i++)
        input->shape[i] = json_integer_value(json_array_get(dims, i));
    *datatype =
        TRITONSERVER_StringToDataType(json_string_value(json_object_get(input->plan, "datatype")));
    *shape = input->shape;
    *dims_count = (uint32_t)json_array_size(dims);
    *byte_size = input->size;
    *buffer_count = input->size ? (uint32_t)((input->size + input->piece - 1) / input->piece) : 0;
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_InputBuffer(TRITONBACKEND_Input *input, const uint32_t index,
                                              const void **buffer, uint64_t *buffer_byte_size,
                                              TRITONSERVER_MemoryType *memory_type,
                                              int64_t *memory_type_id)
{
    FAIL_IF_PLANNED;
    const size_t begin = index * input->piece;
    assert(begin < input->size);
    *buffer = input->bytes + json_is_true(json_object_get(input->plan, "unaligned")) + begin;
    *buffer_byte_size = input->size - begin < input->piece ? input->size - begin : input->piece;
    *memory_type = json_is_true(json_object_get(input->plan, "gpu")) ? TRITONSERVER_MEMORY_GPU
                                                                     : TRITONSERVER_MEMORY_CPU;
    *memory_type_id = 0;
    return NULL;
}

// Responses

TRITONSERVER_Error *TRITONBACKEND_ResponseNew(TRITONBACKEND_Response **response,
                                              TRITONBACKEND_Request *request)
{
    FAIL_IF_PLANNED;
    *response = calloc(1, sizeof(**response));
    (*response)->request = request;
    n_responses++;
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response *response,
                                                 TRITONBACKEND_Output **output, const char *name,
                                                 const TRITONSERVER_DataType datatype,
                                                 const int64_t *shape, const uint32_t dims_count)
{
    FAIL_IF_PLANNED;
    assert(response->n_outputs < MAX);
    json_t *const dims = json_array();
    for (uint32_t i = 0; i < dims_count; i++)
        json_array_append_new(dims, json_integer(shape[i]));
    *output = &response->outputs[response->n_outputs++];
    (*output)->result = json_pack("{s:s, s:s, s:o}", "name", name, "datatype",
                                  TRITONSERVER_DataTypeString(datatype), "shape", dims);
    return NULL;
}

TRITONSERVER_Error *TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output *output, void **buffer,
                                               const uint64_t buffer_byte_size,
                                               TRITONSERVER_MemoryType *memory_type,
                                               int64_t *memory_type_id)
{
    FAIL_IF_PLANNED;
    assert(*memory_type == TRITONSERVER_MEMORY_CPU && *memory_type_id == 0 && !output->bytes);
    *memory_type =
        strcmp(failing, "gpu") ? TRITONSERVER_MEMORY_CPU_PINNED : TRITONSERVER_MEMORY_GPU;
    *buffer = output->bytes = malloc(buffer_byte_size + 1);
    output->size = buffer_byte_size;
    return NULL;
}

static json_t *hex_of(const unsigned char *bytes, size_t size)
{
    char *const text = malloc(2 * size + 1);
    for (size_t i = 0; i < size; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    text[2 * size] = '\0';
    json_t *const json = json_string(text);
    free(text);
    return json;
}

TRITONSERVER_Error *TRITONBACKEND_ResponseSend(TRITONBACKEND_Response *response,
                                               const uint32_t send_flags, TRITONSERVER_Error *error)
{
    json_t *const result = response->request->result, *const outputs = json_array();
    assert(send_flags == TRITONSERVER_RESPONSE_COMPLETE_FINAL && !response->request->is_sent);
    response->request->is_sent = 1;
    if (error)
        json_object_set_new(result, "error",
                            json_pack("{s:i, s:s}", "code", error->code, "text", error->text));
    for (uint32_t i = 0; i < response->n_outputs; i++) {
        TRITONBACKEND_Output *const output = &response->outputs[i];
        json_object_set_new(output->result, "data", hex_of(output->bytes, output->size));
        json_array_append_new(outputs, output->result);
        free(output->bytes);
    }
    json_object_set_new(result, "outputs", outputs);
    free(response);
    n_responses--;
    return fails(__func__);
}

// The plan

static unsigned char *bytes_of(const char *hex, int is_unaligned, size_t *size)
{
    *size = strlen(hex) / 2;
    unsigned char *const bytes = malloc(*size + 1);
    for (size_t i = 0; i < *size; i++) {
        unsigned byte;
        assert(sscanf(hex + 2 * i, "%2x", &byte) == 1);
        bytes[i + (size_t)is_unaligned] = (unsigned char)byte;
    }
    return bytes;
}

static TRITONBACKEND_Request *make_request(const json_t *plan, json_t *results)
{
    TRITONBACKEND_Request *const request = calloc(1, sizeof(*request));
    const json_t *const inputs = json_object_get(plan, "inputs");
    request->plan = plan;
    request->result = json_object();
    json_array_append_new(results, request->result);
    n_requests++;
    for (; request->n_inputs < json_array_size(inputs); request->n_inputs++) {
        TRITONBACKEND_Input *const input = &request->inputs[request->n_inputs];
        input->plan = json_array_get(inputs, request->n_inputs);
        input->bytes =
            bytes_of(json_string_value(json_object_get(input->plan, "data")),
                     json_is_true(json_object_get(input->plan, "unaligned")), &input->size);
        const json_t *const piece = json_object_get(input->plan, "piece");
        input->piece = piece ? (size_t)json_integer_value(piece) : input->size + 1;
    }
    return request;
}

static void *backend;

static void *function(const char *name)
{
    void *const found = dlsym(backend, name);
    assert(found);
    return found;
}

// Takes an error.
static json_t *json_of(TRITONSERVER_Error *error)
{
    if (!error)
        return json_null();
    json_t *const json = json_pack("{s:i, s:s}", "code", error->code, "text", error->text);
    TRITONSERVER_ErrorDelete(error);
    return json;
}

typedef TRITONSERVER_Error *(*model_func)(TRITONBACKEND_Model *model);
typedef TRITONSERVER_Error *(*instance_func)(TRITONBACKEND_ModelInstance *instance);
typedef TRITONSERVER_Error *(*execute_func)(TRITONBACKEND_ModelInstance *instance,
                                            TRITONBACKEND_Request **requests, const uint32_t n);

static json_t *run_batch(TRITONBACKEND_ModelInstance *instance, const json_t *plan)
{
    const execute_func execute =
        (execute_func)(intptr_t)function("TRITONBACKEND_ModelInstanceExecute");
    const size_t n = json_array_size(plan);
    TRITONBACKEND_Request **const requests = calloc(n + 1, sizeof(*requests));
    json_t *const results = json_array();
    for (size_t i = 0; i < n; i++)
        requests[i] = make_request(json_array_get(plan, i), results);
    TRITONSERVER_Error *const error = execute(instance, requests, (uint32_t)n);
    assert(!error);
    free(requests);
    return results;
}

static void run_instance(TRITONBACKEND_Model *model, const json_t *plan, json_t *results)
{
    TRITONBACKEND_ModelInstance instance = {.model = model, .batches = json_array()};
    TRITONSERVER_Error *const error =
        ((instance_func)(intptr_t)function("TRITONBACKEND_ModelInstanceInitialize"))(&instance);
    json_object_set_new(results, "instance", json_of(error));
    json_object_set_new(results, "statistics", instance.batches);
    if (error)
        return;
    json_t *const all = json_array();
    size_t i;
    json_t *batch;
    json_array_foreach (json_object_get(plan, "batches"), i, batch) {
        json_array_append_new(all, run_batch(&instance, batch));
    }
    json_object_set_new(results, "batches", all);
    assert(!((instance_func)(intptr_t)function("TRITONBACKEND_ModelInstanceFinalize"))(&instance));
}

static void run_model(const json_t *plan, json_t *results)
{
    TRITONBACKEND_Model model = {.plan = plan};
    TRITONSERVER_Error *const error =
        ((model_func)(intptr_t)function("TRITONBACKEND_ModelInitialize"))(&model);
    json_object_set_new(results, "model", json_of(error));
    if (model.new_config)
        json_object_set_new(results, "config", model.new_config);
    if (error)
        return;
    run_instance(&model, plan, results);
    assert(!((model_func)(intptr_t)function("TRITONBACKEND_ModelFinalize"))(&model));
}

int main(int argc, char **argv)
{
    json_error_t why;
    json_t *const plan = json_loadf(stdin, 0, &why), *const results = json_object();
    int kind = -1;
    backend = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!plan || !backend)
        return fprintf(stderr, "%s\n", plan ? dlerror() : why.text), 2;
    logged = json_array();
    failing =
        json_object_get(plan, "failing") ? json_string_value(json_object_get(plan, "failing")) : "";
    TRITONSERVER_Error *const error = ((TRITONSERVER_Error * (*)(TRITONBACKEND_Backend *))(
        intptr_t)function("TRITONBACKEND_Initialize"))(NULL);
    const int has_failed = error != NULL;
    json_object_set_new(results, "backend", json_of(error));
    assert(!((TRITONSERVER_Error * (*)(TRITONBACKEND_Backend *, TRITONBACKEND_BackendAttribute *))(
        intptr_t)function("TRITONBACKEND_GetBackendAttribute"))(
        NULL, (TRITONBACKEND_BackendAttribute *)&kind));
    json_object_set_new(results, "kind", json_integer(kind));
    if (!has_failed)
        run_model(plan, results);
    json_object_set_new(results, "log", logged);
    json_object_set_new(results, "left",
                        json_pack("[i, i, i, i]", n_errors, n_messages, n_responses, n_requests));
    json_dumpf(results, stdout, 0);
    json_decref(results);
    json_decref(plan);
    dlclose(backend);
    return 0;
}
