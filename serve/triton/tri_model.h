// SPDX-License-Identifier: Apache-2.0
// A model of Triton's repository: the file that LightNet opens, and its configuration.
#pragma once

#include "lightnet/ln_session.h"
#include "srv_status.h"
#include "srv_tensor.h"

/** An input or output of the model. */
typedef struct tri_port {
    const char *name, *datatype; // datatype NULL: the file does not specify it
    int ndim;                    // -1: unknown
    int min[SRV_MAX_DIMS], max[SRV_MAX_DIMS];
} tri_port;

typedef struct tri_model {
    ln_model *model;
    tri_port *inputs, *outputs;
    int n_inputs, n_outputs;
    int max_batch; // rows of axis 0; 0: requests have no axis of a batch, and run one at a time
} tri_model;

/** Opens the model of `version` in the folder `location`, as `config`, `size` bytes of JSON, says:
 *
 *  | field                    | use                                                             |
 *  |--------------------------|-----------------------------------------------------------------|
 *  | default_model_filename   | the file; else as `lightnet serve` finds it                     |
 *  | parameters lightnet.KEY  | option KEY of ln_options_set                                    |
 *  | max_batch_size           | above 0: axis 0 of all inputs and outputs is the batch          |
 *  | input, output            | names, types, shapes: must fit the model                        |
 *
 *  complete NULL: an empty list of inputs or outputs is an error. Else *complete is a new
 *  configuration (free) with those of the model; NULL: none were missing. Returns new
 *  (tri_model_free); NULL with a reason: the model and its configuration contradict each other, a
 *  feature is not supported. */
tri_model *tri_model_open(const char *location, uint64_t version, const char *config, size_t size,
                          char **complete, srv_error *err);

/** Ignores NULL. */
void tri_model_free(tri_model *m);

/** The output of that name; NULL: none. */
const tri_port *tri_model_find_output(const tri_model *m, const char *name);
