// SPDX-License-Identifier: Apache-2.0
// Options for images as inputs.

#ifndef CLI_IMAGES_H
#define CLI_IMAGES_H

#include "cli_options.h"

/** Warns of an option for images, such as --mean, where no file that -i names is an image. Standard
 * input and pipes, which can be read only once, may be images; what cannot be read is an error
 * later. */
void cli_images_warn(const cli_options *opt);

#endif
