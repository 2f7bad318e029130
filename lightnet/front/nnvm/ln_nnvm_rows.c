// SPDX-License-Identifier: Apache-2.0
// Which translator an operator has.

#include "front/nnvm/ln_nnvm_rows.h"

#include <string.h>

static const ln_nnvm_row *const tables[] = {
    ln_nnvm_rows_conv,    ln_nnvm_rows_create, ln_nnvm_rows_detect,  ln_nnvm_rows_function,
    ln_nnvm_rows_index,   ln_nnvm_rows_norm,   ln_nnvm_rows_order,   ln_nnvm_rows_pair,
    ln_nnvm_rows_part,    ln_nnvm_rows_pool,   ln_nnvm_rows_product, ln_nnvm_rows_reduce,
    ln_nnvm_rows_refused, ln_nnvm_rows_repeat, ln_nnvm_rows_resize,  ln_nnvm_rows_shape,
};

// The first row of that name in one of the dialects, or NULL.
static const ln_nnvm_row *find(const char *op, int dialects)
{
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        for (const ln_nnvm_row *row = tables[i]; row->op; row++)
            if ((row->dialects & dialects) && !strcmp(row->op, op))
                return row;
    return NULL;
}

const ln_nnvm_row *ln_nnvm_find_row(const char *op, ln_nnvm_dialect dialect)
{
    return find(op, dialect == LN_NNVM_MXNET ? LN_NNVM_IN_MXNET : LN_NNVM_IN_CORE);
}

int ln_nnvm_is_mxnet_only(const char *op)
{
    return find(op, LN_NNVM_IN_MXNET) && !find(op, LN_NNVM_IN_CORE);
}
