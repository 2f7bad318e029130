// SPDX-License-Identifier: Apache-2.0
// Triton's C interface: the headers of the one who builds the backend (-Dtriton), and its errors.
#pragma once

#include "srv_status.h"
#include "tri_types.h"

#include <triton/core/tritonbackend.h> // needs the types

/** New, for Triton; NULL for SRV_OK. */
TRITONSERVER_Error *tri_error(const srv_error *err);

/** Takes an error of Triton's. -1 with its text in *err; 0: there is none. */
int tri_take_error(TRITONSERVER_Error *error, srv_error *err);

/** Takes an error that changes nothing, and logs it. */
void tri_log_error(TRITONSERVER_Error *error);
