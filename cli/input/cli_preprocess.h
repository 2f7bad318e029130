// SPDX-License-Identifier: Apache-2.0
// How images become inputs: --preprocess and the options that override its parts.

#pragma once

#include "lightnet/ln_image.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_tensor.h"

struct cli_options;

struct cli_drawing;

/** The first image of -i, or one of --each, and the input that it became. */
typedef struct cli_photo {
    const char *file; // NULL: none yet; borrowed
    ln_image_format format;
    int height; // of the input
    int width;
    struct cli_drawing *drawing; // the outputs for --draw; NULL: none are wanted
    int is_unscaled; // without an option, a float input of 3 channels has values above 1
} cli_photo;

// Check the value of an option. Return 0, or CLI_WRONG_USAGE after a message.

int cli_preprocess_check_name(const char *text);
int cli_preprocess_check_resize(const char *text);
int cli_preprocess_check_filter(const char *text);

/** Whether channels are the last axis of an input: by --layout, else if only the last axis has 1 or
 * 3 elements. */
int cli_preprocess_is_nhwc(const struct cli_options *opt, const tl_tensor *t);

/** The shape of a file without one for an input whose sizes are open, below 0: one row; of an image
 * 3 channels, and the height and width of the preset. Sets dims. Returns ndim; 0: an open size
 * remains. */
int cli_preprocess_shape(const struct cli_options *opt, const tl_tensor *info, int dims[LN_MAXDIM]);

/** The format of images by the options, which have been checked, for an input like `like`. */
ln_image_format cli_preprocess_format(const struct cli_options *opt, const tl_tensor *like);

/** Checks that the options fit the image: `file` became `t` by `format`. -1 with a reason: three
 * values for one channel. */
int cli_preprocess_check(const struct cli_options *opt, const char *file,
                         const ln_image_format *format, const tl_tensor *t, ln_error *err);

/** Fills *opt->photo with the first image: `file` became `t` by `format`. */
void cli_preprocess_note(const struct cli_options *opt, const char *file,
                         const ln_image_format *format, const tl_tensor *t);

/** Warns of a photo whose pixels have become an input unscaled, 0 to 255, by no option. Returns
 * whether it did. */
int cli_preprocess_warn(const cli_photo *photo);
