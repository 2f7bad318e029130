// SPDX-License-Identifier: Apache-2.0
// Tests of BMP images: each number of bits and compression, and damaged files.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/ln_image_codec.h"
#include "ln_check.h"

enum { MAX = 4096 };

// A file that is written.
typedef struct file {
    uint8_t data[MAX];
    size_t size;
} file;

static void put(file *f, uint32_t value, int n)
{
    for (int i = 0; i < n; i++)
        f->data[f->size++] = (uint8_t)(value >> 8 * i);
}

static void put_bytes(file *f, const void *bytes, size_t n)
{
    memcpy(f->data + f->size, bytes, n);
    f->size += n;
}

// What a file has.
typedef struct content {
    int width, height;
    unsigned bits, compression, header; // header 0: 40 bytes
    const char *masks;
    size_t masks_size;
    const char *palette;
    size_t palette_size;
    unsigned n_colours; // 0: all
    const char *pixels;
    size_t pixels_size;
} content;

#define BYTES(name, text) .name = text, .name##_size = sizeof(text) - 1

static void write_content(file *f, const content *c)
{
    const unsigned header = c->header ? c->header : 40;
    *f = (file){.size = 0};
    put_bytes(f, "BM", 2);
    put(f, 0, 4); // the size of the file, which readers ignore
    put(f, 0, 4);
    put(f, (uint32_t)(14 + header + (header == 40 ? c->masks_size : 0) + c->palette_size), 4);
    put(f, header, 4);
    put(f, (uint32_t)c->width, header == 12 ? 2 : 4);
    put(f, (uint32_t)c->height, header == 12 ? 2 : 4);
    put(f, 1, 2);
    put(f, c->bits, 2);
    if (header > 12) {
        put(f, c->compression, 4);
        put(f, 0, 4);
        put(f, 2835, 4);
        put(f, 2835, 4);
        put(f, c->n_colours, 4);
        put(f, 0, 4);
    }
    put_bytes(f, c->masks ? c->masks : "", c->masks_size);
    while (f->size < 14 + header)
        put(f, 0, 1);
    put_bytes(f, c->palette ? c->palette : "", c->palette_size);
    put_bytes(f, c->pixels, c->pixels_size);
}

// Decodes a copy without a byte more, so that sanitizers see each access beyond it.
static int decode(const file *f, size_t size, ln_image *image, ln_error *err)
{
    uint8_t *const copy = malloc(size ? size : 1);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, f->data, size);
    *image = (ln_image){0};
    ln_error_clear(err);
    const int status = ln_image_decode_bmp(copy, size, image, err);
    free(copy);
    if (status)
        ln_image_free(image);
    return status;
}

// The image as text: each pixel is its red, green and blue in hexadecimal.
static void check(const content *c, const char *expected)
{
    file f;
    ln_image image;
    ln_error err;
    char text[MAX] = "";
    write_content(&f, c);
    ck_assert_msg(!decode(&f, f.size, &image, &err), "%s", ln_error_text(&err));
    ck_assert_int_eq(image.channels, 3);
    for (int i = 0; i < image.height * image.width; i++)
        sprintf(text + strlen(text), "%s%02x%02x%02x",
                i == 0                 ? ""
                : i % image.width == 0 ? "/"
                                       : " ",
                image.pixels[3 * i], image.pixels[3 * i + 1], image.pixels[3 * i + 2]);
    ck_assert_str_eq(text, expected);
    ln_image_free(&image);
}

#define BLUE_GREEN_RED "\xff\0\0\0\0\xff\0\0\0\0\xff\0"

START_TEST(every_number_of_bits_is_read)
{
    // 9 pixels of 1 bit: two bytes, padded to four.
    check(&(content){.width = 9,
                     .height = 1,
                     .bits = 1,
                     BYTES(palette, "\1\2\3\0\4\5\6\0"),
                     BYTES(pixels, "\x81\x80\0\0")},
          "060504 030201 030201 030201 030201 030201 030201 060504 060504");
    check(&(content){.width = 3,
                     .height = 1,
                     .bits = 4,
                     .n_colours = 3,
                     BYTES(palette, BLUE_GREEN_RED),
                     BYTES(pixels, "\x01\x20\0\0")},
          "0000ff 00ff00 ff0000");
    check(&(content){.width = 3,
                     .height = 1,
                     .bits = 8,
                     .n_colours = 3,
                     BYTES(palette, BLUE_GREEN_RED),
                     BYTES(pixels, "\2\0\1\0")},
          "ff0000 0000ff 00ff00");
    // 5 bits each: 31 is 255, and 16 is 16 / 31 of that.
    check(&(content){.width = 2, .height = 1, .bits = 16, BYTES(pixels, "\x1f\x7c\x10\0")},
          "ff00ff 000084");
    check(&(content){.width = 1, .height = 1, .bits = 24, BYTES(pixels, "\1\2\3\0")}, "030201");
    check(&(content){.width = 1, .height = 1, .bits = 32, BYTES(pixels, "\1\2\3\4")}, "030201");
}
END_TEST

START_TEST(rows_begin_at_the_bottom_unless_the_height_is_negative)
{
    check(&(content){.width = 1, .height = 2, .bits = 24, BYTES(pixels, "\1\1\1\0\2\2\2\0")},
          "020202/010101");
    check(&(content){.width = 1, .height = -2, .bits = 24, BYTES(pixels, "\1\1\1\0\2\2\2\0")},
          "010101/020202");
}
END_TEST

START_TEST(headers_of_every_version_are_read)
{
    check(&(content){.width = 1, .height = 1, .bits = 24, .header = 12, BYTES(pixels, "\1\2\3\0")},
          "030201");
    // Colours of the oldest header have three bytes.
    check(&(content){.width = 2,
                     .height = 1,
                     .bits = 1,
                     .header = 12,
                     BYTES(palette, "\1\2\3\4\5\6"),
                     BYTES(pixels, "\x40\0\0\0")},
          "030201 060504");
    static const unsigned headers[] = {52, 56, 64, 108, 124};
    for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
        check(&(content){.width = 1,
                         .height = 1,
                         .bits = 24,
                         .header = headers[i],
                         BYTES(pixels, "\1\2\3\0")},
              "030201");
}
END_TEST

START_TEST(masks_choose_the_bits_of_each_colour)
{
    // 5, 6 and 5 bits, after a header of 40 bytes and within one of 108.
    static const unsigned headers[] = {40, 108};
    for (size_t i = 0; i < 2; i++)
        check(&(content){.width = 2,
                         .height = 1,
                         .bits = 16,
                         .compression = 3,
                         .header = headers[i],
                         BYTES(masks, "\0\xf8\0\0\xe0\7\0\0\x1f\0\0\0"),
                         BYTES(pixels, "\0\xf8\xe0\7")},
              "ff0000 00ff00");
    // Red in the low byte; blue has no bits.
    check(&(content){.width = 1,
                     .height = 1,
                     .bits = 32,
                     .compression = 3,
                     BYTES(masks, "\xff\0\0\0\0\xff\0\0\0\0\0\0"),
                     BYTES(pixels, "\1\2\3\4")},
          "010200");
}
END_TEST

// The palette of indices i: red, green and blue are i.
static void gray_palette(char *palette)
{
    for (int i = 0; i < 256; i++)
        memset(palette + 4 * i, i, 3);
}

// The text of a row of gray levels, each of two digits; "..": not set, which is index 0.
static void check_gray(const content *c, const char *expected)
{
    file f;
    ln_image image;
    ln_error err;
    char text[MAX] = "";
    write_content(&f, c);
    ck_assert_msg(!decode(&f, f.size, &image, &err), "%s", ln_error_text(&err));
    for (int i = 0; i < image.height * image.width; i++)
        sprintf(text + strlen(text), "%s%02x", i && i % image.width == 0 ? "/" : "",
                image.pixels[3 * i]);
    ck_assert_str_eq(text, expected);
    ln_image_free(&image);
}

START_TEST(runs_are_those_of_the_example_in_the_specification)
{
    // Microsoft, "Bitmap Compression": both examples, which move by 5 pixels and a row.
    char palette[1024] = {0};
    gray_palette(palette);
    check_gray(&(content){.width = 20,
                          .height = 3,
                          .bits = 8,
                          .compression = 1,
                          .palette = palette,
                          .palette_size = sizeof(palette),
                          BYTES(pixels, "\3\4\5\6\0\3\x45\x56\x67\0\2\x78\0\2\5\1\2\x78\0\0\x9\x1e"
                                        "\0\1")},
               "1e1e1e1e1e1e1e1e1e0000000000000000000000/"
               "0000000000000000000000000000000000007878/"
               "0404040606060606455667787800000000000000");
    check_gray(&(content){.width = 27,
                          .height = 3,
                          .bits = 4,
                          .compression = 2,
                          .palette = palette,
                          .palette_size = 16 * 4,
                          BYTES(pixels, "\3\4\5\6\0\6\x45\x56\x67\0\4\x78\0\2\5\1\4\x78\0\0"
                                        "\x9\x1e\0\1")},
               "010e010e010e010e01000000000000000000000000000000000000/"
               "000000000000000000000000000000000000000000000007080708/"
               "000400000600060004050506060707080708000000000000000000");
}
END_TEST

START_TEST(damage_is_an_error)
{
    static const struct {
        content c;
        const char *message;
    } cases[] = {
        {{.width = 0, .height = 1, .bits = 24, BYTES(pixels, "\0\0\0\0")},
         "the image has 0 x 1 pixels, expected at least 1 x 1"},
        {{.width = -1, .height = 1, .bits = 24, BYTES(pixels, "\0\0\0\0")}, "-1 x 1 pixels"},
        {{.width = 1, .height = 0, .bits = 24, BYTES(pixels, "\0\0\0\0")}, "1 x 0 pixels"},
        {{.width = 1, .height = INT32_MIN, .bits = 24, BYTES(pixels, "\0\0\0\0")}, "too few"},
        {{.width = INT32_MAX, .height = INT32_MAX, .bits = 32, BYTES(pixels, "\0")}, "too few"},
        {{.width = 65535,
          .height = 65535,
          .bits = 8,
          .compression = 1,
          .n_colours = 1,
          BYTES(palette, "\0\0\0\0"),
          BYTES(pixels, "\0\1")},
         "too few"},
        {{.width = 1, .height = 1, .bits = 24, .header = 41, BYTES(pixels, "\0\0\0\0")},
         "the header has 41 bytes"},
        {{.width = 1, .height = 1, .bits = 2, BYTES(pixels, "\0\0\0\0")}, "2 bits"},
        {{.width = 1, .height = 1, .bits = 24, .compression = 4, BYTES(pixels, "\0\0\0\0")},
         "compression 4"},
        {{.width = 1, .height = 1, .bits = 4, .compression = 1, BYTES(pixels, "\0\0\0\0")},
         "compression 1"},
        {{.width = 1, .height = -1, .bits = 8, .compression = 1, BYTES(pixels, "\0\0\0\0")},
         "compression 1"},
        {{.width = 1, .height = 1, .bits = 8, .n_colours = 257, BYTES(pixels, "\0\0\0\0")},
         "257 colours"},
        {{.width = 1, .height = 1, .bits = 8, BYTES(pixels, "\0\0\0\0")}, "within its palette"},
        {{.width = 1,
          .height = 1,
          .bits = 8,
          .n_colours = 1,
          BYTES(palette, "\0\0\0\0"),
          BYTES(pixels, "\1\0\0\0")},
         "index 1 of a palette of 1"},
        {{.width = 1,
          .height = 1,
          .bits = 16,
          .compression = 3,
          BYTES(masks, "\5\0\0\0\0\0\0\0\0\0\0\0"),
          BYTES(pixels, "\0\0\0\0")},
         "has gaps"},
        {{.width = 2,
          .height = 1,
          .bits = 8,
          .compression = 1,
          .n_colours = 1,
          BYTES(palette, "\0\0\0\0"),
          BYTES(pixels, "\3\0\0\1")},
         "ends outside its row"},
        {{.width = 2,
          .height = 1,
          .bits = 8,
          .compression = 1,
          .n_colours = 1,
          BYTES(palette, "\0\0\0\0"),
          BYTES(pixels, "\0\2\0\1")},
         "a move leaves"},
        {{.width = 2,
          .height = 1,
          .bits = 8,
          .compression = 1,
          .n_colours = 1,
          BYTES(palette, "\0\0\0\0"),
          BYTES(pixels, "\2\0")},
         "within its pixels"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        file f;
        ln_image image;
        ln_error err;
        write_content(&f, &cases[i].c);
        ck_assert_msg(decode(&f, f.size, &image, &err) == -1, "case %zu is read", i);
        ck_assert_msg(strstr(ln_error_text(&err), cases[i].message) != NULL, "case %zu: %s", i,
                      ln_error_text(&err));
    }
}
END_TEST

START_TEST(every_truncation_is_an_error)
{
    char palette[1024] = {0};
    gray_palette(palette);
    const content contents[] = {
        {.width = 3, .height = 2, .bits = 24, BYTES(pixels, "abcdefghi\0\0\0abcdefghi")},
        {.width = 3,
         .height = 2,
         .bits = 8,
         .palette = palette,
         .palette_size = 1024,
         BYTES(pixels, "abc\0abc")},
        {.width = 6,
         .height = 2,
         .bits = 8,
         .compression = 1,
         .palette = palette,
         .palette_size = 1024,
         BYTES(pixels, "\3\1\0\3abc\0\0\0\5\7\0\1")},
    };
    for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
        file f;
        write_content(&f, &contents[i]);
        for (size_t size = 0; size <= f.size; size++) {
            ln_image image;
            ln_error err;
            const int status = decode(&f, size, &image, &err);
            ck_assert_msg(status == (size == f.size ? 0 : -1), "content %zu, %zu bytes: %d, %s", i,
                          size, status, ln_error_text(&err));
            if (!status)
                ln_image_free(&image);
        }
    }
}
END_TEST

LN_TEST_MAIN("bmp", every_number_of_bits_is_read,
             rows_begin_at_the_bottom_unless_the_height_is_negative,
             headers_of_every_version_are_read, masks_choose_the_bits_of_each_colour,
             runs_are_those_of_the_example_in_the_specification, damage_is_an_error,
             every_truncation_is_an_error)
