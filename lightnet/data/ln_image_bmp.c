// SPDX-License-Identifier: Apache-2.0
// BMP images: 1 to 32 bits a pixel, bottom-up and top-down, run-length encoded or not.
//
//     file header     14 bytes: "BM", the size of the file, 0, where the pixels begin
//     header          12 bytes (OS/2), or 40 to 124: its size, width, height, 1, bits a pixel,
//                     compression, ..; the sizes are signed, a negative height is top-down
//     masks           of red, green and blue in a pixel of 16 or 32 bits, if compression is 3 or 6
//     palette         blue, green, red (and 0) of each index, for 1 to 8 bits a pixel
//     rows            each padded to 4 bytes
//
// Alpha is ignored. Sources: Microsoft's pages on BITMAPINFOHEADER, BITMAPV5HEADER and "Bitmap
// Compression" in the Windows GDI documentation.

#include <string.h>

#include "base/ln_little_endian.h"
#include "data/ln_image_codec.h"
#include "lightnet/ln_util.h"

enum { FILE_HEADER = 14, CORE = 12, INFO = 40, OS2 = 64, MASKS = FILE_HEADER + INFO };

enum { RGB, RLE8, RLE4, BITFIELDS, ALPHA_BITFIELDS = 6 };

typedef struct bmp {
    const uint8_t *data;
    size_t size;
    size_t header; // its size
    size_t width, height;
    int is_top_down;
    unsigned bits; // of a pixel
    uint32_t compression;
    uint32_t masks[3]; // red, green, blue
    size_t n_colours;
    size_t palette; // its offset
    size_t colour;  // the bytes of a colour in it
    size_t pixels;  // their offset
} bmp;

// The number in `n` bytes; 0 beyond the end of the file.
static uint32_t number(const bmp *b, size_t at, size_t n)
{
    const int is_inside = at <= b->size && n <= b->size - at;
    return is_inside ? (uint32_t)ln_little_endian_get(b->data + at, n) : 0;
}

// Headers

static int is_header_size(uint32_t size)
{
    static const uint8_t sizes[] = {CORE, INFO, 52, 56, OS2, 108, 124};
    return size < 256 && size && memchr(sizes, (int)size, sizeof(sizes));
}

// A negative height is that of rows from top to bottom.
static int read_sizes(bmp *b, ln_error *err)
{
    const int is_core = b->header == CORE;
    const uint32_t width = is_core ? number(b, 18, 2) : number(b, 18, 4);
    const uint32_t height = is_core ? number(b, 20, 2) : number(b, 22, 4);
    b->is_top_down = height > INT32_MAX;
    b->width = width;
    b->height = b->is_top_down ? (size_t)UINT32_MAX - height + 1 : height;
    b->bits = number(b, is_core ? 24 : 28, 2);
    b->compression = is_core ? RGB : number(b, 30, 4);
    const unsigned planes = number(b, is_core ? 22 : 26, 2);
    if (planes != 1)
        return ln_error_set(err, "the header has %u planes, expected 1", planes);
    return width > INT32_MAX || !width || !height
               ? ln_error_set(err, "the image has %d x %d pixels, expected at least 1 x 1",
                              (int)width, (int)height)
               : 0;
}

// The bits per pixel that a compression may have: bit N for N bits.
static const struct format {
    uint32_t compression;
    uint64_t bits;
} formats[] = {
    {RGB, 1ull << 1 | 1ull << 4 | 1ull << 8 | 1ull << 16 | 1ull << 24 | 1ull << 32},
    {RLE8, 1ull << 8},
    {RLE4, 1ull << 4},
    {BITFIELDS, 1ull << 16 | 1ull << 32},
    {ALPHA_BITFIELDS, 1ull << 16 | 1ull << 32},
};

static int check_format(const bmp *b, ln_error *err)
{
    size_t i = 0;
    while (i < sizeof(formats) / sizeof(formats[0]) && formats[i].compression != b->compression)
        i++;
    const int is_known =
        i < sizeof(formats) / sizeof(formats[0]) && b->bits < 64 && formats[i].bits >> b->bits & 1;
    const int is_rle = b->compression == RLE8 || b->compression == RLE4;
    // For OS/2, 3 is another compression; run-length encoded images are always bottom-up.
    if (!is_known || (b->header == OS2 && b->compression >= BITFIELDS) ||
        (is_rle && b->is_top_down))
        return ln_error_set(err, "pixels of %u bits with compression %u are not supported", b->bits,
                            (unsigned)b->compression);
    return 0;
}

// The bits of a mask must be adjacent: adding the lowest one carries past all of them.
static int check_mask(uint32_t mask, ln_error *err)
{
    const uint32_t low = mask & (0 - mask);
    return mask & (mask + low) ? ln_error_set(err, "mask 0x%x has gaps", (unsigned)mask) : 0;
}

static int read_masks(bmp *b, ln_error *err)
{
    static const uint32_t of_16_bits[] = {0x7c00, 0x3e0, 0x1f};
    static const uint32_t of_32_bits[] = {0xff0000, 0xff00, 0xff};
    memcpy(b->masks, b->bits == 16 ? of_16_bits : of_32_bits, sizeof(b->masks));
    if (b->compression != BITFIELDS && b->compression != ALPHA_BITFIELDS)
        return 0;
    for (size_t i = 0; i < 3; i++) {
        b->masks[i] = number(b, MASKS + 4 * i, 4);
        if (check_mask(b->masks[i], err))
            return -1;
    }
    return 0;
}

static int read_palette(bmp *b, ln_error *err)
{
    const size_t max = b->bits <= 8 ? (size_t)1 << b->bits : 0;
    const size_t used = b->header == CORE ? 0 : number(b, 46, 4);
    b->n_colours = used && max ? used : max;
    b->palette = FILE_HEADER + b->header;
    b->colour = b->header == CORE ? 3 : 4;
    if (b->n_colours > max)
        return ln_error_set(err, "%zu colours, expected at most %zu", b->n_colours, max);
    if (b->palette + b->n_colours * b->colour > b->size)
        return ln_error_set(err, "the file ends within its palette");
    return 0;
}

static int read_header(bmp *b, ln_error *err)
{
    const uint32_t header = number(b, FILE_HEADER, 4);
    b->pixels = number(b, 10, 4);
    if (!is_header_size(header) || header > b->size - FILE_HEADER)
        return ln_error_set(err, "the header has %u bytes, expected 12 to 124", (unsigned)header);
    b->header = header;
    if (read_sizes(b, err) || check_format(b, err) || read_masks(b, err) || read_palette(b, err))
        return -1;
    return b->pixels < b->palette || b->pixels > b->size
               ? ln_error_set(err, "the pixels begin at byte %zu of %zu", b->pixels, b->size)
               : 0;
}

// Pixels

// The pixels in the image of row `y` of the file.
static uint8_t *row_of(const bmp *b, const ln_image *image, size_t y)
{
    const size_t row = b->is_top_down ? y : b->height - 1 - y;
    return image->pixels + row * b->width * 3;
}

static int put_index(const bmp *b, uint8_t *to, size_t index, ln_error *err)
{
    if (index >= b->n_colours)
        return ln_error_set(err, "index %zu of a palette of %zu colours", index, b->n_colours);
    const uint8_t *const from = b->data + b->palette + index * b->colour;
    for (int c = 0; c < 3; c++)
        to[c] = from[2 - c];
    return 0;
}

// The value in the bits of the mask, scaled from 0 .. max to 0 .. 255.
static uint8_t masked(uint32_t pixel, uint32_t mask)
{
    const uint32_t low = mask & (0 - mask);
    if (!mask)
        return 0;
    const uint64_t max = mask / low, value = (pixel & mask) / low;
    return (uint8_t)((value * 255 + max / 2) / max);
}

static int put_pixel(const bmp *b, const uint8_t *row, size_t x, uint8_t *to, ln_error *err)
{
    if (b->bits <= 8) {
        const size_t bit = x * b->bits;
        const unsigned shift = 8 - b->bits - (unsigned)(bit % 8);
        return put_index(b, to, row[bit / 8] >> shift & ((1u << b->bits) - 1), err);
    }
    const size_t bytes = b->bits / 8;
    const uint32_t pixel = (uint32_t)ln_little_endian_get(row + x * bytes, bytes);
    for (int c = 0; c < 3; c++)
        to[c] = masked(pixel, b->masks[c]);
    return 0;
}

static int read_rows(const bmp *b, ln_image *image, ln_error *err)
{
    const size_t stride = (b->width * b->bits + 31) / 32 * 4;
    for (size_t y = 0; y < b->height; y++) {
        uint8_t *const to = row_of(b, image, y);
        for (size_t x = 0; x < b->width; x++)
            if (put_pixel(b, b->data + b->pixels + y * stride, x, to + 3 * x, err))
                return -1;
    }
    return 0;
}

// Runs

// A run is a count and an index, or two that alternate, of 4 bits each. A count of 0 is an escape:
// 0 ends a row, 1 the image, 2 moves by the next two bytes, and N from 3 on precedes N indices,
// padded to 2 bytes. Pixels that none of these set have index 0.

typedef struct runs {
    const bmp *b;
    ln_image *image;
    size_t at;   // the next byte
    size_t x, y; // the next pixel
} runs;

// Index `i` of those packed from `from` on; of two in a byte, the upper 4 bits are the first.
static size_t index_at(const bmp *b, const uint8_t *from, size_t i)
{
    return b->bits == 8 ? from[i] : from[i / 2] >> (i % 2 ? 0 : 4) & 15;
}

static int put_run(runs *r, const uint8_t *from, size_t n, int is_repeated, ln_error *err)
{
    if (r->y >= r->b->height || n > r->b->width - r->x)
        return ln_error_set(err, "a run of %zu pixels ends outside its row", n);
    for (size_t i = 0; i < n; i++, r->x++) {
        const size_t index = index_at(r->b, from, !is_repeated ? i : r->b->bits == 8 ? 0 : i % 2);
        if (put_index(r->b, row_of(r->b, r->image, r->y) + 3 * r->x, index, err))
            return -1;
    }
    return 0;
}

static int move(runs *r, ln_error *err)
{
    const bmp *const b = r->b;
    if (r->at + 2 > b->size)
        return ln_error_set(err, "the file ends within its pixels");
    r->x += b->data[r->at];
    r->y += b->data[r->at + 1];
    r->at += 2;
    return r->x > b->width || r->y >= b->height ? ln_error_set(err, "a move leaves the image") : 0;
}

static int put_indices(runs *r, size_t n, ln_error *err)
{
    const size_t bytes = r->b->bits == 8 ? n : (n + 1) / 2;
    if (bytes > r->b->size - r->at)
        return ln_error_set(err, "the file ends within its pixels");
    if (put_run(r, r->b->data + r->at, n, 0, err))
        return -1;
    r->at += (bytes + 1) / 2 * 2;
    return 0;
}

// Returns 0; 1: the image ends; -1: with a reason.
static int read_run(runs *r, ln_error *err)
{
    const bmp *const b = r->b;
    if (r->at + 2 > b->size)
        return ln_error_set(err, "the file ends within its pixels");
    const uint8_t count = b->data[r->at];
    const uint8_t *const value = b->data + r->at + 1;
    r->at += 2;
    if (count)
        return put_run(r, value, count, 1, err);
    if (*value == 0) {
        r->x = 0;
        r->y++;
    }
    return *value < 2 ? *value : *value == 2 ? move(r, err) : put_indices(r, *value, err);
}

static int read_runs(const bmp *b, ln_image *image, ln_error *err)
{
    runs r = {.b = b, .image = image, .at = b->pixels};
    int status = 0;
    for (size_t i = 0; i < b->width * b->height; i++)
        if (put_index(b, image->pixels + 3 * i, 0, err))
            return -1;
    while (!status)
        status = read_run(&r, err);
    return status < 0 ? -1 : 0;
}

// All of it

// Rejects a size that the rest of the file cannot fill: a run is two bytes for up to 255 pixels.
static int check_size(const bmp *b, ln_error *err)
{
    const uint64_t available = b->size - b->pixels, row = ((uint64_t)b->width * b->bits + 7) / 8;
    const uint64_t stride = (row + 3) / 4 * 4;
    const int is_rle = b->compression == RLE8 || b->compression == RLE4;
    const int fits = is_rle ? (uint64_t)b->width * b->height / 128 <= available
                            : row <= available && (available - row) / stride >= b->height - 1;
    return fits ? 0
                : ln_error_set(err, "%zu bytes of pixels are too few for %zu x %zu",
                               b->size - b->pixels, b->width, b->height);
}

int ln_image_decode_bmp(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    bmp b = {.data = data, .size = size};
    if (size < FILE_HEADER + CORE)
        return ln_error_set(err, "the file ends within its header");
    if (read_header(&b, err) || check_size(&b, err) ||
        ln_image_alloc(image, b.height, b.width, 3, err))
        return -1;
    return b.compression == RLE8 || b.compression == RLE4 ? read_runs(&b, image, err)
                                                          : read_rows(&b, image, err);
}
