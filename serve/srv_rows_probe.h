// SPDX-License-Identifier: Apache-2.0
// Checks while a model is loaded that rows which run together do not change each other's results:
// rows run alone, together, and beside others.
#pragma once

#include "srv_run.h"

/** Compares the results of up to three different rows, within rounding (srv_compare.h). `max_rows`
 *  > 1: of a batch. Open sizes beyond axis 0 are small ones that the model runs. 0: they are equal;
 *  -1 with a reason: one differs, or rows do not run together; 1 with a reason: unknown, since the
 *  model does not run the values or sizes of this check. */
int srv_rows_probe(srv_run *run, const ln_model *model, const srv_port *inputs, int n_inputs,
                   int max_rows, srv_error *why);

/** Runs one such row, so that the session has outputs. -1 with a reason: the model does not run the
 *  values or sizes of the check. */
int srv_rows_run(srv_run *run, const ln_model *model, const srv_port *inputs, int n_inputs,
                 srv_error *why);
