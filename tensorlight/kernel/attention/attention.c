// SPDX-License-Identifier: Apache-2.0
// Attention: checks, layouts of the tensors, threads.

#include "kernel/attention/attention.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "tensor/tl_result.h"
#include "tensorlight/tl_attention.h"
#include "tensorlight/tl_linalg.h"
#include "tensorlight/tl_util.h"

TL_KERNEL_TABLE(pick, tl_attention_func, TL_ATTENTION_KERNELS)
TL_KERNEL_TABLE(pick_tiles, tl_attention_func, TL_ATTENTION_TILES)

// Shapes

// The extents of a tensor, for either order of its axes.
typedef struct shape {
    int batch, heads, rows, len;
} shape;

static shape shape_of(const tl_tensor *t, int axis)
{
    return (shape){t->dims[0], t->dims[axis], t->dims[3 - axis], t->dims[3]};
}

static int check_tensor(const tl_tensor *t, const char *name, const tl_tensor *q, int axis)
{
    if (axis != 1 && axis != 2)
        return tl_fail("'%s_axis' is %d, expected 1 or 2", name, axis);
    if (tl_check_shape(t, name, axis == 1 ? "[B, H, S, D]" : "[B, S, H, D]") < 0)
        return -1;
    if (t->dtype != q->dtype)
        return tl_fail("'%s' is of %s, expected %s as 'q'", name, tl_dtype_name(t->dtype),
                       tl_dtype_name(q->dtype));
    return 0;
}

static int check_shapes(shape q, shape k, shape v)
{
    if (k.batch != q.batch || v.batch != q.batch)
        return tl_fail("batch sizes of 'q', 'k' and 'v' are %d, %d and %d, expected equal ones",
                       q.batch, k.batch, v.batch);
    if (v.heads != k.heads)
        return tl_fail("'k' has %d heads and 'v' has %d, expected equal numbers", k.heads, v.heads);
    if (k.heads == 0 ? q.heads != 0 : q.heads % k.heads != 0)
        return tl_fail("'q' has %d heads, expected a multiple of %d, the heads of 'k'", q.heads,
                       k.heads);
    if (v.rows != k.rows)
        return tl_fail("'k' has %d rows and 'v' has %d, expected equal numbers", k.rows, v.rows);
    if (k.len != q.len)
        return tl_fail("'k' has rows of %d and 'q' of %d, expected equal lengths", k.len, q.len);
    return 0;
}

int tl_attention_dims(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                      const tl_tensor *mask, const tl_attention_param *param, int *dims)
{
    if (check_tensor(q, "q", q, param->q_axis) < 0 || check_tensor(k, "k", q, param->k_axis) < 0 ||
        check_tensor(v, "v", q, param->v_axis) < 0)
        return -1;
    if (param->dst_axis != 1 && param->dst_axis != 2)
        return tl_fail("'dst_axis' is %d, expected 1 or 2", param->dst_axis);
    const shape qs = shape_of(q, param->q_axis), ks = shape_of(k, param->k_axis);
    const shape vs = shape_of(v, param->v_axis);
    if (check_shapes(qs, ks, vs) < 0)
        return -1;
    const int scores[] = {qs.batch, qs.heads, qs.rows, ks.rows};
    if (mask && mask->dtype != q->dtype)
        return tl_fail("'mask' is of %s, expected %s as 'q'", tl_dtype_name(mask->dtype),
                       tl_dtype_name(q->dtype));
    if (mask && tl_broadcast_check(mask, "mask", 4, scores) < 0)
        return -1;
    dims[0] = qs.batch;
    dims[param->dst_axis] = qs.heads;
    dims[3 - param->dst_axis] = qs.rows;
    dims[3] = vs.len;
    return 0;
}

// The job

// `rows`: those of the memory of a head; 0: those that it has.
static tl_attention_view view_of(const tl_tensor *t, int axis, int rows)
{
    const size_t len = (size_t)t->dims[3], heads = (size_t)t->dims[axis];
    const size_t all = rows ? (size_t)rows : (size_t)t->dims[3 - axis];
    const size_t outer = (axis == 1 ? all : heads) * len; // from index to index of axis 1
    return (tl_attention_view){.data = t->data,
                               .batch = heads * all * len,
                               .head = axis == 1 ? outer : len,
                               .row = axis == 1 ? len : outer};
}

// The step along `axis` of the scores [B, H, S, T], to which `mask` is broadcast.
static size_t mask_step(const tl_tensor *mask, int axis)
{
    size_t step = 1;
    const int mask_axis = axis - 4 + mask->ndim;
    if (mask_axis < 0 || mask->dims[mask_axis] == 1)
        return 0;
    for (int i = mask_axis + 1; i < mask->ndim; i++)
        step *= (size_t)mask->dims[i];
    return step;
}

static tl_attention_job job_of(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                               const tl_attention_param *param)
{
    const shape qs = shape_of(q, param->q_axis), ks = shape_of(k, param->k_axis);
    return (tl_attention_job){.q = view_of(q, param->q_axis, 0),
                              .k = view_of(k, param->k_axis, param->k_rows),
                              .v = view_of(v, param->v_axis, param->v_rows),
                              .heads = (size_t)ks.heads,
                              .group = ks.heads ? (size_t)(qs.heads / ks.heads) : 0,
                              .q_len = (size_t)qs.rows,
                              .kv_len = (size_t)ks.rows,
                              .d = (size_t)qs.len,
                              .e = (size_t)v->dims[3],
                              .scale = param->scale,
                              .zero_empty = param->zero_empty};
}

// Floats of the matrices of a unit for matrix units (attention_tile_simd.c).
static size_t tiled_floats(const tl_attention_job *job)
{
    enum { TILE = 16, ROWS = TL_ATTENTION_TILED_ROWS, KEYS = TL_ATTENTION_TILED_KEYS };
    const size_t words = tl_ceil_div(job->d, 2 * TILE) * TILE;
    const size_t elements = tl_ceil_div(job->e, TILE) * TILE;
    return (ROWS + TILE + KEYS) * words + ROWS * KEYS + (KEYS / 2 + ROWS) * elements;
}

// Whether queries and keys of a head fill tiles.
static int fills_tiles(const tl_attention_job *job, tl_dtype dtype, const tl_attention_param *param)
{
    enum { ROWS = 16, KEYS = 32 };
    return param->in_pairs && dtype == TL_FLOAT && job->group * job->q_len >= ROWS &&
           job->kv_len >= KEYS;
}

// Plain C stores the scores and sums of one row; SIMD, blocks of queries, scores and sums.
static size_t slot_size(const tl_attention_job *job, tl_dtype dtype, int is_tiled)
{
    if (is_tiled)
        return tl_ceil_div(tiled_floats(job) * sizeof(float), 64) * 64;
    const size_t element = dtype == TL_DOUBLE ? sizeof(double) : sizeof(float);
    const size_t plain = (job->kv_len + job->e) * element;
    const size_t blocks = TL_ATTENTION_ROWS * (job->d + job->e + TL_ATTENTION_KEYS) * sizeof(float);
    const size_t size = dtype == TL_FLOAT && blocks > plain ? blocks : plain;
    return (size + 63) / 64 * 64; // slots share no cache line
}

size_t tl_attention_scratch(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                            const tl_attention_param *param, int threads)
{
    const tl_attention_job job = job_of(q, k, v, param);
    const size_t size = slot_size(&job, q->dtype, 0);
    const size_t tiled = fills_tiles(&job, q->dtype, param) ? slot_size(&job, q->dtype, 1) : 0;
    return tl_slots_size(size > tiled ? size : tiled, threads);
}

// Masked keys

// Keys begin .. end-1.
typedef struct span {
    size_t begin, end;
} span;

// Extends `s` to the elements of a row of a mask that are not -infinity, which is `low`.
#define EXTEND(name, type, low)                                      \
    static void name(const void *mask, size_t at, size_t n, span *s) \
    {                                                                \
        enum { CHUNK = 16 };                                         \
        const type *const row = (const type *)mask + at;             \
        size_t begin = 0;                                            \
        int is_read = 0;                                             \
        while (n >= s->end + CHUNK && !is_read) {                    \
            for (size_t i = n - CHUNK; i < n; i++)                   \
                is_read |= row[i] != (low);                          \
            n -= is_read ? 0 : CHUNK;                                \
        }                                                            \
        while (n > s->end && row[n - 1] == (low))                    \
            n--;                                                     \
        s->end = n > s->end ? n : s->end;                            \
        while (begin < s->begin && row[begin] == (low))              \
            begin++;                                                 \
        s->begin = begin;                                            \
    }
EXTEND(extend_f32, float, -INFINITY)
EXTEND(extend_f64, double, -INFINITY)
EXTEND(extend_f16, uint16_t, 0xfc00)
EXTEND(extend_bf16, uint16_t, 0xff80)

typedef void extend_func(const void *mask, size_t at, size_t n, span *s);

static extend_func *extend_of(tl_dtype dtype)
{
    return dtype == TL_FLOAT     ? extend_f32
           : dtype == TL_DOUBLE  ? extend_f64
           : dtype == TL_FLOAT16 ? extend_f16
                                 : extend_bf16;
}

// The keys that some of the `n` rows from `first` on read: at least one.
static span read_keys(const tl_attention_job *job, tl_dtype dtype, size_t batch, size_t head,
                      size_t first, size_t n)
{
    span s = {job->kv_len, 0};
    if (!job->mask.data || job->mask_key == 0)
        return (span){0, job->kv_len};
    extend_func *const extend = extend_of(dtype);
    for (size_t row = first, last = SIZE_MAX; row < first + n; row++) {
        const size_t at = tl_attention_row(job, &job->mask, batch, head, row);
        if (at != last)
            extend(job->mask.data, at, job->kv_len, &s);
        last = at;
    }
    return s.begin < s.end ? s : (span){0, 1};
}

// The job that has only the keys of `s`.
static tl_attention_job part_of(const tl_attention_job *job, tl_dtype dtype, span s)
{
    const size_t size = tl_size_of(dtype);
    tl_attention_job part = *job;
    part.kv_len = s.end - s.begin;
    part.k.data = (char *)job->k.data + s.begin * job->k.row * size;
    part.v.data = (char *)job->v.data + s.begin * job->v.row * size;
    if (job->mask.data)
        part.mask.data = (char *)job->mask.data + s.begin * job->mask_key * size;
    return part;
}

// Threads

// A unit is some rows of one head of keys.
typedef struct work {
    tl_attention_job job;
    tl_attention_func *func;
    tl_dtype dtype;
    size_t unit_rows, units; // of a head
    char *scratch;
    size_t slot_size;
} work;

static void run_units(void *arg, size_t slot, size_t begin, size_t end)
{
    const work *const w = arg;
    const tl_attention_job *const job = &w->job;
    const size_t rows = job->group * job->q_len;
    for (size_t u = begin; u < end; u++) {
        const size_t batch = u / w->units / job->heads, head = u / w->units % job->heads;
        const size_t first = u % w->units * w->unit_rows;
        const size_t n = tl_min_size(w->unit_rows, rows - first);
        const span keys = read_keys(job, w->dtype, batch, head, first, n);
        const tl_attention_job part = part_of(job, w->dtype, keys);
        w->func(&part, batch, head, first, n, w->scratch + slot * w->slot_size);
    }
}

enum { SLOT_MACS = 100000 }; // min multiply-accumulates of a thread

int tl_exec_attention(const tl_exec *exec, const tl_tensor *q, const tl_tensor *k,
                      const tl_tensor *v, const tl_tensor *mask, tl_tensor *dst,
                      const tl_attention_param *param)
{
    work w = {.job = job_of(q, k, v, param), .func = pick(exec, q->dtype), .dtype = q->dtype};
    tl_attention_job *const job = &w.job;
    if (dst->len == 0)
        return 0;
    if (job->kv_len == 0) {
        memset(dst->data, 0, tl_tensor_size(dst));
        return 0;
    }
    job->dst = view_of(dst, param->dst_axis, 0);
    if (mask) {
        job->mask = (tl_attention_view){mask->data, mask_step(mask, 0), mask_step(mask, 1),
                                        mask_step(mask, 2)};
        job->mask_key = mask_step(mask, 3);
    }
    const size_t rows = job->group * job->q_len, heads = (size_t)q->dims[0] * job->heads;
    tl_attention_func *const tiles =
        fills_tiles(job, q->dtype, param) ? pick_tiles(exec, TL_BFLOAT16) : NULL;
    w.func = tiles ? tiles : w.func;
    w.unit_rows = tiles ? TL_ATTENTION_TILED_ROWS : TL_ATTENTION_ROWS;
    w.units = (rows + w.unit_rows - 1) / w.unit_rows;
    w.slot_size = slot_size(job, q->dtype, tiles != NULL);
    if (tl_check_scratch(exec, w.slot_size, "for attention") < 0)
        return -1;
    w.scratch = exec->scratch;
    const double macs = (double)heads * rows * job->kv_len * (job->d + job->e);
    const size_t fit = exec->scratch_size / w.slot_size;
    const size_t slots = macs / SLOT_MACS < fit ? (size_t)(macs / SLOT_MACS) + 1 : fit;
    tl_parallel_slots(exec, heads * w.units, tl_min_size(slots, fit), run_units, &w);
    return 0;
}

tl_tensor *tl_tensor_attention(const tl_tensor *q, const tl_tensor *k, const tl_tensor *v,
                               const tl_tensor *mask, tl_tensor *dst,
                               const tl_attention_param *param)
{
    int dims[4];
    if (tl_check_operand(q, "q", dst) < 0 || tl_check_operand(k, "k", dst) < 0 ||
        tl_check_operand(v, "v", dst) < 0 || (mask && tl_check_operand(mask, "mask", dst) < 0) ||
        tl_check_float(q, "q") < 0 || tl_attention_dims(q, k, v, mask, param, dims) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, 4, dims, q->dtype);
    tl_exec exec = {.isa = tl_isa_best(), .scratch_size = tl_attention_scratch(q, k, v, param, 1)};
    exec.scratch = result ? tl_alloc(exec.scratch_size) : NULL;
    const int status = exec.scratch ? tl_exec_attention(&exec, q, k, v, mask, result, param) : -1;
    tl_free(exec.scratch);
    return tl_result_end(result, dst, status);
}
