// SPDX-License-Identifier: Apache-2.0
// The orientation of images in Exif data.

#ifndef LN_EXIF_H
#define LN_EXIF_H

#include <stddef.h>
#include <stdint.h>

#include "lightnet/ln_image.h"

/** The orientation, 1 to 8, of the APP1 segment of a JPEG file, `size` bytes after its length; 0:
 * none, or it is not an Exif segment, or damaged. Source: Exif 2.32, 4.6 (tag 0x0112). */
int ln_exif_orientation(const uint8_t *data, size_t size);

/** Rotates and mirrors the image to its upright orientation. Orientation 1 and invalid ones do not
 * change it. -1 with a reason: no memory; the image is as before. */
int ln_exif_orient(ln_image *image, int orientation, ln_error *err);

#endif
