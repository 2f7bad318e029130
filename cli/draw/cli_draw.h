// SPDX-License-Identifier: Apache-2.0
// --draw: the outputs of a run, drawn on the photo that was its input.

#pragma once

#include "lightnet/ln_image.h"
#include "output/cli_output.h"
#include "output/cli_run_options.h"
#include "tensorlight/tl_tensor.h"

/** The outputs of a run. */
typedef struct cli_drawing {
    const char **names; // of outputs; borrowed
    const tl_tensor **tensors;
    int n;
} cli_drawing;

/** Before a run: whether --draw, -o and the options with them fit each other, and the file may be
 * written. Returns 0, or the exit status after a message. */
int cli_draw_check(const cli_run_options *opt);

/** The suffix of the image that is drawn on a photo: the photo's, or ".png" if LightNet writes no
 * such images. Returns borrowed. */
const char *cli_draw_suffix(const char *photo);

/** Adds an output to opt->shared.images.photo->drawing. Borrows both arguments, until cli_draw.
 * Returns 0, or CLI_FAILED after a message: no memory. */
int cli_draw_add(const cli_run_options *opt, const char *name, const tl_tensor *t);

/** After a run: draws the outputs on opt->shared.images.photo, and prints what it draws. *image:
 * new, for cli_draw_write. Returns 0, or CLI_FAILED after a message: no photo, or no output
 * fits. */
int cli_draw_make(const cli_run_options *opt, const cli_labels *labels, ln_image *image);

/** Writes the image and frees it. Returns 0, or CLI_FAILED after a message. */
int cli_draw_write(const char *file, ln_image *image);

/** cli_draw_make, then cli_draw_write to -o FILE, if --draw is set. */
int cli_draw(const cli_run_options *opt, const cli_labels *labels);

/** Frees the lists. */
void cli_draw_free(cli_drawing *drawing);
