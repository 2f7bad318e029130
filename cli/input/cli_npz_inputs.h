// SPDX-License-Identifier: Apache-2.0
// npz files as inputs: each array of -i FILE.npz is an input by its name.

#pragma once

#include "cli_options.h"

/** Replaces each npz file of -i: FILE by NAME=FILE:NAME for each of its arrays, and NAME=FILE by
 * NAME=FILE:ARRAY, where ARRAY is NAME, or the only array. Returns 0, or CLI_FAILED after a
 * message. cli_npz_free frees the texts. */
int cli_npz_expand(cli_options *opt);

void cli_npz_free(cli_options *opt);
