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
// pairs of k, which are words there; no matrix is built. The values at "-" belong to other
// pixels, and may be infinite: it is masked.
//
// A max pooling after it is computed with it: the block keeps its tile of the convolution in
// shared memory, and tiles overlap where windows do.

#include "arch/cuda/ln_cuda_act.cuh"
#include "arch/cuda/ln_cuda_mma.cuh"

namespace
{

// A tile of dst; a warp computes WARP_H rows of 16 pixels.
enum { TILE_H = 8, TILE_W = 32, WARP_H = 2, THREADS = 256 };

// The windows of a pooling that is computed, too: 3x3 after stride 2, else 2x2, of stride 2.
constexpr int pool_size(int stride)
{
    return stride == 2 ? 3 : 2;
}

enum { POOL_STRIDE = 2, POOL_V = 8 /* channels that a thread pools at once */ };

// K x K, stride S, C channels of src, N of dst at most: a multiple of 16. P x P: the windows of a
// pooling; 0: none.
template <int K, int S, int C, int N, int P> struct first_layout {
    static constexpr int size = K * C;                // elements of a row that a pixel needs
    static constexpr int pairs = (size + 1) / 2;      // of them
    static constexpr int steps = (K * pairs + 7) / 8; // of 16 elements of k
    static constexpr int in_h = (TILE_H - 1) * S + K;
    static constexpr int words = ((TILE_W - 1) * S * C + 2 * pairs + 1) / 2; // of a row of src
    static constexpr int stride = 2 * words;                                 // elements of the same
    static constexpr int loads = (in_h * words + THREADS - 1) / THREADS;     // words of a thread
    static constexpr int group = N < 32 ? N : 32; // channels whose sums a warp finishes at once
    static constexpr int v = group / 4;           // of them, those of a thread
    static constexpr int weights = steps * N * 8; // words
    static constexpr int pixel = N + 8;           // elements of a pixel of the tile that is pooled
    static constexpr int pooled = P ? TILE_H * TILE_W * pixel / 2 : 0; // words
    static constexpr int in_words = (in_h * words + 3) / 4 * 4;
    static constexpr int memory = (weights + in_words + pooled) * 4;
    static constexpr int out_h = P ? (TILE_H - P) / POOL_STRIDE + 1 : TILE_H; // of a tile
    static constexpr int out_w = P ? (TILE_W - P) / POOL_STRIDE + 1 : TILE_W;
    static constexpr int step = P ? POOL_STRIDE : 1; // pixels of the convolution for one of dst
    static constexpr int blocks = N == 64 ? 2 : N == 32 ? 3 : 4; // of a multiprocessor
};

template <class T> struct first_args {
    const T *src, *weight, *bias; // bias may be NULL
    T *dst;
    int h, row_len;                  // of src: rows, elements of a row
    int oh, ow, oc;                  // of the convolution
    int top, left;                   // padding; the left one in elements
    int ph, pw, pool_top, pool_left; // of the pooling: its result, padding
    int n_tiles;
    ln_divisor across, down; // tiles of an image
    ln_divisor groups;       // of POOL_V channels
    tl_activation act;
};

// Two elements in the order of memory.
template <class T> __device__ __forceinline__ uint32_t pair_of(const T *p, bool first, bool second)
{
    const uint16_t *const bits = (const uint16_t *)p;
    const uint32_t low = first ? bits[0] : 0, high = second ? bits[1] : 0;
    return low | high << 16;
}

// Copies the weights to shared memory as the operands b of ln_mma: [steps, N / 16, 32 lanes, 4], so
// that a lane loads b0 and b1 of two blocks of 8 columns as one vector. The columns are permuted so
// that a thread has sums of adjacent channels: of the j-th block of a group, the thread t % 4 = q
// has the channels v q + 2 j and v q + 2 j + 1.
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

// The first pixel of tile n: (py, px) of dst, and (y, x) of the convolution.
struct tile_place {
    uint32_t image;
    int py, px, y, x;
};

template <class L, class T>
__device__ __forceinline__ tile_place place_of(const first_args<T> &f, int n)
{
    tile_place at;
    const uint32_t row = f.across.quotient(n);
    at.image = f.down.quotient(row);
    at.px = (n - (int)(row * f.across.d)) * L::out_w;
    at.py = (int)(row - at.image * f.down.d) * L::out_h;
    at.x = at.px * L::step - f.pool_left;
    at.y = at.py * L::step - f.pool_top;
    return at;
}

// Loads the thread's words of a tile of src to registers, which store_tile writes to shared memory:
// in between, the tile before is computed.
template <class L, int S, int C, class T>
__device__ __forceinline__ void fetch_tile(const first_args<T> &f, const tile_place &at,
                                           uint32_t (&pairs)[L::loads])
{
    const T *const image = f.src + (size_t)at.image * f.h * f.row_len;
    const int y = at.y * S - f.top, x = at.x * S * C - f.left;
#pragma unroll
    for (int j = 0; j < L::loads; j++) {
        const int i = threadIdx.x + j * THREADS, row = i / L::words;
        const int at_y = y + row, at_x = x + (i - row * L::words) * 2;
        const bool ok = i < L::in_h * L::words && (unsigned)at_y < (unsigned)f.h;
        pairs[j] = pair_of(image + (int64_t)at_y * f.row_len + at_x,
                           ok && (unsigned)at_x < (unsigned)f.row_len,
                           ok && (unsigned)(at_x + 1) < (unsigned)f.row_len);
    }
}

template <class L>
__device__ __forceinline__ void store_tile(const uint32_t (&pairs)[L::loads], uint32_t *to)
{
#pragma unroll
    for (int j = 0; j < L::loads; j++)
        if (threadIdx.x + j * THREADS < L::in_h * L::words)
            to[threadIdx.x + j * THREADS] = pairs[j];
}

// a + q >= limit, for 0 <= q < 4. a and limit are constants: the compiler decides unless the answer
// depends on q.
__device__ __forceinline__ bool reaches(int a, int q, int limit)
{
    return a >= limit || (a + 3 >= limit && a + q >= limit);
}

// The pair of elements `first` + q of k, for the pixel whose window begins at `p`; 0 <= q < 4. Row
// r of the window has the pairs from r * L::pairs on, of which the last may be half "-", masked.
template <class L, int K, int IS_EVEN, class T>
__device__ __forceinline__ uint32_t load_pair(const T *p, int first, int q)
{
    const int row = first / L::pairs, at = first % L::pairs;
    const int down = reaches(at, q, L::pairs) + reaches(at, q, 2 * L::pairs); // rows further
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

// Stores act(sums + bias) of V channels from c on, for the thread's pixels (y, x), y < WARP_H and x
// 0 or 8, at to[y * row + x * pixel + c], unless y >= end_y or x >= end_x. sums: c of ln_mma, of
// each row y and block of 8 columns.
template <class L, class T>
__device__ __forceinline__ void finish(const first_args<T> &f, T *to, int row, int pixel, int end_y,
                                       int end_x, int c, const float (&sums)[WARP_H][L::v / 2][4])
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
        const int y = i / 2, x = i % 2 * 8;
        float values[V];
#pragma unroll
        for (int j = 0; j < V; j++)
            values[j] = all[i * V + j];
        if (y < end_y && x < end_x)
            ln_store_vec<V>(to + y * row + x * pixel + c, values);
    }
}

// The larger ones of two pairs, ignoring NaN; and all bits of those elements that are NaN.
__device__ __forceinline__ uint32_t max_of(uint32_t a, uint32_t b, __half)
{
    const __half2 max = __hmax2(*(const __half2 *)&a, *(const __half2 *)&b);
    return *(const uint32_t *)&max;
}

__device__ __forceinline__ uint32_t max_of(uint32_t a, uint32_t b, __nv_bfloat16)
{
    const __nv_bfloat162 max = __hmax2(*(const __nv_bfloat162 *)&a, *(const __nv_bfloat162 *)&b);
    return *(const uint32_t *)&max;
}

__device__ __forceinline__ uint32_t nan_of(uint32_t a, __half)
{
    return __hneu2_mask(*(const __half2 *)&a, *(const __half2 *)&a);
}

__device__ __forceinline__ uint32_t nan_of(uint32_t a, __nv_bfloat16)
{
    return __hneu2_mask(*(const __nv_bfloat162 *)&a, *(const __nv_bfloat162 *)&a);
}

// Offsets in the tile of a window's P pixels along an axis, from the window's first, which is
// `first` of the `len` in the convolution. Padding becomes the nearest pixel inside, which is in
// the window, too, so that it does not change the max.
template <int P> __device__ __forceinline__ void find_pixels(int first, int len, int (&at)[P])
{
#pragma unroll
    for (int i = 0; i < P; i++)
        at[i] = min(max(first + i, 0), len - 1) - first;
}

// The max of a window of the tile, from pixel (y, x) of the convolution on, which may be outside.
// NaN: as ln_cuda_pool2d.
template <class L, int P, class T>
__device__ __forceinline__ ln_vec<uint32_t, 4> pool_window(const first_args<T> &f, const T *tile,
                                                           int y, int x)
{
    int rows[P], columns[P];
    ln_vec<uint32_t, 4> first, max;
    find_pixels(y, f.oh, rows);
    find_pixels(x, f.ow, columns);
#pragma unroll
    for (int i = 0; i < P * P; i++) {
        const ln_vec<uint32_t, 4> v = *(
            const ln_vec<uint32_t, 4> *)(tile + (rows[i / P] * TILE_W + columns[i % P]) * L::pixel);
#pragma unroll
        for (int j = 0; j < 4; j++)
            max.at[j] = i ? max_of(max.at[j], v.at[j], T()) : v.at[j];
        first = i ? first : v;
    }
#pragma unroll
    for (int j = 0; j < 4; j++) {
        const uint32_t nan = nan_of(first.at[j], T());
        max.at[j] = (max.at[j] & ~nan) | (first.at[j] & nan);
    }
    return max;
}

// Pools a tile whose first pixel is (y, x) of the convolution, into `image` from (py, px) on.
template <class L, int P, class T>
__device__ __forceinline__ void pool_tile(const first_args<T> &f, const T *tile, T *image, int y,
                                          int x, int py, int px)
{
    const int groups = f.oc / POOL_V;
    for (int i = threadIdx.x; i < L::out_h * L::out_w * groups; i += THREADS) {
        const int pixel = f.groups.quotient(i), c = (i - pixel * groups) * POOL_V;
        const int row = pixel / L::out_w, column = pixel % L::out_w;
        if (py + row < f.ph && px + column < f.pw)
            *(ln_vec<uint32_t, 4> *)(image + ((int64_t)(py + row) * f.pw + px + column) * f.oc +
                                     c) =
                pool_window<L, P>(f, tile + (row * TILE_W + column) * POOL_STRIDE * L::pixel + c,
                                  y + row * POOL_STRIDE, x + column * POOL_STRIDE);
    }
}

// A block computes each gridDim.x-th tile; its warps TILE_H / WARP_H x TILE_W / 16 parts of WARP_H
// x 16 pixels, of which ln_mma multiplies a row of 16 at once. Shared memory: weights | tile of src
// | with P, tile of the convolution [TILE_H, TILE_W, L::pixel].
template <class T, int K, int S, int C, int N, int P>
__global__ void __launch_bounds__(THREADS, first_layout<K, S, C, N, P>::blocks)
    first_conv(const __grid_constant__ first_args<T> f)
{
    using L = first_layout<K, S, C, N, P>;
    extern __shared__ __align__(16) unsigned char memory[];
    uint32_t *const weights = (uint32_t *)memory, *const tile = weights + L::weights;
    T *const pooled = (T *)(tile + L::in_words);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, q = lane % 4;
    const int warp_y = warp / (TILE_W / 16) * WARP_H, warp_x = warp % (TILE_W / 16) * 16 + lane / 4;
    const T *const from = (const T *)tile + warp_y * S * L::stride + warp_x * S * C;

    uint32_t pairs[L::loads];
    fetch_tile<L, S, C>(f, place_of<L>(f, blockIdx.x), pairs);
    load_weights<L, K, N>(f, weights);
    for (int n = blockIdx.x; n < f.n_tiles; n += gridDim.x) {
        const tile_place at = place_of<L>(f, n);
        const int y = at.y, x = at.x;
        T *const dst = f.dst + (size_t)at.image * f.ph * f.pw * f.oc;
        store_tile<L>(pairs, tile);
        __syncthreads(); // the tile and the weights are stored
        if (n + (int)gridDim.x < f.n_tiles)
            fetch_tile<L, S, C>(f, place_of<L>(f, n + gridDim.x), pairs);
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
            const int at_y = y + warp_y, at_x = x + warp_x;
#pragma unroll
            for (int i = 0; i < N / L::group; i++)
                if constexpr (P > 0)
                    finish<L>(f, pooled + (warp_y * TILE_W + warp_x) * L::pixel, TILE_W * L::pixel,
                              L::pixel, WARP_H, TILE_W, i * L::group + q * L::v, sums[i]);
                else
                    finish<L>(f, dst + (at_y * f.ow + at_x) * f.oc, f.ow * f.oc, f.oc, f.oh - at_y,
                              f.ow - at_x, i * L::group + q * L::v, sums[i]);
        }
        __syncthreads(); // all threads are done with the tile
        if constexpr (P > 0)
            pool_tile<L, P>(f, pooled, dst, y, x, at.py, at.px);
    }
}

// Launches

template <class T, int K, int S, int C, int N, int P>
int launch(ln_cuda_stream stream, first_args<T> f, int n_images)
{
    using L = first_layout<K, S, C, N, P>;
    static uint64_t allowed;
    const int resident = ln_cuda_n_sms() * L::blocks;
    f.across = ln_divisor(ln_ceil_div(f.pw, L::out_w));
    f.down = ln_divisor(ln_ceil_div(f.ph, L::out_h));
    f.groups = ln_divisor(f.oc / POOL_V);
    f.n_tiles = n_images * (int)(f.across.d * f.down.d);
    if (ln_cuda_allow_shared(first_conv<T, K, S, C, N, P>, L::memory, &allowed,
                             "first convolution"))
        return -1;
    const unsigned blocks = (unsigned)(f.n_tiles < resident ? f.n_tiles : resident);
    first_conv<T, K, S, C, N, P><<<blocks, THREADS, L::memory, stream>>>(f);
    return ln_cuda_launched("first convolution");
}

template <class T, int K, int S, int C, int P>
int launch_channels(ln_cuda_stream stream, const first_args<T> &f, int n_images)
{
    if constexpr (K == 3)
        if (f.oc <= 16)
            return launch<T, K, S, C, 16, P>(stream, f, n_images);
    return f.oc <= 32 ? launch<T, K, S, C, 32, P>(stream, f, n_images)
                      : launch<T, K, S, C, 64, P>(stream, f, n_images);
}

template <class T, int K, int S, int C>
int launch_pool(ln_cuda_stream stream, const first_args<T> &f, int n_images, int is_pooled)
{
    return is_pooled ? launch_channels<T, K, S, C, pool_size(S)>(stream, f, n_images)
                     : launch_channels<T, K, S, C, 0>(stream, f, n_images);
}

template <class T, int C>
int launch_size(ln_cuda_stream stream, const first_args<T> &f, const tl_conv2d_param *param,
                int n_images, int is_pooled)
{
    return param->size[0] == 7     ? launch_pool<T, 7, 2, C>(stream, f, n_images, is_pooled)
           : param->stride[0] == 2 ? launch_pool<T, 3, 2, C>(stream, f, n_images, is_pooled)
                                   : launch_pool<T, 3, 1, C>(stream, f, n_images, is_pooled);
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

int ln_cuda_has_first_pool(const tl_conv2d_param *param, const tl_pool2d_param *pool)
{
    const int size = pool_size(param->stride[0]), *const p = pool->padding;
    return pool->size[0] == size && pool->size[1] == size && pool->stride[0] == POOL_STRIDE &&
           pool->stride[1] == POOL_STRIDE && p[0] < size && p[1] < size && p[2] < size &&
           p[3] < size;
}

int ln_cuda_first_conv(ln_cuda_stream stream, const tl_tensor *src, const tl_tensor *weight,
                       const tl_tensor *bias, tl_tensor *dst, const tl_conv2d_param *param,
                       const tl_pool2d_param *pool)
{
    int extents[2];
    if (dst->len == 0)
        return 0;
    for (int i = 0; i < 2; i++)
        extents[i] = tl_conv2d_length(src->dims[1 + i], param->size[i], param->stride[i],
                                      param->dilation[i], param->padding[i], param->padding[2 + i]);
    if (extents[0] < 0 || extents[1] < 0)
        return -1;
    if (!ln_cuda_has_first_conv(src, weight, param) ||
        (pool && !ln_cuda_has_first_pool(param, pool)) || !ln_is_aligned(dst->data, 16) ||
        (bias && !ln_is_aligned(bias->data, 16)))
        return tl_fail("CUDA kernel first convolution: %d channels of %s, size [%d, %d], expected "
                       "aligned data, and 1 from ln_cuda_has_first_conv and ln_cuda_has_first_pool",
                       src->dims[3], tl_dtype_name(src->dtype), param->size[0], param->size[1]);
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
        f.oh = extents[0];
        f.ow = extents[1];
        f.oc = dst->dims[3];
        f.ph = dst->dims[1];
        f.pw = dst->dims[2];
        f.pool_top = pool ? pool->padding[0] : 0;
        f.pool_left = pool ? pool->padding[1] : 0;
        f.top = param->padding[0];
        f.left = param->padding[1] * c;
        f.act = param->act;
        const int n = src->dims[0];
        return c == 1   ? launch_size<T, 1>(stream, f, param, n, !!pool)
               : c == 3 ? launch_size<T, 3>(stream, f, param, n, !!pool)
                        : launch_size<T, 4>(stream, f, param, n, !!pool);
    };
    return src->dtype == TL_FLOAT16 ? run(__half()) : run(__nv_bfloat16());
}
