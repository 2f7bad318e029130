// SPDX-License-Identifier: Apache-2.0
// Schemas of the operators that LightNet supports. Test onnx_schemas compares them with those of
// the ONNX package, as far as that is as new.

#include <stddef.h>

#include "front/onnx/ln_onnx_schema.h"
#include "lightnet/ln_functions.h"

// clang-format off

// ONNX's own domain, operator sets 1 to 28

const ln_onnx_schema ln_onnx_schemas[] = {
    {"Affine", "1", "1", "alpha:f beta:f"},
    {"AffineGrid", "2", "1", "align_corners:i"},
    {"Attention", "6 7>=24", "4",
     "is_causal:i kv_num_heads:i left_window_size:i>=25 q_num_heads:i qk_matmul_output_mode:i "
     "right_window_size:i>=25 scale:f softcap:f softmax_precision:i"},
    {"AveragePool", "1", "1",
     "auto_pad:s ceil_mode:i>=10 count_include_pad:i>=7 dilations:I>=19 kernel_shape:I pads:I "
     "strides:I"},
    {"BatchNormalization", "5", "5 3>=14",
     "consumed_inputs:I<6 epsilon:f is_test:i<7 momentum:f spatial:i<9 training_mode:i>=14"},
    {"Bernoulli", "1", "1", "dtype:i seed:f"},
    {"BitCast", "1", "1", "to:i"},
    {"BitShift", "2", "1", "direction:s"},
    {"BlackmanWindow", "1", "1", "output_datatype:i periodic:i"},
    {"Cast", "1", "1", "round_mode:s>=24 saturate:i>=19 to:s<6 to:i>=6"},
    {"CastLike", "2", "1", "round_mode:s>=24 saturate:i>=19"},
    {"CausalConvWithState", "4", "2", "activation:s"},
    {"CenterCropPad", "2", "1", "axes:I"},
    {"Clip", "1 3>=11", "1", "consumed_inputs:I<6 max:f<11 min:f<11"},
    {"Concat", "*", "1", "axis:i"},
    {"ConcatFromSequence", "1", "1", "axis:i new_axis:i"},
    {"Constant", "0", "1",
     "sparse_value:p>=11 value:t value_float:f>=12 value_floats:F>=12 value_int:i>=12 "
     "value_ints:I>=12 value_string:s>=12 value_strings:S>=12"},
    {"ConstantOfShape", "1", "1", "value:t"},
    {"Conv", "3", "1", "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {"ConvInteger", "4", "1", "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {"ConvTranspose", "3", "1",
     "auto_pad:s dilations:I group:i kernel_shape:I output_padding:I output_shape:I pads:I "
     "strides:I"},
    {"Crop", "1", "1", "border:I scale:I"},
    {"DFT", "2 3>=20", "1", "axis:i<20 inverse:i onesided:i"},
    {"DeformConv", "5", "1", "dilations:I group:i kernel_shape:I offset_group:i pads:I strides:I"},
    {"DepthToSpace", "1", "1", "blocksize:i mode:s>=11"},
    {"DequantizeLinear", "3", "1", "axis:i>=13 block_size:i>=21 output_dtype:i>=23"},
    {"Dropout", "1 3>=12", "2", "consumed_inputs:I<6 is_test:i<7 ratio:f<12 seed:i>=12"},
    {"DynamicQuantizeLinear", "1", "3", ""},
    {"Einsum", "*", "1", "equation:s"},
    {"EyeLike", "1", "1", "dtype:i k:i"},
    {"Flatten", "1", "1", "axis:i"},
    {"GRU", "6", "2",
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i "
     "layout:i>=14 linear_before_reset:i>=3 output_sequence:i<7"},
    {"Gelu", "1", "1", "approximate:s"},
    {"Gemm", "3", "1", "alpha:f beta:f broadcast:i<7 transA:i transB:i"},
    {"GlobalAveragePool", "1", "1", ""},
    {"GlobalLpPool", "1", "1", "p:f<2 p:i>=2"},
    {"GlobalMaxPool", "1", "1", ""},
    {"GroupNormalization", "3", "1", "epsilon:f num_groups:i stash_type:i>=21"},
    {"HammingWindow", "1", "1", "output_datatype:i periodic:i"},
    {"HannWindow", "1", "1", "output_datatype:i periodic:i"},
    {"Hardmax", "1", "1", "axis:i"},
    {"If", "1", "*", "else_branch:g then_branch:g"},
    {"ImageDecoder", "1", "1", "pixel_format:s"},
    {"ImageScaler", "1", "1", "bias:F scale:f"},
    {"InstanceNormalization", "3", "1", "consumed_inputs:I<6 epsilon:f"},
    {"LSTM", "8", "3",
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i "
     "input_forget:i layout:i>=14 output_sequence:i<7"},
    {"LayerNormalization", "3", "3", "axis:i epsilon:f stash_type:i"},
    {"LinearAttention", "6", "2",
     "chunk_size:i kv_num_heads:i q_num_heads:i scale:f update_rule:s"},
    {"Loop", "*", "*", "body:g"},
    {"LpNormalization", "1", "1", "axis:i p:i"},
    {"LpPool", "1", "1",
     "auto_pad:s ceil_mode:i>=18 dilations:I>=18 kernel_shape:I p:f<2 p:i>=2 pads:I strides:I"},
    {"MatMul", "2", "1", ""},
    {"MatMulInteger", "4", "1", ""},
    {"Max", "*", "1", "consumed_inputs:I<6"},
    {"MaxPool", "1", "1 2>=8",
     "auto_pad:s ceil_mode:i>=10 dilations:I>=10 kernel_shape:I pads:I storage_order:i>=8 "
     "strides:I"},
    {"MaxUnpool", "3", "1", "kernel_shape:I pads:I strides:I"},
    {"Mean", "*", "1", "consumed_inputs:I<6"},
    {"MeanVarianceNormalization", "1", "1", "axes:I"},
    {"MelWeightMatrix", "5", "1", "output_datatype:i"},
    {"Min", "*", "1", "consumed_inputs:I<6"},
    {"Mod", "2", "1", "fmod:i"},
    {"Multinomial", "1", "1", "dtype:i sample_size:i seed:f"},
    {"NegativeLogLikelihoodLoss", "3", "1", "ignore_index:i reduction:s"},
    {"Optional", "1", "1", "type:y"},
    {"OptionalGetElement", "1", "1", ""},
    {"OptionalHasElement", "1", "1", ""},
    {"PRelu", "2", "1", "consumed_inputs:I<6"},
    {"Pad", "1 3>=11 4>=18", "1", "mode:s paddings:I<2 pads:I>=2<11 value:f<11"},
    {"Pow", "2", "1", "axis:i<7 broadcast:i<7"},
    {"QLinearConv", "9", "1", "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {"QLinearMatMul", "8", "1", ""},
    {"QuantizeLinear", "3", "1",
     "axis:i>=13 block_size:i>=21 output_dtype:i>=21 precision:i>=23 saturate:i>=19"},
    {"RMSNormalization", "2", "1", "axis:i epsilon:f stash_type:i"},
    {"RNN", "6", "2",
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i "
     "layout:i>=14 output_sequence:i<7"},
    {"RandomNormal", "0", "1", "dtype:i mean:f scale:f seed:f shape:I"},
    {"RandomNormalLike", "1", "1", "dtype:i mean:f scale:f seed:f"},
    {"RandomUniform", "0", "1", "dtype:i high:f low:f seed:f shape:I"},
    {"RandomUniformLike", "1", "1", "dtype:i high:f low:f seed:f"},
    {"Range", "3", "1", "stash_type:i>=27"},
    {"ReduceL1", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceL2", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceLogSum", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceLogSumExp", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceMax", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceMean", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceMin", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceProd", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18"},
    {"ReduceSum", "1 2>=13", "1", "axes:I<13 keepdims:i noop_with_empty_axes:i>=13"},
    {"ReduceSumSquare", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18"},
    {"Reshape", "1 2>=5", "1", "allowzero:i>=14 consumed_inputs:I<5 shape:I<5"},
    {"Resize", "2 4>=11", "1",
     "antialias:i>=18 axes:I>=18 coordinate_transformation_mode:s>=11 cubic_coeff_a:f>=11 "
     "exclude_outside:i>=11 extrapolation_value:f>=11 keep_aspect_ratio_policy:s>=18 mode:s "
     "nearest_mode:s>=11"},
    {"RoiAlign", "3", "1",
     "coordinate_transformation_mode:s>=16 mode:s output_height:i output_width:i sampling_ratio:i "
     "spatial_scale:f"},
    {"RotaryEmbedding", "4", "1", "interleaved:i num_heads:i rotary_embedding_dim:i"},
    {"Scan", "*", "*",
     "body:g directions:I<9 num_scan_inputs:i scan_input_axes:I>=9 scan_input_directions:I>=9 "
     "scan_output_axes:I>=9 scan_output_directions:I>=9"},
    {"SequenceAt", "2", "1", ""},
    {"SequenceConstruct", "*", "1", ""},
    {"SequenceEmpty", "0", "1", "dtype:i"},
    {"SequenceErase", "2", "1", ""},
    {"SequenceInsert", "3", "1", ""},
    {"SequenceLength", "1", "1", ""},
    {"SequenceMap", "*", "*", "body:g"},
    {"SimplifiedLayerNormalization", "2", "2", "axis:i epsilon:f stash_type:i"},
    {"Size", "1", "1", ""},
    {"Slice", "1 5>=10", "1", "axes:I<10 ends:I<10 starts:I<10"},
    {"SoftmaxCrossEntropyLoss", "3", "2", "ignore_index:i reduction:s"},
    {"SpaceToDepth", "1", "1", "blocksize:i"},
    {"Split", "2 1>=2 2>=13", "*", "axis:i num_outputs:i>=18 split:I<13"},
    {"SplitToSequence", "2", "1", "axis:i keepdims:i"},
    {"Squeeze", "1 2>=13", "1", "axes:I<13"},
    {"StringNormalizer", "1", "1", "case_change_action:s is_case_sensitive:i locale:s stopwords:S"},
    {"StringSplit", "1", "2", "delimiter:s maxsplit:i"},
    {"Sum", "*", "1", "consumed_inputs:I<6"},
    {"SwiGLU", "2", "1", "alpha:f"},
    {"TfIdfVectorizer", "1", "1",
     "max_gram_length:i max_skip_count:i min_gram_length:i mode:s ngram_counts:I ngram_indexes:I "
     "pool_int64s:I pool_strings:S weights:F"},
    {"Tile", "3 2>=6", "1", ""},
    {"TopK", "1 2>=10", "2", "axis:i k:i<10 largest:i>=11 sorted:i>=11"},
    {"Unsqueeze", "1 2>=13", "1", "axes:I<13"},
    {"Upsample", "1 2>=9", "1", "height_scale:f<7 mode:s scales:F>=7<9 width_scale:f<7"},
    {NULL, NULL, NULL, NULL},
};

// Functions (ln_functions.h)

#define FUNCTION(arg, op_type, since, FUNC, types, attrs, ...) {op_type, "1", "1", attrs},
const ln_onnx_schema ln_onnx_schemas_function[] = {LN_ONNX_FUNCTIONS(FUNCTION, ) {NULL, NULL, NULL, NULL}};

// ai.onnx.preview

const ln_onnx_schema ln_onnx_schemas_preview[] = {
    {"FlexAttention", "3", "1", "prob_mod:g scale:f score_mod:g softmax_precision:i"},
    {NULL, NULL, NULL, NULL},
};

// ai.onnx.ml, operator sets 1 to 5

const ln_onnx_schema ln_onnx_schemas_ml[] = {
    {"ArrayFeatureExtractor", "2", "1", ""},
    {"Binarizer", "1", "1", "threshold:f"},
    {"CastMap", "1", "1", "cast_to:s map_form:s max_map:i"},
    {"CategoryMapper", "1", "1", "cats_int64s:I cats_strings:S default_int64:i default_string:s"},
    {"DictVectorizer", "1", "1", "int64_vocabulary:I string_vocabulary:S"},
    {"FeatureVectorizer", "*", "1", "inputdimensions:I"},
    {"Imputer", "1", "1",
     "imputed_value_floats:F imputed_value_int64s:I replaced_value_float:f replaced_value_int64:i"},
    {"LabelEncoder", "1", "1",
     "classes_strings:S<2 default_float:f>=2 default_int64:i default_string:s default_tensor:t>=4 "
     "keys_floats:F>=2 keys_int64s:I>=2 keys_strings:S>=2 keys_tensor:t>=4 values_floats:F>=2 "
     "values_int64s:I>=2 values_strings:S>=2 values_tensor:t>=4"},
    {"LinearClassifier", "1", "2",
     "classlabels_ints:I classlabels_strings:S coefficients:F intercepts:F multi_class:i "
     "post_transform:s"},
    {"LinearRegressor", "1", "1", "coefficients:F intercepts:F post_transform:s targets:i"},
    {"Normalizer", "1", "1", "norm:s"},
    {"OneHotEncoder", "1", "1", "cats_int64s:I cats_strings:S zeros:i"},
    {"SVMClassifier", "1", "2",
     "classlabels_ints:I classlabels_strings:S coefficients:F kernel_params:F kernel_type:s "
     "post_transform:s prob_a:F prob_b:F rho:F support_vectors:F vectors_per_class:I"},
    {"SVMRegressor", "1", "1",
     "coefficients:F kernel_params:F kernel_type:s n_supports:i one_class:i post_transform:s "
     "rho:F support_vectors:F"},
    {"Scaler", "1", "1", "offset:F scale:F"},
    {"TreeEnsemble", "1", "1",
     "aggregate_function:i leaf_targetids:I leaf_weights:t membership_values:t n_targets:i "
     "nodes_falseleafs:I nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:t "
     "nodes_missing_value_tracks_true:I nodes_modes:t nodes_splits:t nodes_trueleafs:I "
     "nodes_truenodeids:I post_transform:i tree_roots:I"},
    {"TreeEnsembleClassifier", "1", "2",
     "base_values:F base_values_as_tensor:t>=3 class_ids:I class_nodeids:I class_treeids:I "
     "class_weights:F class_weights_as_tensor:t>=3 classlabels_int64s:I classlabels_strings:S "
     "nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F nodes_hitrates_as_tensor:t>=3 "
     "nodes_missing_value_tracks_true:I nodes_modes:S nodes_nodeids:I nodes_treeids:I "
     "nodes_truenodeids:I nodes_values:F nodes_values_as_tensor:t>=3 post_transform:s"},
    {"TreeEnsembleRegressor", "1", "1",
     "aggregate_function:s base_values:F base_values_as_tensor:t>=3 n_targets:i "
     "nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F nodes_hitrates_as_tensor:t>=3 "
     "nodes_missing_value_tracks_true:I nodes_modes:S nodes_nodeids:I nodes_treeids:I "
     "nodes_truenodeids:I nodes_values:F nodes_values_as_tensor:t>=3 post_transform:s "
     "target_ids:I target_nodeids:I target_treeids:I target_weights:F "
     "target_weights_as_tensor:t>=3"},
    {"ZipMap", "1", "1", "classlabels_int64s:I classlabels_strings:S"},
    {NULL, NULL, NULL, NULL},
};

// com.microsoft, as ONNX Runtime 1.30 has them

const ln_onnx_schema ln_onnx_schemas_contrib[] = {
    {"Attention", "7", "2",
     "do_rotary:i mask_filter_value:f num_heads:i past_present_share_buffer:i qkv_hidden_sizes:I "
     "rotary_embedding_dim:i scale:f unidirectional:i"},
    {"BiasAdd", "3", "1", ""},
    {"BiasGelu", "2", "1", ""},
    {"BiasSoftmax", "2", "1", "axis:i is_inner_broadcast:i"},
    {"BiasSplitGelu", "2", "1", ""},
    {"CDist", "2", "1", "metric:s"},
    {"DequantizeLinear", "3", "1", "axis:i"},
    {"DynamicQuantizeLSTM", "12", "3",
     "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i "
     "input_forget:i"},
    {"DynamicQuantizeMatMul", "5", "1", ""},
    {"EmbedLayerNormalization", "9", "3", "epsilon:f mask_index_type:i"},
    {"ExpandDims", "2", "1", ""},
    {"FastGelu", "2", "1", ""},
    {"FusedConv", "4", "1",
     "activation:s activation_params:F auto_pad:s dilations:I group:i kernel_shape:I pads:I "
     "strides:I"},
    {"FusedGemm", "3", "1",
     "activation:s activation_alpha:f activation_beta:f activation_gamma:f alpha:f beta:f "
     "transA:i transB:i"},
    {"FusedMatMul", "2", "1", "alpha:f transA:i transB:i transBatchA:i transBatchB:i"},
    {"FusedMatMulActivation", "2", "1",
     "activation:s activation_alpha:f activation_axis:i activation_beta:f activation_gamma:f "
     "alpha:f transA:i transB:i transBatchA:i transBatchB:i"},
    {"GatherBlockQuantized", "4", "1", "bits:i block_size:i gather_axis:i quantize_axis:i"},
    {"GatherND", "2", "1", ""},
    {"Gelu", "1", "1", ""},
    {"GemmFastGelu", "3", "1", ""},
    {"GridSample", "2", "1", "align_corners:i mode:s padding_mode:s"},
    {"GroupNorm", "3", "1", "activation:i channels_last:i epsilon:f groups:i"},
    {"GroupQueryAttention", "16", "4",
     "causal:i do_rotary:i k_quant_type:s kv_cache_bit_width:i kv_num_heads:i local_window_size:i "
     "num_heads:i qk_norm_epsilon:f qk_output:i rotary_interleaved:i scale:f "
     "sliding_window_cache:i smooth_softmax:i softcap:f v_quant_type:s"},
    {"MatMulIntegerToFloat", "7", "1", ""},
    {"MatMulNBits", "6", "1", "K:i N:i accuracy_level:i bits:i block_size:i weight_prepacked:i"},
    {"MoE", "8", "1",
     "activation_alpha:f activation_beta:f activation_type:s k:i normalize_routing_weights:i "
     "swiglu_fusion:i swiglu_limit:f use_sparse_mixer:i"},
    {"MultiHeadAttention", "10", "4", "mask_filter_value:f num_heads:i scale:f unidirectional:i"},
    {"NhwcConv", "3", "1", "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"},
    {"NhwcFusedConv", "4", "1",
     "activation:s activation_params:F auto_pad:s dilations:I group:i kernel_shape:I pads:I "
     "strides:I"},
    {"NhwcMaxPool", "1", "1", "auto_pad:s ceil_mode:i dilations:I kernel_shape:I pads:I strides:I"},
    {"Pad", "3", "1", "mode:s"},
    {"QAttention", "9", "2",
     "do_rotary:i mask_filter_value:f num_heads:i past_present_share_buffer:i scale:f "
     "unidirectional:i"},
    {"QEmbedLayerNormalization", "18", "2", "epsilon:f"},
    {"QGemm", "9", "1", "alpha:f transA:i transB:i"},
    {"QLinearAdd", "8", "1", ""},
    {"QLinearAveragePool", "5", "1",
     "auto_pad:s ceil_mode:i channels_last:i count_include_pad:i kernel_shape:I pads:I strides:I"},
    {"QLinearConcat", "*", "1", "axis:i"},
    {"QLinearConv", "9", "1",
     "auto_pad:s channels_last:i dilations:I group:i kernel_shape:I pads:I strides:I"},
    {"QLinearGlobalAveragePool", "5", "1", "channels_last:i"},
    {"QLinearLeakyRelu", "5", "1", "alpha:f"},
    {"QLinearMul", "8", "1", ""},
    {"QLinearReduceMean", "5", "1", "axes:I keepdims:i"},
    {"QLinearSigmoid", "5", "1", ""},
    {"QLinearSoftmax", "5", "1", "axis:i opset:i"},
    {"QLinearWhere", "9", "1", ""},
    {"QuantizeLinear", "3", "1", "axis:i"},
    {"Range", "3", "1", ""},
    {"RotaryEmbedding", "4", "1",
     "interleaved:i is_packed_batching:i num_heads:i rotary_embedding_dim:i scale:f"},
    {"SkipGroupNorm", "5", "2", "activation:i channels_last:i epsilon:f groups:i"},
    {"SkipLayerNormalization", "5", "4", "epsilon:f"},
    {"SkipSimplifiedLayerNormalization", "4", "4", "epsilon:f"},
    {"SparseToDenseMatMul", "2", "1", "alpha:f transA:i transB:i"},
    {"TorchEmbedding", "4", "1", ""},
    {"TransposeMatMul", "2", "1", "alpha:f transA:i transB:i"},
    {"Trilu", "2", "1", "upper:i"},
    {"UnfoldTensor", "1", "1", "dim:i size:i step:i"},
    {"Unique", "1", "3", ""},
    {NULL, NULL, NULL, NULL},
};
// clang-format on
