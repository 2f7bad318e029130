// SPDX-License-Identifier: Apache-2.0
// WebP images, by libwebp: still ones, lossy or lossless.

#include "data/ln_image_codec.h"

#include "lightnet/ln_util.h"

#ifdef LN_HAVE_WEBP

#include <webp/decode.h>

static int fail(VP8StatusCode status, ln_error *err)
{
    static const char *const reasons[] = {
        [VP8_STATUS_OUT_OF_MEMORY] = "out of memory",
        [VP8_STATUS_UNSUPPORTED_FEATURE] = "the file has a feature that libwebp does not support",
        [VP8_STATUS_NOT_ENOUGH_DATA] = "the file is cut off",
    };
    const size_t i = (size_t)status;
    const char *const known = i < sizeof(reasons) / sizeof(reasons[0]) ? reasons[i] : NULL;
    return ln_error_set_as(err, status == VP8_STATUS_OUT_OF_MEMORY ? LN_OUT_OF_MEMORY : LN_OK, "%s",
                           known ? known : "the data are damaged");
}

// Decodes to `pixels`, of 3 channels, or 4 with alpha.
static int decode(const uint8_t *data, size_t size, const ln_image *image, int channels,
                  uint8_t *pixels, ln_error *err)
{
    WebPDecoderConfig config;
    const int stride = image->width * channels;
    if (!WebPInitDecoderConfig(&config))
        return ln_error_set(err, "libwebp has another version than its header");
    config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA = (WebPRGBABuffer){
        .rgba = pixels, .stride = stride, .size = (size_t)stride * (size_t)image->height};
    const VP8StatusCode status = WebPDecode(data, size, &config);
    WebPFreeDecBuffer(&config.output);
    return status == VP8_STATUS_OK ? 0 : fail(status, err);
}

// Draws transparent pixels on black, as for PNG.
static int decode_with_alpha(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    const size_t n = (size_t)image->height * (size_t)image->width;
    uint8_t *const rgba = ln_alloc_array(n, 4);
    if (!rgba)
        return ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for %d x %d pixels",
                               image->width, image->height);
    const int status = decode(data, size, image, 4, rgba, err);
    for (size_t i = 0; i < n && !status; i++)
        for (size_t c = 0; c < 3; c++)
            image->pixels[3 * i + c] = (uint8_t)((rgba[4 * i + c] * rgba[4 * i + 3] + 127) / 255);
    ln_free(rgba);
    return status;
}

int ln_image_decode_webp(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    WebPBitstreamFeatures features;
    const VP8StatusCode status = WebPGetFeatures(data, size, &features);
    if (status != VP8_STATUS_OK)
        return fail(status, err);
    if (features.has_animation)
        return ln_error_set(err, "the image is animated, expected a still one");
    if (ln_image_alloc(image, (size_t)features.height, (size_t)features.width, 3, err))
        return -1;
    return features.has_alpha ? decode_with_alpha(data, size, image, err)
                              : decode(data, size, image, 3, image->pixels, err);
}

#endif
