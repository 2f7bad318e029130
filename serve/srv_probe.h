// SPDX-License-Identifier: Apache-2.0
// Runs a model on zeros while it is loaded: the first request is fast, a model that cannot run is
// not ready, and the outputs show whether rows can run together.
#pragma once

#include "srv_model.h"

typedef struct srv_probe {
    const ln_model *model;
    ln_session *session;
    const srv_port *inputs;
    srv_port *outputs; // those of unknown shape get their number of dimensions
    int n_inputs, n_outputs;
} srv_probe;

/** The max rows of a batch, up to `max`; 1: axis 0 is no batch. It is one if all inputs have an
 *  open size there, and the shapes of all outputs follow it: by its name, or in runs of 1, 2 and 3
 *  rows, which need inputs without other open sizes. (srv_rows_probe.h compares results.) *enough,
 *  if not NULL: the rows beyond which more would raise the rows per second by less than 5 %, as
 *  runs of 1 and of the max rows show; 0: not measured, since the max is 1, or sizes of inputs are
 *  unknown. With a reason in *err: the model cannot run. */
int srv_probe_rows(const srv_probe *probe, int max, int *enough, srv_error *err);

/** Whether axis 0 of all inputs and outputs has one open size with a name, which no other axis has.
 */
int srv_probe_has_names(const srv_probe *probe);

/** The least number of rows that take at most 1.05 times as long, each, as `max` > 1 rows together:
 *  n rows take a + b n, where one row takes `one` and `max` rows take `all`. */
int srv_probe_enough(double one, double all, int max);

/** Takes over the types and numbers of dimensions that the file lacks from the outputs of a run;
 *  their sizes are open. */
void srv_probe_learn_outputs(const srv_probe *probe);

/** Runs one row and `max_rows`, if the inputs' sizes are known. A model that rejects zeros may
 *  accept other values: that is no error. */
void srv_probe_warm_up(const srv_probe *probe, int max_rows, srv_error *err);
