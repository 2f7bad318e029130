// SPDX-License-Identifier: Apache-2.0
// Common code of the kernels: launches, float types as float, vectors of elements, division of
// indices, reductions within a block, unary functions and activations.
//
//     return ln_cuda_of_float(src->dtype, "softmax", [&](auto zero) {
//         using T = decltype(zero); // float, __half or __nv_bfloat16
//         softmax<T><<<blocks, threads, 0, stream>>>((const T *)src->data, (T *)dst->data);
//         return ln_cuda_launched("softmax");
//     });

#ifndef LN_CUDA_COMMON_CUH
#define LN_CUDA_COMMON_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <float.h>
#include <stdint.h>

#include "arch/cuda/ln_cuda_kernels.h"

/* ---- launches ---- */

/** 0, or -1 with a reason when the launch before failed. */
static inline int ln_cuda_launched(const char *what)
{
    const cudaError_t e = cudaGetLastError();
    return e == cudaSuccess ? 0 : tl_fail("CUDA kernel %s: %s", what, cudaGetErrorString(e));
}

/** The first statement of a kernel that ln_cuda_launch_early launches: waits until the kernels
 *  before it have ended, and lets the next such kernel be launched. */
static __device__ __forceinline__ void ln_begin_early(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;\n" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

/** Launches a kernel that begins with ln_begin_early: its blocks may start while the
 *  previous kernel of the stream finishes, which saves a microsecond or so (programmatic dependent
 *  launch). Only code for compute capability 9.0 and later can do that. */
template <class... P, class... A>
static void ln_cuda_launch_early(void (*kernel)(P...), dim3 blocks, dim3 threads, size_t shared,
                                 ln_cuda_stream stream, const A &...args)
{
    cudaFuncAttributes code;
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &early;
    config.numAttrs =
        cudaFuncGetAttributes(&code, (const void *)kernel) == cudaSuccess && code.ptxVersion >= 90;
    cudaLaunchKernelEx(&config, kernel, P(args)...);
}

/** The number of multiprocessors of the current device, asked once; 64 if that fails. */
static inline int ln_cuda_n_sms(void)
{
    static int n = 0;
    int device = 0, found = __atomic_load_n(&n, __ATOMIC_RELAXED);
    if (!found && cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, device) == cudaSuccess)
        __atomic_store_n(&n, found, __ATOMIC_RELAXED);
    return found > 0 ? found : 64;
}

/** 1: `kernel` can be launched in clusters of blocks: the current device runs code for compute
 *  capability 9.0 or later, and not what the driver compiled from the PTX for 8.0. */
template <class K> static int ln_cuda_has_clusters(K *kernel)
{
    cudaFuncAttributes found = {};
    return cudaFuncGetAttributes(&found, (const void *)kernel) == cudaSuccess &&
           found.ptxVersion >= 90;
}

/** ceil(a / b), of a >= 0 and b > 0. */
static inline int ln_ceil_div(int a, int b)
{
    return (a + b - 1) / b;
}

/** Launches `kernel` in clusters of `cluster` blocks; without clusters if that is 1. */
template <class... P, class... A>
static void ln_cuda_launch_clusters(void (*kernel)(P...), int cluster, dim3 blocks, dim3 threads,
                                    size_t shared, ln_cuda_stream stream, const A &...args)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = (unsigned)cluster;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = cluster > 1;
    cudaLaunchKernelEx(&config, kernel, P(args)...);
}

/** The number of blocks of `threads` threads for `work` items, at least 1, for kernels that loop
 *  with the stride of the grid: at most `waves` times the blocks that the device runs at once, of
 *  2048 threads for each multiprocessor. */
static inline unsigned ln_cuda_blocks(int64_t work, int threads, int waves = 4)
{
    const int64_t most = (int64_t)ln_cuda_n_sms() * (2048 / threads) * waves;
    const int64_t blocks = (work + threads - 1) / threads;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

/** Allows `kernel` `size` bytes of dynamic shared memory, which more than 48 KB need; once for each
 *  device: bit d of `done`, 0 at first, is set for device d. 0, or -1 with a reason. */
template <class K>
static int ln_cuda_allow_shared(K *kernel, int size, uint64_t *done, const char *what)
{
    int device = 0;
    if (size <= 48 * 1024)
        return 0;
    cudaError_t e = cudaGetDevice(&device);
    const uint64_t bit = device < 64 ? (uint64_t)1 << device : 0;
    if (e == cudaSuccess && (__atomic_load_n(done, __ATOMIC_RELAXED) & bit))
        return 0;
    if (e == cudaSuccess)
        e = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 size);
    if (e != cudaSuccess)
        return tl_fail("CUDA kernel %s: %d bytes of shared memory: %s", what, size,
                       cudaGetErrorString(e));
    __atomic_fetch_or(done, bit, __ATOMIC_RELAXED);
    return 0;
}

/** 1: the address is a multiple of `size`, a power of 2; also NULL. */
static inline int ln_is_aligned(const void *p, size_t size)
{
    return ((uintptr_t)p & (size - 1)) == 0;
}

/** Calls f with a zero of the type of `dtype`, and returns its result. */
template <class F> static int ln_cuda_of_float(tl_dtype dtype, const char *what, F f)
{
    switch (dtype) {
    case TL_FLOAT:
        return f(0.0f);
    case TL_FLOAT16:
        return f(__half());
    case TL_BFLOAT16:
        return f(__nv_bfloat16());
    default:
        return tl_fail("CUDA kernel %s: dtype %s, expected a float of 16 or 32 bits", what,
                       tl_dtype_name(dtype));
    }
}

/** Calls f with a zero of an unsigned integer of `size` bytes: for elements that only move. */
template <class F> static int ln_cuda_of_size(size_t size, const char *what, F f)
{
    switch (size) {
    case 1:
        return f((uint8_t)0);
    case 2:
        return f((uint16_t)0);
    case 4:
        return f((uint32_t)0);
    case 8:
        return f((uint64_t)0);
    default:
        return tl_fail("CUDA kernel %s: elements of %d bytes, expected 1, 2, 4 or 8", what,
                       (int)size);
    }
}

/* ---- elements ---- */

/** The element as float. */
static __device__ __forceinline__ float ln_load(float x)
{
    return x;
}

static __device__ __forceinline__ float ln_load(__half x)
{
    return __half2float(x);
}

static __device__ __forceinline__ float ln_load(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

/** Rounds half to even; too large values become infinite. */
template <class T> static __device__ __forceinline__ T ln_store(float x);

template <> __device__ __forceinline__ float ln_store<float>(float x)
{
    return x;
}

template <> __device__ __forceinline__ __half ln_store<__half>(float x)
{
    return __float2half_rn(x);
}

template <> __device__ __forceinline__ __nv_bfloat16 ln_store<__nv_bfloat16>(float x)
{
    return __float2bfloat16_rn(x);
}

/** N elements that are loaded and stored at once; their address is a multiple of their size. */
template <class T, int N> struct alignas(sizeof(T) * N) ln_vec {
    T at[N];
};

/** The number of elements in 16 bytes, the widest load or store of a thread. */
template <class T> constexpr int ln_width = 16 / (int)sizeof(T);

/** Loads N elements as float. `p` is a multiple of the size of all N. */
template <int N, class T>
static __device__ __forceinline__ void ln_load_vec(const T *p, float (&x)[N])
{
    const ln_vec<T, N> v = *reinterpret_cast<const ln_vec<T, N> *>(p);
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = ln_load(v.at[i]);
}

template <int N, class T>
static __device__ __forceinline__ void ln_store_vec(T *p, const float (&x)[N])
{
    ln_vec<T, N> v;
#pragma unroll
    for (int i = 0; i < N; i++)
        v.at[i] = ln_store<T>(x[i]);
    *reinterpret_cast<ln_vec<T, N> *>(p) = v;
}

/* ---- division of indices by a divisor that the host knows before the launch ---- */

/** n / d for 0 <= n < 2^31 and 1 <= d < 2^31, as (n * (2^32 + multiplier)) >> (32 + shift), where
 *  2^shift >= d and multiplier = floor(2^32 (2^shift - d) / d) + 1. Source: Granlund, Montgomery:
 *  Division by Invariant Integers using Multiplication, 1994. */
struct ln_divisor {
    uint32_t multiplier, shift, d;

    ln_divisor() = default;
    explicit ln_divisor(int64_t divisor)
    {
        d = (uint32_t)divisor;
        for (shift = 0; shift < 31 && (1u << shift) < d; shift++)
            ;
        multiplier = (uint32_t)((((uint64_t)1 << 32) * (((uint64_t)1 << shift) - d)) / d + 1);
    }
    __device__ __forceinline__ uint32_t quotient(uint32_t n) const
    {
        return (__umulhi(n, multiplier) + n) >> shift;
    }
    /** Returns n / d, and replaces n by the remainder. */
    __device__ __forceinline__ uint32_t divide(uint32_t &n) const
    {
        const uint32_t q = quotient(n);
        n -= q * d;
        return q;
    }
};

/* ---- reductions within a block ---- */

/** Reductions are types: none() is the neutral element, an object joins two values. */
struct ln_sum {
    static __device__ __forceinline__ float none()
    {
        return 0;
    }
    __device__ __forceinline__ float operator()(float a, float b) const
    {
        return a + b;
    }
};

/** Ignores NaN, as fmaxf. */
struct ln_max {
    static __device__ __forceinline__ float none()
    {
        return -INFINITY;
    }
    __device__ __forceinline__ float operator()(float a, float b) const
    {
        return fmaxf(a, b);
    }
};

/** The max of a softmax, as the origin of its exponentials: exp(x - origin). 0 where all x are
 *  -infinity, for which x - max would be NaN. */
static __device__ __forceinline__ float ln_exp_origin(float max)
{
    return max == -INFINITY ? 0 : max;
}

/** The reduction of `x` over a warp, or over each N adjacent threads of it, for each of these. All
 *  threads of the warp call this. */
template <int N = 32, class F> static __device__ __forceinline__ float ln_warp_reduce(float x, F f)
{
#pragma unroll
    for (int lane = N / 2; lane > 0; lane >>= 1)
        x = f(x, __shfl_xor_sync(0xffffffffu, x, lane));
    return x;
}

/** The same over a one-dimensional block of a multiple of 32 threads: first over each warp, then
 *  over the results of warps in `shared`, of 32 elements, which the caller may reuse at once. */
template <class F> static __device__ float ln_block_reduce(float x, F f, float *shared)
{
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, n_warps = blockDim.x >> 5;
    x = ln_warp_reduce(x, f);
    if (n_warps == 1)
        return x;
    if (lane == 0)
        shared[warp] = x;
    __syncthreads();
    x = ln_warp_reduce(lane < n_warps ? shared[lane] : F::none(), f);
    __syncthreads();
    return x;
}

/* ---- unary functions and activations ---- */

// ln_NAME_of(x, a, b) for each row of TL_UNARY_FUNCS that has floats, which WHOLE rows lack. Its
// code calls other rows, and the three functions below, by OF(name), and names the type C.

static __device__ __forceinline__ float ln_raise_of(float x, float a)
{
    return x < a ? a : x;
}

static __device__ __forceinline__ float ln_lower_of(float x, float b)
{
    return x > b ? b : x;
}

static __device__ __forceinline__ float ln_quantile_of(float x)
{
    return normcdfinvf(x);
}

static __device__ __forceinline__ float ln_clip_of(float x, float a, float b);

#define C        float
#define OF(name) ln_##name##_of
#define LN_WHOLE_ROW(name, code)
#define LN_NUM_ROW(name, code) LN_FLT_ROW(name, code)
#define LN_ALL_ROW(name, code) LN_FLT_ROW(name, code)
#define LN_FLT_ROW(name, code)                                                        \
    static __device__ __forceinline__ float ln_##name##_of(float x, float a, float b) \
    {                                                                                 \
        return code;                                                                  \
    }
#define LN_FUNCTION(arg, NAME, name, types, cost, sets, ...) \
    LN_##types##_ROW(name, (TL_CODE_OF(__VA_ARGS__)))
TL_UNARY_FUNCS(LN_FUNCTION, )
#undef C
#undef OF
#undef LN_FLT_ROW

/** The activation of one element. `fixed`, if not 0, replaces alpha: see TL_ACTS. */
static __device__ __forceinline__ float ln_act(float x, tl_activation act)
{
    switch (act.act) {
#define LN_CASE(arg, NAME, FUNC, name, fixed, way) \
    case TL_ACT_##NAME:                            \
        return ln_##name##_of(x, fixed ? fixed : act.alpha, act.beta);
        TL_ACTS(LN_CASE, )
#undef LN_CASE
    default:
        return x;
    }
}

/* The rest of a case: each of the N elements of x becomes `value`, an expression of x[i]. */
#define LN_EACH(value)                                              \
    {                                                               \
        _Pragma("unroll") for (int i = 0; i < N; i++) x[i] = value; \
        break;                                                      \
    }

/** The same of N elements in place, with one switch for all of them. */
template <int N>
static __device__ __forceinline__ void ln_act_all(float (&x)[N], const tl_activation &act)
{
    switch (act.act) {
#define LN_CASE(arg, NAME, FUNC, name, fixed, way) \
    case TL_ACT_##NAME:                            \
        LN_EACH(ln_##name##_of(x[i], fixed ? fixed : act.alpha, act.beta))
        TL_ACTS(LN_CASE, )
#undef LN_CASE
    default:
        break;
    }
}

#endif
