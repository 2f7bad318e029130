// SPDX-License-Identifier: Apache-2.0
// Finds, prints and lists as JSON what the outputs of a run show in its photo.

#include "output/cli_found.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/cli_preprocess.h"
#include "lightnet/ln_msg.h"
#include "output/cli_known.h"
#include "output/cli_msg.h"
#include "output/cli_print.h"

// Tasks

static const char any[] = "any", map_task[] = "semantic";

static int is_family(const char *task)
{
    const ln_detect_family *row;
    for (int i = 0; (row = ln_detect_family_row(i)); i++)
        if (!strcmp(task, row->name) || !strcmp(task, row->task))
            return 1;
    return 0;
}

int cli_found_check_task(const char *task)
{
    const char *closest = NULL;
    const ln_detect_family *row;
    if (is_family(task) || !strcmp(task, any) || !strcmp(task, map_task) || !strcmp(task, "help"))
        return 0;
    for (int i = 0; (row = ln_detect_family_row(i)); i++)
        closest = ln_closer_name(task, ln_closer_name(task, closest, row->task), row->name);
    return closest ? cli_usage("--task is '%s'; did you mean '%s'?", task, closest)
                   : cli_usage(
                         "--task is '%s', expected any, detect, segment, pose, obb, semantic or a "
                         "family; see lightnet run --task help",
                         task);
}

void cli_found_print_tasks(void)
{
    const ln_detect_family *row;
    cli_print("any, detect, segment, pose, obb: a family of that task, found by the outputs\n"
              "semantic: classes of pixels, [1, C, H, W] or [1, H, W]\n\n");
    for (int i = 0; (row = ln_detect_family_row(i)); i++)
        cli_print("%-12s %-8s %s\n%-21s %s\n", row->name, row->task, row->outputs, "", row->models);
}

int cli_found_is_map(const cli_run_options *opt)
{
    return opt->task && !strcmp(opt->task, map_task);
}

// The kind for ln_detect: by the option, else by the model; NULL: any.
static const char *kind_of(const cli_run_options *opt)
{
    const char *const of_model = opt->known ? opt->known->task : "";
    return strcmp(opt->task, any) != 0 ? opt->task : *of_model ? of_model : NULL;
}

// Outputs

int cli_found_add(const cli_run_options *opt, const char *name, const tl_tensor *t)
{
    cli_drawing *d = opt->draw || opt->task ? opt->shared.images.photo->drawing : NULL;
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

void cli_found_free_drawing(cli_drawing *drawing)
{
    free(drawing->names);
    free(drawing->tensors);
}

// Finding

static int find_detections(cli_found *found, const cli_run_options *opt, const cli_labels *labels,
                           const ln_image_axis axes[2], ln_error *err)
{
    const cli_drawing *const d = opt->shared.images.photo->drawing;
    const ln_detect_options options = {.kind = kind_of(opt),
                                       .score = opt->threshold,
                                       .overlap = opt->overlap,
                                       .n_points = opt->known ? opt->known->n_points : 0,
                                       .n_labels = labels->n,
                                       .labels = (const char *const *)labels->lines};
    found->detections = ln_detect(d->n, d->names, d->tensors, axes, &options, err);
    return found->detections ? 0 : -1;
}

// Class 0 is the background unless there is a label for each class, the first not a background's.
static int has_background(const cli_found *found, const cli_labels *labels)
{
    const int n = found->n_classes ? found->n_classes : labels->n;
    return !labels->n || labels->n != n || ln_detect_is_background(labels->lines[0]);
}

static int find_classes(cli_found *found, const cli_run_options *opt, const cli_labels *labels,
                        const ln_image_axis axes[2], ln_error *err)
{
    const cli_drawing *const d = opt->shared.images.photo->drawing;
    found->map =
        ln_class_map(d->n, d->names, d->tensors, axes, opt->shared.images.photo->format.nhwc,
                     opt->threshold, &found->n_classes, err);
    found->has_background = has_background(found, labels);
    return found->map ? 0 : -1;
}

// Whether there are labels for each of `n` classes, 0: unknown, maybe without the background.
static int fits(const cli_labels *labels, int n, int has_background)
{
    return !n || labels->n == n || (has_background && labels->n == n - 1);
}

static void warn_labels(const cli_found *found, const cli_run_options *opt,
                        const cli_labels *labels)
{
    const ln_detections *const d = found->detections;
    const int n = d ? ln_detections_classes(d) : found->n_classes;
    if (opt->shared.labels && !opt->shared.quiet &&
        !fits(labels, n, d ? ln_detections_has_background(d) : 1))
        cli_warn("%s: %d label%s for the %d classes of the model, which has none of them",
                 opt->shared.labels, labels->n, labels->n == 1 ? "" : "s", n);
}

static int find(cli_found *found, const cli_run_options *opt, const cli_labels *labels,
                ln_error *err)
{
    const cli_photo *const photo = opt->shared.images.photo;
    ln_image_axis axes[2];
    ln_image_axes(&photo->format, found->image.height, found->image.width, photo->height,
                  photo->width, axes);
    return (cli_found_is_map(opt) ? find_classes : find_detections)(found, opt, labels, axes, err);
}

int cli_found_init(cli_found *found, const cli_run_options *opt, const cli_labels *labels,
                   ln_error *err)
{
    const char *const file = opt->shared.images.photo->file;
    *found = (cli_found){0};
    if (!file)
        return ln_error_set(err, "%s needs an image: no file of -i is one",
                            opt->draw ? "--draw" : "--task");
    if (ln_image_decode(file, &found->image, err))
        return -1;
    if (!opt->task)
        return 0;
    if (!find(found, opt, labels, err)) {
        warn_labels(found, opt, labels);
        return 0;
    }
    ln_error_prefix(err, "%s", file);
    cli_found_free(found);
    return -1;
}

void cli_found_free(cli_found *found)
{
    ln_image_free(&found->image);
    ln_detections_free(found->detections);
    tl_tensor_free_data_too(found->map);
    *found = (cli_found){0};
}

// Classes of pixels

// For the elements of a map that are classes: those that are counted.
enum { MAX_CLASSES = 256 };

const char *cli_found_class_label(const cli_found *found, const cli_labels *labels, int class)
{
    const int n = found->n_classes ? found->n_classes : labels->n;
    const int i = class - (labels->n == n - 1);
    return fits(labels, n, 1) && i >= 0 && i < labels->n ? labels->lines[i] : NULL;
}

// Receives the share of a class.
typedef void (*share_func)(void *data, const cli_found *found, const cli_labels *labels, int class,
                           double share);

// Calls func for each class of pixels but the background. Returns 0; -1: no memory.
static int each_share(const cli_found *found, const cli_labels *labels, share_func func, void *data)
{
    const int n = found->n_classes ? found->n_classes : MAX_CLASSES;
    const int32_t *const classes = found->map->data;
    size_t total = 0, *const counts = calloc((size_t)n, sizeof(*counts));
    for (int i = 0; counts && i < found->map->len; i++) {
        total += classes[i] >= 0;
        if (classes[i] >= 0 && classes[i] < n)
            counts[classes[i]]++;
    }
    for (int i = found->has_background; counts && i < n; i++)
        if (counts[i])
            func(data, found, labels, i, (double)counts[i] / (double)total);
    free(counts);
    return counts ? 0 : -1;
}

// Printing

static void print_class(const char *label, int class)
{
    if (label)
        cli_print("%s", label);
    else
        cli_print("%d", class);
}

static void print_share(void *data, const cli_found *found, const cli_labels *labels, int class,
                        double share)
{
    (void)data;
    print_class(cli_found_class_label(found, labels, class), class);
    cli_print("  %.2f %%\n", 100 * share);
}

static void print_detection(const ln_detection *d)
{
    print_class(d->label, d->class_index);
    cli_print("  %.6g  %d %d %d %d\n", d->score, (int)lroundf(d->box[0]), (int)lroundf(d->box[1]),
              (int)lroundf(d->box[2]), (int)lroundf(d->box[3]));
}

void cli_found_print(const cli_found *found, const cli_run_options *opt, const cli_labels *labels)
{
    const int n = found->detections ? ln_detections_count(found->detections) : 0;
    for (int i = 0; i < n; i++)
        print_detection(ln_detections_item(found->detections, i));
    if (found->detections && !n)
        cli_print("no box has a score of at least %g\n", opt->threshold);
    if (found->map && each_share(found, labels, print_share, NULL))
        cli_fail_memory();
}

// JSON

static void add_share(void *data, const cli_found *found, const cli_labels *labels, int class,
                      double share)
{
    cli_json *const json = data;
    const char *const label = cli_found_class_label(found, labels, class);
    cli_json_open(json, NULL, '{');
    cli_json_count(json, "class", (uint64_t) class);
    if (label)
        cli_json_text(json, "label", label);
    cli_json_number(json, "share", share);
    cli_json_close(json);
}

static void add_points(cli_json *json, const ln_key_point *points, int n)
{
    cli_json_open(json, "points", '[');
    for (int i = 0; i < n; i++) {
        cli_json_open(json, NULL, '[');
        cli_json_number(json, NULL, points[i].x);
        cli_json_number(json, NULL, points[i].y);
        cli_json_number(json, NULL, points[i].score);
        cli_json_close(json);
    }
    cli_json_close(json);
}

// Whether the mask of a region has the pixel.
static int has_pixel(const uint8_t *mask, const int region[4], int y, int x)
{
    return x >= region[0] && x < region[2] && y >= region[1] && y < region[3] &&
           mask[(size_t)(y - region[1]) * (size_t)(region[2] - region[0]) +
                (size_t)(x - region[0])];
}

// Lengths of runs of 0 and 1 in turn, down the columns of the photo, as in COCO's annotations.
static void add_runs(cli_json *json, const ln_image *image, const uint8_t *mask,
                     const int region[4])
{
    int value = 0;
    uint64_t n = (uint64_t)region[0] * (uint64_t)image->height;
    cli_json_open(json, "counts", '[');
    for (int x = region[0]; x < region[2]; x++)
        for (int y = 0; y < image->height; y++) {
            if (has_pixel(mask, region, y, x) != value) {
                cli_json_count(json, NULL, n);
                n = 0;
                value = !value;
            }
            n++;
        }
    const uint64_t rest = (uint64_t)(image->width - region[2]) * (uint64_t)image->height;
    if (value) {
        cli_json_count(json, NULL, n);
        n = 0;
    }
    if (n + rest)
        cli_json_count(json, NULL, n + rest);
    cli_json_close(json);
}

static int add_mask(cli_json *json, const cli_found *found, int i)
{
    int region[4];
    uint8_t *mask = NULL;
    int failed = ln_detections_mask(found->detections, i, region, NULL, NULL);
    if (!failed)
        mask = malloc((size_t)(region[2] - region[0]) * (size_t)(region[3] - region[1]));
    failed = failed || !mask || ln_detections_mask(found->detections, i, region, mask, NULL);
    if (!failed) {
        cli_json_open(json, "mask", '{');
        cli_json_shape(json, "size", 2, (const int[]){found->image.height, found->image.width});
        add_runs(json, &found->image, mask, region);
        cli_json_close(json);
    }
    free(mask);
    return failed ? cli_fail_memory() : 0;
}

static int add_detection(cli_json *json, const cli_found *found, int i)
{
    const ln_detection *const d = ln_detections_item(found->detections, i);
    int status = 0;
    cli_json_open(json, NULL, '{');
    cli_json_count(json, "class", (uint64_t)d->class_index);
    if (d->label)
        cli_json_text(json, "label", d->label);
    cli_json_number(json, "score", d->score);
    cli_json_open(json, "box", '[');
    for (int k = 0; k < 4; k++)
        cli_json_number(json, NULL, d->box[k]);
    cli_json_close(json);
    if (d->points)
        add_points(json, d->points, ln_detections_points(found->detections));
    if (ln_detections_has_masks(found->detections))
        status = add_mask(json, found, i);
    cli_json_close(json);
    return status;
}

int cli_found_json(const cli_found *found, cli_json *json, const cli_labels *labels)
{
    const int n = found->detections ? ln_detections_count(found->detections) : 0;
    int status = 0;
    if (found->detections) {
        cli_json_text(json, "family", ln_detections_family(found->detections));
        cli_json_text(json, "task", ln_detections_task(found->detections));
        cli_json_open(json, "detections", '[');
        for (int i = 0; i < n && !status; i++)
            status = add_detection(json, found, i);
        cli_json_close(json);
    }
    if (found->map) {
        cli_json_text(json, "task", map_task);
        cli_json_open(json, "classes", '[');
        if (each_share(found, labels, add_share, json))
            status = cli_fail_memory();
        cli_json_close(json);
    }
    return status;
}
