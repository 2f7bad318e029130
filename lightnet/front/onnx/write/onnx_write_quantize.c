// SPDX-License-Identifier: Apache-2.0
// Writing quantized numbers, and types of 8 bits and less: scales, packed constants, views of bits.

#include <string.h>

#include "data/ln_raw.h"
#include "front/onnx/write/ln_onnx_write.h"
#include "ir/ln_context_ops.h"
#include "ir/ln_from_file.h"
#include "lightnet/ln_hash.h"
#include "tensorlight/tl_type.h"

// Scales and zero points

// A per-tensor scale or zero point, of one element, as a scalar.
static const char *as_scale(ln_onnx_op *n, const char *arg, const char *value)
{
    const tl_tensor *const t = ln_onnx_op_tensor(n, arg);
    return value && t->len == 1 && t->ndim ? ln_onnx_put_reshape(n, value, 0, NULL) : value;
}

static const char *scale_of(ln_onnx_op *n, const char *arg)
{
    return as_scale(n, arg, ln_onnx_op_optional(n, arg));
}

// Casts 16-bit floats to float32.
static const char *widen(ln_onnx_op *n, const char *arg, const char *value)
{
    return tl_size_of(ln_onnx_op_tensor(n, arg)->dtype) == 2 ? ln_onnx_put_cast(n, value, TL_FLOAT)
                                                             : value;
}

// Writes a node with these inputs, and with axis and block_size if the scales need them.
static void put_scaled(ln_onnx_op *n, const char *op_type, const char *src, const char *scale,
                       const char *zero)
{
    const int block = ln_op_int(n->op, "block");
    if (block)
        ln_onnx_op_since(n, 21);
    LN_ONNX_PUT_AS(n, "dst", op_type, LN_ONNX_SRC(src), LN_ONNX_SRC(scale), LN_ONNX_SRC(zero),
                   LN_ONLY_IF(ln_onnx_op_tensor(n, "scale")->len != 1 || block,
                              LN_INT("axis", ln_onnx_op_axis(n))),
                   LN_ONLY_IF(block, LN_INT("block_size", block)));
}

// The zero point determines the output type. TL_UINT8, the default, needs none.
static const char *zero_of(ln_onnx_op *n, tl_dtype dtype)
{
    const tl_tensor *const scale = ln_onnx_op_tensor(n, "scale");
    const char *const zero = scale_of(n, "zero");
    if (zero || dtype == TL_UINT8)
        return zero;
    return scale->len == 1 ? ln_onnx_put_scalar(n, dtype, 0)
                           : ln_onnx_put_filled(n, dtype, scale->ndim, scale->dims, 0);
}

// Repeats blocked scales or zero points for each element of the axis.
static const char *expand_blocks(ln_onnx_op *n, const char *arg, const char *value, int block)
{
    const tl_tensor *const src = ln_onnx_op_tensor(n, "src");
    const int axis = ln_op_axis(n->op, src->ndim), len = src->dims[axis];
    if (ln_onnx_op_is_dynamic(n, "src"))
        ln_onnx_op_reject(n, "input '%s' is blocked, expected 'src' without open sizes", arg);
    int *const index = ln_translation_alloc(&n->writer->base, ((size_t)len + 1) * sizeof(*index));
    for (int i = 0; i < len && index; i++)
        index[i] = i / block;
    if (!index)
        return "";
    return LN_ONNX_PUT(n, "Gather", LN_ONNX_SRC(value),
                       LN_ONNX_SRC(ln_onnx_put_ints(n, len, index)), LN_INT("axis", axis));
}

// Reshapes scales or zero points to broadcast to the source: [n] as [n, 1, ...].
static const char *broadcastable(ln_onnx_op *n, const char *arg, const char *value)
{
    const int ndim = ln_onnx_op_tensor(n, "src")->ndim, len = ln_onnx_op_tensor(n, arg)->len;
    const int block = ln_op_int(n->op, "block");
    const int dims[LN_MAXDIM] = {len, 1, 1, 1, 1, 1, 1, 1};
    if (len == 1)
        return value;
    if (block)
        return expand_blocks(n, arg, value, block);
    return ln_onnx_put_reshape(n, value, ndim - ln_op_axis(n->op, ndim), dims);
}

// Types of 8 bits and less

// Integers of fewer than 8 bits, and the types in which LightNet stores their values.
static const struct sub_byte {
    tl_dtype dtype, bytes;
    int bits;
} sub_bytes[] = {
    {TL_INT4, TL_INT8, 4}, {TL_UINT4, TL_UINT8, 4}, {TL_INT2, TL_INT8, 2}, {TL_UINT2, TL_UINT8, 2}};

// Whether an operator of this type produces the input; it becomes `*from`.
static int is_made_by(const ln_onnx_op *n, const char *arg, const char *optype, ln_onnx_op *from)
{
    const char *const tensor = ln_op_input_name(n->op, arg);
    const ln_op *const op = tensor ? ln_context_creater(n->level->ctx, tensor) : NULL;
    if (!ln_op_is_form_of(op, optype))
        return 0;
    *from = *n;
    from->op = op;
    return 1;
}

// Reads data of one byte. 0: another size, or after a failure.
static int read_byte(ln_onnx_op *n, const ln_onnx_data *data, uint8_t *byte)
{
    if (data->size != 1)
        return 0;
    if (data->weight && ln_weight_read(data->weight, 0, byte, 1, n->writer->base.ctx->error))
        n->writer->base.failed = 1;
    if (data->weight)
        return !ln_onnx_op_failed(n);
    *byte = *(const uint8_t *)data->bytes;
    return 1;
}

// Whether an operator unpacks a constant, or its XOR with a constant byte.
static int is_packed(const ln_onnx_op *n, ln_onnx_data *data)
{
    ln_onnx_op at = *n, flip;
    ln_onnx_data bits;
    uint8_t byte;
    if (ln_onnx_op_constant(&at, "src", data))
        return 1;
    if (!is_made_by(n, "src", LN_OP_BINARY, &flip) ||
        !ln_op_has_string(flip.op, "op", "TL_BINARY_XOR") ||
        !ln_onnx_op_constant(&flip, "src1", data) || !ln_onnx_op_constant(&flip, "src2", &bits) ||
        !read_byte(&at, &bits, &byte))
        return 0;
    data->xor_mask = byte;
    return 1;
}

// Adds the constant that `unpack` reads as an initializer of a sub-byte type.
static const char *put_packed(ln_onnx_op *unpack, tl_dtype dtype, const ln_onnx_data *data)
{
    const tl_tensor *const dst = ln_onnx_op_tensor(unpack, "dst");
    ln_onnx_writer *const w = unpack->writer;
    const char *const key = ln_translation_print(&w->base, "%p %d %s", (const void *)unpack->op,
                                                 (int)dtype, unpack->op->op_arg->name);
    const char *const known = key ? ln_hash_find(w->constants, key) : NULL;
    if (known || !key)
        return known;
    const char *const name =
        ln_onnx_put_weight(w, ln_onnx_put_name(unpack, "packed"), ln_onnx_put_dtype(dtype),
                           dst->ndim, dst->dims, data);
    ln_onnx_note_type(w, name, dtype);
    if (!w->base.failed && ln_hash_insert(w->constants, key, (void *)name) < 0)
        ln_translation_fail_memory(&w->base);
    return name;
}

static const struct sub_byte *find_sub_byte(const ln_onnx_op *unpack)
{
    const int bits = ln_op_int(unpack->op, "bits");
    const struct sub_byte *f = sub_bytes;
    while (f < sub_bytes + 3 &&
           (f->bits != bits || f->bytes != ln_onnx_op_tensor(unpack, "dst")->dtype))
        f++;
    return f;
}

// The input of a type of 8 bits or less that its producer unpacks or converts to bytes or floats;
// NULL: none.
static const char *small_value(ln_onnx_op *n, const char *arg, tl_dtype *dtype)
{
    ln_onnx_op made;
    ln_onnx_data data;
    if (is_made_by(n, arg, LN_OP_UNPACK_BITS, &made)) {
        *dtype = find_sub_byte(&made)->dtype;
        return is_packed(&made, &data) ? put_packed(&made, *dtype, &data) : NULL;
    }
    if (!is_made_by(n, arg, LN_OP_BITCAST, &made) && !is_made_by(n, arg, LN_OP_CAST, &made))
        return NULL;
    *dtype = ln_onnx_op_tensor(&made, "src")->dtype;
    const tl_dtype as = tl_dtype_has_fractions(*dtype) ? TL_FLOAT : ln_raw_dtype(*dtype);
    if (!tl_dtype_is_stored(*dtype) || *dtype == TL_FLOAT8E8M0 ||
        ln_onnx_op_tensor(&made, "dst")->dtype != as)
        return NULL;
    return ln_onnx_op_in(&made, "src");
}

// Operators

// QuantizeLinear rounds, so a result of TL_FLOAT is a quotient.
static void write_quotient(ln_onnx_op *n)
{
    const char *const src = widen(n, "src", ln_onnx_op_in(n, "src"));
    const char *const scale = broadcastable(n, "scale", widen(n, "scale", scale_of(n, "scale")));
    const char *const zero = scale_of(n, "zero"), *dst = ln_onnx_put_pair(n, "Div", src, scale);
    if (zero)
        dst = ln_onnx_put_pair(n, "Add", dst, broadcastable(n, "zero", zero));
    ln_onnx_op_ends_with(n, "dst", dst);
}

static void write_quantize(ln_onnx_op *n)
{
    const tl_dtype dtype = ln_onnx_op_tensor(n, "dst")->dtype;
    if (dtype == TL_FLOAT) {
        write_quotient(n);
        return;
    }
    const char *const src = widen(n, "src", ln_onnx_op_in(n, "src"));
    const char *const scale = widen(n, "scale", scale_of(n, "scale"));
    const char *const zero = zero_of(n, dtype);
    if (tl_size_of(dtype) == 2)
        ln_onnx_op_since(n, 21);
    put_scaled(n, "QuantizeLinear", src, scale, zero);
}

// DequantizeLinear does not support floats.
static void write_scaled(ln_onnx_op *n)
{
    const tl_dtype dtype = ln_onnx_op_tensor(n, "dst")->dtype;
    const char *const scale = broadcastable(n, "scale", widen(n, "scale", scale_of(n, "scale")));
    const char *const zero = scale_of(n, "zero"), *dst = ln_onnx_op_in(n, "src");
    if (zero)
        dst = ln_onnx_put_pair(n, "Sub", dst, broadcastable(n, "zero", zero));
    dst = ln_onnx_put_pair(n, "Mul", dst, scale);
    ln_onnx_op_ends_with(n, "dst", dtype == TL_FLOAT ? dst : ln_onnx_put_cast(n, dst, dtype));
}

static void put_dequantize(ln_onnx_op *n, const char *src, const char *zero)
{
    const char *const scale = scale_of(n, "scale");
    if (tl_size_of(ln_onnx_op_tensor(n, "src")->dtype) == 2)
        ln_onnx_op_since(n, 21);
    if (tl_size_of(ln_onnx_op_tensor(n, "scale")->dtype) == 2)
        ln_onnx_op_since(n, 19);
    put_scaled(n, "DequantizeLinear", src, scale, zero);
}

// Writes types of 8 bits and less directly if the source and the zero points have the same one.
static void write_dequantize(ln_onnx_op *n)
{
    const tl_tensor *const src = ln_onnx_op_tensor(n, "src");
    const int has_zero = ln_op_input_name(n->op, "zero") != NULL;
    tl_dtype dtype, zero_dtype;
    const char *const small = small_value(n, "src", &dtype);
    const char *const small_zero = small && has_zero ? small_value(n, "zero", &zero_dtype) : NULL;
    if (small && (!has_zero || (small_zero && zero_dtype == dtype))) {
        put_dequantize(n, small, as_scale(n, "zero", small_zero));
        return;
    }
    if (src->dtype == TL_FLOAT) {
        write_scaled(n);
        return;
    }
    const char *value = ln_onnx_op_in(n, "src"), *zero = scale_of(n, "zero");
    if (zero && src->dtype == TL_INT32) {
        // DequantizeLinear has no int32 zero point: subtract it first.
        value = ln_onnx_put_pair(n, "Sub", value, broadcastable(n, "zero", zero));
        zero = NULL;
    }
    put_dequantize(n, value, zero);
}

// Ignores the quantized output: LightNet has another operator for it.
static void write_quantize_range(ln_onnx_op *n)
{
    const char *const src = ln_onnx_op_in(n, "src");
    const char *const outs[] = {ln_onnx_put_name(n, "DynamicQuantizeLinear"),
                                ln_onnx_op_out(n, "scale"), ln_onnx_op_out(n, "zero")};
    LN_ONNX_PUT_OUTS(n, 3, outs, "DynamicQuantizeLinear", LN_ONNX_SRC(src));
}

// Unpacks bytes that are not constant, by shifts and masks.
static const char *put_unpacked(ln_onnx_op *n, const struct sub_byte *f, int bits)
{
    static const int flat[] = {-1, 1}, all[] = {-1};
    const tl_tensor *const dst = ln_onnx_op_tensor(n, "dst");
    const int per_byte = 8 / bits, sign = 1 << (bits - 1);
    uint8_t shifts[4];
    for (int i = 0; i < per_byte; i++)
        shifts[i] = (uint8_t)(i * bits);
    ln_onnx_op_since(n, 18);
    const char *v = ln_onnx_put_reshape(n, ln_onnx_op_in(n, "src"), 2, flat);
    v = LN_ONNX_PUT(n, "BitShift", LN_ONNX_SRC(v),
                    LN_ONNX_SRC(ln_onnx_put_constant(n, TL_UINT8, 1, &per_byte, shifts)),
                    LN_TEXT("direction", "RIGHT"));
    v = ln_onnx_put_pair(n, "BitwiseAnd", v, ln_onnx_put_scalar(n, TL_UINT8, (1 << bits) - 1));
    if (dst->len % per_byte) {
        v = ln_onnx_put_reshape(n, v, 1, all);
        v = ln_onnx_put_slice(n, v, 0, 0, dst->len);
    }
    if (f->bytes == TL_INT8) {
        v = ln_onnx_put_pair(n, "BitwiseXor", v, ln_onnx_put_scalar(n, TL_UINT8, sign));
        v = ln_onnx_put_pair(n, "Sub", ln_onnx_put_cast(n, v, TL_INT8),
                             ln_onnx_put_scalar(n, TL_INT8, sign));
    }
    return ln_onnx_put_reshape(n, v, dst->ndim, dst->dims);
}

// A packed constant is an initializer of a type of 2 or 4 bits.
static void write_unpack_bits(ln_onnx_op *n)
{
    const struct sub_byte *const f = find_sub_byte(n);
    ln_onnx_data data;
    const char *const value = is_packed(n, &data)
                                  ? ln_onnx_put_cast(n, put_packed(n, f->dtype, &data), f->bytes)
                                  : put_unpacked(n, f, ln_op_int(n->op, "bits"));
    ln_onnx_op_ends_with(n, "dst", value);
}

static const char *put_bits(ln_onnx_op *n, const char *value, tl_dtype dtype)
{
    ln_onnx_op_since(n, 26);
    const char *const v = LN_ONNX_PUT(n, "BitCast", LN_ONNX_SRC(value), LN_DTYPE("to", dtype));
    ln_onnx_note_type(n->writer, v, dtype);
    return v;
}

// Whether LightNet stores an element of fewer than 8 bits in a byte.
static int is_sub_byte(tl_dtype dtype)
{
    return tl_dtype_bits(dtype) < 8;
}

// Binds the output to the constant; an output of the model needs a node with its name.
static void put_alias(ln_onnx_op *n, const char *arg, const char *constant)
{
    const char *const tensor = ln_op_output_name(n->op, arg);
    if (!constant || !tensor || ln_context_is_output(n->level->ctx, tensor))
        ln_onnx_op_ends_with(n, arg, constant);
    else
        ln_onnx_level_set(n->writer, n->level, tensor, constant);
}

// Reinterprets bytes. ONNX has no byte for an element of fewer bits: integers are cast by value,
// floats by their bits, as TL_UINT4.
static void write_bitcast(ln_onnx_op *n)
{
    const tl_dtype from = ln_onnx_op_tensor(n, "src")->dtype;
    const tl_dtype to = ln_onnx_op_tensor(n, "dst")->dtype;
    const tl_dtype from_bytes = is_sub_byte(from) ? ln_raw_dtype(from) : from;
    const tl_dtype to_bytes = is_sub_byte(to) ? ln_raw_dtype(to) : to;
    ln_onnx_op unpack;
    ln_onnx_data data;
    if (is_sub_byte(to) && is_made_by(n, "src", LN_OP_UNPACK_BITS, &unpack) &&
        is_packed(&unpack, &data)) {
        put_alias(n, "dst", put_packed(&unpack, to, &data));
        return;
    }
    const char *v = ln_onnx_op_in(n, "src");
    if (is_sub_byte(from) && tl_dtype_has_fractions(from))
        v = put_bits(n, v, TL_UINT4);
    if (is_sub_byte(from))
        v = ln_onnx_put_cast(n, v, from_bytes);
    if (from_bytes != to_bytes)
        v = put_bits(n, v, to_bytes);
    if (is_sub_byte(to) && tl_dtype_has_fractions(to))
        v = put_bits(n, ln_onnx_put_cast(n, v, TL_UINT4), to);
    else if (is_sub_byte(to))
        v = ln_onnx_put_cast(n, v, to);
    ln_onnx_op_ends_with(n, "dst", v);
}

static void write_cast_float8(ln_onnx_op *n)
{
    const tl_dtype to = ln_onnx_op_tensor(n, "dst")->dtype;
    const char *const mode = ln_op_has_string(n->op, "rounding", "TL_POWER_UP")     ? "up"
                             : ln_op_has_string(n->op, "rounding", "TL_POWER_DOWN") ? "down"
                                                                                    : "nearest";
    LN_ONNX_PUT_AS(n, "dst", "Cast", LN_ONNX_IN(n, "src"), LN_DTYPE("to", to),
                   LN_INT("saturate", !ln_op_has_bool(n->op, "saturates", LN_FALSE)),
                   LN_ONLY_IF(to == TL_FLOAT8E8M0, LN_TEXT("round_mode", mode)));
}

const ln_onnx_op_row ln_onnx_write_rows_quantize[] = {
    {LN_OP_QUANTIZE, write_quantize},
    {LN_OP_DEQUANTIZE, write_dequantize},
    {LN_OP_QUANTIZE_RANGE, write_quantize_range},
    {LN_OP_UNPACK_BITS, write_unpack_bits},
    {LN_OP_BITCAST, write_bitcast},
    {LN_OP_CAST_FLOAT8, write_cast_float8},
    {NULL},
};
