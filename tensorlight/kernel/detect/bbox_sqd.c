// SPDX-License-Identifier: Apache-2.0
// SqueezeDet's boxes from the network's outputs for its anchors.
//
// Source: B. Wu, F. Iandola, P. Jin, K. Keutzer: SqueezeDet (2016), section 3.1; operator
// catalogue, transform_bboxSQD.

#include <assert.h>
#include <math.h>

#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_nn.h"

typedef struct bbox_job {
    const float *delta, *anchor;
    float *dst;
    float scale_x, scale_y; // pixels of the image per pixel of the network's input
    float shift_x, shift_y;
    float max_x, max_y; // the last column and row of the image
} bbox_job;

// exp, continued as a line from 1 on, so that an extreme value becomes a large box, not an
// infinite one.
static float safe_exp(float v)
{
    return v < 1 ? expf(v) : v * 2.718281828f;
}

static float clamp(float v, float max)
{
    return v < 0 ? 0 : v > max ? max : v;
}

// Computes the boxes begin .. end-1.
static void run(void *arg, size_t begin, size_t end)
{
    const bbox_job *const job = arg;
    for (size_t i = begin; i < end; i++) {
        const float *const d = job->delta + 4 * i, *const a = job->anchor + 4 * i;
        const float cx = (a[0] + d[0] * a[2]) * job->scale_x + job->shift_x;
        const float cy = (a[1] + d[1] * a[3]) * job->scale_y + job->shift_y;
        const float w = a[2] * safe_exp(d[2]) * job->scale_x;
        const float h = a[3] * safe_exp(d[3]) * job->scale_y;
        float *const box = job->dst + 4 * i; // may be d or a, which are read by now
        box[0] = clamp(cx - w / 2, job->max_x);
        box[1] = clamp(cy - h / 2, job->max_y);
        box[2] = clamp(cx + w / 2, job->max_x);
        box[3] = clamp(cy + h / 2, job->max_y);
    }
}

int tl_exec_transform_bboxSQD(const tl_exec *exec, const tl_tensor *delta, const tl_tensor *anchor,
                              tl_tensor *dst, int width, int height, int img_width, int img_height,
                              int x_shift, int y_shift)
{
    assert(delta->dtype == TL_FLOAT && anchor->dtype == TL_FLOAT && dst->dtype == TL_FLOAT);
    assert(anchor->len == delta->len && dst->len == delta->len && delta->len % 4 == 0);
    assert(width > 0 && height > 0 && img_width > 0 && img_height > 0);
    bbox_job job = {.delta = delta->data,
                    .anchor = anchor->data,
                    .dst = dst->data,
                    .scale_x = (float)img_width / (float)width,
                    .scale_y = (float)img_height / (float)height,
                    .shift_x = (float)x_shift,
                    .shift_y = (float)y_shift,
                    .max_x = (float)(img_width - 1),
                    .max_y = (float)(img_height - 1)};
    tl_parallel(exec, (size_t)delta->len / 4, TL_GRAIN_COMPUTE_BOUND, run, &job);
    return 0;
}

static int check_boxes(const tl_tensor *t, const char *name)
{
    if (tl_check_data(t, name) < 0 || tl_check_shape(t, name, "[.., 4]") < 0)
        return -1;
    if (t->dtype != TL_FLOAT)
        return tl_fail("'%s' is of %s, expected TL_FLOAT", name, tl_dtype_name(t->dtype));
    return 0;
}

tl_tensor *tl_tensor_transform_bboxSQD(const tl_tensor *delta, const tl_tensor *anchor,
                                       tl_tensor *dst, int width, int height, int img_width,
                                       int img_height, int x_shift, int y_shift)
{
    if (check_boxes(delta, "delta") < 0 || check_boxes(anchor, "anchor") < 0 ||
        tl_check_same_shape(delta, anchor) < 0 || tl_check_at_least("width", &width, 1, 1) < 0 ||
        tl_check_at_least("height", &height, 1, 1) < 0 ||
        tl_check_at_least("img_width", &img_width, 1, 1) < 0 ||
        tl_check_at_least("img_height", &img_height, 1, 1) < 0 ||
        tl_check_in_place(dst, delta) < 0 || tl_check_in_place(dst, anchor) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, delta->ndim, delta->dims, TL_FLOAT);
    return tl_result_end(result, dst,
                         result
                             ? tl_exec_transform_bboxSQD(NULL, delta, anchor, result, width, height,
                                                         img_width, img_height, x_shift, y_shift)
                             : -1);
}
