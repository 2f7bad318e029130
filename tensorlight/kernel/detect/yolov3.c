// SPDX-License-Identifier: Apache-2.0
// Boxes, confidences and class probabilities from one head of YOLOv3.
//
// Source: J. Redmon, A. Farhadi: YOLOv3: An Incremental Improvement (2018), section 2.1; operator
// catalogue, detect_yolov3.

#include <assert.h>
#include <math.h>

#include "kernel/tl_axis.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

// The channels of an anchor, in this order; the classes follow.
enum { TX, TY, TW, TH, CONF, CLASSES };

// All planes are [H, W]; `feature` has CLASSES + classes of them per anchor.
typedef struct yolo_job {
    const float *feature, *anchors;
    float *centers, *sizes, *boxes, *confs, *probs;
    int height, width, classes;
    float cell_height, cell_width; // in pixels of the image
} yolo_job;

static float logistic(float v)
{
    return 1 / (1 + expf(-v));
}

// The size of a box relative to its anchor, limited to 1e-9 .. 50.
static float ratio(float v)
{
    const float e = expf(v);
    return e < 1e-9f ? 1e-9f : e > 50 ? 50 : e;
}

// The box of one cell, in all three forms.
static void decode_box(const yolo_job *job, size_t a, int row, int column)
{
    const size_t plane = (size_t)job->height * job->width;
    const size_t at = (size_t)row * job->width + column;
    const float *const in = job->feature + a * (CLASSES + (size_t)job->classes) * plane + at;
    const float cx = (logistic(in[TX * plane]) + (float)column) * job->cell_width;
    const float cy = (logistic(in[TY * plane]) + (float)row) * job->cell_height;
    const float w = job->anchors[2 * a] * ratio(in[TW * plane]);
    const float h = job->anchors[2 * a + 1] * ratio(in[TH * plane]);
    float *const center = job->centers + 2 * a * plane + at;
    float *const size = job->sizes + 2 * a * plane + at;
    float *const box = job->boxes + 4 * a * plane + at;
    center[0] = cx;
    center[plane] = cy;
    size[0] = w;
    size[plane] = h;
    box[0] = cx - w / 2;
    box[plane] = cy - h / 2;
    box[2 * plane] = cx + w / 2;
    box[3 * plane] = cy + h / 2;
}

// The probabilities of one row of cells: of an object, and of each class.
static void decode_probs(const yolo_job *job, size_t a, int row)
{
    const size_t plane = (size_t)job->height * job->width;
    const size_t start = (size_t)row * job->width;
    const float *const in = job->feature + a * (CLASSES + (size_t)job->classes) * plane + start;
    float *const conf = job->confs + a * plane + start;
    float *const prob = job->probs + a * (size_t)job->classes * plane + start;
    for (int x = 0; x < job->width; x++)
        conf[x] = logistic(in[CONF * plane + x]);
    for (int k = 0; k < job->classes; k++)
        for (int x = 0; x < job->width; x++)
            prob[k * plane + x] = logistic(in[(CLASSES + (size_t)k) * plane + x]);
}

// Computes the rows of cells (anchor and row) begin .. end-1.
static void run(void *arg, size_t begin, size_t end)
{
    const yolo_job *const job = arg;
    for (size_t unit = begin; unit < end; unit++) {
        const size_t a = unit / job->height;
        const int row = (int)(unit % job->height);
        for (int column = 0; column < job->width; column++)
            decode_box(job, a, row, column);
        decode_probs(job, a, row);
    }
}

int tl_exec_detect_yolov3(const tl_exec *exec, const tl_tensor *feature, const tl_tensor *anchors,
                          tl_tensor *box_centers, tl_tensor *box_sizes, tl_tensor *boxes,
                          tl_tensor *confs, tl_tensor *probs, int img_h, int img_w)
{
    assert(feature->dtype == TL_FLOAT && feature->ndim == 4 && feature->dims[0] == 1);
    assert(anchors->dtype == TL_FLOAT && anchors->ndim == 2 && anchors->dims[1] == 2);
    assert(feature->dims[1] % anchors->dims[0] == 0);
    const int n = anchors->dims[0], height = feature->dims[2], width = feature->dims[3];
    yolo_job job = {.feature = feature->data,
                    .anchors = anchors->data,
                    .centers = box_centers->data,
                    .sizes = box_sizes->data,
                    .boxes = boxes->data,
                    .confs = confs->data,
                    .probs = probs->data,
                    .height = height,
                    .width = width,
                    .classes = feature->dims[1] / n - CLASSES,
                    .cell_height = (float)img_h / (float)height,
                    .cell_width = (float)img_w / (float)width};
    assert(job.classes >= 1 && probs->len == n * job.classes * height * width);
    if (feature->len > 0)
        tl_parallel(exec, (size_t)n * height,
                    tl_axis_grain(16 * (size_t)width * (CLASSES + (size_t)job.classes)), run, &job);
    return 0;
}

int tl_detect_yolov3_check(const tl_tensor *feature, const tl_tensor *anchors)
{
    if (tl_check_shape(feature, "feature", "[1, C, H, W]") < 0 ||
        tl_check_shape(anchors, "anchors", "[A, 2]") < 0)
        return -1;
    const int channels = feature->dims[1], n = anchors->dims[0];
    if (n < 1 || channels % n != 0 || channels / n <= CLASSES)
        return tl_fail("'feature' has %d channels and 'anchors' %d rows, expected for each of 1 or "
                       "more anchors %d channels and 1 or more classes",
                       channels, n, CLASSES);
    return 0;
}

static int check_inputs(const tl_tensor *feature, const tl_tensor *anchors)
{
    if (tl_check_data(feature, "feature") < 0 || tl_check_data(anchors, "anchors") < 0)
        return -1;
    if (feature->dtype != TL_FLOAT || anchors->dtype != TL_FLOAT)
        return tl_fail("'feature' has dtype %s, 'anchors' %s, expected TL_FLOAT",
                       tl_dtype_name(feature->dtype), tl_dtype_name(anchors->dtype));
    return tl_detect_yolov3_check(feature, anchors);
}

int tl_tensor_detect_yolov3(const tl_tensor *feature, const tl_tensor *anchors,
                            tl_tensor *box_centers, tl_tensor *box_sizes, tl_tensor *boxes,
                            tl_tensor *confs, tl_tensor *probs, int img_h, int img_w)
{
    if (check_inputs(feature, anchors) < 0 || tl_check_at_least("img_h", &img_h, 1, 1) < 0 ||
        tl_check_at_least("img_w", &img_w, 1, 1) < 0)
        return -1;
    const int n = anchors->dims[0];
    const struct {
        tl_tensor *t;
        const char *name;
        int channels;
    } outputs[] = {
        {box_centers, "box_centers", 2},
        {box_sizes, "box_sizes", 2},
        {boxes, "boxes", 4},
        {confs, "confs", 1},
        {probs, "probs", feature->dims[1] / n - CLASSES},
    };
    for (size_t i = 0; i < sizeof(outputs) / sizeof(*outputs); i++) {
        const int dims[] = {1, n, outputs[i].channels, feature->dims[2], feature->dims[3]};
        if (tl_check_given(outputs[i].t, outputs[i].name, 5, dims, TL_FLOAT) < 0)
            return -1;
        int is_apart = tl_check_apart(outputs[i].t, feature) == 0 &&
                       tl_check_apart(outputs[i].t, anchors) == 0;
        for (size_t k = 0; k < i; k++)
            is_apart = is_apart && tl_check_apart(outputs[i].t, outputs[k].t) == 0;
        if (!is_apart)
            return tl_fail("'%s' overlaps another argument, expected separate data",
                           outputs[i].name);
    }
    return tl_exec_detect_yolov3(NULL, feature, anchors, box_centers, box_sizes, boxes, confs,
                                 probs, img_h, img_w);
}
