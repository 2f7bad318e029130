// SPDX-License-Identifier: Apache-2.0
// The element types of ONNX's operators: those of their first input, in the operator sets that are
// written.

#include "front/onnx/write/ln_onnx_write.h"

#include <string.h>

#include "base/ln_name.h"
#include "data/ln_raw.h"
#include "lightnet/ln_hash.h"
#include "tensorlight/tl_type.h"

enum {
    F = 1 << TL_FLOAT | 1 << TL_DOUBLE | 1 << TL_FLOAT16,
    B = 1 << TL_BFLOAT16,
    I = 1 << TL_INT8 | 1 << TL_INT16 | 1 << TL_INT32 | 1 << TL_INT64,
    U = 1 << TL_UINT8 | 1 << TL_UINT16 | 1 << TL_UINT32 | 1 << TL_UINT64,
    WIDE = 1 << TL_INT32 | 1 << TL_INT64 | 1 << TL_UINT32 | 1 << TL_UINT64,
    BYTES = 1 << TL_INT8 | 1 << TL_UINT8,
    T = 1 << TL_BOOL,
};

// The types of operators, and those that operator set `since` adds.
static const struct group {
    const char *op_types; // each between blanks
    int types, added, since;
} groups[] = {
    {" Acos Acosh Asin Asinh Atan Atanh Cos Cosh Elu HardSigmoid HardSwish Mish Round "
     "Selu Sin Sinh Softplus Softsign Swish Tan ThresholdedRelu AveragePool Conv "
     "ConvTranspose DeformConv Det GRU InstanceNormalization LSTM LpPool MaxRoiPool "
     "NegativeLogLikelihoodLoss RNN RoiAlign ",
     F, B, 22},
    {" MaxPool ", F | BYTES, B, 22},
    {" Ceil Exp Floor LeakyRelu Log Reciprocal Sigmoid Sqrt Tanh BatchNormalization DFT "
     "Gelu IsNaN LRN LayerNormalization LogSoftmax STFT Softmax ",
     F | B, 0, 0},
    {" Abs Erf Sign Add ArgMax ArgMin Clip Div Greater GreaterOrEqual Less LessOrEqual "
     "Max Min Mod Mul Sub ",
     F | B | I | U, 0, 0},
    {" CumProd CumSum Gemm MatMul PRelu ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp "
     "ReduceMean ReduceProd ReduceSum ReduceSumSquare ",
     F | B | WIDE, 0, 0},
    {" ReduceMax ReduceMin ", F | B | WIDE | BYTES, T, 20},
    {" Pow ", F | B | 1 << TL_INT32 | 1 << TL_INT64, 0, 0},
    {" And If Not Or Where Xor ", T, 0, 0},
    {" BitwiseAnd BitwiseNot BitwiseOr BitwiseXor ", I | U, 0, 0},
    {" BitShift ", U, 0, 0},
    {" Compress EyeLike ReverseSequence Unique ", F | I | U | T, B, 22},
    {" GridSample ", F, B, 22},
    {" Shrink OneHot ", F | I | U, 0, 0},
    {" TopK ", F | I | U, B, 24},
    {" Celu DynamicQuantizeLinear NonMaxSuppression ", 1 << TL_FLOAT, 0, 0},
    {" ConvInteger MatMulInteger ", BYTES, 0, 0},
    {" IsInf ", 1 << TL_FLOAT | 1 << TL_DOUBLE, F | B, 20},
    {" QuantizeLinear ", 1 << TL_FLOAT | 1 << TL_INT32, F | B, 19},
    {" DequantizeLinear ", BYTES | 1 << TL_INT32, 1 << TL_INT16 | 1 << TL_UINT16, 21},
    {" Range ", 1 << TL_FLOAT | 1 << TL_DOUBLE | 1 << TL_INT16 | 1 << TL_INT32 | 1 << TL_INT64, 0,
     0},
    {" Neg Relu ", F | B | I, 0, 0},
};

// Operators that support all types of 8 bits and less of an operator set, from set `since` on.
// `keeps_type`: the output has the input's type.
static const struct small {
    const char *op_types;
    int since, keeps_type;
} small[] = {
    {" BitCast Cast Constant ConstantOfShape DequantizeLinear QuantizeLinear Shape Size ", 0, 0},
    {" If Loop ", 0, 0},
    {" Identity Reshape ", 0, 1},
    {" Flatten Pad Squeeze Transpose Unsqueeze ", 21, 1},
};

// Types, and the operator sets that introduced them; 0: older than all written ones.
static const struct type {
    tl_dtype dtype;
    int since;
} types[] = {
    {TL_DOUBLE, 0},
    {TL_FLOAT, 0},
    {TL_FLOAT16, 0},
    {TL_BFLOAT16, 0},
    {TL_INT64, 0},
    {TL_INT32, 0},
    {TL_INT16, 0},
    {TL_INT8, 0},
    {TL_UINT64, 0},
    {TL_UINT32, 0},
    {TL_UINT16, 0},
    {TL_UINT8, 0},
    {TL_BOOL, 0},
    {TL_FLOAT8E4M3FN, 19},
    {TL_FLOAT8E4M3FNUZ, 19},
    {TL_FLOAT8E5M2, 19},
    {TL_FLOAT8E5M2FNUZ, 19},
    {TL_INT4, 21},
    {TL_UINT4, 21},
    {TL_FLOAT4E2M1, 23},
    {TL_FLOAT8E8M0, 24},
    {TL_INT2, 25},
    {TL_UINT2, 25},
};

static const struct group *find_group(const char *op_type)
{
    for (const struct group *g = groups; g < groups + sizeof(groups) / sizeof(groups[0]); g++)
        if (ln_has_word(g->op_types, op_type))
            return g;
    return NULL;
}

static const struct small *find_small(const char *op_type)
{
    for (const struct small *s = small; s < small + sizeof(small) / sizeof(small[0]); s++)
        if (ln_has_word(s->op_types, op_type))
            return s;
    return NULL;
}

void ln_onnx_note_type(ln_onnx_writer *w, const char *value, tl_dtype dtype)
{
    for (const struct type *t = types; t < types + sizeof(types) / sizeof(types[0]); t++) {
        if (t->dtype != dtype || w->base.failed)
            continue;
        if (ln_hash_insert(w->types, value, (void *)t) < 0)
            ln_translation_fail_memory(&w->base);
        w->needed = t->since > w->needed ? t->since : w->needed;
    }
}

tl_dtype ln_onnx_type_of(const ln_onnx_writer *w, const char *value)
{
    const struct type *const t = w->base.failed ? NULL : ln_hash_find(w->types, value);
    return t ? t->dtype : TL_DTYPE_INVALID;
}

tl_dtype ln_onnx_carrier_type(const char *op_type, tl_dtype dtype)
{
    if (dtype == TL_DTYPE_INVALID || !tl_dtype_is_stored(dtype) || find_small(op_type))
        return dtype;
    return tl_dtype_has_fractions(dtype) ? TL_FLOAT : ln_raw_dtype(dtype);
}

void ln_onnx_note_output_type(ln_onnx_writer *w, const LnOnnx__Node *node)
{
    const struct small *const row = find_small(node->op_type);
    const tl_dtype dtype = node->n_input ? ln_onnx_type_of(w, node->input[0]) : TL_DTYPE_INVALID;
    if (!row || dtype == TL_DTYPE_INVALID || !tl_dtype_is_stored(dtype))
        return;
    w->needed = row->since > w->needed ? row->since : w->needed;
    if (row->keeps_type)
        ln_onnx_note_type(w, node->output[0], dtype);
}

int ln_onnx_supports(const ln_onnx_op *n, const char *op_type, tl_dtype dtype)
{
    const struct group *const g = find_group(op_type);
    const int added = g && ln_onnx_op_opset(n) >= g->since ? g->added : 0;
    return !g || (g->types | added) >> dtype & 1;
}

// Accepts unknown types: those values have the type of others, which are checked.
void ln_onnx_check_type(ln_onnx_op *n, const LnOnnx__Node *node)
{
    const tl_dtype dtype =
        node->n_input ? ln_onnx_type_of(n->writer, node->input[0]) : TL_DTYPE_INVALID;
    const struct group *const g = dtype != TL_DTYPE_INVALID ? find_group(node->op_type) : NULL;
    if (!g || tl_dtype_is_stored(dtype) || g->types >> dtype & 1)
        return;
    if (g->added >> dtype & 1)
        ln_onnx_op_since(n, g->since);
    else
        ln_onnx_op_reject(n, "ONNX's %s does not support %s", node->op_type, tl_dtype_name(dtype));
}
