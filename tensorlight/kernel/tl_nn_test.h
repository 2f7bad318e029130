// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of neural-network kernels: tensors between guards, numbers as doubles,
// tolerances, and the comparison of one thread with three.
//
//     nn_room room = {.seed = 1};
//     tl_tensor *src = nn_random(&room, TL_FLOAT, 2, (int[]){3, 5}, -1, 1);
//     tl_tensor *dst = nn_blank(&room, TL_FLOAT, 2, (int[]){3, 5});
//     ...
//     nn_close(&room); // checks the guards

#pragma once

/* Tests of kernels of matrix units are built twice: NN_EACH_TILED is a loop over all usable sets
 * and tiles in plain C, or, with emulated AMX (ln_amx_machine.h), over the sets with AMX. */
#ifdef LN_TILE_EMULATOR
#include "ln_amx_machine.h"
#define NN_EACH_TILED(isa)   \
    TL_ISA_EACH_USABLE (isa) \
        if (tl_isa_contains(isa, TL_ISA_AMXINT8))
#define NN_CHECK_AMX() ck_assert(ln_amx_machine_is_used())
#else
#define NN_EACH_TILED(isa)                                                       \
    for (tl_isa isa = TL_ISA_C; isa < TL_ISA_SIZE; isa = (tl_isa)((int)isa + 1)) \
        if (tl_isa_is_usable(isa) || isa == TL_ISA_TILES)
#define NN_CHECK_AMX() ((void)0)
#endif

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "ln_check.h"
#include "ln_guard.h"
#include "tensor/tl_isa.h"
#include "tensorlight/tensorlight.h"

#define NN_LEN(array) (sizeof(array) / sizeof(*(array)))

/** The four floating types, and all types. */
static const tl_dtype nn_floats[] = {TL_DOUBLE, TL_FLOAT, TL_FLOAT16, TL_BFLOAT16};
static const tl_dtype nn_types[] = {TL_DOUBLE, TL_FLOAT,   TL_INT32,   TL_INT16, TL_INT8,
                                    TL_UINT32, TL_UINT16,  TL_UINT8,   TL_BOOL,  TL_INT64,
                                    TL_UINT64, TL_FLOAT16, TL_BFLOAT16};

/** Tensors of a test, each with a canary before and a page without access after its data. */
typedef struct nn_room {
    uint64_t seed;
    int n;
    tl_tensor *tensors[16];
    ln_guard guards[16];
} nn_room;

/** A tensor of bytes 0xa5. */
static inline tl_tensor *nn_blank(nn_room *room, tl_dtype dtype, int ndim, const int *dims)
{
    ck_assert_int_lt(room->n, (int)NN_LEN(room->tensors));
    tl_tensor *const t = tl_tensor_create(NULL, ndim, dims, dtype);
    t->data = ln_guard_alloc(&room->guards[room->n], tl_tensor_size(t));
    return room->tensors[room->n++] = t;
}

static inline tl_tensor *nn_random(nn_room *room, tl_dtype dtype, int ndim, const int *dims,
                                   double lo, double hi)
{
    tl_tensor *const t = nn_blank(room, dtype, ndim, dims);
    ck_assert_int_eq(tl_tensor_fill_uniform(t, lo, hi, &room->seed), 0);
    return t;
}

/** A tensor of these numbers, converted. */
static inline tl_tensor *nn_given(nn_room *room, tl_dtype dtype, int ndim, const int *dims,
                                  const double *values)
{
    tl_tensor *const t = nn_blank(room, dtype, ndim, dims);
    tl_convert_array(t->data, dtype, values, TL_DOUBLE, (size_t)t->len);
    return t;
}

static inline void nn_close(nn_room *room)
{
    for (int i = 0; i < room->n; i++) {
        ck_assert_msg(ln_guard_is_intact(&room->guards[i]), "tensor %d: written before its data",
                      i);
        tl_tensor_free(room->tensors[i]);
        ln_guard_free(&room->guards[i]);
    }
}

/** Element `i` as a double. */
static inline double nn_at(const tl_tensor *t, size_t i)
{
    double value;
    if (t->dtype == TL_FLOAT) // the most frequent one, in loops of loops
        return ((const float *)t->data)[i];
    tl_convert(&value, TL_DOUBLE, tl_pointer_add(t->data, (ptrdiff_t)i, t->dtype), t->dtype);
    return value;
}

/** Half the distance from 1 to the next number, of the type in memory. */
static inline double nn_store_unit(tl_dtype dtype)
{
    return dtype == TL_DOUBLE    ? DBL_EPSILON / 2
           : dtype == TL_FLOAT   ? FLT_EPSILON / 2
           : dtype == TL_FLOAT16 ? 0x1p-11
                                 : 0x1p-8;
}

/** The same of the type it computes in. */
static inline double nn_compute_unit(tl_dtype dtype)
{
    return dtype == TL_DOUBLE ? DBL_EPSILON / 2 : FLT_EPSILON / 2;
}

/** The tolerance of a result that is about `value` after `n` roundings of terms whose magnitudes
 *  add up to `magnitude`: each rounds by at most a unit of that, and the result is stored once,
 *  where small numbers of 16 bits are multiples of 2^-24. The expected value, in double, has the
 *  same roundings, hence 2. */
static inline double nn_tolerance(tl_dtype dtype, double n, double magnitude, double value)
{
    return 2 * n * nn_compute_unit(dtype) * magnitude + nn_store_unit(dtype) * fabs(value) +
           (dtype == TL_FLOAT16 ? 0x1p-25 : 0);
}

static inline void nn_check_near(const tl_tensor *t, size_t i, double expected, double tolerance)
{
    const double value = nn_at(t, i);
    if (isnan(expected) ? !isnan(value)
                        : !(value == expected || fabs(value - expected) <= tolerance))
        ck_abort_msg("%s element %zu is %.9g, expected %.9g, tolerance %.3g",
                     tl_dtype_name(t->dtype), i, value, expected, tolerance);
}

/** All elements are these numbers, once converted. */
static inline void nn_check_values(const tl_tensor *t, const double *expected)
{
    for (int i = 0; i < t->len; i++)
        nn_check_near(t, (size_t)i, expected[i],
                      tl_dtype_is_float(t->dtype) ? 2 * nn_store_unit(t->dtype) * fabs(expected[i])
                                                  : 0);
}

/** Before a block: for each usable instruction set, as `exec`. */
#define NN_EACH_ISA(exec)                                               \
    for (tl_exec exec = {.isa = TL_ISA_C}; (int)exec.isa < TL_ISA_SIZE; \
         exec.isa = (tl_isa)((int)exec.isa + 1))                        \
        if (tl_isa_is_usable(exec.isa))

/** Computes into `dst` with `exec`. */
typedef void nn_run(const tl_exec *exec, tl_tensor *dst, void *arg);

/** Three threads write to `dst` the bits that one writes. */
static inline void nn_check_threads(nn_run *run, tl_tensor *dst, void *arg)
{
    tl_pool *const pool = tl_pool_create(3);
    const tl_exec exec = {.pool = pool, .isa = tl_isa_best()};
    run(NULL, dst, arg);
    void *const one = tl_clone(dst->data, tl_tensor_size(dst));
    memset(dst->data, LN_GUARD_CANARY, tl_tensor_size(dst));
    run(&exec, dst, arg);
    ck_assert_msg(memcmp(one, dst->data, tl_tensor_size(dst)) == 0,
                  "%s: three threads give other bits than one", tl_dtype_name(dst->dtype));
    tl_free(one);
    tl_pool_free(pool);
}
