// SPDX-License-Identifier: Apache-2.0
// Kernels on images: pooling, resampling.
//
// V is the number of adjacent channels that a thread computes, 16 bytes of them where it can; 1 of
// src [N, C, H, W] ("planes").

#include <cooperative_groups.h>

#include "arch/cuda/ln_cuda_common.cuh"

namespace
{

// Pooling of windows

// src [outer, H, W, inner] -> dst [outer, OH, OW, inner]: in planes, inner is 1.
struct pool {
    const void *src;
    void *dst;
    uint32_t n;        // groups of V elements of dst
    int h, w;          // of src
    int inner;         // elements
    ln_divisor groups; // inner / V
    ln_divisor oh, ow;
    int size[2], stride[2], padding[2];
};

// A thread computes a group of V elements of dst. K is the windows' height and width, or 0 for any.
template <class T, int V, int K, int IS_MAX>
__global__ void __launch_bounds__(256) pool_windows(const __grid_constant__ pool p)
{
    for (uint32_t g = blockIdx.x * 256 + threadIdx.x; g < p.n; g += gridDim.x * 256) {
        uint32_t at = p.groups.quotient(g);
        const int c = (int)(g - at * p.groups.d) * V;
        uint32_t q = p.ow.quotient(at);
        const int x0 = (int)(at - q * p.ow.d) * p.stride[1] - p.padding[1];
        at = p.oh.quotient(q);
        const int y0 = (int)(q - at * p.oh.d) * p.stride[0] - p.padding[0];
        const T *const src = (const T *)p.src + (size_t)at * p.h * p.w * p.inner + c;
        float result[V] = {};
        int n = 0;
        const auto add = [&](const ln_vec<T, V> &from) {
#pragma unroll
            for (int j = 0; j < V; j++) {
                const float value = ln_load(from.at[j]);
                if (IS_MAX)
                    result[j] = n == 0 || value > result[j] ? value : result[j];
                else
                    result[j] += value;
            }
            n++;
        };
        const auto load = [&](int y, int x) {
            return *reinterpret_cast<const ln_vec<T, V> *>(src + (y * p.w + x) * p.inner);
        };
        if (K > 0) {
#pragma unroll
            for (int ky = 0; ky < K; ky++) {
                const int y = y0 + ky;
                if (y < 0 || y >= p.h)
                    continue;
                ln_vec<T, V> row[K > 0 ? K : 1];
#pragma unroll
                for (int kx = 0; kx < K; kx++)
                    if (x0 + kx >= 0 && x0 + kx < p.w)
                        row[kx] = load(y, x0 + kx);
#pragma unroll
                for (int kx = 0; kx < K; kx++)
                    if (x0 + kx >= 0 && x0 + kx < p.w)
                        add(row[kx]);
            }
        } else {
            const int y1 = min(y0 + p.size[0], p.h), x1 = min(x0 + p.size[1], p.w);
            for (int y = max(y0, 0); y < y1; y++)
                for (int x = max(x0, 0); x < x1; x++)
                    add(load(y, x));
        }
        if (!IS_MAX) {
#pragma unroll
            for (int j = 0; j < V; j++)
                result[j] /= (float)n;
        }
        ln_store_vec<V>((T *)p.dst + (size_t)g * V, result);
    }
}

template <class T, int V, int IS_MAX> void launch_windows(cudaStream_t stream, const pool *p)
{
    const unsigned blocks = ln_cuda_blocks(p->n, 256);
    const int k = p->size[0] == p->size[1] ? p->size[0] : 0;
    if (k == 2)
        pool_windows<T, V, 2, IS_MAX><<<blocks, 256, 0, stream>>>(*p);
    else if (k == 3)
        pool_windows<T, V, 3, IS_MAX><<<blocks, 256, 0, stream>>>(*p);
    else
        pool_windows<T, V, 0, IS_MAX><<<blocks, 256, 0, stream>>>(*p);
}

// Pooling of whole images

// The mean of a sum x; or the max x, unless the first element is NaN: as in tl_exec_maxpool2d, that
// stays, since no element is larger, and later NaN are ignored.
template <int IS_MAX> __device__ __forceinline__ float finish(float x, float first, int len)
{
    if (!IS_MAX)
        return x / (float)len;
    return first != first ? first : x;
}

template <int IS_MAX> struct pool_func : ln_sum {
};
template <> struct pool_func<1> : ln_max {
};

// src [planes, len] -> dst [planes]. A warp for each plane when the block has several rows, else
// the block for one.
template <class T, int V, int IS_MAX>
__global__ void pool_planes(const T *src, T *dst, int planes, int len)
{
    __shared__ float shared[32];
    using F = pool_func<IS_MAX>;
    const int plane = blockIdx.x * blockDim.y + threadIdx.y;
    if (plane >= planes) // the same for all of a warp, and never when the block has one row
        return;
    src += (size_t)plane * len;
    float result = F::none();
#pragma unroll 4
    for (int i = threadIdx.x * V; i < len; i += blockDim.x * V) {
        float x[V];
        ln_load_vec<V>(src + i, x);
#pragma unroll
        for (int j = 0; j < V; j++)
            result = F()(result, x[j]);
    }
    result = blockDim.y > 1 ? ln_warp_reduce(result, F()) : ln_block_reduce(result, F(), shared);
    if (threadIdx.x == 0)
        dst[plane] = ln_store<T>(finish<IS_MAX>(result, ln_load(src[0]), len));
}

template <class T, int V, int IS_MAX>
void launch_planes(cudaStream_t stream, const T *src, T *dst, int planes, int len)
{
    if (len <= 32 * V * 4) {
        const dim3 threads(32, 8);
        pool_planes<T, V, IS_MAX><<<(planes + 7) / 8, threads, 0, stream>>>(src, dst, planes, len);
    } else {
        const int threads = len <= 256 * V * 4 ? 256 : 1024;
        pool_planes<T, V, IS_MAX><<<planes, threads, 0, stream>>>(src, dst, planes, len);
    }
}

// The groups of channels of a block, 128 bytes, and the most warps.
enum { POOL_GROUPS = 8, POOL_WARPS = 32 };

// src [images, len, c] -> dst [images, c]. A block has blockDim.x groups of channels, a power of
// 2, of an image; the blocks of a cluster share its pixels, and the one of rank 0 joins their sums.
template <class T, int V, int IS_MAX>
__global__ void __launch_bounds__(32 * POOL_WARPS)
    pool_pixels(const T *src, T *dst, int len, int c, ln_divisor parts)
{
    using F = pool_func<IS_MAX>;
    __shared__ float sums[POOL_WARPS][POOL_GROUPS * V];
    __shared__ float sum[POOL_GROUPS * V];
    const int width = blockDim.x;
    const int thread = threadIdx.y * width + threadIdx.x, n_threads = width * blockDim.y;
    int rank = 0, n_ranks = 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
    rank = (int)cluster.block_rank();
    n_ranks = (int)cluster.num_blocks();
#endif
    const uint32_t part = blockIdx.x / (uint32_t)n_ranks, image = parts.quotient(part);
    const int channel = (int)(part - image * parts.d) * width * V; // the first one of the block
    src += (size_t)image * len * c;
    dst += (size_t)image * c;
    float x[V];
#pragma unroll
    for (int j = 0; j < V; j++)
        x[j] = F::none();
    const int mine = channel + threadIdx.x * V;
    if (mine < c) {
        const int step = blockDim.y * n_ranks;
#pragma unroll 4
        for (int i = rank * blockDim.y + threadIdx.y; i < len; i += step) {
            float y[V];
            ln_load_vec<V>(src + (size_t)i * c + mine, y);
#pragma unroll
            for (int j = 0; j < V; j++)
                x[j] = F()(x[j], y[j]);
        }
    }
    // Over the pixels of a warp, its lanes of the same channels.
#pragma unroll
    for (int j = 0; j < V; j++) {
        for (int lane = width; lane < 32; lane *= 2)
            x[j] = F()(x[j], __shfl_xor_sync(0xffffffffu, x[j], lane));
        if (thread % 32 < width)
            sums[thread / 32][threadIdx.x * V + j] = x[j];
    }
    __syncthreads();
    for (int i = thread; i < width * V; i += n_threads) {
        sum[i] = F::none();
        for (int k = 0; k < n_threads / 32; k++)
            sum[i] = F()(sum[i], sums[k][i]);
    }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cluster.sync();
#endif
    for (int i = thread; rank == 0 && i < width * V && channel + i < c; i += n_threads) {
        float all = sum[i]; // of the same thread
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
        for (int k = 1; k < n_ranks; k++)
            all = F()(all, cluster.map_shared_rank(sum, k)[i]);
#endif
        dst[channel + i] = ln_store<T>(finish<IS_MAX>(all, ln_load(src[channel + i]), len));
    }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cluster.sync(); // the shared memory of a block lives until all have read it
#endif
}

template <class T, int V, int IS_MAX>
int launch_pixels(cudaStream_t stream, const T *src, T *dst, int images, int len, int c)
{
    const int groups = c / V;
    int width = 1, rows = 1;
    while (width < POOL_GROUPS && width < groups)
        width *= 2;
    while (rows * width < 32 || (rows * width < 32 * POOL_WARPS && rows * 4 < len))
        rows *= 2;
    const int parts = ln_ceil_div(groups, width); // of the channels
    enum { CLUSTER = 8, LONG = 16 };              // pixels for each thread that are worth a cluster
    const int is_long = len / rows >= LONG && images * parts < ln_cuda_n_sms();
    const int n_ranks = is_long && ln_cuda_has_clusters(pool_pixels<T, V, IS_MAX>) ? CLUSTER : 1;
    ln_cuda_launch_clusters(
        pool_pixels<T, V, IS_MAX>, n_ranks, (unsigned)(images * parts * n_ranks),
        dim3((unsigned)width, (unsigned)rows), 0, stream, src, dst, len, c, ln_divisor(parts));
    return ln_cuda_launched("pool2d");
}

// 1: one window covers each image.
int is_whole(const tl_pool2d_param *param, const int *in, const int *out)
{
    for (int i = 0; i < 2; i++)
        if (out[i] != 1 || param->size[i] - param->padding[i] < in[i])
            return 0;
    return 1;
}

template <class T, int IS_MAX>
int launch_pool(cudaStream_t stream, const tl_tensor *src, tl_tensor *dst,
                const tl_pool2d_param *param, int is_nhwc)
{
    const int *const in = src->dims + (is_nhwc ? 1 : 2), *const out = dst->dims + (is_nhwc ? 1 : 2);
    const int n = src->dims[0], c = src->dims[is_nhwc ? 3 : 1], len = in[0] * in[1];
    const int is_aligned = ln_is_aligned(src->data, 16) && ln_is_aligned(dst->data, 16);
    const T *const from = (const T *)src->data;
    T *const to = (T *)dst->data;
    constexpr int V = ln_width<T>;
    const int is_wide = is_aligned && (is_nhwc ? c : len) % V == 0;
    if (is_whole(param, in, out)) {
        if (is_nhwc && is_wide)
            return launch_pixels<T, V, IS_MAX>(stream, from, to, n, len, c);
        if (is_nhwc)
            return launch_pixels<T, 1, IS_MAX>(stream, from, to, n, len, c);
        if (is_wide)
            launch_planes<T, V, IS_MAX>(stream, from, to, n * c, len);
        else
            launch_planes<T, 1, IS_MAX>(stream, from, to, n * c, len);
        return ln_cuda_launched("pool2d");
    }
    const int v = is_nhwc && is_wide ? V : 1;
    pool p = {};
    p.src = src->data;
    p.dst = dst->data;
    p.n = (uint32_t)(dst->len / v);
    p.h = in[0];
    p.w = in[1];
    p.inner = is_nhwc ? c : 1;
    p.groups = ln_divisor(p.inner / v);
    p.oh = ln_divisor(out[0]);
    p.ow = ln_divisor(out[1]);
    for (int i = 0; i < 2; i++) {
        p.size[i] = param->size[i];
        p.stride[i] = param->stride[i];
        p.padding[i] = param->padding[i];
    }
    if (v == 1)
        launch_windows<T, 1, IS_MAX>(stream, &p);
    else
        launch_windows<T, V, IS_MAX>(stream, &p);
    return ln_cuda_launched("pool2d");
}

} // namespace

int ln_cuda_pool2d(ln_cuda_stream stream, const tl_tensor *src, tl_tensor *dst,
                   const tl_pool2d_param *param, int is_max, int is_nhwc)
{
    if (dst->len == 0)
        return 0;
    return ln_cuda_of_float(src->dtype, "pool2d", [&](auto zero) {
        using T = decltype(zero);
        return is_max ? launch_pool<T, 1>(stream, src, dst, param, is_nhwc)
                      : launch_pool<T, 0>(stream, src, dst, param, is_nhwc);
    });
}

// Resampling

namespace
{

// Max axes that change.
enum { MAX_TAPS = 3 };

// src [outer, in.., inner] -> dst [outer, out.., inner], between the first and the last axis that
// changes. A thread computes one position and V elements of inner, for several outer ones.
struct resample {
    const void *src;
    void *dst;
    uint32_t n; // positions * groups of inner
    uint32_t n_outer;
    size_t steps[2];   // of src and dst, from one outer index to the next
    ln_divisor groups; // inner / V
    int n_axes;        // between outer and inner
    ln_divisor out[TL_MAXDIM];
    int strides[TL_MAXDIM]; // of src
    int taps[TL_MAXDIM];    // index in `in` and `axes`, -1: the axis does not change
    int in[MAX_TAPS];
    tl_resample_axis axes[MAX_TAPS];
    tl_rounding rounding;
};

// As position_of and float_position_of in resample_table.c.
__device__ __forceinline__ double position_of(const tl_resample_axis &axis, int i)
{
    return (i + axis.shift) * axis.span / axis.steps + axis.start;
}

__device__ __forceinline__ float float_position_of(const tl_resample_axis &axis, int i)
{
    return __fadd_rn((float)((i + axis.shift) * axis.span / axis.steps), (float)axis.start);
}

__device__ __forceinline__ int clamped(double x, int in)
{
    return x > 0 ? x < in - 1 ? (int)x : in - 1 : 0;
}

__device__ __forceinline__ int nearest_of(const tl_resample_axis &axis, tl_rounding rounding, int i,
                                          int in)
{
    const double x = (double)float_position_of(axis, i);
    return clamped(rounding == TL_ROUND_HALF_DOWN ? ceil(x - 0.5)
                   : rounding == TL_ROUND_HALF_UP ? floor(x + 0.5)
                   : rounding == TL_ROUND_DOWN    ? floor(x)
                                                  : ceil(x),
                   in);
}

// The indices before and after a position x, clamped to the axis, and their weights: 1 minus the
// distance to x.
struct neighbours {
    int at[2];
    float weights[2];
};

__device__ __forceinline__ neighbours neighbours_of(const tl_resample_axis &axis, int i, int in)
{
    double x = position_of(axis, i);
    x = x < -2 ? -2 : x > (double)in + 2 ? (double)in + 2 : x; // farther out, the border is all
    const double base = ceil(x) - 1;
    neighbours n;
    n.at[0] = clamped(base, in);
    n.at[1] = clamped(base + 1, in);
    n.weights[0] = (float)(1 - (x - base));
    n.weights[1] = (float)(1 - (base + 1 - x));
    return n;
}

// Thread g: group g % groups of inner, and position g / groups. N axes change: axis t of them reads
// at[t][0] alone if nearest, else both neighbours: the bits of `corner` choose one along each axis.
template <class T, int V, int N, int IS_LINEAR>
__global__ void __launch_bounds__(256) run_resample(const __grid_constant__ resample r)
{
    const uint32_t g = blockIdx.x * 256 + threadIdx.x;
    if (g >= r.n)
        return;
    uint32_t position = r.groups.quotient(g);
    int offset = (int)(g - position * r.groups.d) * V;
    int at[N][2];
    float weights[N][2];
    for (int k = r.n_axes - 1; k >= 0; k--) {
        const uint32_t q = r.out[k].quotient(position);
        const int i = (int)(position - q * r.out[k].d);
        position = q;
        if (r.taps[k] < 0)
            offset += i * r.strides[k];
#pragma unroll
        for (int t = 0; t < N; t++) {
            if (r.taps[k] != t)
                continue;
            if (IS_LINEAR) {
                const neighbours n = neighbours_of(r.axes[t], i, r.in[t]);
                for (int side = 0; side < 2; side++) {
                    at[t][side] = n.at[side] * r.strides[k];
                    weights[t][side] = n.weights[side];
                }
            } else {
                at[t][0] = nearest_of(r.axes[t], r.rounding, i, r.in[t]) * r.strides[k];
            }
        }
    }
    const T *src = (const T *)r.src + offset;
    T *dst = (T *)r.dst + (size_t)g * V;
    if constexpr (!IS_LINEAR) {
#pragma unroll
        for (int t = 0; t < N; t++)
            src += at[t][0];
        for (uint32_t o = blockIdx.y; o < r.n_outer; o += gridDim.y)
            *reinterpret_cast<ln_vec<T, V> *>(dst + o * r.steps[1]) =
                *reinterpret_cast<const ln_vec<T, V> *>(src + o * r.steps[0]);
    } else {
        for (uint32_t o = blockIdx.y; o < r.n_outer; o += gridDim.y) {
            float sum[V] = {};
#pragma unroll
            for (int corner = 0; corner < 1 << N; corner++) {
                float weight = 1;
                int from = 0;
#pragma unroll
                for (int t = 0; t < N; t++) {
                    weight *= weights[t][corner >> t & 1];
                    from += at[t][corner >> t & 1];
                }
                if (weight == 0) // not read, as it may be infinite
                    continue;
                float x[V];
                ln_load_vec<V>(src + o * r.steps[0] + from, x);
#pragma unroll
                for (int j = 0; j < V; j++)
                    sum[j] += weight * x[j];
            }
            ln_store_vec<V>(dst + o * r.steps[1], sum);
        }
    }
}

template <class T, int V, int N>
int launch_resample(cudaStream_t stream, const resample *r, int is_linear)
{
    // A thread works on up to 8 outer indices, fewer if threads are too few.
    const int64_t most = (int64_t)ln_cuda_n_sms() * 2048;
    int64_t chunk = (int64_t)r->n * r->n_outer / most;
    chunk = chunk < 1 ? 1 : chunk < 8 ? chunk : 8;
    int64_t rows = (r->n_outer + chunk - 1) / chunk;
    rows = rows < 65535 ? rows : 65535;
    const dim3 blocks((r->n + 255) / 256, (unsigned)rows);
    if (is_linear)
        run_resample<T, V, N, 1><<<blocks, 256, 0, stream>>>(*r);
    else
        run_resample<T, V, N, 0><<<blocks, 256, 0, stream>>>(*r);
    return ln_cuda_launched("resample");
}

template <class T, int V>
int launch_resample_of(cudaStream_t stream, const resample *r, int n, int is_linear)
{
    return n == 1   ? launch_resample<T, V, 1>(stream, r, is_linear)
           : n == 2 ? launch_resample<T, V, 2>(stream, r, is_linear)
                    : launch_resample<T, V, 3>(stream, r, is_linear);
}

// 1: positions along the axis are its indices.
int is_unchanged(const tl_resample_axis *a)
{
    return a->span == a->steps && a->shift + a->start == 0;
}

// Fills all but n and `groups`; returns the elements of inner. changes[i]: axis i changes.
int fill_resample(resample *r, const tl_tensor *src, const tl_tensor *dst,
                  const tl_resample_param *param, const int *changes)
{
    int strides[TL_MAXDIM], first = src->ndim, last = 0, n_taps = 0;
    for (int i = src->ndim - 1, stride = 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= src->dims[i];
        first = changes[i] ? i : first;
        last = changes[i] && i > last ? i : last;
    }
    int inner = 1;
    for (int i = last + 1; i < src->ndim; i++)
        inner *= src->dims[i];
    r->n_outer = 1;
    for (int i = 0; i < first; i++)
        r->n_outer *= (uint32_t)src->dims[i];
    r->steps[0] = (size_t)src->len / r->n_outer;
    r->steps[1] = (size_t)dst->len / r->n_outer;
    for (int i = first; i <= last; i++) {
        const int k = r->n_axes++;
        r->out[k] = ln_divisor(dst->dims[i]);
        r->strides[k] = strides[i];
        r->taps[k] = changes[i] ? n_taps : -1;
        if (changes[i]) {
            r->in[n_taps] = src->dims[i];
            r->axes[n_taps] = param->axes[i];
            n_taps++;
        }
    }
    r->src = src->data;
    r->dst = dst->data;
    r->rounding = param->rounding;
    return inner;
}

} // namespace

int ln_cuda_has_resample(const tl_resample_param *param, int ndim)
{
    int n = 0;
    for (int i = 0; i < ndim; i++) {
        n += !is_unchanged(&param->axes[i]);
        if (param->axes[i].stretch != 1)
            return 0;
    }
    return !param->fills_outside && n <= MAX_TAPS &&
           (param->mode == TL_RESAMPLE_NEAREST || param->mode == TL_RESAMPLE_LINEAR);
}

int ln_cuda_resample(ln_cuda_stream stream, const tl_tensor *src, tl_tensor *dst,
                     const tl_resample_param *param)
{
    int n = 0, changes[TL_MAXDIM];
    if (dst->len == 0)
        return 0;
    for (int i = 0; i < src->ndim; i++) {
        changes[i] = src->dims[i] != dst->dims[i] || !is_unchanged(&param->axes[i]);
        n += changes[i];
    }
    if (!ln_cuda_has_resample(param, src->ndim) || n > MAX_TAPS)
        return tl_fail("CUDA kernel resample: mode %d along %d axes, expected nearest or linear, "
                       "without stretch and fill, along at most %d",
                       param->mode, n, MAX_TAPS);
    if (n == 0) {
        cudaMemcpyAsync(dst->data, src->data, tl_tensor_size(src), cudaMemcpyDeviceToDevice,
                        stream);
        return ln_cuda_launched("resample");
    }
    return ln_cuda_of_float(src->dtype, "resample", [&](auto zero) {
        using T = decltype(zero);
        constexpr int V = ln_width<T>;
        const int is_linear = param->mode == TL_RESAMPLE_LINEAR;
        resample r = {};
        const int inner = fill_resample(&r, src, dst, param, changes);
        const int is_wide =
            inner % V == 0 && ln_is_aligned(src->data, 16) && ln_is_aligned(dst->data, 16);
        const int v = is_wide ? V : 1;
        r.groups = ln_divisor(inner / v);
        r.n = (uint32_t)(dst->len / (int)r.n_outer / v);
        return is_wide ? launch_resample_of<T, V>(stream, &r, n, is_linear)
                       : launch_resample_of<T, 1>(stream, &r, n, is_linear);
    });
}
