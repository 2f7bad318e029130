// SPDX-License-Identifier: Apache-2.0
// What the backend uses of Triton's C interface, declared anew for its tests: the functions, types
// and values that Triton documents (interface for backends 1.19), as its headers do: types have no
// typedef (tri_types.h). triton_host.c implements them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRITONBACKEND_API_VERSION_MAJOR 1
#define TRITONBACKEND_API_VERSION_MINOR 19

struct TRITONSERVER_Error;
struct TRITONSERVER_Message;
struct TRITONBACKEND_Backend;
struct TRITONBACKEND_BackendAttribute;
struct TRITONBACKEND_Model;
struct TRITONBACKEND_ModelInstance;
struct TRITONBACKEND_Request;
struct TRITONBACKEND_Input;
struct TRITONBACKEND_Response;
struct TRITONBACKEND_Output;

typedef enum { TRITONBACKEND_ARTIFACT_FILESYSTEM } TRITONBACKEND_ArtifactType;
typedef enum {
    TRITONSERVER_TYPE_INVALID,
    TRITONSERVER_TYPE_BOOL,
    TRITONSERVER_TYPE_UINT8,
    TRITONSERVER_TYPE_UINT16,
    TRITONSERVER_TYPE_UINT32,
    TRITONSERVER_TYPE_UINT64,
    TRITONSERVER_TYPE_INT8,
    TRITONSERVER_TYPE_INT16,
    TRITONSERVER_TYPE_INT32,
    TRITONSERVER_TYPE_INT64,
    TRITONSERVER_TYPE_FP16,
    TRITONSERVER_TYPE_FP32,
    TRITONSERVER_TYPE_FP64,
    TRITONSERVER_TYPE_BYTES,
    TRITONSERVER_TYPE_BF16
} TRITONSERVER_DataType;
typedef enum {
    TRITONSERVER_MEMORY_CPU,
    TRITONSERVER_MEMORY_CPU_PINNED,
    TRITONSERVER_MEMORY_GPU
} TRITONSERVER_MemoryType;
typedef enum {
    TRITONSERVER_INSTANCEGROUPKIND_AUTO,
    TRITONSERVER_INSTANCEGROUPKIND_CPU,
    TRITONSERVER_INSTANCEGROUPKIND_GPU,
    TRITONSERVER_INSTANCEGROUPKIND_MODEL
} TRITONSERVER_InstanceGroupKind;
typedef enum {
    TRITONSERVER_LOG_INFO,
    TRITONSERVER_LOG_WARN,
    TRITONSERVER_LOG_ERROR,
    TRITONSERVER_LOG_VERBOSE
} TRITONSERVER_LogLevel;
typedef enum {
    TRITONSERVER_ERROR_UNKNOWN,
    TRITONSERVER_ERROR_INTERNAL,
    TRITONSERVER_ERROR_NOT_FOUND,
    TRITONSERVER_ERROR_INVALID_ARG,
    TRITONSERVER_ERROR_UNAVAILABLE,
    TRITONSERVER_ERROR_UNSUPPORTED,
    TRITONSERVER_ERROR_ALREADY_EXISTS
} TRITONSERVER_Error_Code;
enum { TRITONSERVER_REQUEST_RELEASE_ALL = 1 };
enum { TRITONSERVER_RESPONSE_COMPLETE_FINAL = 1 };

#define TRI_API      __attribute__((visibility("default")))
#define TRI_FUNCTION TRI_API TRITONSERVER_Error *

TRI_API TRITONSERVER_Error *TRITONSERVER_ErrorNew(TRITONSERVER_Error_Code code, const char *msg);
TRI_API void TRITONSERVER_ErrorDelete(TRITONSERVER_Error *error);
TRI_API const char *TRITONSERVER_ErrorMessage(TRITONSERVER_Error *error);
TRI_API const char *TRITONSERVER_DataTypeString(TRITONSERVER_DataType datatype);
TRI_API TRITONSERVER_DataType TRITONSERVER_StringToDataType(const char *dtype);
TRI_FUNCTION TRITONSERVER_LogMessage(TRITONSERVER_LogLevel level, const char *filename,
                                     const int line, const char *msg);
TRI_FUNCTION TRITONSERVER_MessageNewFromSerializedJson(TRITONSERVER_Message **message,
                                                       const char *base, size_t byte_size);
TRI_FUNCTION TRITONSERVER_MessageDelete(TRITONSERVER_Message *message);
TRI_FUNCTION TRITONSERVER_MessageSerializeToJson(TRITONSERVER_Message *message, const char **base,
                                                 size_t *byte_size);

TRI_FUNCTION TRITONBACKEND_ApiVersion(uint32_t *major, uint32_t *minor);
TRI_FUNCTION TRITONBACKEND_BackendAttributeAddPreferredInstanceGroup(
    TRITONBACKEND_BackendAttribute *attributes, const TRITONSERVER_InstanceGroupKind kind,
    const uint64_t count, const uint64_t *device_ids, const uint64_t id_count);

TRI_FUNCTION TRITONBACKEND_ModelRepository(TRITONBACKEND_Model *model,
                                           TRITONBACKEND_ArtifactType *artifact_type,
                                           const char **location);
TRI_FUNCTION TRITONBACKEND_ModelVersion(TRITONBACKEND_Model *model, uint64_t *version);
TRI_FUNCTION TRITONBACKEND_ModelConfig(TRITONBACKEND_Model *model, const uint32_t config_version,
                                       TRITONSERVER_Message **model_config);
TRI_FUNCTION TRITONBACKEND_ModelAutoCompleteConfig(TRITONBACKEND_Model *model,
                                                   bool *auto_complete_config);
TRI_FUNCTION TRITONBACKEND_ModelSetConfig(TRITONBACKEND_Model *model, const uint32_t config_version,
                                          TRITONSERVER_Message *model_config);
TRI_FUNCTION TRITONBACKEND_ModelState(TRITONBACKEND_Model *model, void **state);
TRI_FUNCTION TRITONBACKEND_ModelSetState(TRITONBACKEND_Model *model, void *state);

TRI_FUNCTION TRITONBACKEND_ModelInstanceKind(TRITONBACKEND_ModelInstance *instance,
                                             TRITONSERVER_InstanceGroupKind *kind);
TRI_FUNCTION TRITONBACKEND_ModelInstanceModel(TRITONBACKEND_ModelInstance *instance,
                                              TRITONBACKEND_Model **model);
TRI_FUNCTION TRITONBACKEND_ModelInstanceState(TRITONBACKEND_ModelInstance *instance, void **state);
TRI_FUNCTION TRITONBACKEND_ModelInstanceSetState(TRITONBACKEND_ModelInstance *instance,
                                                 void *state);
TRI_FUNCTION TRITONBACKEND_ModelInstanceReportStatistics(
    TRITONBACKEND_ModelInstance *instance, TRITONBACKEND_Request *request, const bool success,
    const uint64_t exec_start_ns, const uint64_t compute_start_ns, const uint64_t compute_end_ns,
    const uint64_t exec_end_ns);
TRI_FUNCTION TRITONBACKEND_ModelInstanceReportBatchStatistics(
    TRITONBACKEND_ModelInstance *instance, const uint64_t batch_size, const uint64_t exec_start_ns,
    const uint64_t compute_start_ns, const uint64_t compute_end_ns, const uint64_t exec_end_ns);

TRI_FUNCTION TRITONBACKEND_RequestInput(TRITONBACKEND_Request *request, const char *name,
                                        TRITONBACKEND_Input **input);
TRI_FUNCTION TRITONBACKEND_RequestOutputCount(TRITONBACKEND_Request *request, uint32_t *count);
TRI_FUNCTION TRITONBACKEND_RequestOutputName(TRITONBACKEND_Request *request, const uint32_t index,
                                             const char **output_name);
TRI_FUNCTION TRITONBACKEND_RequestRelease(TRITONBACKEND_Request *request, uint32_t release_flags);
TRI_FUNCTION TRITONBACKEND_InputProperties(TRITONBACKEND_Input *input, const char **name,
                                           TRITONSERVER_DataType *datatype, const int64_t **shape,
                                           uint32_t *dims_count, uint64_t *byte_size,
                                           uint32_t *buffer_count);
TRI_FUNCTION TRITONBACKEND_InputBuffer(TRITONBACKEND_Input *input, const uint32_t index,
                                       const void **buffer, uint64_t *buffer_byte_size,
                                       TRITONSERVER_MemoryType *memory_type,
                                       int64_t *memory_type_id);
TRI_FUNCTION TRITONBACKEND_ResponseNew(TRITONBACKEND_Response **response,
                                       TRITONBACKEND_Request *request);
TRI_FUNCTION TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response *response,
                                          TRITONBACKEND_Output **output, const char *name,
                                          const TRITONSERVER_DataType datatype,
                                          const int64_t *shape, const uint32_t dims_count);
TRI_FUNCTION TRITONBACKEND_ResponseSend(TRITONBACKEND_Response *response, const uint32_t send_flags,
                                        TRITONSERVER_Error *error);
TRI_FUNCTION TRITONBACKEND_OutputBuffer(TRITONBACKEND_Output *output, void **buffer,
                                        const uint64_t buffer_byte_size,
                                        TRITONSERVER_MemoryType *memory_type,
                                        int64_t *memory_type_id);

TRI_FUNCTION TRITONBACKEND_Initialize(TRITONBACKEND_Backend *backend);
TRI_FUNCTION TRITONBACKEND_GetBackendAttribute(TRITONBACKEND_Backend *backend,
                                               TRITONBACKEND_BackendAttribute *attributes);
TRI_FUNCTION TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model *model);
TRI_FUNCTION TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model *model);
TRI_FUNCTION TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance *instance);
TRI_FUNCTION TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance *instance);
TRI_FUNCTION TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance *instance,
                                                TRITONBACKEND_Request **requests,
                                                const uint32_t request_count);
