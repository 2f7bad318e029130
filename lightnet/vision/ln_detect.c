// SPDX-License-Identifier: Apache-2.0
// Detections: rows of outputs with a score, suppressed where they overlap, in the picture's pixels.

#include "lightnet/ln_detect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lightnet/ln_util.h"
#include "tensorlight/tl_type.h"
#include "vision/ln_detect_form.h"

enum {
    MAX_CANDIDATES = 30000, // the best ones; further ones are ignored
    DEFAULT_MAX = 300
};

// A row with a score.
typedef struct candidate {
    double at[4]; // x0, y0, x1, y1 in the input, in pixels or fractions
    float score;
    int class_index;
    int row;
} candidate;

typedef struct candidates {
    candidate *items; // [max]
    int n, max;
    int is_fraction; // no coordinate exceeds 2
} candidates;

struct ln_detections {
    ln_detect_reading reading;
    ln_detect_options options;
    ln_image_axis axes[2];
    candidate *kept; // those of the items
    ln_detection *items;
    ln_key_point *points;
    int n;
};

// Background

// Whether each row sums to 1, as softmax makes it.
static int is_softmax(const ln_detect_reading *r)
{
    for (int i = 0; i < r->n_rows; i++) {
        double sum = 0;
        for (int c = 0; c < r->n_scores; c++)
            sum += r->form->score(r, i, c);
        if (!(fabs(sum - 1) < 1e-2))
            return 0;
    }
    return r->n_scores > 1;
}

int ln_detect_is_background(const char *label)
{
    static const char *const names[] = {"background", "__background__", "N/A"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcasecmp(label, names[i]))
            return 1;
    return 0;
}

static int names_background(const ln_detect_options *options)
{
    return options->n_labels && ln_detect_is_background(options->labels[0]);
}

// The labels decide if their number fits, else the scores.
static void decide_background(ln_detect_reading *r)
{
    const int n_labels = r->options->n_labels;
    if (r->background >= 0)
        return;
    if (n_labels && n_labels == r->n_classes)
        r->background = names_background(r->options) && n_labels > 1;
    else if (n_labels && n_labels == r->n_classes - 1)
        r->background = 1;
    else
        r->background = is_softmax(r);
}

// Labels may omit the background; those for another number of classes are none.
static const char *label_of(const ln_detect_reading *r, int class_index)
{
    const int n_labels = r->options->n_labels, n = r->n_classes;
    const int is_omitted = r->background && (n ? n_labels == n - 1 : !names_background(r->options));
    const int i = class_index - is_omitted;
    if (n && n_labels != n - is_omitted)
        return NULL;
    return i >= 0 && i < n_labels ? r->options->labels[i] : NULL;
}

// Candidates

// The best first; equal scores by row, then class.
static int by_score(const void *a, const void *b)
{
    const candidate *const x = a, *const y = b;
    if (x->score > y->score || x->score < y->score)
        return x->score > y->score ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->class_index > y->class_index) - (x->class_index < y->class_index);
}

static int is_finite_box(const double at[4])
{
    return isfinite(at[0]) && isfinite(at[1]) && isfinite(at[2]) && isfinite(at[3]);
}

static void sort(candidates *c)
{
    if (c->n)
        qsort(c->items, (size_t)c->n, sizeof(*c->items), by_score);
}

static void add_candidate(candidates *c, const ln_detect_reading *r, int row, int class_index,
                          double score)
{
    candidate it = {.score = (float)score, .class_index = class_index, .row = row};
    r->form->box(r, row, it.at);
    if (!is_finite_box(it.at) || it.at[0] >= it.at[2] || it.at[1] >= it.at[3])
        return;
    if (c->n == c->max) { // drops the worse half
        sort(c);
        c->n = MAX_CANDIDATES;
    }
    for (int k = 0; k < 4; k++)
        c->is_fraction &= fabs(it.at[k]) <= 2;
    c->items[c->n++] = it;
}

// The class of a row with one score; -1: none.
static int class_of(const ln_detect_reading *r, int row)
{
    const double v = r->form->class_of(r, row);
    return v >= r->background && v < INT32_MAX ? (int)v : -1;
}

static int is_candidate(const ln_detect_reading *r, double score)
{
    return isfinite((float)score) && (float)score >= (float)r->options->score;
}

// The score of a class, or a value that grows with it.
static double raw_score(const ln_detect_reading *r, int row, int c)
{
    return r->score_step ? r->data[r->score_role][r->score_first + (size_t)row * r->score_row +
                                                  (size_t)c * r->score_step]
                         : r->form->score(r, row, c);
}

// The class with the best score; -1: all are NaN.
static int best_class(const ln_detect_reading *r, int row)
{
    int best = -1;
    double max = 0;
    for (int c = r->background; c < r->n_scores; c++) {
        const double score = raw_score(r, row, c);
        if (best >= 0 ? score > max : !isnan(score)) {
            best = c;
            max = score;
        }
    }
    return best;
}

static void add_score(candidates *c, const ln_detect_reading *r, int row, int k)
{
    const double score = r->form->score(r, row, k);
    const int class_index = r->form->class_of ? class_of(r, row) : k;
    if (class_index >= 0 && is_candidate(r, score))
        add_candidate(c, r, row, class_index, score);
}

static void add_row(candidates *c, const ln_detect_reading *r, int row)
{
    if (r->objectness && !is_candidate(r, ln_detect_column(r, row, r->objectness)))
        return;
    if (r->form->traits & LN_DETECT_ALL) {
        for (int k = r->background; k < r->n_scores; k++)
            if (is_candidate(r, raw_score(r, row, k)))
                add_score(c, r, row, k);
        return;
    }
    const int best = r->form->class_of ? 0 : best_class(r, row);
    if (best >= 0)
        add_score(c, r, row, best);
}

static int collect(candidates *c, ln_detect_reading *r, ln_error *err)
{
    const int64_t n = (int64_t)r->n_rows * r->n_scores;
    *c =
        (candidates){.max = n < 2 * MAX_CANDIDATES ? (int)n : 2 * MAX_CANDIDATES, .is_fraction = 1};
    c->items = ln_alloc_array((size_t)c->max, sizeof(*c->items));
    if (!c->items)
        return ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for %d boxes", c->max);
    for (int i = 0; i < r->n_rows; i++) {
        if (r->form->begin)
            r->form->begin(r, i);
        add_row(c, r, i);
    }
    sort(c);
    if (c->n > MAX_CANDIDATES)
        c->n = MAX_CANDIDATES;
    return 0;
}

// Fractions become pixels of the input.
static void scale(candidates *c, const ln_detect_reading *r)
{
    const unsigned traits = r->form->traits;
    if (!(traits & LN_DETECT_FRACTIONS) && !((traits & LN_DETECT_EITHER) && c->is_fraction))
        return;
    for (int i = 0; i < c->n; i++)
        for (int k = 0; k < 4; k++)
            c->items[i].at[k] *= k & 1 ? r->height : r->width;
}

// Suppression

static double area(const double at[4])
{
    return (at[2] - at[0]) * (at[3] - at[1]);
}

static double overlap(const double a[4], const double b[4])
{
    const double width = fmin(a[2], b[2]) - fmax(a[0], b[0]);
    const double height = fmin(a[3], b[3]) - fmax(a[1], b[1]);
    const double both = width > 0 && height > 0 ? width * height : 0;
    return both / (area(a) + area(b) - both);
}

static double overlap_of(const ln_detect_reading *r, const candidate *a, const candidate *b)
{
    return r->form->overlap ? r->form->overlap(r, a->row, b->row) : overlap(a->at, b->at);
}

static int is_suppressed(const ln_detections *found, const candidate *it)
{
    for (int i = 0; i < found->n; i++)
        if (found->kept[i].class_index == it->class_index &&
            overlap_of(&found->reading, &found->kept[i], it) > found->options.overlap)
            return 1;
    return 0;
}

// In the picture

static double to_picture(const ln_image_axis *axis, double v)
{
    return (v + axis->offset) * axis->in / axis->size;
}

// The part of the box inside the picture. Returns whether it has an area.
static int place_box(const ln_detections *found, const double at[4], float box[4])
{
    for (int k = 0; k < 4; k++) {
        const ln_image_axis *const axis = &found->axes[!(k & 1)];
        box[k] = (float)fmin(fmax(to_picture(axis, at[k]), 0), axis->in);
    }
    return box[0] < box[2] && box[1] < box[3];
}

static void place_points(ln_detections *found, int i)
{
    const ln_detect_reading *const r = &found->reading;
    ln_key_point *const points = &found->points[(size_t)i * (size_t)r->n_points];
    for (int k = 0; k < r->n_points; k++) {
        r->form->point(r, found->kept[i].row, k, &points[k]);
        points[k].x = (float)to_picture(&found->axes[1], points[k].x);
        points[k].y = (float)to_picture(&found->axes[0], points[k].y);
    }
    found->items[i].points = points;
}

static int allocate(ln_detections *found, int n, ln_error *err)
{
    const size_t n_points = (size_t)n * (size_t)found->reading.n_points;
    found->kept = ln_alloc_array((size_t)n, sizeof(*found->kept));
    found->items = ln_alloc_array((size_t)n, sizeof(*found->items));
    found->points = ln_alloc_array(n_points, sizeof(*found->points));
    return found->kept && found->items && found->points
               ? 0
               : ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for %d detections", n);
}

static void keep(ln_detections *found, const candidate *it)
{
    ln_detection *const item = &found->items[found->n];
    if (!place_box(found, it->at, item->box))
        return;
    found->kept[found->n] = *it;
    item->class_index = it->class_index;
    item->label = label_of(&found->reading, it->class_index);
    item->score = it->score;
    if (found->reading.n_points)
        place_points(found, found->n);
    found->n++;
}

static int select_best(ln_detections *found, const candidates *c, ln_error *err)
{
    const int is_done = (found->reading.form->traits & LN_DETECT_SUPPRESSED) != 0;
    const int wanted = found->options.max ? found->options.max : DEFAULT_MAX;
    const int max = wanted < c->n ? wanted : c->n;
    if (allocate(found, max, err))
        return -1;
    for (int i = 0; i < c->n && found->n < max; i++)
        if (is_done || !is_suppressed(found, &c->items[i]))
            keep(found, &c->items[i]);
    return 0;
}

static int check(int n, const ln_image_axis axes[2], const ln_detect_options *options,
                 ln_error *err)
{
    for (int i = 0; i < 2; i++)
        if (axes[i].in < 1 || axes[i].size < 1 || axes[i].out < 1)
            return ln_error_set_as(err, LN_BAD_ARGUMENT,
                                   "an axis of the picture has %d pixels, %d after resizing, and "
                                   "%d in the input, expected at least 1",
                                   axes[i].in, axes[i].size, axes[i].out);
    if (n < 0 || options->max < 0 || options->n_labels < 0 || options->n_points < 0 ||
        options->n_points > LN_DETECT_MAX_POINTS)
        return ln_error_set_as(err, LN_BAD_ARGUMENT,
                               "%d outputs, at most %d detections, %d labels and %d key points; "
                               "expected none below 0, and at most %d points",
                               n, options->max, options->n_labels, options->n_points,
                               LN_DETECT_MAX_POINTS);
    return isnan(options->score) || isnan(options->overlap)
               ? ln_error_set_as(err, LN_BAD_ARGUMENT, "the min score or max overlap is NaN")
               : 0;
}

// The elements of the outputs as floats.
static int read_data(ln_detect_reading *r, ln_error *err)
{
    for (int i = 0; i < LN_DETECT_MAX_ROLES && r->of[i]; i++) {
        const tl_tensor *const t = r->of[i];
        if (t->dtype == TL_FLOAT && t->data) {
            r->data[i] = t->data;
            continue;
        }
        r->own[i] = ln_alloc_array((size_t)t->len, sizeof(*r->own[i]));
        if (!r->own[i])
            return ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for an output of %d",
                                   t->len);
        tl_convert_array(r->own[i], TL_FLOAT, t->data, t->dtype, (size_t)t->len);
        r->data[i] = r->own[i];
    }
    return 0;
}

static int read_outputs(ln_detections *found, int n, const char *const *names,
                        const tl_tensor *const *tensors, ln_error *err)
{
    ln_detect_reading *const r = &found->reading;
    candidates c = {0};
    r->options = &found->options;
    r->height = found->axes[0].out;
    r->width = found->axes[1].out;
    if (ln_detect_find(r, n, names, tensors, err))
        return -1;
    if (read_data(r, err))
        return -1;
    if (!r->form->class_of)
        decide_background(r);
    int status = collect(&c, r, err);
    if (!status) {
        scale(&c, r);
        status = select_best(found, &c, err);
    }
    ln_free(c.items);
    return status;
}

ln_detections *ln_detect(int n, const char *const *names, const tl_tensor *const *tensors,
                         const ln_image_axis axes[2], const ln_detect_options *options,
                         ln_error *err)
{
    if (check(n, axes, options, err))
        return NULL;
    ln_detections *const found = ln_alloc(sizeof(*found));
    if (!found)
        return ln_error_set_as(err, LN_OUT_OF_MEMORY, "out of memory for detections"), NULL;
    found->options = *options;
    memcpy(found->axes, axes, sizeof(found->axes));
    if (!read_outputs(found, n, names, tensors, err))
        return found;
    ln_detections_free(found);
    return NULL;
}

void ln_detections_free(ln_detections *found)
{
    if (!found)
        return;
    for (int i = 0; i < LN_DETECT_MAX_ROLES; i++)
        ln_free(found->reading.own[i]);
    ln_free(found->kept);
    ln_free(found->items);
    ln_free(found->points);
    ln_free(found);
}

// Properties

int ln_detections_count(const ln_detections *found)
{
    return found->n;
}

const ln_detection *ln_detections_item(const ln_detections *found, int i)
{
    return i >= 0 && i < found->n ? &found->items[i] : NULL;
}

const char *ln_detections_family(const ln_detections *found)
{
    return found->reading.form->family.name;
}

const char *ln_detections_task(const ln_detections *found)
{
    return found->reading.form->family.task;
}

int ln_detections_classes(const ln_detections *found)
{
    return found->reading.n_classes;
}

int ln_detections_has_background(const ln_detections *found)
{
    return found->reading.background > 0;
}

int ln_detections_points(const ln_detections *found)
{
    return found->reading.n_points;
}

int ln_detections_has_masks(const ln_detections *found)
{
    return found->reading.masks != LN_DETECT_NO_MASKS;
}

int ln_detections_mask(const ln_detections *found, int i, int region[4], uint8_t *mask,
                       ln_error *err)
{
    if (!ln_detections_has_masks(found))
        return ln_error_set_as(err, LN_BAD_ARGUMENT, "models of family %s (%s) have no masks",
                               ln_detections_family(found), ln_detections_task(found));
    if (i < 0 || i >= found->n)
        return ln_error_set_as(err, LN_BAD_ARGUMENT, "detection %d of %d", i, found->n);
    const float *const box = found->items[i].box;
    // A float may be above an int beyond 2^24.
    for (int k = 0; k < 4; k++)
        region[k] = (int)fmin(k < 2 ? floorf(box[k]) : ceilf(box[k]), found->axes[!(k & 1)].in);
    return mask ? ln_detect_fill_mask(&found->reading, found->axes, found->kept[i].row,
                                      found->kept[i].at, box, region, mask, err)
                : 0;
}
