// SPDX-License-Identifier: Apache-2.0
// Quantization and back: checks, choice of the kernel, threads.
//
// The tensor is cut into contiguous lines, whose scales are either one for the line or contiguous
// too. The kernel reads lines in place; 16-bit floats and integers are converted to floats on the
// stack, piece by piece.

#include "kernel/quantize/quantize.h"

#include <assert.h>
#include <math.h>

#include "kernel/cast/cast.h"
#include "kernel/tl_axis.h"
#include "kernel/tl_kernel.h"
#include "tensor/tl_result.h"

TL_KERNEL_TABLE(pick_to, tl_quantize_func, TL_QUANTIZE_KERNELS)
TL_KERNEL_TABLE(pick_from, tl_quantize_func, TL_DEQUANTIZE_KERNELS)
TL_KERNEL_TABLE(pick_range, tl_quantize_range_func, TL_QUANTIZE_RANGE_KERNELS)

enum { PIECE = 512 };

// Without rounding, for floats that are converted to or from 8-bit floats

static void divide_floats(const void *src, void *dst, const float *scale, const void *zero,
                          size_t n, int step)
{
    const float *const from = src, *const zeros = zero;
    float *const to = dst;
    for (size_t i = 0; i < n; i++)
        to[i] = from[i] / scale[step ? i : 0] + (zeros ? zeros[step ? i : 0] : -0.0f); // keeps -0
}

static void multiply_floats(const void *src, void *dst, const float *scale, const void *zero,
                            size_t n, int step)
{
    const float *const from = src, *const zeros = zero;
    float *const to = dst;
    for (size_t i = 0; i < n; i++)
        to[i] = (from[i] - (zeros ? zeros[step ? i : 0] : 0)) * scale[step ? i : 0];
}

// Lines

typedef struct quantize_job {
    const tl_tensor *src, *scale, *zero;
    tl_tensor *dst;
    tl_quantize_func *func;
    tl_map_func *load_src, *load_scale, *store; // to and from floats; NULL: they are floats
    tl_axis axis;                               // src as [outer, len, inner]
    size_t block;                               // indices along the axis with the same scale
    size_t blocks; // of scales along the axis; 1: every outer index has the same scales
    size_t lines;  // per outer index
    int step;      // 0: a line has one scale
} quantize_job;

// A line: its first element, its length, and its first scale.
typedef struct line {
    size_t begin, len, scale;
} line;

static line line_at(const quantize_job *job, size_t index)
{
    const tl_axis *const a = &job->axis;
    const size_t outer = index / job->lines, at = index % job->lines;
    if (a->inner == 1 && job->step) // the axis is last, each element has its scale
        return (line){outer * a->len, a->len, 0};
    if (a->inner == 1) { // the axis is last, in blocks
        const size_t begin = at * job->block;
        return (line){outer * a->len + begin, tl_min_size(job->block, a->len - begin),
                      outer * job->blocks + at};
    }
    const size_t begin = (outer * a->len + at) * a->inner;
    if (job->step == 0)
        return (line){begin, a->inner, at};
    return (line){begin, a->inner, (outer * job->blocks + at / job->block) * a->inner};
}

static quantize_job make_job(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *zero,
                             tl_tensor *dst, int axis, int block)
{
    quantize_job job = {.src = src, .scale = scale, .zero = zero, .dst = dst, .blocks = 1};
    if (block == 0 && scale->len == 1) { // one for all: lines of any length
        job.axis = (tl_axis){1, 1, (size_t)src->len};
        job.block = job.lines = 1;
        return job;
    }
    job.axis = tl_axis_of(src, axis);
    job.block = block > 0 ? (size_t)block : 1;
    if (block > 0)
        job.blocks = (job.axis.len + job.block - 1) / job.block;
    const int is_last = job.axis.inner == 1;
    job.lines = !is_last ? job.axis.len : block > 0 ? job.blocks : 1;
    job.step = is_last ? block == 0 : block > 0;
    return job;
}

// Floats in memory

static const void *element(const tl_tensor *t, size_t at)
{
    return tl_pointer_add(t->data, (ptrdiff_t)at, t->dtype);
}

// `n` elements as floats: in place, or converted to `buffer`.
static const float *as_floats(const tl_tensor *t, tl_map_func *load, size_t at, size_t n,
                              float *buffer)
{
    if (!load)
        return element(t, at);
    load(element(t, at), buffer, n, NULL);
    return buffer;
}

// One piece of a line.
static void run_piece(const quantize_job *job, size_t at, size_t scale_at, size_t n)
{
    float src_buffer[PIECE], scale_buffer[PIECE], dst_buffer[PIECE];
    const float *const scale =
        as_floats(job->scale, job->load_scale, scale_at, job->step ? n : 1, scale_buffer);
    const void *const zero = job->zero ? element(job->zero, scale_at) : NULL;
    const void *const src = as_floats(job->src, job->load_src, at, n, src_buffer);
    void *const dst = (void *)element(job->dst, at);
    job->func(src, job->store ? dst_buffer : dst, scale, zero, n, job->step);
    if (job->store)
        job->store(dst_buffer, dst, n, NULL);
}

static void run_line(const quantize_job *job, line l)
{
    const int is_converted = job->load_src || job->store || (job->load_scale && job->step);
    const size_t piece = is_converted ? PIECE : l.len;
    for (size_t k = 0; k < l.len; k += piece)
        run_piece(job, l.begin + k, l.scale + (job->step ? k : 0), tl_min_size(piece, l.len - k));
}

static void run_lines(void *arg, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        run_line(arg, line_at(arg, i));
}

// Runs some pieces of the only line.
static void run_pieces(void *arg, size_t begin, size_t end)
{
    const quantize_job *const job = arg;
    const size_t first = begin * PIECE;
    run_line(job, (line){first, tl_min_size(end * PIECE, job->axis.inner) - first, 0});
}

static void run(const tl_exec *exec, quantize_job *job)
{
    if (job->src->len == 0)
        return;
    const size_t lines = job->axis.outer * job->lines;
    if (lines == 1 && job->step == 0 && job->axis.len == 1)
        tl_parallel(exec, (job->axis.inner + PIECE - 1) / PIECE, TL_GRAIN_MEMORY_BOUND / PIECE,
                    run_pieces, job);
    else
        tl_parallel(exec, lines, TL_GRAIN_MEMORY_BOUND / ((size_t)job->src->len / lines + 1) + 1,
                    run_lines, job);
}

// Checks

static int is_one_of(tl_dtype dtype, const tl_dtype *set, int n)
{
    for (int i = 0; i < n; i++)
        if (dtype == set[i])
            return 1;
    return 0;
}

static int check_floats(const tl_tensor *t, const char *name, int or_int32)
{
    static const tl_dtype set[] = {TL_FLOAT, TL_FLOAT16, TL_BFLOAT16, TL_INT32};
    if (!is_one_of(t->dtype, set, or_int32 ? 4 : 3))
        return tl_fail("'%s' has dtype %s, expected TL_FLOAT, TL_FLOAT16%s TL_BFLOAT16%s", name,
                       tl_dtype_name(t->dtype), or_int32 ? "," : " or",
                       or_int32 ? " or TL_INT32" : "");
    return 0;
}

static int check_small(tl_dtype dtype, const char *name, int or_int32)
{
    static const tl_dtype set[] = {TL_INT8, TL_UINT8, TL_INT16, TL_UINT16, TL_FLOAT, TL_INT32};
    if (!is_one_of(dtype, set, or_int32 ? 6 : 5))
        return tl_fail("'%s' has dtype %s, expected an integer of 8 or 16 bits%s TL_FLOAT", name,
                       tl_dtype_is_valid(dtype) ? tl_dtype_name(dtype) : "TL_DTYPE_INVALID",
                       or_int32 ? ", TL_INT32 or" : " or");
    return 0;
}

static int check_scale_shape(const tl_tensor *src, const tl_tensor *scale, int axis, int block)
{
    char actual[TL_SHAPE_TEXT_SIZE], expected[TL_SHAPE_TEXT_SIZE];
    if (block < 0)
        return tl_fail("'block' is %d, expected at least 0", block);
    if (block == 0 && scale->len == 1)
        return 0;
    if (tl_check_axis(src, axis) < 0)
        return -1;
    int dims[TL_MAXDIM], ndim = 1;
    if (block == 0) {
        dims[0] = src->dims[axis];
    } else {
        ndim = src->ndim;
        const int d = src->dims[axis];
        tl_dims_with(dims, src, axis, d / block + (d % block > 0));
    }
    int is_expected = scale->ndim == ndim;
    for (int i = 0; is_expected && i < ndim; i++)
        is_expected = scale->dims[i] == dims[i];
    if (!is_expected)
        return tl_fail("'scale' has shape %s, expected one element or %s",
                       tl_shape_text(actual, scale->ndim, scale->dims),
                       tl_shape_text(expected, ndim, dims));
    return 0;
}

static int check_zero(const tl_tensor *zero, const tl_tensor *scale, tl_dtype dtype)
{
    if (!zero)
        return 0;
    if (zero->dtype != dtype)
        return tl_fail("'zero' has dtype %s, expected %s", tl_dtype_name(zero->dtype),
                       tl_dtype_name(dtype));
    if (zero->len != scale->len)
        return tl_fail("'zero' has %d elements, expected the %d of 'scale'", zero->len, scale->len);
    return 0;
}

// -1 with a reason: one of them (zero may be NULL) has no data.
static int check_all_data(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *zero)
{
    if (tl_check_data(src, "src") < 0 || tl_check_data(scale, "scale") < 0)
        return -1;
    return zero ? tl_check_data(zero, "zero") : 0;
}

// Quantize

int tl_exec_quantize(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                     const tl_tensor *zero, tl_tensor *dst, int axis, int block)
{
    assert(src->len == dst->len && (!zero || zero->dtype == dst->dtype));
    quantize_job job = make_job(src, scale, zero, dst, axis, block);
    job.func = dst->dtype == TL_FLOAT ? divide_floats : pick_to(exec, dst->dtype);
    job.load_src = tl_cast_kernel(exec, src->dtype, TL_FLOAT);
    job.load_scale = tl_cast_kernel(exec, scale->dtype, TL_FLOAT);
    run(exec, &job);
    return 0;
}

int tl_quantize_check(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *zero,
                      tl_dtype dtype, int axis, int block)
{
    if (check_floats(src, "src", 1) < 0 || check_floats(scale, "scale", 0) < 0 ||
        check_small(dtype, "dst", 0) < 0 || check_scale_shape(src, scale, axis, block) < 0)
        return -1;
    return check_zero(zero, scale, dtype);
}

tl_tensor *tl_tensor_quantize(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *zero,
                              tl_tensor *dst, tl_dtype dtype, int axis, int block)
{
    if (check_all_data(src, scale, zero) < 0 ||
        tl_quantize_check(src, scale, zero, dtype, axis, block) < 0 || tl_check_apart(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, dtype);
    return tl_result_end(
        result, dst, result ? tl_exec_quantize(NULL, src, scale, zero, result, axis, block) : -1);
}

// Dequantize

int tl_exec_dequantize(const tl_exec *exec, const tl_tensor *src, const tl_tensor *scale,
                       const tl_tensor *zero, tl_tensor *dst, int axis, int block)
{
    assert(src->len == dst->len && scale->dtype == dst->dtype);
    assert(!zero || zero->dtype == src->dtype);
    quantize_job job = make_job(src, scale, zero, dst, axis, block);
    job.func = src->dtype == TL_FLOAT ? multiply_floats : pick_from(exec, src->dtype);
    job.load_scale = tl_cast_kernel(exec, scale->dtype, TL_FLOAT);
    job.store = tl_cast_kernel(exec, TL_FLOAT, dst->dtype);
    run(exec, &job);
    return 0;
}

int tl_dequantize_check(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *zero,
                        int axis, int block)
{
    if (check_small(src->dtype, "src", 1) < 0 || check_floats(scale, "scale", 0) < 0 ||
        check_scale_shape(src, scale, axis, block) < 0)
        return -1;
    return check_zero(zero, scale, src->dtype);
}

tl_tensor *tl_tensor_dequantize(const tl_tensor *src, const tl_tensor *scale, const tl_tensor *zero,
                                tl_tensor *dst, int axis, int block)
{
    if (check_all_data(src, scale, zero) < 0 ||
        tl_dequantize_check(src, scale, zero, axis, block) < 0 || tl_check_apart(dst, src) < 0)
        return NULL;
    tl_tensor *const result = tl_result_begin(dst, src->ndim, src->dims, scale->dtype);
    return tl_result_end(
        result, dst, result ? tl_exec_dequantize(NULL, src, scale, zero, result, axis, block) : -1);
}

// Range

// The range of each slot over its rows of elements.
typedef struct range_job {
    const float *src;
    size_t len, row; // all elements; those of a row
    int channels;    // of images in blocks, each block a row; 0: all elements count
    int blocks;      // of an image
    tl_quantize_range_func *func;
    struct {
        float of[2];
        char padding[56]; // slots write to separate cache lines
    } ranges[TL_MAX_SLOTS];
} range_job;

// Lanes of a row that are channels.
static int lanes_of(const range_job *job, size_t row)
{
    if (job->channels == 0)
        return TL_BLOCK;
    return tl_min(TL_BLOCK, job->channels - (int)(row % (size_t)job->blocks) * TL_BLOCK);
}

static void find_range(void *arg, size_t slot, size_t begin, size_t end)
{
    range_job *const job = arg;
    for (size_t i = begin; i < end; i++) {
        const size_t from = i * job->row, to = tl_min_size(from + job->row, job->len);
        job->func(job->src + from, to - from, lanes_of(job, i), job->ranges[slot].of);
    }
}

// Sets scale and zero point that map the range of the rows to 0 .. 255.
static void map_range(const tl_exec *exec, range_job *job, tl_tensor *scale, tl_tensor *zero)
{
    assert(scale->dtype == TL_FLOAT && zero->dtype == TL_UINT8);
    assert(scale->len == 1 && zero->len == 1);
    job->func = pick_range(exec, TL_FLOAT);
    if (job->row > 0)
        tl_parallel_slots(exec, tl_ceil_div(job->len, job->row), TL_MAX_SLOTS, find_range, job);
    float min = 0, max = 0;
    for (int i = 0; i < TL_MAX_SLOTS; i++) {
        min = fminf(min, job->ranges[i].of[0]);
        max = fmaxf(max, job->ranges[i].of[1]);
    }
    const float s = max == min ? 1 : (max - min) / 255;
    const float z = rintf(0 - min / s);
    *(float *)scale->data = s;
    *(uint8_t *)zero->data = z > 0 ? (uint8_t)(z < 255 ? z : 255) : 0;
}

int tl_exec_quantize_range(const tl_exec *exec, const tl_tensor *src, tl_tensor *scale,
                           tl_tensor *zero)
{
    assert(src->dtype == TL_FLOAT);
    range_job job = {.src = src->data, .len = (size_t)src->len, .row = TL_GRAIN_MEMORY_BOUND};
    map_range(exec, &job, scale, zero);
    return 0;
}

int tl_exec_blocked_quantize_range(const tl_exec *exec, const tl_tensor *src, int channels,
                                   tl_tensor *scale, tl_tensor *zero)
{
    assert(src->dtype == TL_FLOAT && src->ndim == 5 && src->dims[1] == tl_blocks(channels));
    range_job job = {.src = src->data,
                     .len = (size_t)src->len,
                     .row = (size_t)src->dims[2] * src->dims[3] * TL_BLOCK,
                     .channels = channels,
                     .blocks = src->dims[1]};
    map_range(exec, &job, scale, zero);
    return 0;
}

int tl_tensor_quantize_range(const tl_tensor *src, tl_tensor *scale, tl_tensor *zero)
{
    if (tl_check_data(src, "src") < 0 || tl_check_data(scale, "scale") < 0 ||
        tl_check_data(zero, "zero") < 0)
        return -1;
    if (src->dtype != TL_FLOAT || scale->dtype != TL_FLOAT || zero->dtype != TL_UINT8)
        return tl_fail("'src' has dtype %s, 'scale' %s, 'zero' %s, expected TL_FLOAT, TL_FLOAT and "
                       "TL_UINT8",
                       tl_dtype_name(src->dtype), tl_dtype_name(scale->dtype),
                       tl_dtype_name(zero->dtype));
    if (scale->len != 1 || zero->len != 1)
        return tl_fail("'scale' has %d elements and 'zero' %d, expected 1 each", scale->len,
                       zero->len);
    if (tl_check_apart(scale, src) < 0 || tl_check_apart(zero, src) < 0 ||
        tl_check_apart(scale, zero) < 0)
        return -1;
    return tl_exec_quantize_range(NULL, src, scale, zero);
}

// Signs

typedef struct flip_job {
    const uint8_t *src;
    uint8_t *dst;
} flip_job;

static void flip(void *arg, size_t begin, size_t end)
{
    const flip_job *const job = arg;
    for (size_t i = begin; i < end; i++)
        job->dst[i] = job->src[i] ^ 0x80;
}

int tl_exec_flip_bytes(const tl_exec *exec, const tl_tensor *src, tl_tensor *dst)
{
    assert((src->dtype == TL_INT8 && dst->dtype == TL_UINT8) ||
           (src->dtype == TL_UINT8 && dst->dtype == TL_INT8));
    assert(src->len == dst->len);
    flip_job job = {src->data, dst->data};
    tl_parallel(exec, (size_t)src->len, TL_GRAIN_MEMORY_BOUND, flip, &job);
    return 0;
}
