// SPDX-License-Identifier: Apache-2.0
// PNG images, by libpng's simplified interface: it checks everything and reports failure without
// leaving.

#include "data/ln_image_codec.h"

#ifdef LN_HAVE_PNG

#include <png.h>

int ln_image_decode_png(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    // What is transparent is drawn on black.
    const png_color black = {0, 0, 0};
    if (!png_image_begin_read_from_memory(&png, data, size))
        return ln_error_set(err, "%s", png.message);
    // Samples of 16 bits are as those of 8, not linear in light.
    png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;
    png.format = png.format & PNG_FORMAT_FLAG_COLOR ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    const int channels = png.format == PNG_FORMAT_RGB ? 3 : 1;
    if (ln_image_alloc(image, png.height, png.width, channels, err)) {
        png_image_free(&png);
        return -1;
    }
    if (!png_image_finish_read(&png, &black, image->pixels, 0, NULL))
        return ln_error_set(err, "%s", png.message);
    return 0;
}

#else

int ln_image_decode_png(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    (void)data, (void)size, (void)image;
    return ln_error_set(err, "this LightNet is built without libpng and cannot read PNG images");
}

#endif
