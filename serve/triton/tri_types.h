// SPDX-License-Identifier: Apache-2.0
// Names of Triton's opaque types. Its headers declare `struct NAME` and write NAME, which is C++;
// in C they need these first.
#pragma once

#define TRI_TYPE(name) typedef struct name name

TRI_TYPE(TRITONSERVER_BufferAttributes);
TRI_TYPE(TRITONSERVER_Error);
TRI_TYPE(TRITONSERVER_InferenceRequest);
TRI_TYPE(TRITONSERVER_InferenceResponse);
TRI_TYPE(TRITONSERVER_InferenceTrace);
TRI_TYPE(TRITONSERVER_Message);
TRI_TYPE(TRITONSERVER_Metric);
TRI_TYPE(TRITONSERVER_MetricArgs);
TRI_TYPE(TRITONSERVER_MetricFamily);
TRI_TYPE(TRITONSERVER_Metrics);
TRI_TYPE(TRITONSERVER_Parameter);
TRI_TYPE(TRITONSERVER_ResponseAllocator);
TRI_TYPE(TRITONSERVER_Server);
TRI_TYPE(TRITONSERVER_ServerOptions);

TRI_TYPE(TRITONBACKEND_Backend);
TRI_TYPE(TRITONBACKEND_BackendAttribute);
TRI_TYPE(TRITONBACKEND_Batcher);
TRI_TYPE(TRITONBACKEND_Input);
TRI_TYPE(TRITONBACKEND_MemoryManager);
TRI_TYPE(TRITONBACKEND_Model);
TRI_TYPE(TRITONBACKEND_ModelInstance);
TRI_TYPE(TRITONBACKEND_Output);
TRI_TYPE(TRITONBACKEND_Request);
TRI_TYPE(TRITONBACKEND_Response);
TRI_TYPE(TRITONBACKEND_ResponseFactory);
TRI_TYPE(TRITONBACKEND_State);

#undef TRI_TYPE
