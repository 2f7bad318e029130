// SPDX-License-Identifier: Apache-2.0
// JPEG images, by libjpeg, and their orientation in Exif data.

#include <string.h>

#include "data/ln_image_codec.h"
#include "lightnet/ln_util.h"

// Exif

// An Exif segment is "Exif", two zero bytes, and a TIFF file: the byte order, the offset of its
// first directory, and there a count of entries of 12 bytes: tag, type, count and value.

enum { ORIENTATION = 0x0112, SHORT = 3, ENTRY = 12, HEADER = 8 };

// The TIFF file.
typedef struct tiff {
    const uint8_t *data;
    size_t size;
    int is_big_endian;
} tiff;

// `n` bytes as a number; 0 where the file ends before them.
static uint32_t number(const tiff *t, size_t at, size_t n)
{
    uint32_t value = 0;
    if (at > t->size || n > t->size - at)
        return 0;
    for (size_t i = 0; i < n; i++)
        value = value << 8 | t->data[at + (t->is_big_endian ? i : n - 1 - i)];
    return value;
}

static int orientation_of_entry(const tiff *t, size_t at)
{
    const int is_orientation = number(t, at, 2) == ORIENTATION && number(t, at + 2, 2) == SHORT &&
                               number(t, at + 4, 4) == 1;
    const uint32_t value = is_orientation ? number(t, at + 8, 2) : 0;
    return value <= 8 ? (int)value : 0;
}

int ln_exif_orientation(const uint8_t *data, size_t size)
{
    static const char mark[] = "Exif\0"; // and the zero byte that ends it
    if (size < sizeof(mark) + HEADER || memcmp(data, mark, sizeof(mark)))
        return 0;
    tiff t = {.data = data + sizeof(mark), .size = size - sizeof(mark)};
    t.is_big_endian = !memcmp(t.data, "MM", 2);
    if ((!t.is_big_endian && memcmp(t.data, "II", 2)) || number(&t, 2, 2) != 42)
        return 0;
    const size_t directory = number(&t, 4, 4), n = number(&t, directory, 2);
    for (size_t i = 0; i < n && directory + 2 + (i + 1) * ENTRY <= t.size; i++) {
        const int orientation = orientation_of_entry(&t, directory + 2 + i * ENTRY);
        if (orientation)
            return orientation;
    }
    return 0;
}

// Transforms of images by orientation: rows or columns reversed, then both swapped.
static const struct turn {
    int reverses_rows, reverses_columns, swaps;
} turns[] = {
    [2] = {0, 1, 0}, // mirrored
    [3] = {1, 1, 0}, // upside down
    [4] = {1, 0, 0}, // mirrored upside down
    [5] = {0, 0, 1}, // mirrored along the diagonal
    [6] = {1, 0, 1}, // to be turned right
    [7] = {1, 1, 1}, // mirrored along the other diagonal
    [8] = {0, 1, 1}, // to be turned left
};

static void copy_turned(ln_image *to, const ln_image *from, const struct turn *turn)
{
    const size_t pixel = (size_t)from->channels;
    uint8_t *out = to->pixels;
    for (int y = 0; y < to->height; y++) {
        for (int x = 0; x < to->width; x++, out += pixel) {
            int row = turn->swaps ? x : y, column = turn->swaps ? y : x;
            row = turn->reverses_rows ? from->height - 1 - row : row;
            column = turn->reverses_columns ? from->width - 1 - column : column;
            memcpy(out, from->pixels + ((size_t)row * (size_t)from->width + (size_t)column) * pixel,
                   pixel);
        }
    }
}

int ln_exif_orient(ln_image *image, int orientation, ln_error *err)
{
    if (orientation < 2 || orientation > 8)
        return 0;
    const struct turn *turn = &turns[orientation];
    const size_t height = (size_t)(turn->swaps ? image->width : image->height);
    const size_t width = (size_t)(turn->swaps ? image->height : image->width);
    ln_image turned;
    if (ln_image_alloc(&turned, height, width, image->channels, err))
        return -1;
    copy_turned(&turned, image, turn);
    ln_free(image->pixels);
    *image = turned;
    return 0;
}

// JPEG

// libjpeg reports errors by longjmp. Truncated or damaged data, about which it only warns, is an
// error here, too.

#ifdef LN_HAVE_JPEG

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct failure {
    struct jpeg_error_mgr manager; // first, so that the library's pointer to it is one to this
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
} failure;

static void fail(j_common_ptr info)
{
    failure *f = (failure *)info->err;
    info->err->format_message(info, f->text);
    longjmp(f->back, 1);
}

// Level -1 is a warning: the data are damaged. Others are trace messages.
static void handle_message(j_common_ptr info, int level)
{
    if (level < 0)
        fail(info);
}

// Converts CMYK, in which 255 is full ink; after Adobe's marker (is_inverted), 255 is no ink.
static void convert_cmyk(const uint8_t *cmyk, int width, int is_inverted, uint8_t *rgb)
{
    const int flip = is_inverted ? 0 : 255;
    for (int x = 0; x < width; x++, cmyk += 4)
        for (int c = 0; c < 3; c++)
            *rgb++ = (uint8_t)(((cmyk[c] ^ flip) * (cmyk[3] ^ flip) + 127) / 255);
}

static void read_rows(struct jpeg_decompress_struct *info, ln_image *image)
{
    const size_t stride = (size_t)image->width * (size_t)image->channels;
    const int is_cmyk = info->out_color_space == JCS_CMYK;
    // libjpeg frees it, also after a failure.
    JSAMPROW line =
        is_cmyk ? info->mem->alloc_large((j_common_ptr)info, JPOOL_IMAGE, 4 * (size_t)image->width)
                : NULL;
    while (info->output_scanline < info->output_height) {
        uint8_t *const to = image->pixels + info->output_scanline * stride;
        JSAMPROW row = is_cmyk ? line : to;
        jpeg_read_scanlines(info, &row, 1);
        if (is_cmyk)
            convert_cmyk(line, image->width, info->saw_Adobe_marker, to);
    }
}

static J_COLOR_SPACE space_of(const struct jpeg_decompress_struct *info)
{
    switch (info->jpeg_color_space) {
    case JCS_GRAYSCALE:
        return JCS_GRAYSCALE;
    case JCS_CMYK:
    case JCS_YCCK:
        return JCS_CMYK; // libjpeg does not convert these to RGB
    default:
        return JCS_RGB;
    }
}

// The marker of Exif segments, and the max length of a segment.
enum { APP1 = JPEG_APP0 + 1, MAX_SEGMENT = 0xffff };

// The first orientation in the file; 0: none.
static int find_orientation(const struct jpeg_decompress_struct *info)
{
    int orientation = 0;
    for (jpeg_saved_marker_ptr m = info->marker_list; m && !orientation; m = m->next)
        orientation = m->marker == APP1 ? ln_exif_orientation(m->data, m->data_length) : 0;
    return orientation;
}

int ln_image_decode_jpeg(const uint8_t *data, size_t size, ln_image *image, ln_error *err)
{
    struct jpeg_decompress_struct info;
    failure f;
    info.err = jpeg_std_error(&f.manager);
    f.manager.error_exit = fail;
    f.manager.emit_message = handle_message;
    if (setjmp(f.back)) {
        jpeg_destroy_decompress(&info);
        return ln_error_set(err, "%s", f.text);
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, data, size);
    jpeg_save_markers(&info, APP1, MAX_SEGMENT);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = space_of(&info);
    const int channels = info.out_color_space == JCS_GRAYSCALE ? 1 : 3;
    if (ln_image_alloc(image, info.image_height, info.image_width, channels, err)) {
        jpeg_destroy_decompress(&info);
        return -1;
    }
    jpeg_start_decompress(&info);
    read_rows(&info, image);
    const int orientation = find_orientation(&info); // before the markers are freed
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return ln_exif_orient(image, orientation, err);
}

// 90 of 100, beyond which files grow faster than they improve.
enum { QUALITY = 90 };

static void write_rows(struct jpeg_compress_struct *info, const ln_image *image)
{
    const size_t stride = (size_t)image->width * (size_t)image->channels;
    while (info->next_scanline < info->image_height) {
        JSAMPROW row = image->pixels + info->next_scanline * stride;
        jpeg_write_scanlines(info, &row, 1);
    }
}

int ln_image_encode_jpeg(FILE *stream, const ln_image *image, ln_error *err)
{
    struct jpeg_compress_struct info;
    failure f;
    info.err = jpeg_std_error(&f.manager);
    f.manager.error_exit = fail;
    f.manager.emit_message = handle_message;
    if (setjmp(f.back)) {
        jpeg_destroy_compress(&info);
        return ln_error_set(err, "%s", f.text);
    }
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, stream);
    info.image_width = (JDIMENSION)image->width;
    info.image_height = (JDIMENSION)image->height;
    info.input_components = image->channels;
    info.in_color_space = image->channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, QUALITY, TRUE);
    jpeg_start_compress(&info, TRUE);
    write_rows(&info, image);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return 0;
}

#endif
