// SPDX-License-Identifier: Apache-2.0
// Operators that are one ONNX node.

#include "front/onnx/write/ln_onnx_write.h"

const ln_onnx_op_row ln_onnx_write_rows_nodes[] = {
    {LN_OP_BATCHNORM, NULL, "BatchNormalization", "src scale offset mean var", NULL, "~epsilon"},
    {LN_OP_COMPRESS, NULL, "Compress", "src condition", NULL, "axis"},
    {LN_OP_DET, NULL, "Det", "src"},
    {LN_OP_FORWARD, NULL, "Identity", "src"},
    {LN_OP_INVERSE, NULL, "com.microsoft:Inverse", "src"},
    {LN_OP_LOGSOFTMAX, NULL, "LogSoftmax", "src", NULL, "axis"},
    {LN_OP_LRN, NULL, "LRN", "src", NULL, "size ~alpha ~beta ~bias"},
    {LN_OP_NONZERO, NULL, "NonZero", "src"},
    {LN_OP_RANGE_TO, NULL, "Range", "start limit delta"},
    {LN_OP_ROI_MAXPOOL, NULL, "MaxRoiPool", "src rois", NULL,
     "pooled_shape=size ~spatial_scale=scale"},
    {LN_OP_SHAPE, NULL, "Shape", "src", NULL, "start end"},
    {LN_OP_SIGMOID, NULL, "Sigmoid", "src"},
    {LN_OP_SOFTMAX, NULL, "Softmax", "src", NULL, "axis"},
    {LN_OP_TAKE, NULL, "Gather", "src index", NULL, "axis"},
    {LN_OP_TAKE_ALONG, NULL, "GatherElements", "src index", NULL, "axis"},
    {LN_OP_TRANSPOSE, NULL, "Transpose", "src", NULL, "perm=axes"},
    {LN_OP_TRILU, NULL, "Trilu", "src k?", NULL, "upper"},
    {LN_OP_UNIQUE, NULL, "Unique", "src", "dst first inverse counts", "axis sorted"},
    {LN_OP_WHERE, NULL, "Where", "cond src1 src2"},
    {NULL},
};
