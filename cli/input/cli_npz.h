// SPDX-License-Identifier: Apache-2.0
// Arrays of npz files as sources: FILE.npz:ARRAY is one array.

#pragma once

#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"

/** Whether `source` is FILE:ARRAY of an npz file, and not a file itself. Writes the name of the
 * file to `path`; *array: the name of the array, in `source`. */
int cli_npz_split(const char *source, char path[LN_MAXLINE], const char **array);

/** The file of a source: of FILE:ARRAY, written to `path`, or `source`. Returns borrowed. */
const char *cli_npz_file(const char *source, char path[LN_MAXLINE]);

/** Whether a file of that name, or such an array, exists. */
int cli_npz_exists(const char *source);

/** As ln_input_read_whole, and for FILE:ARRAY. */
tl_tensor *cli_npz_read_whole(const char *source, ln_error *err);

/** The array of FILE:ARRAY; like: as ln_npz_read. Returns new (tl_tensor_free_data_too); NULL with
 * a reason. */
tl_tensor *cli_npz_read(const char *path, const char *array, const tl_tensor *like, ln_error *err);
