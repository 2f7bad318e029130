// SPDX-License-Identifier: Apache-2.0
// How cameras say which way up an image is.

#ifndef LN_EXIF_H
#define LN_EXIF_H

#include <stddef.h>
#include <stdint.h>

#include "lightnet/ln_image.h"

/** The orientation, 1 to 8, that the APP1 segment of a JPEG file, `size` bytes behind its length,
 * tells; 0: none, or it is no Exif segment, or damaged. Source: Exif 2.32, 4.6 (tag 0x0112). */
int ln_exif_orientation(const uint8_t *data, size_t size);

/** Turns and mirrors the image as it is to be seen. Orientation 1, and those that there are not,
 * leave it. -1 with a reason: no memory; the image is as before. */
int ln_exif_orient(ln_image *image, int orientation, ln_error *err);

#endif
