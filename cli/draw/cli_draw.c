// SPDX-License-Identifier: Apache-2.0
// --draw: boxes with labels, colored masks, or the best classes, on the photo of a run.

#include "draw/cli_draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/cli_boxes.h"
#include "draw/cli_canvas.h"
#include "input/cli_preprocess.h"
#include "lightnet/ln_image.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_util.h"
#include "output/cli_compare.h"
#include "output/cli_guard.h"
#include "output/cli_labels.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"
#include "tensorlight/tl_type.h"

// The photo and its placement in the network input.
typedef struct scene {
    const cli_run_options *opt;
    const cli_labels *labels;
    ln_image image;
    ln_image_axis axes[2]; // y, x
} scene;

int cli_draw_add(const cli_run_options *opt, const char *name, const tl_tensor *t)
{
    cli_drawing *d = opt->draw ? opt->shared.images.photo->drawing : NULL;
    if (!d)
        return 0;
    const char **names = realloc(d->names, (size_t)(d->n + 1) * sizeof(*names));
    if (names)
        d->names = names;
    const tl_tensor **tensors = realloc(d->tensors, (size_t)(d->n + 1) * sizeof(*tensors));
    if (tensors)
        d->tensors = tensors;
    if (!names || !tensors)
        return cli_fail_memory();
    names[d->n] = name;
    tensors[d->n++] = t;
    return 0;
}

void cli_draw_free(cli_drawing *drawing)
{
    free(drawing->names);
    free(drawing->tensors);
}

// Boxes

// The pixel of the photo at coordinate `v` of the input's axis, rounded, inside the photo.
static int to_pixel(const ln_image_axis *axis, double v, int is_relative)
{
    const double at = (is_relative ? v * axis->out : v) + axis->offset;
    return (int)fmin(fmax(round(at * axis->in / axis->size), 0), axis->in);
}

// "face 0.98", "3 0.98" or "0.98", depending on labels and the number of classes.
static void print_label(const scene *s, char *text, size_t size, int n_classes, int n_shown,
                        int class, double score)
{
    const char *label = cli_boxes_label(s->labels, n_classes, class);
    if (label)
        snprintf(text, size, "%.64s %.2f", label, score);
    else if (n_shown > 1)
        snprintf(text, size, "%d %.2f", class, score);
    else
        snprintf(text, size, "%.2f", score);
}

// The box in pixels of the photo: x0, y0, x1, y1.
static void place_box(const scene *s, const cli_boxes *boxes, const cli_box *box, int p[4])
{
    for (int k = 0; k < 4; k++)
        p[k] = to_pixel(&s->axes[!(k & 1)], box->at[k], boxes->is_relative);
}

static void print_box(const scene *s, const cli_boxes *boxes, const cli_box *box)
{
    const char *label = cli_boxes_label(s->labels, boxes->n_classes, box->class);
    int p[4];
    place_box(s, boxes, box, p);
    if (label)
        cli_print("%s", label);
    else
        cli_print("%d", box->class);
    cli_print("  %.6g  %d %d %d %d\n", box->score, p[0], p[1], p[2], p[3]);
}

static void draw_box(scene *s, const cli_boxes *boxes, const cli_box *box)
{
    const int n_shown = boxes->n_classes - boxes->has_background;
    const int scale = cli_canvas_scale(&s->image), height = CLI_CELL_HEIGHT * scale;
    const cli_rgb color = cli_canvas_color(box->class - boxes->has_background);
    char text[96];
    int p[4];
    place_box(s, boxes, box, p);
    cli_canvas_frame(&s->image, p[1], p[0], p[3], p[2], 2 * scale, color);
    print_label(s, text, sizeof(text), boxes->n_classes, n_shown, box->class, box->score);
    // Above the box, or inside it at the photo's upper edge; not beyond the right one.
    const int room = s->image.width - cli_canvas_text_width(text, scale);
    const int x = p[0] <= room ? p[0] : room > 0 ? room : 0;
    cli_canvas_text(&s->image, p[1] >= height ? p[1] - height : p[1], x, scale, text, color);
}

static int draw_boxes(scene *s)
{
    cli_boxes boxes;
    const int status = cli_boxes_find(&boxes, s->opt, s->labels);
    for (int i = 0; i < boxes.n && !status; i++)
        print_box(s, &boxes, &boxes.items[i]);
    // The best ones of a class are drawn last, on top.
    for (int i = boxes.n - 1; i >= 0 && !status; i--)
        draw_box(s, &boxes, &boxes.items[i]);
    if (!status && !boxes.n)
        cli_print("no box has a score of at least %g\n", s->opt->threshold);
    cli_boxes_free(&boxes);
    return status;
}

// Mask

// An output with a class for each pixel of a grid.
typedef struct mask {
    const tl_tensor *t;
    int n_classes; // 1: each element is a score, or the class itself
    int height;
    int width;
    size_t class_step; // elements from one class to the next
    size_t pixel_step;
    int is_class;       // elements are classes
    int n_names;        // the number of classes for labels
    int has_background; // class 0 is not drawn
} mask;

static int is_mask(const tl_tensor *t, int nhwc, mask *m)
{
    if (t->ndim < 3 || t->ndim > 4 || !t->len || (t->ndim == 4 && t->dims[0] != 1))
        return 0;
    const int *dims = t->dims + t->ndim - 3;
    const int has_last = nhwc && t->ndim == 4;
    *m = (mask){.t = t, .n_classes = dims[has_last ? 2 : 0], .height = dims[has_last ? 0 : 1]};
    m->width = dims[has_last ? 1 : 2];
    m->class_step = has_last ? 1 : (size_t)m->height * (size_t)m->width;
    m->pixel_step = has_last ? (size_t)m->n_classes : 1;
    m->is_class = m->n_classes == 1 && !tl_dtype_is_float(t->dtype);
    return m->height > 1 || m->width > 1;
}

// The factor between the aspect ratios of mask and input.
enum { MAX_ASPECT_RATIO_ERROR = 4 };

// Whether the grid has about the aspect ratio of the input, unlike boxes [1, N, 4].
static int fits_input(const mask *m, const cli_photo *photo)
{
    const double h = (double)m->height * photo->width, w = (double)m->width * photo->height;
    return h <= MAX_ASPECT_RATIO_ERROR * w && w <= MAX_ASPECT_RATIO_ERROR * h;
}

static int find_mask(const scene *s, mask *m)
{
    const cli_drawing *d = s->opt->shared.images.photo->drawing;
    for (int i = 0; i < d->n; i++)
        if (is_mask(d->tensors[i], s->opt->shared.images.nhwc, m) &&
            fits_input(m, s->opt->shared.images.photo))
            return 0;
    return cli_fail("%s: --draw mask: no output has a shape of masks, expected [1, C, H, W] or [1, "
                    "H, W] with about the aspect ratio of the input",
                    s->opt->shared.images.photo->file);
}

// The class of an element of the grid; of equal scores the first one.
static int class_at(const scene *s, const mask *m, size_t pixel)
{
    const size_t at = pixel * m->pixel_step;
    int best = 0;
    if (m->n_classes == 1) {
        const double v = cli_element(m->t, (int)at);
        return !m->is_class ? v >= s->opt->threshold : v >= 0 && v <= INT32_MAX ? (int)v : 0;
    }
    for (int c = 1; c < m->n_classes; c++)
        if (cli_element(m->t, (int)(at + (size_t)c * m->class_step)) >
            cli_element(m->t, (int)(at + (size_t)best * m->class_step)))
            best = c;
    return best;
}

// For each pixel of the photo's axis the index on the mask's axis of `n`; -1: outside the input.
static int *place_pixels(const ln_image_axis *axis, int n)
{
    int *at = malloc((size_t)axis->in * sizeof(*at));
    for (int i = 0; at && i < axis->in; i++) {
        const double v = (i + 0.5) * axis->size / axis->in - axis->offset;
        const double k = floor(v * n / axis->out);
        at[i] = v >= 0 && k >= 0 && k < n ? (int)k : -1;
    }
    return at;
}

// Returns new (free): the class of each element of the grid; NULL: no memory.
static int *classes_of(const scene *s, const mask *m)
{
    const size_t n = (size_t)m->height * (size_t)m->width;
    int *classes = malloc(n * sizeof(*classes));
    for (size_t i = 0; classes && i < n; i++)
        classes[i] = class_at(s, m, i);
    return classes;
}

// The argument of color_pixels.
typedef struct places {
    int *classes; // of the grid
    int *rows;    // of the grid, for each row of the photo
    int *columns;
} places;

// Colors the photo; counts[0] is the number of pixels, counts[1 + i] that of class i up to `n`.
static void color_pixels(scene *s, const mask *m, const places *p, size_t *counts, int n)
{
    for (int y = 0; y < s->image.height; y++)
        for (int x = 0; x < s->image.width; x++) {
            if (p->rows[y] < 0 || p->columns[x] < 0)
                continue;
            const int class =
                p->classes[(size_t)p->rows[y] * (size_t)m->width + (size_t)p->columns[x]];
            counts[0]++;
            if (class < n)
                counts[1 + class]++;
            if (class || !m->has_background)
                cli_canvas_blend(&s->image, y, x, cli_canvas_color(class - m->has_background));
        }
}

static void print_shares(const scene *s, const mask *m, const size_t *counts, int n)
{
    for (int i = m->has_background; i < n; i++) {
        const char *label = cli_boxes_label(s->labels, m->n_names, i);
        if (!counts[1 + i])
            continue;
        if (label)
            cli_print("%s", label);
        else
            cli_print("%d", i);
        cli_print("  %.2f %%\n", 100.0 * (double)counts[1 + i] / (double)counts[0]);
    }
}

// Classes that are counted, if the elements are classes.
enum { MAX_CLASSES = 256 };

static int draw_mask(scene *s)
{
    mask m = {0};
    if (find_mask(s, &m))
        return CLI_FAILED;
    const int n = m.is_class ? MAX_CLASSES : m.n_classes == 1 ? 2 : m.n_classes;
    m.n_names = m.is_class ? s->labels->n : n;
    m.has_background = cli_boxes_labels_background(s->labels, m.n_names) != 0;
    size_t *counts = calloc((size_t)n + 1, sizeof(*counts));
    const places p = {classes_of(s, &m), place_pixels(&s->axes[0], m.height),
                      place_pixels(&s->axes[1], m.width)};
    const int status = counts && p.classes && p.rows && p.columns ? 0 : cli_fail_memory();
    if (!status) {
        color_pixels(s, &m, &p, counts, n);
        print_shares(s, &m, counts, n);
    }
    free(counts);
    free(p.classes);
    free(p.rows);
    free(p.columns);
    return status;
}

// Classes

static int is_better(double a, double b)
{
    return a > b || (isnan(b) && !isnan(a));
}

// The index of the largest of `n` elements at `t`'s start that is not `used`; -1: none. NaN are the
// last.
static int best_of(const tl_tensor *t, int n, const char *used)
{
    int best = -1;
    for (int i = 0; i < n; i++)
        if (!used[i] && (best < 0 || is_better(cli_element(t, i), cli_element(t, best))))
            best = i;
    return best;
}

// The lines of the best classes, one below the other, in the photo's upper left corner.
static int draw_classes(scene *s)
{
    const tl_tensor *t = s->opt->shared.images.photo->drawing->n
                             ? s->opt->shared.images.photo->drawing->tensors[0]
                             : NULL;
    const int n = t && t->len && t->ndim ? t->dims[t->ndim - 1] : 0;
    const int scale = cli_canvas_scale(&s->image);
    char *used = calloc((size_t)n + 1, 1), text[96];
    if (!used)
        return cli_fail_memory();
    for (int k = 0; k < s->opt->top && k < n; k++) {
        const int class = best_of(t, n, used);
        used[class] = 1;
        print_label(s, text, sizeof(text), n, n, class, cli_element(t, class));
        cli_canvas_text(&s->image, k * CLI_CELL_HEIGHT * scale, 0, scale, text,
                        cli_canvas_color(k));
    }
    free(used);
    return n ? 0
             : cli_fail("%s: --draw classes: the first output has no classes",
                        s->opt->shared.images.photo->file);
}

// The command

static const struct kind {
    const char *name;
    int (*draw)(scene *s);
} kinds[] = {{"boxes", draw_boxes}, {"mask", draw_mask}, {"classes", draw_classes}};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

static const cli_format formats[] = {
    {".png", "png", "a PNG image"},
    {".jpg", "jpg", "a JPEG image"},
    {".jpeg", "jpg", "a JPEG image"},
    {".ppm", "ppm", "a PPM image"},
    {NULL, NULL, NULL},
};

const char *cli_draw_suffix(const char *photo)
{
    for (const cli_format *f = formats; f->suffix; f++)
        if (!strcasecmp(cli_guard_suffix(photo), f->suffix))
            return f->suffix;
    return formats[0].suffix;
}

static int check_file(const cli_run_options *opt)
{
    if (!opt->shared.outfile)
        return cli_usage("--draw needs -o FILE, such as -o out.png");
    if (!cli_guard_is_file(opt->shared.outfile))
        return cli_usage("%s: --draw writes a file, .png, .jpg or .ppm", opt->shared.outfile);
    const cli_format *format = cli_guard_format(opt->shared.outfile, formats, "");
    return format ? cli_guard_output(&opt->shared, opt->shared.outfile, format->kind)
                  : CLI_WRONG_USAGE;
}

// Rejects options that the kind of drawing ignores.
static int check_unused(const cli_run_options *opt)
{
    const char *const what = opt->draw ? opt->draw : "";
    if (opt->overlap >= 0 && strcmp(what, "boxes") != 0)
        return cli_usage("--overlap needs --draw boxes");
    if (opt->threshold >= 0 && strcmp(what, "boxes") != 0 && strcmp(what, "mask") != 0)
        return cli_usage("--threshold needs --draw boxes or mask");
    return !opt->draw && opt->shared.outfile ? cli_usage("-o needs --draw; -O DIR writes outputs")
                                             : 0;
}

int cli_draw_check(const cli_run_options *opt)
{
    const int unused = check_unused(opt);
    if (unused || !opt->draw)
        return unused;
    if (opt->shared.json)
        return cli_usage("--draw and --json exclude each other");
    if (!find_kind(opt->draw))
        return cli_usage("--draw is '%s', expected boxes, mask or classes", opt->draw);
    if (!opt->shared.samples)
        return check_file(opt);
    return opt->outdir && !opt->shared.outfile
               ? 0
               : cli_usage("--draw with --each needs -O DIR, for an image of each file");
}

static int draw_on_photo(scene *s)
{
    const cli_photo *photo = s->opt->shared.images.photo;
    if (cli_canvas_init(&s->image))
        return cli_fail_memory();
    ln_image_axes(&photo->format, s->image.height, s->image.width, photo->height, photo->width,
                  s->axes);
    return find_kind(s->opt->draw)->draw(s);
}

int cli_draw_make(const cli_run_options *opt, const cli_labels *labels, ln_image *image)
{
    scene s = {.opt = opt, .labels = labels};
    ln_error err = {0};
    if (!opt->shared.images.photo->file)
        return cli_fail("--draw needs an image: no file of -i is one");
    if (ln_image_decode(opt->shared.images.photo->file, &s.image, &err))
        return cli_fail("%s", ln_error_text(&err));
    const int status = draw_on_photo(&s);
    if (status)
        ln_image_free(&s.image);
    *image = s.image;
    return status;
}

int cli_draw_write(const char *file, ln_image *image)
{
    ln_error err = {0};
    const int status = ln_image_write(file, image, &err) ? cli_fail("%s", ln_error_text(&err)) : 0;
    ln_image_free(image);
    return status;
}

int cli_draw(const cli_run_options *opt, const cli_labels *labels)
{
    ln_image image;
    if (!opt->draw)
        return 0;
    const int status = cli_draw_make(opt, labels, &image);
    return status ? status : cli_draw_write(opt->shared.outfile, &image);
}
