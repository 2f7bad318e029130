// SPDX-License-Identifier: Apache-2.0
// Images and a face detector, for the C programs of these examples.
//
// Functions return NULL, or the reason of a failure.

#ifndef IMAGING_H
#define IMAGING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <lightnet/ln_image.h>
#include <lightnet/ln_session.h>

enum { MAX_FACES = 64 };

/** Rows from the top, red, green and blue side by side. All zero: none. Free `rgb`. */
typedef struct image {
    int height;
    int width;
    unsigned char *rgb;
} image;

/** A box in pixels, its right and bottom inside, and a score of 0 to 1. */
typedef struct face {
    int left;
    int top;
    int right;
    int bottom;
    float score;
} face;

/** A model with the interface of UltraFace, and the result of the last detector_find. */
typedef struct detector {
    ln_model *model;
    ln_session *session;
    int height; // of its input
    int width;
    int n_cells;        // places where it looks for a face
    float *input;       // [1, 3, height, width]
    float (*scores)[2]; // no face, face
    float (*boxes)[4];  // left, top, right, bottom; 0 to 1
    int n_faces;
    face faces[MAX_FACES]; // the best first
} detector;

// Images

/** Memory for an image of this size; keeps that of an image of the same size. */
static inline const char *image_resize(image *p, int height, int width)
{
    if (p->rgb && p->height == height && p->width == width)
        return NULL;
    free(p->rgb);
    *p = (image){height, width, calloc((size_t)height, (size_t)width * 3)};
    return p->rgb ? NULL : "out of memory";
}

/** Reads a file: PNG, JPEG, PGM or PPM. */
static inline const char *image_read(image *p, const char *file)
{
    ln_image decoded;
    if (ln_image_decode(file, &decoded, NULL))
        return ln_last_error();
    const char *reason = image_resize(p, decoded.height, decoded.width);
    const size_t len = reason ? 0 : (size_t)decoded.height * (size_t)decoded.width * 3;
    for (size_t i = 0; i < len; i++)
        p->rgb[i] = decoded.pixels[decoded.channels == 3 ? i : i / 3];
    ln_image_free(&decoded);
    return reason;
}

/** Reads the next image of a stream of PPM images; *end: no more. */
static inline const char *image_read_next(image *p, FILE *stream, int *end)
{
    int height, width;
    const int first = getc(stream);
    *end = first == EOF;
    if (*end)
        return ferror(stream) ? "cannot read" : NULL;
    ungetc(first, stream);
    if (fscanf(stream, "P6 %4d %4d 255", &width, &height) != 2 || width < 1 || height < 1 ||
        getc(stream) != '\n')
        return "expected a PPM image (P6, at most 9999 x 9999, 255)";
    const char *reason = image_resize(p, height, width);
    if (!reason && fread(p->rgb, (size_t)width * 3, (size_t)height, stream) != (size_t)height)
        reason = "the last image is incomplete";
    return reason;
}

/** Writes an image as PPM. */
static inline const char *image_write(const image *p, FILE *stream)
{
    fprintf(stream, "P6\n%d %d\n255\n", p->width, p->height);
    fwrite(p->rgb, (size_t)p->width * 3, (size_t)p->height, stream);
    return fflush(stream) || ferror(stream) ? "cannot write" : NULL;
}

static inline void image_draw_box(image *p, const face *f)
{
    for (int y = f->top; y <= f->bottom; y++)
        for (int x = f->left; x <= f->right; x++)
            if (x < f->left + 2 || x > f->right - 2 || y < f->top + 2 || y > f->bottom - 2)
                memcpy(p->rgb + ((size_t)y * (size_t)p->width + (size_t)x) * 3, "\0\xff\0", 3);
}

/** The place in `n` samples of sample `i` of `n_new`, by their centres. */
static inline float source_of(int i, int n_new, int n)
{
    const float at = ((float)i + 0.5f) * (float)n / (float)n_new - 0.5f;
    return at < 0 ? 0 : at > (float)(n - 1) ? (float)(n - 1) : at;
}

static inline float between(float a, float b, float share)
{
    return a + (b - a) * share;
}

/** The image as [3, height, width] of (sample - 127) / 128, resized linearly. */
static inline void image_to_tensor(const image *p, float *data, int height, int width)
{
    for (int y = 0; y < height; y++) {
        const float v = source_of(y, height, p->height);
        const int top = (int)v, bottom = top + 1 < p->height ? top + 1 : top;
        const unsigned char *upper = p->rgb + (size_t)top * (size_t)p->width * 3;
        const unsigned char *lower = p->rgb + (size_t)bottom * (size_t)p->width * 3;
        for (int x = 0; x < width; x++) {
            const float u = source_of(x, width, p->width);
            const int left = (int)u * 3, right = (int)u + 1 < p->width ? left + 3 : left;
            for (int c = 0; c < 3; c++) {
                const float a = between(upper[left + c], upper[right + c], u - (float)(int)u);
                const float b = between(lower[left + c], lower[right + c], u - (float)(int)u);
                data[((size_t)c * (size_t)height + (size_t)y) * (size_t)width + (size_t)x] =
                    (between(a, b, v - (float)top) - 127) / 128;
            }
        }
    }
}

// The detector

/** Whether the tensor is float32 of this shape; a dim of 0 is any. */
static inline int is_float(const tl_tensor *t, int ndim, const int *dims)
{
    int same = t && t->dtype == TL_FLOAT && t->ndim == ndim;
    for (int i = 0; same && i < ndim; i++)
        same = t->dims[i] > 0 && (dims[i] == 0 || t->dims[i] == dims[i]);
    return same;
}

/** Free it also after a failure: detector_close. */
static inline const char *detector_open(detector *d, const char *file)
{
    memset(d, 0, sizeof(*d));
    if (ln_model_open(file, NULL, &d->model))
        return ln_model_error(NULL);
    const tl_tensor *in = ln_model_input_info(d->model, 0);
    const tl_tensor *scores =
        ln_model_output_info(d->model, ln_model_output_index(d->model, "scores"));
    const tl_tensor *boxes =
        ln_model_output_info(d->model, ln_model_output_index(d->model, "boxes"));
    if (!is_float(in, 4, (const int[]){1, 3, 0, 0}) ||
        !is_float(scores, 3, (const int[]){1, 0, 2}) ||
        !is_float(boxes, 3, (const int[]){1, scores->dims[1], 4}))
        return "expected a model with input [1, 3, H, W], outputs 'scores' [1, N, 2] and 'boxes' "
               "[1, N, 4]";
    d->height = in->dims[2];
    d->width = in->dims[3];
    d->n_cells = scores->dims[1];
    const size_t size = (size_t)d->height * (size_t)d->width * 3 * sizeof(float);
    const size_t n = (size_t)d->n_cells;
    d->input = malloc(size);
    d->scores = calloc(n, sizeof(*d->scores));
    d->boxes = calloc(n, sizeof(*d->boxes));
    if (!d->input || !d->scores || !d->boxes)
        return "out of memory";
    // Bound once: each run reads and writes these buffers, and allocates nothing.
    if (ln_session_create(d->model, &d->session) ||
        ln_session_bind_input(d->session, ln_model_input_name(d->model, 0), TL_FLOAT, 4, in->dims,
                              d->input, size) ||
        ln_session_bind_output(d->session, "scores", d->scores, n * sizeof(*d->scores)) ||
        ln_session_bind_output(d->session, "boxes", d->boxes, n * sizeof(*d->boxes)))
        return ln_session_error(d->session);
    return NULL;
}

static inline void detector_close(detector *d)
{
    ln_session_free(d->session);
    ln_model_free(d->model);
    free(d->input);
    free(d->scores);
    free(d->boxes);
}

/** The length that two ranges have in common. */
static inline float common(float begin, float end, float other_begin, float other_end)
{
    const float low = begin > other_begin ? begin : other_begin;
    const float high = end < other_end ? end : other_end;
    return high > low ? high - low : 0;
}

/** Intersection over union. */
static inline float overlap(const float a[4], const float b[4])
{
    const float both = common(a[0], a[2], b[0], b[2]) * common(a[1], a[3], b[1], b[3]);
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both);
}

/** The pixel of a place of 0 to 1; places outside are those at the border. */
static inline int pixel_at(float place, int n)
{
    const int i = place > 0 ? place < 1 ? (int)(place * (float)n) : n : 0;
    return i < n ? i : n - 1;
}

/** The cell with the highest score. */
static inline int best_cell(const detector *d)
{
    int best = 0;
    for (int i = 1; i < d->n_cells; i++)
        if (d->scores[i][1] > d->scores[best][1])
            best = i;
    return best;
}

/** Finds faces: the best cell, then the best of those with other boxes (non-maximum suppression).
 */
static inline const char *detector_find(detector *d, const image *p)
{
    image_to_tensor(p, d->input, d->height, d->width);
    if (ln_session_run(d->session))
        return ln_session_error(d->session);
    d->n_faces = 0;
    for (int best = best_cell(d); d->n_faces < MAX_FACES && d->scores[best][1] >= 0.7f;
         best = best_cell(d)) {
        const float *box = d->boxes[best];
        d->faces[d->n_faces++] =
            (face){pixel_at(box[0], p->width), pixel_at(box[1], p->height),
                   pixel_at(box[2], p->width), pixel_at(box[3], p->height), d->scores[best][1]};
        for (int i = 0; i < d->n_cells; i++)
            if (i == best || overlap(box, d->boxes[i]) > 0.3f)
                d->scores[i][1] = 0;
    }
    return NULL;
}

#endif
