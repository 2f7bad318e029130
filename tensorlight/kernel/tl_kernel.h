// SPDX-License-Identifier: Apache-2.0
// Shared by all kernel families: lists of kernels, and selection of a kernel from them.

/* A family's header lists its kernels by a macro, which calls ROW for each of them:
 *
 *     #define TL_SOFTMAX_KERNELS(ROW, arg)             \
 *         TL_KERNELS(ROW, arg, tl_softmax, FLT, PLAIN) \
 *         TL_KERNELS(ROW, arg, tl_softmax, F32, SIMD)
 *     TL_SOFTMAX_KERNELS(TL_KERNEL_DECLARE, tl_softmax_func)
 *
 * A row is ROW(arg, function, dtype, isa), `arg` what the reader of the list gives it: here the
 * type that the functions are declared with. TL_KERNEL_TABLE makes the table of a family, tests
 * have rows of their own. */

#ifndef TL_KERNEL_H
#define TL_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "tensor/tl_isa.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_type.h"

/** The rows of a work for some types and sets of features: TL_ROWS_types below, or of the family,
 *  and TL_SETS_sets. A function is named by the work, the tag of its type and the set. */
#define TL_KERNELS(ROW, arg, work, types, sets) TL_SETS_##sets(TL_ROWS_##types, ROW, arg, work)

/* ---- types ---- */

#define TL_ROWS_F32(ROW, arg, work, set, isa)  ROW(arg, work##_f32_##set, TL_FLOAT, isa)
#define TL_ROWS_U8(ROW, arg, work, set, isa)   ROW(arg, work##_u8_##set, TL_UINT8, isa)
#define TL_ROWS_BOOL(ROW, arg, work, set, isa) ROW(arg, work##_b8_##set, TL_BOOL, isa)

/** Floats in pairs of bfloat16. */
#define TL_ROWS_BF16(ROW, arg, work, set, isa) ROW(arg, work##_f32_##set, TL_BFLOAT16, isa)

#define TL_ROWS_FLT(ROW, arg, work, set, isa)   \
    ROW(arg, work##_f64_##set, TL_DOUBLE, isa)  \
    ROW(arg, work##_f32_##set, TL_FLOAT, isa)   \
    ROW(arg, work##_f16_##set, TL_FLOAT16, isa) \
    ROW(arg, work##_bf16_##set, TL_BFLOAT16, isa)

#define TL_ROWS_UINT(ROW, arg, work, set, isa) \
    ROW(arg, work##_u64_##set, TL_UINT64, isa) \
    ROW(arg, work##_u32_##set, TL_UINT32, isa) \
    ROW(arg, work##_u16_##set, TL_UINT16, isa) \
    ROW(arg, work##_u8_##set, TL_UINT8, isa)

#define TL_ROWS_INT(ROW, arg, work, set, isa) \
    ROW(arg, work##_i64_##set, TL_INT64, isa) \
    ROW(arg, work##_i32_##set, TL_INT32, isa) \
    ROW(arg, work##_i16_##set, TL_INT16, isa) \
    ROW(arg, work##_i8_##set, TL_INT8, isa)   \
    TL_ROWS_UINT(ROW, arg, work, set, isa)

#define TL_ROWS_NUM(ROW, arg, work, set, isa) \
    TL_ROWS_FLT(ROW, arg, work, set, isa)     \
    TL_ROWS_INT(ROW, arg, work, set, isa)

/** All but the floats. */
#define TL_ROWS_WHOLE(ROW, arg, work, set, isa) \
    TL_ROWS_INT(ROW, arg, work, set, isa)       \
    TL_ROWS_BOOL(ROW, arg, work, set, isa)

#define TL_ROWS_ALL(ROW, arg, work, set, isa) \
    TL_ROWS_FLT(ROW, arg, work, set, isa)     \
    TL_ROWS_WHOLE(ROW, arg, work, set, isa)

/** The types that models compute with beside TL_FLOAT and TL_BOOL. */
#define TL_ROWS_MORE(ROW, arg, work, set, isa) \
    ROW(arg, work##_f64_##set, TL_DOUBLE, isa) \
    ROW(arg, work##_i64_##set, TL_INT64, isa)  \
    ROW(arg, work##_i32_##set, TL_INT32, isa)  \
    ROW(arg, work##_i8_##set, TL_INT8, isa)    \
    ROW(arg, work##_u8_##set, TL_UINT8, isa)

// clang-format off
#define TL_ROWS_FROM(ROW, arg, work, tag, from, set, isa)      \
    ROW(arg, work##_##tag##_f64_##set, from, TL_DOUBLE, isa)   \
    ROW(arg, work##_##tag##_f32_##set, from, TL_FLOAT, isa)    \
    ROW(arg, work##_##tag##_i32_##set, from, TL_INT32, isa)    \
    ROW(arg, work##_##tag##_i16_##set, from, TL_INT16, isa)    \
    ROW(arg, work##_##tag##_i8_##set, from, TL_INT8, isa)      \
    ROW(arg, work##_##tag##_u32_##set, from, TL_UINT32, isa)   \
    ROW(arg, work##_##tag##_u16_##set, from, TL_UINT16, isa)   \
    ROW(arg, work##_##tag##_u8_##set, from, TL_UINT8, isa)     \
    ROW(arg, work##_##tag##_b8_##set, from, TL_BOOL, isa)      \
    ROW(arg, work##_##tag##_i64_##set, from, TL_INT64, isa)    \
    ROW(arg, work##_##tag##_u64_##set, from, TL_UINT64, isa)   \
    ROW(arg, work##_##tag##_f16_##set, from, TL_FLOAT16, isa)  \
    ROW(arg, work##_##tag##_bf16_##set, from, TL_BFLOAT16, isa)

/** From every type to every type: the rows are ROW(arg, function, src dtype, dst dtype, isa). */
#define TL_ROWS_PAIRS(ROW, arg, work, set, isa)             \
    TL_ROWS_FROM(ROW, arg, work, f64, TL_DOUBLE, set, isa)  \
    TL_ROWS_FROM(ROW, arg, work, f32, TL_FLOAT, set, isa)   \
    TL_ROWS_FROM(ROW, arg, work, i32, TL_INT32, set, isa)   \
    TL_ROWS_FROM(ROW, arg, work, i16, TL_INT16, set, isa)   \
    TL_ROWS_FROM(ROW, arg, work, i8, TL_INT8, set, isa)     \
    TL_ROWS_FROM(ROW, arg, work, u32, TL_UINT32, set, isa)  \
    TL_ROWS_FROM(ROW, arg, work, u16, TL_UINT16, set, isa)  \
    TL_ROWS_FROM(ROW, arg, work, u8, TL_UINT8, set, isa)    \
    TL_ROWS_FROM(ROW, arg, work, b8, TL_BOOL, set, isa)     \
    TL_ROWS_FROM(ROW, arg, work, i64, TL_INT64, set, isa)   \
    TL_ROWS_FROM(ROW, arg, work, u64, TL_UINT64, set, isa)  \
    TL_ROWS_FROM(ROW, arg, work, f16, TL_FLOAT16, set, isa) \
    TL_ROWS_FROM(ROW, arg, work, bf16, TL_BFLOAT16, set, isa)
// clang-format on

/* ---- sets of features, those that this CPU family has ---- */

// PLAIN: plain C. SIMD: vectors of floats (simd/tl_simd.h). WIDE: plain C that is also compiled for
// wider vectors; the order of its sums is written in its lanes, so all give the same bits.
// Beside plain C: DOT, dot products of bytes (simd/tl_simd_dot.h); BF16, products of pairs of
// bfloat16; BOTH, vectors of floats.
#define TL_SETS_PLAIN(ROWS, ROW, arg, work) ROWS(ROW, arg, work, c, TL_ISA_C)

#define TL_SETS_BOTH(ROWS, ROW, arg, work) \
    TL_SETS_PLAIN(ROWS, ROW, arg, work)    \
    TL_SETS_SIMD(ROWS, ROW, arg, work)

#if defined(__x86_64__)
#define TL_SETS_SIMD(ROWS, ROW, arg, work)  \
    ROWS(ROW, arg, work, avx2, TL_ISA_AVX2) \
    ROWS(ROW, arg, work, avx512, TL_ISA_AVX512)
#define TL_SETS_WIDE(ROWS, ROW, arg, work) TL_SETS_SIMD(ROWS, ROW, arg, work)
#define TL_SETS_DOT(ROWS, ROW, arg, work)         \
    TL_SETS_BOTH(ROWS, ROW, arg, work)            \
    ROWS(ROW, arg, work, avxvnni, TL_ISA_AVXVNNI) \
    ROWS(ROW, arg, work, avx512vnni, TL_ISA_AVX512VNNI)
#define TL_SETS_BF16(ROWS, ROW, arg, work) \
    TL_SETS_PLAIN(ROWS, ROW, arg, work)    \
    ROWS(ROW, arg, work, avx512bf16, TL_ISA_AVX512BF16)
#elif defined(__aarch64__)
#define TL_SETS_SIMD(ROWS, ROW, arg, work) ROWS(ROW, arg, work, neon, TL_ISA_NEON)
#define TL_SETS_WIDE(ROWS, ROW, arg, work)
#define TL_SETS_DOT(ROWS, ROW, arg, work)         \
    TL_SETS_BOTH(ROWS, ROW, arg, work)            \
    ROWS(ROW, arg, work, dotprod, TL_ISA_DOTPROD) \
    ROWS(ROW, arg, work, i8mm, TL_ISA_I8MM)
#define TL_SETS_BF16(ROWS, ROW, arg, work) TL_SETS_PLAIN(ROWS, ROW, arg, work)
#else
#define TL_SETS_SIMD(ROWS, ROW, arg, work)
#define TL_SETS_WIDE(ROWS, ROW, arg, work)
#define TL_SETS_DOT(ROWS, ROW, arg, work)  TL_SETS_PLAIN(ROWS, ROW, arg, work)
#define TL_SETS_BF16(ROWS, ROW, arg, work) TL_SETS_PLAIN(ROWS, ROW, arg, work)
#endif

/** For lists of many works: what one has beside plain C. */
#define TL_BESIDE_PLAIN(ROW, arg, work)
#define TL_BESIDE_SIMD(ROW, arg, work) TL_KERNELS(ROW, arg, work, F32, SIMD)
#define TL_BESIDE_BOOL(ROW, arg, work) TL_KERNELS(ROW, arg, work, BOOL, WIDE)
#define TL_BESIDE_MANY(ROW, arg, work)    \
    TL_KERNELS(ROW, arg, work, F32, SIMD) \
    TL_KERNELS(ROW, arg, work, MORE, WIDE)

/* ---- readers ---- */

/** A row as a declaration. */
#define TL_KERNEL_DECLARE(func, name, dtype, isa) func name;

/** A row as an element of a table [isa][dtype]. */
#define TL_KERNEL_ELEMENT(arg, name, dtype, isa) [isa][dtype] = &(name),

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

/** Bytes for the slots of so many threads, of `slot_size` bytes each; SIZE_MAX: more than an
 *  address can name. */
static inline size_t tl_slots_size(size_t slot_size, int threads)
{
    const size_t n = tl_min_size((size_t)threads, TL_MOST_SLOTS);
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

/** The same for a list of kernels, with their table: pick_table[isa][dtype]. */
#define TL_KERNEL_TABLE(pick, func, LIST)                                                      \
    static func *const pick##_table[TL_ISA_SIZE][TL_DTYPE_SIZE] = {LIST(TL_KERNEL_ELEMENT, )}; \
    TL_KERNEL_PICK(pick, func, pick##_table)

/** The same for a work that has plain C alone. */
#define TL_PLAIN_TABLE(pick, func, work, types)                     \
    static func *const pick##_table[TL_ISA_SIZE][TL_DTYPE_SIZE] = { \
        TL_KERNELS(TL_KERNEL_ELEMENT, , work, types, PLAIN)};       \
    TL_KERNEL_PICK(pick, func, pick##_table)

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
