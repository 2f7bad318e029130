// SPDX-License-Identifier: Apache-2.0
// Runs the requests of one call of Triton's with one session.
#pragma once

#include "tri_request.h"

/** An instance of a model: Triton calls it in one thread at a time. */
typedef struct tri_instance {
    const tri_model *model; // borrowed
    ln_session *session;
    void **joined; // [model->n_inputs], the inputs of a batch
    size_t *joined_size;
} tri_instance;

/** Returns new (tri_instance_free); NULL with a reason. */
tri_instance *tri_instance_create(const tri_model *model, srv_error *err);

/** Ignores NULL. */
void tri_instance_free(tri_instance *it);

/** Nanoseconds of tl_clock; 0: nothing ran. */
typedef struct tri_times {
    uint64_t run_begin, run_end;
    uint64_t rows; // that ran
} tri_times;

/** Adds outputs to the responses of all requests that have no error, or sets their errors: those
 *  that fit run together, up to max_batch rows. If a batch of several fails, each runs alone. */
void tri_batch_run(tri_instance *it, tri_request *requests, uint32_t n, tri_times *times);
