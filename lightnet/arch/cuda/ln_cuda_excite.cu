// SPDX-License-Identifier: Apache-2.0
// The factors of squeeze-and-excitation: act2(weight2 x act1(weight1 x mean + bias1) + bias2) of
// the mean of an image's pixels.
//
// A cluster of blocks, or one block, computes an image. A block has one of `parts` of the channels,
// and if several blocks have the same, some rows of pixels:
//
//     its pixels and channels       -> their share of the means
//     weight1 x these               -> its share of the hidden sums; each block adds up all shares
//     weight2 x the hidden results  -> its part of dst
//
// The first product is linear, so a block does not need the means of others. Sums have a
// fixed order. Source: Hu et al., "Squeeze-and-Excitation Networks", 2018.

#include <cooperative_groups.h>

#include "arch/cuda/ln_cuda_common.cuh"

namespace
{

enum {
    THREADS = 512,
    WARPS = THREADS / 32,
    CLUSTER = 8, // blocks of an image
    FEW = 64,    // min channels of a part, unless it has all
    ROWS = 4,    // of weight1 that a warp multiplies at a time
    LANES = 8,   // threads of a row of weight2
    MAX_IMAGES = 1 << 24,
    MAX_CHANNELS = 4096,
    MAX_HIDDEN = 1024,
    MAX_WEIGHTS = 1 << 18, // of a product: larger ones need a separate kernel
};

struct excite {
    ln_cuda_excite_job job;
    int parts;        // of the channels; a power of 2
    int part_len;     // channels of a part, a multiple of 8
    int part_outputs; // outputs of a block
};

// The cluster of the `n` blocks of an image, and the rank of this one.
struct team {
    int rank, n;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    __device__ __forceinline__ team()
    {
        const cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
        rank = (int)cluster.block_rank();
        n = (int)cluster.num_blocks();
    }
    __device__ __forceinline__ void sync() const
    {
        cooperative_groups::this_cluster().sync();
    }
    // The shared memory of block k.
    __device__ __forceinline__ const float *of(float *shared, int k) const
    {
        return cooperative_groups::this_cluster().map_shared_rank(shared, k);
    }
#else
    __device__ __forceinline__ team() : rank(0), n(1)
    {
    }
    __device__ __forceinline__ void sync() const
    {
        __syncthreads();
    }
    __device__ __forceinline__ const float *of(float *shared, int) const
    {
        return shared;
    }
#endif
};

// means[i], of n channels from `src` on: the sum of the rows first_row, first_row + step, ..,
// divided by `pixels`. A thread adds up each height-th of these rows for V channels; `sums`, of
// THREADS * V elements, has the sums of threads.
template <class S, int V>
__device__ __forceinline__ void add_rows(const ln_cuda_excite_job &job, const S *src, int n,
                                         int first_row, int step, float *sums, float *means)
{
    const int groups = n / V; // n is a multiple of V
    for (int from = 0; from < groups; from += THREADS) {
        const int width = min(groups - from, (int)THREADS), height = THREADS / width;
        const int row = threadIdx.x / width, group = threadIdx.x - row * width;
        float x[V] = {};
        if (row < height) {
            const S *const at = src + (from + group) * V;
#pragma unroll 4
            for (int i = first_row + row * step; i < job.rows; i += height * step) {
                float y[V];
                ln_load_vec<V>(at + (size_t)i * job.channels, y);
#pragma unroll
                for (int j = 0; j < V; j++)
                    x[j] += y[j];
            }
#pragma unroll
            for (int j = 0; j < V; j++)
                sums[threadIdx.x * V + j] = x[j];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < width * V; i += THREADS) {
            float sum = 0;
            for (int k = 0; k < height; k++)
                sum += sums[k * width * V + i];
            means[from * V + i] = sum / (float)job.pixels;
        }
        __syncthreads();
    }
}

// hidden[j] = row j of weight1 x n means, of the channels from weight[0] on. A warp computes ROWS
// rows at a time.
template <class T, int V>
__device__ __forceinline__ void multiply_means(const ln_cuda_excite_job &job, const T *weight,
                                               const float *means, int n, float *hidden)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int first = warp * ROWS; first < job.hidden; first += WARPS * ROWS) {
        float x[ROWS] = {};
        for (int i = lane * V; i < n; i += 32 * V) {
            float w[ROWS][V];
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (first + r < job.hidden)
                    ln_load_vec<V>(weight + (size_t)(first + r) * job.channels + i, w[r]);
#pragma unroll
            for (int r = 0; r < ROWS; r++)
                if (first + r < job.hidden) {
#pragma unroll
                    for (int j = 0; j < V; j++)
                        x[r] += w[r][j] * means[i + j];
                }
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            x[r] = ln_warp_reduce(x[r], ln_sum());
            if (lane == 0 && first + r < job.hidden)
                hidden[first + r] = x[r];
        }
    }
}

// n outputs from `first` on: act2(rows of weight2 x hidden + bias2), by LANES threads for each.
template <class T>
__device__ __forceinline__ void multiply_hidden(const ln_cuda_excite_job &job, const float *hidden,
                                                int image, int first, int n)
{
    enum { AT_ONCE = 32 / LANES };
    const int warp = threadIdx.x / 32, lane = threadIdx.x % LANES;
    for (int from = warp * AT_ONCE; from < n; from += WARPS * AT_ONCE) {
        const int i = from + threadIdx.x % 32 / LANES;
        float x = 0;
        if (i < n) {
            const T *const weight = (const T *)job.weight2 + (size_t)(first + i) * job.hidden;
#pragma unroll 4
            for (int j = lane; j < job.hidden; j += LANES)
                x += ln_load(weight[j]) * hidden[j];
        }
        x = ln_warp_reduce<LANES>(x, ln_sum());
        if (i < n && lane == 0)
            ((T *)job.dst)[(size_t)image * job.outputs + first + i] =
                ln_store<T>(ln_act(x + ln_load(((const T *)job.bias2)[first + i]), job.act2));
    }
}

// Loads VS elements of src at once, VT of weight1. Shared memory, of floats:
//
//     sums [THREADS * VS] | means [part_len] | part [hidden] | hidden [hidden]
template <class T, class S, int VT, int VS>
__global__ void __launch_bounds__(THREADS) run_excite(const __grid_constant__ excite e)
{
    extern __shared__ __align__(32) float memory[];
    const ln_cuda_excite_job &job = e.job;
    float *const sums = memory, *const means = sums + THREADS * VS,
                 *const part = means + e.part_len, *const hidden = part + job.hidden;
    const team t;
    const int image = (int)(blockIdx.x / (unsigned)t.n);
    const int first = t.rank % e.parts * e.part_len,
              n = max(min(e.part_len, job.channels - first), 0);
    const S *const src = (const S *)job.src + (size_t)image * job.rows * job.channels + first;
    add_rows<S, VS>(job, src, n, t.rank / e.parts, t.n / e.parts, sums, means);
    multiply_means<T, VT>(job, (const T *)job.weight1 + first, means, n, part);
    t.sync();
    for (int j = threadIdx.x; j < job.hidden; j += THREADS) {
        float x = ln_load(((const T *)job.bias1)[j]);
        for (int k = 0; k < t.n; k++)
            x += t.of(part, k)[j];
        hidden[j] = ln_act(x, job.act1);
    }
    __syncthreads();
    const int output = t.rank * e.part_outputs;
    multiply_hidden<T>(job, hidden, image, output, min(e.part_outputs, job.outputs - output));
    t.sync(); // the shared memory of a block lives until all have read it
}

template <class T, class S, int VT, int VS> int launch(cudaStream_t stream, excite *e)
{
    const ln_cuda_excite_job *const job = &e->job;
    const int ranks = ln_cuda_has_clusters(run_excite<T, S, VT, VS>) ? CLUSTER : 1;
    e->parts = 1;
    while (e->parts < ranks && job->channels >= 2 * FEW * e->parts)
        e->parts *= 2;
    e->part_len = ln_ceil_div(ln_ceil_div(job->channels, e->parts), 8) * 8;
    e->part_outputs = ln_ceil_div(job->outputs, ranks);
    const size_t shared = (size_t)(THREADS * VS + e->part_len + 2 * job->hidden) * 4;
    ln_cuda_launch_clusters(run_excite<T, S, VT, VS>, ranks, (unsigned)(job->images * ranks),
                            THREADS, shared, stream, *e);
    return ln_cuda_launched("excite");
}

template <class T, class S> int launch_wide_or_not(cudaStream_t stream, excite *e)
{
    const ln_cuda_excite_job *const job = &e->job;
    constexpr int VT = ln_width<T>, VS = ln_width<S>;
    static_assert(VT % VS == 0 && 8 % VT == 0, "parts consist of vectors");
    return job->channels % VT == 0 && ln_is_aligned(job->src, 16) && ln_is_aligned(job->weight1, 16)
               ? launch<T, S, VT, VS>(stream, e)
               : launch<T, S, 1, 1>(stream, e);
}

} // namespace

int ln_cuda_has_excite(int images, int channels, int hidden, int outputs)
{
    return images <= MAX_IMAGES && channels <= MAX_CHANNELS && hidden <= MAX_HIDDEN &&
           (int64_t)channels * hidden <= MAX_WEIGHTS && (int64_t)outputs * hidden <= MAX_WEIGHTS;
}

int ln_cuda_excite(ln_cuda_stream stream, const ln_cuda_excite_job *job)
{
    if (!job->images || !job->outputs)
        return 0;
    if (job->rows < 1 || job->channels < 1 || job->hidden < 1 ||
        !ln_cuda_has_excite(job->images, job->channels, job->hidden, job->outputs))
        return tl_fail("CUDA kernel excite: %d images, %d rows of %d channels, %d and %d results, "
                       "expected 1 or more, and sizes for which ln_cuda_has_excite returns 1",
                       job->images, job->rows, job->channels, job->hidden, job->outputs);
    if (job->src_dtype != job->dtype && job->src_dtype != TL_FLOAT)
        return tl_fail("CUDA kernel excite: 'src' is %s, expected %s or TL_FLOAT",
                       tl_dtype_name(job->src_dtype), tl_dtype_name(job->dtype));
    excite e = {};
    e.job = *job;
    return ln_cuda_of_float(job->dtype, "excite", [&](auto zero) {
        using T = decltype(zero);
        return job->src_dtype == TL_FLOAT ? launch_wide_or_not<T, float>(stream, &e)
                                          : launch_wide_or_not<T, T>(stream, &e);
    });
}
