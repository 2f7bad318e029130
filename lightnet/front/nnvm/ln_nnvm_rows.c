// SPDX-License-Identifier: Apache-2.0
// Finds the translator or rewriter of an operator.

#include "front/nnvm/ln_nnvm.h"

#include <string.h>

/* Known operators that LightNet does not support, with the reason. */

#define CORE  LN_NNVM_IN_CORE
#define MXNET LN_NNVM_IN_MXNET

static const char packed[] = "its weights are packed for one target";
static const char control[] = "it runs graphs of its own";
static const char training[] = "it is for training";
static const char missing[] = "not supported yet";

static const ln_nnvm_row unsupported[] = {
    {"_contrib_conv2d_NCHWc", CORE, NULL, packed},
    {"_contrib_conv2d_winograd_without_weight_transform", CORE, NULL, packed},
    {"_contrib_conv2d_winograd_weight_transform", CORE, NULL, packed},
    {"_conv2d_grad", CORE, NULL, training},
    {"_max_pool2d_grad", CORE, NULL, training},
    {"_assign", CORE, NULL, training},
    {"_max_mask", CORE, NULL, training},
    {"_min_mask", CORE, NULL, training},
    {"yolo_region", CORE, NULL, missing},
    {"yolo2_region", CORE, NULL, missing},
    {"ROIPooling", MXNET, NULL, missing},
    {"_contrib_Proposal", MXNET, NULL, missing},
    {"RNN", MXNET, NULL, "its weights are one packed vector"},
    {"Custom", MXNET, NULL, "it is a program of its own"},
    {"_foreach", MXNET, NULL, control},
    {"_while_loop", MXNET, NULL, control},
    {"_cond", MXNET, NULL, control},
    {NULL},
};

static const ln_nnvm_row *const translators[] = {
    ln_nnvm_rows_detect,
    ln_nnvm_rows_fill,
    ln_nnvm_rows_function,
    ln_nnvm_rows_pair,
    ln_nnvm_rows_part,
    ln_nnvm_rows_pick,
    ln_nnvm_rows_pool,
    ln_nnvm_rows_resize,
    ln_nnvm_rows_shape,
    ln_nnvm_rows_statistics,
    ln_nnvm_rows_weighted,
    unsupported,
    NULL,
};

static const ln_nnvm_row *const rewriters[] = {
    ln_nnvm_mxnet_rows_elementwise,
    ln_nnvm_mxnet_rows_layers,
    ln_nnvm_mxnet_rows_shape,
    NULL,
};

// The first row of that name in one of the dialects, or NULL.
static const ln_nnvm_row *find(const ln_nnvm_row *const *tables, const char *op, int dialects)
{
    for (; *tables; tables++)
        for (const ln_nnvm_row *row = *tables; row->op; row++)
            if ((row->dialects & dialects) && !strcmp(row->op, op))
                return row;
    return NULL;
}

const ln_nnvm_row *ln_nnvm_find_rewriter(const char *op)
{
    return find(rewriters, op, LN_NNVM_IN_MXNET);
}

const ln_nnvm_row *ln_nnvm_find_core_row(const char *op)
{
    return find(translators, op, LN_NNVM_IN_CORE | LN_NNVM_ADDED);
}

const ln_nnvm_row *ln_nnvm_find_row(const char *op, ln_nnvm_dialect dialect)
{
    if (dialect != LN_NNVM_MXNET)
        return find(translators, op, LN_NNVM_IN_CORE);
    const ln_nnvm_row *row = find(translators, op, LN_NNVM_IN_MXNET);
    return row ? row : ln_nnvm_find_rewriter(op);
}

int ln_nnvm_is_mxnet_only(const char *op)
{
    return ln_nnvm_find_row(op, LN_NNVM_MXNET) && !ln_nnvm_find_row(op, LN_NNVM_CORE);
}
