// SPDX-License-Identifier: Apache-2.0
// Tests of resizing images, and of writing them. tests/photos.py compares with formulas.

#include "data/ln_image_resize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ln_data_check.h"
#include "ln_check.h"

// Axes

START_TEST(fits_round_as_their_sources)
{
    static const struct {
        ln_image_fit fit;
        double share;
        int in[2], out[2], size[2], offset[2];
    } cases[] = {
        {LN_IMAGE_STRETCH, 0, {480, 640}, {224, 224}, {224, 224}, {0, 0}},
        // torchvision: Resize(256), CenterCrop(224); 256 * 640 / 480 = 341.3; 117 / 2 is 58.
        {LN_IMAGE_CROP, 0.875, {480, 640}, {224, 224}, {256, 341}, {16, 58}},
        {LN_IMAGE_CROP, 0.875, {640, 480}, {224, 224}, {341, 256}, {58, 16}},
        {LN_IMAGE_CROP, 0, {480, 640}, {224, 224}, {224, 298}, {0, 37}},
        {LN_IMAGE_CROP, 1, {100, 103}, {100, 100}, {100, 103}, {0, 2}}, // 1.5 is 2, as 2.5
        {LN_IMAGE_CROP, 1, {100, 105}, {100, 100}, {100, 105}, {0, 2}},
        {LN_IMAGE_CROP, 1, {1, 1 << 28}, {8, 8}, {8, INT32_MAX}, {0, 1073741820}},
        // Ultralytics: 640 * 427 / 640 = 427, (640 - 427) / 2 - 0.1 is 106.
        {LN_IMAGE_LETTERBOX, 0, {427, 640}, {640, 640}, {427, 640}, {-106, 0}},
        {LN_IMAGE_LETTERBOX, 0, {640, 427}, {320, 640}, {320, 214}, {0, -213}},
        {LN_IMAGE_LETTERBOX, 0, {641, 1280}, {640, 640}, {320, 640}, {-160, 0}}, // 320.5 is 320
        {LN_IMAGE_LETTERBOX, 0, {1 << 28, 1}, {8, 8}, {8, 1}, {0, -3}},
        // YOLOX: int(427 * 416 / 640), which is 277.55.
        {LN_IMAGE_PAD, 0, {427, 640}, {416, 416}, {277, 416}, {0, 0}},
        {LN_IMAGE_PAD, 0, {640, 427}, {640, 640}, {640, 427}, {0, 0}},
        {LN_IMAGE_PAD, 0, {1 << 28, 1}, {8, 8}, {8, 1}, {0, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ln_image_format format = {.fit = cases[i].fit, .share = cases[i].share};
        ln_image_axis axes[2];
        ln_image_axes(&format, cases[i].in[0], cases[i].in[1], cases[i].out[0], cases[i].out[1],
                      axes);
        for (int k = 0; k < 2; k++) {
            ck_assert_int_eq(axes[k].size, cases[i].size[k]);
            ck_assert_int_eq(axes[k].offset, cases[i].offset[k]);
        }
    }
}
END_TEST

// Weights

START_TEST(the_filter_is_as_wide_as_an_element)
{
    // 4 samples to 2: element 0 has its center at 1, between samples 0 and 1 (at 0.5 and 1.5), and
    // reaches 2 to each side: 3/4, 3/4, 1/4 of a sum of 7/4.
    const ln_image_axis axis = {.in = 4, .size = 2, .out = 2};
    ln_image_taps taps;
    ck_assert_int_eq(ln_image_taps_init(&taps, &axis, LN_IMAGE_ANTIALIAS, NULL), 0);
    ck_assert_int_eq(taps.spans[0].first, 0);
    ck_assert_int_eq(taps.spans[0].n, 3);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq_tol(taps.spans[0].weights[i], (i < 2 ? 3 : 1) / 7.0, 1e-15);
    ln_image_taps_free(&taps);
    ck_assert_int_eq(ln_image_taps_init(&taps, &axis, LN_IMAGE_LINEAR, NULL), 0);
    ck_assert_int_eq(taps.spans[0].n, 2);
    ck_assert_double_eq(taps.spans[0].weights[0], 0.5);
    ln_image_taps_free(&taps);
}
END_TEST

START_TEST(elements_outside_the_image_have_no_samples)
{
    const ln_image_axis axis = {.in = 3, .size = 3, .offset = -1, .out = 5};
    ln_image_taps taps;
    ck_assert_int_eq(ln_image_taps_init(&taps, &axis, LN_IMAGE_BICUBIC, NULL), 0);
    ck_assert_int_eq(taps.spans[0].n, 0);
    ck_assert_int_eq(taps.spans[4].n, 0);
    for (int i = 1; i < 4; i++) // an image that keeps its size is exact
        for (int k = 0; k < taps.spans[i].n; k++)
            ck_assert_double_eq(taps.spans[i].weights[k], taps.spans[i].first + k == i - 1);
    ln_image_taps_free(&taps);
}
END_TEST

// Writing

static uint8_t grey_pixels[] = {0, 100, 200, 255};
static uint8_t colour_pixels[] = {1, 2, 3, 40, 50, 60, 255, 0, 255, 9, 8, 7};

START_TEST(a_written_image_is_read_again)
{
    static const struct {
        const char *file;
        int channels;
        double tolerance;
    } cases[] = {
        {"grey.pgm", 1, 0}, {"colour.ppm", 3, 0},
#ifdef LN_HAVE_PNG
        {"grey.png", 1, 0}, {"colour.png", 3, 0},
#endif
#ifdef LN_HAVE_JPEG
        {"grey.jpg", 1, 8}, {"grey.jpeg", 1, 8},
#endif
    };
    char folder[64];
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        const int channels = cases[i].channels;
        const ln_image image = {.height = 2,
                                .width = 2,
                                .channels = channels,
                                .pixels = channels == 1 ? grey_pixels : colour_pixels};
        ln_image again;
        ck_assert_msg(!ln_image_write(cases[i].file, &image, &err), "%s", ln_error_text(&err));
        ck_assert_msg(!ln_image_decode(cases[i].file, &again, &err), "%s", ln_error_text(&err));
        ck_assert_int_eq(again.height, 2);
        ck_assert_int_eq(again.width, 2);
        ck_assert_int_eq(again.channels, channels);
        for (int k = 0; k < 4 * channels; k++)
            ck_assert_double_eq_tol(again.pixels[k], image.pixels[k], cases[i].tolerance + 0.5);
        ln_image_free(&again);
    }
    leave_folder(folder);
}
END_TEST

START_TEST(an_image_that_cannot_be_written_gives_its_reason)
{
    static const struct {
        const char *file, *message;
    } cases[] = {
        {"out.bmp", "out.bmp: unknown suffix, expected .png, .jpg, .jpeg, .pgm or .ppm"},
        {".ppm", ".ppm: unknown suffix, expected .png, .jpg, .jpeg, .pgm or .ppm"},
        {"out.pgm", "out.pgm: the image has 3 channels, expected 1"},
        {"none/out.ppm", "none/out.ppm: cannot write: No such file or directory"},
    };
    const ln_image image = {.height = 2, .width = 2, .channels = 3, .pixels = colour_pixels};
    char folder[64];
    enter_new_folder(folder);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ln_error err = {0};
        ck_assert_int_eq(ln_image_write(cases[i].file, &image, &err), -1);
        ck_assert_str_eq(ln_error_text(&err), cases[i].message);
    }
    leave_folder(folder);
}
END_TEST

LN_TEST_MAIN("resized images", fits_round_as_their_sources, the_filter_is_as_wide_as_an_element,
             elements_outside_the_image_have_no_samples, a_written_image_is_read_again,
             an_image_that_cannot_be_written_gives_its_reason)
