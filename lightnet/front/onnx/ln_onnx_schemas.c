// SPDX-License-Identifier: Apache-2.0
// Schemas of the operators that LightNet supports. Test onnx_schemas compares them with the
// installed ONNX package, up to its newest operator set.

#include <stddef.h>

#include "front/onnx/ln_onnx_schema.h"

// clang-format off

// Attributes of convolutions, and of RNN, GRU and LSTM.
#define CONV "auto_pad:s dilations:I group:i kernel_shape:I pads:I strides:I"
#define RNN  "activation_alpha:F activation_beta:F activations:S clip:f direction:s hidden_size:i"

// ONNX's own domain, operator sets 1 to 28

const ln_onnx_schema ln_onnx_schemas[] = {
    {"Affine", "1", "1", "alpha:f beta:f", "binary"},
    {"AffineGrid", "2", "1", "align_corners:i", "matmul reshape"},
    {"Attention", "6 7>=24", "4",
     "is_causal:i kv_num_heads:i left_window_size:i>=25 q_num_heads:i qk_matmul_output_mode:i "
     "right_window_size:i>=25 scale:f softcap:f softmax_precision:i",
     "attention reshape transpose binary"},
    {"AveragePool", "1", "1",
     "auto_pad:s ceil_mode:i>=10 count_include_pad:i>=7 dilations:I>=19 kernel_shape:I pads:I "
     "strides:I", "avgpool2d poolnd reshape"},
    {"BatchNormalization", "5", "5 3>=14",
     "consumed_inputs:I<6 epsilon:f is_test:i<7 momentum:f spatial:i<9 training_mode:i>=14",
     "batchnorm forward reshape binary reduce"},
    {"Bernoulli", "1", "1", "dtype:i seed:f", "cast compare random"},
    {"BitCast", "1", "1", "to:i", "bitcast"},
    {"BlackmanWindow", "1", "1", "output_datatype:i periodic:i", ""},
    {"Cast", "1", "1", "round_mode:s>=24 saturate:i>=19 to:s<6 to:i>=6",
     "cast binary bitcast classify where string_cast"},
    {"CastLike", "2", "1",
     "round_mode:s>=24 saturate:i>=19", "cast binary bitcast classify where string_cast"},
    {"CausalConvWithState", "4", "2", "activation:s", "conv2d join reshape stride_slice unary"},
    {"CenterCropPad", "2", "1", "axes:I", "pad"},
    {"Clip", "1 3>=11", "1", "consumed_inputs:I<6 max:f<11 min:f<11", "binary forward unary"},
    {"Compress", "2", "1", "axis:i", "compress view"},
    {"Concat", "*", "1", "axis:i", "join"},
    {"ConcatFromSequence", "1", "1", "axis:i new_axis:i", "join gather"},
    {"Constant", "0", "1",
     "sparse_value:p>=11 value:t value_float:f>=12 value_floats:F>=12 value_int:i>=12 "
     "value_ints:I>=12 value_string:s>=12 value_strings:S>=12", "forward"},
    {"ConstantOfShape", "1", "1", "value:t", "expand"},
    {"Conv", "3", "1", CONV, "conv2d reshape convnd"},
    {"ConvInteger", "4", "1", CONV, "conv_int"},
    {"ConvTranspose", "3", "1", CONV " output_padding:I output_shape:I",
     "deconv2d deconvnd reshape"},
    {"Crop", "1", "1", "border:I scale:I", "stride_slice"},
    {"DFT", "2 3>=20", "1", "axis:i<20 inverse:i onesided:i", "dft"},
    {"DeformConv", "5", "1", "dilations:I group:i kernel_shape:I offset_group:i pads:I strides:I",
     "deform_columns matmul reshape"},
    {"DepthToSpace", "1", "1", "blocksize:i mode:s>=11", "reshape transpose"},
    {"DequantizeLinear", "3", "1", "axis:i>=13 block_size:i>=21 output_dtype:i>=23", "dequantize"},
    {"Dropout", "1 3>=12", "2", "consumed_inputs:I<6 is_test:i<7 ratio:f<12 seed:i>=12",
     "forward expand random compare where binary"},
    {"DynamicQuantizeLinear", "1", "3", "", "quantize quantize_range"},
    {"Einsum", "*", "1", "equation:s", "forward reshape matmul transpose reduce stride_slice view"},
    {"EyeLike", "1", "1", "dtype:i k:i", "eye forward"},
    {"Flatten", "1", "1", "axis:i", "reshape"},
    {"GRU", "6", "2", RNN " layout:i>=14 linear_before_reset:i>=3 output_sequence:i<7",
     "matmul recurrent reshape transpose"},
    {"Gemm", "3", "1", "alpha:f beta:f broadcast:i<7 transA:i transB:i", "matmul"},
    {"GlobalAveragePool", "1", "1", "", "avgpool2d"},
    {"GlobalLpPool", "1", "1", "p:f<2 p:i>=2", "poolnd reshape"},
    {"GlobalMaxPool", "1", "1", "", "maxpool2d"},
    {"GroupNormalization", "3", "1", "epsilon:f num_groups:i stash_type:i>=21", "groupnorm cast"},
    {"HammingWindow", "1", "1", "output_datatype:i periodic:i", ""},
    {"HannWindow", "1", "1", "output_datatype:i periodic:i", ""},
    {"Hardmax", "1", "1", "axis:i", "argreduce onehot"},
    {"If", "1", "*", "else_branch:g then_branch:g", "branch branch_dynamic"},
    {"ImageDecoder", "1", "1", "pixel_format:s", ""},
    {"ImageScaler", "1", "1", "bias:F scale:f", "binary"},
    {"InstanceNormalization", "3", "1", "consumed_inputs:I<6 epsilon:f", "groupnorm"},
    {"LSTM", "8", "3", RNN " input_forget:i layout:i>=14 output_sequence:i<7",
     "matmul recurrent reshape transpose"},
    {"LayerNormalization", "3", "3", "axis:i epsilon:f stash_type:i", "forward layernorm reshape"},
    {"LinearAttention", "6", "2", "chunk_size:i kv_num_heads:i q_num_heads:i scale:f update_rule:s",
     "linear_attention reshape cast"},
    {"LogSoftmax", "1", "1", "axis:i", "logsoftmax reshape"},
    {"Loop", "*", "*", "body:g", "loop loop_dynamic"},
    {"LpNormalization", "1", "1", "axis:i p:i", "reduce binary"},
    {"LpPool", "1", "1",
     "auto_pad:s ceil_mode:i>=18 dilations:I>=18 kernel_shape:I p:f<2 p:i>=2 pads:I strides:I",
     "poolnd reshape"},
    {"MatMul", "2", "1", "", "matmul"},
    {"MatMulInteger", "4", "1", "", "matmul_int"},
    {"Max", "*", "1", "consumed_inputs:I<6", "binary forward"},
    {"MaxPool", "1", "1 2>=8",
     "auto_pad:s ceil_mode:i>=10 dilations:I>=10 kernel_shape:I pads:I storage_order:i>=8 "
     "strides:I", "maxpool2d poolnd reshape maxpoolnd_arg"},
    {"MaxUnpool", "3", "1", "kernel_shape:I pads:I strides:I", "put_along reshape zeros"},
    {"Mean", "*", "1", "consumed_inputs:I<6", "binary forward"},
    {"MeanVarianceNormalization", "1", "1", "axes:I", "layernorm transpose"},
    {"MelWeightMatrix", "5", "1", "output_datatype:i", ""},
    {"Min", "*", "1", "consumed_inputs:I<6", "binary forward"},
    {"Mod", "2", "1", "fmod:i", "binary"},
    {"Multinomial", "1", "1", "dtype:i sample_size:i seed:f", "random argreduce binary unary cast"},
    {"NegativeLogLikelihoodLoss", "3", "1", "ignore_index:i reduction:s", "nllloss"},
    {"Optional", "1", "1", "type:y", ""},
    {"OptionalGetElement", "1", "1", "", ""},
    {"OptionalHasElement", "1", "1", "", "forward"},
    {"PRelu", "2", "1", "consumed_inputs:I<6", "binary reshape"},
    {"Pad", "1 3>=11 4>=18", "1", "mode:s paddings:I<2 pads:I>=2<11 value:f<11", "pad"},
    {"Pow", "2", "1", "axis:i<7 broadcast:i<7", "binary cast"},
    {"QLinearConv", "9", "1", CONV, "binary conv_int dequantize quantize view"},
    {"QLinearMatMul", "8", "1", "", "binary dequantize matmul_int quantize view"},
    {"QuantizeLinear", "3", "1",
     "axis:i>=13 block_size:i>=21 output_dtype:i>=21 precision:i>=23 saturate:i>=19", "quantize"},
    {"RMSNormalization", "2", "1", "axis:i epsilon:f stash_type:i", "rmsnorm reshape"},
    {"RNN", "6", "2", RNN " layout:i>=14 output_sequence:i<7",
     "matmul recurrent reshape transpose"},
    {"RandomNormal", "0", "1", "dtype:i mean:f scale:f seed:f shape:I", "random"},
    {"RandomNormalLike", "1", "1", "dtype:i mean:f scale:f seed:f", "random"},
    {"RandomUniform", "0", "1", "dtype:i high:f low:f seed:f shape:I", "random"},
    {"RandomUniformLike", "1", "1", "dtype:i high:f low:f seed:f", "random"},
    {"Range", "3", "1", "stash_type:i>=27", "range range_to"},
    {"ReduceL1", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", "reduce"},
    {"ReduceL2", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", "reduce"},
    {"ReduceLogSum", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", "reduce"},
    {"ReduceLogSumExp", "1 2>=18", "1",
     "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", "reduce"},
    {"ReduceMax", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", "reduce"},
    {"ReduceMean", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", "reduce"},
    {"ReduceMin", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", "reduce"},
    {"ReduceProd", "1 2>=18", "1", "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", "reduce"},
    {"ReduceSum", "1 2>=13", "1", "axes:I<13 keepdims:i noop_with_empty_axes:i>=13", "reduce"},
    {"ReduceSumSquare", "1 2>=18", "1",
     "axes:I<18 keepdims:i noop_with_empty_axes:i>=18", "reduce"},
    {"Reshape", "1 2>=5", "1",
     "allowzero:i>=14 consumed_inputs:I<5 shape:I<5", "reshape view reshape_to"},
    {"Resize", "2 4>=11", "1",
     "antialias:i>=18 axes:I>=18 coordinate_transformation_mode:s>=11 cubic_coeff_a:f>=11 "
     "exclude_outside:i>=11 extrapolation_value:f>=11 keep_aspect_ratio_policy:s>=18 mode:s "
     "nearest_mode:s>=11", "resample"},
    {"RoiAlign", "3", "1",
     "coordinate_transformation_mode:s>=16 mode:s output_height:i output_width:i sampling_ratio:i "
     "spatial_scale:f", "roi_align"},
    {"RotaryEmbedding", "4", "1",
     "interleaved:i num_heads:i rotary_embedding_dim:i", "take stride_slice binary join reshape"},
    {"Scan", "*", "*",
     "body:g directions:I<9 num_scan_inputs:i scan_input_axes:I>=9 scan_input_directions:I>=9 "
     "scan_output_axes:I>=9 scan_output_directions:I>=9", "loop loop_dynamic gather scatter"},
    {"SequenceAt", "2", "1", "", "take gather"},
    {"SequenceConstruct", "*", "1", "", ""},
    {"SequenceEmpty", "0", "1", "dtype:i", ""},
    {"SequenceErase", "2", "1", "", ""},
    {"SequenceInsert", "3", "1", "", ""},
    {"SequenceLength", "1", "1", "", ""},
    {"SequenceMap", "*", "*", "body:g", ""},
    {"Shape", "1", "1", "start:i>=15 end:i>=15", "forward"},
    {"SimplifiedLayerNormalization", "2", "2", "axis:i epsilon:f stash_type:i", "rmsnorm"},
    {"Size", "1", "1", "", "forward"},
    {"Slice", "1 5>=10", "1", "axes:I<10 ends:I<10 starts:I<10", "stride_slice"},
    {"Softmax", "1", "1", "axis:i", "softmax reshape"},
    {"SoftmaxCrossEntropyLoss", "3", "2", "ignore_index:i reduction:s", "logsoftmax nllloss"},
    {"SpaceToDepth", "1", "1", "blocksize:i", "reshape transpose"},
    {"Split", "2 1>=2 2>=13", "*", "axis:i num_outputs:i>=18 split:I<13", "split"},
    {"SplitToSequence", "2", "1", "axis:i keepdims:i", "split scatter"},
    {"Squeeze", "1 2>=13", "1", "axes:I<13", "reshape squeeze"},
    {"StringNormalizer", "1", "1",
     "case_change_action:s is_case_sensitive:i locale:s stopwords:S", "string_normalize"},
    {"StringSplit", "1", "2", "delimiter:s maxsplit:i", "string_split"},
    {"Sum", "*", "1", "consumed_inputs:I<6", "binary forward"},
    {"SwiGLU", "2", "1", "alpha:f", "binary unary"},
    {"TfIdfVectorizer", "1", "1",
     "max_gram_length:i max_skip_count:i min_gram_length:i mode:s ngram_counts:I ngram_indexes:I "
     "pool_int64s:I pool_strings:S weights:F", "tfidf ngrams_order"},
    {"Tile", "3 2>=6", "1", "", "tile"},
    {"TopK", "1 2>=10", "2", "axis:i k:i<10 largest:i>=11 sorted:i>=11", "topk"},
    {"Unique", "1", "4", "axis:i sorted:i", "unique view"},
    {"Unsqueeze", "1 2>=13", "1", "axes:I<13", "reshape"},
    {"Upsample", "1 2>=9", "1",
     "height_scale:f<7 mode:s scales:F>=7<9 width_scale:f<7", "resample"},
    {NULL, NULL, NULL, NULL, NULL},
};

// ai.onnx.preview

const ln_onnx_schema ln_onnx_schemas_preview[] = {
    {"FlexAttention", "3", "1",
     "prob_mod:g scale:f score_mod:g softmax_precision:i", "matmul softmax reshape cast"},
    {NULL, NULL, NULL, NULL, NULL},
};

// ai.onnx.ml, operator sets 1 to 5

const ln_onnx_schema ln_onnx_schemas_ml[] = {
    {"ArrayFeatureExtractor", "2", "1", "", "take view"},
    {"Binarizer", "1", "1", "threshold:f", "cast compare"},
    {"CastMap", "1", "1", "cast_to:s map_form:s max_map:i", "cast string_cast"},
    {"CategoryMapper", "1", "1",
     "cats_int64s:I cats_strings:S default_int64:i default_string:s", "lookup_key ngrams_order"},
    {"DictVectorizer", "1", "1", "int64_vocabulary:I string_vocabulary:S", ""},
    {"FeatureVectorizer", "*", "1", "inputdimensions:I", "join cast pad view"},
    {"Imputer", "1", "1",
     "imputed_value_floats:F imputed_value_int64s:I replaced_value_float:f replaced_value_int64:i",
     "where classify cast compare"},
    {"LabelEncoder", "1", "1",
     "classes_strings:S<2 default_float:f>=2 default_int64:i default_string:s default_tensor:t>=4 "
     "keys_floats:F>=2 keys_int64s:I>=2 keys_strings:S>=2 keys_tensor:t>=4 values_floats:F>=2 "
     "values_int64s:I>=2 values_strings:S>=2 values_tensor:t>=4",
     "lookup_key ngrams_order reshape"},
    {"LinearClassifier", "1", "2",
     "classlabels_ints:I classlabels_strings:S coefficients:F intercepts:F multi_class:i "
     "post_transform:s", "argreduce matmul take cast compare join softmax string_cast unary view"},
    {"LinearRegressor", "1", "1",
     "coefficients:F intercepts:F post_transform:s targets:i", "matmul cast softmax unary"},
    {"Normalizer", "1", "1", "norm:s", "binary compare reduce where cast"},
    {"OneHotEncoder", "1", "1",
     "cats_int64s:I cats_strings:S zeros:i", "cast compare unsqueeze binary string_equal"},
    {"SVMClassifier", "1", "2",
     "classlabels_ints:I classlabels_strings:S coefficients:F kernel_params:F kernel_type:s "
     "post_transform:s prob_a:F prob_b:F rho:F support_vectors:F vectors_per_class:I",
     "matmul argreduce binary cast compare couple join reduce slice take unary"},
    {"SVMRegressor", "1", "1",
     "coefficients:F kernel_params:F kernel_type:s n_supports:i one_class:i post_transform:s "
     "rho:F support_vectors:F", "matmul cast binary reduce unary"},
    {"Scaler", "1", "1", "offset:F scale:F", "binary cast"},
    {"TreeEnsemble", "1", "1",
     "aggregate_function:i leaf_targetids:I leaf_weights:t membership_values:t n_targets:i "
     "nodes_falseleafs:I nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:t "
     "nodes_missing_value_tracks_true:I nodes_modes:t nodes_splits:t nodes_trueleafs:I "
     "nodes_truenodeids:I post_transform:i tree_roots:I", "tree_ensemble softmax unary cast"},
    {"TreeEnsembleClassifier", "1", "2",
     "base_values:F base_values_as_tensor:t>=3 class_ids:I class_nodeids:I class_treeids:I "
     "class_weights:F class_weights_as_tensor:t>=3 classlabels_int64s:I classlabels_strings:S "
     "nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F nodes_hitrates_as_tensor:t>=3 "
     "nodes_missing_value_tracks_true:I nodes_modes:S nodes_nodeids:I nodes_treeids:I "
     "nodes_truenodeids:I nodes_values:F nodes_values_as_tensor:t>=3 post_transform:s",
     "tree_ensemble argreduce take compare softmax unary join cast"},
    {"TreeEnsembleRegressor", "1", "1",
     "aggregate_function:s base_values:F base_values_as_tensor:t>=3 n_targets:i "
     "nodes_falsenodeids:I nodes_featureids:I nodes_hitrates:F nodes_hitrates_as_tensor:t>=3 "
     "nodes_missing_value_tracks_true:I nodes_modes:S nodes_nodeids:I nodes_treeids:I "
     "nodes_truenodeids:I nodes_values:F nodes_values_as_tensor:t>=3 post_transform:s "
     "target_ids:I target_nodeids:I target_treeids:I target_weights:F "
     "target_weights_as_tensor:t>=3", "tree_ensemble softmax unary cast"},
    {"ZipMap", "1", "1", "classlabels_int64s:I classlabels_strings:S", ""},
    {NULL, NULL, NULL, NULL, NULL},
};

// com.microsoft: contrib operators of ONNX Runtime 1.30

const ln_onnx_schema ln_onnx_schemas_contrib[] = {
    {"Attention", "7", "2",
     "do_rotary:i mask_filter_value:f num_heads:i past_present_share_buffer:i qkv_hidden_sizes:I "
     "rotary_embedding_dim:i scale:f unidirectional:i", "attention reshape transpose binary"},
    {"BiasAdd", "3", "1", "", "binary"},
    {"BiasGelu", "2", "1", "", "unary binary"},
    {"BiasSoftmax", "2", "1", "axis:i is_inner_broadcast:i", "softmax binary reshape"},
    {"BiasSplitGelu", "2", "1", "", "binary slice unary"},
    {"CDist", "2", "1", "metric:s", "distance transpose"},
    {"DequantizeLinear", "3", "1", "axis:i", "dequantize"},
    {"DynamicQuantizeLSTM", "12", "3", RNN " input_forget:i",
     "matmul recurrent dequantize transpose reshape"},
    {"DynamicQuantizeMatMul", "5", "1",
     "", "matmul_int quantize_range quantize binary cast reshape"},
    {"EmbedLayerNormalization", "9", "3",
     "epsilon:f mask_index_type:i", "layernorm take binary slice reduce"},
    {"ExpandDims", "2", "1", "", "unsqueeze"},
    {"FastGelu", "2", "1", "", "unary binary"},
    {"FusedConv", "4", "1", CONV " activation:s activation_params:F",
     "conv2d unary binary convnd reshape"},
    {"FusedGemm", "3", "1",
     "activation:s activation_alpha:f activation_beta:f activation_gamma:f alpha:f beta:f "
     "transA:i transB:i", "matmul unary"},
    {"FusedMatMul", "2", "1",
     "alpha:f transA:i transB:i transBatchA:i transBatchB:i", "matmul transpose reshape"},
    {"FusedMatMulActivation", "2", "1",
     "activation:s activation_alpha:f activation_axis:i activation_beta:f activation_gamma:f "
     "alpha:f transA:i transB:i transBatchA:i transBatchB:i", "matmul unary transpose reshape"},
    {"GatherBlockQuantized", "4", "1", "bits:i block_size:i gather_axis:i quantize_axis:i",
     "take dequantize unpack_bits binary reshape slice"},
    {"GatherND", "2", "1", "", "take_nd"},
    {"Gelu", "1", "1", "", "unary"},
    {"GemmFastGelu", "3", "1", "", "matmul unary"},
    {"GridSample", "2", "1", "align_corners:i mode:s padding_mode:s", "grid_sample"},
    {"GroupNorm", "3", "1",
     "activation:i channels_last:i epsilon:f groups:i", "groupnorm transpose unary cast"},
    {"GroupQueryAttention", "16", "4",
     "causal:i do_rotary:i k_quant_type:s kv_cache_bit_width:i kv_num_heads:i local_window_size:i "
     "num_heads:i qk_norm_epsilon:f qk_output:i rotary_interleaved:i scale:f "
     "sliding_window_cache:i smooth_softmax:i softcap:f v_quant_type:s",
     "attention put_range join transpose reshape slice binary compare unary cast pad take stride_slice softmax matmul rmsnorm"},
    {"MatMulIntegerToFloat", "7", "1", "", "matmul_int binary cast reshape"},
    {"MatMulNBits", "6", "1", "K:i N:i accuracy_level:i bits:i block_size:i weight_prepacked:i",
     "matmul dequantize unpack_bits binary reshape slice pad take"},
    {"MoE", "8", "1",
     "activation_alpha:f activation_beta:f activation_type:s k:i normalize_routing_weights:i "
     "swiglu_fusion:i swiglu_limit:f use_sparse_mixer:i",
     "matmul_by topk softmax unary binary take reduce view unsqueeze cast slice"},
    {"MultiHeadAttention", "10", "4", "mask_filter_value:f num_heads:i scale:f unidirectional:i",
     "attention transpose reshape binary where compare slice squeeze unsqueeze join softmax matmul"},
    {"NhwcConv", "3", "1", CONV, "conv2d transpose convnd"},
    {"NhwcFusedConv", "4", "1", CONV " activation:s activation_params:F",
     "conv2d transpose unary binary convnd"},
    {"NhwcMaxPool", "1", "1", "auto_pad:s ceil_mode:i dilations:I kernel_shape:I pads:I strides:I",
     "maxpool2d transpose poolnd"},
    {"Pad", "3", "1", "mode:s", "pad"},
    {"QAttention", "9", "2",
     "do_rotary:i mask_filter_value:f num_heads:i past_present_share_buffer:i scale:f "
     "unidirectional:i", "attention matmul_int cast binary slice transpose reshape join"},
    {"QEmbedLayerNormalization", "18", "2",
     "epsilon:f", "layernorm take dequantize binary slice reduce"},
    {"QGemm", "9", "1",
     "alpha:f transA:i transB:i", "matmul_int binary cast quantize transpose reshape"},
    {"QLinearAdd", "8", "1", "", "binary dequantize quantize reshape"},
    {"QLinearAveragePool", "5", "1",
     "auto_pad:s ceil_mode:i channels_last:i count_include_pad:i kernel_shape:I pads:I strides:I",
     "avgpool2d dequantize quantize poolnd transpose"},
    {"QLinearConcat", "*", "1", "axis:i", "join dequantize quantize"},
    {"QLinearConv", "9", "1", CONV " channels_last:i",
     "binary conv_int dequantize quantize view"},
    {"QLinearGlobalAveragePool", "5", "1",
     "channels_last:i", "avgpool2d dequantize quantize poolnd transpose"},
    {"QLinearLeakyRelu", "5", "1", "alpha:f", "unary dequantize quantize"},
    {"QLinearMul", "8", "1", "", "binary dequantize quantize reshape"},
    {"QLinearReduceMean", "5", "1", "axes:I keepdims:i", "reduce dequantize quantize"},
    {"QLinearSigmoid", "5", "1", "", "unary dequantize quantize"},
    {"QLinearSoftmax", "5", "1", "axis:i opset:i", "softmax dequantize quantize reshape"},
    {"QLinearWhere", "9", "1", "", "where dequantize quantize"},
    {"QMoE", "21", "1",
     "accuracy_level:i activation_alpha:f activation_beta:f activation_type:s block_size:i "
     "expert_weight_bits:i k:i normalize_routing_weights:i quant_type:s swiglu_fusion:i "
     "swiglu_limit:f use_sparse_mixer:i weights_prepacked:i",
     "matmul_by topk softmax unary binary take take_along reduce view unsqueeze cast slice "
     "dequantize unpack_bits reshape where compare"},
    {"QuantizeLinear", "3", "1", "axis:i", "quantize"},
    {"Range", "3", "1", "", "range range_to"},
    {"RotaryEmbedding", "4", "1",
     "interleaved:i is_packed_batching:i num_heads:i rotary_embedding_dim:i scale:f",
     "take stride_slice binary join reshape"},
    {"SkipGroupNorm", "5", "2", "activation:i channels_last:i epsilon:f groups:i",
     "groupnorm binary transpose unary reshape cast"},
    {"SkipLayerNormalization", "5", "4", "epsilon:f", "layernorm binary"},
    {"SkipSimplifiedLayerNormalization", "4", "4", "epsilon:f", "rmsnorm binary"},
    {"SparseToDenseMatMul", "2", "1", "alpha:f transA:i transB:i", "matmul"},
    {"TorchEmbedding", "4", "1", "", "take"},
    {"TransposeMatMul", "2", "1", "alpha:f transA:i transB:i", "matmul transpose reshape"},
    {"Trilu", "2", "1", "upper:i", "trilu"},
    {"UnfoldTensor", "1", "1", "dim:i size:i step:i", "take transpose"},
    {"Unique", "1", "3", "", "unique view"},
    {NULL, NULL, NULL, NULL, NULL},
};
// clang-format on
