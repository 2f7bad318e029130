// SPDX-License-Identifier: Apache-2.0
// Instructions of tensor cores on elements of 16 bits, and loads to shared memory that do not wait.
// Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate" and "Asynchronous copy".
//
// A warp computes c [16, 8] += a [16, 16] x b [16, 8]. Registers hold one float, or two elements of
// 16 bits. Those of thread t, with g = t / 4 and q = t % 4, are:
//
//     c[0..3]  [g][2q], [g][2q + 1], [g + 8][2q], [g + 8][2q + 1]
//     a[0..3]  [g][2q ..], [g + 8][2q ..], [g][2q + 8 ..], [g + 8][2q + 8 ..]     two columns each
//     b0, b1   [2q ..][g], [2q + 8 ..][g]                                            two rows each
//
// So c of two blocks of 8 columns that follow each other, rounded to pairs, is an a.

#ifndef LN_CUDA_MMA_CUH
#define LN_CUDA_MMA_CUH

#include "arch/cuda/ln_cuda_common.cuh"

/* ---- loads that do not wait ---- */

/** Begins to copy SIZE bytes, 16 or 4, to shared memory; see ln_wait_for_copies. !ok: makes them 0,
 *  and does not read `src`. */
template <int SIZE>
static __device__ __forceinline__ void ln_copy_async(void *dst, const void *src, bool ok)
{
    const uint32_t to = (uint32_t)__cvta_generic_to_shared(dst);
    const int size = ok ? SIZE : 0;
    if constexpr (SIZE == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(to), "l"(src),
                     "r"(size)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;\n" ::"r"(to), "l"(src), "r"(size)
                     : "memory");
}

/** Ends a group of copies: those since the last group, perhaps none. */
static __device__ __forceinline__ void ln_commit_copies()
{
    asm volatile("cp.async.commit_group;\n" ::: "memory");
}

/** Waits for all groups of this thread but the last N. __syncthreads then shows the copies to
 *  others. */
template <int N> static __device__ __forceinline__ void ln_wait_for_copies()
{
    asm volatile("cp.async.wait_group %0;\n" ::"n"(N) : "memory");
}

/* ---- matrices ---- */

/** Loads four 8 x 8 matrices of 16 bits from shared memory: thread t passes the address of row
 *  t % 8 of matrix t / 8, and r[i] becomes the elements [t / 4][t % 4 * 2 ..] of matrix i. */
static __device__ __forceinline__ void ln_load_matrices(uint32_t (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(p))
                 : "memory");
}

/** The same, and transposes each matrix: r[i] becomes [t % 4 * 2 ..][t / 4] of matrix i. */
static __device__ __forceinline__ void ln_load_transposed(uint32_t (&r)[4], const void *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((uint32_t)__cvta_generic_to_shared(p))
                 : "memory");
}

/** Two floats rounded to 16 bits, as one register: `a` in the lower half, as memory has it. */
static __device__ __forceinline__ uint32_t ln_pair_of(float a, float b, __half)
{
    const __half2 pair = __floats2half2_rn(a, b);
    return *(const uint32_t *)&pair;
}

static __device__ __forceinline__ uint32_t ln_pair_of(float a, float b, __nv_bfloat16)
{
    const __nv_bfloat162 pair = __floats2bfloat162_rn(a, b);
    return *(const uint32_t *)&pair;
}

/** c += a x b, with sums of float; see above for the elements of a thread. */
static __device__ __forceinline__ void ln_mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                              uint32_t b1, __half)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ __forceinline__ void ln_mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                              uint32_t b1, __nv_bfloat16)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

#endif
