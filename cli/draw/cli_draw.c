// SPDX-License-Identifier: Apache-2.0
// --draw: detections with labels, colored classes of pixels, or the best classes, on the photo of a
// run.

#include "draw/cli_draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/cli_canvas.h"
#include "input/cli_preprocess.h"
#include "lightnet/ln_image.h"
#include "lightnet/ln_msg.h"
#include "output/cli_compare.h"
#include "output/cli_guard.h"
#include "output/cli_msg.h"

// What is drawn, and the options for it.
typedef struct scene {
    const cli_run_options *opt;
    const cli_labels *labels;
    cli_found *found;
    ln_image *image; // of `found`
} scene;

// "face 0.98", "3 0.98" or "0.98", depending on labels and the number of classes.
static void print_label(char *text, size_t size, const char *label, int n_shown, int class,
                        double score)
{
    if (label)
        snprintf(text, size, "%.64s %.2f", label, score);
    else if (n_shown != 1)
        snprintf(text, size, "%d %.2f", class, score);
    else
        snprintf(text, size, "%.2f", score);
}

// Detections

// Limbs of the 17 key points of COCO: ankles, knees and hips; shoulders, elbows and wrists; eyes,
// nose and ears.
static const int limbs[][2] = {{15, 13}, {13, 11}, {16, 14}, {14, 12}, {11, 12}, {5, 11}, {6, 12},
                               {5, 6},   {5, 7},   {6, 8},   {7, 9},   {8, 10},  {1, 2},  {0, 1},
                               {0, 2},   {1, 3},   {2, 4},   {3, 5},   {4, 6}};

enum { N_LIMBS = sizeof(limbs) / sizeof(limbs[0]), N_COCO_POINTS = 17 };

// Whether the point is in the photo and likely visible.
static int is_drawn(const scene *s, const ln_key_point *p)
{
    return p->score >= 0.5f && p->x >= 0 && p->x < (float)s->image->width && p->y >= 0 &&
           p->y < (float)s->image->height;
}

static void draw_points(const scene *s, const ln_detection *d, cli_rgb color)
{
    const int n = ln_detections_points(s->found->detections), size = cli_canvas_scale(s->image);
    for (int i = 0; n == N_COCO_POINTS && i < N_LIMBS; i++) {
        const ln_key_point *const a = &d->points[limbs[i][0]], *const b = &d->points[limbs[i][1]];
        if (is_drawn(s, a) && is_drawn(s, b))
            cli_canvas_line(s->image, (int)a->y, (int)a->x, (int)b->y, (int)b->x, size, color);
    }
    for (int i = 0; i < n; i++) {
        if (!is_drawn(s, &d->points[i])) // it may be NaN, or beyond integers
            continue;
        const int x = (int)d->points[i].x, y = (int)d->points[i].y;
        cli_canvas_fill(s->image, y - 2 * size, x - 2 * size, y + 2 * size + 1, x + 2 * size + 1,
                        cli_canvas_color(i));
    }
}

// The sides between the corners of an oriented box, which may be outside of the photo.
static void draw_corners(const scene *s, const ln_detection *d, cli_rgb color)
{
    const int size = cli_canvas_scale(s->image);
    int at[4][2];
    for (int i = 0; i < 4; i++) {
        at[i][0] = (int)fminf(fmaxf(d->points[i].y, 0), (float)s->image->height);
        at[i][1] = (int)fminf(fmaxf(d->points[i].x, 0), (float)s->image->width);
    }
    for (int i = 0; i < 4; i++)
        cli_canvas_line(s->image, at[i][0], at[i][1], at[(i + 1) % 4][0], at[(i + 1) % 4][1], size,
                        color);
}

static int draw_mask(const scene *s, int i, cli_rgb color)
{
    int region[4];
    uint8_t *mask = NULL;
    int failed = ln_detections_mask(s->found->detections, i, region, NULL, NULL);
    const int width = failed ? 0 : region[2] - region[0];
    if (!failed)
        mask = malloc((size_t)width * (size_t)(region[3] - region[1]));
    failed = failed || !mask || ln_detections_mask(s->found->detections, i, region, mask, NULL);
    for (int y = region[1]; !failed && y < region[3]; y++)
        for (int x = region[0]; x < region[2]; x++)
            if (mask[(size_t)(y - region[1]) * (size_t)width + (size_t)(x - region[0])])
                cli_canvas_blend(s->image, y, x, color);
    free(mask);
    return failed ? cli_fail_memory() : 0;
}

static cli_rgb color_of(const scene *s, const ln_detection *d)
{
    return cli_canvas_color(d->class_index - ln_detections_has_background(s->found->detections));
}

static void draw_box(const scene *s, const ln_detection *d)
{
    int p[4];
    for (int k = 0; k < 4; k++)
        p[k] = (int)lroundf(d->box[k]);
    if (!strcmp(ln_detections_task(s->found->detections), "obb")) {
        draw_corners(s, d, color_of(s, d));
        return;
    }
    if (d->points)
        draw_points(s, d, color_of(s, d));
    cli_canvas_frame(s->image, p[1], p[0], p[3], p[2], 2 * cli_canvas_scale(s->image),
                     color_of(s, d));
}

// Above the box, or inside it at the photo's upper edge; not beyond the right one.
static void draw_label(const scene *s, const ln_detection *d)
{
    const ln_detections *const found = s->found->detections;
    const int n_shown = ln_detections_classes(found) - ln_detections_has_background(found);
    const int scale = cli_canvas_scale(s->image), height = CLI_CELL_HEIGHT * scale;
    const int left = (int)lroundf(d->box[0]), top = (int)lroundf(d->box[1]);
    char text[96];
    print_label(text, sizeof(text), d->label, n_shown, d->class_index, d->score);
    const int room = s->image->width - cli_canvas_text_width(text, scale);
    const int x = left <= room ? left : room > 0 ? room : 0;
    cli_canvas_text(s->image, top >= height ? top - height : top, x, scale, text, color_of(s, d));
}

// Masks below boxes below labels; the best ones are drawn last, on top.
static int draw_boxes(const scene *s)
{
    const ln_detections *const found = s->found->detections;
    const int n = ln_detections_count(found);
    int status = 0;
    for (int i = n - 1; i >= 0 && !status && ln_detections_has_masks(found); i--)
        status = draw_mask(s, i, color_of(s, ln_detections_item(found, i)));
    for (int i = n - 1; i >= 0 && !status; i--)
        draw_box(s, ln_detections_item(found, i));
    for (int i = n - 1; i >= 0 && !status; i--)
        draw_label(s, ln_detections_item(found, i));
    return status;
}

// Classes of pixels

static int draw_map(const scene *s)
{
    const int first = s->found->has_background;
    const int32_t *class = s->found->map->data;
    for (int y = 0; y < s->image->height; y++)
        for (int x = 0; x < s->image->width; x++, class ++)
            if (*class >= first)
                cli_canvas_blend(s->image, y, x, cli_canvas_color(*class - first));
    return 0;
}

// Classes of the photo

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

// The labels may omit the first class, the background.
static const char *class_label(const cli_labels *labels, int n, int class)
{
    return cli_labels_name(labels, n, class - (!labels->must_fit && labels->n == n - 1));
}

// The lines of the best classes, one below the other, in the photo's upper left corner.
static int draw_classes(const scene *s)
{
    const cli_photo *const photo = s->opt->shared.images.photo;
    const tl_tensor *t = photo->drawing->n ? photo->drawing->tensors[0] : NULL;
    const int n = t && t->len && t->ndim ? cli_output_classes(t) : 0;
    const int scale = cli_canvas_scale(s->image);
    char *used = calloc((size_t)n + 1, 1), text[96];
    if (!used)
        return cli_fail_memory();
    for (int k = 0; k < s->opt->top && k < n; k++) {
        const int class = best_of(t, n, used);
        used[class] = 1;
        print_label(text, sizeof(text), class_label(s->labels, n, class), n, class,
                    cli_element(t, class));
        cli_canvas_text(s->image, k * CLI_CELL_HEIGHT * scale, 0, scale, text, cli_canvas_color(k));
    }
    free(used);
    return n ? 0 : cli_fail("%s: --draw classes: the first output has no classes", photo->file);
}

// The command

// What --draw may be, and the task of it.
static const struct kind {
    const char *name;
    int (*draw)(const scene *s);
    const char *task; // NULL: none
} kinds[] = {
    {"boxes", draw_boxes, "any"},       {"detect", draw_boxes, "detect"},
    {"segment", draw_boxes, "segment"}, {"pose", draw_boxes, "pose"},
    {"obb", draw_boxes, "obb"},         {"mask", draw_map, "semantic"},
    {"semantic", draw_map, "semantic"}, {"classes", draw_classes, NULL},
};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; name && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(kinds[i].name, name))
            return &kinds[i];
    return NULL;
}

const char *cli_draw_task(const char *draw)
{
    const struct kind *const kind = find_kind(draw);
    return kind ? kind->task : NULL;
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

// Rejects options without effect.
static int check_unused(const cli_run_options *opt)
{
    if (opt->overlap >= 0 && (!opt->task || cli_found_is_map(opt)))
        return cli_usage("--overlap needs --draw boxes, or --task");
    if (opt->threshold >= 0 && !opt->task)
        return cli_usage("--threshold needs --draw boxes or mask, or --task");
    return !opt->draw && opt->shared.outfile ? cli_usage("-o needs --draw; -O DIR writes outputs")
                                             : 0;
}

int cli_draw_check(const cli_run_options *opt)
{
    const struct kind *const kind = find_kind(opt->draw);
    if (opt->draw && !kind)
        return cli_usage(
            "--draw is '%s', expected boxes, detect, segment, pose, obb, mask, semantic "
            "or classes",
            opt->draw);
    const int unused = check_unused(opt);
    if (unused || !opt->draw)
        return unused;
    if (kind->task && (kind->draw == draw_map) != cli_found_is_map(opt))
        return cli_usage("--draw %s and --task %s exclude each other", opt->draw, opt->task);
    if (!opt->shared.samples)
        return check_file(opt);
    return opt->outdir && !opt->shared.outfile
               ? 0
               : cli_usage("--draw with --each needs -O DIR, for an image of each file");
}

int cli_draw(cli_found *found, const cli_run_options *opt, const cli_labels *labels,
             const char *file)
{
    const scene s = {.opt = opt, .labels = labels, .found = found, .image = &found->image};
    ln_error err = {0};
    if (cli_canvas_init(s.image))
        return cli_fail_memory();
    if (find_kind(opt->draw)->draw(&s))
        return CLI_FAILED;
    return ln_image_write(file, s.image, &err) ? cli_fail("%s", ln_error_text(&err)) : 0;
}
