// SPDX-License-Identifier: Apache-2.0
// What the decoders of images share: memory for the pixels.

#include "data/ln_image_codec.h"

#include "lightnet/ln_util.h"

// Pixels of one image, times channels: more is taken for a damaged header.
static const size_t max_samples = (size_t)1 << 28;

int ln_image_alloc(ln_image *image, size_t height, size_t width, int channels, ln_error *err)
{
    if (!height || !width || height > max_samples ||
        width > max_samples / height / (size_t)channels)
        return ln_error_set(err, "%zu x %zu pixels: the image is empty or too large", width,
                            height);
    *image = (ln_image){.height = (int)height, .width = (int)width, .channels = channels};
    image->pixels = ln_alloc_array(height * width, (size_t)channels);
    return image->pixels ? 0
                         : ln_error_set_as(err, LN_OUT_OF_MEMORY,
                                           "out of memory for %zu x %zu pixels", width, height);
}
