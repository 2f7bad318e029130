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
static const char experts[] = "experts with quantized weights; export MoE, with floats";
static const char rare[] = "it is not implemented; export the operators that it was fused from";

const ln_onnx_row ln_onnx_rows_contrib_absent[] = {
    {"AttnLSTM", 1, NULL, rare},
    {"BeamSearch", 1, NULL, search},
    {"BiasDropout", 1, NULL, training},
    {"BifurcationDetector", 1, NULL, search},
    {"BitmaskBiasDropout", 1, NULL, training},
    {"BitmaskDropout", 1, NULL, training},
    {"CausalConvWithState", 1, NULL, rare},
    {"ComplexMul", 1, NULL, for_cuda},
    {"ComplexMulConj", 1, NULL, for_cuda},
    {"ConvTransposeWithDynamicPads", 1, NULL, rare},
    {"CropAndResize", 1, NULL, rare},
    {"DecoderAttention", 1, NULL, decoder},
    {"DecoderMaskedMultiHeadAttention", 1, NULL, decoder},
    {"DecoderMaskedSelfAttention", 1, NULL, decoder},
    {"DequantizeBFP", 1, NULL, formats},
    {"DequantizeWithOrder", 1, NULL, for_cuda},
    {"DynamicTimeWarping", 1, NULL, rare},
    {"EPContext", 1, NULL, compiled},
    {"EngramGate", 1, NULL, rare},
    {"GatedAdd", 1, NULL, rare},
    {"GatedDeltaNet", 1, NULL, rare},
    {"GatedRMSNorm", 1, NULL, rare},
    {"GatedRelativePositionBias", 1, NULL, for_cuda},
    {"GemmFloat8", 1, NULL, formats},
    {"GemmaRotaryEmbedding", 1, NULL, for_cuda},
    {"GreedySearch", 1, NULL, search},
    {"Irfft", 1, NULL, for_cuda},
    {"IsAllFinite", 1, NULL, training},
    {"LinearAttention", 1, NULL, rare},
    {"LinearAttentionGate", 1, NULL, rare},
    {"LongformerAttention", 1, NULL, for_cuda},
    {"MRotaryEmbedding", 1, NULL, rare},
    {"MatMulBlockQuantizedFp4Weight", 1, NULL, formats},
    {"MatMulBlockQuantizedFp8Weight", 1, NULL, formats},
    {"MatMulBnb4", 1, NULL, formats},
    {"MatMulFpQ4", 1, NULL, formats},
    {"MatMulInteger16", 1, NULL, rare},
    {"MatMulNBitsMlp", 1, NULL, for_cuda},
    {"MatMulNBitsQkv", 1, NULL, for_cuda},
    {"MaxpoolWithMask", 1, NULL, internal},
    {"MulInteger", 1, NULL, rare},
    {"MurmurHash3", 1, NULL, text},
    {"NGramHashMapping", 1, NULL, rare},
    {"NGramRepeatBlock", 1, NULL, search},
    {"PackedAttention", 1, NULL, for_cuda},
    {"PackedMultiHeadAttention", 1, NULL, for_cuda},
    {"PagedAttention", 1, NULL, for_cuda},
    {"QMoE", 1, NULL, experts},
    {"QOrderedAttention", 1, NULL, for_cuda},
    {"QOrderedGelu", 1, NULL, for_cuda},
    {"QOrderedLayerNormalization", 1, NULL, for_cuda},
    {"QOrderedLongformerAttention", 1, NULL, for_cuda},
    {"QOrderedMatMul", 1, NULL, for_cuda},
    {"QuantizeBFP", 1, NULL, formats},
    {"QuantizeWithOrder", 1, NULL, for_cuda},
    {"ReduceSumInteger", 1, NULL, rare},
    {"RelativePositionBias", 1, NULL, for_cuda},
    {"RemovePadding", 1, NULL, for_cuda},
    {"RestorePadding", 1, NULL, for_cuda},
    {"Rfft", 1, NULL, for_cuda},
    {"SampleOp", 1, NULL, internal},
    {"Sampling", 1, NULL, search},
    {"Snpe", 1, NULL, compiled},
    {"SparseAttention", 1, NULL, rare},
    {"Tokenizer", 1, NULL, text},
    {"VarlenCausalConvWithState", 1, NULL, for_cuda},
    {"VarlenNGramHashMapping", 1, NULL, for_cuda},
    {"WhisperBeamSearch", 1, NULL, search},
    {"WordConvEmbedding", 1, NULL, rare},
    {NULL},
};
