// SPDX-License-Identifier: Apache-2.0
// The comparisons in plain C, for every type.

#include "kernel/comparison/comparison.h"

#define TL_TEMPLATE "kernel/comparison/comparison_c.inc.h"
#include "tensor/tl_each_type.inc.h"
