// SPDX-License-Identifier: Apache-2.0
// A request of Triton's: its inputs, checked against the model, and its response.
#pragma once

#include "lightnet/ln_session.h"
#include "tri_host.h"
#include "tri_model.h"

/** An input: a shape, and data in pieces of Triton's. */
typedef struct tri_input {
    srv_tensor tensor; // without data, but for strings
    TRITONBACKEND_Input *input;
    uint64_t size; // bytes of all pieces
    uint32_t n_pieces;
} tri_input;

typedef struct tri_request {
    TRITONBACKEND_Request *request;
    TRITONBACKEND_Response *response; // NULL: it cannot be made
    tri_input *inputs;                // [n_inputs] of the model, in its order
    int n_inputs;
    int rows; // along axis 0 if the model has a batch, else 1
    int is_done;
    srv_error error;
} tri_request;

/** Reads what Triton has; on failure, r->error is set. */
void tri_request_read(tri_request *r, const tri_model *m, TRITONBACKEND_Request *request);

/** Frees what the request owns; request and response are Triton's. */
void tri_request_clear(tri_request *r);

/** Whether two requests can run together: equal types, and equal shapes beyond axis 0. */
int tri_request_fits(const tri_request *r, const tri_request *other);

/** Copies the bytes of input `i` to `to`, which has room for them. -1: r->error. */
int tri_request_copy(tri_request *r, int i, void *to);

/** The only piece of input `i`, if it is one that the processor reads, aligned to `alignment`;
 *  else NULL. */
const void *tri_request_piece(const tri_request *r, int i, size_t alignment);

/** Adds the outputs that the request asks for, from row `begin` of `total` rows of the last run of
 *  `session` (total 0: all of them). -1: r->error. */
int tri_request_add_outputs(tri_request *r, const tri_model *m, ln_session *session, int begin,
                            int total);
