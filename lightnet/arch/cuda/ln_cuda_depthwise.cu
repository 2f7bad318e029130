// SPDX-License-Identifier: Apache-2.0
// Kernels of depthwise convolutions: of any shape, and of 16 bits with channels last by tiles.
//
// V is the number of adjacent channels that a thread computes, 1 of src [N, C, H, W] ("planes").

#include <cuda_pipeline_primitives.h>

#include "arch/cuda/ln_cuda_common.cuh"

// Any shape

namespace
{

struct depthwise {
    const void *src, *weight, *bias, *addend; // bias, addend: or NULL
    void *dst;
    uint32_t n; // threads: [image, row, column, channel], in planes [image, channel, row, column]
    int h, w, c;
    int oh, ow;
    ln_divisor channels; // groups of V: c / V
    ln_divisor columns;  // groups of W_OUT pixels of ow
    ln_divisor rows;     // oh
    int size[2], stride[2], dilation[2], padding[2];
    tl_activation act;
};

// Adds the addend, applies the activation, and stores V elements of dst at `i`.
template <class T, int V>
__device__ __forceinline__ void store_result(const depthwise &d, size_t i, float (&x)[V])
{
    if (d.addend) {
        float y[V];
        ln_load_vec<V>((const T *)d.addend + i, y);
#pragma unroll
        for (int j = 0; j < V; j++)
            x[j] += y[j];
    }
    ln_act_all<V>(x, d.act);
    ln_store_vec<V>((T *)d.dst + i, x);
}

template <class T, int V>
__device__ __forceinline__ void load_bias(const depthwise &d, int c, float (&x)[V])
{
#pragma unroll
    for (int j = 0; j < V; j++)
        x[j] = 0;
    if (d.bias)
        ln_load_vec<V>((const T *)d.bias + c, x);
}

enum { CONV_THREADS = 128 };

// K x K, stride S, src [N, H, W, C]. A thread computes V channels of W_OUT adjacent pixels t, from
// W_IN pixels i of each of K rows: i is the tap kx = i - t * S of pixel t.
template <class T, int V, int K, int S, int W_OUT>
__global__ void __launch_bounds__(CONV_THREADS, 4)
    depthwise_pixels(const __grid_constant__ depthwise d)
{
    constexpr int W_IN = (W_OUT - 1) * S + K;
    const uint32_t g = blockIdx.x * CONV_THREADS + threadIdx.x;
    if (g >= d.n)
        return;
    uint32_t at = d.channels.quotient(g);
    const int c = (int)(g - at * d.channels.d) * V;
    uint32_t q = d.columns.quotient(at);
    const int x_out = (int)(at - q * d.columns.d) * W_OUT, x0 = x_out * S - d.padding[1];
    const uint32_t image = d.rows.quotient(q);
    const int y_out = (int)(q - image * d.rows.d), y0 = y_out * S - d.padding[0];
    const T *const src = (const T *)d.src + (size_t)image * d.h * d.w * d.c + c;
    const T *const weight = (const T *)d.weight + c;
    ln_vec<T, V> zeros;
#pragma unroll
    for (int j = 0; j < V; j++)
        zeros.at[j] = ln_store<T>(0);
    float sums[W_OUT][V];
    load_bias<T, V>(d, c, sums[0]);
#pragma unroll
    for (int t = 1; t < W_OUT; t++)
#pragma unroll
        for (int j = 0; j < V; j++)
            sums[t][j] = sums[0][j];
#pragma unroll(K == 3 ? 3 : 1)
    for (int ky = 0; ky < K; ky++) {
        const int y = y0 + ky;
        if (y < 0 || y >= d.h)
            continue;
        float weights[K][V];
#pragma unroll
        for (int kx = 0; kx < K; kx++)
            ln_load_vec<V>(weight + (ky * K + kx) * d.c, weights[kx]);
        ln_vec<T, V> row[W_IN]; // all of it before the first is used
#pragma unroll
        for (int i = 0; i < W_IN; i++)
            row[i] = x0 + i >= 0 && x0 + i < d.w
                         ? *reinterpret_cast<const ln_vec<T, V> *>(src + (y * d.w + x0 + i) * d.c)
                         : zeros;
#pragma unroll
        for (int i = 0; i < W_IN; i++) {
            float x[V];
#pragma unroll
            for (int j = 0; j < V; j++)
                x[j] = ln_load(row[i].at[j]);
#pragma unroll
            for (int t = 0; t < W_OUT; t++)
                if (i - t * S >= 0 && i - t * S < K) {
#pragma unroll
                    for (int j = 0; j < V; j++)
                        sums[t][j] += x[j] * weights[i - t * S][j];
                }
        }
    }
    const size_t to = (((size_t)image * d.oh + y_out) * d.ow + x_out) * d.c + c;
#pragma unroll
    for (int t = 0; t < W_OUT; t++)
        if (x_out + t < d.ow)
            store_result<T, V>(d, to + (size_t)t * d.c, sums[t]);
}

// The same of src [N, C, H, W]: W_OUT neighbours of a plane, stored at once when `is_wide`.
template <class T, int K, int S, int W_OUT>
__global__ void __launch_bounds__(CONV_THREADS)
    depthwise_planes(const __grid_constant__ depthwise d, int is_wide)
{
    constexpr int W_IN = (W_OUT - 1) * S + K;
    const uint32_t g = blockIdx.x * CONV_THREADS + threadIdx.x;
    if (g >= d.n)
        return;
    const uint32_t q = d.columns.quotient(g);
    const int x_out = (int)(g - q * d.columns.d) * W_OUT, x0 = x_out * S - d.padding[1];
    const uint32_t plane = d.rows.quotient(q);
    const int y_out = (int)(q - plane * d.rows.d), y0 = y_out * S - d.padding[0];
    const int c = (int)(plane - d.channels.quotient(plane) * d.channels.d);
    const T *const src = (const T *)d.src + (size_t)plane * d.h * d.w;
    const T *const weight = (const T *)d.weight + c * (K * K);
    float sums[W_OUT], bias[1];
    load_bias<T, 1>(d, c, bias);
#pragma unroll
    for (int t = 0; t < W_OUT; t++)
        sums[t] = bias[0];
#pragma unroll(K == 3 ? 3 : 1)
    for (int ky = 0; ky < K; ky++) {
        const int y = y0 + ky;
        if (y < 0 || y >= d.h)
            continue;
        float weights[K], x[W_IN];
#pragma unroll
        for (int i = 0; i < W_IN; i++)
            x[i] = x0 + i >= 0 && x0 + i < d.w ? ln_load(src[y * d.w + x0 + i]) : 0;
#pragma unroll
        for (int kx = 0; kx < K; kx++)
            weights[kx] = ln_load(weight[ky * K + kx]);
#pragma unroll
        for (int t = 0; t < W_OUT; t++)
#pragma unroll
            for (int kx = 0; kx < K; kx++)
                sums[t] += x[t * S + kx] * weights[kx];
    }
    const size_t to = ((size_t)plane * d.oh + y_out) * d.ow + x_out;
    if (is_wide) {
        store_result<T, W_OUT>(d, to, sums);
        return;
    }
#pragma unroll
    for (int t = 0; t < W_OUT; t++)
        if (x_out + t < d.ow) {
            float one[1] = {sums[t]};
            store_result<T, 1>(d, to + t, one);
        }
}

// Any size, stride and dilation: V channels of one pixel.
template <class T, int V, int IS_NHWC>
__global__ void __launch_bounds__(CONV_THREADS) depthwise_any(const __grid_constant__ depthwise d)
{
    const uint32_t g = blockIdx.x * CONV_THREADS + threadIdx.x;
    if (g >= d.n)
        return;
    uint32_t at = IS_NHWC ? d.channels.quotient(g) : g;
    int c = (int)(g - at * d.channels.d) * V;
    uint32_t q = d.columns.quotient(at);
    const int x0 = (int)(at - q * d.columns.d) * d.stride[1] - d.padding[1];
    const uint32_t image = d.rows.quotient(q); // or plane
    const int y0 = (int)(q - image * d.rows.d) * d.stride[0] - d.padding[0];
    if (!IS_NHWC)
        c = (int)(image - d.channels.quotient(image) * d.channels.d);
    const int step = IS_NHWC ? d.c : 1; // from one pixel to the next
    const T *const src = (const T *)d.src + (size_t)image * d.h * d.w * step + (IS_NHWC ? c : 0);
    const T *const weight = (const T *)d.weight + (IS_NHWC ? c : c * d.size[0] * d.size[1]);
    float sums[V];
    load_bias<T, V>(d, c, sums);
    for (int ky = 0; ky < d.size[0]; ky++) {
        const int y = y0 + ky * d.dilation[0];
        if (y < 0 || y >= d.h)
            continue;
#pragma unroll 4
        for (int kx = 0; kx < d.size[1]; kx++) {
            const int x = x0 + kx * d.dilation[1];
            if (x < 0 || x >= d.w)
                continue;
            float a[V], b[V];
            ln_load_vec<V>(src + (y * d.w + x) * step, a);
            ln_load_vec<V>(weight + (ky * d.size[1] + kx) * step, b);
#pragma unroll
            for (int j = 0; j < V; j++)
                sums[j] += a[j] * b[j];
        }
    }
    store_result<T, V>(d, (size_t)g * V, sums);
}

// Fills all members but n, `columns` and, with V > 1, `channels`, which depend on the launch.
void fill_depthwise(depthwise *d, const tl_tensor *src, const tl_tensor *weight,
                    const tl_tensor *bias, const tl_tensor *addend, const tl_tensor *dst,
                    const tl_conv2d_param *param, int is_nhwc)
{
    const int first = is_nhwc ? 1 : 2; // of height and width
    d->src = src->data;
    d->weight = weight->data;
    d->bias = bias ? bias->data : NULL;
    d->addend = addend ? addend->data : NULL;
    d->dst = dst->data;
    d->h = src->dims[first];
    d->w = src->dims[first + 1];
    d->c = src->dims[is_nhwc ? 3 : 1];
    d->oh = dst->dims[first];
    d->ow = dst->dims[first + 1];
    d->channels = ln_divisor(d->c);
    d->rows = ln_divisor(d->oh);
    for (int i = 0; i < 2; i++) {
        d->size[i] = param->size[i];
        d->stride[i] = param->stride[i];
        d->dilation[i] = param->dilation[i];
        d->padding[i] = param->padding[i];
    }
    d->act = param->act;
}

int is_aligned(const depthwise *d)
{
    return ln_is_aligned(d->src, 16) && ln_is_aligned(d->weight, 16) &&
           ln_is_aligned(d->bias, 16) && ln_is_aligned(d->addend, 16) && ln_is_aligned(d->dst, 16);
}

unsigned conv_blocks(const depthwise *d)
{
    return (d->n + CONV_THREADS - 1) / CONV_THREADS;
}

// The threads that compute V channels of W_OUT pixels each.
uint32_t pixel_threads(const depthwise *d, int images, int v, int w_out)
{
    return (uint32_t)(images * d->oh * ((d->ow + w_out - 1) / w_out) * (d->c / v));
}

template <class T, int V, int K, int S, int W_OUT>
int launch_pixels_of(cudaStream_t stream, depthwise *d, int images)
{
    d->n = pixel_threads(d, images, V, W_OUT);
    d->channels = ln_divisor(d->c / V);
    d->columns = ln_divisor((d->ow + W_OUT - 1) / W_OUT);
    depthwise_pixels<T, V, K, S, W_OUT><<<conv_blocks(d), CONV_THREADS, 0, stream>>>(*d);
    return ln_cuda_launched("depthwise");
}

template <class T, int K, int S> int launch_planes_of(cudaStream_t stream, depthwise *d, int images)
{
    constexpr int W_OUT = 4;
    d->columns = ln_divisor((d->ow + W_OUT - 1) / W_OUT);
    d->n = (uint32_t)(images * d->c * d->oh) * d->columns.d;
    const int is_wide = d->ow % W_OUT == 0 && ln_is_aligned(d->dst, W_OUT * sizeof(T)) &&
                        ln_is_aligned(d->addend, W_OUT * sizeof(T));
    depthwise_planes<T, K, S, W_OUT><<<conv_blocks(d), CONV_THREADS, 0, stream>>>(*d, is_wide);
    return ln_cuda_launched("depthwise");
}

// Any layout of K x K and stride S; -2: an odd number of channels, or unaligned data.
template <class T, int K, int S>
int launch_square(cudaStream_t stream, depthwise *d, int images, int is_nhwc)
{
    constexpr int V = 4; // 8 of 16 bits would need too many registers
    if (!is_nhwc)
        return launch_planes_of<T, K, S>(stream, d, images);
    if (!is_aligned(d) || d->c % 2)
        return -2;
    // More pixels for each thread, unless too few threads remain.
    if (d->c % V == 0 && pixel_threads(d, images, V, 4) >= (uint32_t)ln_cuda_n_sms() * 512)
        return launch_pixels_of<T, V, K, S, 4>(stream, d, images);
    return launch_pixels_of<T, 2, K, S, 2>(stream, d, images);
}

template <class T> int launch_depthwise(cudaStream_t stream, depthwise *d, int images, int is_nhwc)
{
    const int k = d->size[0] == d->size[1] ? d->size[0] : 0;
    const int is_dense = d->dilation[0] == 1 && d->dilation[1] == 1;
    const int s = is_dense && d->stride[0] == d->stride[1] ? d->stride[0] : 0;
    const int status = k == 3 && s == 1   ? launch_square<T, 3, 1>(stream, d, images, is_nhwc)
                       : k == 3 && s == 2 ? launch_square<T, 3, 2>(stream, d, images, is_nhwc)
                       : k == 5 && s == 1 ? launch_square<T, 5, 1>(stream, d, images, is_nhwc)
                       : k == 5 && s == 2 ? launch_square<T, 5, 2>(stream, d, images, is_nhwc)
                       : k == 7 && s == 1 ? launch_square<T, 7, 1>(stream, d, images, is_nhwc)
                                          : -2;
    if (status != -2)
        return status;
    const int v = is_nhwc && is_aligned(d) && d->c % 2 == 0 ? 2 : 1;
    d->channels = ln_divisor(is_nhwc ? d->c / v : d->c);
    d->columns = ln_divisor(d->ow);
    d->n = (uint32_t)(images * d->c / v * d->oh * d->ow);
    if (!is_nhwc)
        depthwise_any<T, 1, 0><<<conv_blocks(d), CONV_THREADS, 0, stream>>>(*d);
    else if (v == 2)
        depthwise_any<T, 2, 1><<<conv_blocks(d), CONV_THREADS, 0, stream>>>(*d);
    else
        depthwise_any<T, 1, 1><<<conv_blocks(d), CONV_THREADS, 0, stream>>>(*d);
    return ln_cuda_launched("depthwise");
}

} // namespace

int ln_cuda_depthwise(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *weight,
                      const tl_tensor *bias, const tl_tensor *addend, tl_tensor *dst,
                      const tl_conv2d_param *param, int is_nhwc)
{
    if (dst->len == 0)
        return 0;
    const int axis = is_nhwc ? 3 : 1;
    if (src->dims[axis] != dst->dims[axis])
        return tl_fail("CUDA kernel depthwise: %d channels of %d, expected one of each",
                       dst->dims[axis], src->dims[axis]);
    depthwise d = {};
    fill_depthwise(&d, src, weight, bias, addend, dst, param, is_nhwc);
    return ln_cuda_of_float(src->dtype, "depthwise", [&](auto zero) {
        return launch_depthwise<decltype(zero)>(stream, &d, src->dims[0], is_nhwc);
    });
}

// Of 16 bits with channels last, by tiles

// dst is divided into bands of rows, strips of columns and parts of channels. A block computes one
// of each, ((image * bands + band) * strips + strip) * parts + part, downwards, a step of rows at
// once. Rows of src go through a ring in shared memory, so that a block reads each once:
//
//     ring:  | a a a a a a | b b b b |      step 1 reads the rows a, and meanwhile b are copied,
//            | c c c c a a | b b b b |      step 2 reads the last of a, then b, and copies c, ...
//
// The weights [K * K, lanes, V] as float follow the ring. Thread (x, y, z) computes V channels of
// W_OUT columns and H_OUT rows: the x-th channels, y-th columns and z-th rows of the block's step.

namespace
{

struct tiles {
    depthwise d;
    float *sums;              // [images, bands * strips, C], or NULL
    ln_divisor parts;         // of the channels
    ln_divisor strips, bands; // of the columns and rows of dst
    ln_divisor in_w;          // columns of the ring
    ln_divisor chunks;        // of 16 bytes of a pixel in the ring
    ln_divisor lanes;         // groups of V channels of a block
    int in_h;                 // rows of src that a step reads
    int step_h;               // of them, those that the step before did not
    int ring_h;               // rows of the ring
    int steps;                // of a band
    float low, high;          // bounds of the results of NONE, RELU and CLIP
};

enum { TILE_V = 4, TILE_THREADS = 128, CHUNK = 8 };

// Begins to copy n rows of src from row y and column x, with zeros around the image, to the rows of
// the ring from `to` on, which continue at row 0.
template <class T>
__device__ __forceinline__ void copy_rows(const tiles &t, const T *src, int n_channels, int y,
                                          int x, int n, uint4 *ring, int to)
{
    const depthwise &d = t.d;
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int n_threads = blockDim.x * blockDim.y * blockDim.z;
    const int row_len = (int)(t.in_w.d * t.chunks.d), len = n * row_len;
    for (int i = thread; i < len; i += n_threads) {
        const uint32_t pixel = t.chunks.quotient(i), row = t.in_w.quotient(pixel);
        const int c = (i - (int)(pixel * t.chunks.d)) * CHUNK;
        const int at_y = y + (int)row, at_x = x + (int)(pixel - row * t.in_w.d);
        const bool is_inside =
            (unsigned)at_y < (unsigned)d.h && (unsigned)at_x < (unsigned)d.w && c < n_channels;
        const int at = to * row_len + i, end = t.ring_h * row_len;
        __pipeline_memcpy_async(ring + (at < end ? at : at - end),
                                src + (is_inside ? (at_y * d.w + at_x) * d.c + c : 0), 16,
                                is_inside ? 0 : 16);
    }
}

// The activation of N results.
template <int N> __device__ __forceinline__ void finish(const tiles &t, float (&x)[N])
{
    const tl_activation &act = t.d.act;
    if (act.act == TL_ACT_SILU) {
#pragma unroll
        for (int j = 0; j < N; j++)
            x[j] = ln_swish_of(x[j], 1, 0);
    } else if (act.act == TL_ACT_HARDSWISH) {
#pragma unroll
        for (int j = 0; j < N; j++)
            x[j] *= ln_hardsigmoid_of(x[j], act.alpha, act.beta);
    } else {
#pragma unroll
        for (int j = 0; j < N; j++)
            x[j] = ln_clip_of(x[j], t.low, t.high);
    }
}

// Adds the addend, applies the activation, and stores H_OUT x W_OUT pixels of V channels: those of
// `rows` x `columns`. `at` is the first element of dst.
template <class T, int H_OUT, int W_OUT, int V>
__device__ __forceinline__ void store_tile(const tiles &t, size_t at, int rows, int columns,
                                           float (&x)[H_OUT * W_OUT * V])
{
    const depthwise &d = t.d;
    T *const dst = (T *)d.dst + at;
    const int row_len = d.ow * d.c;
    if (d.addend) {
        const T *const addend = (const T *)d.addend + at;
#pragma unroll
        for (int i = 0; i < H_OUT * W_OUT; i++)
            if (i / W_OUT < rows && i % W_OUT < columns) {
                float y[V];
                ln_load_vec<V>(addend + i / W_OUT * row_len + i % W_OUT * d.c, y);
#pragma unroll
                for (int j = 0; j < V; j++)
                    x[i * V + j] += y[j];
            }
    }
    finish(t, x);
#pragma unroll
    for (int i = 0; i < H_OUT * W_OUT; i++)
        if (i / W_OUT < rows && i % W_OUT < columns) {
            float y[V];
#pragma unroll
            for (int j = 0; j < V; j++)
                y[j] = x[i * V + j];
            ln_store_vec<V>(dst + i / W_OUT * row_len + i % W_OUT * d.c, y);
        }
}

// Adds the V channels of those of H_OUT x W_OUT pixels that are within `rows` x `columns`.
template <int H_OUT, int W_OUT, int V>
__device__ __forceinline__ void add_tile(const float (&x)[H_OUT * W_OUT * V], int rows, int columns,
                                         float (&total)[V])
{
#pragma unroll
    for (int i = 0; i < H_OUT * W_OUT; i++)
        if (i / W_OUT < rows && i % W_OUT < columns) {
#pragma unroll
            for (int j = 0; j < V; j++)
                total[j] += x[i * V + j];
        }
}

// sums[i] = the sum of channel i of the block over its threads: total[j] of a thread is of channel
// threadIdx.x * V + j. `shared` has room for V floats of each thread, and no other use any more.
template <int V>
__device__ __forceinline__ void add_threads(const float (&total)[V], float *shared, int n_channels,
                                            float *sums)
{
    const int lanes = blockDim.x, n_rows = blockDim.y * blockDim.z;
    const int thread = threadIdx.x + lanes * (threadIdx.y + blockDim.y * threadIdx.z);
    ln_store_vec<V>(shared + thread * V, total);
    __syncthreads();
    for (int i = thread; i < n_channels; i += lanes * n_rows) {
        float sum = 0;
        for (int k = 0; k < n_rows; k++)
            sum += shared[k * lanes * V + i];
        sums[i] = sum;
    }
}

// K x K, stride S; a thread computes H_OUT x W_OUT pixels in each step. HAS_SUMS: the block also
// stores the sums of its results.
template <class T, int K, int S, int H_OUT, int W_OUT, int HAS_SUMS>
__global__ void __launch_bounds__(TILE_THREADS, K == 3 ? 5 : 4)
    depthwise_tiles(const __grid_constant__ tiles t)
{
    extern __shared__ uint4 shared[];
    constexpr int V = TILE_V, W_IN = (W_OUT - 1) * S + K, H_IN = (H_OUT - 1) * S + K;
    const depthwise &d = t.d;
    const int lanes = blockDim.x, row_len = (int)(t.in_w.d * t.chunks.d); // of the ring, in chunks
    uint32_t at = t.parts.quotient(blockIdx.x); // of image, band and strip
    const int c0 = (int)(blockIdx.x - at * t.parts.d) * lanes * V,
              n_channels = min(d.c - c0, lanes * V);
    uint32_t q = t.strips.quotient(at);
    const int x_out = (int)(at - q * t.strips.d) * blockDim.y * W_OUT;
    const uint32_t image = t.bands.quotient(q);
    const int h_out = blockDim.z * H_OUT, y_out = (int)(q - image * t.bands.d) * h_out * t.steps;
    const T *const src = (const T *)d.src + (size_t)image * d.h * d.w * d.c + c0;
    const int x0 = x_out * S - d.padding[1];
    int y_next = y_out * S - d.padding[0]; // the first row of src that is not copied yet
    float *const weights =
        reinterpret_cast<float *>(shared + t.ring_h * row_len); // [K * K, lanes, V]

    copy_rows<T>(t, src, n_channels, y_next, x0, t.in_h, shared, 0);
    __pipeline_commit();
    y_next += t.in_h;

    const int thread = threadIdx.x + lanes * (threadIdx.y + blockDim.y * threadIdx.z);
    const int n_threads = lanes * blockDim.y * blockDim.z;
    for (int i = thread; i < K * K * lanes; i += n_threads) {
        const int tap = (int)t.lanes.quotient(i), c = (i - tap * lanes) * V;
        float w[V] = {};
        if (c < n_channels)
            ln_load_vec<V>((const T *)d.weight + tap * d.c + c0 + c, w);
        ln_store_vec<V>(weights + i * V, w);
    }
    const int c = threadIdx.x * V;
    float bias[V] = {};
    if (d.bias && c < n_channels)
        ln_load_vec<V>((const T *)d.bias + c0 + c, bias);

    const int x = x_out + threadIdx.y * W_OUT; // of the thread
    int y = y_out + threadIdx.z * H_OUT;
    int first = 0, next = t.in_h; // rows of the ring: of this step, and where the next ones go
    if (next >= t.ring_h)
        next -= t.ring_h;
    float total[V] = {};
    const T *const column =
        reinterpret_cast<const T *>(shared) + threadIdx.y * (W_OUT * S * CHUNK) * t.chunks.d + c;
    const int pixel_len = (int)t.chunks.d * CHUNK; // in elements
    for (int step = 0; step < t.steps && y_out + step * h_out < d.oh; step++) {
        if (step + 1 < t.steps && y_out + (step + 1) * h_out < d.oh)
            copy_rows<T>(t, src, n_channels, y_next, x0, t.step_h, shared, next);
        __pipeline_commit(); // perhaps of nothing
        y_next += t.step_h;
        __pipeline_wait_prior(1);
        __syncthreads();
        if (c < n_channels && x < d.ow && y < d.oh) {
            float sums[H_OUT * W_OUT * V];
#pragma unroll
            for (int i = 0; i < H_OUT * W_OUT * V; i++)
                sums[i] = bias[i % V];
#pragma unroll
            for (int iy = 0; iy < H_IN; iy++) {
                int row = first + threadIdx.z * (H_OUT * S) + iy;
                row = row >= t.ring_h ? row - t.ring_h : row;
                const T *const from = column + row * row_len * CHUNK;
                float in[W_IN][V];
#pragma unroll
                for (int ix = 0; ix < W_IN; ix++)
                    ln_load_vec<V>(from + ix * pixel_len, in[ix]);
#pragma unroll
                for (int oy = 0; oy < H_OUT; oy++) {
                    const int ky = iy - oy * S;
                    if (ky < 0 || ky >= K)
                        continue;
#pragma unroll
                    for (int kx = 0; kx < K; kx++) {
                        float w[V];
                        ln_load_vec<V>(weights + ((ky * K + kx) * lanes + threadIdx.x) * V, w);
#pragma unroll
                        for (int ox = 0; ox < W_OUT; ox++)
#pragma unroll
                            for (int j = 0; j < V; j++)
                                sums[(oy * W_OUT + ox) * V + j] += in[ox * S + kx][j] * w[j];
                    }
                }
            }
            const size_t to = (((size_t)image * d.oh + y) * d.ow + x) * d.c + c0 + c;
            store_tile<T, H_OUT, W_OUT, V>(t, to, d.oh - y, d.ow - x, sums);
            if (HAS_SUMS)
                add_tile<H_OUT, W_OUT, V>(sums, d.oh - y, d.ow - x, total);
        }
        y += h_out;
        first += t.step_h;
        next += t.step_h;
        first = first >= t.ring_h ? first - t.ring_h : first;
        next = next >= t.ring_h ? next - t.ring_h : next;
        __syncthreads(); // the rows that the next copy replaces have been read
    }
    // There is room: the ring has 2 columns or more, of 8 bytes for a lane, for each thread.
    if (HAS_SUMS)
        add_threads<V>(total, reinterpret_cast<float *>(shared), n_channels,
                       t.sums + (size_t)at * d.c + c0);
}

// The ways to choose tiles, of which the fastest is measured. Long bands read fewer rows twice,
// short ones are more blocks; the last way is for small images.
struct tile_way {
    int threads, lanes; // max of a block
    int h_out;          // pixels of a thread along H
    int steps;          // max of a band
};

const tile_way tile_ways[LN_CUDA_TILE_WAYS] = {
    {128, 16, 2, 8}, {128, 16, 2, 3}, {128, 16, 2, 1}, {64, 16, 2, 4}, {64, 8, 1, 1},
};

// The length of a part when n is divided into as few parts of at most `max` as possible, all about
// equally long: 17 and 16 -> 9.
int even_part(int n, int max)
{
    return ln_ceil_div(n, ln_ceil_div(n, max));
}

enum { MAX_COLUMNS = 4, TILE_MEMORY = 48 << 10 };

// Fills what depends on `rows`, the groups of h_out rows of a block, and the max `steps` of a band.
// Returns the bytes of shared memory of a block.
size_t set_rows(tiles *t, int k, int s, int h_out, int rows, int steps)
{
    const depthwise *const d = &t->d;
    const int h = rows * h_out;
    t->steps = even_part(ln_ceil_div(d->oh, h), steps);
    t->in_h = (h - 1) * s + k;
    t->step_h = h * s;
    t->ring_h = t->in_h + (t->steps > 1 ? t->step_h : 0);
    t->bands = ln_divisor(ln_ceil_div(d->oh, h * t->steps));
    return (size_t)t->ring_h * t->in_w.d * t->chunks.d * 16 +
           (size_t)k * k * t->lanes.d * TILE_V * sizeof(float);
}

// The pixels of a thread along W.
constexpr int tile_columns(int stride)
{
    return stride == 1 ? 4 : 2;
}

// Divides the work into blocks and steps: fills the divisors and sizes of `t`, and the dimensions
// of a block. Returns its bytes of shared memory.
size_t divide(tiles *t, const tile_way *way, dim3 *block)
{
    const depthwise *const d = &t->d;
    const int k = d->size[0], s = d->stride[0], w_out = tile_columns(s);
    // Even, so that a block has whole chunks.
    const int lanes = (even_part(d->c / TILE_V, way->lanes) + 1) / 2 * 2;
    const int columns = even_part(ln_ceil_div(d->ow, w_out), MAX_COLUMNS);
    const int max_rows = way->threads / (lanes * columns);
    int rows = even_part(ln_ceil_div(d->oh, way->h_out), max_rows > 0 ? max_rows : 1);
    t->parts = ln_divisor(ln_ceil_div(d->c / TILE_V, lanes));
    t->lanes = ln_divisor(lanes);
    t->chunks = ln_divisor(lanes * TILE_V / CHUNK);
    t->strips = ln_divisor(ln_ceil_div(d->ow, columns * w_out));
    t->in_w = ln_divisor((columns * w_out - 1) * s + k);
    size_t size = set_rows(t, k, s, way->h_out, rows, way->steps);
    while (size > TILE_MEMORY && rows > 1)
        size = set_rows(t, k, s, way->h_out, --rows, way->steps);
    *block = dim3((unsigned)lanes, (unsigned)columns, (unsigned)rows);
    return size;
}

template <class T, int K, int S, int H_OUT>
int launch_tiles_of(cudaStream_t stream, tiles *t, int images, const tile_way *way)
{
    constexpr int W_OUT = tile_columns(S);
    dim3 block;
    const size_t size = divide(t, way, &block);
    if (size > TILE_MEMORY)
        return tl_fail("CUDA kernel depthwise: a tile needs %zu bytes of shared memory, expected "
                       "at most %d",
                       size, (int)TILE_MEMORY);
    const unsigned blocks = (unsigned)((int64_t)images * t->bands.d * t->strips.d * t->parts.d);
    if (t->sums)
        depthwise_tiles<T, K, S, H_OUT, W_OUT, 1><<<blocks, block, size, stream>>>(*t);
    else
        depthwise_tiles<T, K, S, H_OUT, W_OUT, 0><<<blocks, block, size, stream>>>(*t);
    return ln_cuda_launched("depthwise");
}

template <class T, int K, int S> int launch_tiles(cudaStream_t stream, tiles *t, int images, int n)
{
    const tile_way *const way = &tile_ways[n];
    return way->h_out == 2 ? launch_tiles_of<T, K, S, 2>(stream, t, images, way)
                           : launch_tiles_of<T, K, S, 1>(stream, t, images, way);
}

template <class T> int launch_any_tiles(cudaStream_t stream, tiles *t, int images, int way)
{
    const int k = t->d.size[0], s = t->d.stride[0];
    if (k == 3 && s == 1)
        return launch_tiles<T, 3, 1>(stream, t, images, way);
    if (k == 3)
        return launch_tiles<T, 3, 2>(stream, t, images, way);
    return s == 1 ? launch_tiles<T, 5, 1>(stream, t, images, way)
                  : launch_tiles<T, 5, 2>(stream, t, images, way);
}

// Sets the bounds of results. Returns whether the kernel supports the activation.
int set_range(tiles *t, tl_activation act)
{
    t->low = act.act == TL_ACT_RELU ? 0 : act.act == TL_ACT_CLIP ? act.alpha : -INFINITY;
    t->high = act.act == TL_ACT_CLIP ? act.beta : INFINITY;
    return act.act == TL_ACT_NONE || act.act == TL_ACT_RELU || act.act == TL_ACT_CLIP ||
           act.act == TL_ACT_SILU || act.act == TL_ACT_HARDSWISH;
}

} // namespace

int ln_cuda_has_depthwise_tiles(const tl_tensor *src, const tl_conv2d_param *param)
{
    tiles t = {};
    const int k = param->size[0], s = param->stride[0];
    return (src->dtype == TL_FLOAT16 || src->dtype == TL_BFLOAT16) && src->dims[3] % CHUNK == 0 &&
           (k == 3 || k == 5) && param->size[1] == k && (s == 1 || s == 2) &&
           param->stride[1] == s && param->dilation[0] == 1 && param->dilation[1] == 1 &&
           set_range(&t, param->act);
}

int ln_cuda_depthwise_sums(const tl_tensor *src, const tl_tensor *dst, const tl_conv2d_param *param,
                           int way)
{
    tiles t = {};
    dim3 block;
    fill_depthwise(&t.d, src, src, NULL, NULL, dst, param, 1);
    divide(&t, &tile_ways[way], &block);
    return (int)(t.bands.d * t.strips.d);
}

int ln_cuda_depthwise_tiles(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *weight,
                            const tl_tensor *bias, const tl_tensor *addend, tl_tensor *dst,
                            const tl_conv2d_param *param, int way, float *sums)
{
    if (dst->len == 0)
        return 0;
    tiles t = {};
    t.sums = sums;
    fill_depthwise(&t.d, src, weight, bias, addend, dst, param, 1);
    if (!ln_cuda_has_depthwise_tiles(src, param) || !is_aligned(&t.d))
        return tl_fail("CUDA kernel depthwise: %d channels of %s by tiles, size [%d, %d], expected "
                       "aligned data for which ln_cuda_has_depthwise_tiles returns 1",
                       src->dims[3], tl_dtype_name(src->dtype), param->size[0], param->size[1]);
    set_range(&t, param->act);
    return src->dtype == TL_FLOAT16
               ? launch_any_tiles<__half>(stream, &t, src->dims[0], way)
               : launch_any_tiles<__nv_bfloat16>(stream, &t, src->dims[0], way);
}
