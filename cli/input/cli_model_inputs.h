// SPDX-License-Identifier: Apache-2.0
// Sets the inputs of a context from the files of -i, or to random data.

#pragma once

#include "cli_options.h"
#include "lightnet/ln_context.h"
#include "tensorlight/tl_type.h"

/** Sets the inputs from the files of -i. Inputs without a file: an error, or random data if
 * `random`. */
int cli_model_set_inputs(ln_context *ctx, const cli_options *opt, int random);

/** Checks that each file of -i belongs to an input of the model, and fits it, for commands that set
 * no inputs. Returns 0, or CLI_FAILED after a message. */
int cli_model_check_given(const ln_context *ctx, const cli_options *opt);

/** Prints that input `name` is not given, and suggests `call`, such as "" or "lightnet run MODEL ",
 * with -i. Returns CLI_FAILED. */
int cli_model_fail_missing(const ln_context *ctx, const char *name, const char *call);

/** The same for an input of any model; `shape` is text. */
int cli_model_fail_not_given(const char *source, const char *name, tl_dtype dtype,
                             const char *shape, const char *call);

/** Sets input `name` from file `arg`, "-" for standard input, images according to the options
 * for them. With `warns`, warns of NaN elements. */
int cli_model_set_input(ln_context *ctx, const cli_options *opt, const char *name, const char *arg,
                        int warns);
