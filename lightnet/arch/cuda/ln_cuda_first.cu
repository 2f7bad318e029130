// SPDX-License-Identifier: Apache-2.0
// Convolutions of images with few channels, as first layers, on tensor cores: channels last, 16
// bits, with bias and activation.
//
// The convolution is a product of matrices: a row for each pixel of dst, a column for each of its
// channels. What a pixel needs of a row of src follows each other in memory, KW * C elements. So k
// runs over these rows, each filled up to an even length:
//
//     k:  | row 0: x0 c0, x0 c1, x0 c2, x1 c0 .. x2 c2, - | row 1 .. | row 2 .. | - - |
//
// A block copies a tile of src to shared memory, with zeros around the image. The instruction wants
// pairs of k, which are words there; no matrix is built. What stands where "-" is belongs to other
// pixels, and may be infinite: it is masked.

#include "arch/cuda/ln_cuda_act.cuh"
#include "arch/cuda/ln_cuda_mma.cuh"

namespace
{

/** A tile of dst; a warp computes WARP_H rows of 16 pixels. */
enum { TILE_H = 8, TILE_W = 32, WARP_H = 2, THREADS = 256 };

/** K x K, stride S, C channels of src, N of dst at most: a multiple of 16. */
template <int K, int S, int C, int N> struct first_layout {
    static constexpr int size = K * C;                /* elements of a row that a pixel needs */
    static constexpr int pairs = (size + 1) / 2;      /* of them */
    static constexpr int steps = (K * pairs + 7) / 8; /* of 16 elements of k */
    static constexpr int in_h = (TILE_H - 1) * S + K;
    static constexpr int words = ((TILE_W - 1) * S * C + 2 * pairs + 1) / 2; /* of a row of src */
    static constexpr int stride = 2 * words;
    static constexpr int loads = (in_h * words + THREADS - 1) / THREADS; /* of a thread */
    static constexpr int group = N < 32 ? N : 32; /* channels whose sums a warp finishes at once */
    static constexpr int v = group / 4;           /* of them, those of a thread */
    static constexpr int weights = steps * N * 8; /* words */
    static constexpr int memory = (weights + in_h * words) * 4;
    static constexpr int blocks = N == 64 ? 2 : N == 32 ? 3 : 4; /* of a multiprocessor */
};

template <class T> struct first_args {
    const T *src, *weight, *bias; /* bias may be NULL */
    T *dst;
    int h, row_len; /* of src: rows, elements of a row */
    int oh, ow, oc;
    int top, left; /* padding; the left one in elements */
    int n_tiles;
    ln_divisor across, down; /* tiles of an image */
    tl_activation act;
};

/** Two elements in the order of memory. */
template <class T> __device__ __forceinline__ uint32_t pair_of(const T *p, bool first, bool second)
{
    const uint16_t *const bits = (const uint16_t *)p;
    const uint32_t low = first ? bits[0] : 0, high = second ? bits[1] : 0;
    return low | high << 16;
}

/** Copies the weights to shared memory so that a thread loads what it needs for two blocks of 8
 *  columns as one vector. The columns are in such an order that a thread has sums of channels that
 *  follow each other: of the j-th block of a group, the thread t % 4 = q has the channels v q + 2 j
 *  and the next one. */
template <class L, int K, int N, class T>
__device__ __forceinline__ void load_weights(const first_args<T> &f, uint32_t *to)
{
    for (int i = threadIdx.x; i < L::weights; i += THREADS) {
        const int r = i % 4, lane = i / 4 % 32, two = i / 128 % (N / 16), step = i / (8 * N);
        const int column = two * 16 + r / 2 * 8 + lane / 4, in_group = column % L::group;
        const int channel =
            column - in_group + in_group % 8 / 2 * L::v + in_group / 8 * 2 + column % 2;
        const int pair = step * 8 + r % 2 * 4 + lane % 4, row = pair / L::pairs,
                  at = pair % L::pairs * 2;
        const bool ok = channel < f.oc && row < K;
        to[i] = pair_of(f.weight + (ok ? (channel * K + row) * L::size + at : 0), ok,
                        ok && at + 1 < L::size);
    }
}

/** Copies a tile of src, from row y and the element x of a row on, to shared memory. */
template <class L, class T>
__device__ __forceinline__ void load_tile(const first_args<T> &f, const T *image, int y, int x,
                                          uint32_t *to)
{
    constexpr int LEN = L::in_h * L::words;
    uint32_t pairs[L::loads]; // all of them on their way before the first is stored
#pragma unroll
    for (int j = 0; j < L::loads; j++) {
        const int i = threadIdx.x + j * THREADS, row = i / L::words;
        const int at_y = y + row, at_x = x + (i - row * L::words) * 2;
        const bool ok = i < LEN && (unsigned)at_y < (unsigned)f.h;
        pairs[j] = pair_of(image + (int64_t)at_y * f.row_len + at_x,
                           ok && (unsigned)at_x < (unsigned)f.row_len,
                           ok && (unsigned)(at_x + 1) < (unsigned)f.row_len);
    }
#pragma unroll
    for (int j = 0; j < L::loads; j++)
        if (threadIdx.x + j * THREADS < LEN)
            to[threadIdx.x + j * THREADS] = pairs[j];
}

/** a + q >= limit, for a q less than 4: decided when this is compiled for most a and limits. */
__device__ __forceinline__ bool reaches(int a, int q, int limit)
{
    return a >= limit || (a + 3 >= limit && a + q >= limit);
}

/** The pair of k `first` + q of the pixel whose tile of src begins at `p`; q is less than 4. */
template <class L, int K, int IS_EVEN, class T>
__device__ __forceinline__ uint32_t load_pair(const T *p, int first, int q)
{
    const int row = first / L::pairs, at = first % L::pairs;
    const int down = reaches(at, q, L::pairs) + reaches(at, q, 2 * L::pairs);
    if (reaches(first, q, K * L::pairs))
        return 0;
    p += (row + down) * L::stride + (at - down * L::pairs + q) * 2;
    bool is_full = true;
#pragma unroll
    for (int end = L::pairs - 1; L::size % 2 && end < at + 4; end += L::pairs)
        is_full = is_full && at + q != end;
    if constexpr (!IS_EVEN) // then some pixels begin within a word
        return pair_of(p, true, is_full);
    const uint32_t pair = *(const uint32_t *)p;
    return is_full ? pair : pair & 0xffff;
}

/** Adds the bias to a group of channels, applies the activation, and stores them. sums: of each row
 *  and block of 8 columns. */
template <class L, class T>
__device__ __forceinline__ void finish(const first_args<T> &f, T *image, int y, int x, int c,
                                       const float (&sums)[WARP_H][L::v / 2][4])
{
    constexpr int V = L::v;
    float bias[V] = {}, all[WARP_H * 2 * V];
    if (c >= f.oc)
        return;
    if (f.bias)
        ln_load_vec<V>(f.bias + c, bias);
#pragma unroll
    for (int i = 0; i < WARP_H * 2 * V; i++)
        all[i] = sums[i / V / 2][i % V / 2][i / V % 2 * 2 + i % 2] + bias[i % V];
    ln_fast_act_all(all, f.act);
#pragma unroll
    for (int i = 0; i < WARP_H * 2; i++) {
        const int at_y = y + i / 2, at_x = x + i % 2 * 8;
        float pixel[V];
#pragma unroll
        for (int j = 0; j < V; j++)
            pixel[j] = all[i * V + j];
        if (at_y < f.oh && at_x < f.ow)
            ln_store_vec<V>(image + (at_y * f.ow + at_x) * f.oc + c, pixel);
    }
}

template <class T, int K, int S, int C, int N>
__global__ void __launch_bounds__(THREADS, first_layout<K, S, C, N>::blocks)
    first_conv(const __grid_constant__ first_args<T> f)
{
    using L = first_layout<K, S, C, N>;
    extern __shared__ __align__(16) unsigned char memory[];
    uint32_t *const weights = (uint32_t *)memory, *const tile = weights + L::weights;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, q = lane % 4;
    const int warp_y = warp / (TILE_W / 16) * WARP_H, warp_x = warp % (TILE_W / 16) * 16 + lane / 4;
    const T *const from = (const T *)tile + warp_y * S * L::stride + warp_x * S * C;

    load_weights<L, K, N>(f, weights);
    for (int n = blockIdx.x; n < f.n_tiles; n += gridDim.x) {
        const uint32_t row = f.across.quotient(n), image = f.down.quotient(row);
        const int x = (n - (int)(row * f.across.d)) * TILE_W,
                  y = (int)(row - image * f.down.d) * TILE_H;
        load_tile<L>(f, f.src + (size_t)image * f.h * f.row_len, y * S - f.top, x * S * C - f.left,
                     tile);
        __syncthreads(); // the tile and the weights are here
        if (y + warp_y < f.oh && x + warp_x - lane / 4 < f.ow) {
            float sums[N / L::group][WARP_H][L::v / 2][4] = {};
#pragma unroll
            for (int step = 0; step < L::steps; step++) {
                uint32_t rows[WARP_H][4];
#pragma unroll
                for (int i = 0; i < WARP_H; i++)
#pragma unroll
                    for (int j = 0; j < 4; j++)
                        rows[i][j] = load_pair<L, K, S * C % 2 == 0>(
                            from + i * S * L::stride + j % 2 * 8 * S * C, step * 8 + j / 2 * 4, q);
#pragma unroll
                for (int two = 0; two < N / 16; two++) {
                    constexpr int TWOS = L::group / 16;
                    const ln_vec<uint32_t, 4> b =
                        *(const ln_vec<uint32_t, 4> *)(weights +
                                                       ((step * (N / 16) + two) * 32 + lane) * 4);
#pragma unroll
                    for (int i = 0; i < WARP_H; i++) {
                        auto &blocks = sums[two / TWOS][i];
                        ln_mma(blocks[two % TWOS * 2], rows[i], b.at[0], b.at[1], T());
                        ln_mma(blocks[two % TWOS * 2 + 1], rows[i], b.at[2], b.at[3], T());
                    }
                }
            }
#pragma unroll
            for (int i = 0; i < N / L::group; i++)
                finish<L>(f, f.dst + (size_t)image * f.oh * f.ow * f.oc, y + warp_y, x + warp_x,
                          i * L::group + q * L::v, sums[i]);
        }
        __syncthreads(); // nobody needs the tile
    }
}

/* ---- launches ---- */

template <class T, int K, int S, int C, int N>
int launch(ln_cuda_stream stream, const first_args<T> &f)
{
    using L = first_layout<K, S, C, N>;
    static_assert(L::memory <= 48 * 1024, "more has to be allowed");
    const int most = ln_cuda_n_sms() * L::blocks;
    const unsigned blocks = (unsigned)(f.n_tiles < most ? f.n_tiles : most);
    first_conv<T, K, S, C, N><<<blocks, THREADS, L::memory, stream>>>(f);
    return ln_cuda_launched("first convolution");
}

template <class T, int K, int S, int C>
int launch_channels(ln_cuda_stream stream, const first_args<T> &f)
{
    if constexpr (K == 3)
        if (f.oc <= 16)
            return launch<T, K, S, C, 16>(stream, f);
    return f.oc <= 32 ? launch<T, K, S, C, 32>(stream, f) : launch<T, K, S, C, 64>(stream, f);
}

template <class T, int C>
int launch_size(ln_cuda_stream stream, const first_args<T> &f, const tl_conv2d_param *param)
{
    return param->size[0] == 7     ? launch_channels<T, 7, 2, C>(stream, f)
           : param->stride[0] == 2 ? launch_channels<T, 3, 2, C>(stream, f)
                                   : launch_channels<T, 3, 1, C>(stream, f);
}

int tiles_of(int len, int tile)
{
    return (len + tile - 1) / tile;
}

} // namespace

int ln_cuda_has_first_conv(const tl_tensor *src, const tl_tensor *weight,
                           const tl_conv2d_param *param)
{
    if ((src->dtype != TL_FLOAT16 && src->dtype != TL_BFLOAT16) || weight->ndim != 4)
        return 0;
    const int *const w = weight->dims, k = w[1], c = w[3], s = param->stride[0];
    return param->group == 1 && param->dilation[0] == 1 && param->dilation[1] == 1 && w[2] == k &&
           param->stride[1] == s && ((k == 3 && (s == 1 || s == 2)) || (k == 7 && s == 2)) &&
           (c == 1 || c == 3 || c == 4) && src->dims[3] == c && w[0] % 8 == 0 && w[0] <= 64;
}

int ln_cuda_first_conv(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *weight,
                       const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param)
{
    if (dst->len == 0)
        return 0;
    if (!ln_cuda_has_first_conv(src, weight, param) || !ln_is_aligned(dst->data, 16) ||
        (bias && !ln_is_aligned(bias->data, 16)))
        return tl_fail("CUDA kernel first convolution: no kernel for such a shape");
    auto run = [&](auto zero) {
        using T = decltype(zero);
        const int c = src->dims[3];
        first_args<T> f = {};
        f.src = (const T *)src->data;
        f.weight = (const T *)weight->data;
        f.bias = bias ? (const T *)bias->data : NULL;
        f.dst = (T *)dst->data;
        f.h = src->dims[1];
        f.row_len = src->dims[2] * c;
        f.oh = dst->dims[1];
        f.ow = dst->dims[2];
        f.oc = dst->dims[3];
        f.top = param->padding[0];
        f.left = param->padding[1] * c;
        f.across = ln_divisor(tiles_of(f.ow, TILE_W));
        f.down = ln_divisor(tiles_of(f.oh, TILE_H));
        f.n_tiles = src->dims[0] * (int)(f.across.d * f.down.d);
        f.act = param->act;
        return c == 1   ? launch_size<T, 1>(stream, f, param)
               : c == 3 ? launch_size<T, 3>(stream, f, param)
                        : launch_size<T, 4>(stream, f, param);
    };
    return src->dtype == TL_FLOAT16 ? run(__half()) : run(__nv_bfloat16());
}
