// SPDX-License-Identifier: Apache-2.0
// What most commands begin with: a model read, compiled, loaded and given its inputs, as the
// options say.

#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include <stdint.h>

#include "cli.h"
#include "lightnet/lightnet.h"
#include "tensorlight/tensorlight.h"

/** Reads the model opt->args[0] into a new context with the options' settings, and adds --fetch
 * tensors to its outputs. Returns the context (ln_context_free), or NULL after a message. */
ln_context *cli_model_read(const cli_options *opt);

/** Compiles (unless --run) and loads it. Returns 0, or the exit status after a message. */
int cli_model_load(ln_context *ctx, const cli_options *opt);

/** Gives the inputs their data from the files that -i names. Inputs without a file: an error, or
 * random data if `random`. */
int cli_model_set_inputs(ln_context *ctx, const cli_options *opt, int random);

/** cli_model_read, cli_model_load and cli_model_set_inputs. NULL after a message. */
ln_context *cli_model_open(const cli_options *opt, int random);

/** Prints the context's error. Returns CLI_FAILED. */
int cli_model_fail(const ln_context *ctx);

/** The record of tensor `name`, with its data as the last run left it. Returns borrowed (until the
 * context is unloaded), or NULL after a message. */
const tl_tensor *cli_model_tensor(ln_context *ctx, const char *name);

/** Nanoseconds of a clock that only goes forward. */
uint64_t cli_now(void);

#endif
