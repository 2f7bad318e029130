// SPDX-License-Identifier: Apache-2.0
// Arguments: -i [NAME=]FILE, by name or in the model's order.

#pragma once

#include <stddef.h>

#include "cli_options.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"

/** The file of "NAME=FILE", with the name in `name`. NULL: the argument is a file for the next
 * input in order, also one with '=' in its own name. */
const char *cli_given_split(const char *arg, char name[LN_MAX_NAME_LEN]);

/** Whether one of the first `n` -i names this input. */
int cli_given_is_named(const cli_options *opt, int n, const char *input);

/** Reads `file`, "-" for standard input, into a tensor of like's type and shape, as ln_input_read:
 * images according to the options for them; the first image also fills opt->photo. Returns new
 * (tl_tensor_free_data_too); NULL with a reason. As those below, within --max-memory, apart from
 * the model's memory, and until --max-seconds. */
tl_tensor *cli_given_read(const cli_options *opt, const char *file, const tl_tensor *like,
                          ln_error *err);

/** As cli_npz_read_whole. */
tl_tensor *cli_given_read_whole(const cli_options *opt, const char *file, ln_error *err);

/** Reads `file` for an input of that type whose sizes are open, below 0. An array has its own
 * shape; an image or a raw file has that of cli_preprocess_shape. LN_BAD_ARGUMENT, among others:
 * the shape is unknown. */
tl_tensor *cli_given_read_open(const cli_options *opt, const char *file, const tl_tensor *info,
                               ln_error *err);

/** As ln_input_read_sequence. */
tl_tensor **cli_given_read_sequence(const cli_options *opt, const char *file, int *n,
                                    ln_error *err);

/** Whether elements of the tensor, read from `file` for input `name`, are NaN; then writes a
 * warning to `text`, LN_MAXLINE bytes. */
int cli_given_has_nan(char *text, const char *file, const char *name, const tl_tensor *t);

/** The next -i FILE without a name, from `*i`, or NULL. */
const char *cli_given_next(const cli_options *opt, int *i);

// What is wrong with an argument of -i. They print and return CLI_FAILED.

/** The model has no input of the name; `inputs` lists its inputs. */
int cli_given_fail_unknown(const char *source, const char *arg, const char *name,
                           const char *inputs);

/** An argument before it has the same name. */
int cli_given_fail_duplicate(const char *source, const char *arg, const char *name);

/** All `n` inputs of the model have a file already. */
int cli_given_fail_surplus(const char *source, const char *arg, int n);

/** Whether the file begins like an array or image. */
int cli_given_is_input(const char *file);

/** 0 unless MODEL is an array or image, and the file of -i a model: then the exit status after a
 * message. */
int cli_given_check_swapped(const cli_options *opt);

/** Warns if an option for images, such as --mean, is set and no file of -i is an image. Standard
 * input and pipes, which can be read only once, may be images; an unreadable file is an error
 * later. */
void cli_given_warn(const cli_options *opt);
