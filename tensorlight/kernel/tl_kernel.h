// SPDX-License-Identifier: Apache-2.0
// Shared by all kernel families: lists of kernels, selection of a kernel from them, and work on one
// element after the other.

/* A family's header lists its kernels by a macro, which calls ROW for each of them:
 *
 *     #define TL_SOFTMAX_KERNELS(ROW, arg)             \
 *         TL_KERNELS(ROW, arg, tl_softmax, FLT, PLAIN) \
 *         TL_KERNELS(ROW, arg, tl_softmax, F32, SIMD)
 *     TL_SOFTMAX_KERNELS(TL_KERNEL_DECLARE, tl_softmax_func)
 *
 * A row is ROW(arg, function, dtype, isa), with an argument of the reader of the list, here the
 * type of the functions. TL_KERNEL_TABLE defines the table of a family; tests have their own
 * rows. */

#pragma once

#include <stddef.h>
#include <stdint.h>

#include "tensor/tl_isa.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_tensor.h"

/** For a function that is a template: it is compiled separately for its constant arguments. */
#define TL_INLINE static inline __attribute__((always_inline))

/** The rows of a kernel for some types and instruction sets: TL_ROWS_types below, or of the family,
 * and TL_SETS_sets. A function is named by the kernel, the tag of its type and the set. */
#define TL_KERNELS(ROW, arg, kernel, types, sets) TL_SETS_##sets(TL_ROWS_##types, ROW, arg, kernel)

// Types

#define TL_ROWS_F32(ROW, arg, kernel, set, isa)  ROW(arg, kernel##_f32_##set, TL_FLOAT, isa)
#define TL_ROWS_U8(ROW, arg, kernel, set, isa)   ROW(arg, kernel##_u8_##set, TL_UINT8, isa)
#define TL_ROWS_BOOL(ROW, arg, kernel, set, isa) ROW(arg, kernel##_b8_##set, TL_BOOL, isa)

/** Floats as pairs of bfloat16. */
#define TL_ROWS_BF16(ROW, arg, kernel, set, isa) ROW(arg, kernel##_f32_##set, TL_BFLOAT16, isa)

#define TL_ROWS_FLT(ROW, arg, kernel, set, isa)   \
    ROW(arg, kernel##_f64_##set, TL_DOUBLE, isa)  \
    ROW(arg, kernel##_f32_##set, TL_FLOAT, isa)   \
    ROW(arg, kernel##_f16_##set, TL_FLOAT16, isa) \
    ROW(arg, kernel##_bf16_##set, TL_BFLOAT16, isa)

#define TL_ROWS_UINT(ROW, arg, kernel, set, isa) \
    ROW(arg, kernel##_u64_##set, TL_UINT64, isa) \
    ROW(arg, kernel##_u32_##set, TL_UINT32, isa) \
    ROW(arg, kernel##_u16_##set, TL_UINT16, isa) \
    ROW(arg, kernel##_u8_##set, TL_UINT8, isa)

#define TL_ROWS_INT(ROW, arg, kernel, set, isa) \
    ROW(arg, kernel##_i64_##set, TL_INT64, isa) \
    ROW(arg, kernel##_i32_##set, TL_INT32, isa) \
    ROW(arg, kernel##_i16_##set, TL_INT16, isa) \
    ROW(arg, kernel##_i8_##set, TL_INT8, isa)   \
    TL_ROWS_UINT(ROW, arg, kernel, set, isa)

#define TL_ROWS_NUM(ROW, arg, kernel, set, isa) \
    TL_ROWS_FLT(ROW, arg, kernel, set, isa)     \
    TL_ROWS_INT(ROW, arg, kernel, set, isa)

/** All except floats. */
#define TL_ROWS_WHOLE(ROW, arg, kernel, set, isa) \
    TL_ROWS_INT(ROW, arg, kernel, set, isa)       \
    TL_ROWS_BOOL(ROW, arg, kernel, set, isa)

#define TL_ROWS_ALL(ROW, arg, kernel, set, isa) \
    TL_ROWS_FLT(ROW, arg, kernel, set, isa)     \
    TL_ROWS_WHOLE(ROW, arg, kernel, set, isa)

/** The types that models compute with, in addition to TL_FLOAT and TL_BOOL. */
#define TL_ROWS_MORE(ROW, arg, kernel, set, isa) \
    ROW(arg, kernel##_f64_##set, TL_DOUBLE, isa) \
    ROW(arg, kernel##_i64_##set, TL_INT64, isa)  \
    ROW(arg, kernel##_i32_##set, TL_INT32, isa)  \
    ROW(arg, kernel##_i8_##set, TL_INT8, isa)    \
    ROW(arg, kernel##_u8_##set, TL_UINT8, isa)

// clang-format off
#define TL_ROWS_FROM(ROW, arg, kernel, tag, from, set, isa)     \
    ROW(arg, kernel##_##tag##_f64_##set, from, TL_DOUBLE, isa)  \
    ROW(arg, kernel##_##tag##_f32_##set, from, TL_FLOAT, isa)   \
    ROW(arg, kernel##_##tag##_i32_##set, from, TL_INT32, isa)   \
    ROW(arg, kernel##_##tag##_i16_##set, from, TL_INT16, isa)   \
    ROW(arg, kernel##_##tag##_i8_##set, from, TL_INT8, isa)     \
    ROW(arg, kernel##_##tag##_u32_##set, from, TL_UINT32, isa)  \
    ROW(arg, kernel##_##tag##_u16_##set, from, TL_UINT16, isa)  \
    ROW(arg, kernel##_##tag##_u8_##set, from, TL_UINT8, isa)    \
    ROW(arg, kernel##_##tag##_b8_##set, from, TL_BOOL, isa)     \
    ROW(arg, kernel##_##tag##_i64_##set, from, TL_INT64, isa)   \
    ROW(arg, kernel##_##tag##_u64_##set, from, TL_UINT64, isa)  \
    ROW(arg, kernel##_##tag##_f16_##set, from, TL_FLOAT16, isa) \
    ROW(arg, kernel##_##tag##_bf16_##set, from, TL_BFLOAT16, isa)

/** From every type to every type: the rows are ROW(arg, function, src dtype, dst dtype, isa). */
#define TL_ROWS_PAIRS(ROW, arg, kernel, set, isa)             \
    TL_ROWS_FROM(ROW, arg, kernel, f64, TL_DOUBLE, set, isa)  \
    TL_ROWS_FROM(ROW, arg, kernel, f32, TL_FLOAT, set, isa)   \
    TL_ROWS_FROM(ROW, arg, kernel, i32, TL_INT32, set, isa)   \
    TL_ROWS_FROM(ROW, arg, kernel, i16, TL_INT16, set, isa)   \
    TL_ROWS_FROM(ROW, arg, kernel, i8, TL_INT8, set, isa)     \
    TL_ROWS_FROM(ROW, arg, kernel, u32, TL_UINT32, set, isa)  \
    TL_ROWS_FROM(ROW, arg, kernel, u16, TL_UINT16, set, isa)  \
    TL_ROWS_FROM(ROW, arg, kernel, u8, TL_UINT8, set, isa)    \
    TL_ROWS_FROM(ROW, arg, kernel, b8, TL_BOOL, set, isa)     \
    TL_ROWS_FROM(ROW, arg, kernel, i64, TL_INT64, set, isa)   \
    TL_ROWS_FROM(ROW, arg, kernel, u64, TL_UINT64, set, isa)  \
    TL_ROWS_FROM(ROW, arg, kernel, f16, TL_FLOAT16, set, isa) \
    TL_ROWS_FROM(ROW, arg, kernel, bf16, TL_BFLOAT16, set, isa)
// clang-format on

// Instruction sets of this CPU family

// PLAIN: plain C. SIMD: vectors of floats (simd/tl_simd.h). WIDE: plain C that is also compiled for
// wider vectors; its lanes fix the order of sums, so all compute the same bits. With plain C: DOT,
// dot products of bytes (simd/tl_simd_dot.h), without kernels for AVX-512 that lacks VNNI, where
// AVX2's run; BF16, products of pairs of bfloat16; BOTH, vectors of floats. TILE: matrix units for
// bytes; PAIR_TILE: for pairs of bfloat16.
#define TL_SETS_PLAIN(ROWS, ROW, arg, kernel) ROWS(ROW, arg, kernel, c, TL_ISA_C)

#define TL_SETS_BOTH(ROWS, ROW, arg, kernel) \
    TL_SETS_PLAIN(ROWS, ROW, arg, kernel)    \
    TL_SETS_SIMD(ROWS, ROW, arg, kernel)

#if defined(__x86_64__)
#define TL_SETS_SIMD(ROWS, ROW, arg, kernel)  \
    ROWS(ROW, arg, kernel, avx2, TL_ISA_AVX2) \
    ROWS(ROW, arg, kernel, avx512, TL_ISA_AVX512)
#define TL_SETS_WIDE(ROWS, ROW, arg, kernel) TL_SETS_SIMD(ROWS, ROW, arg, kernel)
#define TL_SETS_DOT(ROWS, ROW, arg, kernel)         \
    TL_SETS_PLAIN(ROWS, ROW, arg, kernel)           \
    ROWS(ROW, arg, kernel, avx2, TL_ISA_AVX2)       \
    ROWS(ROW, arg, kernel, avxvnni, TL_ISA_AVXVNNI) \
    ROWS(ROW, arg, kernel, avx512vnni, TL_ISA_AVX512VNNI)
#define TL_SETS_BF16(ROWS, ROW, arg, kernel) \
    TL_SETS_PLAIN(ROWS, ROW, arg, kernel)    \
    ROWS(ROW, arg, kernel, avx512bf16, TL_ISA_AVX512BF16)
#define TL_SETS_TILE(ROWS, ROW, arg, kernel)        \
    ROWS(ROW, arg, kernel, amxint8, TL_ISA_AMXINT8) \
    ROWS(ROW, arg, kernel, tiles, TL_ISA_TILES)
#define TL_SETS_PAIR_TILE(ROWS, ROW, arg, kernel)   \
    ROWS(ROW, arg, kernel, amxbf16, TL_ISA_AMXBF16) \
    ROWS(ROW, arg, kernel, tiles, TL_ISA_TILES)
#elif defined(__aarch64__)
#define TL_SETS_SIMD(ROWS, ROW, arg, kernel) ROWS(ROW, arg, kernel, neon, TL_ISA_NEON)
#define TL_SETS_WIDE(ROWS, ROW, arg, kernel)
#define TL_SETS_DOT(ROWS, ROW, arg, kernel)         \
    TL_SETS_BOTH(ROWS, ROW, arg, kernel)            \
    ROWS(ROW, arg, kernel, dotprod, TL_ISA_DOTPROD) \
    ROWS(ROW, arg, kernel, i8mm, TL_ISA_I8MM)
#define TL_SETS_BF16(ROWS, ROW, arg, kernel)      TL_SETS_PLAIN(ROWS, ROW, arg, kernel)
#define TL_SETS_TILE(ROWS, ROW, arg, kernel)      ROWS(ROW, arg, kernel, tiles, TL_ISA_TILES)
#define TL_SETS_PAIR_TILE(ROWS, ROW, arg, kernel) ROWS(ROW, arg, kernel, tiles, TL_ISA_TILES)
#else
#define TL_SETS_SIMD(ROWS, ROW, arg, kernel)
#define TL_SETS_WIDE(ROWS, ROW, arg, kernel)
#define TL_SETS_DOT(ROWS, ROW, arg, kernel)       TL_SETS_PLAIN(ROWS, ROW, arg, kernel)
#define TL_SETS_BF16(ROWS, ROW, arg, kernel)      TL_SETS_PLAIN(ROWS, ROW, arg, kernel)
#define TL_SETS_TILE(ROWS, ROW, arg, kernel)      ROWS(ROW, arg, kernel, tiles, TL_ISA_TILES)
#define TL_SETS_PAIR_TILE(ROWS, ROW, arg, kernel) ROWS(ROW, arg, kernel, tiles, TL_ISA_TILES)
#endif

/** For lists of many kernels: the sets of one in addition to plain C. */
#define TL_BESIDE_PLAIN(ROW, arg, kernel)
#define TL_BESIDE_SIMD(ROW, arg, kernel)      TL_KERNELS(ROW, arg, kernel, F32, SIMD)
#define TL_BESIDE_BOOL(ROW, arg, kernel)      TL_KERNELS(ROW, arg, kernel, BOOL, WIDE)
#define TL_BESIDE_BOOL_SIMD(ROW, arg, kernel) TL_KERNELS(ROW, arg, kernel, BOOL, SIMD)
#define TL_BESIDE_MANY(ROW, arg, kernel)    \
    TL_KERNELS(ROW, arg, kernel, F32, SIMD) \
    TL_KERNELS(ROW, arg, kernel, MORE, WIDE)

// Readers

/** A row as a declaration. */
#define TL_KERNEL_DECLARE(func, name, dtype, isa) func name;

/** The position of a kernel in its family: the instruction set, and a column, in most families the
 * dtype. */
typedef struct tl_kernel_key {
    uint8_t isa, column;
} tl_kernel_key;

/** A row as a key, and as a pointer. */
#define TL_KERNEL_KEY(arg, name, column, isa)     {isa, column},
#define TL_KERNEL_POINTER(arg, name, column, isa) &(name),

/** Terminates the keys. */
#define TL_KERNEL_END TL_KERNEL_KEY(, , 0, TL_ISA_SIZE)

/** The index of the key in `column` of the last set that `exec` may use; that of the end if there
 * is none. */
size_t tl_kernel_find(const tl_kernel_key *keys, const tl_exec *exec, int column);

/** Defines the selection for the tables of TL_KERNEL_TABLE and TL_PLAIN_TABLE. */
#define TL_KERNEL_PICK(pick, func)                                        \
    static func *pick(const tl_exec *exec, int column)                    \
    {                                                                     \
        return pick##_kernels[tl_kernel_find(pick##_keys, exec, column)]; \
    }

/** Defines `static func *pick(const tl_exec *exec, int column)`: the kernel of a list for the last
 * set with one that `exec` may use; NULL if plain C has none, either. */
#define TL_KERNEL_TABLE(pick, func, LIST)                                             \
    static const tl_kernel_key pick##_keys[] = {LIST(TL_KERNEL_KEY, ) TL_KERNEL_END}; \
    static func *const pick##_kernels[] = {LIST(TL_KERNEL_POINTER, ) NULL};           \
    TL_KERNEL_PICK(pick, func)

/** The same for a kernel in plain C only. */
#define TL_PLAIN_TABLE(pick, func, kernel, types)                                                 \
    static const tl_kernel_key pick##_keys[] = {TL_KERNELS(TL_KERNEL_KEY, , kernel, types, PLAIN) \
                                                    TL_KERNEL_END};                               \
    static func *const pick##_kernels[] = {TL_KERNELS(TL_KERNEL_POINTER, , kernel, types, PLAIN)  \
                                               NULL};                                             \
    TL_KERNEL_PICK(pick, func)

// For all families

/** An element-wise kernel, src [len] -> dst [len]; `param` is the family's. */
typedef void tl_map_func(const void *src, void *dst, size_t len, const void *param);

/** The min elements per thread, for memory-bound kernels and for compute-bound ones such as exp:
 *  some ten microseconds, many times the time to wake a thread. */
enum { TL_GRAIN_MEMORY_BOUND = 32768, TL_GRAIN_COMPUTE_BOUND = 2048 };

/** Runs `func` over all elements of `src`; `dst` has equal length. */
void tl_map(const tl_exec *exec, size_t grain, tl_map_func *func, const tl_tensor *src,
            tl_tensor *dst, const void *param);

static inline int tl_min(int a, int b)
{
    return a < b ? a : b;
}

static inline size_t tl_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/** a / b, rounded up; b > 0. */
static inline size_t tl_ceil_div(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/** Bytes for the slots of that many threads, of `slot_size` bytes each; SIZE_MAX: larger than the
 * address space. */
static inline size_t tl_slots_size(size_t slot_size, int threads)
{
    const size_t n = tl_min_size((size_t)threads, TL_MAX_SLOTS);
    return slot_size <= SIZE_MAX / n ? slot_size * n : SIZE_MAX;
}

/** The unsigned type for all elements of `size` bytes, for kernels that only move
 * them. */
static inline tl_dtype tl_dtype_of_size(size_t size)
{
    static const tl_dtype dtypes[TL_DTYPE_MAX_SIZE + 1] = {
        [1] = TL_UINT8, [2] = TL_UINT16, [4] = TL_UINT32, [8] = TL_UINT64};
    return dtypes[size];
}

/** Whether `exec` and this CPU support more than plain C. */
static inline int tl_kernel_has_vectors(const tl_exec *exec)
{
    const unsigned plain = 1U << TL_ISA_C | 1U << TL_ISA_TILES;
    return (tl_isa_usable_within(exec ? exec->isa : TL_ISA_SIZE) & ~plain) != 0;
}
