// SPDX-License-Identifier: Apache-2.0
// Messages about a model, and those that the library passes on.

#pragma once

#include "cli_options.h"
#include "lightnet/ln_context.h"

/** Prints the context's error, after the model's name unless it names a file already. Returns
 * CLI_FAILED. */
int cli_model_fail(const ln_context *ctx, const cli_options *opt);

/** The same for any reason; `source`: the model's name, NULL: it was not read. */
int cli_model_fail_for(const char *source, const cli_options *opt, const char *reason);

/** The same for a model that could not be read, with a hint if its file belongs to another
 * option. */
int cli_model_fail_reading(const char *source, const cli_options *opt, const char *reason);

/** Prints a message according to --debug and --no-warnings in the cli_options at `data`. */
void cli_model_print_message(void *data, ln_msg_level level, const char *text);

/** Prints the reason in the context. Returns CLI_FAILED. */
int cli_model_fail_read(const ln_context *ctx, const cli_options *opt);
