// SPDX-License-Identifier: Apache-2.0
// Tests of the orientation of images: damaged segments, and each way to turn an image.

#include "data/ln_image_codec.h"

#include <string.h>

#include "base/ln_alloc_fail.h"
#include "lightnet/ln_util.h"

#include "ln_check.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

#define LITTLE(n)    "Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0" n "\0\0\0\0\0\0\0"
#define BIG(n)       "Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0" n "\0\0\0\0\0\0"
#define BYTES(bytes) bytes, sizeof(bytes) - 1

static const struct {
    const char *data;
    size_t size;
    int orientation;
} rows[] = {
    {BYTES(LITTLE("\1")), 1},
    {BYTES(LITTLE("\6")), 6},
    {BYTES(LITTLE("\x08")), 8},
    {BYTES(BIG("\1")), 1},
    {BYTES(BIG("\6")), 6},
    {BYTES(BIG("\x08")), 8},
    // the second entry, in a directory that is further on
    {BYTES("Exif\0\0II*\0\x0a\0\0\0\0\0\2\0\x0f\1\2\0\4\0\0\0abcd\x12\1\3\0\1\0\0\0\3\0\0\0"), 3},
    // no orientation, or one that there is not
    {BYTES(LITTLE("\0")), 0},
    {BYTES(LITTLE("\x09")), 0},
    {BYTES(BIG("\xff")), 0},
    {BYTES("Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0"), 0},
    // not of one short number
    {BYTES("Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\4\0\1\0\0\0\6\0\0\0"), 0},
    {BYTES("Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\2\0\0\0\6\0\0\0"), 0},
    // more entries than there is room for, a directory after the end, or far after it
    {BYTES("Exif\0\0II*\0\x08\0\0\0\xff\xff\x12\1\3\0\1\0\0\0\5\0\0\0"), 5},
    {BYTES("Exif\0\0II*\0\x08\0\0\0\xff\xff\x13\1\3\0\1\0\0\0\5\0\0\0"), 0},
    {BYTES("Exif\0\0II*\0\x1f\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0"), 0},
    {BYTES("Exif\0\0II*\0\xff\xff\xff\xff\1\0\x12\1\3\0\1\0\0\0\6\0\0\0"), 0},
    // other segments
    {BYTES("Exif\0\0IM*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0"), 0},
    {BYTES("Exif\0\0II+\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0"), 0},
    {BYTES("http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>"), 0},
    {BYTES(""), 0},
};

START_TEST(reads_the_orientation_from_a_segment)
{
    for (size_t i = 0; i < LEN(rows); i++) {
        const int got = ln_exif_orientation((const uint8_t *)rows[i].data, rows[i].size);
        ck_assert_msg(got == rows[i].orientation, "row %zu: got %d, expected %d", i, got,
                      rows[i].orientation);
    }
}
END_TEST

// Each in memory of its own size, so that sanitizers see what is read after it.
START_TEST(segment_that_is_cut_off_is_not_read_behind_its_end)
{
    for (size_t i = 0; i < LEN(rows); i++) {
        for (size_t size = 0; size < rows[i].size; size++) {
            uint8_t *copy = ln_clone(rows[i].data, size);
            const int got = ln_exif_orientation(copy, size);
            ck_assert_msg(got == 0 || got == rows[i].orientation, "row %zu, %zu bytes: got %d", i,
                          size, got);
            ln_free(copy);
        }
    }
}
END_TEST

// Two rows of three pixels: abc, def.
static ln_image letters(int channels)
{
    ln_image image = {.height = 2, .width = 3, .channels = channels};
    image.pixels = ln_alloc((size_t)(6 * channels));
    for (int i = 0; i < 6 * channels; i++)
        image.pixels[i] = (uint8_t)('a' + i / channels + (i % channels ? 0x80 : 0));
    return image;
}

START_TEST(image_is_turned_as_it_is_to_be_seen)
{
    static const struct {
        int orientation, height, width;
        const char *letters;
    } turned[] = {
        {0, 2, 3, "abcdef"}, {1, 2, 3, "abcdef"}, {2, 2, 3, "cbafed"}, {3, 2, 3, "fedcba"},
        {4, 2, 3, "defabc"}, {5, 3, 2, "adbecf"}, {6, 3, 2, "daebfc"}, {7, 3, 2, "fcebda"},
        {8, 3, 2, "cfbead"}, {9, 2, 3, "abcdef"},
    };
    for (size_t i = 0; i < LEN(turned); i++) {
        for (int channels = 1; channels <= 3; channels += 2) {
            ln_image image = letters(channels);
            ck_assert_int_eq(ln_exif_orient(&image, turned[i].orientation, NULL), 0);
            ck_assert_int_eq(image.height, turned[i].height);
            ck_assert_int_eq(image.width, turned[i].width);
            for (int k = 0; k < 6 * channels; k++)
                ck_assert_int_eq(image.pixels[k] & 0x7f, turned[i].letters[k / channels]);
            ln_image_free(&image);
        }
    }
}
END_TEST

START_TEST(image_without_memory_to_turn_it_stays)
{
    ln_error err;
    ln_error_clear(&err);
    ln_image image = letters(3);
    ln_alloc_fail_after(0);
    ck_assert_int_eq(ln_exif_orient(&image, 6, &err), -1);
    ck_assert(ln_alloc_fail_stop());
    ck_assert_str_eq(ln_error_text(&err), "out of memory for 2 x 3 pixels");
    ck_assert_int_eq(image.width, 3);
    ln_image_free(&image);
}
END_TEST

LN_TEST_MAIN("exif", reads_the_orientation_from_a_segment,
             segment_that_is_cut_off_is_not_read_behind_its_end,
             image_is_turned_as_it_is_to_be_seen, image_without_memory_to_turn_it_stays)
