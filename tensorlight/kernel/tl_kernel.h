// SPDX-License-Identifier: Apache-2.0
// What every kernel family shares: how its list is read, and how a kernel is chosen from it.
//
// A family's list, <family>.def, has rows TL_KERNEL(function, dtype, isa) and is read as the
// declarations (<family>.h), the table (<family>.c) and the tests. The rows below stand for the
// same work on many types: TL_KERNELS_FLT(tl_softmax, c, TL_ISA_C) lists tl_softmax_f64_c and so
// on, as a template compiled by tl_each_float.inc.h defines them.

#ifndef TL_KERNEL_H
#define TL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "tensor/tl_isa.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_type.h"

#define TL_KERNELS_FLT(work, suffix, isa)           \
    TL_KERNEL(work##_f64_##suffix, TL_DOUBLE, isa)  \
    TL_KERNEL(work##_f32_##suffix, TL_FLOAT, isa)   \
    TL_KERNEL(work##_f16_##suffix, TL_FLOAT16, isa) \
    TL_KERNEL(work##_bf16_##suffix, TL_BFLOAT16, isa)

#define TL_KERNELS_INT(work, suffix, isa)          \
    TL_KERNEL(work##_i64_##suffix, TL_INT64, isa)  \
    TL_KERNEL(work##_i32_##suffix, TL_INT32, isa)  \
    TL_KERNEL(work##_i16_##suffix, TL_INT16, isa)  \
    TL_KERNEL(work##_i8_##suffix, TL_INT8, isa)    \
    TL_KERNEL(work##_u64_##suffix, TL_UINT64, isa) \
    TL_KERNEL(work##_u32_##suffix, TL_UINT32, isa) \
    TL_KERNEL(work##_u16_##suffix, TL_UINT16, isa) \
    TL_KERNEL(work##_u8_##suffix, TL_UINT8, isa)

#define TL_KERNELS_NUM(work, suffix, isa) \
    TL_KERNELS_FLT(work, suffix, isa)     \
    TL_KERNELS_INT(work, suffix, isa)

/** All but the floats. */
#define TL_KERNELS_WHOLE(work, suffix, isa) \
    TL_KERNELS_INT(work, suffix, isa)       \
    TL_KERNEL(work##_b8_##suffix, TL_BOOL, isa)

#define TL_KERNELS_ALL(work, suffix, isa) \
    TL_KERNELS_FLT(work, suffix, isa)     \
    TL_KERNELS_WHOLE(work, suffix, isa)

// clang-format off
#define TL_KERNELS_FROM(work, tag, from, suffix, isa)               \
    TL_KERNEL(work##_##tag##_f64_##suffix, from, TL_DOUBLE, isa)    \
    TL_KERNEL(work##_##tag##_f32_##suffix, from, TL_FLOAT, isa)     \
    TL_KERNEL(work##_##tag##_i32_##suffix, from, TL_INT32, isa)     \
    TL_KERNEL(work##_##tag##_i16_##suffix, from, TL_INT16, isa)     \
    TL_KERNEL(work##_##tag##_i8_##suffix, from, TL_INT8, isa)       \
    TL_KERNEL(work##_##tag##_u32_##suffix, from, TL_UINT32, isa)    \
    TL_KERNEL(work##_##tag##_u16_##suffix, from, TL_UINT16, isa)    \
    TL_KERNEL(work##_##tag##_u8_##suffix, from, TL_UINT8, isa)      \
    TL_KERNEL(work##_##tag##_b8_##suffix, from, TL_BOOL, isa)       \
    TL_KERNEL(work##_##tag##_i64_##suffix, from, TL_INT64, isa)     \
    TL_KERNEL(work##_##tag##_u64_##suffix, from, TL_UINT64, isa)    \
    TL_KERNEL(work##_##tag##_f16_##suffix, from, TL_FLOAT16, isa)   \
    TL_KERNEL(work##_##tag##_bf16_##suffix, from, TL_BFLOAT16, isa)

/** From every type to every type: the rows are TL_KERNEL(function, src dtype, dst dtype, isa). */
#define TL_KERNELS_PAIRS(work, suffix, isa)              \
    TL_KERNELS_FROM(work, f64, TL_DOUBLE, suffix, isa)   \
    TL_KERNELS_FROM(work, f32, TL_FLOAT, suffix, isa)    \
    TL_KERNELS_FROM(work, i32, TL_INT32, suffix, isa)    \
    TL_KERNELS_FROM(work, i16, TL_INT16, suffix, isa)    \
    TL_KERNELS_FROM(work, i8, TL_INT8, suffix, isa)      \
    TL_KERNELS_FROM(work, u32, TL_UINT32, suffix, isa)   \
    TL_KERNELS_FROM(work, u16, TL_UINT16, suffix, isa)   \
    TL_KERNELS_FROM(work, u8, TL_UINT8, suffix, isa)     \
    TL_KERNELS_FROM(work, b8, TL_BOOL, suffix, isa)      \
    TL_KERNELS_FROM(work, i64, TL_INT64, suffix, isa)    \
    TL_KERNELS_FROM(work, u64, TL_UINT64, suffix, isa)   \
    TL_KERNELS_FROM(work, f16, TL_FLOAT16, suffix, isa)  \
    TL_KERNELS_FROM(work, bf16, TL_BFLOAT16, suffix, isa)
// clang-format on

/** The rows of a work whose template is written in the vectors of simd/tl_simd.h, one for each
 *  instruction set with vectors of floats that this CPU family has. */
#if defined(__x86_64__)
#define TL_KERNELS_SIMD(work)                         \
    TL_KERNEL(work##_f32_avx2, TL_FLOAT, TL_ISA_AVX2) \
    TL_KERNEL(work##_f32_avx512, TL_FLOAT, TL_ISA_AVX512)
#elif defined(__aarch64__)
#define TL_KERNELS_SIMD(work) TL_KERNEL(work##_f32_neon, TL_FLOAT, TL_ISA_NEON)
#else
#define TL_KERNELS_SIMD(work)
#endif

/** The rows of a work on bytes that is written with the words of simd/tl_simd_dot.h, one for each
 * set that has dot products of its own. */
#if defined(__x86_64__)
#define TL_KERNELS_DOT(work)                               \
    TL_KERNEL(work##_u8_avx2, TL_UINT8, TL_ISA_AVX2)       \
    TL_KERNEL(work##_u8_avxvnni, TL_UINT8, TL_ISA_AVXVNNI) \
    TL_KERNEL(work##_u8_avx512, TL_UINT8, TL_ISA_AVX512)   \
    TL_KERNEL(work##_u8_avx512vnni, TL_UINT8, TL_ISA_AVX512VNNI)
#elif defined(__aarch64__)
#define TL_KERNELS_DOT(work)                               \
    TL_KERNEL(work##_u8_neon, TL_UINT8, TL_ISA_NEON)       \
    TL_KERNEL(work##_u8_dotprod, TL_UINT8, TL_ISA_DOTPROD) \
    TL_KERNEL(work##_u8_i8mm, TL_UINT8, TL_ISA_I8MM)
#else
#define TL_KERNELS_DOT(work)
#endif

/** The rows of a work on pairs of bfloat16: for each instruction set that multiplies them. */
#if defined(__x86_64__)
#define TL_KERNELS_BF16(work) TL_KERNEL(work##_f32_avx512bf16, TL_BFLOAT16, TL_ISA_AVX512BF16)
#else
#define TL_KERNELS_BF16(work)
#endif

/** rows(set, isa) for each of the sets with vectors of floats: for works on several types. */
#if defined(__x86_64__)
#define TL_KERNELS_EACH_SIMD(rows) rows(avx2, TL_ISA_AVX2) rows(avx512, TL_ISA_AVX512)
#elif defined(__aarch64__)
#define TL_KERNELS_EACH_SIMD(rows) rows(neon, TL_ISA_NEON)
#else
#define TL_KERNELS_EACH_SIMD(rows)
#endif

/** The same for lists that say of each work whether it has them. */
#define TL_KERNELS_SETS_SIMD(work) TL_KERNELS_SIMD(work)
#define TL_KERNELS_SETS_PLAIN(work)

/** The rows of a work in plain C whose template is also compiled with the flags of wider vectors.
 *  The order of its sums is written in its lanes, so all of them give the same bits. */
#if defined(__x86_64__)
#define TL_KERNELS_WIDE(work) TL_KERNELS_SIMD(work)
#else
#define TL_KERNELS_WIDE(work)
#endif

/** The rows of a work in plain C that is also compiled with the flags of wider vectors for the
 * types that models compute with beside floats, and of one for TL_BOOL. */
#define TL_KERNELS_MORE_ROWS(work, set, isa)    \
    TL_KERNEL(work##_f64_##set, TL_DOUBLE, isa) \
    TL_KERNEL(work##_i64_##set, TL_INT64, isa)  \
    TL_KERNEL(work##_i32_##set, TL_INT32, isa)  \
    TL_KERNEL(work##_i8_##set, TL_INT8, isa)    \
    TL_KERNEL(work##_u8_##set, TL_UINT8, isa)
#if defined(__x86_64__)
#define TL_KERNELS_MORE(work)                     \
    TL_KERNELS_MORE_ROWS(work, avx2, TL_ISA_AVX2) \
    TL_KERNELS_MORE_ROWS(work, avx512, TL_ISA_AVX512)
#define TL_KERNELS_SETS_BOOL(work)                  \
    TL_KERNEL(work##_b8_avx2, TL_BOOL, TL_ISA_AVX2) \
    TL_KERNEL(work##_b8_avx512, TL_BOOL, TL_ISA_AVX512)
#else
#define TL_KERNELS_MORE(work)
#define TL_KERNELS_SETS_BOOL(work)
#endif
#define TL_KERNELS_SETS_MANY(work) TL_KERNELS_SIMD(work) TL_KERNELS_MORE(work)

/** A row read as a declaration, for a header: #define TL_KERNEL(..) TL_KERNEL_DECLARE(type, ..). */
#define TL_KERNEL_DECLARE(func, name, dtype, isa) func name;

static inline int tl_smaller(int a, int b)
{
    return a < b ? a : b;
}

static inline size_t tl_smaller_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/** a / b, rounded up; b > 0. */
static inline size_t tl_divide_up(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

/** Bytes for the slots of so many threads, of `slot_size` bytes each; SIZE_MAX: more than an
 *  address can name. */
static inline size_t tl_slots_size(size_t slot_size, int threads)
{
    const size_t n = tl_smaller_size((size_t)threads, TL_MOST_SLOTS);
    return slot_size <= SIZE_MAX / n ? slot_size * n : SIZE_MAX;
}

/** The unsigned type that stands for all elements of `size` bytes, where only their place matters.
 */
static inline tl_dtype tl_dtype_of_size(size_t size)
{
    static const tl_dtype dtypes[TL_DTYPE_MAX_SIZE + 1] = {
        [1] = TL_UINT8, [2] = TL_UINT16, [4] = TL_UINT32, [8] = TL_UINT64};
    return dtypes[size];
}

/** Whether `exec` and this CPU have more than plain C. */
static inline int tl_kernel_has_vectors(const tl_exec *exec)
{
    return tl_isa_usable_within(exec ? exec->isa : TL_ISA_SIZE) != 1U << TL_ISA_C;
}

/** Before a block: for each set whose kernels `exec` may use, the richest first. */
#define TL_KERNEL_EACH_ISA(isa, exec)                                                \
    for (unsigned isa = TL_ISA_SIZE,                                                 \
                  usable = tl_isa_usable_within((exec) ? (exec)->isa : TL_ISA_SIZE); \
         isa-- > 0;)                                                                 \
        if (usable >> isa & 1)

/** Defines `static func *pick(const tl_exec *exec, int column)`: the function of table[isa][column]
 *  for the richest set that `exec` may use and that has one; NULL where not even plain C has. The
 *  column is the dtype in most families. */
#define TL_KERNEL_PICK(pick, func, table)              \
    static func *pick(const tl_exec *exec, int column) \
    {                                                  \
        TL_KERNEL_EACH_ISA (isa, exec)                 \
            if (table[isa][column])                    \
                return table[isa][column];             \
        return NULL;                                   \
    }

/** The same for families of several works, each with a table: `static func *pick(table, exec,
 *  dtype)`. */
#define TL_KERNEL_PICK_FROM(pick, func)                                                        \
    static func *pick(func *const(*table)[TL_DTYPE_SIZE], const tl_exec *exec, tl_dtype dtype) \
    {                                                                                          \
        TL_KERNEL_EACH_ISA (isa, exec)                                                         \
            if (table[isa][dtype])                                                             \
                return table[isa][dtype];                                                      \
        return NULL;                                                                           \
    }

#endif
