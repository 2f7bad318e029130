// SPDX-License-Identifier: Apache-2.0
// The graph of a model and its memory plan as JSON, for the page of `lightnet report`.

#pragma once

#include "command/cli_measure.h"
#include "command/cli_refused.h"

/** Adds the graph of the context as member `key`: boxes, edges and groups (draw/cli_graph.h), and
 * `bodies`, the graphs of its subgraphs.
 * `times` NULL: no operator has a time; `refused` NULL: rules are unknown. Returns 0, or CLI_FAILED
 * after a message. */
int cli_report_add_graph(cli_json *json, const char *key, const ln_context *ctx,
                         const cli_op_times *times, const cli_refusals *refused);

/** Adds the memory of runs of a compiled context (draw/cli_memory.h) as "memory". Returns 0, or
 * CLI_FAILED after a message. */
int cli_report_add_memory(cli_json *json, const ln_context *ctx);
