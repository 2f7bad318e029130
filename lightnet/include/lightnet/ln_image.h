// SPDX-License-Identifier: Apache-2.0
// Images as inputs: PNG, JPEG, WebP, BMP, PGM, PPM files, converted to a tensor.
//
//     const double s = 1 / 128.0;
//     ln_image_format format = {.mean = {127, 127, 127}, .scale = {s, s, s}};
//     tl_tensor *photo = ln_image_read("photo.jpg", input, &format, &err); // of input's shape

#ifndef LN_IMAGE_H
#define LN_IMAGE_H

#include <stdint.h>

#include "lightnet/ln_api.h"
#include "lightnet/ln_msg.h"
#include "tensorlight/tl_tensor.h"

LN_BEGIN_DECLS

/** How an image is fitted to the size of the tensor. */
typedef enum ln_image_fit {
    LN_IMAGE_STRETCH,   // each axis is resized separately
    LN_IMAGE_CROP,      // keeps the aspect ratio, and shows the center (torchvision CenterCrop)
    LN_IMAGE_LETTERBOX, // keeps the aspect ratio, and shows the whole image with a border
    LN_IMAGE_PAD        // the same at the upper left, with a border at the right or below
} ln_image_fit;

/** The filter of resizing, with half-pixel centers. Images that keep their size stay exact. */
typedef enum ln_image_filter {
    LN_IMAGE_LINEAR,    // the two nearest pixels of an axis, as OpenCV's INTER_LINEAR
    LN_IMAGE_ANTIALIAS, // all pixels that an element covers, as Pillow's BILINEAR
    LN_IMAGE_BICUBIC    // the same with a cubic filter, as Pillow's BICUBIC; stays in 0 .. 255
} ln_image_filter;

/** Converts pixels to elements: (pixel - mean[c]) * scale[c], for channel
 * c of the tensor. An unset scale is 0, and makes every element 0. */
typedef struct ln_image_format {
    int nhwc; // the tensor is [1, H, W, C], not [1, C, H, W]
    int bgr;  // channel 0 is blue, not red
    double mean[3];
    double scale[3]; // a one-channel tensor uses the first ones
    ln_image_fit fit;
    ln_image_filter filter;
    double share;  // LN_IMAGE_CROP: the fraction of the limiting axis that remains; 0: 1
    double border; // LN_IMAGE_LETTERBOX and PAD: the pixels of the border, 0 .. 255
} ln_image_format;

/** An image in memory: 8 bits a sample, rows from the top, samples of a pixel side by side. */
typedef struct ln_image {
    int height;
    int width;
    int channels; // 1 gray, 3 red green blue
    uint8_t *pixels;
} ln_image;

/** An axis of an image and of its tensor: the image is resized from `in` to `size`
 * pixels, and element i of 0 .. out - 1 is pixel i + offset of these, or border. */
typedef struct ln_image_axis {
    int in;
    int size;
    int offset; // below 0: a border comes first
    int out;
} ln_image_axis;

/** Whether `size` bytes at `data` begin like a supported image file. */
LN_API int ln_image_is_image(const void *data, size_t size);

/** Writes the names of the image formats that this build reads, "PNG, JPEG,
 * PGM, PPM", to `buf` of `size` bytes, truncated if necessary. Returns buf. */
LN_API char *ln_sprint_image_formats(char *buf, size_t size);

/** Decodes an image file, recognized by its content. Rotates a
 * JPEG image by its Exif orientation. Rounds 16-bit samples to 8
 * bits, and draws transparent pixels on black. Returns 0, or -1
 * with a reason that names the file. Free with ln_image_free. */
LN_API int ln_image_decode(const char *file, ln_image *image, ln_error *err);

/** Frees the pixels. */
LN_API void ln_image_free(ln_image *image);

/** Writes the image to a file: PNG, JPEG, PGM or PPM by the suffix of its name (.png,
 * .jpg, .jpeg, .pgm, .ppm), completely or not at all. PGM needs 1 channel, PPM 3. Equal
 * images have equal bytes. Returns 0, or -1 with a reason that names the file. */
LN_API int ln_image_write(const char *file, const ln_image *image, ln_error *err);

/** How ln_image_read covers a tensor of out_height x out_width with an image of height x
 * width pixels, all at least 1: axes[0] is the height, axes[1] the width. LN_IMAGE_CROP
 * rounds as torchvision's Resize and CenterCrop, LN_IMAGE_LETTERBOX as Ultralytics'
 * LetterBox, LN_IMAGE_PAD rounds down, as YOLOX and SCRFD do. */
LN_API void ln_image_axes(const ln_image_format *format, int height, int width, int out_height,
                          int out_width, ln_image_axis axes[2]);

/** Reads an image into a tensor of like's dtype and shape, [1, C, H, W] or [C, H,
 * W], with C 1 or 3 (format->nhwc: C last): converts color to gray (luma of ITU-R
 * BT.601) or gray to color, resizes (an image of that size stays exact), and
 * scales; integers are rounded and saturated. Returns new (tl_tensor_free_data_too),
 * or NULL with a reason that names the file. */
LN_API tl_tensor *ln_image_read(const char *file, const tl_tensor *like,
                                const ln_image_format *format, ln_error *err);

LN_END_DECLS

#endif
