// SPDX-License-Identifier: Apache-2.0
// The element types of ONNX's operators: those of their first input, in the operator sets that are
// written.

#include "front/onnx/write/ln_onnx_write.h"

#include <string.h>

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

/* The types of operators, and those that a newer operator set adds. */
static const struct group {
    const char *op_types; /* each between blanks */
    int types, more, since;
} groups[] = {
    {" Acos Acosh Asin Asinh Atan Atanh AveragePool Conv ConvTranspose Cos Cosh DeformConv Det Elu "
     "GRU HardSigmoid HardSwish InstanceNormalization LSTM LpPool MaxRoiPool Mish "
     "NegativeLogLikelihoodLoss RNN RoiAlign Round Selu Sin Sinh Softplus Softsign Tan "
     "ThresholdedRelu ",
     F, B, 22},
    {" MaxPool ", F | BYTES, B, 22},
    {" BatchNormalization Ceil DFT Exp Floor Gelu IsNaN LRN LayerNormalization LeakyRelu Log "
     "LogSoftmax Reciprocal STFT Sigmoid Softmax Sqrt Tanh ",
     F | B, 0, 0},
    {" Abs Add ArgMax ArgMin Clip Div Erf Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul "
     "Sign Sub ",
     F | B | I | U, 0, 0},
    {" CumProd CumSum Gemm MatMul PRelu ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMean "
     "ReduceProd ReduceSum ReduceSumSquare ",
     F | B | WIDE, 0, 0},
    {" ReduceMax ReduceMin ", F | B | WIDE | BYTES, T, 20},
    {" Pow ", F | B | 1 << TL_INT32 | 1 << TL_INT64, 0, 0},
    {" Neg Relu ", F | B | I, 0, 0},
    {" And If Not Or Where Xor ", T, 0, 0},
    {" BitwiseAnd BitwiseNot BitwiseOr BitwiseXor ", I | U, 0, 0},
    {" BitShift ", U, 0, 0},
    {" Compress EyeLike ReverseSequence Unique ", F | I | U | T, B, 22},
    {" GridSample ", F, B, 22},
    {" OneHot Shrink ", F | I | U, 0, 0},
    {" TopK ", F | I | U, B, 24},
    {" Celu DynamicQuantizeLinear NonMaxSuppression ", 1 << TL_FLOAT, 0, 0},
    {" ConvInteger MatMulInteger ", BYTES, 0, 0},
    {" IsInf ", 1 << TL_FLOAT | 1 << TL_DOUBLE, F | B, 20},
    {" QuantizeLinear ", 1 << TL_FLOAT | 1 << TL_INT32, F | B, 19},
    {" DequantizeLinear ", BYTES | 1 << TL_INT32, 1 << TL_INT16 | 1 << TL_UINT16, 21},
    {" Range ", 1 << TL_FLOAT | 1 << TL_DOUBLE | 1 << TL_INT16 | 1 << TL_INT32 | 1 << TL_INT64, 0,
     0},
};

static const struct group *find_group(const char *op_type)
{
    const size_t len = strlen(op_type);
    for (const struct group *g = groups; g < groups + sizeof(groups) / sizeof(groups[0]); g++)
        for (const char *p = g->op_types; (p = strstr(p, op_type)); p += len)
            if (p[-1] == ' ' && p[len] == ' ')
                return g;
    return NULL;
}

void ln_onnx_note_type(ln_onnx_writer *w, const char *value, tl_dtype dtype)
{
    static const tl_dtype dtypes[] = {TL_DOUBLE, TL_FLOAT, TL_FLOAT16, TL_BFLOAT16, TL_INT64,
                                      TL_INT32,  TL_INT16, TL_INT8,    TL_UINT64,   TL_UINT32,
                                      TL_UINT16, TL_UINT8, TL_BOOL};
    for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++)
        if (dtypes[i] == dtype && !w->base.failed &&
            ln_hash_insert(w->types, value, (void *)&dtypes[i]) < 0)
            ln_translation_fail_memory(&w->base);
}

int ln_onnx_takes(const ln_onnx_op *n, const char *op_type, tl_dtype dtype)
{
    const struct group *const g = find_group(op_type);
    const int more = g && ln_onnx_op_opset(n) >= g->since ? g->more : 0;
    return !g || (g->types | more) >> dtype & 1;
}

// Intermediate values whose type is not known are of the type of others that are.
void ln_onnx_check_type(ln_onnx_op *n, const LnOnnx__Node *node)
{
    const tl_dtype *const dtype =
        node->n_input ? ln_hash_find(n->writer->types, node->input[0]) : NULL;
    const struct group *const g = dtype ? find_group(node->op_type) : NULL;
    if (!g || g->types >> *dtype & 1)
        return;
    if (g->more >> *dtype & 1)
        ln_onnx_op_since(n, g->since);
    else
        ln_onnx_op_lacks(n, "ONNX's %s does not take %s", node->op_type, tl_dtype_name(*dtype));
}
