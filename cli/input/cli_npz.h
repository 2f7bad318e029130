// SPDX-License-Identifier: Apache-2.0
// npz files as inputs and outputs: each array of -i FILE.npz is an input by its name, and
// FILE.npz:ARRAY is one array.

#ifndef CLI_NPZ_H
#define CLI_NPZ_H

#include "cli_options.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_session.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"

/** Replaces each npz file of -i: FILE by NAME=FILE:NAME for each of its arrays, and NAME=FILE by
 * NAME=FILE:ARRAY, where ARRAY is NAME, or the only array. Returns 0, or CLI_FAILED after a
 * message. cli_npz_free frees the texts. */
int cli_npz_expand(cli_options *opt);

void cli_npz_free(cli_options *opt);

/** Whether `source` is FILE:ARRAY of an npz file, and no file itself. Writes the name of the file
 * to `path`, and where the array's begins to *array. */
int cli_npz_split(const char *source, char path[LN_MAXLINE], const char **array);

/** The file of a source: of FILE:ARRAY, written to `path`, or `source`. Returns borrowed. */
const char *cli_npz_file(const char *source, char path[LN_MAXLINE]);

/** Whether there is a file of that name, or such an array. */
int cli_npz_exists(const char *source);

/** As ln_input_read_whole, and for FILE:ARRAY. */
tl_tensor *cli_npz_read_whole(const char *source, ln_error *err);

/** The array of FILE:ARRAY; like: as ln_npz_read. Returns new (tl_tensor_free_data_too); NULL with
 * a reason. */
tl_tensor *cli_npz_read(const char *path, const char *array, const tl_tensor *like, ln_error *err);

/** Whether -O names an npz file. */
int cli_npz_is_output(const cli_options *opt);

/** Before a run: 0 if the npz file of -O may be written; else the exit status after a message. */
int cli_npz_check(const cli_options *opt);

/** After a run: writes the model's outputs to the npz file of -O, by their names. Returns 0, or
 * CLI_FAILED after a message. */
int cli_npz_write_session(const cli_options *opt, const ln_model *model, ln_session *session);
int cli_npz_write_context(const cli_options *opt, ln_context *ctx);

#endif
