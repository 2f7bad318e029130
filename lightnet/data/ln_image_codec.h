// SPDX-License-Identifier: Apache-2.0
// The decoders of ln_image_decode, one for each format.

#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/ln_infile.h"
#include "lightnet/ln_image.h"

/** A decoder reads `size` bytes at `data` into `image`. Returns 0, or -1 with a reason (which does
 * not name the file). */
typedef int (*ln_image_decoder)(const uint8_t *data, size_t size, ln_image *image, ln_error *err);

int ln_image_decode_png(const uint8_t *data, size_t size, ln_image *image, ln_error *err);
int ln_image_decode_jpeg(const uint8_t *data, size_t size, ln_image *image, ln_error *err);
int ln_image_decode_pnm(const uint8_t *data, size_t size, ln_image *image, ln_error *err);
int ln_image_decode_bmp(const uint8_t *data, size_t size, ln_image *image, ln_error *err);
int ln_image_decode_webp(const uint8_t *data, size_t size, ln_image *image, ln_error *err);

/** An encoder writes the image to `stream`. Returns 0, or -1 with a reason (which does not name the
 * file). The caller checks the stream's own errors. */
typedef int (*ln_image_encoder)(FILE *stream, const ln_image *image, ln_error *err);

int ln_image_encode_png(FILE *stream, const ln_image *image, ln_error *err);
int ln_image_encode_jpeg(FILE *stream, const ln_image *image, ln_error *err);
int ln_image_encode_pnm(FILE *stream, const ln_image *image, ln_error *err);

// Functions of libraries, NULL in builds without them.

#ifdef LN_HAVE_PNG
#define LN_OF_PNG(func) func
#else
#define LN_OF_PNG(func) NULL
#endif
#ifdef LN_HAVE_JPEG
#define LN_OF_JPEG(func) func
#else
#define LN_OF_JPEG(func) NULL
#endif
#ifdef LN_HAVE_WEBP
#define LN_OF_WEBP(func) func
#else
#define LN_OF_WEBP(func) NULL
#endif

/** Allocates memory for height x width pixels. -1 with a reason: an extent below 1, or more than
 * 2^28 samples. */
int ln_image_alloc(ln_image *image, size_t height, size_t width, int channels, ln_error *err);

/** Decodes an image file of `size` bytes, as ln_image_decode does, to TL_UINT8 [H, W, channels]: 1
 *  channel for gray, or 3 for red, green and blue, with `is_bgr` in the opposite order. Returns new
 *  (tl_tensor_free_data_too), or NULL with a reason. */
tl_tensor *ln_image_from_bytes(const void *data, size_t size, int channels, int is_bgr,
                               ln_error *err);

/** As ln_image_read, from the open file `in`, called `file` in messages. */
tl_tensor *ln_image_from_file(const ln_infile *in, const char *file, const tl_tensor *like,
                              const ln_image_format *format, ln_error *err);

/** The orientation, 1 to 8, of the APP1 segment of a JPEG file, `size` bytes after its length; 0:
 * none, or it is not an Exif segment, or damaged. Source: Exif 2.32, 4.6 (tag 0x0112). */
int ln_exif_orientation(const uint8_t *data, size_t size);

/** Rotates and mirrors the image to its upright orientation. Orientation 1 and invalid ones do not
 * change it. -1 with a reason: no memory; the image is as before. */
int ln_exif_orient(ln_image *image, int orientation, ln_error *err);
