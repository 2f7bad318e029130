// SPDX-License-Identifier: Apache-2.0
// Tests of detections: coordinates, suppression, recognition, hostile outputs. tests/detectors.py
// compares each family with a decoder of its own.

#include "lightnet/ln_detect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ln_check.h"
#include "ln_guard.h"
#include "tensorlight/tl_util.h"
#include "vision/ln_detect_form.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

// A picture of 200 x 100 (width, height) in an input of 64 x 64.
static const ln_image_axis stretched[2] = {{100, 64, 0, 64}, {200, 64, 0, 64}};
// The same with borders of 16 above and below: 64 / 200 of 100 is 32.
static const ln_image_axis letterboxed[2] = {{100, 32, -16, 64}, {200, 64, 0, 64}};
// The same, of which the input shows the center: 64 / 100 of 200 is 128.
static const ln_image_axis cropped[2] = {{100, 64, 0, 64}, {200, 128, 32, 64}};

static tl_tensor *tensor(const void *data, tl_dtype dtype, int ndim, const int *dims)
{
    tl_tensor *const t = tl_tensor_create((void *)data, ndim, dims, dtype);
    ck_assert_ptr_nonnull(t);
    return t;
}

#define SHAPE(...)                                                         \
    (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)), (const int[]) \
    {                                                                      \
        __VA_ARGS__                                                        \
    }

// The detections of one output, or two; NULL with the reason in *err.
static ln_detections *detect(const ln_image_axis axes[2], const ln_detect_options *options,
                             ln_error *err, tl_tensor *a, tl_tensor *b)
{
    const char *const names[] = {"boxes", "scores"};
    const tl_tensor *const tensors[] = {a, b};
    return ln_detect(b ? 2 : 1, names, tensors, axes, options, err);
}

static void check_box(const ln_detection *d, float x0, float y0, float x1, float y1)
{
    ck_assert_ptr_nonnull(d);
    ck_assert_float_eq_tol(d->box[0], x0, 1e-4f);
    ck_assert_float_eq_tol(d->box[1], y0, 1e-4f);
    ck_assert_float_eq_tol(d->box[2], x1, 1e-4f);
    ck_assert_float_eq_tol(d->box[3], y1, 1e-4f);
}

// Coordinates

START_TEST(boxes_are_pixels_of_the_picture_and_inside_it)
{
    static const float box[] = {16, 8, 48, 40, 0.75f, 3}; // [1, 1, 6]
    static const struct {
        const ln_image_axis *axes;
        float at[4];
    } cases[] = {
        {stretched, {50, 12.5f, 150, 62.5f}},
        {letterboxed, {50, 0, 150, 75}}, // (8 - 16) * 100 / 32 is outside
        {cropped, {75, 12.5f, 125, 62.5f}},
    };
    const ln_detect_options options = {.score = 0.5, .overlap = 0.5};
    tl_tensor *const t = tensor(box, TL_FLOAT, SHAPE(1, 1, 6));
    for (size_t i = 0; i < LEN(cases); i++) {
        ln_detections *const found = detect(cases[i].axes, &options, NULL, t, NULL);
        ck_assert_ptr_nonnull(found);
        ck_assert_int_eq(ln_detections_count(found), 1);
        const ln_detection *const d = ln_detections_item(found, 0);
        check_box(d, cases[i].at[0], cases[i].at[1], cases[i].at[2], cases[i].at[3]);
        ck_assert_int_eq(d->class_index, 3);
        ck_assert_str_eq(ln_detections_family(found), "yolov10");
        ck_assert_ptr_null(ln_detections_item(found, 1));
        ln_detections_free(found);
    }
    tl_tensor_free(t);
}
END_TEST

START_TEST(boxes_in_the_border_or_without_area_are_ignored)
{
    static const float boxes[] = {
        0,  0,  64,  15, 0.9f,     0,        // the upper border
        40, 20, 30,  30, 0.9f,     0,        // x1 < x0
        10, 20, 10,  30, 0.9f,     0,        // no width
        10, 20, NAN, 30, 0.9f,     0,        // NaN
        10, 20, 30,  30, NAN,      0,        // a score that is NaN
        10, 20, 30,  30, INFINITY, 0,        // an infinite one
        10, 20, 30,  30, 0.9f,     NAN,      // no class
        10, 20, 30,  30, 0.9f,     -1,       // the same
        10, 20, 30,  30, 0.9f,     INFINITY, // the same
        10, 20, 30,  40, 0.6f,     1,
    };
    const ln_detect_options options = {.score = 0.5, .overlap = 0.5};
    tl_tensor *const t = tensor(boxes, TL_FLOAT, SHAPE(1, 10, 6));
    ln_detections *const found = detect(letterboxed, &options, NULL, t, NULL);
    ck_assert_int_eq(ln_detections_count(found), 1);
    ck_assert_int_eq(ln_detections_item(found, 0)->class_index, 1);
    ln_detections_free(found);
    tl_tensor_free(t);
}
END_TEST

// Suppression

START_TEST(of_boxes_that_overlap_the_best_of_a_class_remains)
{
    // [1, 4, 4] and [1, 4, 2]: intersections over union with the first one are 1, 0.5 and 0.
    static const float boxes[] = {0, 0, 40, 20, 0, 0, 40, 20, 0, 0, 40, 10, 44, 44, 64, 64};
    static const float scores[] = {0.9f, 0, 0.8f, 0.7f, 0.6f, 0, 0, 0.6f};
    static const struct {
        double score, overlap;
        int max, n;
        float expected[4];
    } cases[] = {
        {0.5, 0.5, 0, 4, {0.9f, 0.7f, 0.6f, 0.6f}}, // row 2 overlaps by 0.5, no more
        {0.5, 0.4, 0, 3, {0.9f, 0.7f, 0.6f}},
        {0.5, 1, 0, 5, {0.9f, 0.8f, 0.7f, 0.6f}},
        {0.7f, 0.4, 0, 2, {0.9f, 0.7f}},
        {0.5, 0.5, 1, 1, {0.9f}},
        {0.95, 0.5, 0, 0, {0}},
    };
    tl_tensor *const b = tensor(boxes, TL_FLOAT, SHAPE(1, 4, 4));
    tl_tensor *const s = tensor(scores, TL_FLOAT, SHAPE(1, 4, 2));
    for (size_t i = 0; i < LEN(cases); i++) {
        const ln_detect_options options = {
            .score = cases[i].score, .overlap = cases[i].overlap, .max = cases[i].max};
        ln_detections *const found = detect(stretched, &options, NULL, b, s);
        ck_assert_ptr_nonnull(found);
        ck_assert_int_eq(ln_detections_count(found), cases[i].n);
        for (int k = 0; k < cases[i].n && k < 4; k++)
            ck_assert_float_eq(ln_detections_item(found, k)->score, cases[i].expected[k]);
        ln_detections_free(found);
    }
    tl_tensor_free(b);
    tl_tensor_free(s);
}
END_TEST

START_TEST(very_many_boxes_are_the_best_ones)
{
    // 70000 boxes without overlap, the best ones last.
    enum { N = 70000 };
    float *const rows = calloc(N, 6 * sizeof(*rows));
    for (int i = 0; i < N; i++) {
        const float x = (float)(i % 1000), y = (float)(i / 1000);
        const float row[6] = {x, y, x + 1, y + 1, 0.5f + (float)i / (4 * N), 7};
        memcpy(rows + 6 * i, row, sizeof(row));
    }
    const ln_image_axis axes[2] = {{100, 100, 0, 100}, {1000, 1000, 0, 1000}};
    const ln_detect_options options = {.score = 0.5, .overlap = 0.5, .max = 30000};
    tl_tensor *const t = tensor(rows, TL_FLOAT, SHAPE(1, N, 6));
    ln_detections *const found = detect(axes, &options, NULL, t, NULL);
    ck_assert_int_eq(ln_detections_count(found), 30000);
    for (int i = 0; i < 30000; i += 100)
        ck_assert_float_eq(ln_detections_item(found, i)->score,
                           0.5f + (float)(N - 1 - i) / (4 * N));
    ln_detections_free(found);
    tl_tensor_free(t);
    free(rows);
}
END_TEST

// Background and labels

START_TEST(labels_decide_whether_there_is_a_background)
{
    static const float boxes[] = {0, 0, 40, 20}, scores[] = {0.6f, 0.4f}, both[] = {0.6f, 0.7f};
    static const char *const three[] = {"a", "b", "c"};
    static const char *const named[] = {"Background", "cat"};
    static const struct {
        const float *scores;
        const char *const *labels;
        int n_labels, background;
        const char *expected; // of the best detection
    } cases[] = {
        {scores, NULL, 0, 1, NULL}, // a softmax
        {both, NULL, 0, 0, NULL},   {both, named, 2, 1, "cat"},
        {both, three, 2, 0, "b"},   {both, three, 1, 1, "a"}, // class 1 is the first label
        {both, three, 3, 0, NULL},                            // do not fit
    };
    const ln_image_axis *const axes = stretched;
    tl_tensor *const b = tensor(boxes, TL_FLOAT, SHAPE(1, 1, 4));
    for (size_t i = 0; i < LEN(cases); i++) {
        const ln_detect_options options = {.score = 0.4f,
                                           .overlap = 0.5,
                                           .n_labels = cases[i].n_labels,
                                           .labels = cases[i].labels};
        tl_tensor *const s = tensor(cases[i].scores, TL_FLOAT, SHAPE(1, 1, 2));
        ln_detections *const found = detect(axes, &options, NULL, b, s);
        ck_assert_int_eq(ln_detections_has_background(found), cases[i].background);
        ck_assert_int_eq(ln_detections_classes(found), 2);
        const ln_detection *const d = ln_detections_item(found, 0);
        ck_assert_int_eq(d->class_index, 1);
        if (cases[i].expected)
            ck_assert_str_eq(d->label, cases[i].expected);
        else
            ck_assert_ptr_null(d->label);
        ln_detections_free(found);
        tl_tensor_free(s);
    }
    tl_tensor_free(b);
}
END_TEST

// Recognition

START_TEST(outputs_of_no_family_are_named_with_the_nearest_one)
{
    ln_error err = {0};
    const ln_detect_options any = {.score = 0.5, .overlap = 0.5},
                            pose = {.kind = "pose", .score = 0.5, .overlap = 0.5},
                            wrong = {.kind = "boxes", .score = 0.5, .overlap = 0.5};
    static const float data[64];
    tl_tensor *const three = tensor(data, TL_FLOAT, SHAPE(1, 3, 10));
    tl_tensor *const two = tensor(data, TL_FLOAT, SHAPE(2, 6));
    tl_tensor *const pair = tensor(data, TL_FLOAT, SHAPE(1, 6, 4));
    ck_assert_ptr_null(detect(stretched, &any, &err, three, NULL));
    ck_assert_str_eq(ln_error_text(&err),
                     "the outputs fit no family of detections: they are 'boxes' [1, 3, 10]; the "
                     "nearest family is yolov8 (detect), which has output [1, 4 + C, N]");
    ln_error_clear(&err);
    ck_assert_ptr_null(detect(stretched, &pose, &err, two, pair));
    ck_assert_str_eq(ln_error_text(&err),
                     "the outputs fit no family of detections of pose: they are 'boxes' [2, 6], "
                     "'scores' [1, 6, 4]; the nearest family is yolov8 (pose), which has output "
                     "[1, 4 + C + 3 K, N]");
    ln_error_clear(&err);
    ck_assert_ptr_null(detect(stretched, &wrong, &err, two, pair));
    ck_assert_ptr_nonnull(strstr(ln_error_text(&err),
                                 "'boxes' is no task or family of detections; "
                                 "expected detect, segment, pose, obb, yolov8, "));
    tl_tensor_free(three);
    tl_tensor_free(two);
    tl_tensor_free(pair);
}
END_TEST

START_TEST(wrong_arguments_are_errors)
{
    static const float data[6];
    ln_error err = {0};
    const ln_image_axis none[2] = {{0, 0, 0, 0}, {1, 1, 0, 1}};
    const ln_detect_options options = {.score = 0.5, .overlap = 0.5}, nan = {.score = NAN},
                            many = {.n_points = 1025};
    tl_tensor *const t = tensor(data, TL_FLOAT, SHAPE(1, 1, 6));
    ck_assert_ptr_null(detect(none, &options, &err, t, NULL));
    ln_error_clear(&err);
    ck_assert_ptr_null(detect(stretched, &nan, &err, t, NULL));
    ck_assert_str_eq(ln_error_text(&err), "the min score or max overlap is NaN");
    ln_error_clear(&err);
    ck_assert_ptr_null(detect(stretched, &many, &err, t, NULL));
    ln_error_clear(&err);
    ln_detections *const found = detect(stretched, &options, &err, t, NULL);
    int region[4];
    ck_assert_int_eq(ln_detections_mask(found, 0, region, NULL, &err), -1);
    ck_assert_str_eq(ln_error_text(&err), "models of family yolov10 (detect) have no masks");
    ln_detections_free(found);
    ln_detections_free(NULL);
    tl_tensor_free(t);
}
END_TEST

// Hostile outputs

static unsigned seed;

static unsigned draw(unsigned limit)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % limit;
}

static double draw_value(void)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -1, 1e30, -1e30, 2e9, 4e9, 0, 1, 5};
    switch (draw(6)) {
    case 0:
        return odd[draw(LEN(odd))];
    case 1:
        return draw(100);
    default:
        return draw(1000) / 1000.0;
    }
}

// A tensor whose last element is the last one of readable memory.
typedef struct hostile {
    ln_guard guard;
    tl_tensor *t;
} hostile;

static void init_hostile(hostile *h, tl_dtype dtype, int ndim, const int *dims)
{
    size_t len = 1;
    for (int i = 0; i < ndim; i++)
        len *= (size_t)dims[i];
    char *const data = ln_guard_alloc(&h->guard, len * tl_size_of(dtype));
    for (size_t i = 0; i < len; i++) {
        const double v = draw_value();
        tl_convert(data + i * tl_size_of(dtype), dtype, &v, TL_DOUBLE);
    }
    h->t = tl_tensor_create(data, ndim, dims, dtype);
    ck_assert_ptr_nonnull(h->t);
}

// The dimensions of a role: its letters drawn once, sometimes others.
static int draw_dims(const char *shape, int sizes[26], int dims[8])
{
    static const int likely[] = {0, 1, 2, 4, 6, 7, 10, 17, 22, 38, 56, 57, 84, 85, 116, 252};
    static const int small[] = {0, 1, 2, 3, 4, 8, 16, 18, 30};
    const char *const comma = strchr(shape, ',');
    const int is_flat = !comma || !strchr(comma + 1, ',');
    int n = 0;
    for (int i = (int)draw(3); i > 0; i--)
        dims[n++] = 1;
    for (const char *at = shape; *at; at += strcspn(at, ","), at += *at == ',') {
        int *const size = *at >= 'A' && *at <= 'Z' ? &sizes[*at - 'A'] : NULL;
        if (size && *size < 0)
            *size = is_flat ? likely[draw(LEN(likely))] : small[draw(LEN(small))];
        dims[n++] = draw(30) == 0 ? small[draw(LEN(small))] : size ? *size : atoi(at);
    }
    return n;
}

static int draw_outputs(const ln_detect_form *form, const ln_image_axis axes[2], hostile *to,
                        const tl_tensor **tensors, const char **names)
{
    static const tl_dtype floats[] = {TL_FLOAT, TL_FLOAT, TL_FLOAT16, TL_DOUBLE};
    static const tl_dtype integers[] = {TL_INT64, TL_INT32, TL_UINT8};
    int sizes[26], dims[8], n = 0;
    for (int i = 0; i < 26; i++)
        sizes[i] = -1;
    for (int i = 0; i < 3; i++) {
        sizes['U' - 'A' + i] = (axes[0].out / (8 << i)) * (axes[1].out / (8 << i));
        sizes['X' - 'A' + i] = 2 * sizes['U' - 'A' + i];
    }
    if (draw(2)) // the cells of the pyramid, with 1 to 3 rows
        sizes['N' - 'A'] =
            (sizes['X' - 'A'] + sizes['Y' - 'A'] + sizes['Z' - 'A']) / 2 * (1 + (int)draw(3));
    if (form->roles[1].shape && form->roles[1].shape[0] == 'M' && draw(4)) { // prototypes
        sizes['M' - 'A'] = 1 + (int)draw(4);
        sizes['P' - 'A'] = sizes['Q' - 'A'] = 8;
        sizes['D' - 'A'] = 6 + sizes['M' - 'A'] + (int)draw(3);
    }
    for (int i = 0; form->head && draw(4) && i < form->head->n_levels; i++) {
        sizes["AEG"[i] - 'A'] = axes[0].out / (form->head->first_stride << i);
        sizes["BFH"[i] - 'A'] = axes[1].out / (form->head->first_stride << i);
    }
    for (const ln_detect_role *role = form->roles; role->shape; role++, n++) {
        const int ndim = draw_dims(role->shape, sizes, dims);
        const int is_integer =
            role->type == LN_DETECT_INTEGER || (role->type == LN_DETECT_ANY && draw(2));
        init_hostile(&to[n], is_integer ? integers[draw(LEN(integers))] : floats[draw(LEN(floats))],
                     ndim, dims);
        tensors[n] = to[n].t;
        names[n] = role->names ? role->names : "output";
    }
    return n;
}

static void check_item(const ln_detections *found, int i, const ln_image_axis axes[2])
{
    const ln_detection *const d = ln_detections_item(found, i);
    const ln_detection *const last = i ? ln_detections_item(found, i - 1) : d;
    ck_assert(d->class_index >= ln_detections_has_background(found));
    ck_assert(!ln_detections_classes(found) || d->class_index < ln_detections_classes(found));
    ck_assert(isfinite(d->score) && d->score >= 0.3f && d->score <= last->score);
    ck_assert(0 <= d->box[0] && d->box[0] < d->box[2] && d->box[2] <= (float)axes[1].in);
    ck_assert(0 <= d->box[1] && d->box[1] < d->box[3] && d->box[3] <= (float)axes[0].in);
    ck_assert((d->points != NULL) == (ln_detections_points(found) > 0));
}

static void check_mask(const ln_detections *found, int i, const ln_image_axis axes[2])
{
    int region[4];
    ln_guard guard;
    ck_assert_int_eq(ln_detections_mask(found, i, region, NULL, NULL), 0);
    ck_assert(0 <= region[0] && region[0] < region[2] && region[2] <= axes[1].in);
    ck_assert(0 <= region[1] && region[1] < region[3] && region[3] <= axes[0].in);
    const size_t size = (size_t)(region[2] - region[0]) * (size_t)(region[3] - region[1]);
    uint8_t *const mask = ln_guard_alloc(&guard, size);
    ck_assert_int_eq(ln_detections_mask(found, i, region, mask, NULL), 0);
    for (size_t k = 0; k < size; k++)
        ck_assert(mask[k] <= 1);
    ck_assert(ln_guard_is_intact(&guard));
    ln_guard_free(&guard);
}

// Returns whether there are detections of the form.
static int check_hostile(const ln_detect_form *form)
{
    static const ln_image_axis *const all[] = {stretched, letterboxed, cropped};
    const ln_image_axis *const axes = all[draw(LEN(all))];
    hostile outputs[LN_DETECT_MAX_ROLES];
    const tl_tensor *tensors[LN_DETECT_MAX_ROLES];
    const char *names[LN_DETECT_MAX_ROLES];
    const char *const labels[] = {"one", "two"};
    const char *const kinds[] = {NULL, form->family.name, form->family.task};
    const ln_detect_options options = {.kind = kinds[draw(LEN(kinds))],
                                       .score = 0.3,
                                       .overlap = draw(10) / 10.0,
                                       .max = (int)draw(4) * 7,
                                       .n_points = draw(4) ? 0 : (int)draw(20),
                                       .n_labels = (int)draw(3),
                                       .labels = labels};
    const int n = draw_outputs(form, axes, outputs, tensors, names);
    ln_detections *const found = ln_detect(n, names, tensors, axes, &options, NULL);
    const int count = found ? ln_detections_count(found) : 0;
    for (int i = 0; i < count; i++)
        check_item(found, i, axes);
    for (int i = 0; i < count && i < 2 && ln_detections_has_masks(found); i++)
        check_mask(found, i, axes);
    ck_assert(!options.max || count <= options.max);
    const int is_form = count && !strcmp(ln_detections_family(found), form->family.name) &&
                        !strcmp(ln_detections_task(found), form->family.task);
    ln_detections_free(found);
    for (int i = 0; i < n; i++) {
        tl_tensor_free(outputs[i].t);
        ln_guard_free(&outputs[i].guard);
    }
    return is_form;
}

START_TEST(hostile_outputs_are_read_within_their_memory)
{
    const ln_detect_form *form;
    enum { N = 400 };
    for (int i = 0; (form = ln_detect_form_row(i)); i++) {
        int n_found = 0;
        seed = (unsigned)i;
        for (int k = 0; k < N; k++)
            n_found += check_hostile(form);
        ck_assert_msg(n_found > 0, "no outputs like those of %s (%s) are its detections",
                      form->family.name, form->family.task);
    }
}
END_TEST

START_TEST(outputs_fit_no_input_that_has_more_cells_than_an_output_can)
{
    static const ln_image_axis huge[2] = {{1 << 30, 1 << 30, 0, 1 << 30},
                                          {1 << 30, 1 << 30, 0, 1 << 30}};
    static const float data[8 * 4]; // SCRFD: scores [N, 1] and boxes [N, 4] of three grids
    static const int n_rows[] = {8, 2, 1};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    const ln_detect_options options = {.kind = "scrfd"};
    const tl_tensor *tensors[6];
    ln_error err = {0};
    for (int i = 0; i < 6; i++)
        tensors[i] = tensor(data, TL_FLOAT, SHAPE(n_rows[i % 3], i < 3 ? 1 : 4));
    ck_assert_ptr_null(ln_detect(6, names, tensors, huge, &options, &err));
    ck_assert_ptr_nonnull(strstr(ln_error_text(&err), "the outputs fit no family"));
    for (int i = 0; i < 6; i++)
        tl_tensor_free((tl_tensor *)tensors[i]);
}
END_TEST

START_TEST(very_many_outputs_end_soon)
{
    enum { N = 200 };
    static const float data[512 * 10];
    const char *names[N];
    const tl_tensor *tensors[N];
    const ln_detect_options options = {.score = 0.5, .overlap = 0.5};
    for (int i = 0; i < N; i++) {
        names[i] = "box score label num";
        tensors[i] = tensor(data, TL_FLOAT, SHAPE(1, 8, i % 3 ? 4 : 10));
    }
    ln_detections_free(ln_detect(N, names, tensors, stretched, &options, NULL));
    for (int i = 0; i < N; i++)
        tl_tensor_free((tl_tensor *)tensors[i]);
}
END_TEST

// Classes of pixels

START_TEST(each_pixel_has_the_class_of_its_element)
{
    // [1, 3, 2, 2]: classes 2, 0 above, 1, 1 below; the first of equal scores; NaN is the least.
    static const float scores[] = {0, 5, NAN, 0, 1, 0, 1, 1, 2, 5, 0, 1};
    const ln_image_axis axes[2] = {{4, 4, 0, 4}, {8, 4, 0, 4}};
    const char *const name = "y";
    int n_classes = 0;
    tl_tensor *const t = tensor(scores, TL_FLOAT, SHAPE(1, 3, 2, 2));
    tl_tensor *const map =
        ln_class_map(1, &name, (const tl_tensor *const[]){t}, axes, 0, 0.5, &n_classes, NULL);
    static const int expected[2][2] = {{2, 0}, {1, 1}};
    ck_assert_ptr_nonnull(map);
    ck_assert_int_eq(n_classes, 3);
    ck_assert_int_eq(map->dims[0], 4);
    ck_assert_int_eq(map->dims[1], 8);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x++)
            ck_assert_int_eq(((const int32_t *)map->data)[y * 8 + x], expected[y / 2][x / 4]);
    tl_tensor_free_data_too(map);
    tl_tensor_free(t);
}
END_TEST

LN_TEST_MAIN("detections", boxes_are_pixels_of_the_picture_and_inside_it,
             boxes_in_the_border_or_without_area_are_ignored,
             of_boxes_that_overlap_the_best_of_a_class_remains, very_many_boxes_are_the_best_ones,
             labels_decide_whether_there_is_a_background,
             outputs_of_no_family_are_named_with_the_nearest_one, wrong_arguments_are_errors,
             hostile_outputs_are_read_within_their_memory,
             outputs_fit_no_input_that_has_more_cells_than_an_output_can,
             very_many_outputs_end_soon, each_pixel_has_the_class_of_its_element)
