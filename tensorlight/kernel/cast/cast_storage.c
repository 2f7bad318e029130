// SPDX-License-Identifier: Apache-2.0
// The conversions from and to the types that only store values, piece by piece: from the source to
// its carrier (tl_storage.h), from there to that of the result, and to the result.

#include <math.h>
#include <string.h>

#include "kernel/cast/cast.h"
#include "tensor/tl_convert.h"
#include "tensorlight/tl_util.h"

enum { PIECE = 256 };

// Between carriers

static void convert(const tl_storage_cast *c, const void *src, tl_dtype from, void *dst,
                    tl_dtype to, size_t n)
{
    if (from == to)
        memmove(dst, src, n * tl_size_of(to));
    else
        c->kernel(NULL, from, to)(src, dst, n, NULL);
}

// The elements as floats whose rounding to fewer bits equals that of the elements.
static void to_floats(const tl_storage_cast *c, const void *src, tl_dtype from, float *dst,
                      size_t n)
{
    int64_t numbers[PIECE];
    const double *const doubles = src;
    const uint64_t *const unsigneds = src;
    if (tl_size_of(from) < sizeof(int32_t) || from == TL_FLOAT) {
        convert(c, src, from, dst, TL_FLOAT, n);
        return;
    }
    if (from == TL_INT32 || from == TL_UINT32 || from == TL_INT64)
        convert(c, src, from, numbers, TL_INT64, n);
    for (size_t i = 0; i < n; i++)
        dst[i] = from == TL_DOUBLE   ? tl_float_round_to_odd(doubles[i])
                 : from == TL_UINT64 ? tl_float_of_uint(unsigneds[i])
                                     : tl_float_of_int(numbers[i]);
}

// To integers of fewer than 8 bits

static int between(int value, int min, int max)
{
    return value < min ? min : value > max ? max : value;
}

// Bytes to elements of `dtype`: their low bits, or the nearest element.
static void fit_bytes(tl_dtype dtype, void *data, size_t n, int saturates)
{
    const int bits = tl_dtype_bits(dtype), mask = (1 << bits) - 1;
    const int is_signed = tl_storage_carrier(dtype) == TL_INT8;
    const int sign = is_signed ? 1 << (bits - 1) : 0;
    int8_t *const small = data;
    uint8_t *const d = data;
    for (size_t i = 0; i < n; i++) {
        const int value = is_signed ? small[i] : d[i];
        d[i] = (uint8_t)(saturates ? between(value, -sign, mask - sign)
                                   : ((value & mask) ^ sign) - sign);
    }
}

static void round_to_bytes(tl_dtype dtype, const float *src, uint8_t *dst, size_t n)
{
    const float min = (float)tl_dtype_min_double(dtype), max = (float)tl_dtype_max_double(dtype);
    for (size_t i = 0; i < n; i++) {
        const float whole = rintf(src[i] != src[i] ? 0 : src[i]);
        dst[i] = (uint8_t)(int)(whole < min ? min : whole > max ? max : whole);
    }
}

static void to_small_integer(const tl_storage_cast *c, const void *src, tl_dtype from, void *dst,
                             size_t n)
{
    float floats[PIECE];
    if (tl_dtype_is_float(from) && !c->saturates) {
        to_floats(c, src, from, floats, n);
        round_to_bytes(c->to, floats, dst, n);
        return;
    }
    convert(c, src, from, dst, tl_storage_carrier(c->to), n);
    fit_bytes(c->to, dst, n, c->saturates);
}

// All

static void cast_piece(const tl_storage_cast *c, const void *src, void *dst, size_t n)
{
    float room[PIECE], floats[PIECE];
    const tl_dtype from = tl_storage_carrier(c->from);
    if (from == TL_FLOAT && c->from != TL_FLOAT) {
        tl_storage_to_floats(c->from, src, room, n);
        src = room;
    }
    if (tl_dtype_is_computed(c->to)) {
        convert(c, src, from, dst, c->to, n);
    } else if (!tl_dtype_has_fractions(c->to)) {
        to_small_integer(c, src, from, dst, n);
    } else {
        to_floats(c, src, from, floats, n);
        tl_storage_from_floats(c->to, floats, dst, n, c->rule);
    }
}

void tl_cast_storage(const void *src, void *dst, size_t len, const void *param)
{
    const tl_storage_cast *const c = param;
    for (size_t at = 0; at < len; at += PIECE)
        cast_piece(c, tl_padd((void *)src, (ptrdiff_t)at, tl_size_of(c->from)),
                   tl_padd(dst, (ptrdiff_t)at, tl_size_of(c->to)), tl_min_size(PIECE, len - at));
}
