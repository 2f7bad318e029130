// SPDX-License-Identifier: Apache-2.0
// Images as inputs: recognising and decoding files, and fitting the pixels to a tensor.

#include "lightnet/ln_image.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/ln_image_codec.h"
#include "data/ln_image_resize.h"
#include "lightnet/ln_content.h"
#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

static const struct kind {
    const char *name;    // within that of ln_content_of, "a PNG image"
    const char *library; // NULL: none
    ln_image_decoder decode;
} kinds[] = {
    {"PNG", "libpng", LN_OF_PNG(ln_image_decode_png)},
    {"JPEG", "libjpeg", LN_OF_JPEG(ln_image_decode_jpeg)},
    {"WebP", "libwebp", LN_OF_WEBP(ln_image_decode_webp)},
    {"BMP", NULL, ln_image_decode_bmp},
    {"PGM", NULL, ln_image_decode_pnm},
    {"PPM", NULL, ln_image_decode_pnm},
};

enum {
    N_KINDS = sizeof(kinds) / sizeof(kinds[0]),
    LOOK_SIZE = 64 // longer than the signature of any image format
};

// *name: what the bytes are, or NULL.
static const struct kind *find_kind(const void *data, size_t size, const char **name)
{
    char text[32];
    if (ln_content_of(data, size < LOOK_SIZE ? size : LOOK_SIZE, name) != LN_CONTENT_INPUT)
        return NULL;
    for (const struct kind *k = kinds; k < kinds + N_KINDS; k++) {
        snprintf(text, sizeof(text), "a %s image", k->name);
        if (!strcmp(*name, text))
            return k;
    }
    return NULL;
}

int ln_image_is_image(const void *data, size_t size)
{
    const char *name;
    return find_kind(data, size, &name) != NULL;
}

char *ln_sprint_image_formats(char *buf, size_t size)
{
    size_t len = 0;
    for (const struct kind *k = kinds; k < kinds + N_KINDS && len < size; k++)
        if (k->decode)
            len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "", k->name);
    return buf;
}

void ln_image_free(ln_image *image)
{
    ln_free(image->pixels);
    image->pixels = NULL;
}

static int decode_bytes(const void *data, size_t size, ln_image *image, ln_error *err)
{
    const char *name;
    const struct kind *const kind = find_kind(data, size, &name);
    *image = (ln_image){0};
    if (kind && !kind->decode)
        return ln_error_set(err, "this LightNet is built without %s and cannot read %s images",
                            kind->library, kind->name);
    if (!kind)
        return ln_error_set(err, "%s%s, expected a png, jpg, webp, bmp, pgm or ppm image",
                            name ? "this is " : "unknown format", name ? name : "");
    if (!kind->decode(data, size, image, err))
        return 0;
    ln_image_free(image);
    return -1;
}

static int decode_file(const ln_infile *in, const char *file, ln_image *image, ln_error *err)
{
    return decode_bytes(in->data, in->size, image, err) ? ln_error_prefix(err, "%s", file) : 0;
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

// Fitting

typedef struct layout {
    int height;
    int width;
    int channels;        // 1 or 3
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

// Channel `c` (0 red, 1 green, 2 blue) of a pixel, converted to gray or color for `channels`.
static double sample(const ln_image *image, int y, int x, int c, int channels)
{
    const uint8_t *p =
        image->pixels + ((size_t)y * (size_t)image->width + (size_t)x) * (size_t)image->channels;
    if (image->channels == 1)
        return p[0];
    return channels == 3 ? p[c] : 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2];
}

// Rounds to integers: truncation would convert red, green and blue of 1 to a gray of 0.
static void put(tl_tensor *dst, size_t at, double value)
{
    const double v = tl_dtype_is_float(dst->dtype) ? value : round(value);
    tl_convert((char *)dst->data + at * tl_size_of(dst->dtype), dst->dtype, &v, TL_DOUBLE);
}

// Resizing.
typedef struct resizing {
    const ln_image *image;
    const ln_image_format *format;
    layout to;
    ln_image_taps rows;
    ln_image_taps columns;
    double *line; // a row of pixels, red, green, blue, or grey
} resizing;

// Adds the image's row `y`, resized to the tensor's width and times `weight`, to the line.
static void add_row(const resizing *r, int y, double weight)
{
    const int channels = r->to.channels;
    double *at = r->line;
    for (int j = 0; j < r->to.width; j++) {
        const ln_image_span x = r->columns.spans[j];
        for (int c = 0; c < channels; c++) {
            double sum = 0;
            for (int k = 0; k < x.n; k++)
                sum += sample(r->image, y, x.first + k, c, channels) * x.weights[k];
            *at++ += sum * weight;
        }
    }
}

static void compute_line(const resizing *r, int i)
{
    const size_t len = (size_t)r->to.width * (size_t)r->to.channels;
    const ln_image_span y = r->rows.spans[i];
    memset(r->line, 0, len * sizeof(*r->line));
    for (int k = 0; k < y.n; k++)
        add_row(r, y.first + k, y.weights[k]);
    for (size_t j = 0; j < len && ln_image_filter_overshoots(r->format->filter); j++)
        r->line[j] = fmin(fmax(r->line[j], 0), 255);
}

static void put_line(const resizing *r, int i, tl_tensor *dst)
{
    const ln_image_format *format = r->format;
    const int channels = r->to.channels, row_is_inside = r->rows.spans[i].n > 0;
    for (int j = 0; j < r->to.width; j++) {
        const int is_inside = row_is_inside && r->columns.spans[j].n > 0;
        const size_t pixel = ((size_t)i * (size_t)r->to.width + (size_t)j) * r->to.pixel_step;
        for (int c = 0; c < channels; c++) {
            const int colour = format->bgr && channels == 3 ? 2 - c : c;
            const double v = is_inside ? r->line[j * channels + colour] : format->border;
            put(dst, pixel + (size_t)c * r->to.channel_step,
                (v - format->mean[c]) * format->scale[c]);
        }
    }
}

// Returns 0, or -1 with a reason: no memory.
static int fit(const ln_image *image, const layout *to, const ln_image_format *format,
               tl_tensor *dst, ln_error *err)
{
    resizing r = {.image = image, .format = format, .to = *to};
    ln_image_axis axes[2];
    ln_image_axes(format, image->height, image->width, to->height, to->width, axes);
    r.line = ln_alloc_array((size_t)to->width, (size_t)to->channels * sizeof(*r.line));
    int status = ln_image_taps_init(&r.rows, &axes[0], format->filter, err) ||
                 ln_image_taps_init(&r.columns, &axes[1], format->filter, err);
    if (!status && !r.line)
        status = ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for %d pixels", to->width);
    for (int i = 0; i < to->height && !status; i++) {
        compute_line(&r, i);
        put_line(&r, i, dst);
    }
    ln_image_taps_free(&r.rows);
    ln_image_taps_free(&r.columns);
    ln_free(r.line);
    return status ? -1 : 0;
}

tl_tensor *ln_image_from_bytes(const void *data, size_t size, int channels, int is_bgr,
                               ln_error *err)
{
    ln_image image;
    if (decode_bytes(data, size, &image, err))
        return NULL;
    const int dims[] = {image.height, image.width, channels};
    tl_tensor *const dst = tl_tensor_zeros(3, dims, TL_UINT8);
    if (!dst)
        ln_error_set_as(err, LN_OUT_OF_MEMORY, "%s", tl_last_error());
    for (int i = 0; dst && i < dst->len; i++) {
        const int pixel = i / channels, c = i % channels;
        put(dst, (size_t)i,
            sample(&image, pixel / image.width, pixel % image.width, is_bgr ? 2 - c : c, channels));
    }
    ln_image_free(&image);
    return dst;
}

tl_tensor *ln_image_from_file(const ln_infile *in, const char *file, const tl_tensor *like,
                              const ln_image_format *format, ln_error *err)
{
    ln_image image;
    layout to = {0};
    if (find_layout(like, format, &to, err))
        return ln_error_prefix(err, "%s", file), NULL;
    if (decode_file(in, file, &image, err))
        return NULL;
    tl_tensor *dst = tl_tensor_zeros(like->ndim, like->dims, like->dtype);
    if (!dst) {
        ln_error_set(err, "%s: %s", file, tl_last_error());
    } else if (dst->len && fit(&image, &to, format, dst, err)) {
        ln_error_prefix(err, "%s", file);
        tl_tensor_free_data_too(dst);
        dst = NULL;
    }
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
