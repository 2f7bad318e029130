// SPDX-License-Identifier: Apache-2.0
// --draw: what the outputs of a run show, drawn on the photo that was its input.

#pragma once

#include "output/cli_found.h"
#include "output/cli_labels.h"
#include "output/cli_run_options.h"

/** The task of a word of --draw; NULL: none, or an unknown word. */
const char *cli_draw_task(const char *draw);

/** Before a run: whether --draw, -o and the options with them fit each other, and the file may be
 * written. Returns 0, or the exit status after a message. */
int cli_draw_check(const cli_run_options *opt);

/** The suffix of the image that is drawn on a photo: the photo's, or ".png" if LightNet writes no
 * such images. Returns borrowed. */
const char *cli_draw_suffix(const char *photo);

/** Draws on found->image, and writes it to `file`. Returns 0, or CLI_FAILED after a message. */
int cli_draw(cli_found *found, const cli_run_options *opt, const cli_labels *labels,
             const char *file);
