// SPDX-License-Identifier: Apache-2.0
// Softmax, layer normalization and reductions, along lines of elements; rows are contiguous lines.
//
// A row of at most 1024 elements belongs to a warp, which keeps it in registers: thread t has the
// vectors t, t + 32, .. of it. Longer rows belong to a block. Of other lines, adjacent threads read
// adjacent ones.

#include "arch/cuda/ln_cuda_common.cuh"

enum {
    WARPS = 4,         // rows of a block of warps
    WARP_ROW = 1024,   // the longest row of a warp
    BLOCK_EACH = 8,    // elements of each thread when a block keeps a row in registers
    LONG_THREADS = 512 // of a block that walks over a row
};

// The registers of a thread for its part of a row: `n` vectors of `width` elements.
template <int W, int N> struct row_shape {
    static constexpr int width = W, n = N;
};

// Calls f with the smallest row_shape for `each` elements per thread, at most 32.
template <class T, class F> static int of_row(int each, int is_vector, F f)
{
    constexpr int W = ln_width<T>;
    if (is_vector)
        return each <= 8    ? f(row_shape<W, 8 / W>())
               : each <= 16 ? f(row_shape<W, 16 / W>())
               : each <= 24 ? f(row_shape<W, 24 / W>())
                            : f(row_shape<W, 32 / W>());
    return each <= 2   ? f(row_shape<1, 2>())
           : each <= 8 ? f(row_shape<1, 8>())
                       : f(row_shape<1, 32>());
}

// 1: rows of `len` elements at `p`, which may be NULL, can be read in vectors.
template <class T> static int has_vectors(const T *p, int len)
{
    return len % ln_width<T> == 0 && ln_is_aligned(p, 16);
}

// Softmax

// A warp per row.
template <class T, int W, int N>
static __global__ void softmax_rows(const T *src, T *dst, int rows, int len, int is_log)
{
    ln_begin_early();
    const int row = blockIdx.x * WARPS + threadIdx.y;
    if (row >= rows)
        return; // a whole warp
    src += (size_t)row * len;
    dst += (size_t)row * len;
    float x[N][W], max = -INFINITY, sum = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int at = (i * 32 + threadIdx.x) * W;
        if (at < len) {
            ln_load_vec<W>(src + at, x[i]);
        } else {
#pragma unroll
            for (int j = 0; j < W; j++)
                x[i][j] = -INFINITY;
        }
#pragma unroll
        for (int j = 0; j < W; j++)
            max = fmaxf(max, x[i][j]);
    }
    max = ln_warp_reduce(max, ln_max());
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j < W; j++) {
            const float e = expf(x[i][j] - max);
            sum += e;
            x[i][j] = is_log ? x[i][j] - max : e;
        }
    sum = ln_warp_reduce(sum, ln_sum());
    const float shift = is_log ? logf(sum) : 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int at = (i * 32 + threadIdx.x) * W;
#pragma unroll
        for (int j = 0; j < W; j++)
            x[i][j] = is_log ? x[i][j] - shift : x[i][j] / sum;
        if (at < len)
            ln_store_vec<W>(dst + at, x[i]);
    }
}

// The max of elements, and the sum of exp(x - max). NaN is in the sum only. Source: Milakov,
// Gimelshein: Online normalizer calculation for softmax, 2018, algorithm 3.
struct exp_sum {
    float max, sum;
};

static __device__ __forceinline__ exp_sum join_sums(exp_sum a, exp_sum b)
{
    const float max = fmaxf(a.max, b.max), origin = ln_exp_origin(max);
    return {max, a.sum * expf(a.max - origin) + b.sum * expf(b.max - origin)};
}

template <int W> static __device__ __forceinline__ void add_exp(exp_sum &a, const float (&x)[W])
{
    float max = a.max;
#pragma unroll
    for (int j = 0; j < W; j++)
        max = fmaxf(max, x[j]);
    const float origin = ln_exp_origin(max);
    float sum = 0;
#pragma unroll
    for (int j = 0; j < W; j++)
        sum += expf(x[j] - origin);
    a.sum = a.sum * expf(a.max - origin) + sum;
    a.max = max;
}

// `max` is the line's; `scale` is the log of its sum of exponentials (is_log), or that sum.
static __device__ __forceinline__ float softmax_of(float x, float max, float scale, int is_log)
{
    return is_log ? x - max - scale : expf(x - max) / scale;
}

// A block per row, which is read twice.
template <class T, int W>
static __global__ void __launch_bounds__(LONG_THREADS)
    softmax_long(const T *src, T *dst, int len, int is_log)
{
    __shared__ float shared[32];
    src += (size_t)blockIdx.x * len;
    dst += (size_t)blockIdx.x * len;
    exp_sum a = {-INFINITY, 0};
    for (int at = threadIdx.x * W; at < len; at += LONG_THREADS * W) {
        float x[W];
        ln_load_vec<W>(src + at, x);
        add_exp(a, x);
    }
    const float max = ln_block_reduce(a.max, ln_max(), shared);
    // A thread without elements above -infinity has the sum 0, or NaN, which stays.
    a.sum *= expf(a.max - ln_exp_origin(max));
    const float sum = ln_block_reduce(a.sum, ln_sum(), shared);
    const float scale = is_log ? logf(sum) : sum;
    for (int at = threadIdx.x * W; at < len; at += LONG_THREADS * W) {
        float x[W];
        ln_load_vec<W>(src + at, x);
#pragma unroll
        for (int j = 0; j < W; j++)
            x[j] = softmax_of(x[j], max, scale, is_log);
        ln_store_vec<W>(dst + at, x);
    }
}

// Lines whose elements are `inner` apart, src [outer, len, inner]: a block has blockDim.x adjacent
// lines of one outer index, and the threads of equal x share a line. `blocks` cover an outer index.
template <class T>
static __global__ void softmax_lines(const T *src, T *dst, int len, int inner, int blocks,
                                     int is_log)
{
    __shared__ exp_sum shared[256];
    const int nx = blockDim.x, ny = blockDim.y, x = threadIdx.x, y = threadIdx.y;
    const int line = blockIdx.x % blocks * nx + x;
    const size_t first = (size_t)(blockIdx.x / blocks) * len * inner + line;
    exp_sum a = {-INFINITY, 0};
    if (line < inner)
        for (int i = y; i < len; i += ny) {
            const float each[1] = {ln_load(src[first + (size_t)i * inner])};
            add_exp(a, each);
        }
    shared[y * nx + x] = a;
    __syncthreads();
    for (int half = ny / 2; half > 0; half /= 2) {
        if (y < half)
            shared[y * nx + x] = join_sums(shared[y * nx + x], shared[(y + half) * nx + x]);
        __syncthreads();
    }
    a = shared[x];
    if (line >= inner)
        return;
    const float scale = is_log ? logf(a.sum) : a.sum;
    for (int i = y; i < len; i += ny) {
        const size_t at = first + (size_t)i * inner;
        dst[at] = ln_store<T>(softmax_of(ln_load(src[at]), a.max, scale, is_log));
    }
}

template <class T>
static void launch_softmax_lines(ln_cuda_stream stream, const T *src, T *dst, int outer, int len,
                                 int inner, int is_log)
{
    const int ny = len >= 16 ? 8 : 1, nx = 256 / ny;
    const int blocks = ln_ceil_div(inner, nx);
    softmax_lines<<<(unsigned)((int64_t)outer * blocks), dim3(nx, ny), 0, stream>>>(
        src, dst, len, inner, blocks, is_log);
}

template <class T>
static void launch_softmax_rows(ln_cuda_stream stream, const T *src, T *dst, int rows, int len,
                                int is_log)
{
    const int is_vector = has_vectors(src, len) && has_vectors(dst, len);
    if (len > WARP_ROW && is_vector)
        softmax_long<T, ln_width<T>><<<rows, LONG_THREADS, 0, stream>>>(src, dst, len, is_log);
    else if (len > WARP_ROW)
        softmax_long<T, 1><<<rows, LONG_THREADS, 0, stream>>>(src, dst, len, is_log);
    else
        of_row<T>((len + 31) / 32, is_vector, [&](auto shape) {
            ln_cuda_launch_early(softmax_rows<T, decltype(shape)::width, decltype(shape)::n>,
                                 (rows + WARPS - 1) / WARPS, dim3(32, WARPS), 0, stream, src, dst,
                                 rows, len, is_log);
            return 0;
        });
}

int ln_cuda_softmax(ln_cuda_stream stream, const tl_tensor *src, tl_tensor *dst, int axis,
                    int is_log)
{
    if (src->len == 0)
        return 0;
    int inner = 1;
    for (int i = axis + 1; i < src->ndim; i++)
        inner *= src->dims[i];
    const int len = src->dims[axis], outer = src->len / len / inner;
    return ln_cuda_of_float(src->dtype, "softmax", [&](auto zero) {
        using T = decltype(zero);
        const T *const from = (const T *)src->data;
        T *const to = (T *)dst->data;
        if (inner == 1)
            launch_softmax_rows(stream, from, to, outer, len, is_log);
        else
            launch_softmax_lines(stream, from, to, outer, len, inner, is_log);
        return ln_cuda_launched("softmax");
    });
}

// Layer normalization

// dst = (x - mean) / sqrt(variance + epsilon) * scale + bias of each row x of `len` elements, where
// x = src + addend, which is stored as `sum`. addend, scale, bias and sum may be NULL.
template <class T> struct norm_job {
    const T *src, *addend, *scale, *bias;
    T *sum, *dst;
    int rows, len;
    float epsilon;
};

// Reads W elements of x, rounded to T as `sum` stores them.
template <int W, class T>
static __device__ __forceinline__ void read_sum(const norm_job<T> &job, size_t at, float (&x)[W])
{
    ln_load_vec<W>(job.src + at, x);
    if (!job.addend)
        return;
    float y[W];
    ln_load_vec<W>(job.addend + at, y);
#pragma unroll
    for (int j = 0; j < W; j++)
        x[j] = ln_load(ln_store<T>(x[j] + y[j]));
}

// A mean in two parts, since its rounding may be large beside the deviation, and 1 / standard
// deviation.
struct norm_moments {
    float mean, correction, inv_std;
};

// The moments from the rounded `mean` m, rest = sum(x - m) and squares = sum((x - m)^2): the mean
// is m + rest / len, and the variance (squares - rest^2 / len) / len.
// Source: Chan, Golub, LeVeque: Algorithms for computing the sample variance, 1983, (1.7).
static __device__ __forceinline__ norm_moments finish_moments(float mean, float rest, float squares,
                                                              int len, float epsilon)
{
    const float correction = rest / len;
    const float variance = (squares - rest * correction) / len;
    return {mean, correction, 1 / sqrtf((variance < 0 ? 0 : variance) + epsilon)};
}

// Stores x as the sum, and its normalization, at element `at` of the row that begins at `first`.
template <int W, class T>
static __device__ __forceinline__ void write_norm(const norm_job<T> &job, size_t first, int at,
                                                  float (&x)[W], const norm_moments &by)
{
    float factor[W], offset[W];
    if (job.sum)
        ln_store_vec<W>(job.sum + first + at, x);
    if (job.scale)
        ln_load_vec<W>(job.scale + at, factor);
    if (job.bias)
        ln_load_vec<W>(job.bias + at, offset);
#pragma unroll
    for (int j = 0; j < W; j++)
        x[j] = (x[j] - by.mean - by.correction) * by.inv_std * (job.scale ? factor[j] : 1) +
               (job.bias ? offset[j] : 0);
    ln_store_vec<W>(job.dst + first + at, x);
}

// A warp per row, or a block, which keep it in registers: N vectors of W elements for each thread.
template <class T, int W, int N, bool IS_BLOCK>
static __global__ void norm_rows(const norm_job<T> job)
{
    ln_begin_early();
    __shared__ float shared[32];
    const int row = IS_BLOCK ? blockIdx.x : blockIdx.x * WARPS + threadIdx.y;
    if (row >= job.rows)
        return; // a whole warp
    const int threads = IS_BLOCK ? blockDim.x : 32;
    const size_t first = (size_t)row * job.len;
    const auto add_up = [&](float x) {
        return IS_BLOCK ? ln_block_reduce(x, ln_sum(), shared) : ln_warp_reduce(x, ln_sum());
    };
    float x[N][W], sum = 0, rest = 0, squares = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int at = (i * threads + threadIdx.x) * W;
        if (at >= job.len)
            continue;
        read_sum<W>(job, first + at, x[i]);
#pragma unroll
        for (int j = 0; j < W; j++)
            sum += x[i][j];
    }
    const float mean = add_up(sum) / job.len;
#pragma unroll
    for (int i = 0; i < N; i++) {
        if ((i * threads + threadIdx.x) * W >= job.len)
            continue;
#pragma unroll
        for (int j = 0; j < W; j++) {
            const float d = x[i][j] - mean;
            rest += d;
            squares += d * d;
        }
    }
    rest = add_up(rest);
    squares = add_up(squares);
    const norm_moments by = finish_moments(mean, rest, squares, job.len, job.epsilon);
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int at = (i * threads + threadIdx.x) * W;
        if (at < job.len)
            write_norm<W>(job, first, at, x[i], by);
    }
}

// A block per row, which is read three times.
template <class T, int W>
static __global__ void __launch_bounds__(LONG_THREADS) norm_long(const norm_job<T> job)
{
    ln_begin_early();
    __shared__ float shared[32];
    const size_t first = (size_t)blockIdx.x * job.len;
    float x[W], sum = 0, rest = 0, squares = 0;
    for (int at = threadIdx.x * W; at < job.len; at += LONG_THREADS * W) {
        read_sum<W>(job, first + at, x);
#pragma unroll
        for (int j = 0; j < W; j++)
            sum += x[j];
    }
    const float mean = ln_block_reduce(sum, ln_sum(), shared) / job.len;
    for (int at = threadIdx.x * W; at < job.len; at += LONG_THREADS * W) {
        read_sum<W>(job, first + at, x);
#pragma unroll
        for (int j = 0; j < W; j++) {
            const float d = x[j] - mean;
            rest += d;
            squares += d * d;
        }
    }
    rest = ln_block_reduce(rest, ln_sum(), shared);
    squares = ln_block_reduce(squares, ln_sum(), shared);
    const norm_moments by = finish_moments(mean, rest, squares, job.len, job.epsilon);
    for (int at = threadIdx.x * W; at < job.len; at += LONG_THREADS * W) {
        read_sum<W>(job, first + at, x);
        write_norm<W>(job, first, at, x, by);
    }
}

template <class T> static void launch_norm(ln_cuda_stream stream, const norm_job<T> &job)
{
    constexpr int W = ln_width<T>;
    const int is_vector = has_vectors(job.src, job.len) && has_vectors(job.addend, job.len) &&
                          has_vectors(job.scale, job.len) && has_vectors(job.bias, job.len) &&
                          has_vectors<T>(job.sum, job.len) && has_vectors<T>(job.dst, job.len);
    // Few rows: a block for each uses more of the device.
    const int is_wide = job.len > WARP_ROW || (job.len >= 256 && job.rows < 4 * ln_cuda_n_sms());
    const int threads = (job.len + 32 * BLOCK_EACH - 1) / (32 * BLOCK_EACH) * 32;
    if (is_vector && is_wide && threads <= 1024)
        ln_cuda_launch_early(norm_rows<T, W, BLOCK_EACH / W, true>, job.rows, threads, 0, stream,
                             job);
    else if (is_vector && job.len > WARP_ROW)
        ln_cuda_launch_early(norm_long<T, W>, job.rows, LONG_THREADS, 0, stream, job);
    else if (job.len > WARP_ROW)
        ln_cuda_launch_early(norm_long<T, 1>, job.rows, LONG_THREADS, 0, stream, job);
    else
        of_row<T>((job.len + 31) / 32, is_vector, [&](auto shape) {
            ln_cuda_launch_early(norm_rows<T, decltype(shape)::width, decltype(shape)::n, false>,
                                 (job.rows + WARPS - 1) / WARPS, dim3(32, WARPS), 0, stream, job);
            return 0;
        });
}

int ln_cuda_layernorm(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *addend,
                      const tl_tensor *scale, const tl_tensor *bias, tl_tensor *sum, tl_tensor *dst,
                      int axis, double epsilon)
{
    if (src->len == 0)
        return 0;
    int len = 1;
    for (int i = axis; i < src->ndim; i++)
        len *= src->dims[i];
    return ln_cuda_of_float(src->dtype, "layernorm", [&](auto zero) {
        using T = decltype(zero);
        norm_job<T> job = {};
        job.src = (const T *)src->data;
        job.addend = addend ? (const T *)addend->data : NULL;
        job.scale = scale ? (const T *)scale->data : NULL;
        job.bias = bias ? (const T *)bias->data : NULL;
        job.sum = sum ? (T *)sum->data : NULL;
        job.dst = (T *)dst->data;
        job.rows = src->len / len;
        job.len = len;
        job.epsilon = (float)epsilon;
        launch_norm(stream, job);
        return ln_cuda_launched("layernorm");
    });
}

// Reductions: each kind is a type with an accumulator `acc`, its neutral value none(), add() of an
// element to it, and join() of two of them; result_of() then makes it the result

struct of_sum {
    typedef float acc;
    static __device__ __forceinline__ acc none()
    {
        return 0;
    }
    static __device__ __forceinline__ void add(acc &a, float x)
    {
        a += x;
    }
    static __device__ __forceinline__ acc join(acc a, acc b)
    {
        return a + b;
    }
};

struct of_abs : of_sum {
    static __device__ __forceinline__ void add(acc &a, float x)
    {
        a += fabsf(x);
    }
};

struct of_square : of_sum {
    static __device__ __forceinline__ void add(acc &a, float x)
    {
        a += x * x;
    }
};

struct of_prod {
    typedef float acc;
    static __device__ __forceinline__ acc none()
    {
        return 1;
    }
    static __device__ __forceinline__ void add(acc &a, float x)
    {
        a *= x;
    }
    static __device__ __forceinline__ acc join(acc a, acc b)
    {
        return a * b;
    }
};

// A NaN stays, wherever it is.
struct of_max {
    typedef float acc;
    static __device__ __forceinline__ acc none()
    {
        return -INFINITY;
    }
    static __device__ __forceinline__ void add(acc &a, float x)
    {
        a = x > a || x != x ? x : a;
    }
    static __device__ __forceinline__ acc join(acc a, acc b)
    {
        add(a, b);
        return a;
    }
};

struct of_min {
    typedef float acc;
    static __device__ __forceinline__ acc none()
    {
        return INFINITY;
    }
    static __device__ __forceinline__ void add(acc &a, float x)
    {
        a = x < a || x != x ? x : a;
    }
    static __device__ __forceinline__ acc join(acc a, acc b)
    {
        add(a, b);
        return a;
    }
};

// As exp_sum, but relative to 0 when the max is infinite, so that the sum is 0 or infinite.
struct of_exp {
    typedef exp_sum acc;
    static __device__ __forceinline__ float origin(float max)
    {
        return isinf(max) ? 0 : max;
    }
    static __device__ __forceinline__ acc none()
    {
        return {-INFINITY, 0};
    }
    // The sum relative to `max`, which is no less than its own.
    static __device__ __forceinline__ float shifted(acc a, float max)
    {
        return max == a.max ? a.sum : a.sum * expf(a.max - origin(max));
    }
    static __device__ __forceinline__ void add(acc &a, float x)
    {
        const float max = fmaxf(a.max, x);
        a = {max, shifted(a, max) + expf(x - origin(max))};
    }
    static __device__ __forceinline__ acc join(acc a, acc b)
    {
        const float max = fmaxf(a.max, b.max);
        return {max, shifted(a, max) + shifted(b, max)};
    }
};

static __device__ __forceinline__ float from_lane(float x, int distance)
{
    return __shfl_xor_sync(0xffffffffu, x, distance);
}

static __device__ __forceinline__ exp_sum from_lane(exp_sum x, int distance)
{
    return {from_lane(x.max, distance), from_lane(x.sum, distance)};
}

static __device__ __forceinline__ float result_of(float a, tl_reduce_op op, float count)
{
    switch (op) {
    case TL_REDUCE_MEAN:
        return a / count;
    case TL_REDUCE_L2:
        return sqrtf(a);
    case TL_REDUCE_LOG_SUM:
        return logf(a);
    default:
        return a;
    }
}

static __device__ __forceinline__ float result_of(exp_sum a, tl_reduce_op, float)
{
    return logf(a.sum) + of_exp::origin(a.max);
}

// Reductions: the axes

// Some axes of src, in order: their lengths, also as divisors `len`, and strides.
struct axis_list {
    ln_divisor len[TL_MAXDIM];
    int lens[TL_MAXDIM], strides[TL_MAXDIM];
    int n;

    // The offset in src of position `index`, counted over these axes, the last one fastest.
    __device__ __forceinline__ size_t offset(uint32_t index) const
    {
        size_t sum = 0;
        for (int i = n - 1; i > 0; i--) {
            const uint32_t q = len[i].quotient(index);
            sum += (size_t)(index - q * (uint32_t)lens[i]) * strides[i];
            index = q;
        }
        return sum + (size_t)index * strides[0];
    }
};

// The kept axes of src, whose positions are results, and the reduced ones, whose positions are the
// elements of a result. Adjacent axes of one list are merged, and those of length 1 left out.
struct reduce_job {
    axis_list kept, reduced;
    int n_results, count; // elements of src per result, may be 0
    int steps;            // the same in vectors
    tl_reduce_op op;
    int is_line; // the last axis is reduced
};

// Appends an axis, or merges it into the last one: axes come from the last to the first.
static void add_axis(axis_list *list, int len, int stride, int is_neighbour)
{
    if (is_neighbour) {
        list->lens[list->n - 1] *= len;
    } else {
        list->lens[list->n] = len;
        list->strides[list->n++] = stride;
    }
}

static void reverse_axes(axis_list *list)
{
    for (int i = 0, j = list->n - 1; i < j; i++, j--) {
        const int len = list->lens[i], stride = list->strides[i];
        list->lens[i] = list->lens[j];
        list->strides[i] = list->strides[j];
        list->lens[j] = len;
        list->strides[j] = stride;
    }
}

static void prepare_divisors(axis_list *list)
{
    for (int i = 0; i < list->n; i++)
        list->len[i] = ln_divisor(list->lens[i] > 0 ? list->lens[i] : 1);
}

static reduce_job plan_reduction(const tl_tensor *src, int n_results, tl_reduce_op op,
                                 const int *axes, int n_axes)
{
    reduce_job job = {};
    int is_reduced[TL_MAXDIM] = {0}, stride = 1, last = -1; // is_reduced of the axis before
    for (int i = 0; i < n_axes; i++)
        is_reduced[axes[i]] = 1;
    job.count = 1;
    for (int i = src->ndim - 1; i >= 0; i--) {
        const int len = src->dims[i];
        if (is_reduced[i])
            job.count *= len;
        if (len == 1)
            continue;
        add_axis(is_reduced[i] ? &job.reduced : &job.kept, len, stride, last == is_reduced[i]);
        job.is_line |= last < 0 && is_reduced[i];
        stride *= len;
        last = is_reduced[i];
    }
    reverse_axes(&job.reduced);
    reverse_axes(&job.kept);
    job.n_results = n_results;
    job.steps = job.count;
    job.op = op;
    return job;
}

// Counts the last reduced axis in vectors of `width` elements. Returns 0, and changes nothing,
// where vectors would be unaligned or cross the axis.
static int divide_line(reduce_job *job, const void *src, int width)
{
    axis_list *const reduced = &job->reduced;
    int *const line = &reduced->lens[reduced->n - 1];
    int is_possible = job->count > 0 && *line % width == 0 && ln_is_aligned(src, 16);
    for (int i = 0; i < reduced->n - 1; i++)
        is_possible &= reduced->strides[i] % width == 0;
    for (int i = 0; i < job->kept.n; i++)
        is_possible &= job->kept.strides[i] % width == 0;
    if (!is_possible)
        return 0;
    *line /= width;
    reduced->strides[reduced->n - 1] = width;
    job->steps /= width;
    return 1;
}

// Reductions: kernels

// The last axis is reduced: `lanes` adjacent threads for each result, a power of 2 of at most 32,
// or the whole block, of at most 1024.
template <class R, class T, int W>
static __global__ void reduce_lines(const reduce_job job, const T *src, T *dst, int lanes)
{
    ln_begin_early();
    typedef typename R::acc acc;
    const int result = blockIdx.x * (blockDim.x / lanes) + threadIdx.x / lanes;
    acc a[W];
#pragma unroll
    for (int j = 0; j < W; j++)
        a[j] = R::none();
    if (result < job.n_results) {
        const T *const from = src + job.kept.offset((uint32_t)result);
#pragma unroll 4
        for (int i = threadIdx.x % lanes; i < job.steps; i += lanes) {
            float x[W];
            ln_load_vec<W>(from + job.reduced.offset((uint32_t)i), x);
#pragma unroll
            for (int j = 0; j < W; j++)
                R::add(a[j], x[j]);
        }
    }
#pragma unroll
    for (int half = W / 2; half > 0; half /= 2)
#pragma unroll
        for (int j = 0; j < half; j++)
            a[j] = R::join(a[j], a[j + half]);
    for (int half = (lanes < 32 ? lanes : 32) / 2; half > 0; half /= 2)
        a[0] = R::join(a[0], from_lane(a[0], half));
    if (lanes > 32) { // the whole block
        __shared__ acc shared[32];
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        if (lane == 0)
            shared[warp] = a[0];
        __syncthreads();
        if (warp > 0)
            return;
        a[0] = lane < lanes / 32 ? shared[lane] : R::none();
        for (int half = 16; half > 0; half /= 2)
            a[0] = R::join(a[0], from_lane(a[0], half));
    }
    if (threadIdx.x % lanes == 0 && result < job.n_results)
        dst[result] = ln_store<T>(result_of(a[0], job.op, (float)job.count));
}

// The last axis is kept: threads of equal y have adjacent results, threads of equal x share a
// result. A block has at most 1024 threads, a power of 2 along y.
template <class R, class T>
static __global__ void reduce_columns(const reduce_job job, const T *src, T *dst)
{
    ln_begin_early();
    typedef typename R::acc acc;
    __shared__ acc shared[1024];
    const int nx = blockDim.x, ny = blockDim.y, x = threadIdx.x, y = threadIdx.y;
    const int result = blockIdx.x * nx + x;
    acc a = R::none();
    if (result < job.n_results) {
        const T *const from = src + job.kept.offset((uint32_t)result);
#pragma unroll 4
        for (int i = y; i < job.count; i += ny)
            R::add(a, ln_load(from[job.reduced.offset((uint32_t)i)]));
    }
    if (ny > 1) {
        shared[y * nx + x] = a;
        __syncthreads();
        for (int half = ny / 2; half > 0; half /= 2) {
            if (y < half)
                shared[y * nx + x] = R::join(shared[y * nx + x], shared[(y + half) * nx + x]);
            __syncthreads();
        }
        a = shared[x];
    }
    if (y == 0 && result < job.n_results)
        dst[result] = ln_store<T>(result_of(a, job.op, (float)job.count));
}

template <class R, class T>
static void launch_lines(ln_cuda_stream stream, reduce_job *job, const T *src, T *dst)
{
    constexpr int W = ln_width<T>;
    const int is_vector = divide_line(job, src, W);
    const int is_block =
        job->steps > 512 || (job->steps >= 256 && job->n_results < 4 * ln_cuda_n_sms());
    const int threads = is_block && job->steps >= 8192 ? 1024 : 256;
    int lanes = is_block ? threads : 1;
    while (lanes < 32 && lanes < job->steps)
        lanes *= 2;
    const int blocks = ln_ceil_div(job->n_results, threads / lanes);
    prepare_divisors(&job->kept);
    prepare_divisors(&job->reduced);
    if (is_vector)
        ln_cuda_launch_early(reduce_lines<R, T, W>, blocks, threads, 0, stream, *job, src, dst,
                             lanes);
    else
        ln_cuda_launch_early(reduce_lines<R, T, 1>, blocks, threads, 0, stream, *job, src, dst,
                             lanes);
}

template <class R, class T>
static void launch_columns(ln_cuda_stream stream, reduce_job *job, const T *src, T *dst)
{
    // As many threads for each long column as still let all columns run at once.
    const int most = 2048 * ln_cuda_n_sms() / job->n_results;
    const int ny = job->count < 16 ? 1 : job->count < 128 || most < 16 ? 8 : most < 32 ? 16 : 32;
    const int nx = ny == 1 ? 128 : 32;
    prepare_divisors(&job->kept);
    prepare_divisors(&job->reduced);
    ln_cuda_launch_early(reduce_columns<R, T>, ln_ceil_div(job->n_results, nx), dim3(nx, ny), 0,
                         stream, *job, src, dst);
}

// Calls f with an object of the type of the reduction.
template <class F> static int of_op(tl_reduce_op op, F f)
{
    switch (op) {
    case TL_REDUCE_SUM:
    case TL_REDUCE_MEAN:
    case TL_REDUCE_LOG_SUM:
        return f(of_sum());
    case TL_REDUCE_PROD:
        return f(of_prod());
    case TL_REDUCE_MAX:
        return f(of_max());
    case TL_REDUCE_MIN:
        return f(of_min());
    case TL_REDUCE_L1:
        return f(of_abs());
    case TL_REDUCE_L2:
    case TL_REDUCE_SUM_SQUARE:
        return f(of_square());
    case TL_REDUCE_LOG_SUM_EXP:
        return f(of_exp());
    default:
        return tl_fail("CUDA kernel reduce: op %d, expected 0 to %d", op, TL_REDUCE_OP_SIZE - 1);
    }
}

int ln_cuda_reduce(ln_cuda_stream stream, const tl_tensor *src, tl_tensor *dst, tl_reduce_op op,
                   const int *axes, int n_axes)
{
    if (dst->len == 0)
        return 0;
    reduce_job job = plan_reduction(src, dst->len, op, axes, n_axes);
    return ln_cuda_of_float(src->dtype, "reduce", [&](auto zero) {
        using T = decltype(zero);
        return of_op(op, [&](auto kind) {
            using R = decltype(kind);
            if (job.is_line)
                launch_lines<R, T>(stream, &job, (const T *)src->data, (T *)dst->data);
            else
                launch_columns<R, T>(stream, &job, (const T *)src->data, (T *)dst->data);
            return ln_cuda_launched("reduce");
        });
    });
}
