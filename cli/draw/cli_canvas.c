// SPDX-License-Identifier: Apache-2.0
// Drawing on an image: rectangles, and text in a font of 5 x 7 pixels.

#include "draw/cli_canvas.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lightnet/ln_util.h"

// Colors

cli_rgb cli_canvas_color(int i)
{
    static const cli_rgb colors[] = {
        {255, 64, 64},  {64, 200, 64},   {80, 140, 255}, {255, 200, 0},
        {220, 80, 220}, {0, 210, 210},   {255, 140, 40}, {160, 110, 255},
        {170, 220, 50}, {255, 120, 170}, {40, 160, 130}, {180, 130, 80},
    };
    return colors[(unsigned)i % (sizeof(colors) / sizeof(colors[0]))];
}

static cli_rgb contrast_of(cli_rgb c)
{
    const double luma = 0.299 * c.r + 0.587 * c.g + 0.114 * c.b;
    return luma > 127 ? (cli_rgb){0, 0, 0} : (cli_rgb){255, 255, 255};
}

// Pixels

int cli_canvas_scale(const ln_image *image)
{
    const int size = image->height < image->width ? image->height : image->width;
    return size < 480 ? 1 : size / 240;
}

int cli_canvas_init(ln_image *image)
{
    const size_t n = (size_t)image->height * (size_t)image->width;
    if (image->channels == 3)
        return 0;
    uint8_t *pixels = ln_alloc_array(n, 3);
    if (!pixels)
        return -1;
    for (size_t i = 0; i < n; i++)
        memset(pixels + 3 * i, image->pixels[i], 3);
    ln_image_free(image);
    image->pixels = pixels;
    image->channels = 3;
    return 0;
}

static uint8_t *pixel_at(const ln_image *image, int y, int x)
{
    return image->pixels + ((size_t)y * (size_t)image->width + (size_t)x) * 3;
}

static void set_pixel(uint8_t *pixel, cli_rgb color)
{
    pixel[0] = color.r;
    pixel[1] = color.g;
    pixel[2] = color.b;
}

void cli_canvas_blend(ln_image *image, int y, int x, cli_rgb color)
{
    uint8_t *p = pixel_at(image, y, x);
    set_pixel(p, (cli_rgb){(uint8_t)((p[0] + color.r) / 2), (uint8_t)((p[1] + color.g) / 2),
                           (uint8_t)((p[2] + color.b) / 2)});
}

static int clip(int v, int max)
{
    return v < 0 ? 0 : v > max ? max : v;
}

void cli_canvas_fill(ln_image *image, int y0, int x0, int y1, int x1, cli_rgb color)
{
    const int bottom = clip(y1, image->height), right = clip(x1, image->width);
    for (int y = clip(y0, image->height); y < bottom; y++)
        for (int x = clip(x0, image->width); x < right; x++)
            set_pixel(pixel_at(image, y, x), color);
}

void cli_canvas_frame(ln_image *image, int y0, int x0, int y1, int x1, int thickness, cli_rgb color)
{
    cli_canvas_fill(image, y0, x0, clip(y0 + thickness, y1), x1, color);
    cli_canvas_fill(image, y1 - thickness > y0 ? y1 - thickness : y0, x0, y1, x1, color);
    cli_canvas_fill(image, y0, x0, y1, clip(x0 + thickness, x1), color);
    cli_canvas_fill(image, y0, x1 - thickness > x0 ? x1 - thickness : x0, y1, x1, color);
}

void cli_canvas_line(ln_image *image, int y0, int x0, int y1, int x1, int size, cli_rgb color)
{
    const int height = abs(y1 - y0), width = abs(x1 - x0), n = height > width ? height : width;
    for (int i = 0; i <= n; i++) {
        const int y = n ? y0 + (int)((int64_t)(y1 - y0) * i / n) : y0;
        const int x = n ? x0 + (int)((int64_t)(x1 - x0) * i / n) : x0;
        cli_canvas_fill(image, y - size, x - size, y + size, x + size, color);
    }
}

// Text

enum { FONT_HEIGHT = 7, FONT_WIDTH = 5, FIRST = ' ', LAST = '~' };

// The characters from ' ' to '~'. Each digit is a row of five pixels, from the top: a number in
// base 32 (0 .. 9, A .. V) whose bit 16 is the left pixel. So A is " ### ", "#   #", "#   #", ..
static const char font[][FONT_HEIGHT + 1] = {
    "0000000", "4444404", "AAA0000", "AAVAVAA", "4FKE5U4", "OP248J3", "CIK8LID", "4480000",
    "2488842", "8422248", "04LEL40", "044V440", "0000448", "000E000", "00000CC", "01248G0",
    "EHJLPHE", "4C4444E", "EH1248V", "V2421HE", "26AIV22", "VGU11HE", "68GUHHE", "V124888",
    "EHHEHHE", "EHHF12C", "0CC0CC0", "0CC0C48", "248G842", "00V0V00", "8421248", "EH12404",
    "EH1DLLE", "EHHVHHH", "UHHUHHU", "EHGGGHE", "SIHHHIS", "VGGUGGV", "VGGUGGG", "EHGNHHF",
    "HHHVHHH", "E44444E", "72222IC", "HIKOKIH", "GGGGGGV", "HRLLHHH", "HHPLJHH", "EHHHHHE",
    "UHHUGGG", "EHHHLID", "UHHUKIH", "FGGE11U", "V444444", "HHHHHHE", "HHHHHA4", "HHHLLLA",
    "HHA4AHH", "HHHA444", "V1248GV", "E88888E", "0G84210", "E22222E", "4AH0000", "000000V",
    "8420000", "00E1FHF", "GGMPHHU", "00EHGHE", "11DJHHF", "00EHVGE", "698S888", "0FHHF1E",
    "GGMPHHH", "40C444E", "20622IC", "GGIKOKI", "C44444E", "00QLLHH", "00MPHHH", "00EHHHE",
    "00UHUGG", "00DJF11", "00MPGGG", "00EGE1U", "88S8896", "00HHHJD", "00HHHA4", "00HHLLA",
    "00HA4AH", "00HHF1E", "00V248V", "2448442", "4444444", "8442448", "008L200",
};

_Static_assert(sizeof(font) / sizeof(font[0]) == LAST - FIRST + 1, "a glyph for each character");

static unsigned row_of(char digit)
{
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'A' + 10);
}

// The next character of UTF-8 text, moved past it; 0 at the end.
static int next_character(const char **text)
{
    const unsigned char c = (unsigned char)**text;
    if (!c)
        return 0;
    ++*text;
    while (c >= 0xc0 && ((unsigned char)**text & 0xc0) == 0x80)
        ++*text;
    return c >= FIRST && c <= LAST ? c : '?';
}

int cli_canvas_text_width(const char *text, int scale)
{
    const int max = INT_MAX / CLI_CELL_WIDTH / scale - 1;
    int n = 0;
    while (n < max && next_character(&text))
        n++;
    return (n * CLI_CELL_WIDTH + 1) * scale;
}

static void draw_glyph(ln_image *image, int y, int x, int scale, const char *glyph, cli_rgb color)
{
    for (int i = 0; i < FONT_HEIGHT; i++)
        for (int j = 0; j < FONT_WIDTH; j++)
            if (row_of(glyph[i]) & 1u << (FONT_WIDTH - 1 - j))
                cli_canvas_fill(image, y + i * scale, x + j * scale, y + (i + 1) * scale,
                                x + (j + 1) * scale, color);
}

void cli_canvas_text(ln_image *image, int y, int x, int scale, const char *text, cli_rgb color)
{
    const cli_rgb ink = contrast_of(color);
    const int width = cli_canvas_text_width(text, scale);
    const int right = width < image->width - x ? x + width : image->width;
    cli_canvas_fill(image, y, x, y + CLI_CELL_HEIGHT * scale, right, color);
    for (int at = x + scale, c; at < right && (c = next_character(&text));
         at += CLI_CELL_WIDTH * scale)
        draw_glyph(image, y + scale, at, scale, font[c - FIRST], ink);
}
