// SPDX-License-Identifier: Apache-2.0
// Errors from and to Triton.

#include "tri_host.h"

static const TRITONSERVER_Error_Code codes[SRV_STATUS_SIZE] = {
    [SRV_OK] = TRITONSERVER_ERROR_UNKNOWN,
    [SRV_INVALID] = TRITONSERVER_ERROR_INVALID_ARG,
    [SRV_UNAUTHORIZED] = TRITONSERVER_ERROR_UNKNOWN,
    [SRV_FORBIDDEN] = TRITONSERVER_ERROR_UNKNOWN,
    [SRV_NOT_FOUND] = TRITONSERVER_ERROR_NOT_FOUND,
    [SRV_NOT_ALLOWED] = TRITONSERVER_ERROR_UNSUPPORTED,
    [SRV_TOO_LARGE] = TRITONSERVER_ERROR_INVALID_ARG,
    [SRV_ENCODING] = TRITONSERVER_ERROR_UNSUPPORTED,
    [SRV_UNSUPPORTED] = TRITONSERVER_ERROR_UNSUPPORTED,
    [SRV_BUSY] = TRITONSERVER_ERROR_UNAVAILABLE,
    [SRV_UNAVAILABLE] = TRITONSERVER_ERROR_UNAVAILABLE,
    [SRV_TIMEOUT] = TRITONSERVER_ERROR_UNAVAILABLE,
    [SRV_CANCELLED] = TRITONSERVER_ERROR_UNAVAILABLE,
    [SRV_OUT_OF_MEMORY] = TRITONSERVER_ERROR_UNAVAILABLE,
    [SRV_INTERNAL] = TRITONSERVER_ERROR_INTERNAL,
};

TRITONSERVER_Error *tri_error(const srv_error *err)
{
    return err->status ? TRITONSERVER_ErrorNew(codes[err->status], err->text) : NULL;
}

int tri_take_error(TRITONSERVER_Error *error, srv_error *err)
{
    if (!error)
        return 0;
    srv_fail(err, SRV_INTERNAL, "%s", TRITONSERVER_ErrorMessage(error));
    TRITONSERVER_ErrorDelete(error);
    return -1;
}

void tri_log_error(TRITONSERVER_Error *error)
{
    if (!error)
        return;
    TRITONSERVER_Error *const second = TRITONSERVER_LogMessage(TRITONSERVER_LOG_ERROR, "lightnet",
                                                               0, TRITONSERVER_ErrorMessage(error));
    TRITONSERVER_ErrorDelete(error);
    if (second)
        TRITONSERVER_ErrorDelete(second);
}
