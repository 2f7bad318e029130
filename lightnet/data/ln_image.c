// SPDX-License-Identifier: Apache-2.0
// Images as inputs: recognising and decoding files, and fitting the pixels to a tensor.

#include "lightnet/ln_image.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/ln_image_codec.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

static const struct kind {
    const char *magic;
    size_t len;
    ln_image_decoder decode;
} kinds[] = {
    {"\x89PNG\r\n\x1a\n", 8, ln_image_decode_png},
    {"\xff\xd8\xff", 3, ln_image_decode_jpeg},
    {"P2", 2, ln_image_decode_pnm},
    {"P3", 2, ln_image_decode_pnm},
    {"P5", 2, ln_image_decode_pnm},
    {"P6", 2, ln_image_decode_pnm},
};

static ln_image_decoder find_decoder(const void *data, size_t size)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (size >= kinds[i].len && !memcmp(data, kinds[i].magic, kinds[i].len))
            return kinds[i].decode;
    return NULL;
}

int ln_image_is_image(const void *data, size_t size)
{
    return find_decoder(data, size) != NULL;
}

static const char *const formats[] = {
#ifdef LN_HAVE_PNG
    "PNG",
#endif
#ifdef LN_HAVE_JPEG
    "JPEG",
#endif
    "PGM",
    "PPM",
};

char *ln_sprint_image_formats(char *buf, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]) && len < size; i++)
        len += (size_t)snprintf(buf + len, size - len, "%s%s", i ? ", " : "", formats[i]);
    return buf;
}

void ln_image_free(ln_image *image)
{
    ln_free(image->pixels);
    image->pixels = NULL;
}

static int decode_file(const ln_infile *in, const char *file, ln_image *image, ln_error *err)
{
    const ln_image_decoder decode = find_decoder(in->data, in->size);
    *image = (ln_image){0};
    if (!decode)
        return ln_error_set(err, "%s: not a png, jpg, pgm or ppm image", file);
    if (!decode(in->data, in->size, image, err))
        return 0;
    ln_image_free(image);
    return ln_error_prefix(err, "%s", file);
}

int ln_image_decode(const char *file, ln_image *image, ln_error *err)
{
    ln_infile in;
    *image = (ln_image){0};
    if (ln_infile_open_whole(&in, file, err))
        return -1;
    const int status = decode_file(&in, file, image, err);
    ln_infile_close(&in);
    return status;
}

/* Fitting */

typedef struct layout {
    int height;
    int width;
    int channels;
    size_t channel_step; // elements from one channel of the tensor to the next
    size_t pixel_step;   // elements from one pixel to the next
} layout;

static int find_layout(const tl_tensor *like, const ln_image_format *format, layout *to,
                       ln_error *err)
{
    const int *dims = like->dims + (like->ndim == 4);
    const int fits = like->ndim == 3 || (like->ndim == 4 && like->dims[0] == 1);
    if (fits) {
        to->channels = dims[format->nhwc ? 2 : 0];
        to->height = dims[format->nhwc ? 0 : 1];
        to->width = dims[format->nhwc ? 1 : 2];
    }
    if (!fits || (to->channels != 1 && to->channels != 3)) {
        char shape[LN_MAX_SHAPE];
        return ln_error_set(
            err, "an image cannot become a tensor of shape %s, expected %s with 1 or 3 channels C",
            ln_sprint_shape(shape, sizeof(shape), like->ndim, like->dims),
            format->nhwc ? "[1, H, W, C]" : "[1, C, H, W]");
    }
    to->channel_step = format->nhwc ? 1 : (size_t)to->height * (size_t)to->width;
    to->pixel_step = format->nhwc ? (size_t)to->channels : 1;
    return 0;
}

// Channel `c` (0 red, 1 green, 2 blue) of a pixel as an image of `channels` channels shows it.
static double sample(const ln_image *image, int y, int x, int c, int channels)
{
    const uint8_t *p =
        image->pixels + ((size_t)y * (size_t)image->width + (size_t)x) * (size_t)image->channels;
    if (image->channels == 1)
        return p[0];
    return channels == 3 ? p[c] : 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
}

// The two neighbours of a destination coordinate and the second one's weight; half-pixel centres.
typedef struct tap {
    int first;
    int second;
    double weight;
} tap;

static tap tap_at(int d, int in, int out)
{
    double c = (d + 0.5) * ((double)in / out) - 0.5;
    if (c < 0)
        c = 0;
    if (c > in - 1)
        c = in - 1;
    const int first = (int)c;
    return (tap){.first = first, .second = first + 1 < in ? first + 1 : first, .weight = c - first};
}

static double resampled(const ln_image *image, tap y, tap x, int c, int channels)
{
    const double top = sample(image, y.first, x.first, c, channels) * (1 - x.weight) +
                       sample(image, y.first, x.second, c, channels) * x.weight;
    const double bottom = sample(image, y.second, x.first, c, channels) * (1 - x.weight) +
                          sample(image, y.second, x.second, c, channels) * x.weight;
    return top * (1 - y.weight) + bottom * y.weight;
}

// Integers are rounded: truncated, equal red, green and blue of 1 would become a grey of 0.
static void put(tl_tensor *dst, size_t at, double value)
{
    const double v = tl_dtype_is_float(dst->dtype) ? value : round(value);
    tl_convert((char *)dst->data + at * tl_size_of(dst->dtype), dst->dtype, &v, TL_DOUBLE);
}

static void fit(const ln_image *image, const layout *to, const ln_image_format *format,
                tl_tensor *dst)
{
    for (int i = 0; i < to->height; i++) {
        const tap y = tap_at(i, image->height, to->height);
        for (int j = 0; j < to->width; j++) {
            const tap x = tap_at(j, image->width, to->width);
            const size_t pixel = ((size_t)i * (size_t)to->width + (size_t)j) * to->pixel_step;
            for (int c = 0; c < to->channels; c++) {
                const int colour = format->bgr && to->channels == 3 ? 2 - c : c;
                const double v = (resampled(image, y, x, colour, to->channels) - format->mean[c]) *
                                 format->scale[c];
                const size_t at = pixel + (size_t)c * to->channel_step;
                put(dst, at, v);
            }
        }
    }
}

tl_tensor *ln_image_from_file(const ln_infile *in, const char *file, const tl_tensor *like,
                              const ln_image_format *format, ln_error *err)
{
    ln_image image;
    layout to = {0};
    if (find_layout(like, format, &to, err)) {
        ln_error_prefix(err, "%s", file);
        return NULL;
    }
    if (decode_file(in, file, &image, err))
        return NULL;
    tl_tensor *dst = tl_tensor_zeros(like->ndim, like->dims, like->dtype);
    if (dst)
        fit(&image, &to, format, dst);
    else
        ln_error_set(err, "%s: %s", file, tl_last_error());
    ln_image_free(&image);
    return dst;
}

tl_tensor *ln_image_read(const char *file, const tl_tensor *like, const ln_image_format *format,
                         ln_error *err)
{
    ln_infile in;
    if (ln_infile_open_whole(&in, file, err))
        return NULL;
    tl_tensor *tensor = ln_image_from_file(&in, file, like, format, err);
    ln_infile_close(&in);
    return tensor;
}
