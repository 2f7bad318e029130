// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression (ONNX NonMaxSuppression): of boxes that overlap, selects the best.
//
// Candidates of a class are keys of 64 bits: the score, then the complement of the box's index, so
// that the max key is the best box. A lazy radix sort partitions segments by the highest bit in
// which their keys differ, larger ones first, down to short ones: 100 of 6,300 candidates cost
// little more than two passes over them, and no input costs more than one pass per bit.
//
// Boxes are converted to corners once for all classes. Corners and areas of selected boxes are in
// separate arrays, in groups that a candidate is compared with in vectors.

#include <assert.h>
#include <string.h>

#include "tensor/tl_result.h"
#include "tensorlight/tl_shape.h"

// Boxes that are compared at a time, and the length of a segment that is sorted.
enum { GROUP = 16, SHORT = 16 };

// A segment for each bit, and the one to partition.
enum { MAX_SEGMENTS = 66 };

typedef struct box {
    float left, top, right, bottom;
} box;

static float min_of(float a, float b)
{
    return a < b ? a : b;
}

static float max_of(float a, float b)
{
    return a > b ? a : b;
}

static box box_at(const float *numbers, int is_center_and_size)
{
    if (is_center_and_size) {
        const float w = numbers[2] / 2, h = numbers[3] / 2;
        return (box){numbers[0] - w, numbers[1] - h, numbers[0] + w, numbers[1] + h};
    }
    return (box){min_of(numbers[1], numbers[3]), min_of(numbers[0], numbers[2]),
                 max_of(numbers[1], numbers[3]), max_of(numbers[0], numbers[2])};
}

static float area_of(const box *b)
{
    return (b->right - b->left) * (b->bottom - b->top);
}

// Overlaps

// A group of selected boxes. Unused lanes have area 0, so that nothing overlaps them.
typedef struct group {
    float left[GROUP], top[GROUP], right[GROUP], bottom[GROUP], area[GROUP];
} group;

// Whether the intersection over union of the box and one of the group exceeds `max`. Boxes
// without an area overlap nothing.
static int overlaps_any(const box *a, const group *g, float max)
{
    const float area = area_of(a);
    int any = 0;
    if (area <= 0)
        return 0;
    for (int i = 0; i < GROUP; i++) {
        const float w = min_of(a->right, g->right[i]) - max_of(a->left, g->left[i]);
        const float h = min_of(a->bottom, g->bottom[i]) - max_of(a->top, g->top[i]);
        const int overlaps = !(w <= 0) & !(h <= 0) & !(g->area[i] <= 0);
        any |= overlaps & (w * h / (area + g->area[i] - w * h) > max);
    }
    return any;
}

static int is_suppressed(const group *groups, int n, const box *candidate, float max)
{
    for (int i = 0; i * GROUP < n; i++)
        if (overlaps_any(candidate, &groups[i], max))
            return 1;
    return 0;
}

static void add_to_group(group *groups, int n, const box *b)
{
    group *const g = &groups[n / GROUP];
    const int i = n % GROUP;
    if (i == 0)
        memset(g, 0, sizeof(*g));
    g->left[i] = b->left;
    g->top[i] = b->top;
    g->right[i] = b->right;
    g->bottom[i] = b->bottom;
    g->area[i] = area_of(b);
}

// Candidates

// Larger scores have larger keys, NaN the smallest; 0 and -0 are equal. Of equal scores, the lower
// index has the larger key.
static uint64_t key_of(float score, int index)
{
    const float positive_zero = score + 0.0f;
    uint32_t bits = 0;
    if (score == score) {
        memcpy(&bits, &positive_zero, sizeof(bits));
        bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
    }
    return (uint64_t)bits << 32 | (UINT32_MAX - (uint32_t)index);
}

static int any_exceeds(const float *scores, float min)
{
    int any = 0;
    for (int i = 0; i < GROUP; i++)
        any |= scores[i] > min;
    return any;
}

// Writes the keys of the boxes that exceed the min score, if any; returns their number.
static int find_candidates(const float *scores, int len, const tl_nms *how, uint64_t *keys)
{
    int n = 0;
    for (int i = 0; i < len; i += GROUP) {
        const int end = len - i < GROUP ? len : i + GROUP;
        if (how->has_score && end - i == GROUP && !any_exceeds(scores + i, how->score))
            continue;
        for (int k = i; k < end; k++) {
            keys[n] = key_of(scores[k], k);
            n += !how->has_score || scores[k] > how->score;
        }
    }
    return n;
}

// The order of candidates

// Segments that are not sorted yet, each with smaller keys than those above it.
typedef struct queue {
    uint64_t *keys;
    int next, sorted;       // the next key; the number of sorted keys
    int ends[MAX_SEGMENTS]; // where the segments end, the topmost beginning at `sorted`
    int n_segments;
} queue;

// The highest bit in which the keys, which are distinct, differ.
static uint64_t highest_difference(const uint64_t *keys, int n)
{
    uint64_t differing = 0;
    for (int i = 1; i < n; i++)
        differing |= keys[i] ^ keys[0];
    while (differing & (differing - 1))
        differing &= differing - 1;
    return differing;
}

// Moves the keys with the bit to the front; returns their number.
static int partition(uint64_t *keys, int n, uint64_t bit)
{
    int with = 0;
    for (int i = 0; i < n; i++) {
        const uint64_t key = keys[i];
        keys[i] = keys[with];
        keys[with] = key;
        with += (key & bit) != 0;
    }
    return with;
}

static void sort_short(uint64_t *keys, int n)
{
    for (int i = 1; i < n; i++) {
        const uint64_t key = keys[i];
        int k = i;
        for (; k > 0 && keys[k - 1] < key; k--)
            keys[k] = keys[k - 1];
        keys[k] = key;
    }
}

// Sorts the segment of the largest unsorted keys.
static void sort_more(queue *q)
{
    int n = q->ends[q->n_segments - 1] - q->sorted;
    uint64_t *const keys = q->keys + q->sorted;
    while (n > SHORT) {
        n = partition(keys, n, highest_difference(keys, n));
        q->ends[q->n_segments++] = q->sorted + n;
    }
    sort_short(keys, n);
    q->sorted += n;
    q->n_segments--;
}

// The next best candidate; 0: none is left.
static int next_candidate(queue *q, int *index)
{
    while (q->next == q->sorted && q->n_segments > 0)
        sort_more(q);
    if (q->next == q->sorted)
        return 0;
    *index = (int)(UINT32_MAX - (uint32_t)q->keys[q->next++]);
    return 1;
}

// Selection

// One batch.
typedef struct nms_job {
    const box *boxes;
    int len;
    const tl_nms *how;
    uint64_t *keys; // [len]
    group *groups;  // room for all boxes
    const tl_stop *stop;
} nms_job;

// Selects boxes of a class; returns the number of rows written.
static int select_boxes(const nms_job *job, const float *scores, int batch, int class,
                        int64_t (*to)[3])
{
    int n = 0, i;
    queue q = {.keys = job->keys, .n_segments = 1};
    q.ends[0] = find_candidates(scores, job->len, job->how, job->keys);
    while (n < job->how->max && !tl_stop_is_requested(job->stop) && next_candidate(&q, &i)) {
        if (is_suppressed(job->groups, n, &job->boxes[i], job->how->overlap))
            continue;
        add_to_group(job->groups, n, &job->boxes[i]);
        to[n][0] = batch;
        to[n][1] = class;
        to[n++][2] = i;
    }
    return n;
}

static size_t groups_of(size_t len)
{
    return (len + GROUP - 1) / GROUP;
}

size_t tl_nms_scratch(const tl_tensor *boxes)
{
    const size_t len = (size_t)boxes->dims[1];
    return len * (sizeof(uint64_t) + sizeof(box)) + groups_of(len) * sizeof(group);
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
    uint64_t *const keys = exec->scratch;
    group *const groups = (group *)(keys + len);
    box *const each = (box *)(groups + groups_of((size_t)len));
    const nms_job job = {
        .boxes = each, .len = len, .how = how, .keys = keys, .groups = groups, .stop = exec->stop};
    for (int b = 0; b < boxes->dims[0]; b++) {
        const float *const numbers = (const float *)boxes->data + 4 * (size_t)b * (size_t)len;
        for (int i = 0; i < len; i++)
            each[i] = box_at(numbers + 4 * (size_t)i, how->is_center_and_size);
        for (int c = 0; c < classes && !tl_stop_is_requested(job.stop); c++)
            *n += select_boxes(
                &job, (const float *)scores->data + (size_t)(b * classes + c) * (size_t)len, b, c,
                (int64_t(*)[3])dst->data + *n);
    }
    return 0;
}
