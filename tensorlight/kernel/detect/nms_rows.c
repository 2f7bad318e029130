// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression of rows that hold class, score and box; removed rows become -1.

#include <assert.h>
#include <math.h>

#include "kernel/sort1d/sort1d.h"
#include "tensor/tl_result.h"
#include "tensorlight/tl_shape.h"

// One batch.
typedef struct rows_job {
    const float *rows; // [.., width]
    int width;
    const tl_nms_rows *how;
    int32_t *order; // the rows, best first; -1: removed
    int len;
    const tl_stop *stop;
} rows_job;

static const float *row_at(const rows_job *job, int i)
{
    return job->rows + (size_t)job->order[i] * (size_t)job->width;
}

// Intersection over union of [left, top, right, bottom]; 0 for boxes without an area.
static float iou_of(const float *a, const float *b)
{
    const float w = fmaxf(0, fminf(a[2], b[2]) - fmaxf(a[0], b[0]));
    const float h = fmaxf(0, fminf(a[3], b[3]) - fmaxf(a[1], b[1]));
    const float union_area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - w * h;
    return union_area > 0 ? w * h / union_area : 0;
}

static int is_valid_box(const rows_job *job, int i)
{
    if (job->order[i] < 0)
        return 0;
    const float *const row = row_at(job, i);
    return row[job->how->score] > 0 && (job->how->label < 0 || row[job->how->label] >= 0);
}

// Whether box `i` suppresses box `k`.
static int suppresses(const rows_job *job, int i, int k)
{
    const tl_nms_rows *const how = job->how;
    const float *const a = row_at(job, i), *const b = row_at(job, k);
    const int compares = how->across_labels || how->label < 0 || a[how->label] == b[how->label];
    return compares && iou_of(a + how->box, b + how->box) >= how->overlap;
}

static void suppress(const rows_job *job)
{
    for (int i = 0; i < job->len && !tl_stop_is_requested(job->stop); i++)
        for (int k = i + 1; is_valid_box(job, i) && k < job->len; k++)
            if (is_valid_box(job, k) && suppresses(job, i, k))
                job->order[k] = -1;
}

static void select_rows(rows_job *job, float *keys, int32_t *other)
{
    if (job->how->overlap > 0) {
        for (int i = 0; i < job->len; i++)
            keys[i] = job->rows[(size_t)i * (size_t)job->width + (size_t)job->how->score];
        tl_sort1d_f32_c(keys, (size_t)job->len, TL_SORT_DIR_DESCENDING, job->order, other,
                        job->stop);
        if (job->how->max_compared > 0 && job->how->max_compared < job->len)
            job->len = job->how->max_compared;
        suppress(job);
    } else {
        for (int i = 0; i < job->len; i++)
            job->order[i] = i;
    }
    // Drops boxes beyond the max number.
    for (int i = 0, n = 0; i < job->len && job->how->max > 0; i++)
        if (is_valid_box(job, i) && n++ >= job->how->max)
            job->order[i] = -1;
}

// Writes the remaining rows, all `room` rows. `index` may be NULL.
static void write_rows(const rows_job *job, int room, float *dst, int32_t *index)
{
    int to = 0;
    for (int i = 0; i < job->len; i++) {
        if (job->order[i] < 0 && job->how->packs)
            continue;
        for (int k = 0; k < job->width; k++)
            dst[(size_t)to * (size_t)job->width + (size_t)k] =
                job->order[i] < 0 ? -1 : row_at(job, i)[k];
        if (index)
            index[to] = job->order[i];
        to++;
    }
    for (; to < room; to++) {
        for (int k = 0; k < job->width; k++)
            dst[(size_t)to * (size_t)job->width + (size_t)k] = -1;
        if (index)
            index[to] = -1;
    }
}

size_t tl_nms_rows_scratch(const tl_tensor *src)
{
    return (sizeof(float) + 2 * sizeof(int32_t)) * (size_t)src->dims[1];
}

int tl_exec_nms_rows(const tl_exec *exec, const tl_tensor *src, const tl_tensor *count,
                     const tl_nms_rows *how, tl_tensor *dst, tl_tensor *index)
{
    assert(src->dtype == TL_FLOAT && src->ndim == 3 && dst->dtype == TL_FLOAT);
    const int room = src->dims[1], width = src->dims[2];
    if (!src->len)
        return 0;
    if (tl_check_scratch(exec, tl_nms_rows_scratch(src), "for the order of boxes") < 0)
        return -1;
    int32_t *const order = exec->scratch;
    for (int b = 0; b < src->dims[0]; b++) {
        const size_t at = (size_t)b * (size_t)room;
        const int asked = count ? ((const int32_t *)count->data)[b] : room;
        rows_job job = {.rows = (const float *)src->data + at * (size_t)width,
                        .width = width,
                        .how = how,
                        .order = order,
                        .len = asked < 0      ? 0
                               : asked < room ? asked
                                              : room,
                        .stop = exec->stop};
        select_rows(&job, (float *)(order + 2 * (size_t)room), order + room);
        write_rows(&job, room, (float *)dst->data + at * (size_t)width,
                   index ? (int32_t *)index->data + at : NULL);
    }
    return 0;
}
