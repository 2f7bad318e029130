// SPDX-License-Identifier: Apache-2.0
// Tests of images as inputs.

#include "lightnet/ln_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lightnet/ln_data.h"
#include "lightnet/ln_input.h"
#include "lightnet/ln_util.h"
#include "ln_check.h"
#include "tensorlight/tl_tensor.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"

static const ln_image_format plain = {.scale = {1, 1, 1}};

// Writes `size` bytes to a temporary file of that suffix; its name is valid until the next call.
static const char *write_file(const char *suffix, const void *data, size_t size)
{
    static char name[64];
    snprintf(name, sizeof(name), "ln_image_XXXXXX%s", suffix);
    const int fd = mkstemps(name, (int)strlen(suffix));
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, size), (ssize_t)size);
    close(fd);
    return name;
}

static tl_tensor *like(int ndim, const int *dims, tl_dtype dtype)
{
    tl_tensor *t = tl_tensor_create(NULL, ndim, dims, dtype);
    ck_assert_ptr_nonnull(t);
    return t;
}

// Reads the text of an image into a float tensor of `dims`, which must be `n` numbers.
static void check_pixels(const char *text, const int dims[4], const ln_image_format *format, int n,
                         const float *expected)
{
    ln_error err = {0};
    tl_tensor *shape = like(4, dims, TL_FLOAT);
    const char *file = write_file(".pnm", text, strlen(text));
    tl_tensor *t = ln_image_read(file, shape, format, &err);
    unlink(file);
    ck_assert_msg(t != NULL, "%s", ln_error_text(&err));
    ck_assert_int_eq(t->len, n);
    for (int i = 0; i < n; i++)
        ck_assert_float_eq_tol(((float *)t->data)[i], expected[i], 1e-4f);
    tl_tensor_free_data_too(t);
    tl_tensor_free(shape);
}

START_TEST(an_image_of_the_right_size_passes_exactly)
{
    const float expected[] = {0, 10, 20, 250, 251, 255};
    check_pixels("P2 # comment\n3 2\n255\n0 10 20\n250 251 255\n", (int[]){1, 1, 2, 3}, &plain, 6,
                 expected);
}
END_TEST

START_TEST(colour_is_split_into_planes_or_stays_interleaved)
{
    const char text[] = "P3 2 1 255 1 2 3 4 5 6";
    const ln_image_format nhwc = {.nhwc = 1, .scale = {1, 1, 1}};
    const ln_image_format bgr = {.bgr = 1, .scale = {1, 1, 1}};
    check_pixels(text, (int[]){1, 3, 1, 2}, &plain, 6, (float[]){1, 4, 2, 5, 3, 6});
    check_pixels(text, (int[]){1, 1, 2, 3}, &nhwc, 6, (float[]){1, 2, 3, 4, 5, 6});
    check_pixels(text, (int[]){1, 3, 1, 2}, &bgr, 6, (float[]){3, 6, 2, 5, 1, 4});
}
END_TEST

START_TEST(mean_and_scale_apply_to_each_channel)
{
    const ln_image_format format = {.mean = {1, 2, 3}, .scale = {1, 10, 0.5}};
    check_pixels("P3 1 1 255 11 22 33", (int[]){1, 3, 1, 1}, &format, 3, (float[]){10, 200, 15});
}
END_TEST

START_TEST(colour_becomes_grey_by_luma_and_grey_becomes_colour)
{
    check_pixels("P3 1 1 255 100 200 50", (int[]){1, 1, 1, 1}, &plain, 1,
                 (float[]){0.299f * 100 + 0.587f * 200 + 0.114f * 50});
    check_pixels("P2 1 1 255 7", (int[]){1, 3, 1, 1}, &plain, 3, (float[]){7, 7, 7});
}
END_TEST

START_TEST(pixels_of_an_integer_tensor_are_rounded)
{
    static const struct {
        const char *text;
        double mean;
        uint8_t expected[4];
    } cases[] = {
        {"P3 4 1 255 1 1 1 2 2 2 3 3 3 255 255 255", 0, {1, 2, 3, 255}},
        {"P2 2 1 255 1 3", 0, {1, 2, 3, 3}},
        {"P2 4 1 255 0 1 2 255", 1.25, {0, 0, 1, 254}},
    };
    tl_tensor *shape = like(4, (int[]){1, 1, 1, 4}, TL_UINT8);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ln_image_format format = {.mean = {cases[i].mean}, .scale = {1}};
        ln_error err = {0};
        const char *file = write_file(".pnm", cases[i].text, strlen(cases[i].text));
        tl_tensor *t = ln_image_read(file, shape, &format, &err);
        unlink(file);
        ck_assert_msg(t != NULL, "%s", ln_error_text(&err));
        ck_assert_mem_eq(t->data, cases[i].expected, 4);
        tl_tensor_free_data_too(t);
    }
    tl_tensor_free(shape);
}
END_TEST

START_TEST(resizing_interpolates_between_pixel_centres)
{
    check_pixels("P2 2 1 255 0 10", (int[]){1, 1, 1, 4}, &plain, 4, (float[]){0, 2.5f, 7.5f, 10});
    check_pixels("P2 4 1 255 0 10 20 30", (int[]){1, 1, 1, 2}, &plain, 2, (float[]){5, 25});
}
END_TEST

START_TEST(sixteen_bit_samples_are_scaled_to_eight)
{
    const unsigned char text[] = "P5 2 1 65535 \xff\xff\x80\x00";
    const int dims[] = {1, 1, 1, 2};
    ln_error err = {0};
    tl_tensor *shape = like(4, dims, TL_UINT8);
    const char *file = write_file(".pgm", text, sizeof(text) - 1 - 0);
    tl_tensor *t = ln_image_read(file, shape, &plain, &err);
    unlink(file);
    ck_assert_msg(t != NULL, "%s", ln_error_text(&err));
    ck_assert_uint_eq(((uint8_t *)t->data)[0], 255);
    ck_assert_uint_eq(((uint8_t *)t->data)[1], 128);
    tl_tensor_free_data_too(t);
    tl_tensor_free(shape);
}
END_TEST

START_TEST(a_bad_image_gives_its_reason)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"P5 2 2 255 abc", "3 bytes of samples, expected at least 4"},
        {"P2 2 1 255 1", "2 bytes of samples, expected at least 4"},
        {"P2 2 1 255 111", "sample 1 of 2 is missing or not in 0 .. 255"},
        {"P2 2 1 255 1 256", "sample 1 of 2 is missing or not in 0 .. 255"},
        {"P5 0 2 255 ",
         "the header has width 0, height 2 and max 255, expected at least 1, max 65535"},
        {"P5 99999999 99999999 255 ", "0 bytes of samples, expected at least 9999999800000001"},
        {"P3 999999999 999999999 65535 ",
         "1 bytes of samples, expected at least 5999999988000000006"},
        {"GIF89a", "this is a GIF image, expected a png, jpg, webp, bmp, pgm or ppm image"},
        {"II*", "unknown format, expected a png, jpg, webp, bmp, pgm or ppm image"},
        {"", "the file is empty"},
    };
    tl_tensor *shape = like(4, (int[]){1, 1, 2, 2}, TL_FLOAT);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        char expected[256];
        const char *file = write_file(".pnm", cases[i].text, strlen(cases[i].text));
        ck_assert_ptr_null(ln_image_read(file, shape, &plain, &err));
        snprintf(expected, sizeof(expected), "%s: %s", file, cases[i].message);
        unlink(file);
        ck_assert_str_eq(ln_error_text(&err), expected);
    }
    tl_tensor_free(shape);
}
END_TEST

START_TEST(an_image_needs_a_tensor_of_its_kind)
{
    ln_error err = {0};
    tl_tensor *shape = like(2, (int[]){4, 4}, TL_FLOAT);
    char expected[256];
    const char *file = write_file(".pgm", "P5 1 1 255 a", 12);
    ck_assert_ptr_null(ln_image_read(file, shape, &plain, &err));
    unlink(file);
    snprintf(expected, sizeof(expected),
             "%s: an image cannot become a tensor of shape [4, 4], expected [1, C, H, W] with 1 or "
             "3 channels C",
             file);
    ck_assert_str_eq(ln_error_text(&err), expected);
    tl_tensor_free(shape);
}
END_TEST

#ifdef LN_HAVE_PNG
#include <png.h>

START_TEST(png_pixels_pass_exactly_and_damage_is_an_error)
{
    static const uint8_t pixels[] = {1, 2, 3, 40, 50, 60};
    uint8_t data[512];
    png_alloc_size_t size = sizeof(data);
    png_image png = {
        .version = PNG_IMAGE_VERSION, .width = 2, .height = 1, .format = PNG_FORMAT_RGB};
    ck_assert(png_image_write_to_memory(&png, data, &size, 0, pixels, 0, NULL));
    for (size_t len = 0; len <= size; len++) {
        ln_error err = {0};
        ln_image image;
        const char *file = write_file(".png", data, len);
        const int status = ln_image_decode(file, &image, &err);
        unlink(file);
        if (len == size) {
            ck_assert_int_eq(status, 0);
            ck_assert_mem_eq(image.pixels, pixels, sizeof(pixels));
        }
        ck_assert(len + 16 >= size || status == -1);
        if (!status)
            ln_image_free(&image);
    }
}
END_TEST

// 2 x 1 pixels, grey, 16 bits: 0x8080 and 0x1010.
static const uint8_t deep_png[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48,
    0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x10, 0x00, 0x00, 0x00,
    0x00, 0x81, 0xd9, 0xfc, 0x15, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x44, 0x41, 0x54, 0x78,
    0xda, 0x63, 0x68, 0x68, 0x10, 0x10, 0x00, 0x00, 0x03, 0xb5, 0x01, 0x21, 0x67, 0x01,
    0xb4, 0x70, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};

START_TEST(png_samples_of_16_bits_are_those_of_8_and_a_fraction)
{
    ln_error err = {0};
    ln_image image;
    const char *file = write_file(".png", deep_png, sizeof(deep_png));
    const int status = ln_image_decode(file, &image, &err);
    unlink(file);
    ck_assert_msg(!status, "%s", ln_error_text(&err));
    ck_assert_int_eq(image.channels, 1);
    ck_assert_uint_eq(image.pixels[0], 0x80);
    ck_assert_uint_eq(image.pixels[1], 0x10);
    ln_image_free(&image);
}
END_TEST
#define PNG_TESTS                                   \
    png_pixels_pass_exactly_and_damage_is_an_error, \
        png_samples_of_16_bits_are_those_of_8_and_a_fraction,
#else
#define PNG_TESTS
#endif

#ifdef LN_HAVE_JPEG
#include <jpeglib.h>

// The brightness of four blocks of 8 x 8 pixels.
static const uint8_t quarters[] = {40, 100, 160, 220};

// Those blocks, two beside two, and an Exif segment of `size` bytes, if it is not 0.
static size_t write_jpeg(unsigned char **data, const char *exif, size_t exif_size)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr manager;
    unsigned long size = 0;
    uint8_t row[16];
    JSAMPROW rows[] = {row};
    info.err = jpeg_std_error(&manager);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, data, &size);
    info.image_width = info.image_height = 16;
    info.input_components = 1;
    info.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&info);
    jpeg_start_compress(&info, TRUE);
    if (exif_size)
        jpeg_write_marker(&info, JPEG_APP0 + 1, (const JOCTET *)exif, (unsigned)exif_size);
    for (int i = 0; i < 16; i++) {
        memset(row, quarters[i / 8 * 2], 8);
        memset(row + 8, quarters[i / 8 * 2 + 1], 8);
        jpeg_write_scanlines(&info, rows, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return size;
}

START_TEST(jpeg_decodes_and_every_truncation_is_an_error)
{
    unsigned char *data = NULL;
    const size_t size = write_jpeg(&data, NULL, 0);
    for (size_t len = 0; len <= size; len++) {
        ln_error err = {0};
        ln_image image;
        const char *file = write_file(".jpg", data, len);
        const int status = ln_image_decode(file, &image, &err);
        unlink(file);
        ck_assert_int_eq(status, len == size ? 0 : -1);
        if (!status) {
            ck_assert_int_eq(image.channels, 1);
            ck_assert_int_eq(image.height, 16);
            ck_assert_uint_eq(image.pixels[100], quarters[0]);
            ln_image_free(&image);
        }
    }
    free(data);
}
END_TEST

START_TEST(jpeg_is_turned_as_its_exif_data_say)
{
    // Which block stands where, by orientation; the last is none.
    static const char *const turned[] = {"abcd", "abcd", "badc", "dcba", "cdab",
                                         "acbd", "cadb", "dbca", "bdac", "abcd"};
    enum { VALUE = 24 };
    char exif[] = "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0?\0\0\0\0\0\0";
    for (int orientation = 0; orientation < 10; orientation++) {
        unsigned char *data = NULL;
        ln_error err = {0};
        ln_image image;
        exif[VALUE] = (char)orientation;
        const size_t size = write_jpeg(&data, exif, sizeof(exif));
        const char *file = write_file(".jpg", data, size);
        ck_assert_msg(!ln_image_decode(file, &image, &err), "%s", ln_error_text(&err));
        unlink(file);
        for (int i = 0; i < 4; i++)
            ck_assert_uint_eq(image.pixels[(i / 2 * 8 + 4) * 16 + i % 2 * 8 + 4],
                              quarters[turned[orientation][i] - 'a']);
        ln_image_free(&image);
        free(data);
    }
}
END_TEST

// 8 x 8 pixels of one colour, as libjpeg gets them: cyan, magenta, yellow, black.
static size_t write_cmyk(unsigned char **data, const uint8_t *cmyk, J_COLOR_SPACE space,
                         int is_adobe)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr manager;
    unsigned long size = 0;
    uint8_t row[32];
    JSAMPROW rows[] = {row};
    info.err = jpeg_std_error(&manager);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, data, &size);
    info.image_width = info.image_height = 8;
    info.input_components = 4;
    info.in_color_space = JCS_CMYK;
    jpeg_set_defaults(&info);
    jpeg_set_colorspace(&info, space);
    jpeg_set_quality(&info, 100, TRUE);
    info.write_Adobe_marker = (boolean)is_adobe;
    jpeg_start_compress(&info, TRUE);
    for (int i = 0; i < 32; i++)
        row[i] = cmyk[i % 4];
    for (int i = 0; i < 8; i++)
        jpeg_write_scanlines(&info, rows, 1);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return size;
}

// Each colour reflects 1 - ink of its light, and black that share of all: (1 - C)(1 - K) is red.
START_TEST(jpeg_of_inks_becomes_red_green_and_blue)
{
    static const struct {
        uint8_t cmyk[4];
        J_COLOR_SPACE space;
        int is_adobe;
        int rgb[3];
    } cases[] = {
        {{0, 0, 0, 0}, JCS_CMYK, 0, {255, 255, 255}}, // no ink
        {{0, 255, 255, 0}, JCS_CMYK, 0, {255, 0, 0}}, // magenta and yellow
        {{51, 102, 0, 51}, JCS_CMYK, 0, {163, 122, 204}},
        {{255, 255, 255, 255}, JCS_CMYK, 1, {255, 255, 255}}, // Adobe's are inverted
        {{255, 0, 0, 255}, JCS_CMYK, 1, {255, 0, 0}},
        {{204, 153, 255, 204}, JCS_CMYK, 1, {163, 122, 204}},
        {{255, 0, 0, 255}, JCS_YCCK, 1, {255, 0, 0}},
        {{204, 153, 255, 204}, JCS_YCCK, 1, {163, 122, 204}},
        {{0, 255, 255, 0}, JCS_CMYK, 1, {0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned char *data = NULL;
        ln_error err = {0};
        ln_image image;
        const size_t size = write_cmyk(&data, cases[i].cmyk, cases[i].space, cases[i].is_adobe);
        const char *file = write_file(".jpg", data, size);
        ck_assert_msg(!ln_image_decode(file, &image, &err), "%s", ln_error_text(&err));
        unlink(file);
        ck_assert_int_eq(image.channels, 3);
        for (int k = 0; k < 8 * 8 * 3; k++)
            ck_assert_int_le(abs(image.pixels[k] - cases[i].rgb[k % 3]), 3);
        ln_image_free(&image);
        free(data);
    }
}
END_TEST
#define JPEG_TESTS                                                                      \
    jpeg_decodes_and_every_truncation_is_an_error, jpeg_is_turned_as_its_exif_data_say, \
        jpeg_of_inks_becomes_red_green_and_blue,
#else
#define JPEG_TESTS
#endif

#ifdef LN_HAVE_WEBP
#include <webp/encode.h>

enum { WEBP_WIDTH = 5, WEBP_HEIGHT = 3 };

static void check_webp(const uint8_t *data, size_t size, const uint8_t *expected)
{
    for (size_t len = 0; len <= size; len++) {
        ln_error err = {0};
        ln_image image;
        const char *file = write_file(".webp", data, len);
        const int status = ln_image_decode(file, &image, &err);
        unlink(file);
        ck_assert_msg(len < size || !status, "%s", ln_error_text(&err));
        if (status)
            continue;
        ck_assert(image.height == WEBP_HEIGHT && image.width == WEBP_WIDTH && image.channels == 3);
        ck_assert_mem_eq(image.pixels, expected, WEBP_HEIGHT * WEBP_WIDTH * 3);
        ln_image_free(&image);
    }
}

START_TEST(webp_pixels_pass_exactly_and_damage_is_an_error)
{
    uint8_t rgb[WEBP_HEIGHT * WEBP_WIDTH * 3], *data = NULL;
    for (size_t i = 0; i < sizeof(rgb); i++)
        rgb[i] = (uint8_t)(i * 37);
    const size_t size = WebPEncodeLosslessRGB(rgb, WEBP_WIDTH, WEBP_HEIGHT, 3 * WEBP_WIDTH, &data);
    ck_assert_uint_gt(size, 0);
    check_webp(data, size, rgb);
    WebPFree(data);
}
END_TEST

START_TEST(transparent_pixels_of_webp_are_drawn_on_black)
{
    uint8_t rgba[WEBP_HEIGHT * WEBP_WIDTH * 4], rgb[WEBP_HEIGHT * WEBP_WIDTH * 3], *data = NULL;
    for (size_t i = 0; i < sizeof(rgba); i++)
        rgba[i] = (uint8_t)(i % 4 < 3 ? 51 + i : i * 17); // not 0, which libwebp may change
    for (size_t i = 0; i < sizeof(rgb); i++)
        rgb[i] = (uint8_t)(rgba[i / 3 * 4 + i % 3] * rgba[i / 3 * 4 + 3] / 255.0 + 0.5);
    const size_t size =
        WebPEncodeLosslessRGBA(rgba, WEBP_WIDTH, WEBP_HEIGHT, 4 * WEBP_WIDTH, &data);
    ck_assert_uint_gt(size, 0);
    check_webp(data, size, rgb);
    WebPFree(data);
}
END_TEST
// Source: "WebP Container Specification" and "Specification for WebP Lossless Bitstream", of
// Google.
START_TEST(webp_headers_that_cannot_be_meant_are_errors)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *message;
    } cases[] = {
        // 16384 x 16384 pixels, lossless, in 5 bytes
        {"RIFF\x12\0\0\0WEBPVP8L\5\0\0\0\x2f\xff\xff\xff\x0f\0", 26,
         "16384 x 16384 pixels: the image is empty or too large"},
        // 1 x 1 pixel, with the bit of an animation
        {"RIFF\x1e\0\0\0WEBPVP8X\n\0\0\0\2\0\0\0\0\0\0\0\0\0ANIM\0\0\0\0", 38,
         "the image is animated, expected a still one"},
        {"RIFF\x16\0\0\0WEBPVP8 \n\0\0\0\0\0\0\0\0\0\0\0\0\0", 30, "the data are damaged"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        ln_image image;
        char expected[256];
        const char *file = write_file(".webp", cases[i].bytes, cases[i].size);
        ck_assert_int_eq(ln_image_decode(file, &image, &err), -1);
        unlink(file);
        snprintf(expected, sizeof(expected), "%s: %s", file, cases[i].message);
        ck_assert_str_eq(ln_error_text(&err), expected);
    }
}
END_TEST
#define WEBP_TESTS                                     \
    webp_pixels_pass_exactly_and_damage_is_an_error,   \
        transparent_pixels_of_webp_are_drawn_on_black, \
        webp_headers_that_cannot_be_meant_are_errors,
#else
#define WEBP_TESTS
#endif

START_TEST(an_input_is_raw_bytes_only_by_its_name)
{
    const float numbers[] = {1, 2, 3, 4};
    ln_error err = {0};
    char expected[256];
    tl_tensor *shape = like(1, (int[]){4}, TL_FLOAT);
    const char *file = write_file(".bin", numbers, sizeof(numbers));
    tl_tensor *t = ln_input_read(file, shape, &plain, &err);
    unlink(file);
    ck_assert_msg(t != NULL, "%s", ln_error_text(&err));
    ck_assert_mem_eq(t->data, numbers, sizeof(numbers));
    tl_tensor_free_data_too(t);
    file = write_file(".dat", numbers, sizeof(numbers));
    ck_assert_ptr_null(ln_input_read(file, shape, &plain, &err));
    snprintf(expected, sizeof(expected),
             "%s: unknown data format, expected npy, ONNX tensor, png, jpg, webp, bmp, pgm, ppm, "
             "or raw with "
             "a name ending in .bin",
             file);
    unlink(file);
    ck_assert_str_eq(ln_error_text(&err), expected);
    tl_tensor_free(shape);
}
END_TEST

START_TEST(an_input_may_come_through_a_pipe)
{
    static const char pgm[] = "P5 2 2 255 abcd";
    ln_error err = {0};
    int ends[2];
    char file[32];
    tl_tensor *shape = like(4, (int[]){1, 1, 2, 2}, TL_UINT8);
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], pgm, sizeof(pgm) - 1), sizeof(pgm) - 1);
    close(ends[1]);
    snprintf(file, sizeof(file), "/dev/fd/%d", ends[0]);
    tl_tensor *t = ln_input_read(file, shape, &plain, &err);
    close(ends[0]);
    ck_assert_msg(t != NULL, "%s", ln_error_text(&err));
    ck_assert_mem_eq(t->data, "abcd", 4);
    tl_tensor_free_data_too(t);
    tl_tensor_free(shape);
}
END_TEST

START_TEST(an_integer_that_only_saturation_would_bring_back_does_not_fit)
{
    static const struct {
        tl_dtype from, to;
        int64_t value;
        int fits;
    } cases[] = {
        {TL_INT64, TL_DOUBLE, INT64_MAX, 0}, {TL_INT64, TL_DOUBLE, INT64_MIN, 1},
        {TL_INT32, TL_FLOAT, INT32_MAX, 0},  {TL_INT32, TL_FLOAT, INT32_MIN, 1},
        {TL_INT32, TL_DOUBLE, INT32_MAX, 1}, {TL_INT64, TL_INT32, INT64_MAX, 0},
        {TL_INT64, TL_UINT64, INT64_MAX, 1}, {TL_INT64, TL_UINT64, -1, 0},
        {TL_INT32, TL_FLOAT16, 65520, 0},    {TL_UINT8, TL_BOOL, 1, 1},
        {TL_UINT8, TL_BOOL, 2, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        char expected[256];
        tl_tensor *number = tl_tensor_zeros(0, NULL, cases[i].from);
        tl_tensor *shape = like(0, NULL, cases[i].to);
        memcpy(number->data, &cases[i].value, tl_size_of(cases[i].from));
        const char *file = write_file(".npy", "", 0);
        ck_assert_int_eq(ln_npy_write(file, number, &err), 0);
        tl_tensor *t = ln_input_read(file, shape, &plain, &err);
        unlink(file);
        snprintf(expected, sizeof(expected),
                 "%s: the array has type %s, and element 0 does not fit %s", file,
                 tl_dtype_name(cases[i].from), tl_dtype_name(cases[i].to));
        ck_assert_int_eq(t != NULL, cases[i].fits);
        ck_assert_str_eq(ln_error_text(&err), t ? "" : expected);
        tl_tensor_free_data_too(t);
        tl_tensor_free_data_too(number);
        tl_tensor_free(shape);
    }
}
END_TEST

LN_TEST_MAIN("images", an_image_of_the_right_size_passes_exactly,
             colour_is_split_into_planes_or_stays_interleaved, mean_and_scale_apply_to_each_channel,
             colour_becomes_grey_by_luma_and_grey_becomes_colour,
             pixels_of_an_integer_tensor_are_rounded, resizing_interpolates_between_pixel_centres,
             sixteen_bit_samples_are_scaled_to_eight, a_bad_image_gives_its_reason,
             an_image_needs_a_tensor_of_its_kind,
             PNG_TESTS JPEG_TESTS WEBP_TESTS an_input_is_raw_bytes_only_by_its_name,
             an_input_may_come_through_a_pipe,
             an_integer_that_only_saturation_would_bring_back_does_not_fit)
