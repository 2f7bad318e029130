// SPDX-License-Identifier: Apache-2.0
// What the rules of fold.opt ask and compute.

#ifndef LN_FOLD_RULES_H
#define LN_FOLD_RULES_H

#include "lightnet/ln_rule.h"

/** Whether weights of the tensor's dtype may be multiplied with each other. In half precision a
 *  product of small ones loses its digits, which a scaled result keeps. */
static inline int is_precise(const ln_tensor_entry *te)
{
    return te->tensor->dtype == TL_FLOAT || te->tensor->dtype == TL_DOUBLE;
}

#endif
