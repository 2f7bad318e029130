// SPDX-License-Identifier: Apache-2.0
// The padding of convolutions and pools, for rules.

#include "arch/none/ln_padding.h"

#include <string.h>

#include "lightnet/ln_op.h"
#include "lightnet/ln_util.h"

const int *ln_padding_of(const ln_op *op, const ln_tensor_entry *src, int padding[4])
{
    memcpy(padding, ln_op_ints(op, "padding", NULL), 4 * sizeof(*padding));
    // Cannot fail: the operator has computed the same.
    ln_autopadding_conv(padding, &src->tensor->dims[2], ln_op_ints(op, "size", NULL),
                        ln_op_ints(op, "stride", NULL), ln_op_ints(op, "dilation", NULL), 2,
                        ln_op_string(op, "autopad"));
    return padding;
}

const int *ln_deconv_padding_of(const ln_op *op, const ln_tensor_entry *src, int padding[4])
{
    memcpy(padding, ln_op_ints(op, "padding", NULL), 4 * sizeof(*padding));
    ln_autopadding_deconv(padding, &src->tensor->dims[2], ln_op_ints(op, "size", NULL),
                          ln_op_ints(op, "stride", NULL), ln_op_ints(op, "output_padding", NULL),
                          ln_op_ints(op, "dilation", NULL), ln_op_ints(op, "output_dims", NULL) + 2,
                          2, ln_op_string(op, "autopad"));
    return padding;
}
