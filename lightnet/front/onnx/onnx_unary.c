// SPDX-License-Identifier: Apache-2.0
// ONNX operators that make each element from one: functions of numbers, activations, conversion.

#include "data/ln_onnx_tensor.h"
#include "data/ln_raw.h"
#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"
#include "tensorlight/tl_elementwise.h"

// Functions

// With integers, which ONNX allows here, some functions compute in double.
static void translate_in_double(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_dtype dtype = ln_onnx_tensor_of(n, src)->dtype;
    if (tl_dtype_is_float(dtype)) {
        ln_onnx_translate_form(n);
        return;
    }
    const char *const wide = ln_emit_cast(&n->emit, src, TL_DOUBLE, LN_EMIT_TEMP);
    ln_emit_cast(&n->emit, LN_ONNX_FORM(n, LN_EMIT_TEMP, LN_ARG("src", wide)), dtype, 0);
}

// Bounds

// The bounds as numbers, where both are known and the elements are floats, in one step.
static int clip_at_once(ln_onnx_node *n, const char *src, const char *low, const char *high)
{
    const tl_tensor *const a = low ? ln_onnx_value(n, low) : NULL;
    const tl_tensor *const b = high ? ln_onnx_value(n, high) : NULL;
    double bounds[2];
    if (!a || !b || a->len != 1 || b->len != 1 || !tl_dtype_is_float(a->dtype))
        return 0;
    tl_convert(&bounds[0], TL_DOUBLE, a->data, a->dtype);
    tl_convert(&bounds[1], TL_DOUBLE, b->data, b->dtype);
    ln_emit_unary_with(&n->emit, n->row->with, src, bounds[0], bounds[1], 0);
    return 1;
}

// A bound adds no dimensions: [1] becomes [].
static const char *as_scalar(ln_onnx_node *n, const char *bound)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, bound);
    return !bound || t->ndim == 0 ? bound : ln_emit_reshape(&n->emit, bound, 0, NULL, LN_EMIT_TEMP);
}

static void emit_clip(ln_onnx_node *n, const char *low, const char *high)
{
    const char *src = ln_onnx_in(n, 0);
    if (clip_at_once(n, src, low, high))
        return;
    if (low)
        src = ln_emit_binary(&n->emit, "TL_BINARY_MAX", src, as_scalar(n, low),
                             high ? LN_EMIT_TEMP : 0);
    if (high)
        src = ln_emit_binary(&n->emit, "TL_BINARY_MIN", src, as_scalar(n, high), 0);
    ln_onnx_alias(n, 0, src);
}

// A bound: an attribute, since opset 11 an input.
static const char *bound(ln_onnx_node *n, const char *name, int input)
{
    const tl_dtype dtype = ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->dtype;
    if (n->opset >= 11)
        return ln_onnx_optional(n, input);
    return ln_attr_has(&n->emit, name)
               ? ln_emit_scalar(&n->emit, dtype, ln_attr_number(&n->emit, name, 0))
               : NULL;
}

static void translate_clip(ln_onnx_node *n)
{
    const char *const low = bound(n, "min", 1);
    emit_clip(n, low, bound(n, "max", 2));
}

// Classes and conversion

static const char *is_nan(ln_onnx_node *n, const char *src, int i)
{
    return LN_EMIT(&n->emit, i, LN_OP_CLASSIFY, LN_ARG("src", src), LN_BOOL("nan", 1));
}

// The type to convert to.
static tl_dtype read_to(ln_onnx_node *n)
{
    ln_attr_require(&n->emit, "to");
    return ln_attr_dtype(&n->emit, "to", TL_FLOAT);
}

static const char *bit_cast(ln_onnx_node *n, const char *src, tl_dtype dtype, int i)
{
    return LN_EMIT(&n->emit, i, LN_OP_BITCAST, LN_ARG("src", src), LN_DTYPE("dtype", dtype));
}

// Zero-extends elements of `bits` bits in bytes, or if is_signed, sign-extends them.
static const char *sign_bytes(ln_onnx_node *n, const char *bytes, int bits, int is_signed)
{
    const char *const limit =
        ln_emit_scalar(&n->emit, TL_UINT8, is_signed ? 1 << (bits - 1) : (1 << bits) - 1);
    if (!is_signed)
        return ln_emit_binary(&n->emit, "TL_BINARY_AND", bytes, limit, LN_EMIT_TEMP);
    const char *const flipped =
        ln_emit_binary(&n->emit, "TL_BINARY_XOR", bytes, limit, LN_EMIT_TEMP);
    return ln_emit_binary(&n->emit, "TL_BINARY_SUB", flipped, limit, LN_EMIT_TEMP);
}

// Elements of fewer than 8 bits, which have a byte each in memory.
static void bit_cast_small(ln_onnx_node *n, const char *src, tl_dtype from, tl_dtype to)
{
    const int was_signed = ln_raw_dtype(from) == TL_INT8, is_signed = ln_raw_dtype(to) == TL_INT8;
    if (was_signed != is_signed)
        src = sign_bytes(n, bit_cast(n, src, TL_UINT8, LN_EMIT_TEMP), tl_dtype_bits(to), is_signed);
    bit_cast(n, src, to, 0);
}

static void translate_bit_cast(ln_onnx_node *n)
{
    const char *const src = ln_onnx_in(n, 0);
    const tl_dtype from = ln_onnx_tensor_of(n, src)->dtype, to = read_to(n);
    if (tl_dtype_bits(from) != tl_dtype_bits(to))
        ln_emit_fail(&n->emit,
                     "attribute 'to' is %s and input 0 has type %s, expected types with "
                     "equal numbers of bits",
                     tl_dtype_name(to), tl_dtype_name(from));
    else if (tl_dtype_bits(to) < 8)
        bit_cast_small(n, src, from, to);
    else
        bit_cast(n, src, to, 0);
}

// Truncates a float to the upper 16 bits, those of TL_BFLOAT16. NaN stays unchanged: its upper bits
// alone may be infinity.
static const char *upper_half(ln_onnx_node *n, const char *src)
{
    const char *const bits = bit_cast(n, src, TL_UINT32, LN_EMIT_TEMP);
    const char *const mask = ln_emit_scalar(&n->emit, TL_UINT32, 0xffff0000);
    const char *const upper_bits =
        ln_emit_binary(&n->emit, "TL_BINARY_AND", bits, mask, LN_EMIT_TEMP);
    const char *const upper = bit_cast(n, upper_bits, TL_FLOAT, LN_EMIT_TEMP);
    const char *const nan = is_nan(n, src, LN_EMIT_TEMP);
    return ln_emit_where(&n->emit, nan, src, upper, LN_EMIT_TEMP);
}

void ln_onnx_cast(ln_onnx_node *n, const char *src, tl_dtype dtype)
{
    static const ln_attr_word modes[] = {
        {"up", "TL_POWER_UP"}, {"down", "TL_POWER_DOWN"}, {"nearest", "TL_POWER_NEAREST"}, {0}};
    if (!tl_dtype_is_stored(dtype) || !tl_dtype_has_fractions(dtype)) {
        ln_emit_cast(&n->emit, src, dtype, 0);
        return;
    }
    const int saturates = ln_attr_bool(&n->emit, "saturate", 1);
    const char *const mode = ln_attr_choose(&n->emit, "round_mode", "up", modes);
    if (saturates && mode == modes[0].ours)
        ln_emit_cast(&n->emit, src, dtype, 0);
    else
        LN_EMIT(&n->emit, 0, LN_OP_CAST_FLOAT8, LN_ARG("src", src), LN_DTYPE("dtype", dtype),
                LN_BOOL("saturates", saturates), LN_TEXT("rounding", mode));
}

// Casts a string to a number, or back, as output 0; types of 8 bits and less by way of a wider one.
static void cast_string(ln_onnx_node *n, const char *src, tl_dtype from, tl_dtype to)
{
    const tl_dtype number = to == TL_STRING ? from : to;
    const tl_dtype wide = !tl_dtype_is_stored(number)      ? number
                          : tl_dtype_has_fractions(number) ? TL_FLOAT
                                                           : ln_raw_dtype(number);
    if (from != TL_STRING && from != wide)
        src = ln_emit_cast(&n->emit, src, wide, LN_EMIT_TEMP);
    const int narrows = to != TL_STRING && to != wide;
    const char *const result =
        LN_EMIT(&n->emit, narrows ? LN_EMIT_TEMP : 0, LN_OP_STRING_CAST, LN_ARG("src", src),
                LN_DTYPE("dtype", to == TL_STRING ? to : wide));
    if (narrows)
        ln_onnx_cast(n, result, to);
}

// Input 0 as `dtype`. A row with "cut" truncates to TL_BFLOAT16 instead of rounding.
static void emit_cast(ln_onnx_node *n, tl_dtype dtype)
{
    const char *src = ln_onnx_in(n, 0);
    const tl_dtype from = ln_onnx_tensor_of(n, src)->dtype;
    if ((from == TL_STRING) != (dtype == TL_STRING)) {
        cast_string(n, src, from, dtype);
        return;
    }
    const int is_exact = from == TL_BFLOAT16 || tl_size_of(from) == 1;
    if (n->row->with && dtype == TL_BFLOAT16 && !is_exact)
        src = upper_half(n, ln_emit_cast(&n->emit, src, TL_FLOAT, LN_EMIT_TEMP));
    ln_onnx_cast(n, src, dtype);
}

static void translate_cast(ln_onnx_node *n)
{
    emit_cast(n, read_to(n));
}

// Up to opset 5 the type is a name.
static void translate_cast_by_name(ln_onnx_node *n)
{
    enum { FIRST_UNKNOWN = 64 };
    const char *const name = ln_attr_text(&n->emit, "to", "");
    char text[32];
    int type = 0;
    while (type < FIRST_UNKNOWN && !ln_streq(ln_onnx_dtype_name(type, text), name))
        type++;
    if (ln_onnx_dtype(type) == TL_DTYPE_INVALID)
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED,
                        "attribute 'to' is '%s', which LightNet does not support", name);
    emit_cast(n, ln_onnx_failed(n) ? TL_FLOAT : ln_onnx_dtype(type));
}

static void translate_cast_like(ln_onnx_node *n)
{
    emit_cast(n, ln_onnx_tensor_of(n, ln_onnx_in(n, 1))->dtype);
}

const ln_onnx_row ln_onnx_rows_unary[] = {
    {"BitCast", 26, translate_bit_cast},
    {"Cast", 1, translate_cast_by_name, "cut"},
    {"Cast", 6, translate_cast, "cut"},
    {"Cast", 19, translate_cast},
    {"CastLike", 15, translate_cast_like, "cut"},
    {"CastLike", 19, translate_cast_like},
    {"Clip", 1, translate_clip, "TL_UNARY_CLIP"},
    {"Clip", 11, translate_clip, "TL_UNARY_CLIP"},
    {"Erf", 9, translate_in_double},
    {"Shrink", 9, translate_in_double},
    {NULL},
};
