// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft whose constants are integers of few bits, scaled in blocks.

#include <limits.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

// Integers of few bits

const char *ln_onnx_unpack_bits(ln_onnx_node *n, int bits, const char *bytes, tl_dtype dtype,
                                int rows, int cols)
{
    const int per_byte = 8 / bits, padded = (cols + per_byte - 1) / per_byte * per_byte;
    const int dims[] = {rows, padded};
    if (bits == 8)
        return dtype == TL_INT8
                   ? ln_emit_reshape(&n->emit,
                                     LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_BITCAST,
                                             LN_ARG("src", bytes), LN_DTYPE("dtype", TL_INT8)),
                                     2, dims, LN_EMIT_TEMP)
                   : ln_emit_reshape(&n->emit, bytes, 2, dims, LN_EMIT_TEMP);
    const char *const all =
        LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_UNPACK_BITS, LN_ARG("src", bytes),
                LN_DTYPE("dtype", dtype), LN_INTS("dims", 2, dims), LN_INT("bits", bits));
    if (padded == cols)
        return all;
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_SLICE, LN_ARG("src", all), LN_INT("axis", 1),
                   LN_INT("start", 0), LN_INT("len", cols));
}

// With their highest bits flipped, the elements are numbers with sign around 0.
const char *ln_onnx_unpack_around_half(ln_onnx_node *n, int bits, const char *bytes, int rows,
                                       int cols)
{
    const int highest = bits == 8 ? 0x80 : bits == 4 ? 0x88 : 0xaa;
    const char *const signs = ln_emit_scalar(&n->emit, TL_UINT8, highest);
    const char *const flipped =
        ln_emit_binary(&n->emit, "TL_BINARY_XOR", bytes, signs, LN_EMIT_TEMP);
    return ln_onnx_unpack_bits(n, bits, flipped, TL_INT8, rows, cols);
}

int ln_onnx_bits(ln_onnx_node *n, const char *name)
{
    const int bits = ln_attr_int_in(&n->emit, name, 4, 1, INT_MAX);
    if (bits != 2 && bits != 4 && bits != 8)
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED, "'%s' is %d, expected 2, 4 or 8", name, bits);
    return bits;
}

// MatMulNBits: A x transposed weights of few bits + bias

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

// Columns share scales in `blocks` groups: blocks of `block` columns, or as input `GROUPS` assigns
// them.
typedef struct few_bits {
    int k, n, bits, block, blocks; // columns of A, rows of B
    int rounds;                    // A may be rounded to 8 bits
    const char *order;             // [k]: the columns in an order that makes groups blocks, or NULL
    const char *groups;            // [k]: the group of each column, where no order does, or NULL
} few_bits;

// The levels are numbers: of float32, float16, bfloat16 and 8-bit integers, or 0 for that of A.
enum { LEVEL_INT8 = 4 };

static few_bits read_few_bits(ln_onnx_node *n)
{
    few_bits f = {.k = ln_attr_int_in(&n->emit, "K", 0, 1, INT_MAX / 4),
                  .n = ln_attr_int_in(&n->emit, "N", 0, 1, INT_MAX),
                  .bits = ln_onnx_bits(n, "bits"),
                  .block = ln_attr_int_in(&n->emit, "block_size", 0, 1, INT_MAX / 4),
                  .rounds =
                      ln_attr_int_in(&n->emit, "accuracy_level", 0, 0, LEVEL_INT8) == LEVEL_INT8};
    if (f.block % 16 != 0)
        ln_emit_fail(&n->emit, "'block_size' is %d, expected a multiple of 16", f.block);
    f.blocks = (f.k + f.block - 1) / f.block;
    return f;
}

// Sorts the columns by their groups; `ends`: a 0 for each group. Whether these then are blocks. A
// shorter last block is filled behind its columns, so then they must be in order.
static int sort_columns(const few_bits *f, const int *groups, int *ends, int64_t *order,
                        int *is_sorted)
{
    *is_sorted = 1;
    for (int i = 0; i < f->k; i++) {
        const int group = groups[i], at = group * f->block + ends[group]++;
        if (ends[group] > f->block || at >= f->k)
            return 0;
        order[at] = i;
        *is_sorted = *is_sorted && at == i;
    }
    return *is_sorted || f->k % f->block == 0;
}

// Sets the order of the columns, none if they are in order, or their groups.
static void group_columns(ln_onnx_node *n, few_bits *f, const int *groups)
{
    ln_translation *const t = n->emit.translation;
    int64_t *const order = ln_translation_alloc(t, (size_t)f->k * sizeof(int64_t));
    int *const ends = ln_translation_alloc(t, (size_t)f->blocks * sizeof(int)), is_sorted;
    if (!order || !ends)
        return;
    for (int i = 0; i < f->k; i++)
        if (groups[i] < 0 || groups[i] >= f->blocks) {
            ln_emit_fail(&n->emit, "element %d of input %d, 'g_idx', is %d, expected 0 .. %d", i,
                         GROUPS, groups[i], f->blocks - 1);
            return;
        }
    if (!sort_columns(f, groups, ends, order, &is_sorted))
        f->groups = ln_emit_constant(&n->emit, TL_INT32, 1, &f->k, groups);
    else if (!is_sorted)
        f->order = ln_emit_int64s(&n->emit, f->k, order);
}

// Reads input `GROUPS`: [k], or with elements for the padding of the last block.
static void read_groups(ln_onnx_node *n, few_bits *f)
{
    const char *const groups = ln_onnx_optional(n, GROUPS);
    const tl_tensor *const t = ln_onnx_tensor_of(n, groups);
    const int padded = f->blocks * f->block;
    char text[TL_SHAPE_TEXT_SIZE];
    if (!groups || ln_onnx_failed(n))
        return;
    if (t->dtype != TL_INT32)
        ln_emit_fail(&n->emit, "input %d, 'g_idx', has type %s, expected TL_INT32", GROUPS,
                     tl_dtype_name(t->dtype));
    else if (t->ndim != 1 || (t->len != f->k && t->len != padded))
        ln_emit_fail(&n->emit, "input %d, 'g_idx', has shape %s, expected [%d] or [%d]", GROUPS,
                     tl_shape_text(text, t->ndim, t->dims), f->k, padded);
    if (ln_onnx_failed(n))
        return;
    const tl_tensor *const value = ln_onnx_value(n, groups);
    if (value)
        group_columns(n, f, value->data);
    else
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED,
                        "input %d, 'g_idx', is known only at run time, expected a constant",
                        GROUPS);
}

// The columns that share a scale, and the columns of the weights.
static int scale_block(const few_bits *f)
{
    return f->groups ? 1 : f->block;
}

static int columns(const few_bits *f)
{
    return f->groups ? f->k : f->blocks * f->block;
}

static const char *take(ln_onnx_node *n, const char *src, const char *index, int axis)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_TAKE, LN_ARG("src", src), LN_ARG("index", index),
                   LN_INT("axis", axis));
}

// The source with the columns of the weights: in their order, and with zeros in those that only the
// last block of weights has.
static const char *aligned_source(ln_onnx_node *n, const few_bits *f)
{
    const char *const src = ln_onnx_in(n, A);
    const int ndim = ln_onnx_tensor_of(n, src)->ndim, more = columns(f) - f->k;
    int before[TL_MAXDIM] = {0}, after[TL_MAXDIM] = {0};
    if ((more == 0 && !f->order) || ln_onnx_failed(n))
        return src;
    if (ndim < 1 || ln_onnx_tensor_of(n, src)->dims[ndim - 1] != f->k) {
        ln_emit_fail(&n->emit, "input %d has a last axis of length %d, expected 'K', %d", A,
                     ndim ? ln_onnx_tensor_of(n, src)->dims[ndim - 1] : 1, f->k);
        return src;
    }
    if (f->order)
        return take(n, src, f->order, ndim - 1);
    after[ndim - 1] = more;
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_PAD, LN_ARG("src", src),
                   LN_INTS("before", ndim, before), LN_INTS("after", ndim, after));
}

// The source, rounded to 8 bits in the blocks of the weights, at most 128 elements, where the level
// of accuracy permits that: products of bytes are faster.
static const char *rounded_source(ln_onnx_node *n, const few_bits *f)
{
    enum { MAX_BLOCK = 128 };
    const char *const src = aligned_source(n, f);
    const int block = f->block % MAX_BLOCK == 0 ? MAX_BLOCK : f->block;
    if (ln_onnx_failed(n) || !f->rounds || f->groups ||
        ln_onnx_tensor_of(n, src)->dtype != TL_FLOAT)
        return src;
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_ROUND_BLOCKS, LN_ARG("src", src),
                   LN_INT("block", block));
}

// The elements of the weights [n, columns], of TL_INT8 around half of their range.
static const char *weight_elements(ln_onnx_node *n, const few_bits *f, tl_dtype dtype)
{
    const char *const bytes = ln_onnx_in(n, B);
    const int cols = f->blocks * f->block;
    const char *const all = dtype == TL_INT8
                                ? ln_onnx_unpack_around_half(n, f->bits, bytes, f->n, cols)
                                : ln_onnx_unpack_bits(n, f->bits, bytes, dtype, f->n, cols);
    if (f->order)
        return take(n, all, f->order, 1);
    return columns(f) < cols ? ln_onnx_slice(n, all, 1, 0, f->k) : all;
}

// Scales or zero points [n, blocks]; those of each column if no order makes groups blocks.
static const char *of_blocks(ln_onnx_node *n, const few_bits *f, const char *each)
{
    return f->groups ? take(n, each, f->groups, 1) : each;
}

static const char *dequantize(ln_onnx_node *n, const few_bits *f, const char *src,
                              const char *scales, const char *zeros)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_DEQUANTIZE, LN_ARG("src", src),
                   LN_ARG("scale", scales), LN_ARG("zero", zeros), LN_INT("axis", 1),
                   LN_INT("block", scale_block(f)));
}

// Weights whose zero points are floats: element * scale - zero * scale.
static const char *with_float_zeros(ln_onnx_node *n, const few_bits *f, const char *scales)
{
    const int block = scale_block(f), blocks = columns(f) / block;
    const int by_block[] = {f->n, blocks, block}, of_block[] = {f->n, blocks, 1};
    const int flat[] = {f->n, columns(f)}, each[] = {f->n, f->blocks};
    const tl_dtype dtype = ln_onnx_tensor_of(n, scales)->dtype;
    const char *const floats = dequantize(n, f, weight_elements(n, f, TL_UINT8), scales, NULL);
    const char *zeros = ln_emit_cast(&n->emit, ln_onnx_in(n, ZEROS), dtype, LN_EMIT_TEMP);
    zeros = of_blocks(n, f, ln_emit_reshape(&n->emit, zeros, 2, each, LN_EMIT_TEMP));
    zeros = ln_emit_binary(&n->emit, "TL_BINARY_MUL", zeros, scales, LN_EMIT_TEMP);
    const char *const less = ln_emit_binary(
        &n->emit, "TL_BINARY_SUB", ln_emit_reshape(&n->emit, floats, 3, by_block, LN_EMIT_TEMP),
        ln_emit_reshape(&n->emit, zeros, 3, of_block, LN_EMIT_TEMP), LN_EMIT_TEMP);
    return ln_emit_reshape(&n->emit, less, 2, flat, LN_EMIT_TEMP);
}

// The weights as floats [n, columns]. Without zero points these are half of the range.
static const char *float_weights(ln_onnx_node *n, const few_bits *f)
{
    const char *const zeros = ln_onnx_optional(n, ZEROS);
    const int each[] = {f->n, f->blocks};
    const char *const scales =
        of_blocks(n, f, ln_emit_reshape(&n->emit, ln_onnx_in(n, SCALES), 2, each, LN_EMIT_TEMP));
    if (!zeros)
        return dequantize(n, f, weight_elements(n, f, TL_INT8), scales, NULL);
    const tl_dtype dtype = ln_onnx_tensor_of(n, zeros)->dtype;
    if (tl_dtype_is_float(dtype) && !ln_onnx_failed(n))
        return with_float_zeros(n, f, scales);
    if (dtype != TL_UINT8 && !ln_onnx_failed(n))
        ln_emit_fail(&n->emit, "input %d, 'zero_points', has type %s, expected TL_UINT8 or floats",
                     ZEROS, tl_dtype_name(dtype));
    return dequantize(
        n, f, weight_elements(n, f, TL_UINT8), scales,
        of_blocks(n, f, ln_onnx_unpack_bits(n, f->bits, zeros, TL_UINT8, f->n, f->blocks)));
}

static void translate_matmul_nbits(ln_onnx_node *n)
{
    few_bits f = read_few_bits(n);
    read_groups(n, &f);
    if (ln_onnx_failed(n))
        return;
    const char *const src = rounded_source(n, &f), *const bias = ln_onnx_optional(n, BIAS);
    const int is_vector = ln_onnx_tensor_of(n, src)->ndim == 1;
    const char *const dst =
        LN_EMIT(&n->emit, is_vector ? LN_EMIT_TEMP : 0, LN_OP_MATMUL,
                LN_ARG("src1", ln_onnx_as_matrix(n, src, 0)), LN_ARG("src2", float_weights(n, &f)),
                LN_ARG("bias", bias), LN_BOOL("trans2", 1));
    if (is_vector)
        ln_emit_reshape(&n->emit, dst, 1, &f.n, 0);
}

// GatherBlockQuantized

enum { DATA, INDICES, G_SCALES, G_ZEROS };

typedef struct gathered {
    int bits, block, gather_axis, quantize_axis;
    int is_packed; // the data are bytes, of one element or several
} gathered;

static gathered read_gathered(ln_onnx_node *n)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, ln_onnx_in(n, DATA));
    gathered g = {.bits = ln_onnx_bits(n, "bits"), .is_packed = t->dtype == TL_UINT8};
    g.block = ln_attr_int_in(&n->emit, "block_size", 128, 16, INT_MAX / 2);
    g.gather_axis = ln_attr_axis(&n->emit, "gather_axis", 0, t->ndim);
    g.quantize_axis = ln_attr_axis(&n->emit, "quantize_axis", 1, t->ndim);
    if ((g.block & (g.block - 1)) != 0)
        ln_emit_fail(&n->emit, "'block_size' is %d, expected a power of 2", g.block);
    if (g.is_packed && g.bits < 8 && g.gather_axis == t->ndim - 1)
        ln_emit_fail(&n->emit, "'gather_axis' is %d, the axis of packed elements, expected another",
                     g.gather_axis);
    if (g.gather_axis == g.quantize_axis)
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED,
                        "'gather_axis' and 'quantize_axis' are both %d, expected different axes",
                        g.gather_axis);
    return g;
}

static const char *gather(ln_onnx_node *n, const gathered *g, const char *src)
{
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, LN_OP_TAKE, LN_ARG("src", src),
                   LN_ARG("index", ln_onnx_in(n, INDICES)), LN_INT("axis", g->gather_axis));
}

// Packed elements along the last axis of bytes, of which `cols` are used; those around half of
// their range with sign.
static const char *unpack_last(ln_onnx_node *n, const gathered *g, const char *bytes, int cols,
                               int is_around_half)
{
    const tl_tensor *const t = ln_onnx_tensor_of(n, bytes);
    int dims[TL_MAXDIM];
    const int ndim = t->ndim;
    for (int i = 0; i < ndim; i++)
        dims[i] = t->dims[i];
    const int per_row = ndim ? dims[ndim - 1] : 0, rows = per_row ? t->len / per_row : 0;
    if (ln_onnx_failed(n))
        return bytes;
    if (ndim < 1 || per_row != (cols + 8 / g->bits - 1) / (8 / g->bits)) {
        ln_emit_fail(&n->emit, "%d bytes for %d elements of %d bits, expected another number",
                     per_row, cols, g->bits);
        return bytes;
    }
    dims[ndim - 1] = cols;
    const char *const flat = is_around_half
                                 ? ln_onnx_unpack_around_half(n, g->bits, bytes, rows, cols)
                                 : ln_onnx_unpack_bits(n, g->bits, bytes, TL_UINT8, rows, cols);
    return ln_emit_reshape(&n->emit, flat, ndim, dims, LN_EMIT_TEMP);
}

// The node fails unless gathered data and scales have as many dimensions, and rows of a length
// that can be unpacked.
static void want_block_dims(ln_onnx_node *n, const gathered *g, const char *data,
                            const char *scales)
{
    const tl_tensor *const d = ln_onnx_tensor_of(n, data), *const s = ln_onnx_tensor_of(n, scales);
    if (d->ndim != s->ndim)
        ln_emit_fail(&n->emit, "input %d, 'scales', has %d dimensions, expected %d", G_SCALES,
                     ln_onnx_tensor_of(n, ln_onnx_in(n, G_SCALES))->ndim,
                     ln_onnx_tensor_of(n, ln_onnx_in(n, 0))->ndim);
    else if (g->is_packed && d->ndim > 0 && d->dims[d->ndim - 1] > INT_MAX / 8)
        ln_emit_fail(&n->emit, "input %d has rows of %d bytes, expected at most %d", DATA,
                     d->dims[d->ndim - 1], INT_MAX / 8);
}

// Elements, scales and zero points of the indices, then the floats. Zero points of packed elements
// are half of their range unless they are given.
static void translate_gather_block_quantized(ln_onnx_node *n)
{
    const gathered g = read_gathered(n);
    if (ln_onnx_failed(n))
        return;
    const int index_ndim = ln_onnx_tensor_of(n, ln_onnx_in(n, INDICES))->ndim;
    const char *const scales = gather(n, &g, ln_onnx_in(n, G_SCALES));
    const char *data = gather(n, &g, ln_onnx_bytes_of(n, ln_onnx_in(n, DATA)));
    const char *zeros = ln_onnx_bytes_of(n, ln_onnx_optional(n, G_ZEROS));
    const int has_zeros = zeros != NULL;
    if (zeros)
        zeros = gather(n, &g, zeros);
    ln_onnx_want_fixed(n, scales);
    want_block_dims(n, &g, data, scales);
    if (ln_onnx_failed(n))
        return;
    const tl_tensor *const d = ln_onnx_tensor_of(n, data), *const s = ln_onnx_tensor_of(n, scales);
    if (g.is_packed) {
        const int cols = d->dims[d->ndim - 1] * (8 / g.bits);
        data = unpack_last(n, &g, data, cols, !has_zeros);
        if (has_zeros)
            zeros = unpack_last(n, &g, zeros, s->dims[s->ndim - 1], 0);
    }
    const int axis =
        g.quantize_axis > g.gather_axis ? g.quantize_axis + index_ndim - 1 : g.quantize_axis;
    LN_EMIT(&n->emit, 0, LN_OP_DEQUANTIZE, LN_ARG("src", data), LN_ARG("scale", scales),
            LN_ARG("zero", zeros), LN_INT("axis", axis), LN_INT("block", g.block));
}

const ln_onnx_row ln_onnx_rows_contrib_nbits[] = {
    {"GatherBlockQuantized", 1, translate_gather_block_quantized},
    {"MatMulNBits", 1, translate_matmul_nbits},
    {NULL},
};
