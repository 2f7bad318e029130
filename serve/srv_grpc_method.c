// SPDX-License-Identifier: Apache-2.0
// The services: health, metadata, runs, the repository. Each method is a row of a table.

#include "srv_grpc_method.h"

#include <stdlib.h>
#include <string.h>

#include "srv_grpc_hold.h"
#include "srv_proto_health.pb-c.h"

static const char service[] = "inference.GRPCInferenceService";

static int respond(srv_grpc_call *c, const ProtobufCMessage *message)
{
    return srv_proto_pack(message, &c->answer, &c->error);
}

// Packs a response whose parts are in the arena, and frees them; not 0 if they are not complete.
static int respond_from(srv_grpc_call *c, const ProtobufCMessage *message, srv_arena *arena)
{
    int status = arena->has_failed ? srv_fail(&c->error, SRV_OUT_OF_MEMORY,
                                              "the server has no memory for the response")
                                   : respond(c, message);
    srv_arena_clear(arena);
    return status;
}

// Appends a pointer to an array of pointers.
static void add_pointer(srv_buffer *array, size_t *n, void *pointer)
{
    srv_buffer_add(array, &pointer, sizeof(pointer));
    *n += pointer && !array->has_failed;
}

// Health

static int server_live(srv_grpc_call *c, const ProtobufCMessage *request)
{
    Inference__ServerLiveResponse response = INFERENCE__SERVER_LIVE_RESPONSE__INIT;
    (void)request;
    response.live = 1;
    return respond(c, &response.base);
}

static int server_ready(srv_grpc_call *c, const ProtobufCMessage *request)
{
    Inference__ServerReadyResponse response = INFERENCE__SERVER_READY_RESPONSE__INIT;
    (void)request;
    response.ready = srv_server_is_ready(c->context->server);
    return respond(c, &response.base);
}

static int health_check(srv_grpc_call *c, const ProtobufCMessage *request)
{
    const Grpc__Health__V1__HealthCheckRequest *const r = (const void *)request;
    Grpc__Health__V1__HealthCheckResponse response = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
    if (*r->service && strcmp(r->service, service) != 0)
        return srv_fail(&c->error, SRV_NOT_FOUND, "no service '%.64s'; expected '%s', or ''",
                        r->service, service);
    response.status = srv_server_is_ready(c->context->server)
                          ? GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
                          : GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING;
    return respond(c, &response.base);
}

// A model that is known but not loaded is not ready; an unknown one is an error.
static int model_ready(srv_grpc_call *c, const ProtobufCMessage *request)
{
    const Inference__ModelReadyRequest *const r = (const void *)request;
    Inference__ModelReadyResponse response = INFERENCE__MODEL_READY_RESPONSE__INIT;
    srv_error why = {.status = SRV_OK};
    srv_model *const m =
        srv_repository_find(c->context->server->repository, r->name, r->version, &why);
    if (!m && why.status != SRV_UNAVAILABLE)
        return srv_fail(&c->error, why.status, "%s", why.text);
    if (m)
        srv_model_release(m);
    response.ready = m != NULL;
    return respond(c, &response.base);
}

// Metadata

static int server_metadata(srv_grpc_call *c, const ProtobufCMessage *request)
{
    char *extensions[] = {"model_repository"};
    Inference__ServerMetadataResponse response = INFERENCE__SERVER_METADATA_RESPONSE__INIT;
    (void)request;
    response.name = "lightnet";
    response.version = (char *)ln_version();
    response.n_extensions = 1;
    response.extensions = extensions;
    return respond(c, &response.base);
}

typedef Inference__ModelMetadataResponse__TensorMetadata tensor_message;

static tensor_message *make_tensor(srv_arena *arena, const srv_port *port)
{
    tensor_message *const t = srv_arena_alloc(arena, sizeof(*t));
    int64_t *const shape = srv_arena_alloc(arena, sizeof(*shape) * SRV_MAX_DIMS);
    if (!t || !shape)
        return NULL;
    inference__model_metadata_response__tensor_metadata__init(t);
    t->name = (char *)port->name;
    t->datatype = (char *)(port->datatype ? port->datatype : tl_dtype_name(port->dtype));
    for (int i = 0; i < port->ndim; i++)
        shape[t->n_shape++] = port->dims[i];
    t->shape = shape;
    return t;
}

static tensor_message **make_tensors(srv_arena *arena, const srv_port *ports, int n, size_t *count)
{
    tensor_message **const tensors = srv_arena_alloc(arena, sizeof(*tensors) * ((size_t)n + 1));
    for (int i = 0; i < n && tensors; i++)
        if ((tensors[*count] = make_tensor(arena, &ports[i])))
            ++*count;
    return tensors;
}

// Versions of a model that are loaded.
typedef struct versions {
    const char *name;
    srv_arena *arena;
    srv_buffer array; // of strings
    size_t n;
} versions;

static int add_version(void *data, const srv_version *version)
{
    versions *const v = data;
    if (version->model && !strcmp(version->name, v->name))
        add_pointer(&v->array, &v->n, srv_arena_text(v->arena, version->version));
    return 0;
}

static int model_metadata(srv_grpc_call *c, const ProtobufCMessage *request)
{
    const Inference__ModelMetadataRequest *const r = (const void *)request;
    srv_repository *const repository = c->context->server->repository;
    Inference__ModelMetadataResponse response = INFERENCE__MODEL_METADATA_RESPONSE__INIT;
    srv_arena arena = {.left = SIZE_MAX};
    versions found = {.name = r->name, .arena = &arena};
    int n;
    srv_model *const m = srv_repository_find(repository, r->name, r->version, &c->error);
    if (!m)
        return -1;
    srv_repository_each(repository, add_version, &found);
    response.name = r->name;
    response.n_versions = found.n;
    response.versions = (void *)found.array.data;
    response.platform = (char *)srv_model_format(m);
    const srv_port *const inputs = srv_model_inputs(m, &n);
    response.inputs = make_tensors(&arena, inputs, n, &response.n_inputs);
    const srv_port *const outputs = srv_model_outputs(m, &n);
    response.outputs = make_tensors(&arena, outputs, n, &response.n_outputs);
    arena.has_failed |= found.array.has_failed;
    const int status = respond_from(c, &response.base, &arena);
    srv_buffer_clear(&found.array);
    srv_model_release(m);
    return status;
}

// Runs

static int keep_name(srv_grpc_call *c, const char *name)
{
    c->name = strdup(name);
    return c->name ? 0 : srv_fail(&c->error, SRV_OUT_OF_MEMORY, "no memory");
}

static void request_done(srv_request *r)
{
    srv_grpc_call *const c = r->owner;
    c->context->ready(c);
}

static int start_infer(srv_grpc_call *c, const ProtobufCMessage *request)
{
    const Inference__ModelInferRequest *const r = (const void *)request;
    c->request.arrival = c->start;
    c->request.deadline = c->deadline;
    c->request.done = request_done;
    c->request.owner = c;
    if (keep_name(c, r->model_name))
        return -1;
    c->model = srv_repository_find(c->context->server->repository, r->model_name, r->model_version,
                                   &c->error);
    if (!c->model)
        return -1;
    if (srv_proto_read_infer(r, &c->request, &c->form)) {
        c->error = c->request.error;
        srv_model_count(c->model, c->error.status);
        return -1;
    }
    if (srv_grpc_try_hold(c, srv_request_size(&c->request))) {
        srv_model_count(c->model, c->error.status);
        return -1;
    }
    while (srv_model_submit(c->model, &c->request))
        if (!srv_server_finds_newer(c->context->server, r->model_name, r->model_version, &c->model,
                                    &c->request)) {
            c->error = c->request.error;
            return -1;
        }
    c->deadline = c->request.deadline;
    return 1;
}

static int finish_infer(srv_grpc_call *c)
{
    c->error = c->request.error;
    return c->error.status ||
                   srv_proto_write_infer(&c->request, &c->form, srv_model_name(c->model),
                                         srv_model_version(c->model), &c->answer, &c->error) ||
                   srv_grpc_try_hold(c, c->answer.size)
               ? -1
               : 0;
}

// Repository

typedef Inference__RepositoryIndexResponse__ModelIndex index_message;

typedef struct index_list {
    int only_ready;
    srv_arena *arena;
    srv_buffer array; // of index_message
    size_t n;
} index_list;

static int add_to_index(void *data, const srv_version *version)
{
    index_list *const list = data;
    if (list->only_ready && !version->model)
        return 0;
    index_message *const entry = srv_arena_alloc(list->arena, sizeof(*entry));
    if (!entry)
        return -1;
    inference__repository_index_response__model_index__init(entry);
    entry->name = srv_arena_text(list->arena, version->name);
    entry->version = srv_arena_text(list->arena, version->version);
    entry->state = srv_arena_text(list->arena, version->state);
    entry->reason = srv_arena_text(list->arena, version->reason);
    add_pointer(&list->array, &list->n, entry);
    return 0;
}

static int repository_index(srv_grpc_call *c, const ProtobufCMessage *request)
{
    const Inference__RepositoryIndexRequest *const r = (const void *)request;
    Inference__RepositoryIndexResponse response = INFERENCE__REPOSITORY_INDEX_RESPONSE__INIT;
    srv_arena arena = {.left = SIZE_MAX};
    index_list list = {.only_ready = r->ready, .arena = &arena};
    srv_repository_each(c->context->server->repository, add_to_index, &list);
    response.n_models = list.n;
    response.models = (void *)list.array.data;
    arena.has_failed |= list.array.has_failed;
    const int status = respond_from(c, &response.base, &arena);
    srv_buffer_clear(&list.array);
    return status;
}

static void job_done(srv_job *job)
{
    srv_grpc_call *const c = job->owner;
    c->context->ready(c);
}

static int start_job(srv_grpc_call *c, const char *name, int is_unload)
{
    if (!c->context->server->allows_control)
        return srv_fail(&c->error, SRV_FORBIDDEN, "the server was started without --allow-control");
    if (keep_name(c, name))
        return -1;
    c->job = (srv_job){.is_unload = is_unload, .name = c->name, .done = job_done, .owner = c};
    srv_loader_add(c->context->loader, &c->job);
    return 1;
}

static int model_load(srv_grpc_call *c, const ProtobufCMessage *request)
{
    const Inference__RepositoryModelLoadRequest *const r = (const void *)request;
    if (r->n_parameters && c->context->server->allows_control)
        return srv_fail(&c->error, SRV_UNSUPPORTED,
                        "the server supports no parameters here, such as '%.64s'",
                        r->parameters[0]->key);
    return start_job(c, r->model_name, 0);
}

static int model_unload(srv_grpc_call *c, const ProtobufCMessage *request)
{
    const Inference__RepositoryModelUnloadRequest *const r = (const void *)request;
    return start_job(c, r->model_name, 1);
}

// Both responses have no fields.
static int finish_job(srv_grpc_call *c)
{
    const Inference__RepositoryModelLoadResponse response =
        INFERENCE__REPOSITORY_MODEL_LOAD_RESPONSE__INIT;
    c->error = c->job.error;
    return c->error.status ? -1 : respond(c, &response.base);
}

// Methods

#define INFERENCE(name) "/inference.GRPCInferenceService/" name

static const srv_grpc_method methods[] = {
    {INFERENCE("ServerLive"), 1, &inference__server_live_request__descriptor, server_live, NULL},
    {INFERENCE("ServerReady"), 1, &inference__server_ready_request__descriptor, server_ready, NULL},
    {INFERENCE("ServerMetadata"), 0, &inference__server_metadata_request__descriptor,
     server_metadata, NULL},
    {INFERENCE("ModelReady"), 0, &inference__model_ready_request__descriptor, model_ready, NULL},
    {INFERENCE("ModelMetadata"), 0, &inference__model_metadata_request__descriptor, model_metadata,
     NULL},
    {INFERENCE("ModelInfer"), 0, &inference__model_infer_request__descriptor, start_infer,
     finish_infer},
    {INFERENCE("RepositoryIndex"), 0, &inference__repository_index_request__descriptor,
     repository_index, NULL},
    {INFERENCE("RepositoryModelLoad"), 0, &inference__repository_model_load_request__descriptor,
     model_load, finish_job},
    {INFERENCE("RepositoryModelUnload"), 0, &inference__repository_model_unload_request__descriptor,
     model_unload, finish_job},
    {"/grpc.health.v1.Health/Check", 1, &grpc__health__v1__health_check_request__descriptor,
     health_check, NULL},
};

const srv_grpc_method *srv_grpc_method_find(const char *path, srv_error *err)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (!strcmp(path, methods[i].path))
            return &methods[i];
    srv_fail(err, SRV_UNSUPPORTED, "no method '%.128s'", path);
    return NULL;
}
