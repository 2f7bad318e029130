// SPDX-License-Identifier: Apache-2.0
// The first steps of most commands: read, compile and load a model, and set its inputs, by the
// options.

#pragma once

#include <stdint.h>

#include "cli_options.h"
#include "lightnet/lightnet.h"
#include "output/cli_json.h"
#include "output/cli_msg.h"
#include "tensorlight/tensorlight.h"

/** Reads the model opt->args[0] into a new context with the options' settings, and adds --fetch
 * tensors to its outputs. Returns the context (ln_context_free), or NULL after a message. */
ln_context *cli_model_read(const cli_options *opt);

/** Reads the model into a context of cli_model_create, without a message. -1 with the reason in it.
 */
int cli_model_read_into(ln_context *ctx, const cli_options *opt);

/** A new context (ln_context_free) without a model, with all options set; NULL after a message. */
ln_context *cli_model_create(const cli_options *opt);

/** Writes the model opt->args[0] in `format` to opt->outfile. Returns 0, or CLI_FAILED after a
 * message. */
int cli_model_convert(ln_context *ctx, const cli_options *opt, const char *format);

/** As cli_model_read, without a message when the model cannot be read: its sizes may be open. */
ln_context *cli_model_try(const cli_options *opt);

/** The target to compile for: -t, or cpu. */
const char *cli_target(const cli_options *opt);

/** Compiles an uncompiled model, and warns of slow operators. Returns 0, or the exit status after a
 * message. */
int cli_model_rewrite(ln_context *ctx, const cli_options *opt);

/** Compiles it, unless it is already compiled, which --run requires. Returns 0, or the exit status
 * after a message. */
int cli_model_compile(ln_context *ctx, const cli_options *opt);

/** Compiles as cli_model_compile, and loads it. Returns 0, or the exit status after a message. */
int cli_model_load(ln_context *ctx, const cli_options *opt);

/** Whether opt->outfile is one file for the model and its weights, .safetensors. */
int cli_writes_one_file(const cli_options *opt);

/** Writes the compiled model to opt->outfile: as ln_context_save does if cli_writes_one_file,
 * otherwise as JSON, and the weights of an ONNX file to FILE.safetensors beside it, with a line on
 * standard error. Returns 0, or CLI_FAILED after a message. */
int cli_model_write(ln_context *ctx, const cli_options *opt);

/** Whether opt->outfile may be written, and has a suffix of a compiled model's form. Returns 0, or
 * the exit status after a message. */
int cli_model_check_outfile(const cli_options *opt);

/** Reads the model opt->args[0] and writes it to opt->outfile in `format`, not NNVM, and its
 * weights as cli_model_write. Returns 0, or CLI_FAILED after a message. */
int cli_model_write_as(ln_context *ctx, const cli_options *opt, const char *format);

/** cli_model_read, cli_model_load and cli_model_set_inputs. NULL after a message. */
ln_context *cli_model_open(const cli_options *opt, int random);

/** Without --seed: random operators of the loaded context draw other numbers than in other runs. */
void cli_model_refresh_random(ln_context *ctx, const cli_options *opt);

/** Whether the compiled model has no inputs, and runs compute nothing. */
int cli_model_is_constant(const ln_context *ctx);

/** Warns of a model that computes nothing in runs. */
void cli_model_warn_constant(const ln_context *ctx);

/** Prints the name DIR/WHAT_K.ENDING into `file`, LN_MAXLINE bytes. Returns 0, or CLI_FAILED after
 * a message: it is too long. */
int cli_data_file(char *file, const char *dir, const char *what, int k, const char *ending);

/** The record of tensor `name`, with its data after the last run. Returns borrowed (until the
 * context is unloaded), or NULL after a message. */
const tl_tensor *cli_model_tensor(ln_context *ctx, const cli_options *opt, const char *name);

/** Adds an input or output to the list of a document, `data`: its name, type and shape. */
void cli_model_add_port(void *data, const char *name, const tl_tensor *info, const char *shape);

/** Adds the members "inputs" and "outputs": lists of names, types and shapes. Returns 0, or
 * CLI_FAILED after a message. */
int cli_model_add_ports(cli_json *json, const ln_context *ctx, const cli_options *opt);
