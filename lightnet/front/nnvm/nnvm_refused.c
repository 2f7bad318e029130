// SPDX-License-Identifier: Apache-2.0
// Operators that are known and that LightNet does not run, each with the reason.

#include "front/nnvm/ln_nnvm_rows.h"

static const char packed[] = "its weights are packed for one target";
static const char control[] = "it runs graphs of its own";
static const char training[] = "it is for training";
static const char unmade[] = "nobody has translated it yet";

const ln_nnvm_row ln_nnvm_rows_refused[] = {
    {"_contrib_conv2d_NCHWc", LN_NNVM_IN_CORE, NULL, packed},
    {"_contrib_conv2d_winograd_without_weight_transform", LN_NNVM_IN_CORE, NULL, packed},
    {"_contrib_conv2d_winograd_weight_transform", LN_NNVM_IN_CORE, NULL, packed},
    {"_conv2d_grad", LN_NNVM_IN_CORE, NULL, training},
    {"_max_pool2d_grad", LN_NNVM_IN_CORE, NULL, training},
    {"_assign", LN_NNVM_IN_CORE, NULL, training},
    {"_max_mask", LN_NNVM_IN_CORE, NULL, training},
    {"_min_mask", LN_NNVM_IN_CORE, NULL, training},
    {"yolo_region", LN_NNVM_IN_CORE, NULL, unmade},
    {"yolo2_region", LN_NNVM_IN_CORE, NULL, unmade},
    {"ROIPooling", LN_NNVM_IN_MXNET, NULL, unmade},
    {"_contrib_Proposal", LN_NNVM_IN_MXNET, NULL, unmade},
    {"RNN", LN_NNVM_IN_MXNET, NULL, "its weights are one packed vector"},
    {"Custom", LN_NNVM_IN_MXNET, NULL, "it is a program of its own"},
    {"_foreach", LN_NNVM_IN_MXNET, NULL, control},
    {"_while_loop", LN_NNVM_IN_MXNET, NULL, control},
    {"_cond", LN_NNVM_IN_MXNET, NULL, control},
    {NULL},
};
