// SPDX-License-Identifier: Apache-2.0
// The table of benchmarks: shapes of real networks, and their kernels.

#include "bench_kernels.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

// Products of matrices: [m, k] x [k, n]

#define GEMM(m, n, k)                                              \
    {                                                              \
        .name = "gemm " #m "x" #n "x" #k, .dims = {m, k}, .out = n \
    }
static const bench_shape gemm_shapes[] = {
    GEMM(128, 128, 128),    GEMM(256, 256, 256),    GEMM(512, 512, 512),  GEMM(1024, 1024, 1024),
    GEMM(197, 192, 192),    GEMM(197, 768, 192),    GEMM(197, 192, 768),  GEMM(128, 384, 384),
    GEMM(2048, 2048, 2048), GEMM(1024, 4096, 1024), GEMM(197, 3072, 768), GEMM(128, 1536, 384),
    GEMM(1, 1000, 2048),    GEMM(1, 4096, 25088),   GEMM(16, 1000, 1024), {.name = NULL},
};

// Convolutions of square images: channels, extent, result's channels, window, stride

#define CONV(c, hw, out_, k, s)                                                             \
    {                                                                                       \
        .name = "conv " #k "x" #k "/" #s " " #c "->" #out_ " " #hw, .dims = {1, c, hw, hw}, \
        .out = out_, .size = k, .stride = s                                                 \
    }
// 1x1 convolutions of ResNet-50.
#define RESNET50_1X1                                                                    \
    CONV(64, 56, 64, 1, 1), CONV(64, 56, 256, 1, 1), CONV(256, 56, 64, 1, 1),           \
        CONV(256, 56, 512, 1, 2), CONV(512, 28, 128, 1, 1), CONV(128, 28, 512, 1, 1),   \
        CONV(1024, 14, 256, 1, 1), CONV(256, 14, 1024, 1, 1), CONV(2048, 7, 512, 1, 1), \
        CONV(512, 7, 2048, 1, 1)

static const bench_shape conv_shapes[] = {
    RESNET50_1X1,
    // MobileNet v1
    CONV(512, 14, 512, 1, 1),
    CONV(1024, 7, 1024, 1, 1),
    CONV(256, 28, 256, 1, 1),
    CONV(64, 56, 64, 3, 1),
    CONV(128, 28, 128, 3, 1),
    CONV(256, 14, 256, 3, 1),
    CONV(512, 7, 512, 3, 1),
    CONV(128, 56, 128, 3, 2),
    // VGG-16
    CONV(64, 224, 64, 3, 1),
    CONV(128, 112, 128, 3, 1),
    CONV(256, 56, 256, 3, 1),
    CONV(512, 28, 512, 3, 1),
    CONV(512, 14, 512, 3, 1),
    // first layers
    CONV(3, 224, 64, 7, 2),
    CONV(3, 224, 32, 3, 2),
    CONV(3, 224, 64, 3, 1),
    CONV(3, 224, 192, 16, 16),
    // few channels, large images: MobileNet v2, EfficientNet, segmentation
    CONV(32, 112, 16, 1, 1),
    CONV(16, 112, 96, 1, 1),
    CONV(96, 56, 24, 1, 1),
    CONV(8, 256, 16, 1, 1),
    CONV(16, 256, 16, 1, 1),
    CONV(32, 256, 32, 1, 1),
    CONV(16, 256, 16, 3, 1),
    CONV(16, 256, 2, 3, 1),
    {.name = NULL},
};

#define DEPTHWISE(c, hw, k, s)                                                                  \
    {                                                                                           \
        .name = "depthwise " #k "x" #k "/" #s " " #c " " #hw, .dims = {1, c, hw, hw}, .out = c, \
        .size = k, .stride = s, .group = c                                                      \
    }
static const bench_shape depthwise_shapes[] = {
    DEPTHWISE(32, 112, 3, 1),
    DEPTHWISE(64, 112, 3, 2),
    DEPTHWISE(96, 56, 3, 1),
    DEPTHWISE(144, 56, 3, 2),
    DEPTHWISE(512, 14, 3, 1),
    DEPTHWISE(960, 7, 3, 1),
    DEPTHWISE(144, 56, 5, 2),
    DEPTHWISE(240, 28, 5, 1),
    DEPTHWISE(672, 14, 5, 1),
    // few channels, large images
    DEPTHWISE(16, 256, 3, 1),
    DEPTHWISE(16, 512, 3, 2),
    DEPTHWISE(32, 256, 3, 1),
    DEPTHWISE(16, 256, 5, 1),
    {.name = NULL},
};

#define GROUPED(c, hw, out_, k, s, g)                                           \
    {                                                                           \
        .name = "grouped " #k "x" #k "/" #s " " #c "->" #out_ " " #hw " g" #g,  \
        .dims = {1, c, hw, hw}, .out = out_, .size = k, .stride = s, .group = g \
    }
static const bench_shape grouped_shapes[] = {
    // ResNeXt-50 32x4d, RegNet, ShuffleNet, AlexNet, several results of each channel
    GROUPED(128, 56, 128, 3, 1, 32), GROUPED(256, 28, 256, 3, 1, 32),
    GROUPED(512, 14, 512, 3, 1, 32), GROUPED(1024, 7, 1024, 3, 1, 32),
    GROUPED(72, 56, 72, 3, 1, 3),    GROUPED(60, 28, 240, 1, 1, 3),
    GROUPED(96, 27, 256, 5, 1, 2),   GROUPED(384, 13, 384, 3, 1, 2),
    GROUPED(64, 56, 128, 3, 1, 64),  {.name = NULL},
};

// Transposed convolutions: padding -1: none

#define DECONV(c, hw, out_, k, s, p)                                                          \
    {                                                                                         \
        .name = "deconv " #k "x" #k "/" #s " " #c "->" #out_ " " #hw, .dims = {1, c, hw, hw}, \
        .out = out_, .size = k, .stride = s, .pad = p                                         \
    }
static const bench_shape deconv_shapes[] = {
    // U-Net, DCGAN, a network of styles
    DECONV(256, 32, 128, 2, 2, -1), DECONV(64, 128, 32, 2, 2, -1), DECONV(512, 8, 256, 4, 2, 1),
    DECONV(128, 32, 64, 4, 2, 1),   DECONV(128, 64, 64, 3, 2, 1),  {.name = NULL},
};

// Pooling

#define POOL(c, hw, k, s, p)                                                                \
    {                                                                                       \
        .name = "pool " #k "x" #k "/" #s " " #c " " #hw, .dims = {1, c, hw, hw}, .size = k, \
        .stride = s, .pad = p                                                               \
    }
static const bench_shape maxpool_shapes[] = {
    POOL(64, 112, 3, 2, 1),
    POOL(64, 224, 2, 2, -1),
    POOL(512, 14, 2, 2, -1),
    {.name = NULL},
};
static const bench_shape avgpool_shapes[] = {
    POOL(2048, 7, 7, 1, -1),
    POOL(192, 28, 2, 2, -1),
    {.name = NULL},
};

// Along the last axis: [rows, length]

#define LINES(what, rows, len)                                 \
    {                                                          \
        .name = what " " #rows "x" #len, .dims = { rows, len } \
    }
static const bench_shape softmax_shapes[] = {
    LINES("softmax", 591, 197),  LINES("softmax", 1536, 128), LINES("softmax", 1, 1000),
    LINES("softmax", 458752, 4), LINES("softmax", 65536, 7),  {.name = NULL},
};
static const bench_shape layernorm_shapes[] = {
    LINES("layernorm", 197, 192),
    LINES("layernorm", 128, 384),
    {.name = NULL},
};

// Attention: [1, queries, heads, length], with as many keys

#define ATTENTION(rows, heads, len)                                                     \
    {                                                                                   \
        .name = "attention " #rows "x" #heads "x" #len, .dims = { 1, rows, heads, len } \
    }
static const bench_shape attention_shapes[] = {
    ATTENTION(197, 3, 64),
    ATTENTION(128, 12, 32),
    ATTENTION(512, 12, 64),
    {.name = NULL},
};

// Element by element

#define UNARY(func_, len, ...)                                                        \
    {                                                                                 \
        .name = #func_ " " #len, .dims = {len}, .func = TL_UNARY_##func_, __VA_ARGS__ \
    }
static const bench_shape unary_shapes[] = {
    UNARY(RELU, 200704, .alpha = 0),
    UNARY(CLIP, 200704, .alpha = 0, .beta = 6),
    UNARY(EXP, 200704, .alpha = 0),
    UNARY(TANH, 200704, .alpha = 0),
    UNARY(SIGMOID, 200704, .alpha = 0),
    UNARY(SWISH, 200704, .alpha = 1),
    UNARY(ERF, 200704, .alpha = 0),
    UNARY(GELU, 151296, .alpha = 0),
    UNARY(GELU_TANH, 151296, .alpha = 0),
    UNARY(SQRT, 200704, .alpha = 0),
    {.name = NULL},
};
static const bench_shape add_shapes[] = {
    {.name = "add 200704", .dims = {200704}},
    {.name = "add 802816", .dims = {802816}},
    {.name = NULL},
};
static const bench_shape mul_shapes[] = {
    // factors of channels in blocks, as squeeze-and-excitation has them; of planes; of columns; one
    {.name = "mul 1152 7x7, blocks", .dims = {1, 72, 49, 16}, .dims2 = {1, 72, 1, 16}},
    {.name = "mul 32 112x112, blocks", .dims = {1, 2, 12544, 16}, .dims2 = {1, 2, 1, 16}},
    {.name = "mul 64 56x56", .dims = {1, 64, 56, 56}, .dims2 = {1, 64, 1, 1}},
    {.name = "mul 197x192, columns", .dims = {1, 1, 197, 192}, .dims2 = {1, 1, 1, 192}},
    {.name = "mul 197x192, number", .dims = {1, 1, 197, 192}, .dims2 = {1, 1, 1, 1}},
    {.name = "mul 128x384", .dims = {1, 1, 128, 384}, .dims2 = {1, 1, 128, 384}},
    {.name = NULL},
};
static const bench_shape chain_shapes[] = {
    {.name = "6 steps 16777216", .dims = {1, 16, 1024, 1024}, .dims2 = {1, 16, 1, 1}},
    {.name = "6 steps 1048576", .dims = {1, 16, 256, 256}, .dims2 = {1, 16, 1, 1}},
    {.name = "6 steps 100352, blocks", .dims = {1, 8, 784, 16}, .dims2 = {1, 8, 1, 16}},
    {.name = "6 steps 1024", .dims = {1, 1, 1, 1024}, .dims2 = {1, 1, 1, 1024}},
    {.name = NULL},
};

// Moves

static const bench_shape transpose_shapes[] = {
    {.name = "nchw->nhwc 64 56", .dims = {1, 64, 56, 56}, .axes = {0, 2, 3, 1}},
    {.name = "nhwc->nchw 64 56", .dims = {1, 56, 56, 64}, .axes = {0, 3, 1, 2}},
    {.name = "heads 197x3x64", .dims = {1, 197, 3, 64}, .axes = {0, 2, 1, 3}},
    {.name = "matrix 768x768", .dims = {1, 1, 768, 768}, .axes = {0, 1, 3, 2}},
    {.name = NULL},
};
static const bench_shape blocked_shapes[] = {
    {.name = "to/from blocks 64 56", .dims = {1, 64, 56, 56}},
    {.name = "to/from blocks 3 224", .dims = {1, 3, 224, 224}},
    {.name = NULL},
};

// Other types than floats

#define SMALL(kernel, from_, to_, len)                                                      \
    {                                                                                       \
        .name = kernel " " #from_ "->" #to_ " " #len, .dims = {1, len}, .from = TL_##from_, \
        .to = TL_##to_                                                                      \
    }
static const bench_shape quantize_shapes[] = {
    SMALL("quantize", FLOAT, UINT8, 200704),  SMALL("quantize", FLOAT, INT8, 200704),
    SMALL("quantize", FLOAT, INT16, 200704),  SMALL("quantize", FLOAT16, UINT8, 200704),
    SMALL("quantize", FLOAT, UINT8, 3211264), {.name = NULL},
};
static const bench_shape dequantize_shapes[] = {
    SMALL("dequantize", UINT8, FLOAT, 200704),
    SMALL("dequantize", INT8, FLOAT, 200704),
    SMALL("dequantize", INT32, FLOAT, 200704),
    SMALL("dequantize", INT8, FLOAT16, 200704),
    {.name = NULL},
};
static const bench_shape range_shapes[] = {
    SMALL("range", FLOAT, UINT8, 200704),
    {.name = NULL},
};
static const bench_shape cast_shapes[] = {
    SMALL("cast", FLOAT16, FLOAT, 200704),
    SMALL("cast", FLOAT, FLOAT16, 200704),
    SMALL("cast", BFLOAT16, FLOAT, 200704),
    SMALL("cast", FLOAT, BFLOAT16, 200704),
    SMALL("cast", UINT8, FLOAT, 200704),
    SMALL("cast", FLOAT, UINT8, 200704),
    SMALL("cast", INT32, FLOAT, 200704),
    SMALL("cast", FLOAT, INT32, 200704),
    SMALL("cast", BOOL, FLOAT, 200704),
    SMALL("cast", FLOAT, BOOL, 200704),
    SMALL("cast", INT64, FLOAT, 200704),
    SMALL("cast", FLOAT, INT64, 200704),
    SMALL("cast", INT64, INT32, 200704),
    SMALL("cast", INT32, INT64, 200704),
    SMALL("cast", INT32, UINT8, 200704),
    SMALL("cast", DOUBLE, FLOAT, 200704),
    {.name = NULL},
};
static const bench_shape quantized_mul_shapes[] = {
    {.name = "mul 1152 7x7, blocks", .dims = {1, 1152, 7, 7}},
    {.name = "mul 32 112x112, blocks", .dims = {1, 32, 112, 112}},
    {.name = NULL},
};

// A few of the convolutions above.
static const bench_shape quantized_conv_shapes[] = {
    RESNET50_1X1,
    CONV(64, 56, 64, 3, 1),
    CONV(128, 28, 128, 3, 1),
    CONV(256, 14, 256, 3, 1),
    CONV(512, 7, 512, 3, 1),
    CONV(128, 56, 128, 3, 2),
    CONV(3, 224, 64, 7, 2),
    // VGG-16
    CONV(64, 224, 64, 3, 1),
    CONV(256, 56, 256, 3, 1),
    CONV(512, 28, 512, 3, 1),
    CONV(512, 14, 512, 3, 1),
    // MobileNet
    CONV(512, 14, 512, 1, 1),
    CONV(32, 112, 16, 1, 1),
    CONV(16, 112, 96, 1, 1),
    CONV(24, 56, 144, 1, 1),
    CONV(3, 224, 32, 3, 2),
    {.name = NULL},
};
#define LOWBIT(bits, m, n, k, block, from_)                                                      \
    {                                                                                            \
        .name = #bits " bits " #from_ " " #m "x" #n "x" #k "/" #block, .dims = {m, k}, .out = n, \
        .size = block, .stride = bits, .from = TL_##from_                                        \
    }
static const bench_shape lowbit_shapes[] = {
    LOWBIT(4, 1, 4096, 4096, 32, FLOAT),
    LOWBIT(4, 1, 4096, 4096, 128, FLOAT),
    LOWBIT(2, 1, 4096, 4096, 64, FLOAT),
    LOWBIT(4, 1, 11008, 4096, 32, FLOAT),
    LOWBIT(4, 8, 4096, 4096, 32, FLOAT),
    LOWBIT(8, 1, 4096, 4096, 32, FLOAT),
    LOWBIT(8, 8, 4096, 4096, 32, FLOAT),
    LOWBIT(4, 128, 4096, 4096, 32, FLOAT),
    LOWBIT(4, 128, 4096, 4096, 128, FLOAT),
    LOWBIT(4, 1, 4096, 4096, 32, INT8),
    LOWBIT(4, 1, 4096, 4096, 128, INT8),
    LOWBIT(4, 8, 4096, 4096, 32, INT8),
    LOWBIT(4, 64, 4096, 4096, 32, INT8),
    LOWBIT(4, 512, 4096, 4096, 32, INT8),
    LOWBIT(4, 64, 2816, 1024, 32, INT8),
    LOWBIT(4, 128, 4096, 4096, 128, INT8),
    {.name = NULL},
};
#define TYPED(from_)                                                                        \
    {                                                                                       \
        .name = #from_ " 200704", .dims = {1, 200704}, .from = TL_##from_, .to = TL_##from_ \
    }
static const bench_shape typed_shapes[] = {
    TYPED(INT8), TYPED(UINT8), TYPED(INT32), TYPED(INT64), TYPED(DOUBLE), {.name = NULL},
};

// A row for each group: its shapes, what oneDNN computes on them, the numbers, the kernels.
#define GROUP(shapes, dnnl, numbers, ...)                                                     \
    {                                                                                         \
        (const bench_kernel *const[]){__VA_ARGS__, NULL}, shapes##_shapes, BENCH_DNNL_##dnnl, \
            BENCH_##numbers                                                                   \
    }

const bench_group bench_groups[] = {
    GROUP(gemm, MATMUL, FLOATS, &bench_matmul, &bench_matmul_trans1, &bench_matmul_trans2,
          &bench_matmul_trans, &bench_matmul_packed),
    GROUP(conv, CONV, FLOATS, &bench_conv2d, &bench_blocked_conv2d, &bench_winograd2,
          &bench_winograd4, &bench_winograd6),
    GROUP(depthwise, CONV, FLOATS, &bench_conv2d, &bench_blocked_depthwise),
    GROUP(grouped, CONV, FLOATS, &bench_conv2d, &bench_blocked_conv2d),
    GROUP(deconv, DECONV, FLOATS, &bench_deconv2d, &bench_blocked_deconv2d),
    GROUP(maxpool, MAXPOOL, FLOATS, &bench_maxpool2d, &bench_blocked_maxpool2d),
    GROUP(avgpool, AVGPOOL, FLOATS, &bench_avgpool2d, &bench_blocked_avgpool2d),
    GROUP(softmax, SOFTMAX, FLOATS, &bench_softmax),
    GROUP(layernorm, LAYERNORM, FLOATS, &bench_layernorm),
    GROUP(attention, NONE, FLOATS, &bench_attention),
    GROUP(unary, UNARY, FLOATS, &bench_unary),
    GROUP(add, ADD, FLOATS, &bench_add),
    GROUP(mul, NONE, FLOATS, &bench_mul),
    GROUP(chain, NONE, FLOATS, &bench_steps, &bench_chain),
    GROUP(transpose, TRANSPOSE, FLOATS, &bench_transpose),
    GROUP(blocked, NONE, FLOATS, &bench_to_blocked, &bench_from_blocked),
    GROUP(quantize, NONE, FLOATS, &bench_quantize),
    GROUP(dequantize, NONE, FLOATS, &bench_dequantize),
    GROUP(range, NONE, FLOATS, &bench_quantize_range),
    GROUP(cast, NONE, FLOATS, &bench_cast),
    GROUP(depthwise, NONE, BYTES, &bench_quantized_depthwise),
    GROUP(maxpool, NONE, FLOATS, &bench_quantized_maxpool),
    GROUP(avgpool, NONE, FLOATS, &bench_quantized_avgpool),
    GROUP(gemm, NONE, PAIRS, &bench_matmul_pairs),
    GROUP(gemm, NONE, PAIRS, &bench_matmul_split),
    GROUP(quantized_conv, NONE, PAIRS, &bench_blocked_conv2d_pairs),
    GROUP(gemm, QUANTIZED_MATMUL, BYTES, &bench_quantized_matmul),
    GROUP(quantized_conv, QUANTIZED_CONV, BYTES, &bench_quantized_conv2d,
          &bench_quantized_winograd),
    GROUP(lowbit, NONE, BYTES, &bench_lowbit),
    GROUP(add, NONE, FLOATS, &bench_quantized_add),
    GROUP(quantized_mul, NONE, FLOATS, &bench_quantized_mul),
    GROUP(typed, NONE, FLOATS, &bench_typed_add),
    GROUP(typed, NONE, FLOATS, &bench_typed_max),
    GROUP(typed, NONE, FLOATS, &bench_typed_greater),
    GROUP(typed, NONE, FLOATS, &bench_typed_where),
    GROUP(add, NONE, FLOATS, &bench_quantized_lookup),
};
const int bench_n_groups = COUNT(bench_groups);
