// SPDX-License-Identifier: Apache-2.0
// What most commands begin with: a model read, compiled, loaded and given its inputs, as the
// options say.

#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include <stdint.h>

#include "cli_msg.h"
#include "cli_options.h"
#include "lightnet/lightnet.h"
#include "tensorlight/tensorlight.h"

/** Reads the model opt->args[0] into a new context with the options' settings, and adds --fetch
 * tensors to its outputs. Returns the context (ln_context_free), or NULL after a message. */
ln_context *cli_model_read(const cli_options *opt);

/** Reads the model into such a context without a message. -1 with the reason in it. */
int cli_model_read_into(ln_context *ctx, const cli_options *opt);

/** Prints that reason. Returns CLI_FAILED. */
int cli_model_fail_read(const ln_context *ctx, const cli_options *opt);

/** A new context (ln_context_free) without a model, with everything that the options say; NULL
 * after a message. */
ln_context *cli_model_create(const cli_options *opt);

/** Writes the model opt->args[0] in `format` to opt->outfile. Returns 0, or CLI_FAILED after a
 * message. */
int cli_model_convert(ln_context *ctx, const cli_options *opt, const char *format);

/** As cli_model_read, without a message when the model cannot be read: its sizes may be open. */
ln_context *cli_model_try(const cli_options *opt);

/** The target to compile for: -t, or cpu. */
const char *cli_target(const cli_options *opt);

/** Compiles a model that is not compiled, and warns of what will be slow. Returns 0, or the exit
 * status after a message. */
int cli_model_rewrite(ln_context *ctx, const cli_options *opt);

/** Compiles it, unless it is compiled already, as --run demands. Returns 0, or the exit status
 * after a message. */
int cli_model_compile(ln_context *ctx, const cli_options *opt);

/** Compiles as cli_model_compile, and loads it. Returns 0, or the exit status after a message. */
int cli_model_load(ln_context *ctx, const cli_options *opt);

/** Whether opt->outfile is called as one file for the model and its weights, .safetensors. */
int cli_writes_one_file(const cli_options *opt);

/** Writes the compiled model to opt->outfile: as ln_context_save does if cli_writes_one_file,
 * otherwise as JSON, and the weights that an ONNX file brought to FILE.safetensors
 * beside it, which a line on standard error says. Returns 0, or CLI_FAILED after a
 * message. */
int cli_model_write(ln_context *ctx, const cli_options *opt);

/** Whether opt->outfile may be written, and has a suffix of a compiled model's form. Returns 0, or
 * the exit status after a message. */
int cli_model_check_outfile(const cli_options *opt);

/** Reads the model opt->args[0] and writes it to opt->outfile in `format`, not NNVM, and its
 * weights as cli_model_write. Returns 0, or CLI_FAILED after a message. */
int cli_model_write_as(ln_context *ctx, const cli_options *opt, const char *format);

/** Gives the inputs their data from the files that -i names. Inputs without a file: an error, or
 * random data if `random`. */
int cli_model_set_inputs(ln_context *ctx, const cli_options *opt, int random);

/** Says that input `name` is not given, and to use `call`, such as "" or "lightnet run MODEL ",
 * with -i. Returns CLI_FAILED. */
int cli_model_fail_missing(const ln_context *ctx, const char *name, const char *call);

/** The same of an input of any model; `shape`: in words. */
int cli_model_fail_not_given(const char *source, const char *name, tl_dtype dtype,
                             const char *shape, const char *call);

/** cli_model_read, cli_model_load and cli_model_set_inputs. NULL after a message. */
ln_context *cli_model_open(const cli_options *opt, int random);

/** Gives input `name` its data from file `arg`, "-" for standard input, as --mean, --scale, --bgr
 * and --layout say. With `warns`, a warning counts elements that are NaN. */
int cli_model_set_input(ln_context *ctx, const cli_options *opt, const char *name, const char *arg,
                        int warns);

/** Prints the context's error, after the model's name unless it names a file already. Returns
 * CLI_FAILED. */
int cli_model_fail(const ln_context *ctx, const cli_options *opt);

/** The same for any reason; `source`: what the model is called, NULL: it was not read. */
int cli_model_fail_for(const char *source, const cli_options *opt, const char *reason);

/** The same where the model could not be read, with a hint if its file belongs into another
 * argument. */
int cli_model_fail_reading(const char *source, const cli_options *opt, const char *reason);

/** Prints a message as --debug and --no-warnings, in the cli_options at `data`, say. */
void cli_model_print_message(void *data, ln_msg_level level, const char *text);

/** Milliseconds until --max-seconds are over, at least 1; 0: no limit. */
uint64_t cli_model_time_left(const cli_options *opt);

/** Whether the compiled model has no inputs, and no run has anything left to compute. */
int cli_model_is_constant(const ln_context *ctx);

/** Warns of such a model. */
void cli_model_warn_constant(const ln_context *ctx);

/** Prints the name DIR/WHAT_K.ENDING into `file`, LN_MAXLINE bytes. Returns 0, or CLI_FAILED after
 * a message: it is too long. */
int cli_data_file(char *file, const char *dir, const char *what, int k, const char *ending);

/** The record of tensor `name`, with its data as the last run left it. Returns borrowed (until the
 * context is unloaded), or NULL after a message. */
const tl_tensor *cli_model_tensor(ln_context *ctx, const cli_options *opt, const char *name);

#endif
