// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression: of boxes that overlap, the best one stays.

#include <assert.h>

#include "kernel/sort1d/sort1d.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_shape.h"

typedef struct box {
    float left, top, right, bottom;
} box;

static float smaller(float a, float b)
{
    return a < b ? a : b;
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

static box box_at(const float *numbers, int is_center_and_size)
{
    if (is_center_and_size) {
        const float w = numbers[2] / 2, h = numbers[3] / 2;
        return (box){numbers[0] - w, numbers[1] - h, numbers[0] + w, numbers[1] + h};
    }
    return (box){smaller(numbers[1], numbers[3]), smaller(numbers[0], numbers[2]),
                 larger(numbers[1], numbers[3]), larger(numbers[0], numbers[2])};
}

static float area_of(const box *b)
{
    return (b->right - b->left) * (b->bottom - b->top);
}

/** Is intersection over union more than `most`? Not for boxes without an area. */
static int overlaps(const box *a, const box *b, float most)
{
    const float w = smaller(a->right, b->right) - larger(a->left, b->left);
    const float h = smaller(a->bottom, b->bottom) - larger(a->top, b->top);
    const float area_a = area_of(a), area_b = area_of(b);
    if (w <= 0 || h <= 0 || area_a <= 0 || area_b <= 0)
        return 0;
    return w * h / (area_a + area_b - w * h) > most;
}

/** One batch and class. */
typedef struct nms_job {
    const float *boxes, *scores;
    const tl_nms *how;
    int64_t batch, class;
    int64_t (*to)[3]; /* the rows that are chosen */
    const tl_stop *stop;
} nms_job;

static int is_suppressed(const nms_job *job, int n, int32_t candidate)
{
    const int form = job->how->is_center_and_size;
    const box b = box_at(job->boxes + 4 * (size_t)candidate, form);
    for (int i = 0; i < n; i++) {
        const box chosen = box_at(job->boxes + 4 * job->to[i][2], form);
        if (overlaps(&b, &chosen, job->how->overlap))
            return 1;
    }
    return 0;
}

/** Chooses among `len` boxes in this order; returns how many rows were written. */
static int choose(const nms_job *job, const int32_t *order, int len)
{
    int n = 0;
    for (int i = 0; i < len && n < job->how->most && !tl_stop_is_requested(job->stop); i++) {
        if (job->how->has_score && !(job->scores[order[i]] > job->how->score))
            break; // all that follow score less, or are NaN
        if (is_suppressed(job, n, order[i]))
            continue;
        job->to[n][0] = job->batch;
        job->to[n][1] = job->class;
        job->to[n][2] = order[i];
        n++;
    }
    return n;
}

size_t tl_nms_scratch(const tl_tensor *boxes)
{
    return 2 * sizeof(int32_t) * (size_t)boxes->dims[1];
}

int tl_exec_nms(const tl_exec *exec, const tl_tensor *boxes, const tl_tensor *scores,
                const tl_nms *how, tl_tensor *dst, int *n)
{
    assert(boxes->dtype == TL_FLOAT && scores->dtype == TL_FLOAT && dst->dtype == TL_INT64);
    const int len = boxes->dims[1], classes = scores->dims[1];
    *n = 0;
    if (boxes->len == 0 || scores->len == 0)
        return 0;
    if (tl_check_scratch(exec, tl_nms_scratch(boxes), "for the order of boxes") < 0)
        return -1;
    int32_t *const order = exec->scratch;
    for (int b = 0; b < boxes->dims[0]; b++) {
        for (int c = 0; c < classes; c++) {
            const nms_job job = {.boxes = (const float *)boxes->data + 4 * (size_t)b * (size_t)len,
                                 .scores = (const float *)scores->data +
                                           (size_t)(b * classes + c) * (size_t)len,
                                 .how = how,
                                 .batch = b,
                                 .class = c,
                                 .to = (int64_t(*)[3])dst->data + *n,
                                 .stop = exec->stop};
            tl_sort1d_f32_c(job.scores, (size_t)len, TL_SORT_DIR_DESCENDING, order, order + len,
                            exec->stop);
            *n += choose(&job, order, len);
        }
    }
    return 0;
}
