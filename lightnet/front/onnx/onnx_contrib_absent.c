// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft that LightNet does not run, each with the reason.

#include "front/onnx/ln_onnx.h"

static const char for_cuda[] = "ONNX Runtime has it for GPUs; optimize the model for the CPU";
static const char decoder[] =
    "it is a step of a decoder on GPUs; export the model without fusing it";
static const char search[] = "it contains a whole search; export the decoder, and search outside";
static const char formats[] = "its numbers have a format that LightNet lacks";
static const char compiled[] = "it contains a program for another machine; use the original model";
static const char internal[] = "it is for tests and tools of ONNX Runtime";
static const char text[] = "it is not implemented; prepare the text outside of the model";
static const char training[] = "it trains a model; export the model for inference";
static const char rare[] = "it is not implemented; export the operators that it was fused from";

#define ROW(reason, op_type) {op_type, 1, NULL, reason},

// clang-format off
const ln_onnx_row ln_onnx_rows_contrib_absent[] = {
    ROW(rare, "AttnLSTM") ROW(rare, "CausalConvWithState") ROW(rare, "ConvTransposeWithDynamicPads")
    ROW(rare, "CropAndResize") ROW(rare, "DynamicTimeWarping") ROW(rare, "EngramGate")
    ROW(rare, "GatedAdd") ROW(rare, "GatedDeltaNet") ROW(rare, "GatedRMSNorm")
    ROW(rare, "LinearAttention") ROW(rare, "LinearAttentionGate") ROW(rare, "MRotaryEmbedding")
    ROW(rare, "MatMulInteger16") ROW(rare, "MulInteger") ROW(rare, "NGramHashMapping")
    ROW(rare, "ReduceSumInteger") ROW(rare, "SparseAttention") ROW(rare, "WordConvEmbedding")
    ROW(search, "BeamSearch") ROW(search, "BifurcationDetector") ROW(search, "GreedySearch")
    ROW(search, "NGramRepeatBlock") ROW(search, "Sampling") ROW(search, "WhisperBeamSearch")
    ROW(training, "BiasDropout") ROW(training, "BitmaskBiasDropout") ROW(training, "BitmaskDropout")
    ROW(training, "IsAllFinite")
    ROW(for_cuda, "ComplexMul") ROW(for_cuda, "ComplexMulConj") ROW(for_cuda, "DequantizeWithOrder")
    ROW(for_cuda, "GatedRelativePositionBias") ROW(for_cuda, "GemmaRotaryEmbedding")
    ROW(for_cuda, "Irfft") ROW(for_cuda, "LongformerAttention") ROW(for_cuda, "MatMulNBitsMlp")
    ROW(for_cuda, "MatMulNBitsQkv") ROW(for_cuda, "PackedAttention")
    ROW(for_cuda, "PackedMultiHeadAttention") ROW(for_cuda, "PagedAttention")
    ROW(for_cuda, "QOrderedAttention") ROW(for_cuda, "QOrderedGelu")
    ROW(for_cuda, "QOrderedLayerNormalization") ROW(for_cuda, "QOrderedLongformerAttention")
    ROW(for_cuda, "QOrderedMatMul") ROW(for_cuda, "QuantizeWithOrder")
    ROW(for_cuda, "RelativePositionBias") ROW(for_cuda, "RemovePadding")
    ROW(for_cuda, "RestorePadding") ROW(for_cuda, "Rfft") ROW(for_cuda, "VarlenCausalConvWithState")
    ROW(for_cuda, "VarlenNGramHashMapping")
    ROW(decoder, "DecoderAttention") ROW(decoder, "DecoderMaskedMultiHeadAttention")
    ROW(decoder, "DecoderMaskedSelfAttention")
    ROW(formats, "DequantizeBFP") ROW(formats, "GemmFloat8")
    ROW(formats, "MatMulBlockQuantizedFp4Weight") ROW(formats, "MatMulBlockQuantizedFp8Weight")
    ROW(formats, "MatMulBnb4") ROW(formats, "MatMulFpQ4") ROW(formats, "QuantizeBFP")
    ROW(compiled, "EPContext") ROW(compiled, "Snpe")
    ROW(internal, "MaxpoolWithMask") ROW(internal, "SampleOp")
    ROW(text, "MurmurHash3") ROW(text, "Tokenizer")
    {NULL},
};
// clang-format on
