// SPDX-License-Identifier: Apache-2.0
// ONNX operators of linear algebra: products of matrices, determinants; and MatMulNBits of the
// domain com.microsoft, which ONNX Runtime's tools write.

#include <limits.h>

#include "front/onnx/ln_onnx.h"
#include "front/onnx/ln_onnx_steps.h"

/** A product of the operators `optype`, with zero points where they are given. */
static void emit_product(ln_onnx_node *n, const char *optype, const char *zero1, const char *zero2)
{
    const ln_onnx_operands m = ln_onnx_operands_of(n, 0, 1);
    const char *const dst =
        LN_EMIT(&n->emit, ln_onnx_product_output(&m), optype, LN_ARG("src1", m.rows),
                LN_ARG("src2", m.cols), LN_ARG("zero1", zero1), LN_ARG("zero2", zero2));
    ln_onnx_drop_axes(n, dst, &m);
}

static void translate_matmul(ln_onnx_node *n)
{
    emit_product(n, "matmul", NULL, NULL);
}

/** The zero point of the first operand, when a vector, has an element for each row. */
static void translate_matmul_integer(ln_onnx_node *n)
{
    const char *zero1 = ln_onnx_optional(n, 2);
    const char *const zero2 = ln_onnx_zero_point(n, 3, ln_onnx_in(n, 1), 1);
    if (zero1 && ln_onnx_tensor_of(n, zero1)->len != 1)
        zero1 = ln_onnx_as_matrix(n, zero1, 1);
    emit_product(n, "matmul_int", zero1, zero2);
}

static void translate_gemm(ln_onnx_node *n)
{
    const double beta = ln_onnx_float(n, "beta", 1);
    LN_EMIT(&n->emit, 0, "matmul", LN_ARG("src1", ln_onnx_in(n, 0)),
            LN_ARG("src2", ln_onnx_in(n, 1)),
            LN_ARG("bias", beta != 0 ? ln_onnx_optional(n, 2) : NULL),
            LN_BOOL("trans1", ln_onnx_flag(n, "transA", 0)),
            LN_BOOL("trans2", ln_onnx_flag(n, "transB", 0)),
            LN_NUMBER("alpha", ln_onnx_float(n, "alpha", 1)), LN_NUMBER("beta", beta));
}

static void translate_det(ln_onnx_node *n)
{
    ln_emit_simple(&n->emit, "det", ln_onnx_in(n, 0), 0);
}

const ln_onnx_row ln_onnx_rows_matmul[] = {
    {"Det", 11, translate_det},
    {"Gemm", 1, translate_gemm},
    {"MatMul", 1, translate_matmul},
    {"MatMulInteger", 10, translate_matmul_integer},
    {NULL},
};

/* ---- MatMulNBits: A x transposed weights of few bits + bias ---- */

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

typedef struct few_bits {
    int k, n, bits, block, blocks; /* columns of A, rows of B; `blocks` of `block` columns */
} few_bits;

static few_bits read_few_bits(ln_onnx_node *n)
{
    few_bits f = {.k = ln_attr_int_in(&n->emit, "K", 0, 1, INT_MAX),
                  .n = ln_attr_int_in(&n->emit, "N", 0, 1, INT_MAX),
                  .bits = ln_attr_int_in(&n->emit, "bits", 4, 1, INT_MAX),
                  .block = ln_attr_int_in(&n->emit, "block_size", 0, 1, INT_MAX)};
    if (f.bits != 2 && f.bits != 4)
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED, "'bits' is %d, expected 2 or 4", f.bits);
    if (f.block % 16 != 0)
        ln_emit_fail(&n->emit, "'block_size' is %d, expected a multiple of 16", f.block);
    if (f.k % f.block != 0)
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED,
                        "'K' is %d, expected a multiple of 'block_size', %d", f.k, f.block);
    if (ln_onnx_has_input(n, GROUPS))
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED, "input %d, 'g_idx', is not supported", GROUPS);
    f.blocks = f.k / f.block;
    return f;
}

/** Elements of few bits, [rows, cols]; each row begins with a byte of its own. */
static const char *unpack(ln_onnx_node *n, const few_bits *f, const char *bytes, tl_dtype dtype,
                          int rows, int cols)
{
    const int per_byte = 8 / f->bits, padded = (cols + per_byte - 1) / per_byte * per_byte;
    const char *const all = LN_EMIT(
        &n->emit, LN_EMIT_TEMP, "unpack_bits", LN_ARG("src", bytes), LN_DTYPE("dtype", dtype),
        LN_INTS("dims", 2, (int[]){rows, padded}), LN_INT("bits", f->bits));
    if (padded == cols)
        return all;
    return LN_EMIT(&n->emit, LN_EMIT_TEMP, "slice", LN_ARG("src", all), LN_INT("axis", 1),
                   LN_INT("start", 0), LN_INT("len", cols));
}

/** The weights [n, k]. Without zero points these are half of the range: with their highest bits
 *  flipped, elements are numbers with sign around 0. */
static const char *unpack_weights(ln_onnx_node *n, const few_bits *f, int has_zeros)
{
    const char *bytes = ln_onnx_in(n, B);
    if (!has_zeros) {
        const char *const signs = ln_emit_scalar(&n->emit, TL_UINT8, f->bits == 4 ? 0x88 : 0xaa);
        bytes = ln_emit_binary(&n->emit, "TL_BINARY_XOR", bytes, signs, LN_EMIT_TEMP);
    }
    return unpack(n, f, bytes, has_zeros ? TL_UINT8 : TL_INT8, f->n, f->k);
}

static void translate_matmul_nbits(ln_onnx_node *n)
{
    const few_bits f = read_few_bits(n);
    const int has_zeros = ln_onnx_has_input(n, ZEROS);
    if (ln_onnx_failed(n))
        return;
    const char *const src = ln_onnx_in(n, A), *const bias = ln_onnx_optional(n, BIAS);
    const char *const weights = unpack_weights(n, &f, has_zeros);
    const char *zeros = ln_onnx_optional(n, ZEROS);
    if (zeros && !ln_onnx_failed(n) && ln_onnx_tensor_of(n, zeros)->dtype != TL_UINT8)
        ln_emit_fail_as(&n->emit, LN_UNSUPPORTED,
                        "input %d, 'zero_points', has type %s, expected TL_UINT8", ZEROS,
                        tl_dtype_name(ln_onnx_tensor_of(n, zeros)->dtype));
    if (zeros)
        zeros = unpack(n, &f, zeros, TL_UINT8, f.n, f.blocks);
    const char *const scales =
        ln_emit_reshape(&n->emit, ln_onnx_in(n, SCALES), 2, (int[]){f.n, f.blocks}, LN_EMIT_TEMP);
    const char *const floats = LN_EMIT(&n->emit, LN_EMIT_TEMP, "dequantize", LN_ARG("src", weights),
                                       LN_ARG("scale", scales), LN_ARG("zero", zeros),
                                       LN_INT("axis", 1), LN_INT("block", f.block));
    LN_EMIT(&n->emit, 0, "matmul", LN_ARG("src1", src), LN_ARG("src2", floats),
            LN_ARG("bias", bias), LN_BOOL("trans2", 1));
}

const ln_onnx_row ln_onnx_rows_microsoft[] = {
    {"MatMulNBits", 1, translate_matmul_nbits},
    {NULL},
};
