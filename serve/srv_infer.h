// SPDX-License-Identifier: Apache-2.0
// Requests and responses of the Open Inference Protocol over HTTP: JSON, and its binary-tensor
// extension, where the data of tensors follow the JSON.
//
// Source: the Open Inference Protocol, version 2 (KServe), and Triton's extension
// "binary_tensor_data".
#pragma once

#include "srv_request.h"

/** How a request wants its response. */
typedef struct srv_infer_form {
    char *id;              // owned; NULL: none
    int is_binary;         // the default of outputs
    signed char *binaries; // [n_wanted], owned: of each output that is wanted; -1: the default
} srv_infer_form;

/** Reads a request from `body`: its first `json_size` bytes are JSON, the rest are binary data of
 *  inputs. -1 with a reason in r->error. */
int srv_infer_read(const char *body, size_t size, size_t json_size, srv_request *r,
                   srv_infer_form *form);

/** Appends the response; *json_size: the bytes of its JSON, which differ from the rest if outputs
 *  are binary. -1 with a reason: no memory. */
int srv_infer_write(const srv_request *r, const srv_infer_form *form, const char *model,
                    const char *version, srv_buffer *body, size_t *json_size, srv_error *err);

/** Frees what the form owns. */
void srv_infer_form_clear(srv_infer_form *form);
