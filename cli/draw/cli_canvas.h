// SPDX-License-Identifier: Apache-2.0
// Drawing on an image: rectangles and text. Everything is clipped to the image.

#pragma once

#include <stdint.h>

#include "lightnet/ln_image.h"

typedef struct cli_rgb {
    uint8_t r, g, b;
} cli_rgb;

/** Width and height of a character at scale 1, with the space to the next one. */
enum { CLI_CELL_WIDTH = 6, CLI_CELL_HEIGHT = 9 };

/** The color of class `i` from 0, the same for i and i + 12. */
cli_rgb cli_canvas_color(int i);

/** The scale of text, and half the thickness of lines, for an image of this size: at least 1. */
int cli_canvas_scale(const ln_image *image);

/** Converts a grayscale image to three channels. -1: no memory; the image is unchanged. */
int cli_canvas_init(ln_image *image);

/** Mixes half of the color into a pixel, which is inside the image. */
void cli_canvas_blend(ln_image *image, int y, int x, cli_rgb color);

/** Fills the pixels x0 .. x1 - 1 of the rows y0 .. y1 - 1. */
void cli_canvas_fill(ln_image *image, int y0, int x0, int y1, int x1, cli_rgb color);

/** Draws a frame of that thickness inside the same rectangle. */
void cli_canvas_frame(ln_image *image, int y0, int x0, int y1, int x1, int thickness,
                      cli_rgb color);

/** Draws a line of squares of 2 * size pixels between two points inside the image. */
void cli_canvas_line(ln_image *image, int y0, int x0, int y1, int x1, int size, cli_rgb color);

/** Width in pixels of the text. */
int cli_canvas_text_width(const char *text, int scale);

/** Draws text in black or white on a rectangle of the color, whose upper left corner is (y, x).
 * Characters beyond ASCII are question marks. */
void cli_canvas_text(ln_image *image, int y, int x, int scale, const char *text, cli_rgb color);
