// SPDX-License-Identifier: Apache-2.0
// Which tensors of a model get their data from a file.

#include "ir/ln_from_file.h"

#include "lightnet/ln_param.h"
#include "lightnet/ln_tensor.h"

const char *ln_from_file_name(const ln_op *op)
{
    const ln_param_entry *from_file = ln_param_list_find(op->op_arg->params, "from_file");
    const ln_list *outs = op->op_arg->tensors_out;
    if (!from_file || from_file->type != LN_PARAM_BOOL || !from_file->value_bool || !outs)
        return NULL;
    return ((const ln_tensor_list_entry *)outs->data)->name;
}
