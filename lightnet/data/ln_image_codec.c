// SPDX-License-Identifier: Apache-2.0
// Memory for the pixels of an image; reading and writing PNG, PGM and PPM.

#include "data/ln_image_codec.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/ln_error_memory.h"
#include "lightnet/ln_util.h"

// The max samples of an image: more means a damaged header.
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

// PNG

// By libpng's simplified interface, which checks everything and reports failures without longjmp.

#ifdef LN_HAVE_PNG

#include <png.h>

enum { PNG_SIGNATURE = 8, PNG_CHUNK = 12 }; // a chunk: length, type, data, checksum

// The size of the chunk at `at`, or of the rest if it is incomplete.
static size_t chunk_size(const uint8_t *at, size_t size)
{
    if (size < PNG_CHUNK)
        return size;
    const size_t length =
        (size_t)at[0] << 24 | (size_t)at[1] << 16 | (size_t)at[2] << 8 | (size_t)at[3];
    return length <= size - PNG_CHUNK ? PNG_CHUNK + length : size;
}

// Whether pixels may depend on a chunk: a critical one (upper-case letter), or one of these.
static int is_needed(const uint8_t *at, size_t size)
{
    static const char types[][5] = {"tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "sBIT", "bKGD"};
    if (size < PNG_CHUNK || !islower(at[4]))
        return 1;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (!memcmp(at + 4, types[i], 4))
            return 1;
    return 0;
}

// Without memory for a text chunk, libpng continues in the middle of it. So it reads a copy without
// texts and other chunks that no pixel depends on. Returns new (ln_free).
static uint8_t *keep_needed_chunks(const uint8_t *data, size_t size, size_t *kept, ln_error *err)
{
    uint8_t *const copy = ln_alloc(size);
    if (!copy)
        return ln_error_memory(err), NULL;
    size_t at = size < PNG_SIGNATURE ? size : PNG_SIGNATURE;
    memcpy(copy, data, *kept = at);
    for (size_t n; at < size; at += n) {
        n = chunk_size(data + at, size - at);
        if (is_needed(data + at, size - at)) {
            memcpy(copy + *kept, data + at, n);
            *kept += n;
        }
    }
    return copy;
}

static int decode_chunks(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    // Draws transparent pixels on black.
    const png_color black = {0, 0, 0};
    if (!png_image_begin_read_from_memory(&png, data, size))
        return ln_error_set(err, "%s", png.message);
    // Samples of 16 bits are sRGB, like those of 8, not linear.
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

int ln_image_decode_png(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    size_t kept;
    uint8_t *const chunks = keep_needed_chunks(data, size, &kept, err);
    const int status = chunks ? decode_chunks(chunks, kept, image, err) : -1;
    ln_free(chunks);
    return status;
}

int ln_image_encode_png(FILE *stream, const ln_image *image, ln_error *err)
{
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = (png_uint_32)image->width,
                     .height = (png_uint_32)image->height,
                     .format = image->channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY};
    const int is_written = png_image_write_to_stdio(&png, stream, 0, image->pixels, 0, NULL);
    return is_written ? 0 : ln_error_set(err, "%s", png.message);
}

#endif

// PGM and PPM

// P2, P3 (text), P5, P6 (binary), up to 16 bits a sample. Source: the netpbm formats' manual pages.

typedef struct reader {
    const uint8_t *at;
    const uint8_t *end;
} reader;

static void skip_space(reader *r)
{
    while (r->at < r->end && (isspace(*r->at) || *r->at == '#')) {
        if (*r->at == '#')
            while (r->at < r->end && *r->at != '\n')
                r->at++;
        else
            r->at++;
    }
}

// A decimal number; -1: none, or one of more than 9 digits.
static long read_number(reader *r)
{
    long n = -1;
    skip_space(r);
    for (; r->at < r->end && isdigit(*r->at) && n < 100000000; r->at++)
        n = (n < 0 ? 0 : n) * 10 + (*r->at - '0');
    return r->at < r->end && isdigit(*r->at) ? -1 : n;
}

static uint8_t to_8_bits(unsigned long sample, unsigned long max)
{
    return (uint8_t)((sample * 255 + max / 2) / max);
}

static int read_text_samples(reader *r, uint8_t *pixels, size_t n, unsigned long max, ln_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const long sample = read_number(r);
        if (sample < 0 || (unsigned long)sample > max)
            return ln_error_set(err, "sample %zu of %zu is missing or not in 0 .. %lu", i, n, max);
        pixels[i] = to_8_bits((unsigned long)sample, max);
    }
    return 0;
}

static int read_binary_samples(const reader *r, uint8_t *pixels, size_t n, unsigned long max,
                               ln_error *err)
{
    const size_t width = max > 255 ? 2 : 1;
    for (size_t i = 0; i < n; i++) {
        const unsigned long sample =
            width == 2 ? (unsigned long)r->at[2 * i] << 8 | r->at[2 * i + 1] : r->at[i];
        if (sample > max)
            return ln_error_set(err, "sample %zu is %lu, expected at most %lu", i, sample, max);
        pixels[i] = to_8_bits(sample, max);
    }
    return 0;
}

int ln_image_decode_pnm(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    reader r = {.at = data + 2, .end = data + size};
    const int kind = data[1] - '0'; // 2, 3, 5 or 6
    const long width = read_number(&r), height = read_number(&r), max = read_number(&r);
    if (width < 1 || height < 1 || max < 1 || max > 65535)
        return ln_error_set(
            err, "the header has width %ld, height %ld and max %ld, expected at least 1, max 65535",
            width, height, max);
    const int channels = kind == 3 || kind == 6 ? 3 : 1, is_text = kind < 4;
    const size_t sample_size = is_text || max > 255 ? 2 : 1; // text: a space and a digit
    if (!is_text && r.at < r.end)
        r.at++; // the one white space after the header
    // Numbers of a header are below 2^30, so this cannot overflow.
    const uint64_t n = (uint64_t)height * (uint64_t)width * (uint64_t)channels;
    const size_t available = (size_t)(r.end - r.at);
    if (n > available / sample_size) // no memory that the rest of the file cannot fill
        return ln_error_set(err, "%zu bytes of samples, expected at least %" PRIu64, available,
                            n * sample_size);
    if (ln_image_alloc(image, (size_t)height, (size_t)width, channels, err))
        return -1;
    return is_text ? read_text_samples(&r, image->pixels, n, (unsigned long)max, err)
                   : read_binary_samples(&r, image->pixels, n, (unsigned long)max, err);
}

int ln_image_encode_pnm(FILE *stream, const ln_image *image, ln_error *err)
{
    const size_t n = (size_t)image->height * (size_t)image->width * (size_t)image->channels;
    (void)err;
    fprintf(stream, "P%d\n%d %d\n255\n", image->channels == 3 ? 6 : 5, image->width, image->height);
    fwrite(image->pixels, 1, n, stream);
    return 0;
}
