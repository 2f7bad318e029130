// SPDX-License-Identifier: Apache-2.0
// Operators that are one ONNX node.

#include "front/onnx/write/ln_onnx_write.h"

const ln_onnx_op_row ln_onnx_write_rows_nodes[] = {
    {"batchnorm", NULL, "BatchNormalization", "src scale offset mean var", NULL, "~epsilon"},
    {"compress", NULL, "Compress", "src condition", NULL, "axis"},
    {"det", NULL, "Det", "src"},
    {"forward", NULL, "Identity", "src"},
    {"inverse", NULL, "com.microsoft:Inverse", "src"},
    {"logsoftmax", NULL, "LogSoftmax", "src", NULL, "axis"},
    {"lrn", NULL, "LRN", "src", NULL, "size ~alpha ~beta ~bias"},
    {"nonzero", NULL, "NonZero", "src"},
    {"range_to", NULL, "Range", "start limit delta"},
    {"roi_maxpool", NULL, "MaxRoiPool", "src rois", NULL, "pooled_shape=size ~spatial_scale=scale"},
    {"shape", NULL, "Shape", "src", NULL, "start end"},
    {"sigmoid", NULL, "Sigmoid", "src"},
    {"softmax", NULL, "Softmax", "src", NULL, "axis"},
    {"take", NULL, "Gather", "src index", NULL, "axis"},
    {"take_along", NULL, "GatherElements", "src index", NULL, "axis"},
    {"transpose", NULL, "Transpose", "src", NULL, "perm=axes"},
    {"trilu", NULL, "Trilu", "src k?", NULL, "upper"},
    {"unique", NULL, "Unique", "src", "dst first inverse counts", "axis sorted"},
    {"where", NULL, "Where", "cond src1 src2"},
    {NULL},
};
