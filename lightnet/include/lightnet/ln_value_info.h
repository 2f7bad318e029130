// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a model's file that may be several tensors: sequences, optional values.

#ifndef LN_VALUE_INFO_H
#define LN_VALUE_INFO_H

#include "lightnet/ln_api.h"
#include "lightnet/ln_list.h"

LN_BEGIN_DECLS

/** The form of an input or output of the model's file. */
typedef enum ln_value_form {
    LN_FORM_TENSOR,
    LN_FORM_SEQUENCE,          // a list of tensors
    LN_FORM_OPTIONAL,          // a tensor, or absent
    LN_FORM_OPTIONAL_SEQUENCE, // a sequence, or absent
} ln_value_form;

/** An input or an output of the model's file: tensors NAME[0], NAME[1] .. of a sequence, else NAME.
 */
typedef struct ln_value_info {
    const char *name;
    ln_value_form form;
    int first; // the number of its first tensor among the inputs, or outputs
    int len;   // the number of its tensors; -1: it is absent
} ln_value_info;

/** A walk over the inputs, or outputs, of the model's file: what comes next (opaque). */
typedef struct ln_value_walk {
    const ln_list *compounds, *tensors;
    int first;
} ln_value_walk;

LN_END_DECLS

#endif
